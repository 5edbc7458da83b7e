/* Random contact configurations for the implicit step, by family and seed: bodies that do not overlap and are about to touch. */
#ifndef IMPLICIT_CASES_H
#define IMPLICIT_CASES_H

#include "pcontact/implicit.h"

enum { CASE_BODIES = 4, CASE_FORMS = 6, CASE_FAMILIES = 8 };

/* What a form is, in words that a judge can check without asking the library. */
typedef enum CaseKind {
    CASE_HALFSPACE,
    CASE_SPHERE,
    CASE_ELLIPSOID,
    CASE_SUPER,
    CASE_CYLINDER,
    CASE_CAPSULE,
    CASE_BOX,
    CASE_HULL,
    CASE_KINDS
} CaseKind;

typedef struct CaseShape {
    CaseKind kind;
    double a[3], p, q; /* semi-axes, half edges, or radius and length; exponents; a half-space: its normal, and its offset in p */
    int points;
    double point[12][3]; /* hull */
} CaseShape;

typedef struct ImplicitCase {
    double h, most;
    int bodies, forms;
    pcBody body[CASE_BODIES];
    double free[6 * CASE_BODIES]; /* velocity without impulses: without gyroscopic torque, so that a judge knows it */
    CaseShape shape[CASE_FORMS];
    pcPlacedForm form[CASE_FORMS];
    pcSurface surface;
    pcImplicitSystem system;
    pcSettings settings;
} ImplicitCase;

extern const char* const implicitFamilyNames[CASE_FAMILIES];

/* Half the smallest semi-axis there is: a body that moves farther in one step may pass through another. */
#define CASE_MOST 0.15

/* Always succeeds for a family and a seed; free it after use. No body moves and turns by more than `most` in the step (infinite: as it
 * comes, up to 2). The struct must stay where it is while it is used. */
void implicitCaseMake(int family, unsigned long long seed, double most, ImplicitCase* out);
void implicitCaseFree(ImplicitCase* c);

/* The support function of a shape in its own axes, by closed forms: max n.x, at `at`. Infinite for a half-space unless n is its normal. */
double caseSupport(const CaseShape* shape, const double n[3], double at[3]);

#endif
