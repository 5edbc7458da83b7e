/*
 * A program of the version before: compiled against the headers in previous/, run with the library as it is. Every struct that the library
 * fills stands between two guards, and what the calls answer is what anybody can work out by hand.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#ifdef WITH_ODE
#include <pcontact/pcontact.h>
#endif
#include <pcontact/implicit.h>
#include <pcontact/lcp.h>
#include <pcontact/metric.h>
#include <pcontact/system.h>

#include "test_worlds/abi/layout.h"

static int failures;

static void expect(int good, const char* what)
{
    if (!good) failures++, printf("FAILED: %s: %s\n", what, pcLastError());
}

/* ---- layout ---- */

static int sameLine(const Layout* a, const Layout* b)
{
    return strcmp(a->type, b->type) == 0 && strcmp(a->field, b->field) == 0 && a->offset == b->offset && a->size == b->size &&
           a->alignment == b->alignment;
}

/* No field is missing in the list: each begins where the one before ends, but for what its alignment asks for. */
static void expectComplete(const Layout* type)
{
    size_t end = 0;
    const Layout* at = type + 1;
    for (; at->type && at->field[0]; at++) {
        if (at->offset != (end + at->alignment - 1) / at->alignment * at->alignment)
            failures++, printf("FAILED: a field before %s.%s is not in layout.c\n", type->type, at->field);
        end = at->offset + at->size;
    }
    if (type->size - end >= type->alignment) failures++, printf("FAILED: the last field of %s is not in layout.c\n", type->type);
}

static void compareLayouts(void)
{
    int fields = 0;
    for (const Layout *now = layoutNow, *before = layoutBefore; before->type; now++, before++, fields++) {
        if (!now->type || !sameLine(now, before))
            failures++, printf("FAILED: %s.%s lay at %zu with %zu bytes, and lies at %zu with %zu\n", before->type, before->field,
                               before->offset, before->size, now->offset, now->size);
        if (!before->field[0]) expectComplete(now);
    }
    printf("%d structs and fields are where they were\n", fields);
}

/* ---- guards ---- */

#define GUARD 0x5a
#define GUARDED(type, name)     \
    struct {                    \
        unsigned char low[64];  \
        type value;             \
        unsigned char high[64]; \
    } name;                     \
    memset(&name, GUARD, sizeof name)

static int intact(const unsigned char* guard)
{
    for (int i = 0; i < 64; i++)
        if (guard[i] != GUARD) return 0;
    return 1;
}
#define EXPECT_INTACT(name) expect(intact((name).low) && intact((name).high), #name " keeps within its bytes")

/* ---- calls ---- */

static const pcPose origin = {{0, 0, 0}, {1, 0, 0, 0}};

static void callGeometry(void)
{
    const double size[3] = {1, 1, 1};
    const pcPose above = {{0, 0, 1.25}, {1, 0, 0, 0}};
    pcShape* box;
    GUARDED(pcMetric, metric);
    GUARDED(pcDistance, distance);
    GUARDED(pcShapeInfo, info);
    GUARDED(pcFacet, facet);
    GUARDED(pcPairCache, cache);
    GUARDED(pcEventSettings, settings);
    GUARDED(pcEvent, event);
    int count = 0;
    expect(pcShapeBox(size, &box) == PC_OK, "pcShapeBox");
    memset(&cache.value, 0, sizeof cache.value);
    expect(pcMetricPair(box, &origin, box, &above, 0, &cache.value, &metric.value) == PC_OK && fabs(metric.value.r - 1.25) < 1e-12,
           "pcMetricPair");
    expect(pcEuclidPair(box, &origin, box, &above, NULL, &distance.value) == PC_OK && fabs(distance.value.distance - 0.25) < 1e-12,
           "pcEuclidPair");
    expect(pcShapeDescribe(box, &info.value) == PC_OK && info.value.vertices == 8 && info.value.length == 0.0, "pcShapeDescribe");
    expect(pcShapeFacet(box, 0, &facet.value) == PC_OK && facet.value.count == 4, "pcShapeFacet");
    settings.value = pcDefaultEventSettings();
    settings.value.margin = 0.5;
    expect(pcEventsOfPair(box, &origin, box, &above, 0, &settings.value, &cache.value, &event.value, 1, &count) == PC_OK && count == 4 &&
               fabs(event.value.gap - 0.25) < 1e-12,
           "pcEventsOfPair");
    EXPECT_INTACT(metric);
    EXPECT_INTACT(distance);
    EXPECT_INTACT(info);
    EXPECT_INTACT(facet);
    EXPECT_INTACT(cache);
    EXPECT_INTACT(settings);
    EXPECT_INTACT(event);
    pcShapeFree(box);
}

static void callSolvers(void)
{
    const double M[] = {2, 1, 1, 2}, q[] = {-5, -6}; /* z = (4/3, 7/3) */
    const pcLcp problem = {2, M, q};
    double z[2];
    GUARDED(pcSolveSettings, settings);
    GUARDED(pcSolveInfo, info);
    settings.value = pcDefaultSolveSettings();
    info.value = pcLcpSolve(&problem, &settings.value, z);
    expect(info.value.outcome == PC_SOLVED && fabs(z[0] - 4.0 / 3.0) < 1e-9 && fabs(z[1] - 7.0 / 3.0) < 1e-9, "pcLcpSolve");
    EXPECT_INTACT(settings);
    EXPECT_INTACT(info);
}

