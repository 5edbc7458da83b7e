/* One implicit step while it runs: what each phase leaves for the next. */
#ifndef PC_IMPLICIT_STEP_H
#define PC_IMPLICIT_STEP_H

#include "broadphase/broadphase.h"
#include "implicit/memory.h"

typedef struct pcImplicitRun {
    const pcImplicitSystem* system;
    const pcSettings* settings;
    double h;
    pcArena* arena;
    pcImplicitMemory* memory;
    const pcKeptStep* last;
    pcKeptStep* now;

    pcSystem plain; /* bodies, rows and contacts as the other stepper sees them */
    bool trying;    /* … and what it says is a guess */
    pcMotion* motion;
    pcPace* pace; /* per body: as fast as it is believed to get */
    int* order;
    pcNear* near;
    int nears;
    pcTouch* tie; /* per near pair, then per given contact: which bodies it ties together */
    pcAssembly assembly;
    pcIsland* islands;
    int islandCount;
    pcPlace* place;
    pcBond** given; /* per given contact */
    double* velocity;
    bool* midpoint; /* per body: how it was moved */
    double* rowImpulse;
    int* kind; /* as below */
    pcImplicitReport report;
} pcImplicitRun;

/* step.c: as pcImplicitStep. `kindOrNull`, with the room of result->contacts, is told the kind of each: a pcEventKind, -1 of those that were given.
 * pcImplicitContact has no place for it. */
pcStatus pcImplicitStepKinds(const pcImplicitSystem* system, const pcSettings* settings, double h, pcImplicitResult* result,
                             int* kindOrNull);

/* check.c */
pcStatus pcImplicitCheck(pcImplicitRun* run, const pcImplicitResult* result);

/* pairs.c: which pieces could touch. */
pcStatus pcImplicitPairs(pcImplicitRun* run);
bool pcLayerOfPair(const pcLayer* a, const pcLayer* b, pcLayer* out); /* either may be NULL: rigid; false: both are */

/* fallback.c: the LCP step of an island, with contacts as they are before the step; writes its velocities and impulses. */
pcStatus pcImplicitFallBack(pcImplicitRun* run, pcWork* work);
/* The implicit problem once more, from LCP steps with contacts at its end. */
pcStatus pcImplicitApproach(pcImplicitRun* run, pcWork* work, pcIslandEnd* out);

/* result.c */
void pcImplicitSummary(pcImplicitRun* run);
void pcImplicitKeep(pcImplicitRun* run);
void pcImplicitWrite(const pcImplicitRun* run, pcImplicitResult* result);
void pcImplicitWriteContact(const pcImplicitRun* run, const pcBond* bond, pcImplicitContact* out);
pcPose pcImplicitPose(const pcImplicitRun* run, int body);

#endif
