/* Steps of a world of ODE that fail, for every reason that can be provoked: the whole world is then as a native step would have left it. */
#define _GNU_SOURCE
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/pcontact.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/lapack_faults.h"

static const double H = 0.01;

/* ---- a world with some of everything, made twice ---- */

enum { BODIES = 6, JOINTS = 2, WAYS = 3 };
enum { BY_SPACE, BY_COLLECTING, BY_JOINTS };

typedef struct Host {
    dWorldID world;
    dSpaceID space;
    dJointGroupID group;
    dBodyID body[BODIES];
    dJointID joint[JOINTS];
    dJointFeedback feedback[JOINTS];
    int way;
} Host;

static void keepQuiet(int number, const char* text, va_list arguments) { (void)number, (void)text, (void)arguments; }

static dGeomID geomOf(dSpaceID space, int i)
{
    switch (i) {
    case 3: return dCreateCapsule(space, 0.3, 0.5);
    case 4: return dCreateCylinder(space, 0.4, 0.8);
    case 5: return dCreateSphere(space, 0.5);
    default: return dCreateBox(space, 1, 1, 1);
    }
}

static void addBody(Host* h, int i)
{
    dMass mass;
    dBodyID body = h->body[i] = dBodyCreate(h->world);
    dMassSetBoxTotal(&mass, 1 + i, 1, 1, 1);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, i < 3 ? 0.02 * i : 1.5 * i - 2, 0, i < 3 ? 0.499 + 0.999 * i : 0.45);
    dBodySetLinearVel(body, 0.1 * i, 0, -0.2);
    dGeomSetBody(geomOf(h->space, i), body);
    dBodySetAutoDisableFlag(body, i == 5);
}

static void hostMake(Host* h, int way)
{
    *h = (Host){.world = dWorldCreate(), .space = dSimpleSpaceCreate(NULL), .group = dJointGroupCreate(0), .way = way};
    dWorldSetGravity(h->world, 0, 0, -9.81);
    dCreatePlane(h->space, 0, 0, 1, 0);
    for (int i = 0; i < BODIES; i++) addBody(h, i);
    h->joint[0] = dJointCreateHinge(h->world, NULL), h->joint[1] = dJointCreateBall(h->world, NULL);
    dJointAttach(h->joint[0], h->body[3], h->body[4]), dJointAttach(h->joint[1], h->body[5], NULL);
    dJointSetHingeAnchor(h->joint[0], 3, 0, 0.5), dJointSetBallAnchor(h->joint[1], 5.5, 0, 1);
    for (int i = 0; i < JOINTS; i++) dJointSetFeedback(h->joint[i], h->feedback + i);
}

static void hostFree(Host* h)
{
    pcWorldDetach(h->world);
    dJointGroupDestroy(h->group);
    dWorldDestroy(h->world);
    dSpaceDestroy(h->space);
}

static void near(void* data, dGeomID one, dGeomID other)
{
    Host* h = data;
    dContact contact[4];
    if (dGeomGetBody(one) == dGeomGetBody(other)) return;
    int count = dCollide(one, other, 4, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        contact[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.5};
        dJointAttach(dJointCreateContact(h->world, h->group, contact + i), dGeomGetBody(one), dGeomGetBody(other));
    }
}

/* Forces and contacts that the program itself brings. */
static void hostPrepare(Host* h)
{
    dBodyAddForce(h->body[1], 3, 0, 0), dBodyAddTorque(h->body[4], 0, 0.5, 0);
    if (h->way == BY_JOINTS) dSpaceCollide(h->space, h, near);
    if (h->way == BY_COLLECTING) dSpaceCollide(h->space, h->world, pcNearCallback);
}

/* ---- the whole state ---- */

typedef struct State {
    dReal place[BODIES][3], turn[BODIES][4], rotation[BODIES][12], velocity[BODIES][3], spin[BODIES][3], force[BODIES][3],
        torque[BODIES][3];
    dReal feedback[JOINTS][4][3];
    int enabled[BODIES], jointEnabled[JOINTS], automatic[BODIES];
} State;

