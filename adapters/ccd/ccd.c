/*
 * libccd behind the functions of ccd.h.
 *
 * What decides libccd's speed is the support callback, so it is written as a careful user of libccd would write it. Where scanning ends
 * and climbing begins, the layout of the neighbours and the numbering were chosen by timing libccd; the rest by counting operations:
 *   - a direction is turned into body axes by a rotation matrix made once per query: 9 products per support instead of the 18 of
 *     ccdQuatRotVec, and the same matrix turns the answer back;
 *   - boxes answer by three signs, as in libccd's own examples, and hulls of few vertices by a scan, unless climbing is asked for;
 *   - vertices are numbered breadth first over the graph, so that neighbours share cache lines;
 *   - larger hulls climb over the vertex graph (rows of neighbours in one array) from the vertex that the same body's last support of
 *     this query ended at.
 * Climbing stops only at a vertex that no neighbour beats. On a convex polyhedron that is a support point, also where the direction is
 * normal to a face or an edge and several vertices tie: a vertex that is not extreme has an edge that leads strictly upwards.
 */
#include "adapters/ccd/ccd.h"

#include <ccd/ccd.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(sizeof(ccd_real_t) == sizeof(double), "the reference needs a libccd in double precision");

/* Up to here a scan of all vertices is faster than climbing, measured inside both MPR and EPA. */
enum { SCAN_LIMIT = 40 };

typedef struct Graph {
    int count;
    double* vertex; /* x y z each */
    int* row;       /* neighbours of v: neighbour[row[v]] .. neighbour[row[v + 1]] */
    int* neighbour;
} Graph;

struct pcCcdShape {
    Graph graph;
    int isBox, isRound;
    double half[3]; /* of a box */
    double semi[3]; /* round: semi-axes of the round part, and half the segment that it is moved along */
    double reach;
    double centre[3];
};

/* A body during one query. `start` is where the last support of this body ended. */
typedef struct Placed {
    const pcCcdShape* shape;
    double turn[9]; /* row-major, body axes to world axes */
    double position[3];
    int start;
} Placed;

/* ---- building ---- */

static pcStatus allocateGraph(Graph* g, int count, int edges)
{
    g->count = count;
    g->vertex = malloc(3 * (size_t)count * sizeof *g->vertex);
    g->row = calloc((size_t)count + 1, sizeof *g->row);
    g->neighbour = malloc(2 * (size_t)edges * sizeof *g->neighbour);
    return g->vertex && g->row && g->neighbour ? PC_OK : PC_ERROR_MEMORY;
}

static void freeGraph(Graph* g)
{
    free(g->vertex);
    free(g->row);
    free(g->neighbour);
}

/* Both facets of an edge run through it, in opposite directions: taking each edge of each facet as its ring directs it, every vertex
 * meets each of its neighbours exactly once. A first pass (no `next`) counts into row[v + 1], a second one fills. */
static pcStatus walkFacets(const pcShape* shape, int facets, Graph* g, int* nextOrNull)
{
    for (int f = 0; f < facets; f++) {
        pcFacet facet;
        pcStatus status = pcShapeFacet(shape, f, &facet);
        if (status != PC_OK) return status;
        for (int k = 0; k < facet.count; k++) {
            int from = facet.vertex[k], to = facet.vertex[k + 1 < facet.count ? k + 1 : 0];
            if (nextOrNull)
                g->neighbour[nextOrNull[from]++] = to;
            else
                g->row[from + 1]++;
        }
    }
    return PC_OK;
}

static pcStatus fillGraph(const pcShape* shape, const pcShapeInfo* info, const double* xyz, Graph* g, int* next)
{
    memcpy(g->vertex, xyz, 3 * (size_t)g->count * sizeof *xyz);
    pcStatus status = walkFacets(shape, info->facets, g, NULL);
    if (status != PC_OK) return status;
    for (int v = 0; v < g->count; v++) g->row[v + 1] += g->row[v];
    if (g->row[g->count] != 2 * info->edges) return PC_ERROR_INTERNAL;
    memcpy(next, g->row, (size_t)g->count * sizeof *next);
    return walkFacets(shape, info->facets, g, next);
}

