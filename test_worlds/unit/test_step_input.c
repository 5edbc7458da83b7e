/* Input that a step refuses: the status, the sentence, and that nothing was written. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
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
