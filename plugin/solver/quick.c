/*
 * A guess of which contacts press and slide, then the linear equations that hold if it is right, and again with what their solution shows.
 *
 *     w       a row's own velocity per impulse;  e = EPS w
 *     sweep   per cone: c := c - u / w, put back into its cone; v follows
 *     piece   of a cone, by c - u / w (Alart and Curnier):      c' =
 *             open       c_n - u_n / w <= 0                     0
 *             sticks     c_g - u_g / w inside its set           c - u'/e
 *             at a bound, a corner d, an end of a row           c_n' d
 *             a row of softness s, within its bounds            (e c - u') / (e + s)
 *             on a side  with middle m and direction t          c_n' m + t (t.c_g - t.u_g'/e)
 *             slides     (disc) along d = (c_g - u_g / w) / |.| c_n' d, and its turning by first order
 *     step    c' = a - G u',  M (v' - f) = J'c':      (M + J'G J) dv = J'(a - G u) - M (v - f)
 *
 * e keeps redundant rows solvable and is undone from step to step: c - u'/e moves until u' is 0. Sweeps find which contacts press and
 * slide long before they find how much: few are enough for boxes at rest, sliding or pushed. Nothing here is certain to end well: a few
 * steps that do not are given up, and the certificate decides.
 */
#include "solver/quick.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "linalg/dense.h"
#include "linalg/mass.h"
#include "solver/certificate.h"
#include "solver/stiffness.h"

#define DENSE_BLOCKS 16 /* up to here a dense matrix is faster than a sparse one: 96 rows */
#define SWEEPS 4        /* and four more per block, as loads travel from block to block; not more than … */
#define MOST_SWEEPS 200
#define WARM_SWEEPS 100 /* likewise from a guess, but a quarter per block; and one is enough where it moves nothing by more than … */
#define SWEPT 1e-3      /* … of the velocity scale */
#define STEPS_LIMIT 20
#define CHANGES_LIMIT 12 /* steps that end on other pieces than they began with … */
#define FEW_CHANGES 20   /* … where more pieces than this change, and not half as many as in the step before, a step counts for … */
#define HOPELESS 2       /* … so many more */
#define EPS 1e-5         /* what e holds back falls by about this much per step, and rounding of u grows by its inverse */
#define SETTLE 1e3       /* e is this much larger in a last step that takes away what 1/e has made of rounding */
#define POLISH 1e2       /* the same, of a world at rest; that is one that needs no more than … */
#define REST_STEPS 3
#define RELAX_STEPS 3
#define ROUGH 1e4 /* residuals up to this many tolerances may be that */
#define RELAX 0.8 /* of a sweep's step: a cone's own rows are coupled, too */
#define TWO_PI 6.283185307179586476925286766559

typedef struct Quick {
    const pcProblem* p;
    int size;        /* of v */
    double* Z;       /* M^-1 J', twelve numbers per row, in the places of J's */
    double *own, *e; /* w, equal within a group, and E */
    double *v, *c, *u, *kept;
    double *G, *a;     /* c' = a - G u' */
    int *piece, *last; /* per row, by number: to see whether they are the same */
    double *A, *F;     /* A: dense, or NULL and H */
    pcBlocks H;
    double* factored;   /* G of the factors in A or H */
    int *offset, gSize; /* of each cone's block in G */
    int* pivots;
} Quick;

static bool allocate(Quick* s, const pcProblem* p, pcArena* arena)
{
    size_t rows = (size_t)p->rows, size = (size_t)(6 * p->blocks);
    *s = (Quick){.p = p, .size = 6 * p->blocks};
    s->offset = pcArenaNew(arena, int, p->cones + 1);
    if (!s->offset) return false;
    for (int k = 0; k < p->cones; k++) s->offset[k] = s->gSize, s->gSize += p->cone[k].rows * p->cone[k].rows;
    s->Z = pcArenaNew(arena, double, 12 * rows), s->own = pcArenaNew(arena, double, rows), s->e = pcArenaNew(arena, double, rows);
    s->c = pcArenaNew(arena, double, rows), s->a = pcArenaNew(arena, double, rows), s->u = pcArenaNew(arena, double, rows);
    s->kept = pcArenaNew(arena, double, rows);
    s->v = pcArenaNew(arena, double, size), s->F = pcArenaNew(arena, double, size);
    if (p->blocks <= DENSE_BLOCKS)
        s->A = pcArenaNew(arena, double, size* size);
    else if (!pcStiffnessPattern(p, arena, &s->H))
        return false;
    s->G = pcArenaNew(arena, double, s->gSize), s->factored = pcArenaNew(arena, double, s->gSize);
    s->pivots = pcArenaNew(arena, int, size), s->piece = pcArenaNew(arena, int, rows), s->last = pcArenaNew(arena, int, rows);
    return pcArenaGood(arena);
}

