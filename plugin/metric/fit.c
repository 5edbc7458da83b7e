/* Where two features of round bodies meet: see round.h for the equations. */
#include "metric/round.h"

#define STEP_LIMIT 60
/* Fewer for a support function: far from the answer its differences mislead. */
#define ASKED_STEPS 8
/* A step that does not help when it is this much shorter helps no more: a kink. */
#define HALVINGS 8
/* A step below this fraction of n is the last one: the next would be its square. */
static const double LAST_STEP = 1e-10;
/* Of n: a longer step of two ellipsoids is not taken without looking back, and after a shorter one nothing is left. */
static const double SMOOTH = 0.3, NEAR = 1e-8;
#define APPROACHES 6
/* Of the lengths that rho is a difference of: rounding. */
static const double ROUNDING = 8.0 * PC_ROUND;
/* Curvature across n below this fraction of the larger one names no direction. */
static const double FLAT = 1e-22;
/* Below this the main directions are looked for. */
static const double LOPSIDED = 1e-4;
/* Sine of two edges that are parallel. */
static const double PARALLEL = 1e-9;
/* Of a unit direction: step of the differences that stand for the curvature of a support function. */
static const double DIFFERENCE = 1e-5;

/* One side: the core point, and the round part where n touches it. */
typedef struct Side {
    const pcShape* shape;
    int index;
    v3 w;        /* core point in the frame */
    v3 p;        /* w and the round part */
    v3 m;        /* A n / |A n| in the body's axes */
    double size; /* |A n| */
    v3 Au[2];    /* of the directions that n may move along, in the body's axes */
} Side;

typedef struct State {
    const pcFrame* f;
    pcMeasure measure;
    Side side[2];
    int edges;
    v3 edge[2];
    int owner[2]; /* side of each edge */
    v3 n;
    v3 u[2]; /* directions that n may move along */
    bool placed;
    double value, D, f1, f2;
    v3 rho;
} State;

/* ---- at one direction ---- */

PC_INLINE void touch(const pcFrame* f, Side* s, v3 n)
{
    const pcShape* shape = s->shape;
    double sign = s->index == 0 ? 1.0 : -1.0;
    if (shape->kind == PC_SHAPE_SUPPORT) {
        s->p = pcFrameTip(f, s->index, n).k;
        return;
    }
    v3 An = v3Times(shape->semi, pcFrameLocal(f, s->index, n));
    s->size = v3Norm(An), s->p = s->w;
    if (!(s->size > 0.0)) return;
    s->m = v3Scale(1.0 / s->size, An);
    s->p = v3AddScaled(s->w, sign, pcFramePlaced(f, s->index, v3Times(shape->semi, s->m)));
}

/* The value at n; false where these features do not come together along it. */
PC_INLINE bool evaluate(State* s, v3 n)
{
    s->n = n;
    touch(s->f, s->side, n);
    touch(s->f, s->side + 1, n);
    v3 p1 = s->side[0].p, p2 = s->side[1].p, c = s->f->c;
    double h1 = v3Dot(n, p1), h2 = -v3Dot(n, p2), over = v3Dot(n, c) - (s->measure == PC_TWO_SIDED ? 0.0 : h2);
    s->D = s->measure == PC_TWO_SIDED ? h1 + h2 : h1;
    s->value = s->measure == PC_LENGTH ? over - h1 : over / s->D;
    s->f1 = s->measure == PC_LENGTH ? 1.0 : s->value, s->f2 = s->measure == PC_TWO_SIDED ? s->value : 1.0;
    s->rho = v3Add(v3AddScaled(c, -s->f1, p1), v3Scale(s->f2, p2));
    return s->measure == PC_LENGTH || (s->D > 0.0 && s->value > 0.0);
}

/* Curvature of one side between the two directions (the same twice in one dimension): H00, H01, H11. Since m is unit,
 * Au.Av - (Au.m)(Av.m) = (Au x m).(Av x m), which loses nothing where the body is thin. */
PC_INLINE void curvature(const Side* s, double factor, double H[3])
{
    v3 a = v3Cross(s->Au[0], s->m), b = v3Cross(s->Au[1], s->m);
    double scale = factor / s->size;
    H[0] += scale * v3Dot(a, a), H[1] += scale * v3Dot(a, b), H[2] += scale * v3Dot(b, b);
}

