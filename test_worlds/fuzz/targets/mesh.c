/* A mesh file, OBJ or STL by its first byte: refused with a sentence, or read to pieces whose points are numbers and bound a volume. */
#include "adapters/sdf/scene.h"

#include "pcontact/shape.h"
#include "test_worlds/fuzz/targets/target.h"

static const char world[] = "<sdf version='1.6'><model name='m'><static>1</static><link name='l'><collision name='c'>"
                            "<geometry><mesh><uri>%s</uri>%s</mesh></geometry></collision></link></model></sdf>";

/* `hulls`: once more from the points, which takes as long as all of the reading. */
static void requirePieces(const pcSceneShape* shape, bool hulls)
{
    REQUIRE(shape->kind == PC_SCENE_HULLS && shape->pieces > 0, "%d pieces", shape->pieces);
    for (int i = 0; i < shape->pieces; i++) {
        pcShape* hull = NULL;
        const pcScenePoints* piece = shape->piece + i;
        for (int k = 0; k < 3 * piece->count; k++) REQUIRE(isfinite(piece->xyz[k]), "point %d of piece %d", k / 3, i);
        REQUIRE(piece->count >= 4, "%d points of piece %d", piece->count, i);
        if (!hulls) continue;
        REQUIRE(pcShapeFromPoints(piece->xyz, piece->count, NULL, &hull) == PC_OK, "piece %d: %s", i, pcLastError());
        pcShapeFree(hull);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const name[2] = {"input.obj", "input.stl"};
    char text[600];
    if (size == 0) return 0;
    unsigned kind = data[0];
    writeFile(name[kind & 1], data + 1, size - 1);
    snprintf(text, sizeof text, world, name[kind & 1], kind & 2 ? "<pcontact><pieces>1</pieces></pcontact>" : "");
    pcScene* scene = NULL;
    pcStatus status = pcSceneRead(writeFile("input.world", (const uint8_t*)text, strlen(text)), &scene);
    if (status != PC_OK) {
        requireRefusal(status);
        return 0;
    }
    REQUIRE(scene->collisions == 1, "%d collisions", scene->collisions);
    requirePieces(&scene->collision[0].shape, isChosen(data, size));
    pcSceneFree(scene);
    return 0;
}
