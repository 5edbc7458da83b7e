/* Shape builders: what is accepted bounds what it was made of, and says consistent things of itself; what is refused is untouched. */
#include "pcontact/shape.h"

#include <float.h>

#include "test_worlds/fuzz/targets/target.h"

enum { POINTS = 24 };

typedef struct Input {
    int count;
    double number[4 * POINTS];
    double size; /* largest |number|, at least the smallest that counts */
    bool finite;
} Input;

static Input takeInput(Bytes* b, int most, int width)
{
    Input in = {.count = 1 + takeBelow(b, most), .finite = true};
    bool tame = takeBelow(b, 4) > 0;
    for (int i = 0; i < width * in.count; i++) {
        double x = in.number[i] = tame ? takeGrid(b) : takeNumber(b);
        in.finite &= isfinite(x) != 0;
        in.size = fmax(in.size, fabs(x));
    }
    return in;
}

static bool near3(const double* a, const double* b, double within)
{
    return fabs(a[0] - b[0]) <= within && fabs(a[1] - b[1]) <= within && fabs(a[2] - b[2]) <= within;
}

static double above(const double plane[4], const double* x) { return plane[0] * x[0] + plane[1] * x[1] + plane[2] * x[2] - plane[3]; }

/* ---- what every shape says of itself ---- */

static pcShapeInfo requireDescription(const pcShape* shape)
{
    pcShapeInfo info;
    REQUIRE(pcShapeDescribe(shape, &info) == PC_OK, "%s", pcLastError());
    REQUIRE(info.bytes > 0, "no bytes");
    if (info.kind == PC_SHAPE_MESH) return info;
    REQUIRE(info.inradius > 0.0 && info.inradius <= info.outradius * (1.0 + 1e-12), "radii %g and %g", info.inradius, info.outradius);
    REQUIRE(isfinite(info.centre[0] + info.centre[1] + info.centre[2]), "centre %g %g %g", info.centre[0], info.centre[1], info.centre[2]);
    if (info.kind == PC_SHAPE_SUPPORT || info.kind == PC_SHAPE_HALFSPACE || info.kind == PC_SHAPE_CONTAINER) return info;
    REQUIRE(info.volume > 0.0 || info.inradius < 1e-100, "volume %g", info.volume);
    return info;
}

/* Facets: unit normals, rings of distinct corners that lie in them, neighbours that name each other; all vertices below. V - E + F = 2. */
static void requirePolyhedron(const pcShape* shape, const pcShapeInfo* info)
{
    int count, corners = 0;
    const double* vertex = pcShapeVertices(shape, &count);
    double reach = info->outradius + hypot(hypot(info->centre[0], info->centre[1]), info->centre[2]);
    double slack =
        1e-9 * info->outradius + 16.0 * DBL_EPSILON * reach; /* coordinates are rounded: of a small body far away, by much of it */
    REQUIRE(count == info->vertices && info->vertices - info->edges + info->facets == 2, "%d %d %d", info->vertices, info->edges,
            info->facets);
    for (int i = 0; i < info->facets; i++) {
        pcFacet f;
        REQUIRE(pcShapeFacet(shape, i, &f) == PC_OK && f.count >= 3, "facet %d", i);
        corners += f.count;
        REQUIRE(fabs(hypot(hypot(f.plane[0], f.plane[1]), f.plane[2]) - 1.0) < 1e-12, "normal of facet %d", i);
        for (int k = 0; k < f.count; k++) {
            REQUIRE(f.vertex[k] >= 0 && f.vertex[k] < count && f.neighbour[k] >= 0 && f.neighbour[k] < info->facets, "facet %d", i);
            REQUIRE(fabs(above(f.plane, vertex + 3 * f.vertex[k])) <= slack, "corner %d of facet %d", k, i);
        }
        for (int k = 0; k < count; k++) REQUIRE(above(f.plane, vertex + 3 * k) <= slack, "vertex %d above facet %d", k, i);
        REQUIRE(-above(f.plane, info->centre) >= info->inradius - slack, "centre nearer than the inradius to facet %d", i);
    }
    REQUIRE(corners == 2 * info->edges, "%d corners, %d edges", corners, info->edges);
}

/* ---- builders ---- */

static pcShape* const untouched = (pcShape*)(uintptr_t)16;

static pcShape* requireMade(pcStatus status, pcShape* shape)
{
    if (status == PC_OK) return shape;
    requireRefusal(status);
    REQUIRE(shape == untouched, "a refused shape was written");
    return NULL;
}

