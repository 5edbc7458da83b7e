/* What is known of each attached world. Worlds do not know of each other: each has a lock of its own, and buffers of its own. */
#ifndef PC_ODE_REGISTRY_H
#define PC_ODE_REGISTRY_H

#include <pthread.h>
#include <stdio.h>

#include "adapters/ode/gather.h"
#include "adapters/ode/host.h"
#include "adapters/ode/space.h"

typedef struct pcHost {
    dWorldID world;
    pthread_mutex_t lock; /* recursive: a step calls back into the program, which may ask for a report */
    int users;            /* who has it from pcHostFind; freed when none is left and it is detached */
    int detached;
    struct pcHost* next;

    pcSettings settings;
    int (*native)(dWorldID, dReal); /* ODE's own step that the program called */
    pcSpace space;                  /* with what is known beyond ODE's words */
    pcMemory* memory;
    pcGathered gathered;
    pcContactResult* touch;
    int touchRoom, touches;
    pcStepReport report;
    pcWorldReportExtra extra;
    double time;
    FILE* log;
    char logName[PC_PATH_LENGTH];
} pcHost;

/* The attached world, locked; NULL if it is not attached. Give it back with pcHostRelease. */
pcHost* pcHostFind(dWorldID world);
void pcHostRelease(pcHost* host);

/* A new one, found and locked; or the one there is. NULL: out of memory. */
pcHost* pcHostMake(dWorldID world);

/* Out of the registry; freed with its last user. */
void pcHostDrop(pcHost* host);

#endif
