/*
 * Which contacts press, stick and slide is known, how much is not: Newton's method on Alart and Curnier's equations, in the impulses.
 *
 *     u = W c + u0                          row velocities, FREE rows and softness included; w a row's own velocity per impulse
 *     a = c - u / w                         what c would like to be; w is one for a group
 *     FREE, within bounds     u = 0                    at a bound         c = lo, hi
 *     open     a_n <= 0       c = 0                    presses            u_n = 0
 *     sticks   |a_g| <= a_n   u_g = 0                  slides             c_g - c_n a_g / |a_g| = 0
 *
 * Contacts that share a body are redundant. Either W + E stands in place of W where a velocity has to vanish, E = eps w (the residual has no E in
 * it, so the answer has none: a small eps converges in two or three steps where the pieces are right, a larger one finds them where they
 * nearly are); or, eps = 0, the shortest of all steps is taken, by least squares.
 *
 * Why not in the velocities, as pieces.c: friction of 50 to 340, as programs set it for tyres and for things that must not slip, with slip
 * (softness) of its own, leaves contacts that carry 1e-6 of the load at their friction limit; M + J'G J has lost them by then.
 */
#include "solver/polish.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/dense.h"
#include "solver/certificate.h"

#define STEPS 40          /* with one eps */
#define ENOUGH 0.1        /* of the tolerance */
#define FREE_EPS 1e-10    /* FREE rows get no more than this: they are not to give */
#define RANK 1e-13        /* of the longest direction: shorter ones are rounding */
#define HOPELESS 0.9      /* residuals beyond this are of no answer at all, … */
#define HOPELESS_LIMIT 15 /* … and do not become one after so many */

enum { WORK = 16 }; /* numbers per row */

typedef struct Polish {
    const pcReduced* r;
    const pcProblem* p;
    int n, *pivots;
    double eps, *A, *F, *u, *c, *lawful, *v, *work; /* A: column-major; lawful: c, in its cones */
} Polish;

static bool polishNew(Polish* s, const pcReduced* r, pcArena* arena)
{
    size_t n = (size_t)r->problem->rows;
    *s = (Polish){.r = r, .p = r->problem, .n = r->problem->rows};
    s->A = pcArenaRaw(arena, double, n* n), s->F = pcArenaRaw(arena, double, n), s->u = pcArenaRaw(arena, double, n);
    s->c = pcArenaRaw(arena, double, n), s->v = pcArenaRaw(arena, double, pcUnknowns(r->problem)), s->pivots = pcArenaRaw(arena, int, n);
    s->work = pcArenaRaw(arena, double, WORK* n), s->lawful = pcArenaRaw(arena, double, n);
    return pcArenaGood(arena);
}

/* A polygon's answer is the linear problem's: nothing is left to do. */
static bool applies(const pcProblem* p)
{
    for (int k = 0; k < p->cones; k++)
        if (p->cone[k].kind == PC_CONE_FRICTION && p->cone[k].edges > 0) return false;
    return p->coulomb && p->rows > 0;
}

static double entryOf(const Polish* s, int row, int column) { return s->r->W[(size_t)row * (size_t)s->n + (size_t)column]; }
static double ownOf(const Polish* s, int row) { return entryOf(s, row, row); }
static double* place(const Polish* s, int row, int column) { return s->A + (size_t)column * (size_t)s->n + (size_t)row; }

/* u of the row is to vanish. */
static void vanish(const Polish* s, int row, double e)
{
    for (int j = 0; j < s->n; j++) *place(s, row, j) = entryOf(s, row, j);
    *place(s, row, row) += e;
    s->F[row] = s->u[row];
}

/* c of the row is to be `value`. */
static void fix(const Polish* s, int row, double value)
{
    *place(s, row, row) = 1.0;
    s->F[row] = s->c[row] - value;
}

static void boundRow(const Polish* s, const pcCone* cone)
{
    int row = cone->row;
    double a = s->c[row] - s->u[row] / ownOf(s, row);
    if (cone->kind == PC_CONE_FREE)
        vanish(s, row, smaller(s->eps, FREE_EPS) * ownOf(s, row));
    else if (a <= cone->lo)
        fix(s, row, cone->lo);
    else if (a >= cone->hi)
        fix(s, row, cone->hi);
    else
        vanish(s, row, s->eps * ownOf(s, row));
}

/* c_g - c_n d with d = a / |a|, and dd = (1 - d d') / |a| da, da = dc_g - W dc / w. */
static void slide(const Polish* s, int normal, int row, int size, double w, const double* a, double length)
{
    double d[2] = {a[0] / length, size > 1 ? a[1] / length : 0.0}, bend = s->c[normal] / length;
    for (int i = 0; i < size; i++) {
        for (int k = 0; k < size; k++) {
            double across = bend * ((i == k ? 1.0 : 0.0) - d[i] * d[k]);
            for (int j = 0; j < s->n; j++) *place(s, row + i, j) += across * entryOf(s, row + k, j) / w;
            *place(s, row + i, row + k) -= across;
        }
        *place(s, row + i, row + i) += 1.0;
        *place(s, row + i, normal) -= d[i];
        s->F[row + i] = s->c[row + i] - s->c[normal] * d[i];
    }
}