static void curvatureAsked(const State* state, const Side* s, double factor, double H[3])
{
    const v3* u = state->u;
    double step = DIFFERENCE * v3Norm(state->n), scale = 0.5 * factor / step, sign = s->index == 0 ? 1.0 : -1.0;
    v3 change[2];
    for (int i = 0; i < 2; i++) {
        v3 up = pcFrameTip(state->f, s->index, v3AddScaled(state->n, step, u[i])).k;
        v3 down = pcFrameTip(state->f, s->index, v3AddScaled(state->n, -step, u[i])).k;
        change[i] = v3Scale(sign * scale, v3Sub(up, down));
    }
    H[0] += v3Dot(u[0], change[0]), H[2] += v3Dot(u[1], change[1]);
    H[1] += 0.5 * (v3Dot(u[0], change[1]) + v3Dot(u[1], change[0]));
}

/* f1 H1 + f2 H2, and s for the length. */
PC_INLINE void addCurvatures(const State* s, double H[3])
{
    double factor[2] = {s->f1, s->f2};
    H[0] = H[2] = s->measure == PC_LENGTH ? s->value : 0.0, H[1] = 0.0;
    for (int i = 0; i < 2; i++) {
        if (s->side[i].shape->kind == PC_SHAPE_SUPPORT)
            curvatureAsked(s, s->side + i, factor[i], H);
        else if (s->side[i].size > 0.0)
            curvature(s->side + i, factor[i], H);
    }
}

/* ---- Newton's method ---- */

PC_INLINE void placeDirections(State* s)
{
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 2; k++) s->side[i].Au[k] = v3Times(s->side[i].shape->semi, pcFrameLocal(s->f, i, s->u[k]));
}

/* Without an edge those across z = c (two-sided) or c + p2: then n.z stays as it is, and the step does not depend on how the bodies are
 * stretched. Two-sided they stay the same. */
PC_INLINE void findDirections(State* s)
{
    if (s->placed) return;
    if (s->edges > 0) {
        v3 across = v3Cross(s->n, s->edge[0]);
        s->u[0] = s->u[1] = v3Scale(1.0 / v3Norm(across), across);
    } else {
        v3 z = s->measure == PC_LENGTH ? s->n : s->measure == PC_TWO_SIDED ? s->f->c : v3Add(s->f->c, s->side[1].p);
        v3Complete(v3Scale(1.0 / v3Norm(z), z), s->u, s->u + 1);
    }
    placeDirections(s);
    s->placed = s->edges == 0 && s->measure == PC_TWO_SIDED;
}

/* To the main directions of H, so that the small curvature is not the difference of large numbers. */
static void turnApart(const double H[3], v3 u[2])
{
    double angle = 0.5 * atan2(2.0 * H[1], H[0] - H[2]), cosine = cos(angle), sine = sin(angle);
    v3 first = v3AddScaled(v3Scale(cosine, u[0]), sine, u[1]), second = v3AddScaled(v3Scale(cosine, u[1]), -sine, u[0]);
    u[0] = first, u[1] = second;
}

PC_INLINE bool step(State* s, v3* out)
{
    double H[3];
    findDirections(s);
    addCurvatures(s, H);
    if (s->edges > 0) {
        *out = v3Scale(v3Dot(s->u[0], s->rho) / H[0], s->u[0]);
        return H[0] > 0.0;
    }
    double det = H[0] * H[2] - H[1] * H[1], trace = H[0] + H[2];
    if (det < LOPSIDED * trace * trace) {
        turnApart(H, s->u);
        placeDirections(s);
        addCurvatures(s, H);
        det = H[0] * H[2] - H[1] * H[1];
    }
    double a = v3Dot(s->u[0], s->rho), b = v3Dot(s->u[1], s->rho), perDet = 1.0 / det;
    *out = v3AddScaled(v3Scale((H[2] * a - H[1] * b) * perDet, s->u[0]), (H[0] * b - H[1] * a) * perDet, s->u[1]);
    return trace > 0.0 && det > FLAT * trace * trace;
}

PC_INLINE bool isZero(const State* s)
{
    double along = s->measure == PC_LENGTH ? s->value : 0.0;
    v3 rest = v3AddScaled(s->rho, -along, s->n);
    for (int i = 0; i < s->edges; i++) rest = v3AddScaled(rest, -v3Dot(rest, s->edge[i]) / v3Dot(s->edge[i], s->edge[i]), s->edge[i]);
    double scale = v3Size(s->f->c) + s->f1 * v3Size(s->side[0].p) + s->f2 * v3Size(s->side[1].p);
    return v3Max(rest) <= ROUNDING * scale;
}

static v3 unit(v3 n) { return v3Scale(1.0 / v3Norm(n), n); }

