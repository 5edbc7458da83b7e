/*
 * Where two convex pieces F = { f_i <= 0 } and G = { g_j <= 0 } are nearest, by their functions alone:
 *
 *     t = min over x of the largest of f_i(x) and g_j(x)          a convex problem in (x, t), > 0 apart, 0 touching, < 0 overlapping
 *
 *     sum l_i grad f_i(x) + sum l_j grad g_j(x) = 0,   sum l = 1,   l >= 0,   l _|_ t - f(x)
 *
 * The level t has the sign of the distance and, unlike it, derivatives everywhere: with N = sum l_i grad f_i, pushing body 2 along N makes
 * t grow by |N|^2 per length, so that t / |N| is the gap to first order, and at t = 0 the common point x is both closest points with the
 * common normal N: then (x, x, l) solves G 28-32 with l_k1 = 0 whichever active k1 is divided by. The normalisation sum l = 1 is what
 * G's choice of k1 stands for, without a choice; which functions are active is found by the loop in level.c.
 *
 * With a layer on one side only that side's functions are relaxed (weight 1, the other 0): t is G 34's minus delta bar.
 */
#ifndef PC_IMPLICIT_LEVEL_H
#define PC_IMPLICIT_LEVEL_H

#include "base/arena.h"
#include "implicit/form.h"

#define PC_ACTIVE 5 /* functions that meet in a point: four determine it, one more while they are exchanged */

/* A piece where it is. */
typedef struct pcPlacedPiece {
    const pcPiece* piece;
    m3 R;
    v3 at; /* of the form's axes */
} pcPlacedPiece;

typedef struct pcLevel {
    bool known; /* what is here is a solution, of a pose not far away */
    v3 x;
    double t;
    int count;
    int index[PC_ACTIVE]; /* active functions: of piece 1, then of piece 2 from piece1->count on */
    double l[PC_ACTIVE];
    v3 N;
    int work; /* linear systems solved */
} pcLevel;

typedef struct pcLevelPair {
    const pcPlacedPiece* side[2];
    double weight[2];
} pcLevelPair;

/* From the active functions in *level if known, else from nothing. False: not solved to rounding (never seen of functions that are what they
 * promise to be). */
bool pcLevelSolve(const pcLevelPair* pair, pcArena* arena, pcLevel* level);

/* The level of those functions alone that meet in a1 of piece 1 and in a2 of piece 2: edges and rims that cross. It goes on beyond where they
 * are nearest, as long as pcLevelFollow holds them. False: they are none of this kind, or a face, whose normal goes with its body. */
bool pcLevelOfPoints(const pcLevelPair* pair, v3 a1, v3 a2, pcLevel* out);
bool pcLevelFollow(const pcLevelPair* pair, pcLevel* level);

/* How the solution moves with the poses: columns are x1, theta1, x2, theta2 about `centre`, the position of each body; and by a step of
 * Newton's method where *level is no solution yet. */
enum { PC_COLUMNS = 13, PC_DRIFT = 12 };
typedef struct pcLevelSlope {
    double t[PC_COLUMNS];
    v3 x[PC_COLUMNS], N[PC_COLUMNS];
    double l[PC_COLUMNS][PC_ACTIVE];
} pcLevelSlope;
typedef struct pcColumns {
    int first, end; /* those of bodies that move: 0 .. 12, or half of it; 13: and the last */
} pcColumns;
bool pcLevelDifferentiate(const pcLevelPair* pair, const pcLevel* level, const v3 centre[2], pcColumns columns, pcLevelSlope* out);

/* How far *level is from a solution with the functions that are active in it; its N is refreshed. */
typedef struct pcLevelRest {
    double size;           /* relative: 1e-14 is rounding */
    double turn, gap, sum; /* angle between the normals of the two sides; f - w t as a length; sum l less 1 */
} pcLevelRest;
pcLevelRest pcLevelRestOf(const pcLevelPair* pair, pcLevel* level);
/* Whether other functions should be active. */
bool pcLevelIsRight(const pcLevelPair* pair, const pcLevel* level);

/* G 35: how far x lies below the surface of a piece along its outward direction n; by its largest function. */
double pcLevelDepth(const pcPlacedPiece* side, v3 x, v3 n);

/* Closest points G 15-18, 28-31 near a solved level: a1, a2 on the two surfaces, a2 - a1 = s n. They exist on both sides of touching. False: not
 * found. */
typedef struct pcClosest {
    v3 a1, a2, n;
    double s;
} pcClosest;
bool pcLevelClosest(const pcLevelPair* pair, const pcLevel* level, pcClosest* out);

#endif