/* ---- Rows ---------------------------------------------------------------------------------------------------------------------- */

PC_INLINE double dotSix(const double* a, const double* b)
{
    return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
}

PC_INLINE double velocityOf(const Quick* s, int row)
{
    const int* block = s->p->block + 2 * row;
    const double* J = s->p->J + 12 * (size_t)row;
    double u = -s->p->target[row];
    if (block[0] >= 0) u += dotSix(J, s->v + 6 * block[0]);
    if (block[1] >= 0) u += dotSix(J + 6, s->v + 6 * block[1]);
    return u;
}

PC_INLINE void addSix(double a, const double* six, double* x)
{
    v4Store(x, v4Load(x) + v4Splat(a) * v4Load(six));
    x[4] += a * six[4], x[5] += a * six[5];
}

/* x += a times the twelve numbers of a row, in the places of its blocks. */
PC_INLINE void addRow(const Quick* s, int row, double a, const double* twelve, double* x)
{
    const int* block = s->p->block + 2 * row;
    if (block[0] >= 0) addSix(a, twelve, x + 6 * block[0]);
    if (block[1] >= 0) addSix(a, twelve + 6, x + 6 * block[1]);
}

static bool mobilities(Quick* s, pcArena* arena)
{
    const pcProblem* p = s->p;
    pcMass mass;
    size_t mark = pcArenaMark(arena);
    bool good = pcMassFactor(&mass, p->blocks, false, p->mass, arena);
    for (int row = 0; good && row < p->rows; row++) {
        double *Z = s->Z + 12 * (size_t)row, *own = &s->own[row];
        const double* J = p->J + 12 * (size_t)row;
        for (int side = 0; side < 2; side++) {
            int block = p->block[2 * row + side];
            if (block < 0) continue;
            memcpy(Z + 6 * side, J + 6 * side, 6 * sizeof *Z);
            pcMassSolveBlock(&mass, block, Z + 6 * side);
            *own += dotSix(J + 6 * side, Z + 6 * side);
        }
        good = *own > 0.0; /* a row of zeros, as mu = 0 makes them, is for others */
    }
    pcArenaRelease(arena, mark);
    return good;
}

/* Equal within a group, so that the choice of friction directions has no effect. */
static void setWeights(Quick* s)
{
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = &s->p->cone[k];
        double* own = s->own + cone->row + 1;
        for (int g = 0; g < (cone->kind == PC_CONE_FRICTION ? cone->groups : 0); own += cone->groupSize[g++])
            if (cone->groupSize[g] == 2) own[0] = own[1] = 0.5 * (own[0] + own[1]);
    }
    for (int i = 0; i < s->p->rows; i++) s->e[i] = EPS * s->own[i];
}

/* v = f + M^-1 J'c */
static void follow(Quick* s)
{
    memcpy(s->v, s->p->free, (size_t)s->size * sizeof *s->v);
    for (int row = 0; row < s->p->rows; row++)
        if (s->c[row] != 0.0) addRow(s, row, s->c[row], s->Z + 12 * (size_t)row, s->v);
}

/* ---- Sweeps -------------------------------------------------------------------------------------------------------------------- */

/* Polygons count as discs: near enough for a guess. */
PC_INLINE void putBack(const pcCone* cone, double* c)
{
    if (cone->kind == PC_CONE_BOX) c[0] = smaller(larger(c[0], cone->lo), cone->hi);
    if (cone->kind != PC_CONE_FRICTION) return;
    c[0] = larger(c[0], 0.0);
    for (int g = 0, i = 1; g < cone->groups; i += cone->groupSize[g++]) {
        double second = cone->groupSize[g] > 1 ? c[i + 1] : 0.0, square = c[i] * c[i] + second * second;
        if (square <= c[0] * c[0]) continue;
        double shrink = c[0] / sqrt(square);
        for (int j = 0; j < cone->groupSize[g]; j++) c[i + j] *= shrink;
    }
}