/* order[new] = old and number[old] = new, breadth first from vertex 0: all vertices, since the graph of a polyhedron is connected. */
static void breadthFirst(const Graph* g, int* order, int* number)
{
    for (int v = 0; v < g->count; v++) number[v] = -1;
    int found = 1;
    order[0] = number[0] = 0;
    for (int at = 0; at < found; at++) {
        for (int k = g->row[order[at]]; k < g->row[order[at] + 1]; k++) {
            int to = g->neighbour[k];
            if (number[to] >= 0) continue;
            number[to] = found;
            order[found++] = to;
        }
    }
}

static void renumber(const Graph* old, const int* order, const int* number, Graph* g)
{
    int end = 0;
    for (int v = 0; v < old->count; v++) {
        memcpy(g->vertex + 3 * v, old->vertex + 3 * order[v], 3 * sizeof *g->vertex);
        for (int k = old->row[order[v]]; k < old->row[order[v] + 1]; k++) g->neighbour[end++] = number[old->neighbour[k]];
        g->row[v + 1] = end;
    }
}

static pcStatus buildGraph(const pcShape* shape, const pcShapeInfo* info, Graph* g)
{
    Graph plain = {0};
    int count = 0;
    const double* xyz = pcShapeVertices(shape, &count);
    if (!xyz || count < 4) return PC_ERROR_UNSUPPORTED;
    int* order = malloc(2 * (size_t)count * sizeof *order);
    pcStatus status = order ? allocateGraph(&plain, count, info->edges) : PC_ERROR_MEMORY;
    if (status == PC_OK) status = allocateGraph(g, count, info->edges);
    if (status == PC_OK) status = fillGraph(shape, info, xyz, &plain, order);
    if (status == PC_OK) {
        breadthFirst(&plain, order, order + count);
        renumber(&plain, order, order + count, g);
    }
    freeGraph(&plain);
    free(order);
    return status;
}

pcStatus pcCcdShapeCreate(const pcShape* shape, pcCcdShape** out)
{
    pcShapeInfo info;
    pcStatus status = pcShapeDescribe(shape, &info);
    if (status != PC_OK) return status;
    pcCcdShape* made = calloc(1, sizeof *made);
    if (!made) return PC_ERROR_MEMORY;
    made->isRound =
        info.kind == PC_SHAPE_SPHERE || info.kind == PC_SHAPE_ELLIPSOID || info.kind == PC_SHAPE_CAPSULE || info.kind == PC_SHAPE_CYLINDER;
    memcpy(made->semi, info.semi, sizeof made->semi);
    made->reach = 0.5 * info.length;
    if (!made->isRound) status = buildGraph(shape, &info, &made->graph);
    if (status != PC_OK) {
        pcCcdShapeFree(made);
        return status;
    }
    made->isBox = info.kind == PC_SHAPE_BOX;
    memcpy(made->centre, info.centre, sizeof made->centre);
    for (int k = 0; k < 3 && !made->isRound; k++) made->half[k] = fabs(made->graph.vertex[k]);
    *out = made;
    return PC_OK;
}

void pcCcdShapeFree(pcCcdShape* shape)
{
    if (!shape) return;
    freeGraph(&shape->graph);
    free(shape);
}

pcCcdSettings pcCcdDefaultSettings(void) { return (pcCcdSettings){.epaTolerance = 1e-4, .mprTolerance = 1e-4, .maxIterations = 1000}; }

/* ---- placing and supports ---- */

static Placed place(const pcCcdBody* body, int start)
{
    const double* q = body->pose.quaternion;
    double k = 2 / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    double w = k * q[0], x = k * q[1], y = k * q[2], z = k * q[3];
    Placed p = {.shape = body->shape,
                .turn = {1 - y * q[2] - z * q[3], x * q[2] - w * q[3], x * q[3] + w * q[2], x * q[2] + w * q[3], 1 - x * q[1] - z * q[3],
                         y * q[3] - w * q[1], x * q[3] - w * q[2], y * q[3] + w * q[1], 1 - x * q[1] - y * q[2]},
                .start = start < body->shape->graph.count ? start : 0};
    memcpy(p.position, body->pose.position, sizeof p.position);
    return p;
}

