/* <geometry>: what a collision is made of. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "adapters/sdf/hull.h"

static const double SMALLEST = 1e-9, LARGEST = 1e9; /* lengths; smaller counts as nothing */

/* A length: not negative, not astronomical; *empty if it is nothing. */
static void checkLength(pcSdfReader* r, const xmlNode* node, double length, bool* empty)
{
    if (length < 0.0) pcSdfFail(r, node, "<%s> has the negative length %g", node->name, length);
    if (length > LARGEST) pcSdfFail(r, node, "<%s> has the length %g: beyond %g nothing is computed", node->name, length, LARGEST);
    *empty |= length < SMALLEST;
}

static void readLengths(pcSdfReader* r, const xmlNode* node, const char* const* names, double* size, bool* empty)
{
    for (int i = 0; names[i]; i++) {
        const xmlNode* child = pcSdfChild(node, names[i]);
        if (!child) pcSdfFail(r, node, "<%s> needs a <%s>", node->name, names[i]);
        size[i] = pcSdfNumber(r, node, names[i], 1.0);
        checkLength(r, child ? child : node, size[i], empty);
    }
}

static void readTriple(pcSdfReader* r, const xmlNode* node, const char* name, double size[3], bool* empty)
{
    const xmlNode* child = pcSdfChild(node, name);
    if (!child) pcSdfFail(r, node, "<%s> needs a <%s>", node->name, name);
    size[0] = size[1] = size[2] = 1.0;
    pcSdfVector(r, node, name, size);
    for (int k = 0; k < 3; k++) checkLength(r, child ? child : node, size[k], empty);
}

static void readBox(pcSdfReader* r, const xmlNode* node, pcSceneShape* out, bool* empty)
{
    out->kind = PC_SCENE_BOX;
    readTriple(r, node, "size", out->size, empty);
}

static void readSphere(pcSdfReader* r, const xmlNode* node, pcSceneShape* out, bool* empty)
{
    static const char* const names[] = {"radius", NULL};
    out->kind = PC_SCENE_SPHERE;
    readLengths(r, node, names, out->size, empty);
}

static void readCylinder(pcSdfReader* r, const xmlNode* node, pcSceneShape* out, bool* empty)
{
    static const char* const names[] = {"radius", "length", NULL};
    out->kind = PC_SCENE_CYLINDER;
    readLengths(r, node, names, out->size, empty);
}

static void readCapsule(pcSdfReader* r, const xmlNode* node, pcSceneShape* out, bool* empty)
{
    readCylinder(r, node, out, empty);
    out->kind = PC_SCENE_CAPSULE;
}

static void readEllipsoid(pcSdfReader* r, const xmlNode* node, pcSceneShape* out, bool* empty)
{
    out->kind = PC_SCENE_ELLIPSOID;
    readTriple(r, node, "radii", out->size, empty);
}

static void readPlane(pcSdfReader* r, const xmlNode* node, pcSceneShape* out, bool* empty)
{
    (void)empty;
    const xmlNode* normal = pcSdfChild(node, "normal");
    out->kind = PC_SCENE_PLANE;
    out->normal[0] = out->normal[1] = 0.0, out->normal[2] = 1.0;
    if (normal) pcSdfDirection(r, normal, out->normal);
}

static void readMesh(pcSdfReader* r, const xmlNode* node, pcSceneShape* out, bool* empty)
{
    out->kind = PC_SCENE_HULLS;
    pcSdfMesh(r, node, out);
    *empty |= out->pieces == 0;
}

/* ---- polylines ---- */

static double turn(const double* a, const double* b, const double* c)
{
    return (b[0] - a[0]) * (c[1] - b[1]) - (b[1] - a[1]) * (c[0] - b[0]);
}

/* Its corners all turn the same way. */
static bool isConvex(const double (*xy)[2], int count)
{
    bool left = false, right = false;
    for (int i = 0; i < count; i++) {
        double t = turn(xy[i], xy[(i + 1) % count], xy[(i + 2) % count]);
        left |= t > 0.0, right |= t < 0.0;
    }
    return !(left && right);
}

static int countOf(const xmlNode* node, const char* name)
{
    int count = 0;
    for (const xmlNode* child = pcSdfChild(node, name); child; child = pcSdfNext(child)) count++;
    return count;
}

/* The points of one polyline, at the bottom and at the top. */
static pcScenePoints prismOf(pcSdfReader* r, const xmlNode* node)
{
    int count = countOf(node, "point"), at = 0;
    double height = pcSdfNumber(r, node, "height", 1.0);
    pcScenePoints out = {.count = 2 * count, .xyz = pcSdfKeep(r, 6 * (size_t)count * sizeof(double) + 1)};
    double(*xy)[2] = pcSdfKeep(r, 2 * (size_t)count * sizeof(double) + 1);
    if (count < 3) pcSdfFail(r, node, "<polyline> needs at least 3 points");
    if (!(height > 0.0)) pcSdfFail(r, node, "<polyline> needs a <height> > 0");
    for (const xmlNode* child = pcSdfChild(node, "point"); child && r->status == PC_OK; child = pcSdfNext(child), at++) {
        pcSdfNumbers(r, child, xy[at], 2);
        for (int k = 0; k < 2; k++) out.xyz[6 * at + k] = out.xyz[6 * at + 3 + k] = xy[at][k];
        out.xyz[6 * at + 5] = height;
    }
    if (r->status == PC_OK && !isConvex((const double(*)[2])xy, count))
        pcSdfNoted(r, "polyline that is not convex, taken as its convex hull");
    pcSdfHull(r, node, &out);
    return out;
}

static void readPolylines(pcSdfReader* r, const xmlNode* geometry, pcSceneShape* out)
{
    int count = countOf(geometry, "polyline");
    out->kind = PC_SCENE_HULLS;
    out->piece = pcSdfKeep(r, (size_t)count * sizeof *out->piece);
    for (const xmlNode* node = pcSdfChild(geometry, "polyline"); node && r->status == PC_OK; node = pcSdfNext(node))
        out->piece[out->pieces++] = prismOf(r, node);
}

/* ---- all of them ---- */

typedef void ReadShape(pcSdfReader*, const xmlNode*, pcSceneShape*, bool*);

void pcSdfGeometry(pcSdfReader* r, const xmlNode* geometry, pcSceneShape* out, bool* empty)
{
    static const struct {
        const char* name;
        ReadShape* read;
    } table[] = {{"box", readBox},         {"sphere", readSphere},       {"cylinder", readCylinder}, {"plane", readPlane},
                 {"capsule", readCapsule}, {"ellipsoid", readEllipsoid}, {"mesh", readMesh}};
    *out = (pcSceneShape){.pieces = 0};
    *empty = false;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const xmlNode* node = pcSdfChild(geometry, table[i].name);
        if (!node) continue;
        table[i].read(r, node, out, empty);
        return;
    }
    if (pcSdfChild(geometry, "polyline")) {
        readPolylines(r, geometry, out);
        return;
    }
    const xmlNode* first = pcSdfFirst(geometry);
    *empty = true;
    if (first && !pcSdfIs(first, "empty")) pcSdfNoted(r, pcSdfJoin(r, "collision of geometry ", "", (const char*)first->name));
}
