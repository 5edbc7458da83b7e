/*
 * Small worlds in which nothing is left to chance, and little to rounding: 100 steps each, and where the bodies are then.
 *
 *     determinism attached|host [SETTINGS]
 *
 * attached: by pcWorldAttach and pcWorldStep, with the settings. host: by dWorldStep alone, as a program that has never heard of pcontact;
 * the settings come with the preload library. Prints the platform that the bits depend on, a hash of all states, and the states.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <pcontact/pcontact.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BODIES = 24, STEPS = 100 };
static const double H = 0.01;

typedef struct World {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID body[MOST_BODIES];
    int count, attached;
} World;

/* ---- bodies ---- */

static dBodyID add(World* w, dGeomID geom, const dMass* mass, double x, double y, double z)
{
    dBodyID body = w->body[w->count++] = dBodyCreate(w->world);
    dBodySetMass(body, mass);
    dBodySetPosition(body, x, y, z);
    dGeomSetBody(geom, body);
    return body;
}

static dBodyID addBox(World* w, double x, double y, double z)
{
    dMass mass;
    dMassSetBoxTotal(&mass, 1, 1, 1, 1);
    return add(w, dCreateBox(w->space, 1, 1, 1), &mass, x, y, z);
}

static void buildSliding(World* w)
{
    for (int i = 0; i < 8; i++) dBodySetLinearVel(addBox(w, 0, 3 * i, 0.5), 0.25 * i, 0.1, 0);
}

static void buildStacks(World* w)
{
    for (int i = 0; i < 12; i++) addBox(w, 3 * (i / 3), 0, 0.5 + i % 3);
}

static void buildRolling(World* w)
{
    for (int i = 0; i < 6; i++) {
        dMass mass;
        dMassSetSphereTotal(&mass, 1, 0.5);
        dBodySetLinearVel(add(w, dCreateSphere(w->space, 0.5), &mass, 0, 3 * i, 0.5), 1 + i, 0, 0);
    }
}

static void buildLying(World* w)
{
    for (int i = 0; i < 4; i++) {
        dMass mass;
        dMatrix3 lying;
        dMassSetCylinderTotal(&mass, 1, 3, 0.5, 2);
        dBodyID body = add(w, dCreateCylinder(w->space, 0.5, 2), &mass, 3 * i, 0, 0.6);
        dRFromAxisAndAngle(lying, 0, 1, 0, M_PI / 2);
        dBodySetRotation(body, lying);
    }
}

static void buildChain(World* w)
{
    for (int i = 0; i < 6; i++) {
        dBodyID body = addBox(w, 2 * i, 0, 10);
        dJointID hinge = dJointCreateHinge(w->world, 0);
        dJointAttach(hinge, body, i ? w->body[i - 1] : NULL);
        dJointSetHingeAnchor(hinge, 2 * i - 1, 0, 10);
        dJointSetHingeAxis(hinge, 0, 1, 0);
    }
}

/* ---- steps ---- */

static void near(void* data, dGeomID geom1, dGeomID geom2)
{
    World* w = data;
    dContact contact[8];
    int count = (w->attached ? pcCollide : dCollide)(geom1, geom2, 8, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        memset(&contact[i].surface, 0, sizeof contact[i].surface);
        contact[i].surface.mode = dContactApprox1, contact[i].surface.mu = 0.5;
        dJointAttach(dJointCreateContact(w->world, w->contacts, contact + i), dGeomGetBody(geom1), dGeomGetBody(geom2));
    }
}

static int play(World* w)
{
    for (int i = 0; i < STEPS; i++) {
        dSpaceCollide(w->space, w, near);
        if (w->attached ? pcWorldStep(w->world, H) != PC_OK : !dWorldStep(w->world, H)) return 0;
        dJointGroupEmpty(w->contacts);
    }
    return 1;
}

/* FNV-1a. */
static uint64_t hash = 0xcbf29ce484222325u;

static void tell(const char* name, int body, const dReal* numbers, int count)
{
    for (int i = 0; i < count; i++) {
        unsigned char byte[sizeof *numbers];
        memcpy(byte, numbers + i, sizeof byte);
        for (size_t k = 0; k < sizeof byte; k++) hash = (hash ^ byte[k]) * 0x100000001b3u;
        printf("state %s %d %.17g\n", name, body, numbers[i]);
    }
}

static int run(const char* name, void (*build)(World*), const pcSettings* settings)
{
    World w = {.world = dWorldCreate(), .space = dHashSpaceCreate(0), .contacts = dJointGroupCreate(0), .attached = settings != NULL};
    dWorldSetGravity(w.world, 0, 0, -9.81);
    dCreatePlane(w.space, 0, 0, 1, 0);
    build(&w);
    int good = !settings || pcWorldAttach(w.world, NULL, settings) == PC_OK;
    good = good && play(&w);
    for (int i = 0; i < w.count; i++) {
        tell(name, i, dBodyGetPosition(w.body[i]), 3), tell(name, i, dBodyGetQuaternion(w.body[i]), 4);
        tell(name, i, dBodyGetLinearVel(w.body[i]), 3), tell(name, i, dBodyGetAngularVel(w.body[i]), 3);
    }
    if (settings) pcWorldDetach(w.world);
    dJointGroupDestroy(w.contacts);
    dSpaceDestroy(w.space);
    dWorldDestroy(w.world);
    return good;
}

/* ---- the platform: compiler, libraries, and what of the processor chooses between several versions of a function ---- */

static const char* vectors(void)
{
#ifdef __x86_64__
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f")) return "avx512f";
    if (__builtin_cpu_supports("avx2")) return __builtin_cpu_supports("fma") ? "avx2+fma" : "avx2";
    return __builtin_cpu_supports("avx") ? "avx" : "sse2";
#else
    return "base";
#endif
}

static void printPlatform(void)
{
    const char* (*core)(void) = NULL;
    void* symbol = dlsym(RTLD_DEFAULT, "openblas_get_corename");
    memcpy(&core, &symbol, sizeof core);
#if defined(__x86_64__)
    const char* machine = "x86_64";
#elif defined(__aarch64__)
    const char* machine = "aarch64";
#else
    const char* machine = "other";
#endif
    printf("platform gcc-%d.%d %s %s glibc-%s openblas-%s\n", __GNUC__, __GNUC_MINOR__, machine, vectors(), gnu_get_libc_version(),
           core ? core() : "unknown");
}

int main(int argc, char** argv)
{
    static const struct {
        const char* name;
        void (*build)(World*);
    } worlds[] = {
        {"sliding", buildSliding}, {"stacks", buildStacks}, {"rolling", buildRolling}, {"lying", buildLying}, {"chain", buildChain}};
    int attached = argc > 1 && strcmp(argv[1], "attached") == 0, good = 1;
    pcSettings settings = pcDefaultSettings();
    if (attached && argc > 2 && pcSettingsParse(&settings, argv[2]) != PC_OK) return fprintf(stderr, "%s.\n", pcLastError()), 2;
    printPlatform();
    dInitODE2(0);
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) good &= run(worlds[i].name, worlds[i].build, attached ? &settings : NULL);
    dCloseODE();
    printf("hash %016llx\n", (unsigned long long)hash);
    return good ? 0 : 1;
}
