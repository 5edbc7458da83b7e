/* A small world for the tests of the step: bodies with shapes, stepped in place. */
#ifndef PC_UNIT_SCENE_H
#define PC_UNIT_SCENE_H

#include "pcontact/system.h"

enum { SCENE_MOST = 64, SCENE_CONTACTS = 1024 };

typedef struct Scene {
    pcSettings settings;
    double h;
    pcSystem system;
    pcBody body[SCENE_MOST];
    pcPlacedShape shape[SCENE_MOST];
    pcShape* owned[SCENE_MOST];
    int ownedCount;
    pcRow row[SCENE_MOST];
    pcContact contact[SCENE_MOST];
    double rowImpulse[SCENE_MOST];
    pcContactResult touch[SCENE_CONTACTS];
    pcSystemResult result; /* of the last step */
} Scene;

/* Gravity 10 along -z, h = 0.01, default settings, a memory. */
void sceneBegin(Scene* scene);
void sceneEnd(Scene* scene);

/* The half-space z <= 0. */
int sceneFloor(Scene* scene);

/* A solid of the given mass with its inertia about its centre; returns the body. */
int sceneBox(Scene* scene, double x, double y, double z, const double size[3], double mass);
int sceneSphere(Scene* scene, double x, double y, double z, double radius, double mass);
int sceneBody(Scene* scene, const double position[3], double mass, const double diagonal[3]);
void sceneShape(Scene* scene, int body, pcShape* shape); /* takes it over */

/* An equality row; the caller fills in the rest. */
pcRow* sceneRow(Scene* scene, int body1, int body2);
/* A contact along +z of body with the world, at the point. */
pcContact* sceneContact(Scene* scene, int body, const double point[3], double gap);

/* One step, or many; bodies move on. Fails the test where the step fails. */
void sceneStep(Scene* scene);
void sceneRun(Scene* scene, int steps);

/* Of the centre of mass. */
double sceneSpeed(const Scene* scene, int body);

static const double unitCube[3] = {1, 1, 1};

void sceneExpectPlace(const Scene* scene, int body, double x, double y, double z, double tolerance);
void sceneExpectSound(const Scene* scene); /* the last step was solved, and kept its energy identity */

#endif
