/*
 * The library that stands between an unmodified program and ODE: it defines those of ODE's names that step or destroy, and forwards. By
 * LD_PRELOAD, or linked before -lode. What to do is read once from the variable PCONTACT, a settings text; without it all is native.
 *
 *     PCONTACT="model=lcp report=steps.csv" LD_PRELOAD=libpcontact-preload.so program
 *
 * A native step costs one branch and one count more than without the library. Spaces are destroyed by ODE as geoms, a world's bodies one
 * by one through the same names, so that no more of them are needed here.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "adapters/ode/hooks.h"
#include "adapters/preload/note.h"
#include "adapters/preload/variable.h"

#define INTERPOSED __attribute__((visibility("default")))
#define LIKELY(x) __builtin_expect(!!(x), 1)

static _Atomic pcPreloadMode mode;
static pcNative native;
static const pcOdeHooks* hooks;
static pcPreloadVariable variable;
static pcNote ownNote, *note = &ownNote;

/* While a world is attached, the library makes and destroys things of its own to learn ODE's layout: nothing that is known. */
static _Thread_local int attaching;

/* ---- Once -------------------------------------------------------------------------------------------------------------------------- */

static void findNext(const char* name, void* pointer)
{
    void* function = dlsym(RTLD_NEXT, name);
    memcpy(pointer, &function, sizeof function);
}

/* An ODE that the library does not understand is still the program's. */
static void findNativeWithoutHelp(void)
{
    findNext("dWorldStep", &native.worldStep);
    findNext("dWorldQuickStep", &native.worldQuickStep);
    findNext("dCollide", &native.collide);
    findNext("dWorldDestroy", &native.worldDestroy);
    findNext("dBodyDestroy", &native.bodyDestroy);
    findNext("dJointDestroy", &native.jointDestroy);
    findNext("dGeomDestroy", &native.geomDestroy);
    findNext("dCloseODE", &native.closeOde);
}

static void shareNote(void)
{
    const char* file = secure_getenv(PC_NOTE_VARIABLE);
    int descriptor = file ? open(file, O_RDWR | O_CLOEXEC) : -1;
    if (descriptor < 0) return;
    if (lseek(descriptor, 0, SEEK_END) >= (off_t)sizeof *note) {
        void* page = mmap(NULL, sizeof *note, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
        if (page != MAP_FAILED) note = page;
    }
    close(descriptor);
}

static void readOnce(void)
{
    hooks = pcOdeHooksGet();
    const pcNative* found = hooks->native();
    const char* text = secure_getenv("PCONTACT");
    if (found) {
        native = *found;
        variable = pcPreloadRead(text);
    } else {
        findNativeWithoutHelp();
        variable = text ? pcPreloadRefuse(pcLastError()) : pcPreloadRead(NULL);
    }
    shareNote();
    atomic_fetch_add(&note->loaded, 1);
    atomic_store(&mode, variable.mode);
}

__attribute__((constructor)) static void start(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, readOnce);
}

__attribute__((destructor)) static void finish(void)
{
    const char* verbose = secure_getenv("PCONTACT_VERBOSE");
    if (verbose && strcmp(verbose, "0") != 0 && note == &ownNote) pcNotePrint(note);
}

static pcPreloadMode currentMode(void)
{
    pcPreloadMode now = atomic_load_explicit(&mode, memory_order_acquire);
    if (LIKELY(now != PC_PRELOAD_UNKNOWN)) return now;
    start();
    return atomic_load(&mode);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------------------------- */

static int nativeStep(dWorldID world, dReal h, int quick)
{
    atomic_fetch_add_explicit(&note->native, 1, memory_order_relaxed);
    return (quick ? native.worldQuickStep : native.worldStep)(world, h);
}

/* The first one to find the reason prints it. */
static void printRefusal(void)
{
    pcPreloadMode refused = PC_PRELOAD_REFUSED;
    if (atomic_compare_exchange_strong(&mode, &refused, PC_PRELOAD_NATIVE)) fputs(variable.refusal, stderr);
}

static pcStatus attach(dWorldID world, int quick)
{
    pcSettings own = variable.settings;
    if (quick && own.model == PC_MODEL_NATIVE && !own.shadow) own.model = PC_MODEL_QUICK; /* native is what the program calls */
    attaching++;
    pcStatus status = pcWorldAttach(world, NULL, &own);
    attaching--;
    if (status != PC_OK &&
        atomic_exchange(&mode, PC_PRELOAD_NATIVE) == PC_PRELOAD_OURS) { /* a file that cannot be written, an ODE that is not understood */
        fprintf(stderr, "pcontact: %s; the program runs natively.\n", pcLastError());
    }
    return status;
}

static void count(dWorldID world)
{
    pcStepReport report;
    pcWorldReportExtra extra;
    int solved = pcWorldReportMore(world, &extra) == PC_OK && !extra.native && pcWorldReport(world, &report) == PC_OK;
    atomic_fetch_add_explicit(solved ? &note->solved : &note->native, 1, memory_order_relaxed);
    if (solved) pcNoteResidual(note, report.residual);
}

/* A program that attaches its worlds itself knows better than the environment. A step that is refused (h = 0 …) is the program's own affair
 * with ODE. */
__attribute__((noinline)) static int otherStep(pcPreloadMode now, dWorldID world, dReal h, int quick)
{
    if (now == PC_PRELOAD_REFUSED) printRefusal();
    if (now != PC_PRELOAD_OURS) return nativeStep(world, h, quick);
    pcStatus status = hooks->attached(world) ? PC_OK : attach(world, quick);
    if (status == PC_OK) status = hooks->hostStep(world, h, quick);
    if (status != PC_OK) return nativeStep(world, h, quick);
    count(world);
    return 1;
}

INTERPOSED int dWorldStep(dWorldID world, dReal h)
{
    pcPreloadMode now = currentMode();
    return LIKELY(now == PC_PRELOAD_NATIVE) ? nativeStep(world, h, 0) : otherStep(now, world, h, 0);
}

INTERPOSED int dWorldQuickStep(dWorldID world, dReal h)
{
    pcPreloadMode now = currentMode();
    return LIKELY(now == PC_PRELOAD_NATIVE) ? nativeStep(world, h, 1) : otherStep(now, world, h, 1);
}

INTERPOSED int dCollide(dGeomID geom1, dGeomID geom2, int flags, dContactGeom* contacts, int skip)
{
    if (currentMode() == PC_PRELOAD_OURS && variable.ownCollide) return pcCollide(geom1, geom2, flags, contacts, skip);
    return native.collide(geom1, geom2, flags, contacts, skip);
}

/* ---- Destroying: also in native programs, because they may attach worlds themselves ------------------------------------------------- */

INTERPOSED void dWorldDestroy(dWorldID world)
{
    currentMode();
    if (!attaching) hooks->forgetWorld(world);
    native.worldDestroy(world);
}

INTERPOSED void dBodyDestroy(dBodyID body)
{
    currentMode();
    if (!attaching) hooks->forgetBody(body);
    native.bodyDestroy(body);
}

INTERPOSED void dJointDestroy(dJointID joint)
{
    currentMode();
    if (!attaching) hooks->forgetJoint(joint);
    native.jointDestroy(joint);
}

INTERPOSED void dGeomDestroy(dGeomID geom)
{
    currentMode();
    if (!attaching) hooks->forgetGeom(geom);
    native.geomDestroy(geom);
}

INTERPOSED void dCloseODE(void)
{
    currentMode();
    hooks->forgetAllGeoms();
    native.closeOde();
}
