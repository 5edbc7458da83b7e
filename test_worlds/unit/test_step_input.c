/* Input that a step refuses: the status, the sentence, and that nothing was written. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/implicit.h"
#include "test_worlds/unit/scene.h"

static const double nothing = (double)NAN;
static double mobility[144];

static void begin(Scene* s)
{
    sceneBegin(s);
    sceneFloor(s);
    sceneBox(s, 0, 0, 0.5, (const double[3]){1, 1, 1}, 1);
    sceneSphere(s, 3, 0, 0.5, 0.5, 1);
    sceneRow(s, 0, 1)->jacobian[0] = 1;
    sceneContact(s, 1, (const double[3]){3, 0, 0}, 0);
    memset(mobility, 0, sizeof mobility);
    for (int i = 0; i < 12; i++) mobility[13 * i] = 1;
}

static void expectRefused(Scene* s, pcStatus status, const char* words)
{
    PC_CASE("%s", words);
    double velocity[12];
    pcPose pose[2];
    memset(velocity, 7, sizeof velocity), memset(pose, 7, sizeof pose);
    s->result.velocity = velocity, s->result.pose = pose;
    unsigned char before[sizeof s->result], beforeVelocity[sizeof velocity], beforePose[sizeof pose];
    memcpy(before, &s->result, sizeof before), memcpy(beforeVelocity, velocity, sizeof velocity), memcpy(beforePose, pose, sizeof pose);
    PC_EXPECT_STATUS(status, pcSystemStep(&s->system, &s->settings, s->h, &s->result));
    if (!strstr(pcLastError(), words)) PC_FAIL("the sentence is: %s", pcLastError());
    PC_EXPECT_TRUE(memcmp(before, &s->result, sizeof before) == 0 && memcmp(beforeVelocity, velocity, sizeof velocity) == 0);
    PC_EXPECT_TRUE(memcmp(beforePose, pose, sizeof pose) == 0);
}

/* A sound scene, one mistake, the refusal. */
#define REFUSED(status, words, mistake)   \
    do {                                  \
        Scene s;                          \
        begin(&s);                        \
        mistake;                          \
        expectRefused(&s, status, words); \
        sceneEnd(&s);                     \
    } while (0)

PC_TEST(StepInput, SoundSceneIsAccepted)
{
    Scene s;
    begin(&s);
    sceneStep(&s);
    s.system.mobility = mobility;
    sceneStep(&s);
    sceneEnd(&s);
}

PC_TEST(StepInput, RefusesBadBodies)
{
    REFUSED(PC_ERROR_NOT_FINITE, "body 1: its position", s.body[1].pose.position[2] = nothing);
    REFUSED(PC_ERROR_NOT_FINITE, "body 0: its quaternion", s.body[0].pose.quaternion[3] = HUGE_VAL);
    REFUSED(PC_ERROR_ARGUMENT, "body 0: its quaternion has the length 0", s.body[0].pose.quaternion[0] = 0);
    REFUSED(PC_ERROR_NOT_FINITE, "body 1: its velocity", s.body[1].velocity[5] = nothing);
    REFUSED(PC_ERROR_NOT_FINITE, "body 1: its force", s.body[1].force[0] = -HUGE_VAL);
    REFUSED(PC_ERROR_ARGUMENT, "body 0: its mass is 0", s.body[0].mass = 0);
    REFUSED(PC_ERROR_ARGUMENT, "body 0: its mass is -2", s.body[0].mass = -2);
    REFUSED(PC_ERROR_ARGUMENT, "body 0: its mass is", s.body[0].mass = nothing);
    REFUSED(PC_ERROR_NOT_FINITE, "body 0: its inertia", s.body[0].inertia[4] = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "body 0: its inertia is not symmetric", s.body[0].inertia[1] = 0.01);
    REFUSED(PC_ERROR_ARGUMENT, "body 0: its inertia is not positive definite", s.body[0].inertia[8] = -1);
    REFUSED(PC_ERROR_ARGUMENT, "body 0: its inertia is not positive definite", s.body[0].inertia[1] = s.body[0].inertia[3] = 3);
    REFUSED(PC_ERROR_ARGUMENT, "body 1: its inertia is not positive definite", memset(s.body[1].inertia, 0, sizeof s.body[1].inertia));
    REFUSED(PC_ERROR_ARGUMENT, "there is no kind 9 of body", memcpy(&s.body[0].kind, &(int){9}, sizeof(int)));
}