static State stateOf(const Host* h)
{
    State s;
    memset(&s, 0, sizeof s);
    for (int i = 0; i < BODIES; i++) {
        dBodyID b = h->body[i];
        memcpy(s.place[i], dBodyGetPosition(b), sizeof s.place[i]), memcpy(s.turn[i], dBodyGetQuaternion(b), sizeof s.turn[i]);
        memcpy(s.rotation[i], dBodyGetRotation(b), sizeof s.rotation[i]), memcpy(s.velocity[i], dBodyGetLinearVel(b), sizeof s.velocity[i]);
        memcpy(s.spin[i], dBodyGetAngularVel(b), sizeof s.spin[i]), memcpy(s.force[i], dBodyGetForce(b), sizeof s.force[i]);
        memcpy(s.torque[i], dBodyGetTorque(b), sizeof s.torque[i]);
        s.enabled[i] = dBodyIsEnabled(b), s.automatic[i] = dBodyGetAutoDisableFlag(b);
    }
    for (int i = 0; i < JOINTS; i++) {
        const dJointFeedback* f = h->feedback + i;
        memcpy(s.feedback[i][0], f->f1, sizeof s.feedback[i][0]), memcpy(s.feedback[i][1], f->t1, sizeof s.feedback[i][1]);
        memcpy(s.feedback[i][2], f->f2, sizeof s.feedback[i][2]), memcpy(s.feedback[i][3], f->t2, sizeof s.feedback[i][3]);
        s.jointEnabled[i] = dJointIsEnabled(h->joint[i]);
    }
    return s;
}

static bool sameBits(const State* a, const State* b) { return memcmp(a, b, sizeof *a) == 0; }

/* ---- the twins ---- */

typedef struct Twins {
    Host ours, native;
    int instead; /* steps that had to be native */
} Twins;

static void twinsBegin(Twins* t, int way)
{
    hostMake(&t->ours, way), hostMake(&t->native, way);
    t->instead = 0;
}

/* The native twin of a world with a space or collected pairs is one of model=native, which makes the same contact joints; else ODE alone. */
static bool attachTwin(Host* h, const char* text)
{
    pcSettings settings = pcDefaultSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&settings, text));
    return pcWorldAttach(h->world, h->way == BY_SPACE ? h->space : NULL, &settings) == PC_OK;
}

static pcStatus stepNative(Host* h)
{
    dRandSetSeed(7);
    hostPrepare(h);
    if (h->way == BY_JOINTS) return dWorldStep(h->world, H) ? PC_OK : PC_ERROR_INTERNAL;
    return pcWorldStep(h->world, H);
}

/* Our step, with a fault or without; true if it was one of ours. Where it was not, the world is as a native step leaves it; where nothing was
 * done, as it was. */
static bool stepTwins(Twins* t, void (*fault)(long, bool), long n, bool onwards)
{
    pcWorldReportExtra extra = {.native = 1};
    dRandSetSeed(7);
    hostPrepare(&t->ours);
    State before = stateOf(&t->ours);
    if (fault) fault(n, onwards);
    pcStatus status = pcWorldStep(t->ours.world, H);
    pcAllocationsAllow();
    dJointGroupEmpty(t->ours.group);
    State after = stateOf(&t->ours);
    bool attached = pcWorldReportMore(t->ours.world, &extra) == PC_OK;
    pcStatus theirs = stepNative(&t->native);
    dJointGroupEmpty(t->native.group);
    State expected = stateOf(&t->native);
    if (status != PC_OK) {
        PC_EXPECT_TRUE(sameBits(&before, &after));
        return false;
    }
    if (attached && !extra.native) return true;
    t->instead++;
    PC_EXPECT_STATUS(PC_OK, theirs);
    if (!onwards || t->ours.way == BY_JOINTS) PC_EXPECT_TRUE(sameBits(&expected, &after)); /* see refuseInStep */
    return false;
}

