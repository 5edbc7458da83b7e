#include "test_worlds/unit/problems.h"

#include <math.h>

#define INFINITE ((double)INFINITY)
#define GRAVITY 9.81
#define STEP 0.01
#define PI 3.14159265358979323846

static const v3 zero = {0.0, 0.0, 0.0}, up = {0.0, 0.0, 1.0};

static pcRandom randomOf(uint64_t seed)
{
    pcRandom random = {seed * 0x9e3779b97f4a7c15u + 12345u};
    pcRandomBits(&random);
    return random;
}

static int integer(pcRandom* random, int low, int high) { return low + (int)(pcRandomBits(random) % (uint64_t)(high - low + 1)); }

static v3 inBall(pcRandom* random, double radius) { return v3Scale(radius * pcRandomUnit(random), pcDirection(random)); }

/* ---- Random contacts with a velocity that satisfies all of them ---- */

/* What the contacts of a scatter are like. */
typedef struct Scatter {
    int bodiesLow, bodiesHigh, touchesLow, touchesHigh;
    double mu; /* up to; < 0: no friction rows */
    bool anisotropic, turning, planar, soft;
    int edges;
} Scatter;

static v3 momentsOf(pcRandom* random, double mass)
{
    double a = pcBetween(random, 0.3, 1.0), b = pcBetween(random, 0.3, 1.0), c = pcBetween(random, 0.3, 1.0); /* half sides of a box */
    return v3Scale(mass / 3.0, v3Make(b * b + c * c, a * a + c * c, a * a + b * b));
}

/* I = R diag R' with a random turn: full, as that of a body that lies anyhow. */
static void turnInertia(pcConeModel* model, int body, v3 moments, pcRandom* random)
{
    v3 x = pcDirection(random), y, z;
    v3Complete(x, &y, &z);
    double R[3][3] = {{x.x, y.x, z.x}, {x.y, y.y, z.y}, {x.z, y.z, z.z}}, d[3] = {moments.x, moments.y, moments.z}, inertia[9] = {0.0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j <= i; j++) {
            for (int k = 0; k < 3; k++) inertia[3 * i + j] += R[i][k] * d[k] * R[j][k];
            inertia[3 * j + i] = inertia[3 * i + j];
        }
    pcModelInertia(model, body, inertia);
}

static void addRandomBody(pcConeModel* model, pcRandom* random)
{
    double mass = pow(10.0, pcBetween(random, -1.0, 1.0));
    v3 moments = momentsOf(random, mass);
    int body = pcModelBody(model, mass, moments, inBall(random, 2.0), inBall(random, 2.0));
    turnInertia(model, body, moments, random);
}

/* Makes the velocity `v0` = 0 satisfy the contact with something to spare, sometimes nothing: there is a solution then. */
static pcTouch randomTouch(const Scatter* kind, int bodies, pcRandom* random)
{
    pcTouch touch = {.body1 = integer(random, -1, bodies - 1), .body2 = integer(random, 0, bodies - 1)};
    if (touch.body1 == touch.body2) touch.body1 = -1;
    touch.arm1 = inBall(random, 1.0), touch.arm2 = inBall(random, 1.0), touch.normal = pcDirection(random);
    touch.target = -pcBetween(random, 0.0, 0.3);
    touch.mu = kind->mu > 0.0 ? pcBetween(random, 0.05, kind->mu) : kind->mu;
    if (kind->anisotropic) touch.mu2 = pcBetween(random, 0.05, kind->mu);
    if (kind->turning) touch.torsion = pcBetween(random, 0.01, 0.2), touch.rolling = pcBetween(random, 0.01, 0.1);
    if (kind->soft) touch.soft = pcBetween(random, 0.01, 0.3), touch.slip = pcBetween(random, 0.01, 0.3);
    touch.planar = kind->planar, touch.edges = kind->edges, touch.angle = pcBetween(random, 0.0, 2.0 * PI);
    return touch;
}

