/* Judges an implicit step of a random case by the equations of G alone: supports in closed form, its own rotations, masses and frames. It
 * shares nothing with the library but the headers. */
#ifndef IMPLICIT_JUDGE_H
#define IMPLICIT_JUDGE_H

#include "implicit_cases.h"

/* All by what counts as one unit of velocity, V = max(|v|, |v_free|, arm |omega|, |g| h); lengths by V h. Rounding of places is taken off. */
typedef struct ImplicitVerdict {
    double momentum; /* largest |M^-1 (M (v - v_free) - sum W p)| */
    double
        normal; /* natural map of 0 <= p_n _|_ gap: the width between the supporting planes along the normal; of faces that of the points */
    double friction;    /* natural map of the ellipsoid G 5 with slip at the end of the step */
    double points;      /* of round pairs: closest points off the supporting planes of their bodies where something pushes, a length */
    double pose;        /* difference from the poses that the velocities lead to, a length */
    double penetration; /* of pairs along the best direction known, a length */
} ImplicitVerdict;

ImplicitVerdict implicitJudge(const ImplicitCase* c, const pcImplicitResult* result);
double implicitWorst(const ImplicitVerdict* v); /* of the three residuals */

#endif