static const char* const models[] = {"model=lcp", "model=convex", "model=implicit", "model=shadow:lcp"};

/* Out of memory in the first step of a world, in which all is made: until a step asks for no more. The next step works again. Where memory
 * stays away for the whole step, contacts that are found here cannot be handed to ODE either: then only the program's own joints act. */
static int refuseInStep(const char* model, int way, bool onwards)
{
    int instead = 0;
    long refused = 1;
    for (long n = 1; refused > 0 && n < 5000; n++) {
        PC_CASE("%s, way %d, block %ld%s", model, way, n, onwards ? " and all that follow" : "");
        Twins t;
        twinsBegin(&t, way);
        PC_EXPECT_TRUE(attachTwin(&t.ours, model));
        if (way != BY_JOINTS) PC_EXPECT_TRUE(attachTwin(&t.native, "model=native"));
        stepTwins(&t, pcAllocationsRefuse, n, onwards);
        refused = pcAllocationsAllow();
        instead += t.instead;
        hostPrepare(&t.ours);
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(t.ours.world, H));
        dJointGroupEmpty(t.ours.group);
        hostFree(&t.ours), hostFree(&t.native);
    }
    return instead;
}

PC_TEST(OdeFaults, WorldWithoutMemoryIsAsANativeStepLeavesIt)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    dInitODE2(0);
    dSetMessageHandler(keepQuiet);
    for (int m = 0; m < 3; m++)
        for (int way = 0; way < WAYS; way++) {
            PC_EXPECT_GT(refuseInStep(models[m], way, false), 0);
            refuseInStep(models[m], way, true);
        }
    dSetMessageHandler(NULL);
    dCloseODE();
}

/* As dCollide gives them now and then. Our step leaves them out; a native one would end the program. */
static void addContactWithoutNormal(Host* h)
{
    dContact contact = {.surface = {.mode = dContactApprox1, .mu = 0.5}, .geom = {.depth = 1e-16}};
    dJointAttach(dJointCreateContact(h->world, h->group, &contact), h->body[0], NULL);
}

PC_TEST(OdeFaults, ContactJointsWithoutANormalNeverReachODE)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    dInitODE2(0);
    dSetMessageHandler(keepQuiet);
    int undone = 0;
    long refused = 1;
    for (long n = 1; refused > 0 && n < 5000; n++) {
        PC_CASE("block %ld", n);
        Host h;
        hostMake(&h, BY_JOINTS);
        PC_EXPECT_TRUE(attachTwin(&h, "model=lcp"));
        hostPrepare(&h), addContactWithoutNormal(&h);
        State before = stateOf(&h);
        pcAllocationsRefuse(n, false);
        pcStatus status = pcWorldStep(h.world, H);
        refused = pcAllocationsAllow();
        State after = stateOf(&h);
        pcWorldReportExtra extra = {.native = 1};
        if (status == PC_OK) PC_EXPECT_TRUE(pcWorldReportMore(h.world, &extra) == PC_OK && !extra.native);
        if (status != PC_OK) PC_EXPECT_TRUE(sameBits(&before, &after)), undone++;
        hostFree(&h);
    }
    PC_EXPECT_GT(undone, 5);
    dSetMessageHandler(NULL);
    dCloseODE();
}

/* Everything that a program calls, once, each block refused in turn: no status but out of memory, and nothing is kept. */
static void callAll(void)
{
    Host h;
    pcStepReport report;
    pcWorldContact contact[4];
    dContactGeom geoms[4];
    int count;
    hostMake(&h, BY_COLLECTING);
    bool attached = attachTwin(&h, "model=lcp");
    if (!attached) PC_EXPECT_TRUE(strstr(pcLastError(), "memory") != NULL);
    hostPrepare(&h);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(h.world, H));
    pcCollide(dBodyGetFirstGeom(h.body[0]), dBodyGetFirstGeom(h.body[1]), 4, geoms, sizeof *geoms);
    pcStatus status = pcWorldMeasure(h.world, H, &report);
    if (attached && status != PC_OK) PC_EXPECT_STATUS(PC_ERROR_MEMORY, status);
    pcWorldContacts(h.world, contact, 4, &count);
    hostFree(&h);
}

