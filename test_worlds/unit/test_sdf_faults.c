/* World files for which memory is refused, block by block: a clear answer, nothing kept, and never another world than the file's. */
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/sdf/stage.h"
#include "test_worlds/unit/counting.h"
#include "test_worlds/unit/refusals.h"

static char file[600];
static pcScene* whole; /* what is read when nothing is refused */

static void requireSame(const pcScene* scene)
{
    PC_EXPECT_EQ_INT(whole->links, scene->links);
    PC_EXPECT_EQ_INT(whole->collisions, scene->collisions);
    PC_EXPECT_EQ_INT(whole->joints, scene->joints);
    if (whole->links != scene->links || whole->collisions != scene->collisions || whole->joints != scene->joints) return;
    for (int i = 0; i < whole->links; i++) {
        const pcSceneLink *a = whole->link + i, *b = scene->link + i;
        bool same =
            strcmp(a->name, b->name) == 0 && a->fixed == b->fixed && a->mass == b->mass && memcmp(&a->pose, &b->pose, sizeof a->pose) == 0;
        PC_EXPECT_TRUE(same);
    }
    for (int i = 0; i < whole->collisions; i++) {
        const pcSceneCollision *a = whole->collision + i, *b = scene->collision + i;
        bool same = a->link == b->link && a->shape.kind == b->shape.kind && a->shape.pieces == b->shape.pieces;
        PC_EXPECT_TRUE(same && memcmp(&a->pose, &b->pose, sizeof a->pose) == 0);
    }
    for (int i = 0; i < whole->joints; i++) {
        const pcSceneJoint *a = whole->joint + i, *b = scene->joint + i;
        PC_EXPECT_TRUE(a->kind == b->kind && a->parent == b->parent && a->child == b->child);
    }
    PC_EXPECT_TRUE(whole->physics.step == scene->physics.step);
}

static bool readScene(void)
{
    pcScene* scene = NULL;
    bool well = pcWentWell(pcSceneRead(file, &scene));
    if (!well) PC_EXPECT_TRUE(scene == NULL);
    if (well && whole) requireSame(scene);
    if (well) pcSceneFree(scene);
    return well;
}

static bool makeStage(void)
{
    pcStage* stage = NULL;
    bool well = pcWentWell(pcStageMake(whole, &stage));
    if (well) pcStageFree(stage);
    return well;
}

/* Frames, all joints, surfaces, meshes. */
static const char* const worlds[] = {"fuzz/seeds/frames.world", "fuzz/seeds/joints.world", "papers/hand.world", "papers/setup6.world"};
enum { WORLDS = sizeof worlds / sizeof *worlds };

static void refuseIn(bool (*run)(void), int least)
{
    if (!COUNTS_ALLOCATIONS) PC_SKIP("the allocator belongs to a sanitizer or to another C library");
    for (int i = 0; i < WORLDS; i++) {
        snprintf(file, sizeof file, "%s/%s", PCONTACT_TEST_WORLDS, worlds[i]);
        PC_ASSERT_STATUS(PC_OK, pcSceneRead(file, &whole));
        pcRefuseAll(run, least);
        pcSceneFree(whole), whole = NULL;
    }
}

PC_TEST(SdfFaults, WorldsWithoutMemoryAreRefusedAndLeaveNothing) { refuseIn(readScene, 10); }

PC_TEST(SdfFaults, StagesWithoutMemoryAreRefusedAndLeaveNothing) { refuseIn(makeStage, 3); }