static pcConeModel scatter(const Scatter* kind, uint64_t seed, bool coulomb)
{
    pcRandom random = randomOf(seed);
    pcConeModel model = pcModelStart(coulomb, 2.0);
    int bodies = integer(&random, kind->bodiesLow, kind->bodiesHigh), touches = integer(&random, kind->touchesLow, kind->touchesHigh);
    for (int i = 0; i < bodies; i++) addRandomBody(&model, &random);
    for (int i = 0; i < touches; i++) {
        pcTouch touch = randomTouch(kind, bodies, &random);
        pcModelTouch(&model, &touch);
    }
    return model;
}

static pcConeModel randomContacts(int variant, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 6, .touchesLow = 1, .touchesHigh = 12, .mu = 1.0};
    return scatter(&kind, 100u + (uint64_t)variant, coulomb);
}

static pcConeModel anisotropicContacts(int variant, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 4, .touchesLow = 1, .touchesHigh = 8, .mu = 1.0, .anisotropic = true};
    return scatter(&kind, 200u + (uint64_t)variant, coulomb);
}

static pcConeModel turningContacts(int variant, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 4, .touchesLow = 1, .touchesHigh = 8, .mu = 0.8, .turning = true};
    return scatter(&kind, 300u + (uint64_t)variant, coulomb);
}

static pcConeModel polygonContacts(int variant, bool coulomb)
{
    const int edges[4] = {4, 6, 8, 16};
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 4, .touchesLow = 1, .touchesHigh = 8, .mu = 0.8, .edges = edges[variant % 4]};
    kind.turning = variant % 8 >= 4;
    return scatter(&kind, 400u + (uint64_t)variant, coulomb);
}

static pcConeModel planarContacts(int variant, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 4, .touchesLow = 1, .touchesHigh = 8, .mu = 1.0, .planar = true};
    return scatter(&kind, 500u + (uint64_t)variant, coulomb);
}

static pcConeModel softContacts(int variant, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 4, .touchesLow = 1, .touchesHigh = 8, .mu = 1.0, .soft = true};
    return scatter(&kind, 600u + (uint64_t)variant, coulomb);
}

static pcConeModel contactsWithoutFriction(int variant, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 4, .touchesLow = 1, .touchesHigh = 8, .mu = variant % 2 ? 0.0 : -1.0};
    return scatter(&kind, 700u + (uint64_t)variant, coulomb);
}

static pcConeModel denseMass(int variant, bool coulomb)
{
    pcConeModel model = randomContacts(variant + 40, coulomb);
    pcModelMakeDense(&model, 0.2);
    return model;
}

/* Millionths of a metre, grains of sand; and planets. */
static pcConeModel otherUnits(int variant, bool coulomb)
{
    pcConeModel model = variant % 2 ? turningContacts(variant + 40, coulomb) : randomContacts(variant + 60, coulomb);
    pcUnits units = variant % 4 < 2 ? (pcUnits){1e-6, 1e-15, 1e-3} : (pcUnits){1e6, 1e18, 1e3};
    pcConeModel scaled = pcModelInUnits(&model, units);
    pcModelFree(&model);
    return scaled;
}

/* ---- Boxes ---- */

static int addBox(pcConeModel* model, double mass, v3 half, v3 velocity, v3 spin)
{
    v3 moments = v3Scale(mass / 3.0,
                         v3Make(half.y * half.y + half.z * half.z, half.x * half.x + half.z * half.z, half.x * half.x + half.y * half.y));
    return pcModelBody(model, mass, moments, velocity, spin);
}

