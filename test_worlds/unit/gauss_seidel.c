/*
 * Projected Gauss-Seidel over cones. With W = J M^-1 J' + s, per cone and sweep:
 *
 *     FREE, BOX    c <- clip(c - u / W_ii)
 *     T 5.1        c_n <- max(0, c_n - u_n / W_nn), then each group: c_g <- proj(c_g - u_g / trace W_gg) to the disc (or polygon) of
 *                  radius c_n
 *     T 5.7        c <- proj_K(c - u / trace W), all rows of the cone at once: descent of a convex function
 *
 * v is kept with c: v = f + M^-1 J'c, through Y = M^-1 J', one dense column per row. No claim to speed.
 */
#include "test_worlds/unit/gauss_seidel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SWEEPS = 20000 };
static const double TWO_PI = 6.283185307179586;

typedef struct Sweep {
    const pcProblem* p;
    int n;     /* unknowns */
    double* Y; /* n per row */
    double* W; /* diagonal */
    double *v, *c;
} Sweep;

/* ---- M^-1 J' by dense Cholesky ---- */

static double massAt(const pcProblem* p, int i, int k)
{
    if (p->dense) return p->mass[(size_t)i * (size_t)(6 * p->blocks) + (size_t)k];
    return i / 6 == k / 6 ? p->mass[36 * (i / 6) + 6 * (i % 6) + k % 6] : 0.0;
}

static void factor(const pcProblem* p, int n, double* L)
{
    for (int i = 0; i < n; i++) {
        int start = p->dense ? 0 : i - i % 6;
        for (int k = start; k <= i; k++) {
            double sum = massAt(p, i, k);
            for (int j = start; j < k; j++) sum -= L[i * n + j] * L[k * n + j];
            L[i * n + k] = i == k ? sqrt(sum) : sum / L[k * n + k];
        }
    }
}

static void solveFactored(int n, const double* L, double* x)
{
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i * n + k] * x[k];
        x[i] /= L[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++) x[i] -= L[k * n + i] * x[k];
        x[i] /= L[i * n + i];
    }
}

static double rowTimes(const pcProblem* p, int row, const double* v)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * row + side];
        for (int k = 0; block >= 0 && k < 6; k++) sum += p->J[12 * row + 6 * side + k] * v[6 * block + k];
    }
    return sum;
}

static void fillColumns(Sweep* s)
{
    const pcProblem* p = s->p;
    double* L = calloc((size_t)s->n * (size_t)s->n + 1, sizeof *L);
    factor(p, s->n, L);
    for (int row = 0; row < p->rows; row++) {
        double* y = s->Y + (size_t)row * (size_t)s->n;
        for (int side = 0; side < 2; side++)
            if (p->block[2 * row + side] >= 0) memcpy(y + 6 * p->block[2 * row + side], p->J + 12 * row + 6 * side, 6 * sizeof *y);
        solveFactored(s->n, L, y);
        s->W[row] = rowTimes(p, row, y) + p->soft[row];
    }
    free(L);
}

/* ---- projections ---- */

static double clip(double x, double lo, double hi) { return x < lo ? lo : x > hi ? hi : x; }

/* Of a regular polygon inscribed in the disc of the given radius: the nearest point to c. */
static void toPolygon(const pcCone* cone, double radius, double c[2])
{
    double half = TWO_PI / (2 * cone->edges), turn = atan2(c[1], c[0]) - cone->angle;
    double middle = cone->angle + (2.0 * floor(turn / (2.0 * half)) + 1.0) * half; /* of the edge that c looks through */
    double along = c[0] * cos(middle) + c[1] * sin(middle), across = c[1] * cos(middle) - c[0] * sin(middle);
    if (along <= radius * cos(half)) return;
    along = radius * cos(half), across = clip(across, -radius * sin(half), radius * sin(half));
    c[0] = along * cos(middle) - across * sin(middle), c[1] = along * sin(middle) + across * cos(middle);
}