PC_TEST(OdeFaults, CallsWithoutMemoryKeepNothing)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    dInitODE2(0);
    dSetMessageHandler(keepQuiet);
    for (int i = 0; i < 3; i++) callAll();
    for (int onwards = 0; onwards < 2; onwards++) {
        long refused = 1;
        for (long n = 1; refused > 0 && n < 5000; n++) {
            PC_CASE("block %ld%s", n, onwards ? " and all that follow" : "");
            long before = allocationsHeld();
            pcAllocationsRefuse(n, onwards);
            callAll();
            refused = pcAllocationsAllow();
            PC_EXPECT_LE((int)(allocationsHeld() - before), 0); /* a shape that is kept for the next world may not be there */
            if (allocationsHeld() < before) callAll();
        }
    }
    dSetMessageHandler(NULL);
    dCloseODE();
}

PC_TEST(OdeFaults, LapackThatFailsLeavesStepsThatAreOursOrNative)
{
    dInitODE2(0);
    dSetMessageHandler(keepQuiet);
    static const char* const settings[] = {
        "model=lcp solver=sparse",    "model=lcp solver=fixedpoint", "model=lcp solver=lemke coneEdges=8",
        "model=convex solver=sparse", "model=lcp implicitJoints=1",  "model=implicit"};
    long calls = 0; /* that failed */
    for (int m = 0; m < 6; m++)
        for (int onwards = 0; onwards < 2; onwards++) {
            long failed = 1;
            for (long n = 1; failed > 0 && n < 60; n++) {
                PC_CASE("%s, call %ld%s", settings[m], n, onwards ? " and all that follow" : "");
                Twins t;
                twinsBegin(&t, BY_JOINTS);
                PC_EXPECT_TRUE(attachTwin(&t.ours, settings[m]));
                stepTwins(&t, pcLapackFail, n, onwards);
                failed = pcLapackWork(), calls += failed;
                for (int i = 0; i < BODIES; i++) PC_EXPECT_TRUE(fabs(dBodyGetLinearVel(t.ours.body[i])[2]) < 50);
                hostFree(&t.ours), hostFree(&t.native);
            }
        }
    PC_EXPECT_GT((double)calls, 20.0);
    dSetMessageHandler(NULL);
    dCloseODE();
}

/* Bodies at one place have no direction between them; a mass, a spin or a force that is astronomical overflows on the way. */
static void spoil(Host* h, int how)
{
    if (how == 0) dBodySetPosition(h->body[1], 0, 0, 0.499);
    if (how == 1) dBodySetLinearVel(h->body[2], 1e100, 0, 0);
    if (how == 2) dBodySetAngularVel(h->body[2], 1e5, 1e5, 0);
    if (how == 3) dBodyAddForce(h->body[0], 1e300, 1e300, 1e300);
    if (how == 4) dBodySetLinearVel(h->body[5], (double)NAN, 0, 0), dJointDisable(h->joint[1]);
}

PC_TEST(OdeFaults, SpoiledWorldIsAsANativeStepLeavesItOrAsItWas)
{
    dInitODE2(0);
    dSetMessageHandler(keepQuiet);
    int notOurs = 0;
    for (int how = 0; how < 5; how++)
        for (int m = 0; m < 4; m++)
            for (int way = 0; way < WAYS; way++) {
                PC_CASE("%s, way %d, spoiled %d", models[m], way, how);
                Twins t;
                twinsBegin(&t, way);
                PC_EXPECT_TRUE(attachTwin(&t.ours, models[m]));
                if (way != BY_JOINTS) PC_EXPECT_TRUE(attachTwin(&t.native, "model=native"));
                spoil(&t.ours, how), spoil(&t.native, how);
                if (how != 4 || way != BY_JOINTS) notOurs += !stepTwins(&t, NULL, 0, false);
                hostFree(&t.ours), hostFree(&t.native);
            }
    PC_EXPECT_GT(notOurs, 10);
    dSetMessageHandler(NULL);
    dCloseODE();
}