/* One box on a plane by many contacts more than it needs, at rest, sliding or turning. */
static pcConeModel redundantContacts(int variant, bool coulomb)
{
    const int counts[4] = {4, 16, 64, 400};
    pcRandom random = randomOf(800u + (uint64_t)variant);
    pcConeModel model = pcModelStart(coulomb, 1.0);
    int motion = variant / 4;
    v3 slide = motion > 0 ? v3Make(0.8, 0.3, -GRAVITY * STEP) : v3Make(0.0, 0.0, -GRAVITY * STEP);
    int box = addBox(&model, 2.0, v3Make(0.5, 0.4, 0.2), slide, motion > 1 ? v3Make(0.0, 0.0, 3.0) : zero);
    for (int i = 0; i < counts[variant % 4]; i++) {
        double x = i < 4 ? (i & 1 ? 0.5 : -0.5) : pcBetween(&random, -0.5, 0.5),
               y = i < 4 ? (i & 2 ? 0.4 : -0.4) : pcBetween(&random, -0.4, 0.4);
        pcModelTouch(&model, &(pcTouch){.body1 = -1, .body2 = box, .arm2 = v3Make(x, y, -0.2), .normal = up, .mu = 0.5});
    }
    return model;
}

/* Boxes of side 1 on top of each other on a plane, touching exactly. */
static pcConeModel stackOf(int count, const double* mass, v3 push, bool coulomb)
{
    pcConeModel model = pcModelStart(coulomb, larger(GRAVITY * STEP, v3Norm(push)));
    for (int i = 0; i < count; i++) {
        v3 velocity = v3Make(0.0, 0.0, -GRAVITY * STEP);
        addBox(&model, mass ? mass[i] : 1.0, v3Make(0.5, 0.5, 0.5), i == count - 1 ? v3Add(velocity, push) : velocity, zero);
        for (int k = 0; k < 4; k++) {
            double x = k & 1 ? 0.5 : -0.5, y = k & 2 ? 0.5 : -0.5;
            pcTouch touch = {.body1 = i - 1, .body2 = i, .arm1 = v3Make(x, y, 0.5), .arm2 = v3Make(x, y, -0.5), .normal = up, .mu = 0.5};
            pcModelTouch(&model, &touch);
        }
    }
    return model;
}

static pcConeModel zeroGapStack(int variant, bool coulomb)
{
    const int counts[5] = {1, 2, 5, 10, 50};
    return stackOf(counts[variant % 5], NULL, variant < 5 ? zero : v3Make(0.3, 0.1, 0.0), coulomb);
}

static pcConeModel massRatioStack(int variant, bool coulomb)
{
    const double mass[6][7] = {
        {1.0, 1e6},           {1e6, 1.0}, {1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6}, {1e6, 1e5, 1e4, 1e3, 100.0, 10.0, 1.0},
        {1.0, 1e6, 1.0, 1e6}, {1.0, 1e4}};
    const int counts[6] = {2, 2, 7, 7, 4, 2};
    return stackOf(counts[variant % 6], mass[variant % 6], variant < 6 ? zero : v3Make(0.02, 0.0, 0.0), coulomb);
}

/* ---- Joints, motors, stops ---- */

static int addLinks(pcConeModel* model, int count, double load)
{
    v3 first = v3Make(-0.5, 0.0, 0.0), second = v3Make(0.5, 0.0, 0.0);
    for (int i = 0; i < count; i++) {
        double mass = i == count - 1 ? load : 1.0;
        int link = addBox(model, mass, v3Make(0.5, 0.05, 0.05), v3Make(0.0, 0.1 * i, -GRAVITY * STEP), v3Make(0.0, 0.0, 0.2));
        pcModelBall(model, link - 1, i ? second : zero, link, first);
    }
    return model->problem.blocks - 1;
}

static pcConeModel chain(int variant, bool coulomb)
{
    const int counts[4] = {1, 3, 10, 10};
    pcConeModel model = pcModelStart(coulomb, 1.0);
    int last = addLinks(&model, counts[variant % 4], variant % 4 == 3 ? 1000.0 : 1.0);
    if (variant >= 4) /* its end rubs along a floor */
        pcModelTouch(&model, &(pcTouch){.body1 = -1, .body2 = last, .arm2 = v3Make(0.5, 0.0, -0.05), .normal = up, .mu = 0.4});
    return model;
}