/* Returns the largest velocity that it has corrected. */
PC_SIMD static double sweep(Quick* s)
{
    double most = 0.0;
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = &s->p->cone[k];
        double *c = s->c + cone->row, before[PC_CONE_ROWS];
        for (int i = 0; i < cone->rows; i++) {
            before[i] = c[i];
            c[i] -= RELAX * (velocityOf(s, cone->row + i) + s->p->soft[cone->row + i] * c[i]) / s->own[cone->row + i];
        }
        putBack(cone, c);
        for (int i = 0; i < cone->rows; i++) {
            if (c[i] == before[i]) continue;
            addRow(s, cone->row + i, c[i] - before[i], s->Z + 12 * (size_t)(cone->row + i), s->v);
            most = larger(most, fabs(c[i] - before[i]) * s->own[cone->row + i]);
        }
    }
    return most;
}

/* ---- Newton -------------------------------------------------------------------------------------------------------------------- */

static void velocities(Quick* s)
{
    for (int i = 0; i < s->p->rows; i++) s->u[i] = velocityOf(s, i);
}

enum { OPEN, STICKS, SLIDES, CORNER = 16, SIDE = 1 << 16 }; /* a corner's or side's number is added */

/* What the piece of one group is made of: its place in the cone, and where c - u / w would have it. */
typedef struct Wish {
    int row, size; /* in the cone */
    double t[2], radius;
} Wish;

/* c_g' = c_n' d */
static void fixTo(Quick* s, const pcCone* cone, double* G, const Wish* wish, const double* d)
{
    double en = s->e[cone->row];
    for (int i = 0; i < wish->size; i++) {
        G[(wish->row + i) * cone->rows] = d[i] / en;
        s->a[cone->row + wish->row + i] = d[i] * s->a[cone->row];
    }
}

static void stick(Quick* s, const pcCone* cone, double* G, const Wish* wish)
{
    for (int i = wish->row; i < wish->row + wish->size; i++) {
        G[i * (cone->rows + 1)] = 1.0 / s->e[cone->row + i];
        s->a[cone->row + i] = s->c[cone->row + i];
    }
}

static void slideOnDisc(Quick* s, const pcCone* cone, double* G, const Wish* wish)
{
    double length = sqrt(wish->t[0] * wish->t[0] + wish->t[1] * wish->t[1]), d[2] = {wish->t[0] / length, wish->t[1] / length};
    double turn = wish->radius / (length * s->own[cone->row + wish->row]), across[2] = {-d[1], d[0]};
    fixTo(s, cone, G, wish, d);
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            double g = turn * across[i] * across[j];
            G[(wish->row + i) * cone->rows + wish->row + j] = g;
            s->a[cone->row + wish->row + i] += g * s->u[cone->row + wish->row + j];
        }
}

/* The side of the polygon that faces t: its nearest point is one of the ends, or between them. Returns the piece. */
static int slideOnPolygon(Quick* s, const pcCone* cone, double* G, const Wish* wish)
{
    double step = TWO_PI / cone->edges, square = wish->t[0] * wish->t[0] + wish->t[1] * wish->t[1];
    if (2.0 * square <= wish->radius * wish->radius) return stick(s, cone, G, wish), STICKS; /* inside every polygon: no angles needed */
    double side = floor((atan2(wish->t[1], wish->t[0]) - cone->angle) / step);
    double first = cone->angle + side * step, d[2][2] = {{cos(first), sin(first)}, {cos(first + step), sin(first + step)}};
    double m[2] = {0.5 * (d[0][0] + d[1][0]), 0.5 * (d[0][1] + d[1][1])}, along[2] = {d[1][0] - d[0][0], d[1][1] - d[0][1]};
    double middle = m[0] * m[0] + m[1] * m[1], length = sqrt(along[0] * along[0] + along[1] * along[1]);
    int number = (int)side + cone->edges, row = cone->row + wish->row;
    if (wish->t[0] * m[0] + wish->t[1] * m[1] <= wish->radius * middle) return stick(s, cone, G, wish), STICKS;
    double t[2] = {along[0] / length, along[1] / length}, at = t[0] * wish->t[0] + t[1] * wish->t[1], end = 0.5 * length * wish->radius;
    if (fabs(at) >= end) return fixTo(s, cone, G, wish, d[at > 0.0]), CORNER + (number + (at > 0.0)) % cone->edges;
    fixTo(s, cone, G, wish, m);
    for (int i = 0; i < 2; i++) {
        s->a[row + i] += t[i] * (t[0] * s->c[row] + t[1] * s->c[row + 1]);
        for (int j = 0; j < 2; j++) G[(wish->row + i) * cone->rows + wish->row + j] = t[i] * t[j] / s->e[row];
    }
    return SIDE + number % cone->edges;
}

