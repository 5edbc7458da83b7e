/* The same world of ODE twice: one stepped by us, one by ODE, each step from the same state. */
#ifndef PC_UNIT_ODE_TWIN_H
#define PC_UNIT_ODE_TWIN_H

#include "pcontact/pcontact.h"

enum { TWIN_MOST = 64 };

typedef struct Twin {
    dWorldID world[2]; /* ours, ODE's */
    dBodyID body[2][TWIN_MOST];
    dJointID joint[2][TWIN_MOST];
    dJointFeedback feedback[2][TWIN_MOST];
    int bodies, joints;
    double worst, worstFeedback; /* largest differences so far, by the largest velocity or force there is; at least by 1 */
} Twin;

void twinBegin(Twin* twin);
void twinEnd(Twin* twin);

/* A box of its own mass and size, moving. */
int twinBody(Twin* twin, double x, double y, double z);

/* Two joints that are the same in both worlds, with feedback. */
void twinKeep(Twin* twin, dJointID ours, dJointID theirs);

/* A joint of a kind between two bodies, -1: the world; `set` once it is attached. */
#define JOINT(t, Kind, first, second, ...)                                                                         \
    do {                                                                                                           \
        dJointID made[2];                                                                                          \
        for (int w = 0; w < 2; w++) {                                                                              \
            dJointID j = made[w] = dJointCreate##Kind((t)->world[w], NULL);                                        \
            dJointAttach(j, (first) < 0 ? NULL : (t)->body[w][first], (second) < 0 ? NULL : (t)->body[w][second]); \
            __VA_ARGS__;                                                                                           \
        }                                                                                                          \
        twinKeep(t, made[0], made[1]);                                                                             \
    } while (0)

/* So many steps. */
void twinRun(Twin* twin, int steps, double h);

/* No step was native, nothing was left untranslated. */
void twinExpectOurs(const Twin* twin);

#endif