/* Of the value: of a thin body n.c and the reach are small beside the lengths that they are made of. */
PC_INLINE double noiseOf(const State* s)
{
    double lengths = v3Size(s->f->c) + s->f1 * v3Size(s->side[0].p) + s->f2 * v3Size(s->side[1].p);
    return 4.0 * PC_ROUND * lengths * v3Size(s->n) / (s->measure == PC_LENGTH ? 1.0 : s->D);
}

/* The value grows with every step: quasi-concave in n, it leads to the one maximum. */
PC_INLINE bool climb(State* s)
{
    bool asked = s->side[0].shape->kind == PC_SHAPE_SUPPORT || s->side[1].shape->kind == PC_SHAPE_SUPPORT;
    for (int i = 0; i < (asked ? ASKED_STEPS : STEP_LIMIT); i++) {
        v3 from = s->n, d;
        double before = s->value, size = v3Norm(from);
        if (isZero(s)) return true;
        if (!step(s, &d)) return false;
        double length = v3Norm(d) / size;
        if (length > 1.0) d = v3Scale(1.0 / length, d);
        bool last = length <= LAST_STEP, better = false;
        for (int halvings = 0; !better && halvings < HALVINGS; halvings++, d = v3Scale(0.5, d)) {
            v3 to = v3Add(from, d);
            better = evaluate(s, s->measure == PC_LENGTH || s->edges > 0 ? unit(to) : to);
            better = better && s->value >= before - noiseOf(s);
            if (last) return better || evaluate(s, from);
        }
        if (!better) return evaluate(s, from);
    }
    return true;
}

/* The last step, too small for n to show it, moves the points all the same: of a thin body by much more. p1 by H1 d, p2 by -H2 d. */
PC_INLINE void relax(State* s)
{
    v3 d;
    bool asked = s->side[0].shape->kind == PC_SHAPE_SUPPORT || s->side[1].shape->kind == PC_SHAPE_SUPPORT;
    if (asked || s->edges == 2 || !step(s, &d) || !(v3Norm(d) <= LAST_STEP * v3Norm(s->n))) return;
    for (int i = 0; i < 2; i++) {
        Side* side = s->side + i;
        if (!(side->size > 0.0)) continue;
        v3 Ad = v3Times(side->shape->semi, pcFrameLocal(s->f, i, d)), across = v3AddScaled(Ad, -v3Dot(Ad, side->m), side->m);
        v3 move = pcFramePlaced(s->f, i, v3Times(side->shape->semi, across));
        side->p = v3AddScaled(side->p, (i == 0 ? 1.0 : -1.0) / side->size, move);
    }
    s->rho = v3Add(v3AddScaled(s->f->c, -s->f1, s->side[0].p), v3Scale(s->f2, s->side[1].p));
}

/* ---- two ellipsoids ---- */

/* Newton's method as above, two-sided, with M = A A in place of A: a third of the work, and half of the digits where a body is thin. Where
 * it runs smoothly it brings n to the answer, and the method above has only to see that it is there. */
typedef struct Ellipsoid {
    v3 row[3];         /* of M, in the frame */
    double uu, uv, vv; /* of M, across c */
    v3 p;
    double size; /* |A n| */
} Ellipsoid;

PC_INLINE void ellipsoidOf(const pcFrame* f, int side, const v3 u[2], Ellipsoid* out)
{
    v3 semi = pcFrameShape(f, side)->semi, A[3] = {{semi.x, 0.0, 0.0}, {0.0, semi.y, 0.0}, {0.0, 0.0, semi.z}};
    v3 Au = v3Times(semi, pcFrameLocal(f, side, u[0])), Av = v3Times(semi, pcFrameLocal(f, side, u[1]));
    if (side == 1)
        for (int i = 0; i < 3; i++) A[i] = v3Times(semi, v3OfLanes(f->R.row[i]));
    for (int i = 0; i < 3; i++) out->row[i] = v3Make(v3Dot(A[i], A[0]), v3Dot(A[i], A[1]), v3Dot(A[i], A[2]));
    out->uu = v3Dot(Au, Au), out->uv = v3Dot(Au, Av), out->vv = v3Dot(Av, Av);
}

PC_INLINE void touchEllipsoid(Ellipsoid* e, v3 n)
{
    v3 Mn = v3Make(v3Dot(e->row[0], n), v3Dot(e->row[1], n), v3Dot(e->row[2], n));
    e->size = sqrt(v3Dot(n, Mn));
    e->p = v3Scale(1.0 / e->size, Mn);
}