/* Two boxes held by three balls and every row once more: 18 rows where 6 would do. */
static pcConeModel redundantJoints(int variant, bool coulomb)
{
    pcConeModel model = pcModelStart(coulomb, 1.0);
    int one = addBox(&model, 1.0, v3Make(0.5, 0.5, 0.5), v3Make(0.4, 0.0, -GRAVITY * STEP), v3Make(0.0, 1.0, 0.0));
    int two = addBox(&model, 3.0, v3Make(0.5, 0.5, 0.5), v3Make(0.0, 0.2, -GRAVITY * STEP), zero);
    for (int repeat = 0; repeat < 2; repeat++)
        for (int i = 0; i < 3; i++) {
            double y = i == 0 ? 0.4 : -0.2, z = i == 1 ? 0.3 : -0.1;
            pcModelBall(&model, one, v3Make(0.5, y, z), two, v3Make(-0.5, y, z));
        }
    for (int k = 0; k < 4 && variant > 0; k++) {
        pcTouch touch = {.body1 = -1, .body2 = k & 1 ? one : two, .normal = up, .mu = 0.5};
        touch.arm2 = v3Make(0.3, k & 2 ? 0.5 : -0.5, -0.5);
        pcModelTouch(&model, &touch);
    }
    return model;
}

static void addBound(pcConeModel* model, int body, int axis, double target, double lo, double hi, double soft)
{
    pcLink link = {.body1 = body, .body2 = -1, .target = target, .lo = lo, .hi = hi, .soft = soft};
    link.J[axis] = 1.0;
    pcModelLink(model, &link);
}

/* A box on a plane that motors drive and stops hold; weak motors end at their bound, strong ones reach their target. */
static pcConeModel motorsAndStops(int variant, bool coulomb)
{
    pcRandom random = randomOf(900u + (uint64_t)variant);
    pcConeModel model = pcModelStart(coulomb, 1.0);
    int box = addBox(&model, 1.0, v3Make(0.5, 0.5, 0.5), v3Make(0.2, -0.4, -GRAVITY * STEP), inBall(&random, 1.0));
    for (int k = 0; k < 4; k++) {
        pcTouch touch = {.body1 = -1, .body2 = box, .arm2 = v3Make(k & 1 ? 0.5 : -0.5, k & 2 ? 0.5 : -0.5, -0.5), .normal = up, .mu = 0.3};
        pcModelTouch(&model, &touch);
    }
    double strength = variant % 2 ? 10.0 : 0.05, soft = variant % 3 == 2 ? 0.1 : 0.0;
    addBound(&model, box, 0, pcBetween(&random, -1.0, 1.0), -strength, strength, soft);
    addBound(&model, box, 1, pcBetween(&random, -0.5, 0.0), 0.0, INFINITE, soft);
    addBound(&model, box, 5, pcBetween(&random, -1.0, 1.0), -strength, 2.0 * strength, soft);
    addBound(&model, box, 3, 0.0, -INFINITE, 0.0, 0.0);
    if (variant % 4 == 3) addBound(&model, box, 1, 0.0, -INFINITE, INFINITE, 0.5);
    return model;
}

const pcProblemKind pcProblemKinds[] = {{"random contacts", 24, randomContacts},
                                        {"contacts without friction", 12, contactsWithoutFriction},
                                        {"anisotropic contacts", 12, anisotropicContacts},
                                        {"torsion and rolling", 12, turningContacts},
                                        {"polygons", 16, polygonContacts},
                                        {"planar contacts", 12, planarContacts},
                                        {"soft contacts", 12, softContacts},
                                        {"dense mass", 8, denseMass},
                                        {"tiny and huge units", 8, otherUnits},
                                        {"redundant contacts", 12, redundantContacts},
                                        {"zero-gap stack", 10, zeroGapStack},
                                        {"mass ratio stack", 12, massRatioStack},
                                        {"chain", 8, chain},
                                        {"redundant joints", 2, redundantJoints},
                                        {"motors and stops", 12, motorsAndStops}};
const int pcProblemKindCount = (int)(sizeof pcProblemKinds / sizeof *pcProblemKinds);

/* ---- Small ones for references ---- */

