/*
 * Answers of complementarity problems z >= 0, w = M z + q >= 0, z'w = 0, judged by what needs no solver, in long double: by definition,
 * and for few unknowns by trying everything.
 */
#ifndef PC_TEST_LCP_JUDGE_H
#define PC_TEST_LCP_JUDGE_H

#include <stdbool.h>

/* The largest violation, dimensionless. Unknowns are of two kinds with units of their own, the first `kind` ones and the rest (impulses
 * and slip speeds of a friction problem; kind = n if there is one kind only). With Z the largest z of a kind (at least the one that moves
 * a row of the first kind by the largest |q|), Q the largest |q| of a kind and W_i = Q + sum_j |M_ij| Z(j):
 *     -w_i / W_i,     min(|w_i| / W_i, z_i / Z),     infinity for z_i < 0 or NaN. */
double pcJudgeSolution(int n, int kind, const double* M, const double* q, const double* z);

/* Whether u proves that no z >= 0 has M z + q >= 0:  u >= 0, M'u <= 0 but for 1e-8 of its row sum, q'u < 0. */
bool pcJudgeInfeasible(int n, const double* M, const double* q, const double* u);

/* Whether z can grow along u with w staying complementary:  u >= 0, M u >= 0, u_i (M u)_i = 0 but for 1e-8 of its row sum. */
bool pcJudgeRay(int n, const double* M, const double* u);

/* Every corner of {z >= 0, M z + q >= 0} is tried: one of them is complementary if any point is (n <= PC_JUDGE_MAX). */
#define PC_JUDGE_MAX 8
typedef struct pcJudged {
    bool feasible, solvable;
} pcJudged;
pcJudged pcJudgeByTrying(int n, const double* M, const double* q);

#endif
