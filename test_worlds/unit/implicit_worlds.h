/* The worlds of G and others, for the implicit step: shared by tests and `pcontact bench implicit`. */
#ifndef IMPLICIT_WORLDS_H
#define IMPLICIT_WORLDS_H

#include "pcontact/implicit.h"

enum { IMPLICIT_BODIES = 256, IMPLICIT_FORMS = 520, IMPLICIT_CONTACTS = 1024 };

typedef struct ImplicitWorld {
    pcImplicitSystem system;
    pcSettings settings;
    double h, time;
    pcBody body[IMPLICIT_BODIES];
    pcPlacedForm form[IMPLICIT_FORMS];
    pcForm* owned[16];
    int ownedCount;
    pcSurface surface;
    pcLayer layer;
    double velocity[6 * IMPLICIT_BODIES];
    pcPose pose[IMPLICIT_BODIES];
    pcImplicitContact contact[IMPLICIT_CONTACTS];
    pcImplicitResult result;
} ImplicitWorld;

/* Empty, with memory, z up, gravity 9.81. End it with implicitWorldEnd. */
void implicitWorldBegin(ImplicitWorld* w);
void implicitWorldEnd(ImplicitWorld* w);
pcForm* implicitOwn(ImplicitWorld* w, pcForm* form);                                 /* freed at the end; NULL ends the program */
int implicitBody(ImplicitWorld* w, const pcForm* form, double mass, double inertia); /* at the origin */
void implicitFixed(ImplicitWorld* w, const pcForm* form, double x, double y, double z);

/* One step; the bodies take its result. */
pcStatus implicitWorldStep(ImplicitWorld* w);

/* G 6.1: a unit disc of mass 1 and inertia 1/2 rolls on a plane with v = (-3, 0), omega = 3, mu = 0.4. As what it is made: */
typedef enum DiscKind { DISC_SPHERE, DISC_CYLINDER, DISC_FUNCTION, DISC_KINDS } DiscKind;
extern const char* const discNames[DISC_KINDS];
void implicitDisc(ImplicitWorld* w, DiscKind kind, double h);

/* G 6.2: a unit sphere on spheres of radius 10 and 9; contact 0 is with the larger. */
void implicitTwoSpheres(ImplicitWorld* w, double h);

/* G 6.3: a unit disc (a sphere: it does not turn) falls from 1.5 on a frictionless floor with a layer of k = 1000 and this depth. */
void implicitLayered(ImplicitWorld* w, double h, double deepest, pcScheme scheme);
double implicitLayerEnergy(const ImplicitWorld* w); /* kinetic, potential above the floor, and of the spring */

/* A superellipsoid with exponents 4 and 6 is put on the floor on its flat pole, tilted by 0.02 and pushed a little. */
void implicitPole(ImplicitWorld* w, double h);

/* `count` spheres rolling on a floor, far from each other. */
void implicitApart(ImplicitWorld* w, int count, double h);

#endif