/* f H of one body, between u and v. */
PC_INLINE void addEllipsoid(const Ellipsoid* e, const v3 u[2], double f, double H[3])
{
    double a = v3Dot(u[0], e->p), b = v3Dot(u[1], e->p), scale = f / e->size;
    H[0] += scale * (e->uu - a * a), H[1] += scale * (e->uv - a * b), H[2] += scale * (e->vv - b * b);
}

/* By itself: inlined it would take the registers of all other pairs. */
__attribute__((noinline)) static v3 approach(const pcFrame* f, v3 start)
{
    Ellipsoid e[2];
    v3 u[2], n = start;
    v3Complete(v3Scale(1.0 / v3Norm(f->c), f->c), u, u + 1);
    ellipsoidOf(f, 0, u, e), ellipsoidOf(f, 1, u, e + 1);
    for (int i = 0; i < APPROACHES; i++) {
        double H[3] = {0.0, 0.0, 0.0};
        touchEllipsoid(e, n), touchEllipsoid(e + 1, n);
        double t = v3Dot(n, f->c) / (e[0].size + e[1].size);
        v3 sum = v3Add(e[0].p, e[1].p);
        addEllipsoid(e, u, t, H), addEllipsoid(e + 1, u, t, H);
        double a = -t * v3Dot(u[0], sum), b = -t * v3Dot(u[1], sum), perDet = 1.0 / (H[0] * H[2] - H[1] * H[1]);
        double x = (H[2] * a - H[1] * b) * perDet, y = (H[0] * b - H[1] * a) * perDet, square = x * x + y * y, size = v3Dot(n, n);
        if (!(t > 0.0 && perDet > 0.0 && square <= SMOOTH * SMOOTH * size)) return start;
        n = v3AddScaled(v3AddScaled(n, x, u[0]), y, u[1]);
        if (square <= NEAR * NEAR * size) return n;
    }
    return start;
}

/* ---- features ---- */

PC_INLINE void addEdge(State* s, int side, v3 edge)
{
    if (s->edges == 2) return;
    s->edge[s->edges] = edge, s->owner[s->edges++] = side;
}

PC_INLINE void place(State* s, int side, const pcFeature* feature)
{
    const pcShape* shape = pcFrameShape(s->f, side);
    v3 first = pcFramePlaced(s->f, side, pcShapeK(shape, feature->vertex[0]));
    s->side[side].shape = shape, s->side[side].index = side, s->side[side].w = first, s->side[side].size = 0.0;
    for (int i = 1; i < feature->count; i++) addEdge(s, side, v3Sub(pcFramePlaced(s->f, side, pcShapeK(shape, feature->vertex[i])), first));
}

/* The normal of the cap, from body 1 to body 2. */
static v3 capNormal(const pcFrame* f, int side, const pcFeature* feature)
{
    double out = feature->vertex[0] == 1 ? 1.0 : -1.0;
    return pcFramePlaced(f, side, v3Make(0.0, 0.0, side == 0 ? out : -out));
}

/* The direction that the edges leave: across both, or across the one from `start`. Nearly parallel ones count as one. */
PC_INLINE bool startAcross(State* s, v3 start, v3* n)
{
    *n = start;
    if (s->edges == 2) {
        v3 cross = v3Cross(s->edge[0], s->edge[1]);
        double size = v3Norm(cross);
        if (!(size > PARALLEL * v3Norm(s->edge[0]) * v3Norm(s->edge[1]))) {
            s->edges = 1;
        } else {
            *n = v3Scale((v3Dot(cross, start) < 0.0 ? -1.0 : 1.0) / size, cross);
            return true;
        }
    }
    if (s->edges == 1) {
        v3 e = s->edge[0];
        *n = v3AddScaled(start, -v3Dot(start, e) / v3Dot(e, e), e);
    }
    double size = v3Norm(*n);
    *n = v3Scale(1.0 / size, *n);
    return size > 0.0;
}

/* ---- where on the features ---- */

/* rho = sum a_i edge_i + rest, in the plane across n. */
PC_INLINE v3 alongEdges(const State* s, v3 rho, double a[2])
{
    v3 e = s->edge[0], g = s->edge[1];
    if (s->edges == 0) return rho;
    if (s->edges == 1) {
        a[0] = v3Dot(rho, e) / v3Dot(e, e);
        return v3AddScaled(rho, -a[0], e);
    }
    v3 cross = v3Cross(e, g);
    double perSquare = 1.0 / v3Dot(cross, cross);
    a[0] = v3Dot(v3Cross(rho, g), cross) * perSquare, a[1] = v3Dot(v3Cross(e, rho), cross) * perSquare;
    return v3AddScaled(v3AddScaled(rho, -a[0], e), -a[1], g);
}

