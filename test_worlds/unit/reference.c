#include "test_worlds/unit/reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "solver/certificate.h"

static Real* numbers(int count)
{
    Real* place = calloc((size_t)(count > 0 ? count : 1), sizeof(Real));
    if (!place) abort();
    return place;
}

static Real magnitude(Real x) { return fabsl(x); }

/* ---- Elimination ---- */

/* Brings the largest entry of what is left to place (k, k); `order` keeps which unknown a column stands for. */
static Real pivot(int n, Real* A, Real* b, int* order, int k)
{
    int row = k, col = k;
    for (int i = k; i < n; i++)
        for (int j = k; j < n; j++)
            if (magnitude(A[i * n + j]) > magnitude(A[row * n + col])) row = i, col = j;
    for (int j = 0; j < n; j++) {
        Real kept = A[k * n + j];
        A[k * n + j] = A[row * n + j], A[row * n + j] = kept;
    }
    for (int i = 0; i < n; i++) {
        Real kept = A[i * n + k];
        A[i * n + k] = A[i * n + col], A[i * n + col] = kept;
    }
    Real kept = b[k];
    b[k] = b[row], b[row] = kept;
    int name = order[k];
    order[k] = order[col], order[col] = name;
    return magnitude(A[k * n + k]);
}

static void eliminateBelow(int n, Real* A, Real* b, int k)
{
    for (int i = k + 1; i < n; i++) {
        Real factor = A[i * n + k] / A[k * n + k];
        for (int j = k; j < n; j++) A[i * n + j] -= factor * A[k * n + j];
        b[i] -= factor * b[k];
    }
}

Real pcEliminate(int n, Real* A, Real* b, Real* x)
{
    int order[64], rank = 0;
    Real size = 0.0L, largest = 0.0L, left = 0.0L;
    for (int i = 0; i < n; i++) order[i] = i, x[i] = 0.0L, size = fmaxl(size, magnitude(b[i]));
    for (; rank < n; rank++) {
        Real p = pivot(n, A, b, order, rank);
        if (rank == 0) largest = p;
        if (p <= 1e-13L * largest) break; /* rounding of W, which comes from data in double */
        eliminateBelow(n, A, b, rank);
    }
    for (int i = rank; i < n; i++) left = fmaxl(left, magnitude(b[i]));
    for (int i = rank - 1; i >= 0; i--) {
        Real sum = b[i];
        for (int j = i + 1; j < rank; j++) sum -= A[i * n + j] * x[order[j]];
        x[order[i]] = sum / A[i * n + i];
    }
    return size > 0.0L ? left / size : 0.0L;
}

/* ---- Velocities eliminated ---- */

/* X = M^-1, n x n, by Gauss-Jordan: M is positive definite, so its pivots stay on the diagonal. */
static void invert(int n, const double* M, Real* X)
{
    for (int i = 0; i < n * n; i++) X[i] = (Real)M[i];
    for (int k = 0; k < n; k++) {
        Real p = 1.0L / X[k * n + k];
        X[k * n + k] = 1.0L;
        for (int j = 0; j < n; j++) X[k * n + j] *= p;
        for (int i = 0; i < n; i++) {
            Real factor = i == k ? 0.0L : X[i * n + k];
            if (i != k) X[i * n + k] = 0.0L;
            for (int j = 0; j < n; j++) X[i * n + j] -= factor * X[k * n + j];
        }
    }
}

static double entry(const pcProblem* problem, int r, int column)
{
    for (int side = 0; side < 2; side++)
        if (problem->block[2 * r + side] == column / 6) return problem->J[12 * r + 6 * side + column % 6];
    return 0.0;
}

/* Y = M^-1 J', one part of M after the other. */
static void fillY(pcDual* dual)
{
    const pcProblem* problem = dual->problem;
    int n = problem->dense ? dual->size : 6, parts = problem->dense ? dual->size > 0 : problem->blocks;
    Real* X = numbers(n * n);
    for (int part = 0; part < parts; part++) {
        invert(n, problem->mass + (size_t)part * (size_t)(n * n), X);
        for (int r = 0; r < dual->rows; r++)
            for (int j = 0; j < n; j++) {
                Real J = (Real)entry(problem, r, part * n + j);
                for (int i = 0; i < n && J != 0.0L; i++) dual->Y[(part * n + i) * dual->rows + r] += X[i * n + j] * J;
            }
    }
    free(X);
}

static Real rowTimes(const pcProblem* problem, int r, const Real* x, int stride)
{
    Real sum = 0.0L;
    for (int side = 0; side < 2; side++) {
        int block = problem->block[2 * r + side];
        for (int i = 0; i < 6 && block >= 0; i++) sum += (Real)problem->J[12 * r + 6 * side + i] * x[(6 * block + i) * stride];
    }
    return sum;
}

