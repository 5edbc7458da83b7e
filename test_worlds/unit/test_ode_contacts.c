/* Contact joints of ODE through our solver: the surface modes one by one. Where there is no friction, ODE's own step is the judge. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/ode/contacts.h"
#include "test_worlds/unit/ode_twin.h"

static const double H = 0.01;

typedef struct Touch {
    int first, second; /* bodies; -1: the world */
    dContact contact;
} Touch;

static dContact contactAt(double x, double y, double z, double depth)
{
    dContact c;
    memset(&c, 0x7f, sizeof c); /* what no bit says must not be read */
    c.surface.mode = 0, c.surface.mu = 0;
    const dReal pos[3] = {x, y, z}, normal[3] = {0, 0, 1};
    memcpy(c.geom.pos, pos, sizeof pos), memcpy(c.geom.normal, normal, sizeof normal);
    c.geom.depth = depth, c.geom.g1 = c.geom.g2 = NULL, c.geom.side1 = c.geom.side2 = -1;
    return c;
}

/* One step with these contacts in both worlds. */
static void stepWith(Twin* t, const Touch* touch, int count)
{
    dJointGroupID group[2] = {dJointGroupCreate(0), dJointGroupCreate(0)};
    int kept = t->joints;
    for (int i = 0; i < count; i++) {
        dJointID made[2];
        for (int w = 0; w < 2; w++) {
            made[w] = dJointCreateContact(t->world[w], group[w], &touch[i].contact);
            dJointAttach(made[w], touch[i].first < 0 ? NULL : t->body[w][touch[i].first],
                         touch[i].second < 0 ? NULL : t->body[w][touch[i].second]);
        }
        twinKeep(t, made[0], made[1]);
    }
    twinRun(t, 1, H);
    t->joints = kept;
    for (int w = 0; w < 2; w++) dJointGroupDestroy(group[w]);
}

/* Coulomb's law by every solver, and then its relaxation. */
static const char* const methods[] = {"model=lcp solver=auto",     "model=lcp solver=lemke",     "model=lcp solver=fixedpoint",
                                      "model=lcp solver=minmap",   "model=lcp solver=sparse",    "model=convex solver=auto",
                                      "model=convex solver=lemke", "model=convex solver=minmap", "model=convex solver=sparse"};
enum { METHODS = sizeof methods / sizeof *methods, COULOMB = 5 };

/* CFM is 0 for our contacts: ODE's is made so small that it does not show. */
static void beginHard(Twin* t, const char* method)
{
    pcSettings settings = pcDefaultSettings();
    twinBegin(t);
    settings.tolerance = 1e-12;
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&settings, method));
    PC_EXPECT_STATUS(PC_OK, pcWorldSetSettings(t->world[0], &settings));
    for (int w = 0; w < 2; w++) dWorldSetCFM(t->world[w], 1e-14);
}

/* Three contacts under a body: determined, so that forces can be compared as well. */
static int tripod(Touch* touch, int body, int other, double depth)
{
    const double x[3] = {0.2, -0.2, 0.05}, y[3] = {-0.1, -0.1, 0.15};
    for (int i = 0; i < 3; i++) touch[i] = (Touch){body, other, contactAt(x[i], y[i], -0.35, depth)};
    return 3;
}

typedef struct Mode {
    const char* name;
    int mode;
    double depth, layer, fastest;
} Mode;

static const Mode modes[] = {{"plain", 0, 0.01, 0, dInfinity},
                             {"touching", 0, 0, 0, dInfinity},
                             {"layer", 0, 0.01, 0.004, dInfinity},
                             {"deeper layer", 0, 0.01, 0.02, dInfinity},
                             {"slow correction", 0, 0.05, 0.001, 0.02},
                             {"soft erp", dContactSoftERP, 0.01, 0, dInfinity},
                             {"soft cfm", dContactSoftCFM, 0.01, 0, dInfinity},
                             {"bounce", dContactBounce, 0.001, 0, dInfinity},
                             {"motion N", dContactMotionN, 0.01, 0, dInfinity},
                             {"bounce and motion N", dContactBounce | dContactMotionN, 0.01, 0, 0.05},
                             {"slow motion N", dContactMotionN, 0.01, 0, 0.1},
                             {"all", dContactSoftERP | dContactSoftCFM | dContactBounce | dContactMotionN, 0.01, 0.001, 1}};

static void setNormal(dContact* c, int mode)
{
    c->surface.mode |= mode;
    if (mode & dContactSoftERP) c->surface.soft_erp = 0.7;
    if (mode & dContactSoftCFM) c->surface.soft_cfm = 0.002;
    if (mode & dContactBounce) c->surface.bounce = 0.6, c->surface.bounce_vel = 0.1;
    if (mode & dContactMotionN) c->surface.motionN = 0.3;
}