static int groupPiece(Quick* s, const pcCone* cone, int g, double* G, const Wish* wish)
{
    if (g == 0 && wish->size == 2 && cone->edges) return slideOnPolygon(s, cone, G, wish);
    double square = wish->t[0] * wish->t[0] + wish->t[1] * wish->t[1];
    if (square <= wish->radius * wish->radius) return stick(s, cone, G, wish), STICKS;
    if (wish->size == 2) return slideOnDisc(s, cone, G, wish), SLIDES;
    double sign = wish->t[0] > 0.0 ? 1.0 : -1.0;
    return fixTo(s, cone, G, wish, &sign), CORNER + (sign > 0.0);
}

static double wishOf(const Quick* s, int row) { return s->c[row] - s->u[row] / s->own[row]; }

static void contactPiece(Quick* s, const pcCone* cone, double* G)
{
    double normal = wishOf(s, cone->row);
    if (normal <= 0.0) return;
    G[0] = 1.0 / s->e[cone->row], s->a[cone->row] = s->c[cone->row], s->piece[cone->row] = STICKS;
    for (int g = 0, i = 1; g < cone->groups; i += cone->groupSize[g++]) {
        int row = cone->row + i;
        Wish wish = {i, cone->groupSize[g], {wishOf(s, row), cone->groupSize[g] > 1 ? wishOf(s, row + 1) : 0.0}, normal};
        s->piece[row] = groupPiece(s, cone, g, G, &wish);
    }
}

static void boundPiece(Quick* s, const pcCone* cone, double* G)
{
    double soft = s->p->soft[cone->row], e = s->e[cone->row], c = s->c[cone->row],
           wish = wishOf(s, cone->row) - soft * c / s->own[cone->row];
    bool bounded = cone->kind == PC_CONE_BOX, below = bounded && wish <= cone->lo, above = bounded && wish >= cone->hi;
    s->piece[cone->row] = below ? CORNER : above ? CORNER + 1 : STICKS;
    s->a[cone->row] = below ? cone->lo : above ? cone->hi : c * e / (e + soft);
    if (!below && !above) G[0] = 1.0 / (e + soft);
}

/* a, G and the pieces at c and u; how many are not those of the last time. */
static int choosePieces(Quick* s)
{
    size_t rows = (size_t)s->p->rows;
    memcpy(s->last, s->piece, rows * sizeof *s->last);
    memset(s->piece, 0, rows * sizeof *s->piece), memset(s->a, 0, rows * sizeof *s->a);
    memset(s->G, 0, (size_t)s->gSize * sizeof *s->G);
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = &s->p->cone[k];
        if (cone->kind == PC_CONE_FRICTION)
            contactPiece(s, cone, s->G + s->offset[k]);
        else
            boundPiece(s, cone, s->G + s->offset[k]);
    }
    int changed = 0;
    for (size_t i = 0; i < rows; i++) changed += s->last[i] != s->piece[i];
    return changed;
}

/* c = a - G u */
static void answer(Quick* s)
{
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = &s->p->cone[k];
        const double *G = s->G + s->offset[k], *u = s->u + cone->row;
        for (int i = 0; i < cone->rows; i++) {
            double sum = s->a[cone->row + i];
            for (int j = 0; j < cone->rows; j++) sum -= G[i * cone->rows + j] * u[j];
            s->c[cone->row + i] = sum;
        }
    }
}

/* Six numbers of J_a' x: x has one number per row of the cone. */
PC_INLINE void addSide(const pcCone* cone, const double* J, const double* x, double* out)
{
    v4d four = v4Load(out);
    double fifth = out[4], sixth = out[5];
    for (int i = 0; i < cone->rows; i++) {
        const double* row = J + 12 * i;
        four += v4Splat(x[i]) * v4Load(row);
        fifth += x[i] * row[4], sixth += x[i] * row[5];
    }
    v4Store(out, four), out[4] = fifth, out[5] = sixth;
}

