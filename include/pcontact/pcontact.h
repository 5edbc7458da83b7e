/*
 * Perfect Contact for programs built on the Open Dynamics Engine: another solver and another narrowphase, per world, at any time.
 *
 *     pcSettings settings = pcDefaultSettings();
 *     pcWorldAttach(world, space, &settings);          // once
 *     …
 *     pcWorldStep(world, 0.01);                        // instead of dWorldStep
 *
 * With a space, contacts are found here, looking ahead; no near callback and no contact joints are needed. Without one, the step uses the
 * contact joints that the program makes, and what pcNearCallback has collected. ODE integrates, damps, disables bodies and calls back as
 * it always does. A step that cannot be solved becomes a native one, and is counted in the report.
 */
#ifndef PCONTACT_PCONTACT_H
#define PCONTACT_PCONTACT_H

#include <ode/ode.h>

#include "pcontact/abi.h"
#include "pcontact/implicit.h"
#include "pcontact/lcp.h"
#include "pcontact/metric.h"
#include "pcontact/settings.h"
#include "pcontact/shape.h"
#include "pcontact/system.h"
#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a world under the settings; NULL settings: the defaults. PC_ERROR_UNSUPPORTED: this build of ODE is not one we understand; the
 * world stays native. Attaching again changes space and settings. On any error nothing is changed.
 * The space must live as long as the world is attached with it: before dSpaceDestroy, detach or attach with another. (ODE tells nobody
 * that a space is gone; only the preload library sees it, and then goes on without a space.) Its geoms and bodies may go at any time
 * between steps. */
PC_API pcStatus pcWorldAttach(dWorldID world, dSpaceID spaceOrNull, const pcSettings* settings);

/* Another model, solver or any other setting from the next step on. */
PC_API pcStatus pcWorldSetSettings(dWorldID world, const pcSettings* settings);

/* Asked for every near pair of geoms of a world that is attached with a space, or that pcNearCallback collects: fills in the surface (it comes
 * with the settings' friction) and returns 1, or returns 0: the pair does not touch. NULL: the settings' friction everywhere. A step may
 * ask several times for the same pair. */
typedef int pcSurfaceFn(void* context, dGeomID geom1, dGeomID geom2, dSurfaceParameters* surface);
PC_API pcStatus pcWorldSetSurface(dWorldID world, pcSurfaceFn* surface, void* context);

/* One step by the world's model; of a world that is not attached, dWorldStep. PC_OK also where the step had to be native: the report says so.
 * PC_ERROR_NOT_FINITE: numbers of bodies, joints or contacts for which ODE's own step would end the program; nothing was done. */
PC_API pcStatus pcWorldStep(dWorldID world, dReal h);

/* Milliseconds of a step of a world; what is only measured for the report does not count. */
enum {
    PC_HOST_GATHER, /* reading the world: bodies, joints, contacts, geoms */
    PC_HOST_SOLVE,  /* pcSystemStep; its own phases are in pcStepReport */
    PC_HOST_INJECT, /* velocities, feedback and ODE's integration; of a native step: the step with its contact joints */
    PC_HOST_ALL,
    PC_HOST_TIMES
};

#define PC_MOST_DUMPS 1000 /* files that dump=FOLDER writes for one world; then no more */

/* What a step of a world has to say beyond pcStepReport. */
typedef struct pcWorldReportExtra {
    int native;                  /* 1: this step was a native one, by model or because it could not be solved */
    int nativeSteps, steps;      /* since the world was attached */
    int joints;                  /* that took part, contact joints among them; of a bare native step: 0 */
    int ignoredContacts;         /* contact joints between geoms of the attached space: its contacts were found here */
    int untranslated;            /* constraints that the model cannot express */
    char untranslatedNames[256]; /* what they were, each once; "" none */
    char reason[256];            /* why the last native step was one; "" if the model says so */
    double shadowDifference;     /* model=shadow: largest difference of velocities, native against ours, by the velocity scale */
    int dumps;                   /* files written by dump=FOLDER since the world was attached, at most PC_MOST_DUMPS */
    int lostLines;               /* lines of the report file that could not be written, since the world was attached */
    double milliseconds[PC_HOST_TIMES];
} pcWorldReportExtra;

/* Of the last step. Kinetic and whole energy are those of the world as ODE has left it: after damping, sleeping bodies included, kinematic
 * ones not. The report of a native step tells what the world was before and its energy after, measured by the same code as of our own; what
 * tells of a solution is NaN. It is measured if the world has a space, collected pairs or a report file; otherwise a native step costs
 * nothing more, and all of that is NaN. */
PC_API pcStatus pcWorldReport(dWorldID world, pcStepReport* report);
PC_API pcStatus pcWorldReportMore(dWorldID world, pcWorldReportExtra* extra);

/* The world as it stands, by the same measure, whatever its model: infeasibility before a step or after it, events within reach of a step
 * h, energy. Changes nothing. */
PC_API pcStatus pcWorldMeasure(dWorldID world, dReal h, pcStepReport* report);

