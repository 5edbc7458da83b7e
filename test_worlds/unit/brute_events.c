/* Events by exhaustion: see brute_events.h. Written for being obviously right, not for speed. */
#include "test_worlds/unit/brute_events.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- vectors ---- */

BV bvOf(const double* p) { return (BV){p[0], p[1], p[2]}; }
BV bvAdd(BV a, BV b) { return (BV){a.x + b.x, a.y + b.y, a.z + b.z}; }
BV bvSub(BV a, BV b) { return (BV){a.x - b.x, a.y - b.y, a.z - b.z}; }
BV bvScale(long double s, BV a) { return (BV){s * a.x, s * a.y, s * a.z}; }
BV bvCross(BV a, BV b) { return (BV){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x}; }
long double bvDot(BV a, BV b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
long double bvNorm(BV a) { return sqrtl(bvDot(a, a)); }

/* ---- random numbers, shapes, poses ---- */

double bruteUniform(unsigned long long* state)
{
    unsigned long long z = (*state += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

double bruteBetween(unsigned long long* state, double low, double high) { return low + (high - low) * bruteUniform(state); }

void bruteDirection(unsigned long long* state, int n, double* out)
{
    double square = 0;
    for (int i = 0; i < n; i++) {
        out[i] = sqrt(-2 * log(bruteUniform(state))) * cos(6.283185307179586 * bruteUniform(state));
        square += out[i] * out[i];
    }
    for (int i = 0; i < n; i++) out[i] /= sqrt(square);
}

pcShape* bruteBox(double x, double y, double z)
{
    pcShape* shape = NULL;
    return pcShapeBox((double[3]){x, y, z}, &shape) == PC_OK ? shape : NULL;
}

static pcShape* hullAbout(const double* xyz, int count, const double* centre)
{
    pcShape* shape = NULL;
    return pcShapeFromPoints(xyz, count, centre, &shape) == PC_OK ? shape : NULL;
}

pcShape* brutePrism(int corners, double radius, double height)
{
    double* xyz = malloc(6 * (size_t)corners * sizeof *xyz);
    for (int i = 0; i < 2 * corners; i++) {
        long double angle = 2 * acosl(-1) * (i % corners) / corners;
        xyz[3 * i] = radius * (double)cosl(angle), xyz[3 * i + 1] = radius * (double)sinl(angle);
        xyz[3 * i + 2] = i < corners ? -0.5 * height : 0.5 * height;
    }
    pcShape* shape = hullAbout(xyz, 2 * corners, (double[3]){0, 0, 0});
    free(xyz);
    return shape;
}

pcShape* bruteBlock(const double size[3], const double at[3], const double centre[3])
{
    double xyz[24];
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) xyz[3 * i + k] = at[k] + ((i >> k & 1) ? 0.5 : -0.5) * size[k];
    return hullAbout(xyz, 8, centre);
}

/* The centre is a random mean of the points, with every point at least a little in it. */
pcShape* bruteHull(unsigned long long* state, int points)
{
    double xyz[3 * BRUTE_MOST], centre[3] = {0, 0, 0}, at[3], total = 0;
    for (int k = 0; k < 3; k++) at[k] = bruteBetween(state, -0.5, 0.5);
    for (int i = 0; i < points; i++) {
        double weight = bruteBetween(state, 0.5, 1.5);
        bruteDirection(state, 3, xyz + 3 * i);
        total += weight;
        for (int k = 0; k < 3; k++) {
            xyz[3 * i + k] = at[k] + 0.5 * bruteBetween(state, 0.8, 1.2) * xyz[3 * i + k];
            centre[k] += weight * xyz[3 * i + k];
        }
    }
    for (int k = 0; k < 3; k++) centre[k] /= total;
    return hullAbout(xyz, points, centre);
}

pcShape* brutePyramid(int sides, double radius, double height, bool both)
{
    double xyz[3 * (BRUTE_MOST + 2)], up = both ? height : 0;
    for (int i = 0; i < sides; i++) {
        double angle = 6.283185307179586 * i / sides;
        xyz[3 * i] = radius * cos(angle), xyz[3 * i + 1] = radius * sin(angle), xyz[3 * i + 2] = 0;
    }
    memcpy(xyz + 3 * sides, (double[6]){0, 0, -height, 0, 0, up}, 6 * sizeof *xyz);
    return hullAbout(xyz, sides + (both ? 2 : 1), NULL);
}

pcPose brutePose(double x, double y, double z, const double axis[3], double angle)
{
    pcPose pose = {{x, y, z}, {1, 0, 0, 0}};
    return bruteTurned(&pose, axis, angle);
}

pcPose bruteTurned(const pcPose* pose, const double axis[3], double angle)
{
    const double* q = pose->quaternion;
    double c = cos(0.5 * angle), s = sin(0.5 * angle), p[4] = {c, s * axis[0], s * axis[1], s * axis[2]};
    pcPose out = *pose;
    out.quaternion[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    out.quaternion[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    out.quaternion[2] = p[0] * q[2] + p[2] * q[0] + p[3] * q[1] - p[1] * q[3];
    out.quaternion[3] = p[0] * q[3] + p[3] * q[0] + p[1] * q[2] - p[2] * q[1];
    return out;
}

pcEventSettings bruteSettings(double margin)
{
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = margin;
    return settings;
}

double bruteDistance(const double* a, const double* b) { return (double)bvNorm(bvSub(bvOf(a), bvOf(b))); }

/* ---- bodies in the world ---- */

BV brutePlace(const pcPose* pose, const double* local)
{
    const double* q = pose->quaternion;
    BV u = bvOf(q + 1), v = bvOf(local);
    long double w = q[0], square = w * w + bvDot(u, u);
    BV once = bvCross(u, v), turned = bvAdd(v, bvScale(2 / square, bvAdd(bvScale(w, once), bvCross(u, once))));
    return bvAdd(bvOf(pose->position), turned);
}

/* The normal of a ring of corners, by the sum of its fan: right also where three corners lie on a line. */
static BV ringNormal(const BruteBody* b, const pcFacet* facet)
{
    BV sum = {0, 0, 0}, from = b->vertex[facet->vertex[0]];
    for (int i = 1; i + 1 < facet->count; i++)
        sum = bvAdd(sum, bvCross(bvSub(b->vertex[facet->vertex[i]], from), bvSub(b->vertex[facet->vertex[i + 1]], from)));
    return bvScale(1 / bvNorm(sum), sum);
}

static void addFacet(BruteBody* b, int index, const pcFacet* facet)
{
    b->normal[index] = ringNormal(b, facet);
    b->offset[index] = bvDot(b->normal[index], bvSub(b->vertex[facet->vertex[0]], b->centre));
    for (int i = 0; i < facet->count; i++) {
        int from = facet->vertex[i], to = facet->vertex[(i + 1) % facet->count];
        b->facetsOfVertex[from][b->facetCount[from]++] = index;
        if (index < facet->neighbour[i]) b->edge[b->edges++] = (BruteEdge){{from, to}, {index, facet->neighbour[i]}};
    }
}

bool bruteBody(const pcShape* shape, const pcPose* pose, bool scales, BruteBody* out)
{
    pcShapeInfo info;
    if (!shape || pcShapeDescribe(shape, &info) != PC_OK || info.vertices > BRUTE_MOST || info.facets > BRUTE_MOST) return false;
    *out = (BruteBody){.vertices = info.vertices, .facets = info.facets, .scales = scales};
    int count;
    const double* xyz = pcShapeVertices(shape, &count);
    out->centre = brutePlace(pose, info.centre);
    for (int i = 0; i < info.vertices; i++) out->vertex[i] = brutePlace(pose, xyz + 3 * i);
    for (int i = 0; i < info.facets; i++) {
        pcFacet facet;
        if (pcShapeFacet(shape, i, &facet) != PC_OK) return false;
        addFacet(out, i, &facet);
    }
    return true;
}

long double bruteOutside(const BruteBody* body, BV x)
{
    long double most = -HUGE_VALL;
    for (int k = 0; k < body->facets; k++) most = fmaxl(most, bvDot(body->normal[k], bvSub(x, body->centre)) - body->offset[k]);
    return most;
}

/* ---- events ---- */

/* m z = d by elimination with full row exchange; false where the pivots say that it has no solution worth having. */
static bool solve4(long double m[4][4], long double d[4], long double z[4])
{
    for (int i = 0; i < 4; i++) {
        int pivot = i;
        for (int k = i + 1; k < 4; k++)
            if (fabsl(m[k][i]) > fabsl(m[pivot][i])) pivot = k;
        if (!(fabsl(m[pivot][i]) > 1e-12L)) return false;
        for (int j = 0; j < 4; j++) {
            long double swap = m[i][j];
            m[i][j] = m[pivot][j], m[pivot][j] = swap;
        }
        long double swap = d[i];
        d[i] = d[pivot], d[pivot] = swap;
        for (int k = i + 1; k < 4; k++) {
            long double f = m[k][i] / m[i][i];
            for (int j = i; j < 4; j++) m[k][j] -= f * m[i][j];
            d[k] -= f * d[i];
        }
    }
    for (int i = 3; i >= 0; i--) {
        z[i] = d[i];
        for (int j = i + 1; j < 4; j++) z[i] -= m[i][j] * z[j];
        z[i] /= m[i][i];
    }
    return true;
}

typedef struct Rows {
    int body[4], facet[4];
} Rows;

static bool solveRows(const BruteBody* body[2], const Rows* rows, BV* x, long double* t)
{
    long double m[4][4], d[4], z[4];
    for (int i = 0; i < 4; i++) {
        const BruteBody* b = body[rows->body[i]];
        BV a = b->normal[rows->facet[i]];
        long double offset = b->offset[rows->facet[i]], row[4] = {a.x, a.y, a.z, b->scales ? -offset : 0};
        memcpy(m[i], row, sizeof row);
        d[i] = bvDot(a, b->centre) + (b->scales ? 0 : offset);
    }
    if (!solve4(m, d, z)) return false;
    *x = (BV){z[0], z[1], z[2]}, *t = z[3];
    return true;
}

static bool solveMultipliers(const BruteBody* body[2], const Rows* rows, long double y[4])
{
    long double m[4][4], d[4] = {0, 0, 0, 1};
    for (int i = 0; i < 4; i++) {
        const BruteBody* b = body[rows->body[i]];
        BV a = b->normal[rows->facet[i]];
        m[0][i] = a.x, m[1][i] = a.y, m[2][i] = a.z, m[3][i] = b->scales ? b->offset[rows->facet[i]] : 0;
    }
    return solve4(m, d, y);
}

static BV forceOf(const BruteBody* body[2], const Rows* rows, const long double y[4])
{
    BV g = {0, 0, 0};
    for (int i = 0; i < 4; i++)
        if (rows->body[i] == 0) g = bvAdd(g, bvScale(y[i], body[0]->normal[rows->facet[i]]));
    return g;
}

/* By how much the scaled body is left, in T's measure where b = 1. */
static long double leavesBody(const BruteBody* b, BV x, long double t)
{
    long double most = -HUGE_VALL, factor = b->scales ? t : 1;
    for (int k = 0; k < b->facets; k++) most = fmaxl(most, bvDot(b->normal[k], bvSub(x, b->centre)) / b->offset[k] - factor);
    return most;
}

/* The normal separates the two bodies as they are, shifted together: then the four rows are an optimal basis of the LP. Asked of the
 * vertices, because of the facets at a corner of many only some triples have multipliers >= 0. */
static bool separates(const BruteBody* body[2], const BruteEvent* e)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < body[i]->vertices; k++)
            if ((i == 0 ? 1 : -1) * bvDot(e->n, bvSub(body[i]->vertex[k], e->point[i])) > 1e-13L) return false;
    return true;
}

static bool makeEvent(const BruteBody* body[2], const Rows* rows, long double slack, BruteEvent* e)
{
    long double y[4];
    if (!solveRows(body, rows, &e->x, &e->t) || !(e->t > 0) || !solveMultipliers(body, rows, y)) return false;
    /* The row that stands alone must push: else the corner leaves through that face as the bodies grow. */
    if (e->kind != PC_EDGE_EDGE && !(y[3] > 0)) return false;
    BV g = forceOf(body, rows, y);
    e->D = 1 / bvNorm(g), e->n = bvScale(e->D, g);
    for (int i = 0; i < 2; i++)
        e->point[i] = body[i]->scales ? bvAdd(body[i]->centre, bvScale(1 / e->t, bvSub(e->x, body[i]->centre))) : e->x;
    e->gap = bvDot(e->n, bvSub(e->point[1], e->point[0]));
    e->optimal = separates(body, e);
    e->leaves = fmaxl(leavesBody(body[0], e->x, e->t), leavesBody(body[1], e->x, e->t));
    return e->leaves <= slack;
}

static long double triple(const BruteBody* b, int i, int j, int k)
{
    return fabsl(bvDot(b->normal[i], bvCross(b->normal[j], b->normal[k])));
}

/* The three facets at a corner that span best: a corner of many facets is one event (T 3.11). */
static void bestTriple(const BruteBody* b, int vertex, int out[3])
{
    const int* f = b->facetsOfVertex[vertex];
    long double best = -1;
    for (int i = 0; i < b->facetCount[vertex]; i++)
        for (int j = i + 1; j < b->facetCount[vertex]; j++)
            for (int k = j + 1; k < b->facetCount[vertex]; k++)
                if (triple(b, f[i], f[j], f[k]) > best) {
                    best = triple(b, f[i], f[j], f[k]);
                    out[0] = f[i], out[1] = f[j], out[2] = f[k];
                }
}

typedef struct List {
    BruteEvent* event;
    int count, most;
} List;

static void add(List* list, const BruteEvent* e)
{
    if (list->count < list->most) list->event[list->count] = *e;
    list->count++;
}

static void addCorners(const BruteBody* body[2], int side, long double slack, List* list)
{
    for (int vertex = 0; vertex < body[side]->vertices; vertex++) {
        Rows rows = {{side, side, side, 1 - side}, {0, 0, 0, 0}};
        bestTriple(body[side], vertex, rows.facet);
        for (int facet = 0; facet < body[1 - side]->facets; facet++) {
            BruteEvent e = {.kind = side == 0 ? PC_CORNER_FACE : PC_FACE_CORNER};
            e.feature[side] = vertex, e.feature[1 - side] = rows.facet[3] = facet;
            if (makeEvent(body, &rows, slack, &e)) add(list, &e);
        }
    }
}

static void addEdges(const BruteBody* body[2], long double slack, List* list)
{
    for (int i = 0; i < body[0]->edges; i++)
        for (int j = 0; j < body[1]->edges; j++) {
            const int *f = body[0]->edge[i].facet, *g = body[1]->edge[j].facet;
            Rows rows = {{0, 0, 1, 1}, {f[0], f[1], g[0], g[1]}};
            BruteEvent e = {.kind = PC_EDGE_EDGE, .feature = {i, j}};
            if (makeEvent(body, &rows, slack, &e)) add(list, &e);
        }
}

/* The pair's normal is that of the least optimal event: there the four rows are the LP's own. */
static const BruteEvent* leastOptimal(const List* list)
{
    const BruteEvent* best = NULL;
    for (int i = 0; i < list->count; i++)
        if (list->event[i].optimal && (!best || list->event[i].t < best->t)) best = list->event + i;
    return best;
}

int bruteEvents(const BruteBody* one, const BruteBody* two, long double slack, BruteEvent* out, int most)
{
    const BruteBody* body[2] = {one, two};
    List list = {out, 0, most};
    addCorners(body, 0, slack, &list);
    addCorners(body, 1, slack, &list);
    addEdges(body, slack, &list);
    if (list.count > most) return -1;
    const BruteEvent* least = leastOptimal(&list);
    if (!least) return 0;
    BV n = least->n;
    for (int i = 0; i < list.count; i++) {
        out[i].apart = bvDot(n, bvSub(out[i].point[1], out[i].point[0]));
        out[i].facing = bvDot(n, out[i].n);
    }
    return list.count;
}

/* g.(x2 - x1), less what a body that does not scale adds (method, section 1). */
static long double component(const BruteBody* body[2], const Rows* rows)
{
    long double y[4];
    if (!solveMultipliers(body, rows, y)) return -HUGE_VALL;
    long double value = bvDot(forceOf(body, rows, y), bvSub(body[1]->centre, body[0]->centre));
    for (int i = 0; i < 4; i++) {
        if (!(y[i] >= 0)) return -HUGE_VALL;
        const BruteBody* b = body[rows->body[i]];
        if (!b->scales) value -= y[i] * b->offset[rows->facet[i]];
    }
    return value;
}

long double bruteComponents(const BruteBody* one, const BruteBody* two)
{
    const BruteBody* body[2] = {one, two};
    int total = one->facets + two->facets;
    long double best = -HUGE_VALL;
    for (int i = 0; i < total; i++)
        for (int j = i + 1; j < total; j++)
            for (int k = j + 1; k < total; k++)
                for (int l = k + 1; l < total; l++) {
                    int row[4] = {i, j, k, l};
                    Rows rows;
                    for (int q = 0; q < 4; q++)
                        rows.body[q] = row[q] >= one->facets, rows.facet[q] = row[q] - (rows.body[q] ? one->facets : 0);
                    best = fmaxl(best, component(body, &rows));
                }
    return best;
}

/* ---- polygons ---- */

static long double side(BP a, BP b, BP p) { return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x); }

static void put(BrutePolygon* p, BP c)
{
    if (p->count < BRUTE_CORNERS) p->corner[p->count++] = c;
}

static void clipByEdge(const BrutePolygon* in, BP a, BP b, BrutePolygon* out)
{
    out->count = 0;
    for (int i = 0; i < in->count; i++) {
        BP p = in->corner[i], q = in->corner[(i + 1) % in->count];
        long double u = side(a, b, p), v = side(a, b, q);
        if (u >= 0) put(out, p);
        if ((u > 0 && v < 0) || (u < 0 && v > 0)) put(out, (BP){p.x + u / (u - v) * (q.x - p.x), p.y + u / (u - v) * (q.y - p.y)});
    }
}

static void mergeCorners(BrutePolygon* p, long double merge)
{
    int kept = 0;
    for (int i = 0; i < p->count; i++) {
        bool same = false;
        for (int j = 0; j < kept && !same; j++) same = hypotl(p->corner[i].x - p->corner[j].x, p->corner[i].y - p->corner[j].y) < merge;
        if (!same) p->corner[kept++] = p->corner[i];
    }
    p->count = kept;
}

void bruteClip(const BrutePolygon* a, const BrutePolygon* b, long double merge, BrutePolygon* out)
{
    static BrutePolygon work[2];
    int now = 0;
    work[0] = *a;
    for (int i = 0; i < b->count; i++, now = 1 - now) clipByEdge(work + now, b->corner[i], b->corner[(i + 1) % b->count], work + 1 - now);
    *out = work[now];
    mergeCorners(out, merge);
}

long double bruteArea(const BrutePolygon* p)
{
    long double twice = 0;
    for (int i = 0; i < p->count; i++) twice += side((BP){0, 0}, p->corner[i], p->corner[(i + 1) % p->count]);
    return twice / 2;
}

long double bruteSticksOut(const BrutePolygon* p, int i)
{
    BP before = p->corner[(i + p->count - 1) % p->count], here = p->corner[i], after = p->corner[(i + 1) % p->count];
    long double chord = hypotl(after.x - before.x, after.y - before.y);
    return chord > 0 ? fabsl(side(before, after, here)) / chord : hypotl(here.x - before.x, here.y - before.y);
}