static void addRandomJoint(pcConeModel* model, pcRandom* random, double lo, double hi)
{
    int bodies = model->problem.blocks;
    pcLink link = {.body1 = integer(random, 0, bodies - 1), .body2 = integer(random, -1, bodies - 1), .lo = lo, .hi = hi};
    if (link.body1 == link.body2) link.body2 = -1;
    for (int i = 0; i < 12; i++) link.J[i] = pcBetween(random, -1.0, 1.0);
    pcModelLink(model, &link);
}

pcConeModel pcFrictionless(uint64_t seed, bool zeroRows, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 3, .touchesLow = 1, .touchesHigh = 8, .mu = zeroRows ? 0.0 : -1.0};
    pcConeModel model = scatter(&kind, 100000u + seed, coulomb);
    pcRandom random = randomOf(200000u + seed);
    for (int i = integer(&random, 0, 4); i > 0; i--) addRandomJoint(&model, &random, -INFINITE, INFINITE);
    return model;
}

pcConeModel pcSmallMixture(uint64_t seed, bool coulomb)
{
    Scatter kind = {.bodiesLow = 1, .bodiesHigh = 4, .touchesLow = 1, .touchesHigh = 5, .mu = 0.8};
    pcRandom random = randomOf(300000u + seed);
    kind.anisotropic = seed % 2, kind.turning = seed % 3 == 2, kind.planar = seed % 5 == 4, kind.soft = seed % 7 == 6;
    pcConeModel model = scatter(&kind, 400000u + seed, coulomb);
    if (seed % 4 == 1) addRandomJoint(&model, &random, -INFINITE, INFINITE);
    if (seed % 4 == 2) addRandomJoint(&model, &random, -0.3, 0.2);
    return model;
}

pcThrow pcThrownSphere(uint64_t seed, bool coulomb)
{
    pcRandom random = randomOf(500000u + seed);
    pcThrow thrown = {.radius = pow(10.0, pcBetween(&random, -2.0, 1.0)), .h = pow(10.0, pcBetween(&random, -4.0, -1.0))};
    thrown.gap = (pcRandomBits(&random) % 4 ? pcBetween(&random, -0.01, 0.1) : 0.0) * thrown.radius;
    double mass = pow(10.0, pcBetween(&random, -3.0, 3.0)), moment = 0.4 * mass * thrown.radius * thrown.radius;
    double speed = pow(10.0, pcBetween(&random, -2.0, 1.0)), mu = pcRandomBits(&random) % 8 ? pcBetween(&random, 0.0, 1.5) : 0.0;
    v3 velocity = v3Add(inBall(&random, speed), v3Make(0.0, 0.0, -GRAVITY * thrown.h)), spin = inBall(&random, speed / thrown.radius);
    double target = -thrown.gap / thrown.h;
    thrown.model = pcModelStart(coulomb, larger(larger(v3Norm(velocity), GRAVITY * thrown.h), fabs(target)));
    int ball = pcModelBody(&thrown.model, mass, v3Make(moment, moment, moment), velocity, spin);
    v3 arm = v3Make(0.0, 0.0, -thrown.radius);
    pcModelTouch(&thrown.model, &(pcTouch){.body1 = -1, .body2 = ball, .arm2 = arm, .normal = up, .target = target, .mu = mu});
    return thrown;
}

/* ---- Heaps ---- */

static bool isFree(const v3* centre, int balls, v3 place)
{
    for (int i = 0; i < balls; i++) {
        v3 apart = v3Sub(centre[i], place);
        if (v3Dot(apart, apart) < 0.85 * 0.85) return false;
    }
    return true;
}

