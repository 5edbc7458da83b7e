/* One step while it runs: what each phase leaves for the next. */
#ifndef PC_STEPPER_STEPPER_H
#define PC_STEPPER_STEPPER_H

#include "broadphase/broadphase.h"
#include "constraint/constraint.h"
#include "constraint/points.h"
#include "stepper/memory.h"

/* How an island was solved. */
typedef struct pcIslandJudged {
    pcConeInfo info;
    pcCertificate certificate;
    double energyError;
} pcIslandJudged;

typedef struct pcStep {
    const pcSystem* system;
    const pcSettings* settings;
    double h;
    pcSystemResult* result;
    pcMemory* memory;
    pcArena* arena;        /* of this step */
    pcHistory *last, *now; /* what the last step left, what this one leaves */
    int threads;
    const pcConeSolver* solver;

    pcMotion* motion;    /* per body */
    pcHeldPoint* points; /* that joints hold; implicitJoints only */
    int pointCount;
    pcPose* pose;             /* per shape, in world axes */
    int* order;               /* of the shapes, by the broadphase */
    int *pieces, fixedPieces; /* how many shapes each body has, and how many have none */
    pcPair* pairs;
    pcKeptPair* kept; /* per pair: its cache */
    int pairCount;
    pcTouch* touch; /* given contacts first, in their order; then events by pair and id */
    int touches, touchCapacity;

    pcAssembly assembly;
    pcIsland* islands;
    int islandCount;
    pcIslandJudged* answers;
    int* largestFirst;

    double* velocity; /* 6 per body: the answer */
    double* way;      /* 6 per body: that which moves it, velocity itself unless flight=mean */
    pcStepReport report;
} pcStep;

/* check.c: all input; the sentence names what is wrong and which one. */
pcStatus pcStepCheck(const pcSystem* system, const pcSettings* settings, double h, const pcSystemResult* result);
pcStatus pcStepChooseSolver(const pcSettings* settings, const pcConeSolver** out);
pcStatus pcSurfaceCheck(const pcSurface* surface, const char* what, int index);

/* pairs.c */
void pcStepPairs(pcStep* step);
pcStatus pcStepEvents(pcStep* step);

/* Whether these bodies may touch in several pairs of shapes; -1: what is fixed. */
bool pcStepHasPieces(const pcStep* step, int body1, int body2);

/* seams.c: contacts with faces that a neighbouring piece covers, left out. */
void pcStepSeams(pcStep* step);

/* merge.c: what neighbouring pieces of a body have both found, once. */
void pcStepMerge(pcStep* step);

/* solve.c */
void pcStepWarm(pcStep* step);  /* guesses from the last step's impulses */
void pcStepSolve(pcStep* step); /* every island, largest first, over the threads */

/* An island in the hands of a thread. */
typedef struct pcIslandSolve {
    pcStep* step;
    pcIsland* island;
    pcWorker* worker;
} pcIslandSolve;
pcConeInfo pcIslandSolveOnce(const pcIslandSolve* solve, bool warm); /* its problem as it stands, into its v and c */
void pcIslandJudge(const pcIslandSolve* solve, pcIslandJudged* answer);

/* restitution.c: of an island whose problem was solved once (Poisson: its compression); judged and with all its impulses when done. */
typedef enum pcBounceLaw { PC_BOUNCE_NONE = 0, PC_BOUNCE_NEWTON, PC_BOUNCE_POISSON } pcBounceLaw;
pcBounceLaw pcIslandBounces(const pcIsland* island);
void pcIslandRestore(const pcIslandSolve* solve, pcBounceLaw law, pcIslandJudged* answer);

/* calm.c: once every island is solved, those whose answer missed the tolerance and throws a body are solved without what pushes bodies out; fails
 * if that throws one too. */
pcStatus pcStepCalm(pcStep* step);

/* flight.c: flight=mean; without it nothing. */
void pcIslandFly(const pcIslandSolve* solve, const double* turned); /* the way of its answer; `turned`: impulses in turn, or NULL */
bool pcIslandLands(const pcIslandSolve* solve); /* likewise; true if contacts of pressed bodies must act at once: solve it again */

/* joints.c: implicitJoints. */
void pcStepStiffen(pcStep* step);    /* finds the points that joints hold, and makes the bodies sluggish at which they pull */
void pcStepHoldPoints(pcStep* step); /* once every island is solved: again, so that the points are held at the end of the step */

/* result.c */
pcStatus pcStepVelocities(pcStep* step);
void pcStepWays(pcStep* step);
void pcStepKeep(pcStep* step); /* impulses for the next step */
void pcStepSummary(pcStep* step);
void pcStepMeasure(pcStep* step); /* what the report says of the state before the step */
void pcStepWrite(const pcStep* step);

/* energy.c: of a problem and its answer. */
double pcKineticEnergy(const pcProblem* problem, const double* v);
double pcMassProduct(const pcProblem* problem, const double* x, const double* y); /* x'My */

#endif
