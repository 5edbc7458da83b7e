/*
 * What ODE keeps where. It has no public call that lists the bodies and joints of a world or reads the dContact of a contact joint, so the
 * places are found at run time: in a scratch world, by looking for what is known to stand in them. Each must be found exactly once, and
 * a world that is made and unmade at random must then be listed without an error; otherwise nothing of ODE is touched.
 */
#ifndef PC_ODE_PROBE_H
#define PC_ODE_PROBE_H

#include <stdbool.h>
#include <stddef.h>

#include "pcontact/pcontact.h"

/* Offsets in bytes from the id of an object. */
typedef struct pcLayout {
    size_t firstBody, firstJoint, bodyCount, jointCount; /* of a world */
    size_t workingMemory;                                /* of a world: a pointer; NULL before its first step */
    size_t nextBody, nextJoint;
    size_t bodyFlags, bodyJoints;   /* bodyJoints: a pointer; NULL: no joint holds it */
    unsigned disabled, autoDisable; /* bits of the flags */
    size_t contact;                 /* the dContact in a contact joint */
} pcLayout;

/* Found at the first call. NULL: this ODE is not laid out as we know it; pcLastError() says what was not found. */
const pcLayout* pcOdeLayout(void);

/* After pcOdeLayout() has succeeded: */
int pcOdeBodies(dWorldID world);
int pcOdeJoints(dWorldID world);
dBodyID pcOdeFirstBody(dWorldID world); /* NULL: none */
dBodyID pcOdeNextBody(dBodyID body);
dJointID pcOdeFirstJoint(dWorldID world);
dJointID pcOdeNextJoint(dJointID joint);
int pcOdeHasMemory(dWorldID world); /* for its steps: a world that has stepped has */
unsigned pcOdeBodyFlags(dBodyID body);
bool pcOdeSleeps(dBodyID body); /* it is disabled */
void pcOdeSetBodyFlags(dBodyID body, unsigned flags);
const dContact* pcOdeContact(dJointID contactJoint);

/* Makes ODE believe that a joint holds a body that none holds, and no longer: within one call of ODE that asks no more than that. */
void pcOdePretendJoint(dBodyID body, int on);

/* The lists of a world hold as many as it counts, all of them its own: asked once, when it is attached. */
pcStatus pcOdeCheckWorld(dWorldID world);

#endif