pcConeModel pcHeap(int balls, double width, bool coulomb, uint64_t seed)
{
    pcRandom random = {seed};
    pcConeModel model = pcModelStart(coulomb, 0.1);
    v3 centre[PC_HEAP_BALLS];
    double side = 0.5 + width, top = 0.5 + 0.2 * balls * (4.0 / (width * width));
    for (int i = 0; i < balls; i++) {
        do centre[i] = v3Make(pcBetween(&random, 0.5, side), pcBetween(&random, 0.5, side), pcBetween(&random, 0.5, top));
        while (!isFree(centre, i, centre[i]));
        double mass = pow(10.0, pcBetween(&random, -0.5, 0.5)), inertia = 0.1 * mass;
        v3 velocity = v3Make(pcBetween(&random, -1.0, 1.0), pcBetween(&random, -1.0, 1.0), pcBetween(&random, -2.0, 0.0));
        pcModelBody(&model, mass, v3Make(inertia, inertia, inertia), velocity, v3Make(0.0, 0.0, pcBetween(&random, -3.0, 3.0)));
    }
    for (int i = 0; i < balls; i++) {
        v3 walls[3] = {v3Make(1, 0, 0), v3Make(0, 1, 0), v3Make(0, 0, 1)};
        for (int w = 0; w < 3; w++)
            if (v3Dot(walls[w], centre[i]) < 0.8)
                pcModelTouch(&model, &(pcTouch){.body1 = -1, .body2 = i, .arm2 = v3Scale(-0.5, walls[w]), .normal = walls[w], .mu = 0.5});
        for (int j = 0; j < i; j++) {
            v3 apart = v3Sub(centre[i], centre[j]);
            double distance = sqrt(v3Dot(apart, apart));
            v3 normal = v3Scale(1.0 / distance, apart);
            if (distance < 1.1)
                pcModelTouch(&model, &(pcTouch){.body1 = j,
                                                .body2 = i,
                                                .arm1 = v3Scale(0.5, normal),
                                                .arm2 = v3Scale(-0.5, normal),
                                                .normal = normal,
                                                .mu = pcBetween(&random, 0.1, 1.0)});
        }
    }
    return model;
}

/* ---- Without a solution, or nearly ---- */

pcConeModel pcJammedWedge(int variant, bool coulomb)
{
    double lean = variant == 2 ? 1e-6 : 0.1;
    v3 push = variant == 1 ? v3Make(0.5, 0.2, -1.0) : v3Make(0.0, 0.0, -GRAVITY * STEP);
    pcConeModel model = pcModelStart(coulomb, 1.0);
    int wedge = addBox(&model, 1.0, v3Make(0.2, 0.3, 0.5), push, variant == 1 ? v3Make(0.3, 0.0, 0.5) : zero);
    for (int k = 0; k < 8; k++) {
        double side = k & 1 ? 1.0 : -1.0;
        v3 normal = v3Make(-side * cos(lean), 0.0, sin(lean)), arm = v3Make(0.2 * side, k & 2 ? 0.3 : -0.3, k & 4 ? 0.5 : -0.5);
        double target = variant == 3 ? 0.1 : 0.0;
        pcModelTouch(&model, &(pcTouch){.body1 = -1, .body2 = wedge, .arm2 = arm, .normal = normal, .target = target, .mu = 10.0});
    }
    return model;
}

static pcConeModel heldTwice(int variant, bool coulomb, double difference)
{
    pcConeModel model = pcModelStart(coulomb, 1.0);
    int last = variant < 2 ? addBox(&model, 1.0, v3Make(0.5, 0.5, 0.5), v3Make(0.3, 0.0, -GRAVITY * STEP), zero) : addLinks(&model, 3, 1.0);
    int axis = variant < 2 ? 0 : 1; /* a taut chain gives way across only */
    addBound(&model, last, axis, 0.2 + difference, -INFINITE, INFINITE, 0.0);
    if (difference != 0.0) addBound(&model, last, axis, 0.2 - difference, -INFINITE, INFINITE, 0.0);
    if (variant > 0) pcModelTouch(&model, &(pcTouch){.body1 = -1, .body2 = last, .arm2 = v3Make(0.0, 0.0, -0.5), .normal = up, .mu = 0.5});
    return model;
}

pcConeModel pcContradiction(int variant, bool coulomb) { return heldTwice(variant, coulomb, 0.1); }
pcConeModel pcContradictionInTheMiddle(int variant, bool coulomb) { return heldTwice(variant, coulomb, 0.0); }