PC_TEST(StepInput, RefusesBadShapes)
{
    REFUSED(PC_ERROR_ARGUMENT, "shape 1 is NULL", s.shape[1].shape = NULL);
    REFUSED(PC_ERROR_ARGUMENT, "shape 2: body 2 does not exist; there are 2", s.shape[2].body = 2);
    REFUSED(PC_ERROR_ARGUMENT, "shape 0: body -2 does not exist", s.shape[0].body = -2);
    REFUSED(PC_ERROR_NOT_FINITE, "shape 0: its position", s.shape[0].pose.position[0] = nothing);
}

PC_TEST(StepInput, RefusesBadRows)
{
    REFUSED(PC_ERROR_ARGUMENT, "row 0: body 5 does not exist", s.row[0].body2 = 5);
    REFUSED(PC_ERROR_ARGUMENT, "row 0: both its bodies are 0", s.row[0].body2 = 0);
    REFUSED(PC_ERROR_NOT_FINITE, "row 0: its jacobian", s.row[0].jacobian[11] = nothing);
    REFUSED(PC_ERROR_NOT_FINITE, "row 0: its target", s.row[0].target = HUGE_VAL);
    REFUSED(PC_ERROR_NOT_FINITE, "row 0: its error", s.row[0].error = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "row 0: its bounds are 1 and -1", (s.row[0].lo = 1, s.row[0].hi = -1));
    REFUSED(PC_ERROR_ARGUMENT, "row 0: its bounds are", s.row[0].lo = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "row 0: its bounds are", s.row[0].lo = HUGE_VAL);
    REFUSED(PC_ERROR_ARGUMENT, "row 0: its softness is -1", s.row[0].softness = -1);
}

PC_TEST(StepInput, RefusesBadContacts)
{
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: both its bodies are -1", s.contact[0].body2 = PC_WORLD);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: body 3 does not exist", s.contact[0].body1 = 3);
    REFUSED(PC_ERROR_NOT_FINITE, "contact 0: its point", s.contact[0].point[1] = nothing);
    REFUSED(PC_ERROR_NOT_FINITE, "contact 0: its normal", s.contact[0].normal[1] = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: its normal has the length 2", s.contact[0].normal[2] = 2);
    REFUSED(PC_ERROR_NOT_FINITE, "contact 0: its gap", s.contact[0].gap = -HUGE_VAL);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: mu of its surface is -1", s.contact[0].surface.mu = -1);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: mu of its surface is", s.contact[0].surface.mu = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: torsion of its surface is inf", s.contact[0].surface.torsion = HUGE_VAL);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: bounce of its surface is 1.5", s.contact[0].surface.bounce = 1.5);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: slip2 of its surface", s.contact[0].surface.slip2 = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: rolling2 of its surface is inf", s.contact[0].surface.rolling2 = HUGE_VAL);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: gamma of its surface is -1", s.contact[0].surface.gamma = -1);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: fastest of its surface", s.contact[0].surface.fastest = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: sink of its surface", s.contact[0].surface.sink = HUGE_VAL);
    REFUSED(PC_ERROR_ARGUMENT, "contact 0: there is no forceLimit 4", s.contact[0].surface.forceLimit = 4);
    REFUSED(PC_ERROR_NOT_FINITE, "contact 0: its normalVelocity", s.contact[0].surface.normalVelocity = nothing);
    REFUSED(PC_ERROR_NOT_FINITE, "contact 0: its direction1", s.contact[0].surface.direction1[0] = nothing);
    REFUSED(PC_ERROR_NOT_FINITE, "contact 0: its surfaceVelocity", s.contact[0].surface.surfaceVelocity[2] = HUGE_VAL);
}