/* ---- the system around ---- */

static volatile sig_atomic_t alarms;

static void onAlarm(int number)
{
    (void)number;
    alarms++;
}

static void setAlarm(bool on)
{
    struct sigaction action = {.sa_handler = on ? onAlarm : SIG_IGN, .sa_flags = SA_RESTART};
    struct itimerval every = {.it_interval = {0, on ? 100 : 0}, .it_value = {0, on ? 100 : 0}};
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

static State runFor(const char* text, int steps, bool signals)
{
    Host h;
    hostMake(&h, BY_SPACE);
    PC_EXPECT_TRUE(attachTwin(&h, text));
    setAlarm(signals);
    for (int i = 0; i < steps; i++) {
        hostPrepare(&h);
        PC_EXPECT_STATUS(PC_OK, pcWorldStep(h.world, H));
    }
    setAlarm(false);
    pcWorldReportExtra extra;
    PC_EXPECT_STATUS(PC_OK, pcWorldReportMore(h.world, &extra));
    PC_EXPECT_EQ_INT(0, extra.nativeSteps);
    PC_EXPECT_EQ_INT(0, extra.lostLines);
    State s = stateOf(&h);
    hostFree(&h);
    return s;
}

PC_TEST(OdeFaults, SignalsDuringStepsChangeNothing)
{
    char file[] = "/tmp/pcontact_signals_XXXXXX", text[100];
    int descriptor = mkstemp(file);
    PC_ASSERT_TRUE(descriptor >= 0);
    close(descriptor);
    snprintf(text, sizeof text, "threads=2 report=%s", file);
    dInitODE2(0);
    State quiet = runFor(text, 60, false), loud = runFor(text, 60, true);
    PC_EXPECT_GT(alarms, 3);
    PC_EXPECT_TRUE(sameBits(&quiet, &loud));
    dCloseODE();
    unlink(file);
}

/* No file may grow: as on a disk that is full. */
PC_TEST(OdeFaults, FullDiskLosesLinesAndDumpsAndNothingElse)
{
    char folder[] = "/tmp/pcontact_full_XXXXXX", text[100];
    PC_ASSERT_TRUE(mkdtemp(folder) != NULL);
    snprintf(text, sizeof text, "report=/dev/full dump=%s tolerance=1e-16", folder);
    struct rlimit before, none;
    getrlimit(RLIMIT_FSIZE, &before);
    none = before, none.rlim_cur = 0;
    signal(SIGXFSZ, SIG_IGN);
    dInitODE2(0);
    Host h;
    hostMake(&h, BY_SPACE);
    PC_EXPECT_TRUE(attachTwin(&h, text));
    setrlimit(RLIMIT_FSIZE, &none);
    for (int i = 0; i < 60; i++) PC_EXPECT_STATUS(PC_OK, pcWorldStep(h.world, H));
    setrlimit(RLIMIT_FSIZE, &before);
    pcWorldReportExtra extra;
    PC_EXPECT_STATUS(PC_OK, pcWorldReportMore(h.world, &extra));
    PC_EXPECT_EQ_INT(0, extra.nativeSteps);
    PC_EXPECT_EQ_INT(0, extra.dumps);
    PC_EXPECT_GT(extra.lostLines, 0);
    hostFree(&h);
    dCloseODE();
    signal(SIGXFSZ, SIG_DFL);
    PC_EXPECT_EQ_INT(0, rmdir(folder)); /* not even an empty file is left */
}