static pcShape* fromPoints(Bytes* b)
{
    pcShape* shape = untouched;
    Input in = takeInput(b, POINTS, 3);
    if (!requireMade(pcShapeFromPoints(in.number, in.count, NULL, &shape), shape)) return NULL;
    int count, facets;
    const double* vertex = pcShapeVertices(shape, &count);
    pcShapeInfo info = requireDescription(shape);
    facets = info.facets;
    REQUIRE(in.finite, "points that are not finite");
    for (int i = 0; i < count; i++) {
        bool known = false;
        for (int k = 0; k < in.count; k++) known |= near3(vertex + 3 * i, in.number + 3 * k, 0.0);
        REQUIRE(known, "vertex %d is no point", i);
    }
    for (int i = 0; i < facets; i++)
        for (int k = 0; k < in.count; k++) {
            pcFacet f;
            REQUIRE(pcShapeFacet(shape, i, &f) == PC_OK && above(f.plane, in.number + 3 * k) <= 1e-9 * in.size, "point %d above facet %d",
                    k, i);
        }
    return shape;
}

static pcShape* fromPlanes(Bytes* b)
{
    pcShape* shape = untouched;
    Input in = takeInput(b, POINTS, 4);
    if (!requireMade(pcShapeFromPlanes(in.number, in.count, NULL, &shape), shape)) return NULL;
    int count;
    const double* vertex = pcShapeVertices(shape, &count);
    pcShapeInfo info = requireDescription(shape);
    REQUIRE(in.finite, "planes that are not finite");
    double reach = info.outradius + hypot(hypot(info.centre[0], info.centre[1]), info.centre[2]);
    for (int i = 0; i < in.count; i++) {
        const double* given = in.number + 4 * i;
        double largest = fmax(fabs(given[0]), fmax(fabs(given[1]), fabs(given[2]))), plane[4]; /* so that products stay finite */
        for (int k = 0; k < 4; k++) plane[k] = given[k] / largest;
        double length = hypot(hypot(plane[0], plane[1]), plane[2]);
        for (int k = 0; k < 4; k++) plane[k] /= length;
        for (int k = 0; k < count; k++)
            REQUIRE(above(plane, vertex + 3 * k) <= 1.1e-7 * reach, "vertex %d above plane %d by %g", k, i, above(plane, vertex + 3 * k));
    }
    return shape;
}

static void supportOfBall(const void* context, const double direction[3], double point[3])
{
    for (int k = 0; k < 3; k++) point[k] = *(const double*)context * direction[k];
}

static pcShape* fromNumbers(Bytes* b, int kind)
{
    pcShape* shape = untouched;
    static double radius; /* what a support function looks at lives longer than its shape */
    double n[4];
    for (int k = 0; k < 4; k++) n[k] = takeNumber(b);
    pcStatus status = PC_OK;
    switch (kind) {
    case 0: status = pcShapeBox(n, &shape); break;
    case 1: status = pcShapeSphere(n[0], &shape); break;
    case 2: status = pcShapeEllipsoid(n, &shape); break;
    case 3: status = pcShapeCapsule(n[0], n[1], &shape); break;
    case 4: status = pcShapeCylinder(n[0], n[1], &shape); break;
    case 5: status = pcShapeHalfSpace(n, &shape); break;
    case 6: status = pcShapeContainer(n[0], &shape); break;
    default:
        radius = n[0];
        status = pcShapeSupport(&(pcSupportDef){supportOfBall, &radius, {0, 0, 0}, n[1], n[2]}, &shape);
        REQUIRE(status != PC_OK || (n[1] <= radius * (1 + 1e-9) && radius <= n[2] * (1 + 1e-9)), "ball of %g in %g, %g", radius, n[1],
                n[2]);
    }
    for (int k = 0; k < 3 && status == PC_OK && kind == 0; k++) REQUIRE(isfinite(n[k]) && n[k] > 0.0, "edge %g", n[k]);
    return requireMade(status, shape);
}

static pcShape* fromTriangles(Bytes* b)
{
    pcShape* shape = untouched;
    int index[3 * POINTS], triangles = 1 + takeBelow(b, POINTS);
    Input in = takeInput(b, 12, 3);
    bool known = in.finite;
    for (int i = 0; i < 3 * triangles; i++)
        index[i] = takeBelow(b, 13) - (takeBelow(b, 64) == 63), known &= index[i] >= 0 && index[i] < in.count;
    pcStatus status = pcShapeMesh(in.number, in.count, index, triangles, &shape);
    REQUIRE(known || status != PC_OK, "a mesh of points that there are not");
    return requireMade(status, shape);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    Bytes b = {data, size};
    int kind = takeBelow(&b, 16);
    pcShape* shape = kind < 4 ? fromPoints(&b) : kind < 7 ? fromPlanes(&b) : kind == 7 ? fromTriangles(&b) : fromNumbers(&b, kind - 8);
    if (!shape) return 0;
    pcShapeInfo info = requireDescription(shape);
    if (info.kind == PC_SHAPE_POLYHEDRON || info.kind == PC_SHAPE_BOX) requirePolyhedron(shape, &info);
    REQUIRE(pcShapeShare(shape) == shape, "another shape");
    pcShapeFree(shape);
    pcShapeFree(shape);
    return 0;
}