static inline void toBody(const Placed* p, const ccd_vec3_t* dir, double d[3])
{
    const double* m = p->turn;
    const double* v = dir->v;
    d[0] = m[0] * v[0] + m[3] * v[1] + m[6] * v[2];
    d[1] = m[1] * v[0] + m[4] * v[1] + m[7] * v[2];
    d[2] = m[2] * v[0] + m[5] * v[1] + m[8] * v[2];
}

static inline void toWorld(const Placed* p, const double* b, ccd_vec3_t* out)
{
    const double* m = p->turn;
    out->v[0] = p->position[0] + m[0] * b[0] + m[1] * b[1] + m[2] * b[2];
    out->v[1] = p->position[1] + m[3] * b[0] + m[4] * b[1] + m[5] * b[2];
    out->v[2] = p->position[2] + m[6] * b[0] + m[7] * b[1] + m[8] * b[2];
}

static inline double along(const double d[3], const double* p) { return d[0] * p[0] + d[1] * p[1] + d[2] * p[2]; }

static void supportBox(const void* object, const ccd_vec3_t* dir, ccd_vec3_t* out)
{
    const Placed* p = object;
    const double* half = p->shape->half;
    double d[3];
    toBody(p, dir, d);
    double corner[3] = {copysign(half[0], d[0]), copysign(half[1], d[1]), copysign(half[2], d[2])};
    toWorld(p, corner, out);
}

static void supportRound(const void* object, const ccd_vec3_t* dir, ccd_vec3_t* out)
{
    const Placed* p = object;
    const double* a = p->shape->semi;
    double d[3];
    toBody(p, dir, d);
    double ad[3] = {a[0] * d[0], a[1] * d[1], a[2] * d[2]}, size = sqrt(along(ad, ad)), scale = size > 0 ? 1 / size : 0;
    double point[3] = {scale * a[0] * ad[0], scale * a[1] * ad[1], scale * a[2] * ad[2] + copysign(p->shape->reach, d[2])};
    toWorld(p, point, out);
}

static void supportScan(const void* object, const ccd_vec3_t* dir, ccd_vec3_t* out)
{
    const Placed* p = object;
    const double* vertex = p->shape->graph.vertex;
    double d[3];
    toBody(p, dir, d);
    int best = 0;
    double top = along(d, vertex);
    for (int v = 1; v < p->shape->graph.count; v++) {
        double value = along(d, vertex + 3 * v);
        best = value > top ? v : best;
        top = value > top ? value : top;
    }
    toWorld(p, vertex + 3 * best, out);
}

/* Steepest climb; `top` grows strictly, so it ends. Without branches in the inner loop, and without copies of the neighbours' coordinates:
 * both were slower on pairs that the machine had not just seen. */
static int climb(const Graph* g, const double d[3], int at)
{
    double top = along(d, g->vertex + 3 * at);
    for (int from = -1; from != at;) {
        from = at;
        const int* end = g->neighbour + g->row[from + 1];
        for (const int* n = g->neighbour + g->row[from]; n < end; n++) {
            double value = along(d, g->vertex + 3 * *n);
            at = value > top ? *n : at;
            top = value > top ? value : top;
        }
    }
    return at;
}

static void supportClimb(const void* object, const ccd_vec3_t* dir, ccd_vec3_t* out)
{
    /* libccd passes objects as const; this one is a variable of the query that only remembers where to start. */
    Placed* p = (Placed*)object;
    double d[3];
    toBody(p, dir, d);
    p->start = climb(&p->shape->graph, d, p->start);
    toWorld(p, p->shape->graph.vertex + 3 * p->start, out);
}

static void centre(const void* object, ccd_vec3_t* out)
{
    const Placed* p = object;
    toWorld(p, p->shape->centre, out);
}

