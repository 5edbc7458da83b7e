/* The functions of pcontact.h that concern one world. */
#include <math.h>
#include <string.h>

#include "adapters/ode/dump.h"
#include "adapters/ode/host.h"
#include "adapters/ode/inject.h"
#include "adapters/ode/log.h"
#include "adapters/ode/native.h"
#include "adapters/ode/probe.h"
#include "adapters/ode/registry.h"
#include "adapters/ode/rows.h"
#include "adapters/ode/step.h"
#include "adapters/ode/view.h"
#include "base/abi.h"
#include "base/status.h"
#include "stepper/settings.h"
#include "stepper/stepper.h"

/* ---- settings ---- */

static pcStatus checkSettings(const pcSettings* settings)
{
    const pcConeSolver* solver;
    pcStatus status = pcSettingsCheck(settings);
    if (status != PC_OK) return status;
    bool ours = settings->model != PC_MODEL_NATIVE && settings->model != PC_MODEL_QUICK;
    if (!ours && settings->shadow) return pcFail(PC_ERROR_ARGUMENT, "model=shadow: only lcp and convex can be solved beside a native step");
    if (!ours) return PC_OK;
    return pcStepChooseSolver(settings, &solver);
}

static pcStatus understands(void)
{
    if (!pcNativeOde() || !pcOdeLayout()) return PC_ERROR_UNSUPPORTED;
    pcStatus status = pcOdeRowsReady();
    return status == PC_OK ? pcInjectReady() : status;
}

static pcStatus notAttached(void) { return pcFail(PC_ERROR_ARGUMENT, "the world is not attached: pcWorldAttach comes first"); }

/* ---- attaching ---- */

/* All or nothing: files that cannot be written leave the world with the settings that it has. */
static pcStatus use(pcHost* host, const pcSettings* settings)
{
    pcStatus status = pcDumpCheck(settings);
    if (status == PC_OK) status = pcHostLogOpen(host, settings->report);
    if (status != PC_OK) return status;
    host->settings = *settings;
    pcDumpStart(host);
    pcHostLookAhead(host, pcHostReach(host, 0.0));
    return PC_OK;
}

/* Another world, at the place of one that was destroyed while it was attached. */
static void forgetDead(dWorldID world)
{
    pcHost* host = pcHostFind(world);
    if (!host) return;
    if (!pcHostIsAlive(host)) pcHostDrop(host);
    pcHostRelease(host);
}

pcStatus pcWorldAttach(dWorldID world, dSpaceID space, const pcSettings* settings)
{
    pcSettings defaults = pcDefaultSettings();
    if (!settings) settings = &defaults;
    if (!world) return pcFail(PC_ERROR_ARGUMENT, "pcWorldAttach needs a world");
    pcStatus status = checkSettings(settings);
    if (status == PC_OK) status = understands();
    if (status == PC_OK) status = pcOdeCheckWorld(world);
    if (status != PC_OK) return status;
    forgetDead(world);
    bool isNew = !pcOdeAttached(world);
    pcHost* host = pcHostMake(world);
    if (!host) return pcFail(PC_ERROR_MEMORY, "out of memory for a world");
    status = pcHostMark(host) ? use(host, settings) : pcFail(PC_ERROR_MEMORY, "out of memory for a world");
    if (status == PC_OK) pcHostSetSpace(host, space);
    if (status != PC_OK && isNew) pcHostDrop(host);
    pcHostRelease(host);
    return status;
}

pcStatus pcWorldSetSettings(dWorldID world, const pcSettings* settings)
{
    if (!settings) return pcFail(PC_ERROR_ARGUMENT, "pcWorldSetSettings needs settings");
    pcStatus status = checkSettings(settings);
    if (status != PC_OK) return status;
    pcHost* host = pcHostFind(world);
    if (!host) return notAttached();
    status = use(host, settings);
    pcHostRelease(host);
    return status;
}

pcStatus pcWorldSetSurface(dWorldID world, pcSurfaceFn* surface, void* context)
{
    pcHost* host = pcHostFind(world);
    if (!host) return notAttached();
    host->space.surface = surface, host->space.surfaceContext = context;
    pcHostRelease(host);
    return PC_OK;
}

pcStatus pcOdeSetMore(dWorldID world, const pcWorldMore* more)
{
    pcHost* host = pcHostFind(world);
    if (!host) return notAttached();
    host->space.more = *more;
    pcHostRelease(host);
    return PC_OK;
}

pcStatus pcWorldDetach(dWorldID world)
{
    if (!pcOdeAttached(world)) return notAttached();
    pcOdeForgetWorld(world);
    return PC_OK;
}

/* ---- stepping ---- */

/* A callback of the step may ask and change much, but not step the same world. */
static pcStatus stepAttached(pcHost* host, double h, int (*native)(dWorldID, dReal))
{
    if (host->stepping) return pcFail(PC_ERROR_ARGUMENT, "the world is being stepped: a callback cannot step it again");
    pcStatus status = pcHostCheckNumbers(host);
    if (status != PC_OK) return status;
    host->stepping = true;
    status = pcHostStep(host, h, native);
    host->stepping = false;
    return status;
}

