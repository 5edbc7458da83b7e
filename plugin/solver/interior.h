/* Where contacts press, stick and slide, found from the inside of all cones: a start for Newton's method where no guess is good. */
#ifndef PC_SOLVER_INTERIOR_H
#define PC_SOLVER_INTERIOR_H

#include "linalg/blocks.h"
#include "solver/problem.h"

/* Where the path begins. */
typedef enum pcInside {
    PC_INSIDE,     /* from nothing */
    PC_INSIDE_NEAR /* (v, c) come in near a solution: from there, if that is any nearer */
} pcInside;

enum { PC_NO_START = -1 };

/* (v, c) near a solution, not much nearer than to the given residual; by the relaxation (T 5.7) a rough one stays inside all cones, so that the next call can go on from there. H: the pattern of M + J'G J. Returns how many times it was factored
 * (0: the guess was near enough); PC_NO_START: the problem is none for this method (bounded rows, cones of several groups, a dense mass, mass ratios that it does not
 * get to the end of, out of memory), and v and c are as before. */
int pcInteriorStart(const pcProblem* problem, const double* own, double residual, pcInside inside, pcBlocks* H, pcArena* arena, double* v,
                    double* c);

#endif
