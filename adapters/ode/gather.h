/* A world of ODE as a pcSystem: bodies in the order of the world's own list, joint rows, contact joints. */
#ifndef PC_ODE_GATHER_H
#define PC_ODE_GATHER_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

/* A joint that gave rows, or a contact joint that gave a contact. */
typedef struct pcHostJoint {
    dJointID joint;
    int first, count; /* its rows, or its contact */
} pcHostJoint;

/* What could not be translated, by what it was. */
typedef enum pcUntranslated {
    PC_UNTRANSLATED_BOUND,     /* a joint row whose bounds depend on another row */
    PC_UNTRANSLATED_NORMAL,    /* a contact without a normal */
    PC_UNTRANSLATED_DIRECTION, /* a friction direction, or motion along one, asked for by a surface callback, which has none to give */
    PC_UNTRANSLATED_BOUNCE,    /* restitution that gains energy: it counts as 1 */
    PC_UNTRANSLATED_KINDS
} pcUntranslated;

typedef struct pcGathered {
    int bodies, bodyRoom;
    dBodyID* body;
    pcBody* state;
    double* freeVelocity; /* six per body */
    double* force;        /* six per body: the accumulators before the rows were asked for */
    double* velocity;     /* six per body: room for the answer */
    pcPose* moved;        /* likewise, where flight=mean puts them */
    int* parent;          /* islands, while bodies are woken */
    bool tied;            /* there are islands of several bodies */
    unsigned* flags;      /* ODE's, while a step of its own runs */
    int left;             /* bodies of the world that are not in the list because they sleep far away (sleepers.c) */
    dWorldID world;       /* whose they are */
    double fastest, spin; /* what that was decided by */
    int slots;
    int* slot; /* hash table of the bodies: index + 1, 0: empty */
    int joints, jointRoom, rows, rowRoom;
    pcHostJoint* joint;
    pcRow* row;
    double* rowImpulse;
    int touchJoints, touchJointRoom, contacts, contactRoom;
    int jointContacts; /* the first of the contacts: those of contact joints */
    pcHostJoint* touchJoint;
    pcContact* contact;
    int untranslated[PC_UNTRANSLATED_KINDS];
} pcGathered;

void pcGatheredFree(pcGathered* gathered);

/* -1: not a body of the world, or none. */
int pcGatheredIndex(const pcGathered* gathered, dBodyID body);

/* In this order, for one step: */
pcStatus pcGatherList(pcGathered* gathered, dWorldID world); /* which bodies there are; their force accumulators */
void pcGatherTie(pcGathered* gathered, dWorldID world);      /* what enabled joints hold together; others may add to it */
void pcGatherWake(pcGathered* gathered);                     /* whatever is tied to a body that is awake */
void pcGatherStates(pcGathered* gathered);                   /* poses, masses, velocities */
pcStatus pcGatherJoints(pcGathered* gathered, dWorldID world, double h, double gamma); /* rows, and which joints are contacts */
pcStatus pcGatherContacts(pcGathered* gathered, dWorldID world, const pcSettings* settings, double h); /* of the contact joints */
void pcGatherFree(pcGathered* gathered, dWorldID world, double h);                                     /* velocities without impulses */

/* After waking: bodies with parent[i] < 0 leave the list. */
void pcGatherLeave(pcGathered* gathered, dWorldID world);

/* A body of the world that has left the list. */
bool pcGatheredLeft(const pcGathered* gathered, dBodyID body);

/* Some bodies sleep, and some are awake: only then is there anything to wake. */
bool pcGatheredMixed(const pcGathered* gathered);

/* Between pcGatherTie and pcGatherWake. */
void pcGatheredTie(pcGathered* gathered, int body1, int body2);
void pcGatheredWake(pcGathered* gathered, int body);

/* ODE's own solver ends the program where a joint row or a contact joint holds numbers that are none, or a contact joint has no normal. */
bool pcGatheredUsable(const pcGathered* gathered, dWorldID world);

/* Force accumulators as they were before the rows were asked for. */
void pcGatherUndo(const pcGathered* gathered);

/* Room for `needed` items, with what is there kept; false if out of memory. */
bool pcGrow(void* array, int* room, int needed, size_t size);

#endif