static int badSurface(void* context, int shape1, int shape2, pcSurface* surface)
{
    (void)context, (void)shape1, (void)shape2;
    surface->rolling = -1;
    return 1;
}

PC_TEST(StepInput, RefusesABadSurfaceOfTheCallback)
{
    REFUSED(PC_ERROR_ARGUMENT, "pair with shape 1: rolling of its surface is -1", s.system.surface = badSurface);
}

PC_TEST(StepInput, RefusesABadWhole)
{
    REFUSED(PC_ERROR_ARGUMENT, "the step h is 0", s.h = 0);
    REFUSED(PC_ERROR_ARGUMENT, "the step h is -1", s.h = -1);
    REFUSED(PC_ERROR_ARGUMENT, "the step h is", s.h = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "the number of rows is -1", s.system.rowCount = -1);
    REFUSED(PC_ERROR_ARGUMENT, "there are 2 bodies, but the list is NULL", s.system.bodies = NULL);
    REFUSED(PC_ERROR_ARGUMENT, "room for -1 contacts", s.result.contactCapacity = -1);
    REFUSED(PC_ERROR_NOT_FINITE, "gravity", s.system.gravity[0] = nothing);
    REFUSED(PC_ERROR_ARGUMENT, "settings must start from pcDefaultSettings()", s.settings.cookie = 0);
    REFUSED(PC_ERROR_ARGUMENT, "setting gamma is 3", s.settings.gamma = 3);
    double free[12] = {0};
    free[7] = nothing;
    REFUSED(PC_ERROR_NOT_FINITE, "body 1: its freeVelocity", s.system.freeVelocity = free);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSystemStep(NULL, NULL, 0.01, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcMemoryCreate(NULL));
}

PC_TEST(StepInput, RefusesABadMobility)
{
    REFUSED(PC_ERROR_NOT_FINITE, "mobility: entry 5, 3", (s.system.mobility = mobility, mobility[5 * 12 + 3] = nothing));
    REFUSED(PC_ERROR_ARGUMENT, "mobility: it is not symmetric at 4, 1", (s.system.mobility = mobility, mobility[4 * 12 + 1] = 0.5));
    REFUSED(PC_ERROR_ARGUMENT, "mobility: it is not positive definite: entry 2, 2", (s.system.mobility = mobility, mobility[26] = 0));
    REFUSED(PC_ERROR_ARGUMENT, "mobility: it is not positive definite", (s.system.mobility = mobility, mobility[1] = mobility[12] = 1));
}

PC_TEST(StepInput, RefusesWhatNeedsAHost)
{
    REFUSED(PC_ERROR_UNSUPPORTED, "model=native is not a model of pcSystemStep: lcp and convex are", s.settings.model = PC_MODEL_NATIVE);
    REFUSED(PC_ERROR_UNSUPPORTED, "model=quick", s.settings.model = PC_MODEL_QUICK);
    REFUSED(PC_ERROR_UNSUPPORTED, "model=implicit", s.settings.model = PC_MODEL_IMPLICIT);
    REFUSED(PC_ERROR_UNSUPPORTED, "model=shadow:lcp steps beside a host", s.settings.shadow = 1);
    REFUSED(PC_ERROR_UNSUPPORTED, "only narrowphase=ratio and euclid", s.settings.narrowphase = PC_NARROW_NATIVE);
}

/* ---- every number ---- */

/* All that either step reads, and room for all that it writes. */
typedef struct Whole {
    Scene scene;
    pcForm* owned[3];
    pcPlacedForm form[3];
    pcLayer layer;
    double freeVelocity[12], mobility[144];
    pcImplicitContact contact[32];
} Whole;