static void expectNativeNormals(const char* method)
{
    for (size_t m = 0; m < sizeof modes / sizeof *modes; m++)
        for (int sides = 0; sides < 3; sides++) {
            PC_CASE("%s, %s sides=%d", method, modes[m].name, sides);
            Twin t;
            Touch touch[3];
            beginHard(&t, method);
            twinBody(&t, 0, 0, 0), twinBody(&t, 0, 0, sides == 0 ? -0.7 : -5);
            for (int w = 0; w < 2; w++) {
                dBodySetLinearVel(t.body[w][0], 0.1, 0.2, -1);
                dWorldSetContactSurfaceLayer(t.world[w], modes[m].layer);
                dWorldSetContactMaxCorrectingVel(t.world[w], modes[m].fastest);
            }
            tripod(touch, sides == 2 ? -1 : 0, sides == 0 ? 1 : sides == 1 ? -1 : 0, modes[m].depth);
            for (int i = 0; i < 3; i++) {
                setNormal(&touch[i].contact, modes[m].mode);
                if (sides == 2) touch[i].contact.geom.normal[2] = -1;
            }
            for (int step = 0; step < 20; step++) stepWith(&t, touch, 3);
            PC_EXPECT_LE(t.worst, 1e-8);
            PC_EXPECT_LE(t.worstFeedback, 1e-6);
            twinExpectOurs(&t);
            twinEnd(&t);
        }
}

PC_TEST(OdeContacts, FrictionlessNormalModesAreNativeByEverySolver)
{
    for (int i = 0; i < METHODS; i++) expectNativeNormals(methods[i]);
}

/* Nothing but normals: piles of bodies with random contacts. */
PC_TEST(OdeContacts, RandomFrictionlessPilesAreNative)
{
    unsigned random = 7;
    double worst = 0;
    for (int world = 0; world < 200; world++) {
        PC_CASE("world=%d", world);
        Twin t;
        Touch touch[12];
        beginHard(&t, methods[0]);
        for (int i = 0; i < 4; i++) twinBody(&t, 0, 0, 0.7 * i);
        for (int i = 0; i < 12; i++) {
            double part[3];
            for (int k = 0; k < 3; k++) random = random * 1664525u + 1013904223u, part[k] = (random >> 8) / 16777216.0 - 0.5;
            touch[i] = (Touch){i / 3, i / 3 - 1, contactAt(0.4 * part[0], 0.4 * part[1], 0.7 * (i / 3) - 0.35, 0.01 * (part[2] + 0.5))};
        }
        for (int step = 0; step < 5; step++) stepWith(&t, touch, 12);
        worst = fmax(worst, t.worst);
        PC_EXPECT_LE(t.worst, 1e-8);
        twinExpectOurs(&t);
        twinEnd(&t);
    }
    printf("worst difference: %.2g\n", worst);
}

/* ---- habits of bodies ---- */

static double part(unsigned* random)
{
    *random = *random * 1664525u + 1013904223u;
    return (*random >> 8) / 16777216.0;
}

static bool once(unsigned* random, int in) { return part(random) * in < 1.0; }

/* The same in both worlds: everything that ODE does with a body besides solving. */
static void setHabits(Twin* t, int body, unsigned* random)
{
    unsigned same = *random;
    for (int w = 0; w < 2; w++) {
        dBodyID b = t->body[w][body];
        *random = same;
        if (once(random, 4)) dBodySetKinematic(b);
        if (once(random, 3)) dBodyDisable(b);
        if (once(random, 2)) dBodySetAutoDisableFlag(b, 1);
        dBodySetAutoDisableSteps(b, (int)(5 * part(random))), dBodySetAutoDisableTime(b, 0);
        dBodySetAutoDisableAverageSamplesCount(b, (unsigned)(4 * part(random)));
        dBodySetAutoDisableLinearThreshold(b, 0.5), dBodySetAutoDisableAngularThreshold(b, 0.5);
        if (once(random, 3)) dBodySetDamping(b, 0.02, 0.03);
        if (once(random, 4)) dBodySetGravityMode(b, 0);
        if (once(random, 3)) dBodySetGyroscopicMode(b, 0);
        if (once(random, 4)) dBodySetFiniteRotationMode(b, 1);
        if (once(random, 3)) dBodySetMaxAngularSpeed(b, 1);
    }
}

