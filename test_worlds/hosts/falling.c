/*
 * A program that has never heard of pcontact: boxes fall on a plane and on each other. It prints where they end, and what ODE had to say.
 *
 *     falling [--quick] [--steps N] [--boxes N] [--spread] [--direct] [--leave-by exit|_exit|abort|signal] [--status N]
 *
 * --direct: it asks dCollide about every pair itself, without a space that sorts out what is apart; and prints how deep anything ever was.
 *
 * Linked also with the preload library before ODE, and with a static ODE.
 */
#include <ode/ode.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BOXES = 64, MAX_CONTACTS = 8 };

#ifdef PRETEND_STATIC /* where there is no libode.a: a step of the program's own is what a static ODE looks like from outside */
int dWorldStep(dWorldID world, dReal h) { return world && h > 0; }
int dWorldQuickStep(dWorldID world, dReal h) { return world && h > 0; }
#endif

typedef struct Options {
    int quick, steps, boxes, spread, direct, status;
    const char* leaveBy;
} Options;

typedef struct Host {
    dWorldID world;
    dSpaceID space;
    dJointGroupID contacts;
    dBodyID body[MAX_BOXES];
    double deepest;
} Host;

static int messages;

static void countMessage(int number, const char* format, va_list arguments)
{
    (void)number, (void)format, (void)arguments;
    messages++;
}

/* Only mode and mu are filled in, as many programs do: the rest of the surface is whatever was on the stack. */
static void near(void* data, dGeomID geom1, dGeomID geom2)
{
    Host* host = data;
    dContact contact[MAX_CONTACTS];
    int count = dCollide(geom1, geom2, MAX_CONTACTS, &contact[0].geom, sizeof contact[0]);
    for (int i = 0; i < count; i++) {
        contact[i].surface.mode = dContactApprox1;
        contact[i].surface.mu = 0.8;
        dJointAttach(dJointCreateContact(host->world, host->contacts, &contact[i]), dGeomGetBody(geom1), dGeomGetBody(geom2));
    }
}

static void collideAll(Host* host)
{
    for (int i = 0; i < dSpaceGetNumGeoms(host->space); i++) {
        for (int k = 0; k < i; k++) near(host, dSpaceGetGeom(host->space, i), dSpaceGetGeom(host->space, k));
    }
}

/* How far the lowest box of a spread world is in the floor; its faces stay parallel to it. */
static void measure(Host* host, const Options* options)
{
    for (int i = 0; i < options->boxes; i++) {
        double depth = 0.25 - dBodyGetPosition(host->body[i])[2];
        if (depth > host->deepest) host->deepest = depth;
    }
}

static void build(Host* host, const Options* options)
{
    host->world = dWorldCreate();
    host->space = dHashSpaceCreate(0);
    host->contacts = dJointGroupCreate(0);
    dWorldSetGravity(host->world, 0, 0, -9.81);
    dCreatePlane(host->space, 0, 0, 1, 0);
    for (int i = 0; i < options->boxes; i++) {
        dMass mass;
        dMassSetBox(&mass, 1, 1, 1, 0.5);
        host->body[i] = dBodyCreate(host->world);
        dBodySetMass(host->body[i], &mass);
        dBodySetPosition(host->body[i], options->spread ? 2 * i : 0.1 * (i % 2), 0, options->spread ? 0.5 : 0.5 + 0.75 * i);
        dGeomSetBody(dCreateBox(host->space, 1, 1, 0.5), host->body[i]);
    }
}

static void run(Host* host, const Options* options)
{
    for (int k = 0; k < options->steps; k++) {
        if (options->direct) {
            collideAll(host);
        } else {
            dSpaceCollide(host->space, host, near);
        }
        if (options->quick) {
            dWorldQuickStep(host->world, 0.01);
        } else {
            dWorldStep(host->world, 0.01);
        }
        dJointGroupEmpty(host->contacts);
        if (options->direct) measure(host, options);
    }
}

static int readOptions(Options* options, int argc, char** argv)
{
    for (int i = 1; i < argc; i++) {
        const char* value = i + 1 < argc ? argv[i + 1] : "";
        if (strcmp(argv[i], "--quick") == 0) {
            options->quick = 1;
        } else if (strcmp(argv[i], "--spread") == 0) {
            options->spread = 1;
        } else if (strcmp(argv[i], "--direct") == 0) {
            options->direct = 1;
        } else if (strcmp(argv[i], "--steps") == 0) {
            options->steps = atoi(value), i++;
        } else if (strcmp(argv[i], "--boxes") == 0) {
            options->boxes = atoi(value), i++;
        } else if (strcmp(argv[i], "--status") == 0) {
            options->status = atoi(value), i++;
        } else if (strcmp(argv[i], "--leave-by") == 0) {
            options->leaveBy = value, i++;
        } else {
            return 0;
        }
    }
    return options->boxes >= 0 && options->boxes <= MAX_BOXES;
}

static void leave(const Options* options)
{
    fflush(stdout);
    if (strcmp(options->leaveBy, "_exit") == 0) _exit(options->status);
    if (strcmp(options->leaveBy, "abort") == 0) abort();
    if (strcmp(options->leaveBy, "signal") == 0) raise(SIGTERM);
    exit(options->status);
}

int main(int argc, char** argv)
{
    Options options = {.steps = 200, .boxes = 3, .leaveBy = "exit"};
    if (!readOptions(&options, argc, argv)) return 2;
    Host host = {0};
    dInitODE2(0);
    dSetMessageHandler(countMessage);
    build(&host, &options);
    run(&host, &options);
    for (int i = 0; i < options.boxes; i++) printf("box %d at height %.3f\n", i + 1, dBodyGetPosition(host.body[i])[2]);
    printf("messages %d\n", messages);
    if (options.direct) printf("deepest %.6f\n", host.deepest);
    dJointGroupDestroy(host.contacts);
    dSpaceDestroy(host.space);
    dWorldDestroy(host.world);
    dCloseODE();
    leave(&options);
}
