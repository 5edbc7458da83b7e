#include "adapters/sdf/hull.h"

#include <string.h>

#include "pcontact/shape.h"

void pcSdfHull(pcSdfReader* r, const xmlNode* node, pcScenePoints* points)
{
    pcShape* shape = NULL;
    int count = 0;
    if (r->status != PC_OK) return;
    pcStatus status = pcShapeFromPoints(points->xyz, points->count, NULL, &shape);
    if (status == PC_ERROR_MEMORY) pcSdfOutOfMemory(r);
    if (status != PC_OK) {
        pcSdfFail(r, node, "<%s> makes no convex body: %s", node->name, pcLastError());
        return;
    }
    const double* vertex = pcShapeVertices(shape, &count);
    double* kept = pcSdfKeep(r, 3 * (size_t)count * sizeof *kept);
    if (kept) {
        memcpy(kept, vertex, 3 * (size_t)count * sizeof *kept);
        *points = (pcScenePoints){count, kept};
    }
    pcShapeFree(shape);
}