static void touchAtRandom(const Twin* t, Touch* touch, unsigned* random)
{
    int body = (int)(6 * part(random)), other = once(random, 2) ? -1 : (int)(6 * part(random));
    const dReal* x = dBodyGetPosition(t->body[0][body]);
    bool turned = (other < 0 || other == body) && once(random, 3);
    dContact c = contactAt(x[0] + 0.2 * part(random), x[1] + 0.2 * part(random), x[2] - 0.3, 0.01 * part(random));
    if (turned) c.geom.normal[2] = -1;
    *touch = (Touch){turned ? -1 : body, turned ? body : other == body ? -1 : other, c};
}

PC_TEST(OdeContacts, SleepingKinematicAndDampedBodiesMoveAsNatively)
{
    unsigned random = 11;
    for (int world = 0; world < 200; world++) {
        PC_CASE("world=%d", world);
        Twin t;
        Touch touch[4];
        beginHard(&t, methods[0]);
        for (int i = 0; i < 6; i++) setHabits(&t, twinBody(&t, 2 * part(&random), 2 * part(&random), 2 * part(&random)), &random);
        for (int step = 0; step < 20; step++) {
            int count = (int)(4 * part(&random));
            for (int i = 0; i < count; i++) touchAtRandom(&t, touch + i, &random);
            stepWith(&t, touch, count);
            for (int i = 0; i < 6; i++) PC_EXPECT_EQ_INT(dBodyIsEnabled(t.body[1][i]), dBodyIsEnabled(t.body[0][i]));
        }
        PC_EXPECT_LE(t.worst, 1e-8);
        twinExpectOurs(&t);
        twinEnd(&t);
    }
}

/* ---- friction ---- */

/* Friction that is decided by one contact in one direction: there ODE's law and ours agree. */
typedef struct Rub {
    const char* name;
    int mode;
    double mu, mu2;
} Rub;

static const Rub rubs[] = {{"force limit", 0, 0.5, 0},
                           {"coefficient", dContactApprox1, 0.3, 0},
                           {"infinite", 0, dInfinity, 0},
                           {"infinite with approx", dContactApprox1, dInfinity, 0},
                           {"across", dContactApprox1 | dContactMu2 | dContactFDir1, 0, 0.2},
                           {"half approx", dContactApprox1_1 | dContactMu2 | dContactFDir1, 0.2, 0},
                           {"other half", dContactApprox1_2 | dContactMu2 | dContactFDir1, 0.6, 0},
                           {"belt", dContactApprox1 | dContactFDir1 | dContactMotion1 | dContactMu2, dInfinity, 0},
                           {"belt across", dContactFDir1 | dContactMotion2 | dContactMu2, 0, dInfinity},
                           {"slip", dContactApprox1 | dContactFDir1 | dContactSlip1 | dContactMu2, dInfinity, 0},
                           {"slip across", dContactFDir1 | dContactSlip2 | dContactMu2, 0, dInfinity}};

static void setRub(dContact* c, const Rub* rub)
{
    c->surface.mode |= rub->mode, c->surface.mu = rub->mu;
    if (rub->mode & dContactMu2) c->surface.mu2 = rub->mu2;
    if (rub->mode & dContactFDir1) c->fdir1[0] = 1, c->fdir1[1] = c->fdir1[2] = 0;
    if (rub->mode & dContactMotion1) c->surface.motion1 = 0.7;
    if (rub->mode & dContactMotion2) c->surface.motion2 = -0.4;
    if (rub->mode & dContactSlip1) c->surface.slip1 = 0.02;
    if (rub->mode & dContactSlip2) c->surface.slip2 = 0.03;
}

/* A body that cannot turn, under one contact, sliding along the friction direction that counts. */
static void beginSlider(Twin* t, const Rub* rub, const char* method)
{
    beginHard(t, method);
    twinBody(t, 0, 0, 0);
    bool across = rub->mu == 0;
    for (int w = 0; w < 2; w++) {
        dWorldSetGravity(t->world[w], 0, 0, -9.81);
        dBodySetAngularVel(t->body[w][0], 0, 0, 0);
        dBodySetLinearVel(t->body[w][0], across ? 0 : 1, across ? 1 : 0, 0);
    }
    JOINT(t, AMotor, 0, -1, {
        dJointSetAMotorNumAxes(j, 3);
        for (int k = 0; k < 3; k++) dJointSetAMotorAxis(j, k, 0, k == 0, k == 1, k == 2);
        for (int k = 0; k < 3; k++) dJointSetAMotorParam(j, dParamFMax + dParamGroup * k, dInfinity);
    });
}

