/* ODE's own functions: whatever stands in front of some names, the others lead to the library itself. */
#define _GNU_SOURCE
#include "adapters/ode/native.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>

#include "base/status.h"

static pcNative native;
static bool found;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool take(void* library, const char* name, void* function)
{
    void* symbol = dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from one to the other */
    return symbol != NULL;
}

/* The library that holds a function which nobody interposes. */
static void* libraryOfOde(void)
{
    Dl_info info;
    dWorldID (*anchor)(void) = dWorldCreate;
    void* address;
    memcpy(&address, &anchor, sizeof address);
    return dladdr(address, &info) ? dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

static void find(void)
{
    void* library = libraryOfOde();
    found = library && take(library, "dWorldStep", &native.worldStep) && take(library, "dWorldQuickStep", &native.worldQuickStep) &&
            take(library, "dCollide", &native.collide) && take(library, "dWorldDestroy", &native.worldDestroy) &&
            take(library, "dBodyDestroy", &native.bodyDestroy) && take(library, "dJointDestroy", &native.jointDestroy) &&
            take(library, "dGeomDestroy", &native.geomDestroy) && take(library, "dCloseODE", &native.closeOde);
}

const pcNative* pcNativeOde(void)
{
    pthread_once(&once, find);
    if (!found) pcFail(PC_ERROR_UNSUPPORTED, "the functions of ODE were not found in its library");
    return found ? &native : NULL;
}
