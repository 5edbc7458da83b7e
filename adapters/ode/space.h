/*
 * Contacts of a world that is attached with a space, or for which pcNearCallback has collected pairs. Geoms that the metric knows become
 * shapes of the system, which then finds their contacts itself, looking ahead; pairs that it does not know bring dCollide's contacts.
 * ODE's own steps of such a world get contact joints for as long as the step lasts.
 */
#ifndef PC_ODE_SPACE_H
#define PC_ODE_SPACE_H

#include "adapters/ode/collected.h"
#include "adapters/ode/contacts.h"
#include "adapters/ode/gather.h"
#include "adapters/ode/host.h"

enum { PC_MOST_CONTACTS = 64 }; /* of a pair by dCollide */

/* Which geoms there are: a hash table of their ids, which are only numbers here. */
typedef struct pcGeomSet {
    int count, slots;
    dGeomID* slot;
} pcGeomSet;

/* A body that contacts pressed; one that was asleep is woken. By now it may be destroyed: only a number until the world has listed it. */
typedef struct pcStruck {
    dBodyID body;
    bool asleep;
    bool held; /* ODE believes that a joint holds it */
} pcStruck;

typedef struct pcSpace {
    dSpaceID space; /* NULL: none */
    pcSurfaceFn* surface;
    void* surfaceContext;
    pcWorldMore more;

    pcCollected collected; /* by pcNearCallback for the next step */

    bool active; /* this step finds contacts itself */
    int shapes, shapeRoom;
    pcPlacedShape* shape;
    dGeomID* geom;
    pcGeomSet members;                            /* geoms of the space */
    bool unknown;                                 /* a geom of the space is of a class that the metric does not know */
    int stranges, strangeRoom, planes, planeRoom; /* geoms without a shape, and planes */
    dGeomID *strange, *plane;
    pcHostSurface host;
    int directed; /* surfaces that asked for a friction direction or motion along one, which pairs do not have */
    int bouncy;   /* surfaces with a bounce above 1 */

    int temporaries, temporaryRoom; /* contact joints of a native step */
    dJointID* temporary;
    int muted, mutedRoom; /* the host's own contact joints, disabled meanwhile */
    dJointID* mute;

    int struck, struckRoom; /* what the last step's contacts pressed */
    pcStruck* strike;
    int ignored; /* contact joints of the host between geoms of the space */
} pcSpace;

void pcSpaceFree(pcSpace* space);

/* A pair for the next step, unless it may not touch; false if out of memory. */
bool pcSpaceCollect(pcSpace* space, dGeomID geom1, dGeomID geom2, const pcSettings* settings);

/* Auto-disable leaves bodies without joints alone; those that contacts pressed have none here. So ODE believes they have, for its turn. */
void pcSpaceAutoDisable(pcSpace* space, const pcGathered* gathered, dWorldID world, double h);

/* Wakes what was struck, and ties bodies that touch, as the contact joints of a host would. */
void pcSpaceTie(pcSpace* space, pcGathered* gathered);

/* Takes contact joints of the host out of the gathered ones that stand for contacts found here, or pairs that stand for its joints. */
void pcSpaceFilter(pcSpace* space, pcGathered* gathered);

/* Shapes, and contacts of pairs that the metric does not know. */
pcStatus pcSpaceGather(pcSpace* space, pcGathered* gathered, dWorldID world, const pcSettings* settings, double h);
void pcSpaceShapes(pcSpace* space, pcSystem* system);

/* Rows that no joint makes. */
pcStatus pcSpaceRows(const pcSpace* space, pcGathered* gathered);

/* After the step: the pairs are used up, and what was pressed is remembered. */
void pcSpaceKeep(pcSpace* space, const pcGathered* gathered, const pcContactResult* touches, int touchCount);

/* There are no contacts to be found here: no space, no pairs. */
bool pcSpaceIdle(const pcSpace* space);

/* Contact joints for a native step of the bodies that pcGatherList has listed, and their end. Contact joints of the program that stand for the
 * same, or that ODE would take for touching although they are apart, sleep meanwhile. */
void pcSpaceJoin(pcSpace* space, const pcGathered* gathered, dWorldID world, const pcSettings* settings);
void pcSpacePart(pcSpace* space);

#endif
