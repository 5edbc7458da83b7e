/*
 * Guesses of which contacts press and slide, as pieces of a piecewise linear problem, and Newton steps on them: see quick.c, which tries them,
 * for the equations.
 */
#ifndef PC_SOLVER_PIECES_H
#define PC_SOLVER_PIECES_H

#include "linalg/blocks.h"
#include "solver/problem.h"

#define PC_PIECES_SIDES 16 /* polygons of more sides are not kept */

/* A side of a polygon: its middle, its direction, its two ends. */
typedef struct pcSide {
    double m[2], t[2], end[2][2];
} pcSide;

typedef struct pcSides {
    int edges;
    double angle;
    double middle, half;          /* distance of a side from the centre, and half its length */
    pcSide side[PC_PIECES_SIDES]; /* of more than few, the first is the one that was looked at last */
} pcSides;

/* Rows have places: those of a cone follow each other and fill whole quads of four, the last with rows of zeros. */
typedef struct pcPieces {
    const pcProblem* p;
    int size;          /* of v */
    int places;        /* of rows, in quads */
    int* start;        /* per cone: its first place */
    double* J;         /* per quad, for each of the twelve columns of J its four rows */
    double* Z;         /* M^-1 J', twelve numbers per row, in the places of the problem's J */
    double *own, *per; /* w, equal within a group, and 1/w */
    double* stiff;     /* 1/e */
    double *target, *soft;
    double *v, *c, *u, *kept;
    double *G, *a;     /* c' = a - G u' */
    int *piece, *last; /* per place, by number: to see whether they are the same */
    double *F, *out;   /* right side; c in the problem's rows */
    pcBlocks H;
    double* factored;   /* G of the factors in H */
    int *offset, gSize; /* of each cone's block in G */
    pcSides polygon;    /* the last cone's: contacts of a world mostly share one */
} pcPieces;

/* false: out of memory, or a row that nothing can move. c is zero, and v not there yet. Block masses only. */
bool pcPiecesNew(pcPieces* s, const pcProblem* problem, pcArena* arena);

/* v = f + M^-1 J'c */
void pcPiecesFollow(pcPieces* s);
/* Every cone once, in order or against it: c := c - u / w, put back into its cone; v follows. Returns the largest velocity that it has
 * corrected. */
double pcPiecesSweep(pcPieces* s, bool forwards);
/* u of v; returns by how much it has changed at most. */
double pcPiecesVelocities(pcPieces* s);

/* What a row's piece is; a corner's or side's number is added. */
enum { PC_PIECE_OPEN, PC_PIECE_STICKS, PC_PIECE_SLIDES, PC_PIECE_CORNER = 16, PC_PIECE_SIDE = 1 << 16 };

/* a, G and the pieces at c and u; how many are not those of the last time. */
int pcPiecesChoose(pcPieces* s);
/* One step from v, u and the pieces there; returns how much the row velocities moved, or infinity. known: the factors are those of the last
 * step, if G is. */
double pcPiecesStep(pcPieces* s, bool* known);

#endif
