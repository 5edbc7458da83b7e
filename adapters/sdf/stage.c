#include "adapters/sdf/stage.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/host.h"
#include "adapters/sdf/inner.h"
#include "base/pose.h"
#include "base/status.h"

static pcStatus outOfMemory(void) { return pcFail(PC_ERROR_MEMORY, "out of memory for a world"); }

/* Room for item `count`, doubled whenever that is a power of two. */
bool pcStageRoom(void* array, int count, size_t size)
{
    void* old;
    if (count > 0 && (count & (count - 1)) != 0) return true;
    memcpy(&old, array, sizeof old);
    void* wider = realloc(old, (count > 0 ? 2 * (size_t)count : 1) * size);
    if (!wider) return false;
    memcpy(array, &wider, sizeof wider);
    return true;
}

/* Once each. */
void pcStageNote(pcStage* stage, const char* text)
{
    const char* before = stage->skipped;
    if (strstr(before, text)) return;
    size_t room = strlen(before) + strlen(text) + 3;
    char* longer = malloc(room);
    if (!longer) return;
    snprintf(longer, room, "%s%s%s", before, *before ? ", " : "", text);
    free(stage->inner->skipped);
    stage->skipped = stage->inner->skipped = longer;
}

/* ---- messages of ODE, which has one handler for the whole process ---- */

static _Atomic int messagesSoFar;
static int stagesOpen;

static void countMessage(int number, const char* format, va_list arguments)
{
    (void)number, (void)format, (void)arguments;
    messagesSoFar++;
}

/* ODE ends the program after it: somebody should know why. */
static void sayWhy(int number, const char* format, va_list arguments)
{
    fprintf(stderr, "ODE ends the program, with its error %d: ", number);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
}

static pthread_mutex_t openingOde = PTHREAD_MUTEX_INITIALIZER;

void pcStageOpenOde(void)
{
    pthread_mutex_lock(&openingOde);
    dInitODE2(0);
    if (stagesOpen++ == 0) {
        dSetErrorHandler(countMessage);
        dSetDebugHandler(sayWhy);
        dSetMessageHandler(countMessage);
    }
    pthread_mutex_unlock(&openingOde);
}

void pcStageCloseOde(void)
{
    pthread_mutex_lock(&openingOde);
    if (--stagesOpen == 0) {
        dSetErrorHandler(NULL);
        dSetDebugHandler(NULL);
        dSetMessageHandler(NULL);
    }
    dCloseODE();
    pthread_mutex_unlock(&openingOde);
}

/* ---- world and bodies ---- */

static void setPhysics(pcStage* stage, const pcScenePhysics* p)
{
    const double own = 1e-10; /* ODE's own; with none at all its solvers fail wherever contacts are redundant */
    double least = stage->inner->leastCfm > own ? stage->inner->leastCfm : own;
    dWorldID world = stage->world;
    dWorldSetGravity(world, p->gravity[0], p->gravity[1], p->gravity[2]);
    dWorldSetERP(world, p->erp);
    dWorldSetCFM(world, fmin(fmax(p->cfm, least), stage->inner->mostCfm));
    dWorldSetQuickStepNumIterations(world, p->iterations);
    dWorldSetQuickStepW(world, p->relaxation);
    if (!isnan(p->layer)) dWorldSetContactSurfaceLayer(world, p->layer);
}

static dBodyID makeBody(dWorldID world, const pcSceneLink* link, const double* I)
{
    dMass mass;
    dBodyID body = dBodyCreate(world);
    pcPose centre = {.quaternion = {1, 0, 0, 0}};
    memcpy(centre.position, link->centre, sizeof link->centre);
    pcPose pose = pcPoseCompose(&link->pose, &centre);
    dMassSetParameters(&mass, link->mass, 0, 0, 0, I[0], I[4], I[8], I[1], I[2], I[5]);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, pose.position[0], pose.position[1], pose.position[2]);
    dBodySetQuaternion(body, pose.quaternion);
    dBodySetLinearVel(body, link->velocity[0], link->velocity[1], link->velocity[2]);
    dBodySetAngularVel(body, link->velocity[3], link->velocity[4], link->velocity[5]);
    dBodySetGravityMode(body, link->gravity);
    dBodySetLinearDamping(body, link->linearDecay);
    dBodySetAngularDamping(body, link->angularDecay);
    if (link->linearDecay > 0.0) dBodySetLinearDampingThreshold(body, 0.0);
    if (link->angularDecay > 0.0) dBodySetAngularDampingThreshold(body, 0.0);
    if (link->kinematic) dBodySetKinematic(body);
    return body;
}