static void toGroup(const pcCone* cone, int group, double radius, double* c)
{
    if (cone->groupSize[group] == 1) {
        c[0] = clip(c[0], -radius, radius);
    } else if (group == 0 && cone->edges > 0) {
        toPolygon(cone, radius, c);
    } else {
        double size = hypot(c[0], c[1]);
        if (size > radius) c[0] *= radius / size, c[1] *= radius / size;
    }
}

static double velocityOf(const Sweep* s, int row) { return rowTimes(s->p, row, s->v) - s->p->target[row] + s->p->soft[row] * s->c[row]; }

/* What one projection makes of the group that starts at `row`. */
static void projectedGroup(const Sweep* s, const pcCone* cone, int group, int row, double out[2])
{
    int size = cone->groupSize[group];
    double trace = 0.0;
    for (int i = 0; i < size; i++) trace += s->W[row + i];
    for (int i = 0; i < size; i++) out[i] = s->c[row + i] - (trace > 0.0 ? velocityOf(s, row + i) / trace : 0.0);
    toGroup(cone, group, s->c[cone->row], out);
}

static double projectedNormal(const Sweep* s, const pcCone* cone)
{
    double w = s->W[cone->row];
    if (!(w > 0.0)) return s->c[cone->row];
    if (cone->kind == PC_CONE_FRICTION) return fmax(0.0, s->c[cone->row] - velocityOf(s, cone->row) / w);
    double c = s->c[cone->row] - velocityOf(s, cone->row) / w;
    return cone->kind == PC_CONE_BOX ? clip(c, cone->lo, cone->hi) : c;
}

/* d/dc_n of 1/2 dist^2 of a from the cone cut at c_n; writes the nearest point there. */
static double slopeAt(const pcCone* cone, const double* a, double normal, double* nearest)
{
    double slope = normal - a[0];
    nearest[0] = normal;
    for (int g = 0, at = 1; g < cone->groups; at += cone->groupSize[g++]) {
        for (int i = 0; i < cone->groupSize[g]; i++) nearest[at + i] = a[at + i];
        toGroup(cone, g, normal, nearest + at);
        for (int i = 0; i < cone->groupSize[g] && normal > 0.0; i++) slope -= (a[at + i] - nearest[at + i]) * nearest[at + i] / normal;
    }
    return slope;
}

/* The nearest point of K, by bisection. */
static void toCone(const pcCone* cone, const double* a, double* nearest)
{
    double low = 0.0, high = fabs(a[0]);
    for (int i = 1; i < cone->rows; i++) high += fabs(a[i]);
    if (slopeAt(cone, a, 1e-14 * high, nearest) >= 0.0) high = 0.0;
    for (int i = 0; i < 100 && low < high; i++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) break;
        if (slopeAt(cone, a, middle, nearest) < 0.0)
            low = middle;
        else
            high = middle;
    }
    slopeAt(cone, a, high, nearest);
}

static double move(Sweep* s, int row, double c)
{
    double change = c - s->c[row];
    s->c[row] = c;
    for (int i = 0; i < s->n && change != 0.0; i++) s->v[i] += change * s->Y[(size_t)row * (size_t)s->n + (size_t)i];
    return fabs(change) * s->W[row];
}

static bool isRelaxed(const Sweep* s, const pcCone* cone) { return cone->kind == PC_CONE_FRICTION && cone->groups > 0 && !s->p->coulomb; }

static void projectedCone(const Sweep* s, const pcCone* cone, double next[PC_CONE_ROWS])
{
    double a[PC_CONE_ROWS] = {0}, trace = 0.0;
    for (int i = 0; i < cone->rows; i++) trace += s->W[cone->row + i];
    for (int i = 0; i < cone->rows; i++) a[i] = s->c[cone->row + i] - (trace > 0.0 ? velocityOf(s, cone->row + i) / trace : 0.0);
    toCone(cone, a, next);
}