static ccd_support_fn supportOf(const pcCcdShape* shape, const pcCcdSettings* settings)
{
    if (shape->isRound) return supportRound;
    if (settings->climbOnly) return supportClimb;
    if (shape->isBox) return supportBox;
    return shape->graph.count <= SCAN_LIMIT ? supportScan : supportClimb;
}

/* ---- queries of libccd ---- */

typedef struct Query {
    ccd_t ccd;
    Placed body[2];
} Query;

static void begin(Query* query, const pcCcdBody* body1, const pcCcdBody* body2, const pcCcdSettings* settings, const pcCcdHint* hint)
{
    CCD_INIT(&query->ccd);
    query->ccd.support1 = supportOf(body1->shape, settings);
    query->ccd.support2 = supportOf(body2->shape, settings);
    query->ccd.center1 = centre;
    query->ccd.center2 = centre;
    query->ccd.max_iterations = settings->maxIterations;
    query->ccd.epa_tolerance = settings->epaTolerance;
    query->ccd.mpr_tolerance = settings->mprTolerance;
    query->body[0] = place(body1, hint ? hint->vertex[0] : 0);
    query->body[1] = place(body2, hint ? hint->vertex[1] : 0);
}

static void keep(const Query* query, pcCcdHint* hint)
{
    if (hint) *hint = (pcCcdHint){{query->body[0].start, query->body[1].start}};
}

typedef int PenetrationFn(const void*, const void*, const ccd_t*, ccd_real_t*, ccd_vec3_t*, ccd_vec3_t*);

/* libccd leaves depth, direction and position unwritten for a touching contact: they start as zero. */
static pcCcdAnswer penetration(PenetrationFn* solve, Query* query, pcCcdContact* contact)
{
    ccd_real_t depth = 0;
    ccd_vec3_t dir = {{0, 0, 0}}, position = {{0, 0, 0}};
    int result = solve(&query->body[0], &query->body[1], &query->ccd, &depth, &dir, &position);
    if (result != 0) return result == -1 ? PC_CCD_APART : PC_CCD_FAILED;
    contact->depth = depth;
    memcpy(contact->normal, dir.v, sizeof contact->normal);
    memcpy(contact->position, position.v, sizeof contact->position);
    return PC_CCD_PENETRATING;
}

pcCcdAnswer pcCcdMpr(const pcCcdBody* body1, const pcCcdBody* body2, const pcCcdSettings* settings, pcCcdHint* hintOrNull,
                     pcCcdContact* contact)
{
    Query query;
    begin(&query, body1, body2, settings, hintOrNull);
    pcCcdAnswer answer = penetration(ccdMPRPenetration, &query, contact);
    keep(&query, hintOrNull);
    return answer;
}

pcCcdAnswer pcCcdMprIntersect(const pcCcdBody* body1, const pcCcdBody* body2, const pcCcdSettings* settings)
{
    Query query;
    begin(&query, body1, body2, settings, NULL);
    return ccdMPRIntersect(&query.body[0], &query.body[1], &query.ccd) ? PC_CCD_PENETRATING : PC_CCD_APART;
}

pcCcdAnswer pcCcdDepth(const pcCcdBody* body1, const pcCcdBody* body2, const pcCcdSettings* settings, pcCcdHint* hintOrNull,
                       pcCcdContact* contact)
{
    Query query;
    begin(&query, body1, body2, settings, hintOrNull);
    pcCcdAnswer answer = penetration(ccdGJKPenetration, &query, contact);
    keep(&query, hintOrNull);
    return answer;
}

/* The point of W = P1 - P2 that is extreme along dir. */
static ccd_vec3_t extreme(Query* query, const ccd_vec3_t* dir)
{
    ccd_vec3_t p1, p2, back;
    ccdVec3Copy(&back, dir);
    ccdVec3Scale(&back, -1);
    query->ccd.support1(&query->body[0], dir, &p1);
    query->ccd.support2(&query->body[1], &back, &p2);
    ccdVec3Sub(&p1, &p2);
    return p1;
}