static pcStatus makeBodies(pcStage* stage)
{
    const pcScene* scene = stage->inner->scene;
    stage->body = calloc((size_t)scene->links + 1, sizeof *stage->body);
    stage->inner->bodyOfLink = calloc((size_t)scene->links + 1, sizeof *stage->inner->bodyOfLink);
    if (!stage->body || !stage->inner->bodyOfLink) return outOfMemory();
    for (int i = 0; i < scene->links; i++) {
        if (scene->link[i].fixed) continue;
        dBodyID body = stage->inner->bodyOfLink[i] = makeBody(stage->world, scene->link + i, stage->inner->inertia[i]);
        stage->body[stage->bodies++] = (pcStageBody){scene->link[i].name, body, i};
    }
    return PC_OK;
}

/* ---- making and freeing ---- */

/* ODE's hash space ends the program over bodies that are very far away, its sweep rounds boxes to single precision: so the simple one, as long
 * as looking at all pairs costs little beside a step. */
static dSpaceID makeSpace(const pcScene* scene)
{
    const int few = 4000;
    return scene->collisions <= few ? dSimpleSpaceCreate(0) : dSweepAndPruneSpaceCreate(0, dSAP_AXES_XYZ);
}

/* All worlds share one queue of jobs for their steps unless they have their own, and that queue knows no other threads. */
static pcStatus makeWorld(pcStage* stage)
{
    dThreadingImplementationID jobs = dThreadingAllocateSelfThreadedImplementation();
    stage->world = dWorldCreate();
    stage->inner->jobs = jobs;
    if (!jobs) return outOfMemory();
    dWorldSetStepThreadingImplementation(stage->world, dThreadingImplementationGetFunctions(jobs), jobs);
    return PC_OK;
}

static void destroyWorld(pcStage* stage)
{
    dWorldSetStepThreadingImplementation(stage->world, NULL, NULL);
    dWorldDestroy(stage->world);
    if (stage->inner->jobs) dThreadingFreeImplementation(stage->inner->jobs);
}

static pcStatus fill(pcStage* stage)
{
    const pcScenePhysics* p = &stage->inner->scene->physics;
    pcStatus status = makeWorld(stage);
    stage->space = makeSpace(stage->inner->scene);
    stage->settings = p->settings, stage->step = p->step, stage->time = p->time;
    stage->frames = p->frames, stage->frame = p->frame;
    stage->inner->h = p->step;
    if (status == PC_OK) status = pcStageBalance(stage);
    setPhysics(stage, p);
    if (status == PC_OK) status = makeBodies(stage);
    if (status == PC_OK) status = pcStageGeoms(stage);
    if (status == PC_OK) status = pcStageJoints(stage);
    if (status == PC_OK) status = pcStagePlanar(stage);
    return status;
}

pcStatus pcStageMake(const pcScene* scene, pcStage** out)
{
    if (!scene || !out) return pcFail(PC_ERROR_ARGUMENT, "pcStageMake needs a scene and a place for the stage");
    pcStage* stage = calloc(1, sizeof *stage);
    pcStageInner* inner = calloc(1, sizeof *inner);
    if (!stage || !inner) {
        free(stage);
        free(inner);
        return outOfMemory();
    }
    stage->inner = inner, inner->scene = pcSceneShare(scene), stage->skipped = scene->skipped ? scene->skipped : "";
    pcStageOpenOde();
    int before = messagesSoFar;
    pcStatus status = fill(stage);
    stage->messages = messagesSoFar - before;
    if (status == PC_OK)
        *out = stage;
    else
        pcStageFree(stage);
    return status;
}

static void freeInner(pcStageInner* inner)
{
    for (int i = 0; i < inner->hulls; i++) {
        free(inner->hull[i].planes);
        free(inner->hull[i].points);
        free(inner->hull[i].polygons);
    }
    void* all[] = {inner->bodyOfLink, inner->geom,  inner->hull,    inner->drive,  inner->coupling,
                   inner->joined,     inner->plane, inner->inertia, inner->skipped};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    pcSceneFree(inner->scene);
    free(inner);
}

/* Shapes of ellipsoids and layers are to be taken back before their geoms are destroyed. */
static void takeBack(dSpaceID space)
{
    for (int i = 0; i < dSpaceGetNumGeoms(space); i++) {
        dGeomID geom = dSpaceGetGeom(space, i);
        if (dGeomGetClass(geom) == dConvexClass) pcGeomSetShape(geom, NULL);
        pcGeomSetLayer(geom, NULL);
    }
}

void pcStageFree(pcStage* stage)
{
    if (!stage) return;
    if (stage->inner->attached) pcWorldDetach(stage->world);
    takeBack(stage->space);
    dSpaceDestroy(stage->space);
    destroyWorld(stage);
    pcStageCloseOde();
    freeInner(stage->inner);
    free(stage->body);
    free(stage->joint);
    free(stage);
}

