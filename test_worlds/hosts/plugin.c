/* The second way in: a program that links ODE only, and loads libpcontact while it runs. */
#include <dlfcn.h>
#include <ode/ode.h>
#include <pcontact/pcontact.h>
#include <stdio.h>
#include <string.h>

typedef const pcPluginTable* PluginGet(int version);

static const pcPluginTable* load(const char* library)
{
    void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    void* symbol = handle ? dlsym(handle, "pcPluginGet") : NULL;
    PluginGet* get = NULL;
    memcpy(&get, &symbol, sizeof get);
    return get ? get(PC_PLUGIN_VERSION) : NULL; /* NULL: not there, or of another version */
}

int main(int argc, char** argv)
{
    const pcPluginTable* contact = load(argc > 1 ? argv[1] : "libpcontact.so.0");
    dInitODE2(0);
    dWorldID world = dWorldCreate();
    dSpaceID space = dHashSpaceCreate(0);
    dWorldSetGravity(world, 0, 0, -9.81);
    dCreatePlane(space, 0, 0, 1, 0);
    dBodyID body = dBodyCreate(world);
    dBodySetPosition(body, 0, 0, 1);
    dGeomSetBody(dCreateBox(space, 1, 1, 0.5), body);

    if (!contact || contact->worldAttach(world, space, NULL) != PC_OK) {
        fprintf(stderr, "%s.\n", contact ? contact->lastError() : "libpcontact was not found");
        return 1;
    }
    for (int k = 0; k < 200; k++) contact->worldStep(world, 0.01);

    printf("height %.3f\n", dBodyGetPosition(body)[2]);
    contact->worldDetach(world);
    dSpaceDestroy(space);
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