static void expectNativeFriction(const char* method)
{
    for (size_t i = 0; i < sizeof rubs / sizeof *rubs; i++)
        for (int turned = 0; turned < 2; turned++) {
            PC_CASE("%s, %s turned=%d", method, rubs[i].name, turned);
            Twin t;
            beginSlider(&t, rubs + i, method);
            Touch touch = {turned ? -1 : 0, turned ? 0 : -1, contactAt(0, 0, -0.35, 0.001)};
            setRub(&touch.contact, rubs + i);
            if (turned) touch.contact.geom.normal[2] = -1;
            for (int step = 0; step < 20; step++) stepWith(&t, &touch, 1);
            PC_EXPECT_LE(t.worst, 1e-8);
            twinExpectOurs(&t);
            twinEnd(&t);
        }
}

PC_TEST(OdeContacts, FrictionModesInOneDirectionAreNativeByEverySolver)
{
    for (int i = 0; i < COULOMB; i++) expectNativeFriction(methods[i]);
}

/* Rolling and spinning, one axis at a time. */
static void expectNativeRolling(const char* method)
{
    for (int axis = 0; axis < 3; axis++)
        for (int how = 0; how < 3; how++) { /* coefficient, largest moment, no turning at all */
            PC_CASE("%s, axis=%d how=%d", method, axis, how);
            Twin t;
            beginHard(&t, method);
            twinBody(&t, 0, 0, 0);
            for (int w = 0; w < 2; w++) {
                dMass mass;
                dMassSetSphereTotal(&mass, 2, 0.35);
                dBodySetMass(t.body[w][0], &mass);
                dWorldSetGravity(t.world[w], 0, 0, -9.81);
                dBodySetLinearVel(t.body[w][0], 0, 0, 0);
                dBodySetAngularVel(t.body[w][0], axis == 0, axis == 1, axis == 2);
            }
            Touch touch = {0, -1, contactAt(0, 0, -0.35, 0)};
            dSurfaceParameters* s = &touch.contact.surface;
            double most = how == 2 ? dInfinity : how == 1 ? 0.05 : 0.01;
            s->mode = dContactRolling | dContactAxisDep | dContactFDir1 | (how == 0 ? dContactApprox1 : 0);
            s->mu = 1e-12, s->mu2 = 1e-12; /* ODE leaves rolling out where there is no friction */
            s->rho = axis == 0 ? most : 0, s->rho2 = axis == 1 ? most : 0, s->rhoN = axis == 2 ? most : 0;
            touch.contact.fdir1[0] = 1, touch.contact.fdir1[1] = touch.contact.fdir1[2] = 0;
            for (int step = 0; step < 20; step++) stepWith(&t, &touch, 1);
            PC_EXPECT_LE(t.worst, 1e-8);
            twinExpectOurs(&t);
            twinEnd(&t);
        }
}

PC_TEST(OdeContacts, RollingModesAboutOneAxisAreNativeByEverySolver)
{
    for (int i = 0; i < COULOMB; i++) expectNativeRolling(methods[i]);
}

/* ---- each bit counts ---- */

typedef struct Bit {
    const char* name;
    int without, with;
} Bit;

enum { BASE = dContactApprox1 | dContactFDir1 };
static const Bit bits[] = {{"mu2", BASE, BASE | dContactMu2},
                           {"bounce", BASE, BASE | dContactBounce},
                           {"soft erp", BASE, BASE | dContactSoftERP},
                           {"soft cfm", BASE, BASE | dContactSoftCFM},
                           {"motion 1", BASE, BASE | dContactMotion1},
                           {"motion 2", BASE, BASE | dContactMotion2},
                           {"motion N", BASE, BASE | dContactMotionN},
                           {"slip 1", BASE, BASE | dContactSlip1},
                           {"slip 2", BASE, BASE | dContactSlip2},
                           {"rolling", BASE, BASE | dContactRolling},
                           {"axes apart", BASE | dContactRolling, BASE | dContactRolling | dContactAxisDep},
                           {"first direction", dContactApprox1 | dContactMu2, BASE | dContactMu2},
                           {"a force, not a coefficient", BASE, dContactFDir1}};