/* ---- stepping ---- */

/* ODE's own steps have one largest correcting velocity for all contacts: that of the fastest surface. */
static void setFastest(pcStage* stage)
{
    const pcScene* scene = stage->inner->scene;
    double fastest = scene->collisions > 0 ? 0.0 : HUGE_VAL, unsaid = pcStageFastest(stage);
    for (int i = 0; i < scene->collisions; i++) {
        double own = scene->collision[i].surface.fastest;
        fastest = fmax(fastest, isnan(own) ? unsaid : own);
    }
    if (!isnan(scene->physics.fastest)) fastest = fmin(fastest, scene->physics.fastest);
    dWorldSetContactMaxCorrectingVel(stage->world, fastest);
}

pcStatus pcStageAttach(pcStage* stage, const pcSettings* settings)
{
    if (!stage) return pcFail(PC_ERROR_ARGUMENT, "pcStageAttach needs a stage");
    pcSettings chosen = settings ? *settings : stage->settings;
    const pcWorldMore more = {.context = stage, .surface = pcStageSurfaceMore, .row = pcStageRow};
    if (chosen.model == PC_MODEL_NATIVE && stage->inner->lopsided)
        return pcFail(
            PC_ERROR_UNSUPPORTED,
            "the link '%.80s' is too light for how far it reaches, or for the step: ODE's own step would end the program, model quick "
            "or lcp would not",
            stage->inner->lopsided);
    pcStatus status = pcWorldAttach(stage->world, stage->space, &chosen);
    if (status == PC_OK) status = pcWorldSetSurface(stage->world, pcStageSurface, stage);
    if (status == PC_OK) status = pcOdeSetMore(stage->world, &more);
    if (status != PC_OK) return status;
    stage->settings = chosen;
    setFastest(stage);
    stage->inner->attached = true;
    stage->inner->native = chosen.model == PC_MODEL_NATIVE || chosen.model == PC_MODEL_QUICK;
    return PC_OK;
}

/* Gravity as what is shaken feels it, see scene.h; in the middle of the step, so that whole periods push neither up nor down. */
static void shake(const pcStage* stage, double h)
{
    const pcScenePhysics* p = &stage->inner->scene->physics;
    const double *g = p->gravity, turns = 6.283185307179586 * p->shakeFrequency;
    if (!(p->shakeAmplitude > 0.0)) return;
    double size = sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2]);
    double part = 1.0 - p->shakeAmplitude * turns * turns * sin(turns * (stage->inner->time + 0.5 * h)) / size;
    dWorldSetGravity(stage->world, part * g[0], part * g[1], part * g[2]);
}

void pcStageGoOnAt(pcStage* stage, double time) { stage->inner->time = time; }

static bool isWithin(const dReal* xyz, double most) { return fabs(xyz[0]) <= most && fabs(xyz[1]) <= most && fabs(xyz[2]) <= most; }

/* ODE ends the program over what is not finite; squares of what is larger than this are on the way there. */
static pcStatus checkMotion(const pcStage* stage)
{
    const double most = 1e30, mostForce = 1e90;
    for (int i = 0; i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        if (!isWithin(dBodyGetPosition(body), most) || !isWithin(dBodyGetLinearVel(body), most) ||
            !isWithin(dBodyGetAngularVel(body), most))
            return pcFail(PC_ERROR_NOT_FINITE, "place or velocity of the link '%.80s' is beyond 1e30: nothing was done",
                          stage->body[i].name);
        if (!isWithin(dBodyGetForce(body), mostForce) || !isWithin(dBodyGetTorque(body), mostForce))
            return pcFail(PC_ERROR_NOT_FINITE, "a force on the link '%.80s' is beyond 1e90: nothing was done", stage->body[i].name);
    }
    return PC_OK;
}

pcStatus pcStageStep(pcStage* stage, double h)
{
    if (!stage) return pcFail(PC_ERROR_ARGUMENT, "pcStageStep needs a stage");
    pcStatus status = stage->inner->attached ? PC_OK : pcStageAttach(stage, NULL);
    if (status != PC_OK) return status;
    if (!(h > 0.0 && h < HUGE_VAL)) return pcFail(PC_ERROR_ARGUMENT, "the step h is %g; it must be > 0", h);
    int before = messagesSoFar;
    stage->inner->h = h;
    shake(stage, h);
    pcStageDrives(stage, h);
    if (stage->inner->native) pcStageCouple(stage, h);
    status = checkMotion(stage);
    if (status == PC_OK) status = pcWorldStep(stage->world, h);
    stage->inner->time += h;
    pcStageCoupled(stage, h);
    pcStageFlatten(stage);
    stage->messages += messagesSoFar - before;
    return status;
}