pcStatus pcOdeHostStep(dWorldID world, dReal h, int quick)
{
    if (!world) return pcFail(PC_ERROR_ARGUMENT, "pcWorldStep needs a world");
    if (!(h > 0.0 && h < HUGE_VAL)) return pcFail(PC_ERROR_ARGUMENT, "the step h is %g; it must be > 0", h);
    const pcNative* ode = pcNativeOde();
    if (!ode) return PC_ERROR_UNSUPPORTED;
    int (*native)(dWorldID, dReal) = quick ? ode->worldQuickStep : ode->worldStep;
    pcHost* host = pcHostFind(world);
    pcStatus status = PC_OK;
    if (host && pcHostIsBare(host)) {
        pcHostStepBare(host, h, native);
    } else if (host && pcHostIsAlive(host)) {
        status = stepAttached(host, h, native);
    } else {
        if (host) pcHostDrop(host); /* of another world, which was destroyed while it was attached */
        native(world, h);
    }
    if (host) pcHostRelease(host);
    return status;
}

pcStatus pcWorldStep(dWorldID world, dReal h) { return pcOdeHostStep(world, h, 0); }

int pcOdeAttached(dWorldID world)
{
    pcHost* host = pcHostFind(world);
    if (host) pcHostRelease(host);
    return host != NULL;
}

void pcOdeForgetWorld(dWorldID world)
{
    pcHost* host = pcHostFind(world);
    if (!host) return;
    pcHostDrop(host);
    pcHostRelease(host);
}

pcStatus pcWorldReport(dWorldID world, pcStepReport* report)
{
    if (!report) return pcFail(PC_ERROR_ARGUMENT, "pcWorldReport needs a place for the report");
    pcHost* host = pcHostFind(world);
    if (!host) return notAttached();
    *report = host->report;
    pcHostRelease(host);
    return PC_OK;
}

pcStatus pcWorldReportMore(dWorldID world, pcWorldReportExtra* extra)
{
    if (!extra) return pcFail(PC_ERROR_ARGUMENT, "pcWorldReportMore needs a place for the report");
    pcHost* host = pcHostFind(world);
    if (!host) return notAttached();
    *extra = host->extra;
    pcHostRelease(host);
    return PC_OK;
}

pcStatus pcWorldContacts(dWorldID world, pcWorldContact* contacts, int capacity, int* count)
{
    if (!count || (!contacts && capacity > 0))
        return pcFail(PC_ERROR_ARGUMENT, "pcWorldContacts needs a place for the contacts and for their number");
    pcHost* host = pcHostFind(world);
    if (!host) return notAttached();
    bool native = host->extra.native;
    *count = native ? host->felt.count : host->touches;
    for (int i = 0; i < *count && i < capacity; i++)
        contacts[i] = native ? host->felt.contact[i] : pcTouchOfResult(host->touch + i, &host->gathered);
    pcHostRelease(host);
    return PC_OK;
}

pcStatus pcWorldMeasure(dWorldID world, dReal h, pcStepReport* report)
{
    if (!report) return pcFail(PC_ERROR_ARGUMENT, "pcWorldMeasure needs a place for the report");
    if (!(h > 0.0 && h < HUGE_VAL)) return pcFail(PC_ERROR_ARGUMENT, "the step h is %g; it must be > 0", h);
    pcHost* host = pcHostFind(world);
    if (!host) return notAttached();
    pcStepReport measured;
    pcStatus status = host->stepping ? pcFail(PC_ERROR_ARGUMENT, "the world is being stepped: it cannot be measured meanwhile")
                                     : pcHostMeasureAside(host, h, &measured);
    if (status == PC_OK) pcHostEnergy(host, &measured), *report = measured;
    pcHostRelease(host);
    return status;
}

/* Spaces within spaces are gone through, each with the other and with itself; a pair that comes twice is kept once. */
static void collectSpaces(void* world, dGeomID geom1, dGeomID geom2)
{
    dSpaceCollide2(geom1, geom2, world, pcNearCallback);
    if (dGeomIsSpace(geom1)) dSpaceCollide((dSpaceID)geom1, world, pcNearCallback);
    if (dGeomIsSpace(geom2)) dSpaceCollide((dSpaceID)geom2, world, pcNearCallback);
}

void pcNearCallback(void* world, dGeomID geom1, dGeomID geom2)
{
    if (!geom1 || !geom2) return;
    if (dGeomIsSpace(geom1) || dGeomIsSpace(geom2)) {
        collectSpaces(world, geom1, geom2);
        return;
    }
    pcHost* host = pcHostFind((dWorldID)world);
    if (!host) return;
    pcSpaceCollect(&host->space, geom1, geom2, &host->settings);
    pcHostRelease(host);
}

/* ---- for hosts that dlopen ---- */

pcStatus pcAbiCompareWorld(const pcAbiSize* sizes, int count)
{
    static const pcAbiStruct known[] = {PC_ABI_WORLD_STRUCTS(PC_ABI_STRUCT_)};
    return pcAbiCompareWith(known, (int)(sizeof known / sizeof *known), sizes, count);
}

const pcPluginTable* pcPluginGet(int abiVersion)
{
    static const pcPluginTable table = {PC_PLUGIN_VERSION,  pcLastError,       pcDefaultSettings,   pcSettingsParse,    pcWorldAttach,
                                        pcWorldSetSettings, pcWorldSetSurface, pcWorldStep,         pcWorldReport,      pcWorldDetach,
                                        pcCollide,          pcNearCallback,    pcOverrideColliders, pcRestoreColliders, pcWorldReportMore,
                                        pcWorldMeasure,     pcWorldContacts,   pcStatusText};
    return abiVersion == PC_PLUGIN_VERSION ? &table : NULL;
}