/* A ball that slides, rolls, spins and falls on the floor. Its new velocity. */
static void stepBall(const char* method, int mode, double v[6])
{
    Twin t;
    beginHard(&t, method);
    twinBody(&t, 0, 0, 0);
    dMass mass;
    dMassSetSphereTotal(&mass, 2, 0.35);
    dBodySetMass(t.body[0][0], &mass);
    dBodySetLinearVel(t.body[0][0], 1, 0.4, -0.5), dBodySetAngularVel(t.body[0][0], 0.3, 0.2, 0.5);
    dContact c = contactAt(0, 0, -0.35, 0.001);
    c.surface = (dSurfaceParameters){.mode = mode, .mu = 0.2, .mu2 = 0.05, .rho = 0.01, .rho2 = 0.02, .rhoN = 0.003, .bounce = 0.5};
    c.surface.bounce_vel = 0.1, c.surface.soft_erp = 0.9, c.surface.soft_cfm = 1, c.surface.motion1 = 0.9, c.surface.motion2 = 0.3;
    c.surface.motionN = 0.2, c.surface.slip1 = 3, c.surface.slip2 = 4;
    c.fdir1[0] = 0.6, c.fdir1[1] = 0.8, c.fdir1[2] = 0;
    dJointAttach(dJointCreateContact(t.world[0], NULL, &c), t.body[0][0], NULL);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(t.world[0], H));
    twinExpectOurs(&t);
    memcpy(v, dBodyGetLinearVel(t.body[0][0]), 3 * sizeof *v), memcpy(v + 3, dBodyGetAngularVel(t.body[0][0]), 3 * sizeof *v);
    twinEnd(&t);
}

static double largestDifference(const double a[6], const double b[6])
{
    double largest = 0;
    for (int k = 0; k < 6; k++) largest = fmax(largest, fabs(a[k] - b[k]));
    return largest;
}

/* Nothing is dropped: with the bit the answer is another one, and the same by every solver of a model. */
PC_TEST(OdeContacts, EveryBitCountsUnderEveryModelAndSolver)
{
    double with[6], without[6], first[6] = {0};
    for (size_t i = 0; i < sizeof bits / sizeof *bits; i++)
        for (int m = 0; m < METHODS; m++) {
            PC_CASE("%s, %s", methods[m], bits[i].name);
            stepBall(methods[m], bits[i].without, without);
            stepBall(methods[m], bits[i].with, with);
            PC_EXPECT_GT(largestDifference(with, without), 1e-5);
            if (m == 0 || m == COULOMB) memcpy(first, with, sizeof first);
            PC_EXPECT_LE(largestDifference(with, first), 1e-8);
        }
}

/* ---- identity ---- */

PC_TEST(OdeContacts, IdentityFollowsTheBodyAndTellsPlacesApart)
{
    pcBody body = {.mass = 1, .pose = {.quaternion = {1, 0, 0, 0}}, .inertia = {0.1, 0, 0, 0, 0.1, 0, 0, 0, 0.1}};
    pcContact place = {.body1 = PC_WORLD, .body2 = 0};
    dContact here = contactAt(0.3, 0.2, -0.5, 0), there = contactAt(-0.3, 0.2, -0.5, 0);
    unsigned long long id = pcContactId(&here, &body, &place);
    PC_EXPECT_TRUE(id != 0 && id != pcContactId(&there, &body, &place));
    body.pose.position[0] = 5, body.pose.quaternion[0] = cos(0.2), body.pose.quaternion[3] = sin(0.2); /* moved, and turned by 0.4 */
    dContact moved = contactAt(5 + 0.3 * cos(0.4) - 0.2 * sin(0.4), 0.3 * sin(0.4) + 0.2 * cos(0.4), -0.5, 0);
    PC_EXPECT_TRUE(id == pcContactId(&moved, &body, &place));
    moved.geom.side1 = 3;
    PC_EXPECT_TRUE(id != pcContactId(&moved, &body, &place));
}

/* What a model cannot express is counted and named. */
PC_TEST(OdeContacts, BounceAboveOneAndMissingNormalsAreCounted)
{
    Twin t;
    beginHard(&t, methods[0]);
    twinBody(&t, 0, 0, 0);
    dContact wild = contactAt(0, 0, -0.35, 0), flat = contactAt(0.1, 0, -0.35, 0);
    wild.surface.mode = dContactBounce, wild.surface.bounce = 1.5, wild.surface.bounce_vel = 0;
    flat.geom.normal[2] = 0;
    dJointAttach(dJointCreateContact(t.world[0], NULL, &wild), t.body[0][0], NULL);
    dJointAttach(dJointCreateContact(t.world[0], NULL, &flat), t.body[0][0], NULL);
    PC_EXPECT_STATUS(PC_OK, pcWorldStep(t.world[0], H));
    pcWorldReportExtra extra;
    PC_ASSERT_STATUS(PC_OK, pcWorldReportMore(t.world[0], &extra));
    PC_EXPECT_EQ_INT(2, extra.untranslated);
    PC_EXPECT_EQ_STR("contacts without a normal, bounce above 1", extra.untranslatedNames);
    PC_EXPECT_EQ_INT(0, extra.native);
    twinEnd(&t);
}
