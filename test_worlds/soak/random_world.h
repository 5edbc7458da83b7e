/*
 * A world in which everything comes and goes: at every step bodies, geoms and joints are made and destroyed in random order, bodies are kicked,
 * put to sleep and woken, the model, the solver and the way contacts are found change. The same seed is the same story.
 */
#ifndef PC_SOAK_RANDOM_WORLD_H
#define PC_SOAK_RANDOM_WORLD_H

#include <stdbool.h>

#include "pcontact/pcontact.h"
#include "test_worlds/fuzz/random.h"

enum { RANDOM_BODIES = 10, RANDOM_JOINTS = 6, RANDOM_GEOMS = 24 };

typedef struct RandomWorld {
    pcRandom random;
    dWorldID world;
    dSpaceID space;
    dJointGroupID group; /* of contacts that the program itself makes */
    dBodyID body[RANDOM_BODIES];
    dJointID joint[RANDOM_JOINTS];
    dJointFeedback feedback[RANDOM_JOINTS];
    dGeomID geom[RANDOM_GEOMS];
    int contacts;         /* how they are found: by our space, by pcNearCallback, by joints of the program's own callback */
    const char* settings; /* on top of every model; "": none */
    char attached[512];   /* by these */
    long made, destroyed;
    long normalless;             /* contacts without a normal that dCollide returned */
    long thrown, thrownNatively; /* bodies faster than 100 m/s or 200 rad/s after a step of ours, and of ODE's own … */
    long
        flown; /* … faster than 1e8 m/s after one of ours, or than 1e3 m/s after one that missed its tolerance: a body squeezed as in a wedge may
                   leave at 1e6, if that is the answer, but nothing here asks for more */
} RandomWorld;

/* ODE must have been initialised. */
void randomWorldBegin(RandomWorld* w, unsigned long long seed, const char* settings);

/* Changes and one step; PC_OK, or what pcWorldStep has to say. */
pcStatus randomWorldStep(RandomWorld* w, double h);

/* Is every body somewhere? */
bool randomWorldFinite(const RandomWorld* w);

void randomWorldEnd(RandomWorld* w);

#endif