/* A box at rest on the floor: its contacts carry m g h. */
static void callSteps(void)
{
    const double size[3] = {1, 1, 1}, floor[4] = {0, 0, 1, 0};
    pcShape *box, *ground;
    expect(pcShapeBox(size, &box) == PC_OK && pcShapeHalfSpace(floor, &ground) == PC_OK, "shapes");
    pcBody body = {.pose = {{0, 0, 0.5}, {1, 0, 0, 0}}, .mass = 2, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const pcPlacedShape shapes[] = {{.shape = box, .body = 0, .pose = origin}, {.shape = ground, .body = PC_WORLD, .pose = origin}};
    pcSystem system = {.bodyCount = 1, .bodies = &body, .shapeCount = 2, .shapes = shapes, .gravity = {0, 0, -10}};
    double velocity[6] = {0}, impulse = 0.0;
    pcContactResult contact[8];
    GUARDED(pcSettings, settings);
    GUARDED(pcSystemResult, result);
    GUARDED(pcStepReport, report);
    settings.value = pcDefaultSettings();
    expect(pcSettingsParse(&settings.value, "model=lcp mu=0.5 report=x") == PC_OK && strcmp(settings.value.report, "x") == 0,
           "pcSettingsParse");
    result.value = (pcSystemResult){.velocity = velocity, .contacts = contact, .contactCapacity = 8};
    expect(pcSystemStep(&system, &settings.value, 0.01, &result.value) == PC_OK && result.value.contactCount == 4, "pcSystemStep");
    for (int i = 0; i < result.value.contactCount; i++) impulse += contact[i].impulse[0];
    expect(fabs(impulse - 2 * 10 * 0.01) < 1e-9 && fabs(velocity[2]) < 1e-9 && result.value.report.contacts == 4,
           "the step carries the box");
    expect(pcSystemMeasure(&system, &settings.value, 0.01, &report.value) == PC_OK && report.value.events == 4, "pcSystemMeasure");
    expect(pcImplicitSystemStep(&system, NULL, PC_TURN_EXPONENTIAL, &settings.value, 0.01, &result.value) == PC_OK &&
               fabs(velocity[2]) < 1e-9,
           "pcImplicitSystemStep");
    EXPECT_INTACT(settings);
    EXPECT_INTACT(result);
    EXPECT_INTACT(report);
    pcShapeFree(box), pcShapeFree(ground);
}

static void callForms(void)
{
    pcForm* ball;
    GUARDED(pcFormInfo, info);
    GUARDED(pcImplicitResult, result);
    expect(pcFormSphere(0.5, &ball) == PC_OK && pcFormDescribe(ball, &info.value) == PC_OK && info.value.radius == 0.5, "forms");
    const pcBody body = {.pose = origin, .mass = 1, .inertia = {1, 0, 0, 0, 1, 0, 0, 0, 1}};
    const pcPlacedForm placed = {.form = ball, .body = 0, .pose = origin};
    const pcImplicitSystem system = {.bodyCount = 1, .bodies = &body, .formCount = 1, .forms = &placed, .gravity = {0, 0, -10}};
    const pcSettings settings = pcDefaultSettings();
    double velocity[6];
    result.value = (pcImplicitResult){.velocity = velocity};
    expect(pcImplicitStep(&system, &settings, 0.01, &result.value) == PC_OK && fabs(velocity[2] + 0.1) < 1e-12, "pcImplicitStep");
    EXPECT_INTACT(info);
    EXPECT_INTACT(result);
    pcFormFree(ball);
}

#ifdef WITH_ODE
static void callWorld(void)
{
    const pcPluginTable* table = pcPluginGet(PC_PLUGIN_VERSION);
    GUARDED(pcStepReport, report);
    GUARDED(pcWorldReportExtra, extra);
    GUARDED(pcWorldContact, contact);
    int count = 0;
    dMass mass;
    dInitODE2(0);
    dWorldID world = dWorldCreate();
    dSpaceID space = dHashSpaceCreate(0);
    dWorldSetGravity(world, 0, 0, -10);
    dCreatePlane(space, 0, 0, 1, 0);
    dBodyID body = dBodyCreate(world);
    dMassSetBox(&mass, 1, 1, 1, 1);
    dBodySetMass(body, &mass);
    dBodySetPosition(body, 0, 0, 0.5);
    dGeomSetBody(dCreateBox(space, 1, 1, 1), body);
    expect(table && table->version == PC_PLUGIN_VERSION, "pcPluginGet");
    const pcSettings settings = table->defaultSettings();
    expect(table->worldAttach(world, space, &settings) == PC_OK && table->worldStep(world, 0.01) == PC_OK, "a step by the table");
    expect(table->worldReport(world, &report.value) == PC_OK && report.value.contacts == 4, "worldReport");
    expect(table->worldReportMore(world, &extra.value) == PC_OK && extra.value.steps == 1 && extra.value.native == 0, "worldReportMore");
    expect(table->worldContacts(world, &contact.value, 1, &count) == PC_OK && count == 4 && contact.value.impulse[2] != 0.0,
           "worldContacts");
    expect(strcmp(table->statusText(PC_OK), "ok") == 0 && table->worldDetach(world) == PC_OK, "the last entries of the table");
    EXPECT_INTACT(report);
    EXPECT_INTACT(extra);
    EXPECT_INTACT(contact);
    dSpaceDestroy(space);
    dWorldDestroy(world);
    dCloseODE();
}
#endif

int main(void)
{
    compareLayouts();
    callGeometry();
    callSolvers();
    callSteps();
    callForms();
#ifdef WITH_ODE
    callWorld();
#endif
    printf("abi: %d failures\n", failures);
    return failures != 0;
}