static void beginWhole(Whole* w)
{
    memset(w, 0, sizeof *w);
    begin(&w->scene);
    memcpy(w->mobility, mobility, sizeof mobility);
    w->layer = (pcLayer){.stiffness = {1000, 0, 0, 0, 1000, 0, 0, 0, 1000}, .damping = {1}, .deepest = 0.1};
    for (int i = 0; i < 3; i++) {
        const pcPlacedShape* placed = w->scene.shape + i;
        PC_EXPECT_STATUS(PC_OK, pcFormOfShape(placed->shape, w->owned + i));
        w->form[i] = (pcPlacedForm){.form = w->owned[i], .body = placed->body, .pose = placed->pose, .layer = i == 0 ? &w->layer : NULL};
    }
}

static void endWhole(Whole* w)
{
    for (int i = 0; i < 3; i++) pcFormFree(w->owned[i]);
    sceneEnd(&w->scene);
}

/* Doubles of a Whole from `at` on, but for those that start at `skip`, which are none; and those that may be NaN, or infinite, by their headers. */
enum { BY_LCP = 1, BY_IMPLICIT = 2, BY_BOTH = 3, BY_MOBILITY = 4, MOST_EXCEPT = 8 };
typedef struct Part {
    const char* name;
    int by; /* which steps read it */
    size_t at, size;
    size_t skip[MOST_EXCEPT], nan[MOST_EXCEPT], infinite[MOST_EXCEPT]; /* from `at` on, plus 1; 0 ends them */
} Part;

#define PART(member, byWhom) .name = #member, .by = byWhom, .at = offsetof(Whole, member), .size = sizeof((Whole*)0)->member
#define OF(type, field) (offsetof(type, field) + 1)
#define OF_SURFACE(field) (offsetof(pcContact, surface) + offsetof(pcSurface, field) + 1)

static const Part parts[] = {
    {PART(scene.body[1], BY_BOTH), .skip = {OF(pcBody, kind)}},
    {PART(scene.shape[1], BY_LCP), .skip = {OF(pcPlacedShape, shape), OF(pcPlacedShape, body), OF(pcPlacedShape, category)}},
    {PART(form[1], BY_IMPLICIT),
     .skip = {OF(pcPlacedForm, form), OF(pcPlacedForm, body), OF(pcPlacedForm, category), OF(pcPlacedForm, layer)}},
    {PART(layer, BY_IMPLICIT), .skip = {OF(pcLayer, tangential)}, .infinite = {OF(pcLayer, deepest)}},
    {PART(scene.row[0], BY_BOTH), .skip = {OF(pcRow, body1)}, .infinite = {OF(pcRow, hi)}},
    {PART(scene.contact[0], BY_BOTH), .skip = {OF(pcContact, body1), OF(pcContact, id), OF_SURFACE(forceLimit)},
     .nan = {OF_SURFACE(mu2), OF_SURFACE(rolling2), OF_SURFACE(gamma)}, .infinite = {OF_SURFACE(mu), OF_SURFACE(mu2), OF_SURFACE(fastest)}},
    {PART(scene.system.gravity, BY_BOTH)},
    {PART(freeVelocity, BY_BOTH)},
    {PART(mobility, BY_MOBILITY)},
    {PART(scene.h, BY_BOTH)},
    {PART(scene.settings.gamma, BY_BOTH), .nan = {1}},
    {PART(scene.settings.margin, BY_BOTH)},
    {PART(scene.settings.layer, BY_BOTH)},
    {PART(scene.settings.epsX, BY_BOTH)},
    {PART(scene.settings.epsT, BY_BOTH), .infinite = {1}},
    {PART(scene.settings.eps0, BY_BOTH), .infinite = {1}},
    {PART(scene.settings.mu, BY_BOTH), .infinite = {1}},
    {PART(scene.settings.mu2, BY_BOTH), .nan = {1}, .infinite = {1}},
    {PART(scene.settings.bounce, BY_BOTH)},
    {PART(scene.settings.tolerance, BY_BOTH)},
};

