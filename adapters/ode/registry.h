/* What is known of each attached world. Worlds do not know of each other: each has a lock of its own, and buffers of its own. */
#ifndef PC_ODE_REGISTRY_H
#define PC_ODE_REGISTRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "adapters/ode/gather.h"
#include "adapters/ode/host.h"
#include "adapters/ode/space.h"
#include "adapters/ode/touches.h"
#include "pcontact/implicit.h"

typedef struct pcHost {
    dWorldID world;
    int number;           /* which of the worlds of this process, in the order in which they were attached: 1, 2 ... */
    pthread_mutex_t lock; /* recursive: a step calls back into the program, which may ask for a report */
    int users;            /* who has it from pcHostFind; freed when none is left and it is detached */
    int detached;
    bool stepping;
    dJointID marker; /* a joint without bodies: it dies with its world, so that another one at the same place is not taken for it */
    struct pcHost* next;

    pcSettings settings;
    int (*native)(dWorldID, dReal); /* ODE's own step that the program called */
    pcSpace space;                  /* with what is known beyond ODE's words */
    pcMemory* memory;
    pcImplicitMemory* implicit; /* of model=implicit; NULL before its first step */
    pcLayer* layer;             /* likewise: of the shapes at hand, and where each of them has its own */
    const pcLayer** layerOf;
    int layerRoom;
    pcGathered gathered, aside; /* aside: room for measuring between steps */
    pcContactResult* touch;
    int touchRoom, touches;
    pcTouches felt; /* by a native step */
    pcStepReport report;
    pcWorldReportExtra extra;
    double time;
    double ahead; /* how far this world wants dCollide to look ahead; under the registry's lock */
    FILE* log;
    char logName[PC_PATH_LENGTH]; /* as the settings have it */
    atomic_int dumps;
} pcHost;

/* The attached world, locked; NULL if it is not attached. Give it back with pcHostRelease. */
pcHost* pcHostFind(dWorldID world);
void pcHostRelease(pcHost* host);

/* A new one, found and locked; or the one there is. NULL: out of memory. */
pcHost* pcHostMake(dWorldID world);

/* Gives the world its marker; false if out of memory. Later: the world is still the one that has it. */
bool pcHostMark(pcHost* host);
bool pcHostIsAlive(const pcHost* host);

/* Out of the registry; freed with its last user. */
void pcHostDrop(pcHost* host);

/* The space of an attached world; one that is destroyed is nobody's any more. */
void pcHostSetSpace(pcHost* host, dSpaceID space);
void pcHostForgetSpace(dGeomID space);

/* dCollide is one for the process: it looks as far ahead as the farthest of the worlds wants. */
void pcHostLookAhead(pcHost* host, double ahead);

#endif
