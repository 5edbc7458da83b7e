#define _GNU_SOURCE /* dladdr, RTLD_DEFAULT */

#include "adapters/ode/native.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"

/* A name that no header declares: no program has an entry of its own for it, so its address lies in ODE itself. */
static const char* const PRIVATE_NAME = "_Z10dxStepBodyP6dxBodyd";

static pthread_once_t once = PTHREAD_ONCE_INIT;
static void* library;
static pcNative native;
static bool complete;

static void* openLibrary(void)
{
    Dl_info place;
    void* inside = dlsym(RTLD_DEFAULT, PRIVATE_NAME);
    if (!inside || !dladdr(inside, &place)) return NULL;
    return dlopen(place.dli_fname, RTLD_NOLOAD | RTLD_LAZY);
}

int pcNativeSymbol(const char* name, void* function)
{
    void* address = library ? dlsym(library, name) : NULL;
    if (address) memcpy(function, &address, sizeof address);
    return address != NULL;
}

static void find(void)
{
    library = openLibrary();
    complete = pcNativeSymbol("dWorldStep", &native.worldStep) && pcNativeSymbol("dWorldQuickStep", &native.worldQuickStep) &&
               pcNativeSymbol("dCollide", &native.collide) && pcNativeSymbol("dWorldDestroy", &native.worldDestroy) &&
               pcNativeSymbol("dBodyDestroy", &native.bodyDestroy) && pcNativeSymbol("dJointDestroy", &native.jointDestroy) &&
               pcNativeSymbol("dGeomDestroy", &native.geomDestroy) && pcNativeSymbol("dCloseODE", &native.closeOde);
}

const pcNative* pcNativeOde(void)
{
    pthread_once(&once, find);
    if (complete) return &native;
    pcFail(PC_ERROR_UNSUPPORTED, "the functions of ODE's shared library were not found: it is another build, or linked statically");
    return NULL;
}