double pcCcdWidth(const pcCcdBody* body1, const pcCcdBody* body2, const double normal[3])
{
    pcCcdSettings settings = pcCcdDefaultSettings();
    Query query;
    begin(&query, body1, body2, &settings, NULL);
    ccd_vec3_t n = {{normal[0], normal[1], normal[2]}};
    ccd_vec3_t w = extreme(&query, &n);
    return ccdVec3Dot(&w, &n);
}

/* ---- distance ----
 *
 * libccd 2.1 exports no distance of two bodies, only the distances of a point to a segment and to a triangle: GJK is put together from
 * these. v is the point nearest to the origin of a triangle with corners in W; w is the extreme point of W along -v. Always
 *     v.w / |v| <= distance <= |v|,
 * so the answer needs no trust in how the triangle was chosen. While the bodies are apart the point of a tetrahedron nearest to the
 * origin lies on one of its faces, so three corners are all that has to be kept.
 */
typedef struct Triangle {
    ccd_vec3_t corner[3];
    ccd_vec3_t nearest;
    double distance2;
} Triangle;

static Triangle triangleOf(const ccd_vec3_t* a, const ccd_vec3_t* b, const ccd_vec3_t* c)
{
    Triangle t = {.corner = {*a, *b, *c}};
    ccd_vec3_t onEdge;
    t.distance2 = ccdVec3PointTriDist2(ccd_vec3_origin, a, b, c, &t.nearest);
    /* The formula for the inside is blind for needles, and equal corners give NaN: the edges are tried as well, NaN always loses. */
    for (int k = 0; k < 3; k++) {
        double d2 = ccdVec3PointSegmentDist2(ccd_vec3_origin, &t.corner[k], &t.corner[(k + 1) % 3], &onEdge);
        if (d2 < t.distance2 || isnan(t.distance2)) {
            t.distance2 = d2;
            t.nearest = onEdge;
        }
    }
    return t;
}

static Triangle nearestFace(const Triangle* t, const ccd_vec3_t* w)
{
    Triangle best = triangleOf(&t->corner[0], &t->corner[1], w);
    for (int k = 1; k < 3; k++) {
        Triangle face = triangleOf(&t->corner[k], &t->corner[(k + 1) % 3], w);
        if (face.distance2 < best.distance2 || isnan(best.distance2)) best = face;
    }
    return best;
}

static Triangle firstTriangle(Query* query)
{
    ccd_vec3_t dir, c1, c2;
    centre(&query->body[0], &c1);
    centre(&query->body[1], &c2);
    ccdVec3Sub2(&dir, &c2, &c1);
    ccd_vec3_t w = extreme(query, &dir);
    return (Triangle){.corner = {w, w, w}, .nearest = w, .distance2 = ccdVec3Len2(&w)};
}

pcCcdAnswer pcCcdDistance(const pcCcdBody* body1, const pcCcdBody* body2, pcCcdGap* out)
{
    enum { LIMIT = 300 };
    pcCcdSettings settings = pcCcdDefaultSettings();
    Query query;
    begin(&query, body1, body2, &settings, NULL);
    Triangle t = firstTriangle(&query);
    pcCcdGap gap = {.lower = 0, .upper = sqrt(t.distance2)};
    for (; gap.iterations < LIMIT && gap.upper - gap.lower > 1e-12 * gap.upper; gap.iterations++) {
        ccd_vec3_t dir = t.nearest;
        ccdVec3Scale(&dir, -1 / sqrt(t.distance2));
        ccd_vec3_t w = extreme(&query, &dir);
        gap.lower = fmax(gap.lower, -ccdVec3Dot(&w, &dir));
        t = nearestFace(&t, &w);
        if (!(sqrt(t.distance2) < gap.upper)) break;
        gap.upper = sqrt(t.distance2);
    }
    if (!(gap.lower > 0)) return PC_CCD_PENETRATING;
    *out = gap;
    return PC_CCD_APART;
}
