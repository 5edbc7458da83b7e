/* What a sequence of implicit steps keeps. */
#ifndef PC_IMPLICIT_MEMORY_H
#define PC_IMPLICIT_MEMORY_H

#include "implicit/solve.h"

typedef struct pcKeptNear {
    int form1, form2, piece1, piece2;
    pcLevel level;
    pcPairCache cache;
    int first, count; /* its contacts */
    bool full;        /* its level was an unknown of its own */
} pcKeptNear;

/* Of one step; everything in its arena. */
typedef struct pcKeptStep {
    pcArena arena;
    int nears;
    pcKeptNear* near; /* ascending */
    pcKeptBond* bond;
    int givens;
    pcKeptBond* given;
    int rows;
    double* rowImpulse;
    int forms;
    int* order; /* as the broadphase left it */
} pcKeptStep;

struct pcImplicitMemory {
    pcArena arena; /* of the step at hand */
    pcKeptStep kept[2];
    int last;
    pcMemory* lcp; /* of steps that fall back */

    int shapes; /* pcImplicitSystemStep: forms of the shapes of the last step */
    unsigned long long* shapeId;
    pcForm** form;
    int contactRoom;
    pcImplicitContact* contact;
    int* kind; /* of each contact, as pcImplicitStepKinds tells it */
};

void pcImplicitMemoryClear(pcImplicitMemory* memory);

#endif