pcDual pcDualOf(const pcProblem* problem)
{
    pcDual dual = {.problem = problem, .rows = problem->rows, .size = 6 * problem->blocks};
    int n = dual.rows;
    dual.W = numbers(n * n), dual.q = numbers(n), dual.Y = numbers(dual.size * n);
    Real* f = numbers(dual.size);
    for (int i = 0; i < dual.size; i++) f[i] = (Real)problem->free[i];
    fillY(&dual);
    for (int r = 0; r < n; r++) {
        dual.q[r] = rowTimes(problem, r, f, 1) - (Real)problem->target[r];
        for (int k = 0; k < n; k++) dual.W[r * n + k] = rowTimes(problem, r, dual.Y + k, n);
        dual.W[r * n + r] += (Real)problem->soft[r];
    }
    free(f);
    return dual;
}

void pcDualFree(pcDual* dual)
{
    free(dual->W), free(dual->q), free(dual->Y);
    *dual = (pcDual){0};
}

void pcDualVelocity(const pcDual* dual, const double* c, double* v)
{
    for (int i = 0; i < dual->size; i++) {
        Real sum = (Real)dual->problem->free[i];
        for (int r = 0; r < dual->rows; r++) sum += dual->Y[i * dual->rows + r] * (Real)c[r];
        v[i] = (double)sum;
    }
}

static Real rowVelocity(const pcDual* dual, int r, const double* c)
{
    Real u = dual->q[r];
    for (int k = 0; k < dual->rows; k++) u += dual->W[r * dual->rows + k] * (Real)c[k];
    return u;
}

/* ---- Every set of pressing contacts ---- */

typedef struct Trial {
    const pcDual* dual;
    int contacts, joints, contact[16], joint[16]; /* rows */
    double* c;
} Trial;

static void collect(Trial* trial, const pcProblem* problem)
{
    for (int i = 0; i < problem->cones; i++) {
        const pcCone* cone = &problem->cone[i];
        if (cone->kind == PC_CONE_FREE)
            trial->joint[trial->joints++] = cone->row;
        else
            trial->contact[trial->contacts++] = cone->row;
    }
}

/* u = 0 on the joints and on the contacts in `set`, c = 0 elsewhere. */
static Real impulsesOf(Trial* trial, unsigned set)
{
    int rows[32], n = 0, stride = trial->dual->rows;
    Real A[32 * 32], b[32], x[32];
    for (int i = 0; i < trial->joints; i++) rows[n++] = trial->joint[i];
    for (int i = 0; i < trial->contacts; i++)
        if (set >> i & 1u) rows[n++] = trial->contact[i];
    for (int i = 0; i < n; i++) {
        b[i] = -trial->dual->q[rows[i]];
        for (int j = 0; j < n; j++) A[i * n + j] = trial->dual->W[rows[i] * stride + rows[j]];
    }
    Real left = pcEliminate(n, A, b, x);
    memset(trial->c, 0, (size_t)stride * sizeof(double));
    for (int i = 0; i < n; i++) trial->c[rows[i]] = (double)x[i];
    return left;
}

/* The largest amount by which an impulse pulls, in its own unit of velocity, or a contact approaches, or a joint moves. */
static Real violation(const Trial* trial)
{
    const pcDual* dual = trial->dual;
    Real worst = 0.0L, unit = (Real)dual->problem->velocityScale;
    for (int i = 0; i < trial->contacts; i++) {
        int r = trial->contact[i];
        worst = fmaxl(worst, -(Real)trial->c[r] * dual->W[r * dual->rows + r] / unit);
        worst = fmaxl(worst, -rowVelocity(dual, r, trial->c) / unit);
    }
    for (int i = 0; i < trial->joints; i++) worst = fmaxl(worst, magnitude(rowVelocity(dual, trial->joint[i], trial->c)) / unit);
    return worst;
}

Real pcReferenceEnumerate(const pcProblem* problem, double* v, double* c)
{
    pcDual dual = pcDualOf(problem);
    Trial trial = {.dual = &dual, .c = c};
    collect(&trial, problem);
    Real best = (Real)INFINITY;
    unsigned bestSet = 0;
    for (unsigned set = 0; set < 1u << trial.contacts && !(best <= 1e-14L); set++) {
        Real left = impulsesOf(&trial, set), found = fmaxl(left > 1e-12L ? left : 0.0L, violation(&trial));
        if (found < best) best = found, bestSet = set;
    }
    impulsesOf(&trial, bestSet);
    pcDualVelocity(&dual, c, v);
    pcDualFree(&dual);
    return best;
}

/* ---- Gauss-Seidel ---- */

static Real ownMobility(const pcDual* dual, const pcCone* cone)
{
    Real trace = 0.0L;
    for (int i = 0; i < cone->rows; i++) trace += dual->W[(cone->row + i) * (dual->rows + 1)];
    return trace > 0.0L ? trace : 1.0L;
}