/* A += J_a'(G J)_b of one cone, for its blocks a and b, column by column. */
PC_SIMD static void addCone(const Quick* s, const pcCone* cone, const double* G)
{
    const int* block = s->p->block + 2 * cone->row;
    const double* J = s->p->J + 12 * (size_t)cone->row;
    for (int y = 0; y < 12; y++) {
        if (block[y / 6] < 0) continue;
        double GJ[PC_CONE_ROWS] = {0.0}, *column = s->A + (size_t)(6 * block[y / 6] + y % 6) * (size_t)s->size;
        for (int i = 0; i < cone->rows; i++)
            for (int j = 0; j < cone->rows; j++) GJ[i] += G[i * cone->rows + j] * J[12 * j + y];
        for (int a = 0; a < 2; a++)
            if (block[a] >= 0) addSide(cone, J + 6 * a, GJ, column + 6 * block[a]);
    }
}

static bool factorDense(Quick* s)
{
    size_t size = (size_t)s->size;
    memset(s->A, 0, size * size * sizeof *s->A);
    for (int b = 0; b < s->p->blocks; b++)
        for (int i = 0; i < 36; i++) s->A[(size_t)(6 * b + i / 6) * size + (size_t)(6 * b + i % 6)] = s->p->mass[36 * b + i];
    for (int k = 0; k < s->p->cones; k++)
        if (s->G[s->offset[k]] != 0.0) addCone(s, &s->p->cone[k], s->G + s->offset[k]); /* else it is open, or at a bound */
    return pcLuFactor(s->size, s->A, s->size, s->pivots) == 0;
}

static bool factorSparse(Quick* s)
{
    pcStiffnessFill(s->p, s->G, s->offset, &s->H);
    return pcBlocksFactor(&s->H);
}

/* Factors of M + J'G J, unless they are those of the last step. */
static bool factor(Quick* s, bool* known)
{
    if (*known && memcmp(s->G, s->factored, (size_t)s->gSize * sizeof *s->G) == 0) return true;
    memcpy(s->factored, s->G, (size_t)s->gSize * sizeof *s->G);
    *known = s->A ? factorDense(s) : factorSparse(s);
    return *known;
}

/* x := (M + J'G J)^-1 x */
static bool solve(Quick* s, double* x)
{
    if (s->A) return pcLuSolve(s->size, s->A, s->size, s->pivots, false, x) == 0;
    pcBlocksSolve(&s->H, x);
    return true;
}

/* F = J'c - M (v - f) */
static void balance(Quick* s)
{
    memset(s->F, 0, (size_t)s->size * sizeof *s->F);
    for (int row = 0; row < s->p->rows; row++)
        if (s->c[row] != 0.0) addRow(s, row, s->c[row], s->p->J + 12 * (size_t)row, s->F);
    for (int b = 0; b < s->p->blocks; b++) {
        double moved[6];
        for (int i = 0; i < 6; i++) moved[i] = s->v[6 * b + i] - s->p->free[6 * b + i];
        for (int i = 0; i < 6; i++) s->F[6 * b + i] -= dotSix(s->p->mass + 36 * b + 6 * i, moved);
    }
}

/* One step from v, u and the pieces there; returns how much the row velocities moved, or infinity. */
static double step(Quick* s, bool* known)
{
    double most = 0.0;
    answer(s);
    balance(s);
    if (!factor(s, known) || !solve(s, s->F)) return INFINITY;
    for (int i = 0; i < s->size; i++) s->v[i] += s->F[i];
    for (int i = 0; i < s->p->rows; i++) {
        double before = s->u[i];
        s->u[i] = velocityOf(s, i);
        most = larger(most, fabs(s->u[i] - before));
    }
    answer(s);
    return most;
}

static bool newton(Quick* s, double tolerance, int* steps)
{
    bool known = false;
    int changes = 0, before = s->p->rows;
    velocities(s), choosePieces(s);
    while (*steps < STEPS_LIMIT && changes < CHANGES_LIMIT) {
        double moved = step(s, &known);
        ++*steps;
        if (!isfinite(moved)) return false;
        if (moved <= 0.1 * tolerance * s->p->velocityScale) return true; /* pieces may still change to and fro where c is on their border */
        int changed = choosePieces(s);
        changes += (changed > 0) + (changed > FEW_CHANGES && 2 * changed > before ? HOPELESS : 0);
        before = changed;
    }
    return false;
}

/* ---- The try ------------------------------------------------------------------------------------------------------------------- */

/* v is what c makes of it, so that momentum is kept to rounding. */
static bool passes(Quick* s, const pcConeSettings* settings, pcArena* arena, pcCertificate* certificate)
{
    follow(s);
    *certificate = pcCertify(s->p, s->v, s->c, arena);
    return certificate->residual <= settings->tolerance && certificate->momentum <= settings->tolerance;
}

