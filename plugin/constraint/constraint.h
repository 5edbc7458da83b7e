/*
 * From bodies, joint rows and contacts to the problems that the solvers take (solver/problem.h): one per island.
 *
 *     M v = M v* + J'c,     v* = v_old + h M^-1 k                                                    (T 5.1)
 *
 * A contact is a point, a unit normal from body 1 to body 2 and a gap: that of an event (its wrench is a force through one point), or
 * one that the caller found. Its rows act through that point, so that momentum is conserved to rounding.
 */
#ifndef PC_CONSTRAINT_CONSTRAINT_H
#define PC_CONSTRAINT_CONSTRAINT_H

#include "base/arena.h"
#include "base/pose.h"
#include "base/vec.h"
#include "pcontact/system.h"
#include "solver/problem.h"

/* ---- bodies (body.c) ---- */

/* A body during the step. What does not move by impulses keeps its velocity: free = velocity. */
typedef struct pcMotion {
    bool moves; /* dynamic */
    v3 position;
    double velocity[6]; /* before the step; 0 of static bodies */
    double free[6];     /* after it, without any impulse */
    double mass;
    double inertia[9];                      /* world axes; 0 where a mobility is given */
    double stiffness[9], inverseInertia[9]; /* S, and the inverse of I + S (points.c) */
} pcMotion;

/* Masses turned to world axes, and v*. */
void pcMotionsFill(const pcSystem* system, double h, pcMotion* out);

/* M as a 6 x 6 block. */
void pcMotionMass(const pcMotion* motion, double block[36]);

/* M^-1 of an impulse (linear, angular), S included. */
void pcMotionAnswer(const pcMotion* motion, const double impulse[6], double out[6]);

/* Of the point x of the body, moving with the given six-vector. */
v3 pcPointVelocity(const pcMotion* motion, const double velocity[6], v3 x);

/* ---- mobility (mobility.c) ---- */

/* The inverse of a symmetric positive definite matrix, n x n; false if it is not positive definite. */
bool pcInvertSymmetric(const double* matrix, int n, double* inverse);

/* ---- contacts (contact.c) ---- */

typedef struct pcTouch {
    int body1, body2;   /* PC_WORLD: none */
    int shape1, shape2; /* -1: a contact that the caller gave */
    int kind;           /* a pcEventKind; -1 likewise */
    unsigned long long id;
    v3 point, normal;
    double gap;
    pcSurface surface;
} pcTouch;

/* The contact of an event that was found with `pose2`: point, normal, gap and id; bodies, shapes and surface are the caller's. */
pcTouch pcTouchOfEvent(const pcEvent* event, const pcPose* pose2);

/* Where the rows of a contact stand in its problem: normal, friction along the two tangents, torsion, rolling about the tangents.
 * The physical impulse of entry k is scale[k] c[row[k]]. */
typedef struct pcTouchRows {
    int row[6]; /* -1: it has none */
    double scale[6];
    bool inCone[2]; /* friction along that tangent is in the cone, not a bound or a bilateral row of its own */
    v3 tangent1, tangent2;
    bool impact; /* Poisson: it is compressed now and gives back `bounce` of its impulse */
    double bounce;
    double target;  /* of the normal row without restitution (Poisson: after the compression), of bodies that move by impulses */
    double bounced; /* Newton: with it; equal to target if it does not bounce */
    double driven;  /* velocity at which the surfaces are driven apart without any bounce, by stabilization or by their own motion */
    double carried; /* what bodies that keep their velocity add to either */
    double after;   /* flight=mean, and it bounces within the step: the part of the step after that; else -1 */
    double flown;   /* flight=mean: its target while its bodies fly, if they meet only after the step; else equal to target */
} pcTouchRows;

/* ---- problems (assemble.c) ---- */

/* A problem while it grows. */
typedef struct pcRows {
    int rows, cones;
    int* block;
    double *J, *target, *soft;
    pcCone* cone;
} pcRows;

typedef struct pcIsland {
    int bodies, rows, touches;
    int *body, *row, *touch; /* of the system, ascending; row i of the island is row i of the problem */
    pcTouchRows* touchRows;
    pcRows list;
    pcProblem problem;
    const double* mobility; /* of its bodies, where the problem is dense */
    double *v, *c;          /* guess, then answer */
    bool still;             /* the guess was an answer in the last step */
    double* way;            /* flight=mean: the velocity at which its bodies move, six numbers each; NULL: v */
    bool* held;             /* likewise: it moves by v, because it is pressed */
} pcIsland;

typedef struct pcAssembly {
    pcArena* arena;
    const pcSystem* system;
    const pcSettings* settings;
    double h;
    const pcMotion* motion;
    const pcTouch* touch;
    int touches;
    int* local;   /* per body: its block in its island, -1 if it does not move */
    pcPool* pool; /* threads that help with many contacts; NULL: none */
    int threads;
} pcAssembly;

/* One more row J v + soft c = target, multiplied by `factor`. Bodies that do not move go to the other side. */
int pcRowsAdd(const pcAssembly* a, pcRows* list, const int body[2], const double J[12], double factor, double target, double soft);

/* A cone over the last `rows` rows; the caller fills in the rest. */
pcCone* pcRowsAddCone(pcRows* list, pcConeKind kind, int rows);

/* How many rows and cones a contact has at most; those of bounds are there only where it is pressed. */
void pcTouchRoom(const pcAssembly* a, const pcTouch* touch, int* rows, int* cones);

/* What holds for all contacts of an island. */
typedef struct pcTouchRule {
    bool fly;                    /* its bodies may fly (flight=mean) */
    double leastGap, leastDepth; /* what is less, in lengths, is none */
} pcTouchRule;

/* Rows and cones of a contact (contact.c). */
void pcTouchAssemble(const pcAssembly* a, const pcTouch* touch, const pcTouchRule* rule, pcRows* list, pcTouchRows* out);

/* The bodies, rows and contacts that hang together, in an order that depends on nothing but the input (island.c). Returns how many;
 * bodies that nothing touches are in none. */
int pcIslandsFind(pcAssembly* a, pcIsland** out);

/* M^-1 of impulses on all its bodies, six numbers each. */
void pcIslandAnswer(const pcAssembly* a, const pcIsland* island, const double* impulse, double* out);

/* Its problem, and where its contacts stand in it. False if the mobility is not positive definite, or out of memory (see the arena). */
bool pcIslandAssemble(const pcAssembly* a, pcIsland* island);

#endif