/* c <- proj_K(c - u~ / w) for one cone, w >= the largest eigenvalue of its own W; returns the largest change. */
static double pull(const pcDual* dual, const pcCone* cone, double* c)
{
    double u[PC_CONE_ROWS] = {0.0}, x[PC_CONE_ROWS] = {0.0}, slip = 0.0, change = 0.0;
    double w = (double)ownMobility(dual, cone);
    for (int i = 0; i < cone->rows; i++) u[i] = (double)rowVelocity(dual, cone->row + i, c);
    for (int g = 0; g < cone->groups && cone->kind == PC_CONE_FRICTION && dual->problem->coulomb; g++) slip += pcConeSlip(cone, g, u);
    for (int i = 0; i < cone->rows; i++) x[i] = c[cone->row + i] - (u[i] + (i == 0 ? slip : 0.0)) / w;
    pcConeProject(cone, x, x);
    for (int i = 0; i < cone->rows; i++) {
        change = fmax(change, fabs(x[i] - c[cone->row + i]) * w);
        c[cone->row + i] = x[i];
    }
    return change;
}

int pcReferenceSweeps(const pcProblem* problem, int sweeps, double tolerance, double* v, double* c)
{
    pcDual dual = pcDualOf(problem);
    int sweep = 0;
    double change = (double)INFINITY;
    memset(c, 0, (size_t)problem->rows * sizeof(double));
    for (; sweep < sweeps && !(change <= tolerance * problem->velocityScale); sweep++) {
        change = 0.0;
        for (int i = 0; i < problem->cones; i++)
            for (int inner = 0; inner < 4; inner++) change = fmax(change, pull(&dual, &problem->cone[i], c));
    }
    pcDualVelocity(&dual, c, v);
    pcDualFree(&dual);
    return sweep;
}

/* ---- Accelerated projected gradients ----
 *
 * The convex model is min 1/2 c'Wc + q'c over K. With d_i the trace of cone i's own block and D = diag d, a step from y is
 *     c_i = proj( y_i - (W y + q)_i / (L d_i) ),     L >= the largest eigenvalue of D^-1/2 W D^-1/2,
 * and y = c + beta (c - c_last), where beta starts again from 0 whenever the step turns against the momentum. */

typedef struct Descent {
    const pcDual* dual;
    Real* d; /* per row: of its cone */
    Real L;
    Real *y, *last;
    double* c;
} Descent;

static void startDescent(Descent* s)
{
    int n = s->dual->rows;
    for (int i = 0; i < s->dual->problem->cones; i++) {
        const pcCone* cone = &s->dual->problem->cone[i];
        for (int k = 0; k < cone->rows; k++) s->d[cone->row + k] = ownMobility(s->dual, cone);
    }
    for (int r = 0; r < n; r++) {
        Real sum = 0.0L;
        for (int k = 0; k < n; k++) sum += magnitude(s->dual->W[r * n + k]) / sqrtl(s->d[r] * s->d[k]);
        s->L = fmaxl(s->L, sum);
    }
}

static void projectedStep(Descent* s)
{
    int n = s->dual->rows;
    const pcProblem* problem = s->dual->problem;
    for (int r = 0; r < n; r++) {
        Real g = s->dual->q[r];
        for (int k = 0; k < n; k++) g += s->dual->W[r * n + k] * s->y[k];
        s->last[r] = (Real)s->c[r];
        s->c[r] = (double)(s->y[r] - g / (s->L * s->d[r]));
    }
    for (int i = 0; i < problem->cones; i++) pcConeProject(&problem->cone[i], s->c + problem->cone[i].row, s->c + problem->cone[i].row);
}

/* Returns the largest (y - c) in its own unit of velocity, and whether momentum pointed uphill. */
static double lastStep(const Descent* s, bool* uphill)
{
    Real largest = 0.0L, turn = 0.0L;
    for (int r = 0; r < s->dual->rows; r++) {
        Real step = s->y[r] - (Real)s->c[r];
        largest = fmaxl(largest, magnitude(step) * s->d[r] * s->L);
        turn += step * s->d[r] * ((Real)s->c[r] - s->last[r]);
    }
    *uphill = turn > 0.0L;
    return (double)(largest / (Real)s->dual->problem->velocityScale);
}

static double descend(Descent* s, int iterations)
{
    Real theta = 1.0L;
    double step = (double)INFINITY;
    for (int i = 0; i < iterations && !(step <= 1e-15); i++) {
        bool uphill;
        projectedStep(s);
        step = lastStep(s, &uphill);
        Real next = uphill ? 1.0L : (1.0L + sqrtl(1.0L + 4.0L * theta * theta)) / 2.0L, beta = uphill ? 0.0L : (theta - 1.0L) / next;
        for (int r = 0; r < s->dual->rows; r++) s->y[r] = (Real)s->c[r] + beta * ((Real)s->c[r] - s->last[r]);
        theta = next;
    }
    return step;
}

double pcReferenceConvex(const pcProblem* problem, int iterations, double* v, double* c)
{
    pcDual dual = pcDualOf(problem);
    int n = problem->rows;
    Descent s = {.dual = &dual, .d = numbers(n), .y = numbers(n), .last = numbers(n), .c = c};
    memset(c, 0, (size_t)n * sizeof(double));
    startDescent(&s);
    double step = descend(&s, iterations);
    pcDualVelocity(&dual, c, v);
    free(s.d), free(s.y), free(s.last);
    pcDualFree(&dual);
    return step;
}
