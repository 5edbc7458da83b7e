/* Restitution of an island while it is looked for: restitution.c (at once) and impacts.c (one after the other). */
#ifndef PC_STEPPER_BOUNCE_H
#define PC_STEPPER_BOUNCE_H

#include "stepper/stepper.h"

typedef struct pcBounce {
    const pcIslandSolve* s;
    bool poisson;
    bool inTurn; /* what is looked at are impacts in turn */
    double *old, *push;
    double* drive;   /* b of the rows of contacts */
    double *v1, *c1; /* Poisson's compression; impulses of Newton's law that came before the last problem, if they came in turn */
    double* back;    /* e c1 */
    double* d;       /* M^-1 J'e c1 */
    double* f2;
    double *keptV, *keptC; /* the best answer so far, and its p */
    double kept;
    pcConeInfo keptInfo;
    int iterations, fallbacks; /* of all that was tried */
} pcBounce;

/* One p, solved. */
typedef struct pcTrial {
    double part, gain, scale;
    pcConeInfo info;
} pcTrial;

/* J v of one row. */
static inline double pcRowVelocity(const pcProblem* p, int row, const double* v)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * row + side];
        for (int k = 0; block >= 0 && k < 6; k++) sum += p->J[12 * row + 6 * side + k] * v[6 * block + k];
    }
    return sum;
}

/* impacts.c: Newton's law, one after the other. */
bool pcImpactsApply(const pcBounce* b);               /* the island has contacts only */
bool pcImpactsFollow(const pcBounce* b);              /* in its answer, contacts are struck that did not approach before */
pcConeInfo pcImpactsInTurn(pcBounce* b, double part); /* of the bounce: v and the last c to the island, what was before it to c1 */
void pcImpactsSettle(const pcBounce* b);              /* that is the answer: contacts tell what was asked of them */

#endif
