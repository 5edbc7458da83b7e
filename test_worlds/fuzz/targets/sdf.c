/* A world file: refused with its line, or read to numbers that are numbers, and small worlds step. */
#include "adapters/sdf/stage.h"

#include "test_worlds/fuzz/targets/target.h"

static bool allFinite(const double* x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i])) return false;
    return true;
}

static void requireScene(const pcScene* scene)
{
    for (int i = 0; i < scene->links; i++) {
        const pcSceneLink* link = scene->link + i;
        REQUIRE(link->name && allFinite(link->pose.position, 3) && allFinite(link->pose.quaternion, 4), "link %d", i);
        REQUIRE(link->fixed || link->mass > 0.0, "link %d weighs %g", i, link->mass);
    }
    for (int i = 0; i < scene->collisions; i++) {
        const pcSceneCollision* c = scene->collision + i;
        REQUIRE(c->link >= 0 && c->link < scene->links && allFinite(c->pose.position, 3), "collision %d", i);
    }
    for (int i = 0; i < scene->joints; i++) {
        const pcSceneJoint* j = scene->joint + i;
        REQUIRE(j->child >= PC_SCENE_WORLD && j->child < scene->links && j->parent >= PC_SCENE_WORLD && j->parent < scene->links,
                "joint %d", i);
    }
    REQUIRE(scene->physics.step > 0.0 && isfinite(scene->physics.step), "step %g", scene->physics.step);
}

/* Neither files that a world names nor large worlds. */
static bool isSmall(const pcScene* scene) { return scene->links <= 4 && scene->collisions <= 4; }

static void requireSteps(const pcScene* scene)
{
    pcStage* stage;
    pcStatus status = pcStageMake(scene, &stage);
    if (status != PC_OK) {
        requireRefusal(status);
        return;
    }
    pcSettings settings = stage->settings;
    settings.report[0] = settings.dump[0] = 0, settings.threads = 1;
    if (pcStageAttach(stage, &settings) == PC_OK)
        for (int i = 0; i < 2; i++) pcStageStep(stage, stage->step);
    pcStageFree(stage);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    pcScene* scene = NULL;
    pcStatus status = pcSceneRead(writeFile("input.world", data, size), &scene);
    if (status != PC_OK) {
        requireRefusal(status);
        REQUIRE(strstr(pcLastError(), ".world:") && !scene, "'%s' names no line", pcLastError());
        return 0;
    }
    requireScene(scene);
    if (isSmall(scene)) requireSteps(scene);
    pcSceneFree(scene);
    return 0;
}