static void contactRows(const Polish* s, const pcCone* cone)
{
    int normal = cone->row;
    double press = s->c[normal] - s->u[normal] / ownOf(s, normal);
    for (int i = normal; press <= 0.0 && i < normal + cone->rows; i++) fix(s, i, 0.0);
    if (press <= 0.0) return;
    vanish(s, normal, s->eps * ownOf(s, normal));
    for (int g = 0, row = normal + 1; g < cone->groups; row += cone->groupSize[g++]) {
        int size = cone->groupSize[g];
        double w = size > 1 ? 0.5 * (ownOf(s, row) + ownOf(s, row + 1)) : ownOf(s, row), a[2] = {0.0, 0.0};
        for (int i = 0; i < size; i++) a[i] = s->c[row + i] - s->u[row + i] / w;
        double length = hypot(a[0], a[1]);
        for (int i = row; length <= press && i < row + size; i++) vanish(s, i, s->eps * w);
        if (length > press) slide(s, normal, row, size, w, a, length);
    }
}

static void velocities(const Polish* s)
{
    for (int i = 0; i < s->n; i++) {
        s->u[i] = s->r->u0[i];
        for (int j = 0; j < s->n; j++) s->u[i] += entryOf(s, i, j) * s->c[j];
    }
}

/* Rows are of different units, and the largest pivot is to mean something. */
static void scaleRows(const Polish* s)
{
    for (int i = 0; i < s->n; i++) {
        double most = 0.0;
        for (int j = 0; j < s->n; j++) most = larger(most, fabs(*place(s, i, j)));
        for (int j = 0; most > 0.0 && j < s->n; j++) *place(s, i, j) /= most;
        if (most > 0.0) s->F[i] /= most;
    }
}

/* The shortest step, its parts counted as w c^2. */
static bool solveShortest(const Polish* s)
{
    for (int j = 0; j < s->n; j++)
        for (int i = 0; i < s->n; i++) *place(s, i, j) /= sqrt(ownOf(s, j));
    bool good = pcLeastSquares(s->n, s->A, s->n, s->F, RANK, s->pivots, s->work, WORK * s->n) == 0;
    for (int j = 0; j < s->n; j++) s->F[j] /= sqrt(ownOf(s, j));
    return good;
}

static bool solve(const Polish* s)
{
    if (s->eps == 0.0) return solveShortest(s);
    return pcLuFactor(s->n, s->A, s->n, s->pivots) == 0 && pcLuSolve(s->n, s->A, s->n, s->pivots, false, s->F) == 0;
}

static bool step(const Polish* s)
{
    memset(s->A, 0, (size_t)s->n * (size_t)s->n * sizeof *s->A);
    velocities(s);
    for (int k = 0; k < s->p->cones; k++) (s->p->cone[k].kind == PC_CONE_FRICTION ? contactRows : boundRow)(s, s->p->cone + k);
    scaleRows(s);
    if (!solve(s)) return false;
    for (int i = 0; i < s->n; i++) s->c[i] -= s->F[i];
    return true;
}

/* No pull, and no more friction than there is: steps end beside their cones by their own error. */
static void toCones(const Polish* s, double* c)
{
    memcpy(c, s->c, (size_t)s->n * sizeof *c);
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        double* normal = c + cone->row;
        if (cone->kind == PC_CONE_BOX) *normal = larger(cone->lo, smaller(*normal, cone->hi));
        if (cone->kind != PC_CONE_FRICTION) continue;
        *normal = larger(*normal, 0.0);
        for (int g = 0, row = cone->row + 1; g < cone->groups; row += cone->groupSize[g++]) {
            double length = cone->groupSize[g] > 1 ? hypot(c[row], c[row + 1]) : fabs(c[row]);
            for (int i = row; length > *normal && i < row + cone->groupSize[g]; i++) c[i] *= *normal / length;
        }
    }
}

/* Steps from c with one eps. The best answer goes to v and c if it is one; s->c stays where the steps ended. */
static bool walk(Polish* s, double eps, double tolerance, pcArena* arena, int* iterations, double* v, double* c)
{
    double best = tolerance;
    bool found = false;
    s->eps = eps;
    for (int i = 0, hopeless = 0; i < STEPS && hopeless < HOPELESS_LIMIT && best > ENOUGH * tolerance; i++) {
        if (!step(s)) return found;
        ++*iterations;
        toCones(s, s->lawful);
        pcReducedVelocity(s->r, s->lawful, s->v);
        pcCertificate certificate = pcCertify(s->p, s->v, s->lawful, arena);
        double off = pcCertificateOff(&certificate);
        if (found && !(off <= best)) return true; /* rounding: it gets no better */
        hopeless = off < HOPELESS ? 0 : hopeless + 1;
        if (!(off <= best)) continue;
        best = off, found = true;
        memcpy(v, s->v, (size_t)pcUnknowns(s->p) * sizeof *v), memcpy(c, s->lawful, (size_t)s->n * sizeof *c);
    }
    return found;
}

bool pcPolish(const pcReduced* reduced, double tolerance, pcArena* arena, int* iterations, double* v, double* c)
{
    static const double eps[] = {1e-11, 0.0, 1e-6, 1e-4};
    size_t mark = pcArenaMark(arena);
    Polish s;
    bool found = false;
    if (applies(reduced->problem) && polishNew(&s, reduced, arena)) {
        for (size_t i = 0; !found && i < sizeof eps / sizeof *eps; i++) {
            memcpy(s.c, c, (size_t)s.n * sizeof *c);
            found = walk(&s, eps[i], tolerance, arena, iterations, v, c);
        }
    }
    pcArenaRelease(arena, mark);
    return found;
}