/* Projects the rows of one cone; the largest change, as a velocity. */
static double sweepCone(Sweep* s, const pcCone* cone)
{
    double most = 0.0, next[PC_CONE_ROWS] = {0};
    if (isRelaxed(s, cone)) {
        projectedCone(s, cone, next);
        for (int i = 0; i < cone->rows; i++) most = fmax(most, move(s, cone->row + i, next[i]));
        return most;
    }
    most = move(s, cone->row, projectedNormal(s, cone));
    for (int g = 0, row = cone->row + 1; g < cone->groups; row += cone->groupSize[g++]) {
        projectedGroup(s, cone, g, row, next);
        for (int i = 0; i < cone->groupSize[g]; i++) most = fmax(most, move(s, row + i, next[i]));
    }
    return most;
}

static double changeOf(const Sweep* s, int row, double next) { return fabs(next - s->c[row]) * s->W[row]; }

/* The largest change that projecting a cone would still make. */
static double restOf(const Sweep* s, const pcCone* cone)
{
    double most = 0.0, next[PC_CONE_ROWS] = {0};
    if (isRelaxed(s, cone)) {
        projectedCone(s, cone, next);
        for (int i = 0; i < cone->rows; i++) most = fmax(most, changeOf(s, cone->row + i, next[i]));
        return most;
    }
    most = changeOf(s, cone->row, projectedNormal(s, cone));
    if (!(s->W[cone->row] > 0.0)) most = fmax(most, fabs(velocityOf(s, cone->row)));
    for (int g = 0, row = cone->row + 1; g < cone->groups; row += cone->groupSize[g++]) {
        projectedGroup(s, cone, g, row, next);
        for (int i = 0; i < cone->groupSize[g]; i++) most = fmax(most, changeOf(s, row + i, next[i]));
    }
    return most;
}

static double residualOf(const Sweep* s)
{
    double most = 0.0;
    for (int i = 0; i < s->p->cones; i++) most = fmax(most, restOf(s, s->p->cone + i));
    return most / s->p->velocityScale;
}

static Sweep begin(const pcProblem* p, double* v, double* c)
{
    size_t n = 6 * (size_t)p->blocks, rows = (size_t)p->rows + 1;
    Sweep s = {.p = p, .n = (int)n, .Y = calloc(n * rows, sizeof(double)), .W = calloc(rows, sizeof(double)), .v = v, .c = c};
    fillColumns(&s);
    return s;
}

static void end(Sweep* s) { free(s->Y), free(s->W); }

double pcGaussSeidelResidual(const pcProblem* problem, const double* v, const double* c)
{
    Sweep s = begin(problem, (double*)(size_t)v, (double*)(size_t)c); /* only read from here on */
    double residual = residualOf(&s);
    end(&s);
    return residual;
}

pcConeInfo pcGaussSeidel(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    (void)memory;
    Sweep s = begin(p, v, c);
    int sweep = 0, most = settings->maxIterations > 0 ? settings->maxIterations : SWEEPS;
    memcpy(v, p->free, (size_t)s.n * sizeof *v);
    for (int row = 0; row < p->rows; row++) {
        double start = settings->warm ? c[row] : 0.0;
        c[row] = 0.0;
        move(&s, row, start);
    }
    for (double change = HUGE_VAL; sweep < most && change > 0.01 * settings->tolerance * p->velocityScale; sweep++) {
        change = 0.0;
        for (int i = 0; i < p->cones; i++) change = fmax(change, sweepCone(&s, p->cone + i));
    }
    double residual = residualOf(&s);
    end(&s);
    pcOutcome outcome = residual <= settings->tolerance ? PC_SOLVED : PC_INACCURATE;
    return (pcConeInfo){.solve = {.outcome = outcome, .iterations = sweep, .residual = residual}, .solver = "gauss-seidel"};
}