/* The same pieces with a larger e: c has no reason to move any more, but for its rounding. */
static bool settle(Quick* s, double larger)
{
    bool known = false;
    for (int i = 0; i < s->p->rows; i++) s->e[i] *= larger;
    velocities(s), choosePieces(s);
    return isfinite(step(s, &known));
}

static bool settles(Quick* s, const pcConeSettings* settings, pcArena* arena, pcCertificate* certificate)
{
    if (!(certificate->residual <= ROUGH * settings->tolerance)) return false;
    return settle(s, SETTLE) && passes(s, settings, arena, certificate);
}

/* At rest, contacts that came to their friction limit on the way there may stay at it, working against each other for nothing; there,
 * every rounding makes them slide. From no friction at all, the least that is needed is found, if that is inside all cones. */
static bool relax(Quick* s)
{
    bool known = false, limit = false;
    for (int i = 0; i < s->p->rows; i++) limit |= s->piece[i] == SLIDES;
    if (!limit) return false;
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = &s->p->cone[k];
        for (int i = 1; i < cone->rows; i++) s->c[cone->row + i] = 0.0;
    }
    velocities(s), choosePieces(s);
    for (int i = 0; i < RELAX_STEPS; i++) {
        if (!isfinite(step(s, &known))) return false;
        if (choosePieces(s) > 0) return false;
    }
    return true;
}

/* Where a few steps from a guess were enough, the world is at rest or nearly: then c will be the guess of steps to come, and the further it
 * is from friction limits and the less rounding is in it, the longer it serves. */
static void polish(Quick* s, const pcConeSettings* settings, int steps)
{
    size_t size = (size_t)s->p->rows * sizeof *s->c;
    if (!settings->warm || steps > REST_STEPS) return;
    memcpy(s->kept, s->c, size);
    if (relax(s)) {
        memcpy(s->kept, s->c, size);
    } else {
        memcpy(s->c, s->kept, size);
        follow(s);
    }
    if (!settle(s, POLISH)) memcpy(s->c, s->kept, size);
}

/* Coulomb's law, blocks with masses of their own, no soft contacts; and nobody counts iterations. */
static bool applies(const pcProblem* p, const pcConeSettings* settings)
{
    if (p->W || p->dense || !p->coulomb || p->rows == 0 || settings->maxIterations > 0) return false;
    for (int k = 0; k < p->cones; k++)
        for (int i = p->cone[k].row; p->cone[k].kind == PC_CONE_FRICTION && i < p->cone[k].row + p->cone[k].rows; i++)
            if (p->soft[i] > 0.0) return false;
    return true;
}

/* The guess: the caller's, or none, and what a few sweeps make of it. */
static void prepare(Quick* s, const double* cOrNull)
{
    int wanted = cOrNull ? 1 + s->p->blocks / 4 : SWEEPS + 4 * s->p->blocks, most = cOrNull ? WARM_SWEEPS : MOST_SWEEPS;
    int sweeps = wanted < most ? wanted : most;
    setWeights(s);
    if (cOrNull) memcpy(s->c, cOrNull, (size_t)s->p->rows * sizeof *s->c);
    follow(s);
    for (int i = 0; i < sweeps; i++)
        if (sweep(s) <= SWEPT * s->p->velocityScale && cOrNull) return;
}

bool pcQuickSolve(const pcProblem* p, const pcConeSettings* settings, pcArena* arena, pcSolveInfo* info, double* v, double* c)
{
    if (!applies(p, settings)) return false;
    Quick s;
    pcCertificate certificate;
    size_t mark = pcArenaMark(arena);
    bool good = allocate(&s, p, arena) && mobilities(&s, arena);
    if (good) prepare(&s, settings->warm ? c : NULL);
    good = good && newton(&s, settings->tolerance, &info->iterations);
    if (good) polish(&s, settings, info->iterations);
    good = good && (passes(&s, settings, arena, &certificate) || settles(&s, settings, arena, &certificate));
    if (good) {
        memcpy(v, s.v, (size_t)s.size * sizeof *v), memcpy(c, s.c, (size_t)p->rows * sizeof *c);
        info->outcome = PC_SOLVED, info->residual = certificate.residual;
    }
    pcArenaRelease(arena, mark);
    return good;
}
