/* A stand-in for the ODE adapter until it is there: every step is native, and counted. To be deleted with it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "adapters/ode/hooks.h"
#include "base/status.h"

static pcNative native;
static int nativeFound;

static void findNative(void)
{
    Dl_info info;
    if (!dladdr((void*)(size_t)dGetConfiguration, &info)) return;
    void* ode = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!ode) return;
    static const struct {
        const char* name;
        void* where;
    } table[] = {
        {"dWorldStep", &native.worldStep},       {"dWorldQuickStep", &native.worldQuickStep}, {"dCollide", &native.collide},
        {"dWorldDestroy", &native.worldDestroy}, {"dBodyDestroy", &native.bodyDestroy},       {"dJointDestroy", &native.jointDestroy},
        {"dGeomDestroy", &native.geomDestroy},   {"dCloseODE", &native.closeOde},
    };
    nativeFound = 1;
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
        void* function = dlsym(ode, table[i].name);
        if (!function) nativeFound = 0;
        memcpy(table[i].where, &function, sizeof function);
    }
}

const pcNative* pcNativeOde(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, findNative);
    if (!nativeFound) pcFail(PC_ERROR_UNSUPPORTED, "ODE's own functions were not found");
    return nativeFound ? &native : NULL;
}

enum { WORLDS = 64 };
static struct {
    dWorldID world;
    dSpaceID space;
    pcSettings settings;
    pcWorldReportExtra extra;
} worlds[WORLDS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int find(dWorldID world)
{
    for (int i = 0; i < WORLDS; i++) {
        if (worlds[i].world == world) return i;
    }
    return -1;
}

pcStatus pcWorldAttach(dWorldID world, dSpaceID spaceOrNull, const pcSettings* settings)
{
    if (!world) return pcFail(PC_ERROR_ARGUMENT, "pcWorldAttach needs a world");
    pthread_mutex_lock(&lock);
    int i = find(world);
    if (i < 0) i = find(NULL);
    if (i >= 0) {
        memset(&worlds[i], 0, sizeof worlds[i]);
        worlds[i].world = world;
        worlds[i].space = spaceOrNull;
        worlds[i].settings = settings ? *settings : pcDefaultSettings();
    }
    pthread_mutex_unlock(&lock);
    return i >= 0 ? PC_OK : pcFail(PC_ERROR_MEMORY, "there are too many worlds");
}

pcStatus pcWorldSetSettings(dWorldID world, const pcSettings* settings) { return pcWorldAttach(world, NULL, settings); }

pcStatus pcWorldSetSurface(dWorldID world, pcSurfaceFn* surface, void* context)
{
    (void)world, (void)surface, (void)context;
    return PC_OK;
}

typedef struct Found {
    dWorldID world;
    dJointGroupID group;
} Found;

static void touch(void* data, dGeomID geom1, dGeomID geom2)
{
    Found* found = data;
    dContact contact[8];
    int count = native.collide(geom1, geom2, 8, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; i++) {
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = 0.5;
        dJointAttach(dJointCreateContact(found->world, found->group, &contact[i]), dGeomGetBody(geom1), dGeomGetBody(geom2));
    }
}

pcStatus pcWorldStep(dWorldID world, dReal h) { return pcOdeHostStep(world, h, 0); }

pcStatus pcOdeHostStep(dWorldID world, dReal h, int quick)
{
    pcNativeOde();
    pthread_mutex_lock(&lock);
    int i = world ? find(world) : -1;
    pthread_mutex_unlock(&lock);
    if (!(h > 0)) return pcFail(PC_ERROR_ARGUMENT, "the step must be > 0");
    quick |= i >= 0 && worlds[i].settings.model == PC_MODEL_QUICK;
    Found found = {world, dJointGroupCreate(0)};
    if (i >= 0 && worlds[i].space) dSpaceCollide(worlds[i].space, &found, touch);
    (quick ? native.worldQuickStep : native.worldStep)(world, h);
    dJointGroupDestroy(found.group);
    if (i < 0) return PC_OK;
    worlds[i].extra.steps++;
    worlds[i].extra.native = worlds[i].settings.model <= PC_MODEL_QUICK;
    worlds[i].extra.nativeSteps += worlds[i].extra.native;
    if (worlds[i].settings.report[0]) {
        FILE* file = fopen(worlds[i].settings.report, worlds[i].extra.steps == 1 ? "w" : "a");
        if (!file) return PC_OK;
        if (worlds[i].extra.steps == 1) fputs("step,time,model,solver,events,rows,iterations,residual\n", file);
        fprintf(file, "%d,0,standin,none,0,0,0,0\n", worlds[i].extra.steps);
        fclose(file);
    }
    return PC_OK;
}

pcStatus pcWorldReport(dWorldID world, pcStepReport* report)
{
    memset(report, 0, sizeof *report);
    return world && find(world) >= 0 ? PC_OK : pcFail(PC_ERROR_ARGUMENT, "the world is not attached");
}

pcStatus pcWorldReportMore(dWorldID world, pcWorldReportExtra* extra)
{
    int i = world ? find(world) : -1;
    if (i < 0) return pcFail(PC_ERROR_ARGUMENT, "the world is not attached");
    *extra = worlds[i].extra;
    return PC_OK;
}

pcStatus pcWorldDetach(dWorldID world)
{
    int i = world ? find(world) : -1;
    if (i < 0) return pcFail(PC_ERROR_ARGUMENT, "the world is not attached");
    worlds[i].world = NULL;
    return PC_OK;
}

int pcCollide(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    return pcNativeOde()->collide(geom1, geom2, flags, contacts, skip);
}

void pcNearCallback(void* world, dGeomID geom1, dGeomID geom2) { (void)world, (void)geom1, (void)geom2; }
pcStatus pcOverrideColliders(void) { return PC_OK; }
pcStatus pcRestoreColliders(void) { return PC_OK; }

const pcPluginTable* pcPluginGet(int abiVersion)
{
    static const pcPluginTable table = {PC_PLUGIN_VERSION, pcLastError, pcDefaultSettings, pcSettingsParse, pcWorldAttach,
                                        pcWorldSetSettings, pcWorldSetSurface, pcWorldStep, pcWorldReport, pcWorldDetach,
                                        pcCollide, pcNearCallback, pcOverrideColliders, pcRestoreColliders};
    return abiVersion == PC_PLUGIN_VERSION ? &table : NULL;
}