static bool isAmong(const size_t* list, size_t offset)
{
    bool found = false;
    for (int i = 0; i < MOST_EXCEPT && list[i] != 0; i++) found |= list[i] == offset + 1;
    return found;
}

/* The status; and that nothing was written where it is a refusal. */
static pcStatus tryStep(Whole* w, int by)
{
    Scene* s = &w->scene;
    double velocity[12];
    pcPose pose[2];
    memset(velocity, 7, sizeof velocity), memset(pose, 7, sizeof pose), memset(s->rowImpulse, 7, sizeof s->rowImpulse);
    memset(s->touch, 7, sizeof s->touch), memset(w->contact, 7, sizeof w->contact);
    pcImplicitSystem implicit = {.bodyCount = 2, .bodies = s->body, .formCount = 3, .forms = w->form, .rowCount = 1, .rows = s->row};
    implicit.contactCount = 1, implicit.contacts = s->contact, implicit.freeVelocity = w->freeVelocity;
    memcpy(implicit.gravity, s->system.gravity, sizeof implicit.gravity);
    pcImplicitResult result = {
        .velocity = velocity, .pose = pose, .rowImpulse = s->rowImpulse, .contacts = w->contact, .contactCapacity = 32};
    memset(&result.report, 7, sizeof result.report), memset(&s->result.report, 7, sizeof s->result.report);
    s->result.velocity = velocity, s->result.pose = pose;
    s->system.freeVelocity = by == BY_MOBILITY ? NULL : w->freeVelocity, s->system.mobility = by == BY_MOBILITY ? w->mobility : NULL;
    pcStatus status = by == BY_IMPLICIT ? pcImplicitStep(&implicit, &s->settings, s->h, &result)
                                        : pcSystemStep(&s->system, &s->settings, s->h, &s->result);
    if (status == PC_OK) return status;
    const struct {
        const void* at;
        size_t size;
    } written[] = {{velocity, sizeof velocity},
                   {pose, sizeof pose},
                   {s->rowImpulse, sizeof s->rowImpulse},
                   {s->touch, sizeof s->touch},
                   {w->contact, sizeof w->contact},
                   {&result.report, sizeof result.report},
                   {&s->result.report, sizeof s->result.report}};
    for (size_t i = 0; i < sizeof written / sizeof *written; i++)
        for (size_t k = 0; k < written[i].size; k++)
            if (((const unsigned char*)written[i].at)[k] != 7) PC_FAIL("array %d was written", (int)i), k = written[i].size;
    PC_EXPECT_EQ_INT(0, s->result.contactCount + result.contactCount);
    return status;
}

PC_TEST(StepInput, RefusesEveryNumberThatIsNone)
{
    static const int steps[] = {BY_LCP, BY_IMPLICIT, BY_MOBILITY};
    static const char* const names[] = {"pcSystemStep", "pcImplicitStep", "pcSystemStep with a mobility"};
    static Whole w;
    int tried = 0;
    for (int by = 0; by < 3; by++) {
        PC_CASE("%s", names[by]);
        beginWhole(&w);
        PC_EXPECT_STATUS(PC_OK, tryStep(&w, steps[by]));
        endWhole(&w);
        for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
            for (size_t offset = 0; (parts[p].by & steps[by]) && offset < parts[p].size; offset += sizeof(double)) {
                const Part* part = parts + p;
                for (int kind = 0; kind < 2 && !isAmong(part->skip, offset); kind++) {
                    bool allowed = isAmong(kind ? part->infinite : part->nan, offset);
                    PC_CASE("%s: %s, %s at offset %d", names[by], part->name, kind ? "infinity" : "NaN", (int)offset);
                    beginWhole(&w);
                    memcpy((char*)&w + part->at + offset, kind ? &(double){HUGE_VAL} : &nothing, sizeof(double));
                    PC_EXPECT_TRUE((tryStep(&w, steps[by]) == PC_OK) == allowed);
                    endWhole(&w);
                    tried++;
                }
            }
    }
    PC_EXPECT_GE(tried, 700);
}