/* A contact of the last step. */
typedef struct pcWorldContact {
    dBodyID body1, body2; /* NULL: the world. They may have been destroyed since */
    int kind;             /* a pcEventKind; -1: it did not come from an event of ours */
    double point[3];
    double normal[3];    /* unit, from body 1 to body 2 */
    double tangent1[3];  /* along which mu counts */
    double mu, mu2;      /* of friction, across the normal; infinite: it holds */
    double softness;     /* velocity per impulse along the normal; 0: hard */
    double slip1, slip2; /* velocity per impulse along the tangents */
    double gap;          /* before the step; > 0 apart */
    double target;       /* the normal velocity that the step asked for at least */
    double impulse[3];   /* on body 2, world axes; minus that on body 1 */
} pcWorldContact;

/* The contacts of the last step with what they did, for drawing and for judging: of a world that is attached with a space, under every
 * model; else those of our own steps only. *count may exceed the capacity. */
PC_API pcStatus pcWorldContacts(dWorldID world, pcWorldContact* contacts, int capacity, int* count);

/* Back to ODE alone. Destroying a world detaches it when the library stands between (preload); otherwise call this before dWorldDestroy. */
PC_API pcStatus pcWorldDetach(dWorldID world);

/* The metric takes this shape for the geom, at the geom's pose, in place of what its class and sizes say: an ellipsoid or a support
 * function, which ODE has no geom for. ODE itself goes on with the geom as it is, and so do native steps and the boxes of dSpaceCollide: a
 * hull of the shape will do. NULL takes it back, and so do other sizes or points of the geom; call it so before the geom is
 * destroyed. The shape is shared: pcShapeFree yours at any time. */
PC_API pcStatus pcGeomSetShape(dGeomID geom, const pcShape* shapeOrNull);

/* A compliant layer around the geom (pcontact/implicit.h), for steps of model=implicit: within it a contact is a spring and a damper, at its
 * `deepest` the rigid core is met. Where both geoms of a pair have one, they act in series. The geom is the outer surface of the layer. Other
 * models and native steps know nothing of it, nor do pairs whose contacts are dCollide's. Steps are Euler's, as ODE integrates. The layer is
 * copied; again: another one from the next step on. NULL takes it back; call it so before the geom is destroyed. */
PC_API pcStatus pcGeomSetLayer(dGeomID geom, const pcLayer* layerOrNull);

/* Same contract as dCollide, by the ratio metric where it knows both shapes (box, convex, plane, sphere, capsule, cylinder, and what
 * pcGeomSetShape has said; two spheres that touch are ODE's), else dCollide itself. */
PC_API int pcCollide(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip);

/* A ready dNearCallback for dSpaceCollide: collects the pair for the next step of the world given as its data: shapes, places on their bodies,
 * surface and ODE's contacts, all by value. A geom or body that is destroyed before the step does no harm; a contact of the former acts
 * once more. */
PC_API void pcNearCallback(void* world, dGeomID geom1, dGeomID geom2);

/* Puts the ratio metric behind dCollide for every program in the process, and takes it away again. */
PC_API pcStatus pcOverrideColliders(void);
PC_API pcStatus pcRestoreColliders(void);

/* For hosts that dlopen: the functions above as a table. NULL if this library does not have that version. */
#define PC_PLUGIN_VERSION 1
typedef struct pcPluginTable {
    int version;
    const char* (*lastError)(void);
    pcSettings (*defaultSettings)(void);
    pcStatus (*settingsParse)(pcSettings*, const char*);
    pcStatus (*worldAttach)(dWorldID, dSpaceID, const pcSettings*);
    pcStatus (*worldSetSettings)(dWorldID, const pcSettings*);
    pcStatus (*worldSetSurface)(dWorldID, pcSurfaceFn*, void*);
    pcStatus (*worldStep)(dWorldID, dReal);
    pcStatus (*worldReport)(dWorldID, pcStepReport*);
    pcStatus (*worldDetach)(dWorldID);
    int (*collide)(dGeomID, dGeomID, int, dContactGeom*, int);
    void (*nearCallback)(void*, dGeomID, dGeomID);
    pcStatus (*overrideColliders)(void);
    pcStatus (*restoreColliders)(void);
    pcStatus (*worldReportMore)(dWorldID, pcWorldReportExtra*);
    pcStatus (*worldMeasure)(dWorldID, dReal, pcStepReport*);
    pcStatus (*worldContacts)(dWorldID, pcWorldContact*, int, int*);
    const char* (*statusText)(pcStatus);
} pcPluginTable;
PC_API const pcPluginTable* pcPluginGet(int abiVersion);

/* As pcAbiCheck, for the structs of this header too. */
#define PC_ABI_WORLD_STRUCTS(X) X(1001, pcWorldReportExtra) X(1002, pcWorldContact) X(1003, pcPluginTable)
PC_API pcStatus pcAbiCompareWorld(const pcAbiSize* sizes, int count);

static inline pcStatus pcAbiCheckWorld(void)
{
    static const pcAbiSize sizes[] = {PC_ABI_WORLD_STRUCTS(PC_ABI_SIZE_)};
    pcStatus status = pcAbiCheck();
    return status == PC_OK ? pcAbiCompareWorld(sizes, (int)(sizeof sizes / sizeof *sizes)) : status;
}

#ifdef __cplusplus
}
#endif
#endif