/* Straight over its cap the rim of a cylinder is no function of n any more: a step too small for n to show it takes the point off the disc. */
static double offTheDisc(const State* s, int side, v3 point)
{
    const pcShape* shape = pcFrameShape(s->f, side);
    if (shape->kind != PC_SHAPE_CYLINDER) return 0.0;
    v3 local = pcFrameLocal(s->f, side, point);
    double off = hypot(local.x, local.y) - shape->radius;
    return off > 16.0 * PC_ROUND * shape->radius ? off : 0.0;
}

/* Moves the points along their edges until rho is gone, and measures how far that takes them past an end. */
PC_INLINE void settle(const State* s, pcFit* out)
{
    double along = s->measure == PC_LENGTH ? s->value : 0.0, a[2] = {0.0, 0.0}, factor[2] = {s->f1, -s->f2}, sum[2] = {0.0, 0.0};
    v3 rest = alongEdges(s, v3AddScaled(s->rho, -along, s->n), a), *point[2] = {&out->p1, &out->p2};
    out->rest = v3Norm(rest), out->outside = 0.0;
    for (int i = 0; i < s->edges; i++) {
        int side = s->owner[i];
        double weight = a[i] / factor[side], length = v3Norm(s->edge[i]);
        *point[side] = v3AddScaled(*point[side], weight, s->edge[i]);
        sum[side] += weight;
        out->outside = larger(out->outside, larger(-weight, sum[side] - 1.0) * length);
    }
    out->outside = larger(out->outside, larger(offTheDisc(s, 0, out->p1), offTheDisc(s, 1, out->p2)));
}

/* A cap takes up all of rho: the other body's point is its own, if it lies on the disc. */
static void settleOnCap(const State* s, int side, pcFit* out)
{
    double along = s->measure == PC_LENGTH ? s->value : 0.0;
    v3 rho = v3AddScaled(s->rho, -along, s->n);
    rho = v3AddScaled(rho, -v3Dot(rho, s->n), s->n);
    v3* point = side == 0 ? &out->p1 : &out->p2;
    *point = v3AddScaled(*point, side == 0 ? 1.0 / s->f1 : -1.0 / s->f2, rho);
    v3 local = pcFrameLocal(s->f, side, *point);
    out->rest = 0.0, out->outside = larger(0.0, hypot(local.x, local.y) - s->side[side].shape->radius);
}

PC_INLINE void writeFit(const State* s, pcFit* out)
{
    double size = v3Norm(s->n);
    out->n = v3Scale(1.0 / size, s->n), out->value = s->value, out->D = s->measure == PC_LENGTH ? 1.0 : s->D / size;
    out->p1 = s->side[0].p, out->p2 = s->side[1].p;
}

/* Straight over a cap its round part is the whole disc, of which the centre stands for all: |A n| is 0 but for rounding. */
static bool fitCap(State* s, int side, v3 n, pcFit* out)
{
    Side* capped = s->side + side;
    capped->shape = pcFrameShape(s->f, side);
    if (!evaluate(s, n)) return false;
    v3 off = v3Sub(capped->p, capped->w);
    s->rho = v3AddScaled(s->rho, side == 0 ? s->f1 : -s->f2, off);
    capped->p = capped->w;
    writeFit(s, out);
    settleOnCap(s, side, out);
    return true;
}

PC_SIMD bool pcFitFeatures(const pcFrame* f, pcMeasure measure, const pcFeature* a, const pcFeature* b, v3 start, pcFit* out)
{
    State s; /* filled as far as it is used: clearing all of it would take a tenth of the time */
    v3 n;
    s.f = f, s.measure = measure, s.edges = 0, s.placed = false;
    place(&s, 0, a);
    place(&s, 1, b);
    if (a->cap || b->cap) return fitCap(&s, a->cap ? 0 : 1, a->cap ? capNormal(f, 0, a) : capNormal(f, 1, b), out);
    if (!startAcross(&s, start, &n)) return false;
    if (measure == PC_TWO_SIDED && pcIsQuadric(f->shape1) && pcIsQuadric(f->shape2)) n = approach(f, n);
    if (!evaluate(&s, n)) return false;
    if (s.edges < 2 && !climb(&s)) return false;
    if (!isZero(&s)) relax(&s);
    writeFit(&s, out);
    settle(&s, out);
    return true;
}
