/*
 * The path of interior.c around its turns. Coulomb's law (T 5.1, with the circular cone) is not convex: where contacts pass from stick to slide the path
 * to m = 0 may turn back and m grow for a while. Followed by its length and not by m, it ends at a solution all the same.
 *
 *     M (v - f) = J'c,     u = J v - b,     y = u + s n,     c o y = m e,     c and y inside K
 *
 *     C, Y     impulses and velocities in units of the cone: C = c w / v0, Y = y / v0, with w the mean of its own J M^-1 J'
 *     z        C - Y. With m it tells both (pcSocCentre): along either eigenvector (1, d), (1, -d) of z, C - Y = l and C Y = m. So every z
 *              is inside, steps need not end at the border of a cone, and of contacts that stick, slide or are open z hardly changes with m
 *     s        |u_t|, smoothed where u_t is less than a part of y_1 = m / C_1, the eigenvalue of Y that vanishes in sliding:
 *              s = sqrt(u_t^2 + (k y_1)^2) - k y_1;  0 of cones that are not lifted (pcCentralLift)
 *     F, r     M (v - f) - J'c,  Y - u - s n:   what is left
 *     t        log m
 *
 * Newton: dY = R + dt Y_t with R = B (T du - r),  T = 1 + n u_t' / |u_t|,  B = 1 + b n (1, d)' (of y_1 in s); hence
 *     dC = A (Y_t dt - R) + C_t dt,     dz = (1 + A) (Y_t dt - R),     A = C o C / m:  eigenvalues C_1^2 / m, C_2^2 / m, and C_1 C_2 / m across
 *     (M + J'A B T J) dv = J'(A (Y_t dt + B r) + C_t dt) - F:      one factorization, a solution for dt and one for what is left
 *
 * The path. It comes from m = infinity, where there is one point. m falls along it where the determinant of the matrix is positive and grows where
 * it is negative, on every branch: so the sign tells the direction even if a step has gone from one branch to another, and no branch leads
 * back to infinity. Steps and distances are measured by how far the eigenvalues of z move on their own scale, sqrt(l^2 + 4 m): what is
 * about to pass from one piece to the other counts, and a thousand contacts that are far from it do not.
 *
 * A step goes along the tangent, then back to the path across it by Newton's method. At first that may land where it likes, which is often beyond a turn,
 * and its corrections use the same factors as long as they halve: a solution is a fiftieth of the work. Where two steps have not landed, the next one must
 * contract as seen by a second solution with the same factors (Deuflhard); where that does not help either, the point before was not on the
 * path, and is left for an earlier one. Row velocities are carried as sums of changes, because A multiplies their rounding errors by 1 / m.
 *
 * What it costs. Of a pile of 1000 that has packed (3100 contacts), 80 to 300 factorizations to m = 1e-6, then 10 to 20 for a decade in which it does
 * not turn, and hundreds where it does: it may turn hundreds of times, and m grow twentyfold in between, while all that is not about to turn goes
 * back and forth with it. A step takes 1.3 factorizations, where new factors for every correction took 2.0, and is a third longer, as its length is chosen by the
 * first correction and not by how many there are. Its points are starts for path.c, which finds the rest of the way from m = 1e-7
 * at best and from 1e-13 in all that came so far, where path.c alone, from three other starts, left some at 1e-6.
 * Steps that may land elsewhere take 0.15 to 0.75 of what those take that may not. Weights (powers of C on a first way to m = 1e-3, times m) make other paths, three
 * times as short here and as long there. Tried as well: C and Y themselves as unknowns (stuck at turns), a second-order predictor (no
 * longer steps), larger and absolute smoothing of |u_t| (more turns), landing beyond a turn by Newton's method at a smaller m (one in 100 does),
 * the same path from what path.c reached, with its residual for the parameter (it does not get away from there), at a turn m changed for the few
 * contacts alone that turn there, or for those within one or two bodies of them, until they are past it (one of six packed problems solved in 3700
 * factorizations, where this solves two in 2100: what turns in one place acts on the whole pile), two paths by different weights in turns, each on a thread of
 * its own (43 steps of the pile, which then moves otherwise, took 58 s on one thread and 37 s on two, where one path after the other takes 26 and 17);
 * beyond a turn by a flow at a smaller m, M dv/dt = -F in which every contact stays inside, by implicit steps (half of the turns are passed by 25
 * factorizations, the others flutter; and from where it lands the path leads back as often as on, so that it goes in circles), factors of the step before
 * (a fifth fewer here, a tenth more there), the weight of |u_t| grown from 0, where there are no turns, to 1 at a small m (turns from 0.5 on; 1000
 * factorizations to 0.3 at m = 1e-8), longer steps where eigenvalues grow away from the border (no fewer).
 *
 * Nor does a flow in the slips, ds/dt = |u_t| - s at one m, lead around turns. By implicit steps, which hold a part 1 - w of the shift, there are none
 * (w up to 0.5), each takes one to four factorizations, and at m = 1e-5 it comes to a point of the path from nothing in 150, by nine tenths of the
 * rest in every step. At 1e-7 and below it wanders about for thousands, with w between 0.05 and 0.9, whether m waits for it or not: what contacts that
 * stick and slide in turn do there has no rest. From where it comes by, path.c gets to 1e-5 and 1e-6, once to 9e-9 after 6000.
 *
 * How slow are the contacts that it turns for? With s = sqrt(u_t^2 + S^2) - S, which lets what slides by less than S lift itself as by the relaxation, a packed
 * pile takes 79 factorizations to m = 1e-13 for S = 0.1 of the velocity scale, 88 for 0.01, 141 for 1e-3, 301 for 1e-4, 2973 for 1e-5, and from 1e-6 on as many as
 * without: the turns are those of contacts that slide by 1e-4 and less. But from the end of the path for 1e-4 nothing leads on: at m = 1e-11 3000 factorizations
 * halve S, and with S as the root of m (0.1 to 100 of it), or its fourth root, m comes to 1e-9 in as many as without.
 *
 * Below m = 1e-10 steps are short for two reasons more. A contact that slides by 1e-6 of a velocity turns its direction as the rest of the pile moves, along a
 * cone beside which its z lies by no more than that slip: of a turn by 1e-2, what is second order in z is first order there. (Not: rounding. Solutions that are
 * refined once, with J dv in long double, change nothing.) And a leap may land on a path that is closed, and go round on it. Moving eigenvalues and
 * direction in place of z, everywhere or where z is near the border, took half as many here and three times as many there (two packed problems); so did
 * giving a path up where m had not become less in 900 factorizations (eight of them, from 1900 to 20,000), and one then ended at 1e-6.
 *
 * What helped most is no method but the problem: stepper/pairs.c gives contacts of two faces that lie on each other one normal. From the 72nd to the 123rd step
 * of the pile 2030 factorizations are then enough in the median, where it took 4300, and two steps miss 1e-10 where twelve did.
 *
 * No such help is it, as long as the pile packs (once it has come down it is: sparse.c, assemble.c), to take gaps and depths for none that are next to nothing beside g h^2 (1e-4 and 1e-5 of it), though 3100 contacts then have no target and only 160 others are
 * nearer than 1e-5 m: the 46 steps from the 109th on took 1300 to 42,000 factorizations, and three of them ended above 1e-10. Nor wider bounds, nor no repair of
 * penetrations at all, nor a tolerance of 1e-8 (14,100 in six steps that took 14,500). One of 1e-5 takes 300 to 2000 a step.
 *
 * Nor is it one to leave out what rests. (To leave out |u_t| there is: sparse.c.) By the relaxation (T 5.7) speeds are spread over ten decades: of 977 bodies 47 are faster than 1e-5 of the velocities, 370 than 1e-9. On ground made
 * of the slower ones the others are mostly solved by a few hundred factorizations, but push it, as it cannot give way at all, so that under these impulses hundreds of its bodies move as fast
 * as anything in the pile, and the next such ground is smaller, down to less than half of all.
 */
#include "solver/central.h"

#include <math.h>
#include <string.h>

#include "solver/rows.h"
#include "solver/soc.h"
#include "solver/stiffness.h"

#define SMOOTH 0.1       /* k */
#define STIFF 1e-8       /* e of FREE rows, by their own velocity per impulse: dC = -(u + s C + du) / (e + s) */
#define FIRST_STEP 0.5   /* of the path, on the scale of the eigenvalue that moves most; … */
#define LONGEST_STEP 2.0 /* … at most, … */
#define SHORTEST 1e-7    /* … and where it is given up */
#define MOST_FALL 0.7 /* of log m in a step: velocities of contacts that stick fall as m does, and the tangent must not turn them round */
#define LONGER 2.0    /* from step to step, at most */
#define SHORTER 0.35  /* after a step that failed */
#define CORRECTIONS 5 /* of a step */
#define LEAP 0.7      /* of a way that need not contract, in one correction; it ends with one below LANDED, … */
#define LANDED 0.03
#define STRAYS 0.8    /* … or where one is larger than this part of the one before … */
#define STRAYS_BY 0.3 /* … and this, … */
#define TOO_FAR 0.9   /* … or where the first one is larger than this */
#define LEAP_CORRECTIONS 12
#define LEAP_FACTORS 4    /* H is made so often at most: anew where a correction by an old one … */
#define OLD 0.5           /* … is larger than this part of the one before; … */
#define DIVERGES 2.0      /* … by this, nothing is to be expected */
#define AIM 0.15          /* what the first correction should be: it grows with the square of the step, … */
#define LEAST_LONGER 0.5  /* … which is changed by as much from step to step, … */
#define LEAST_SHORTER 0.2 /* … and at least by as much, */
#define MOST_SHORTER 0.6  /* at most by so much, where it failed */
#define LEAPS 2           /* that may fail one after the other; then the way back must contract */
#define FURTHEST 1.5      /* that a correction may go */
#define DAMPED 0.05       /* the least part of one */
#define CONTRACTS 0.2     /* a correction this much smaller than the one before ends a step, if it is below NEAR … */
#define NEAR 0.1
#define FINE 0.004   /* … and so does one below this: what Newton's method sees then may be rounding */
#define CENTRED 0.05 /* the same at the beginning */
#define BEGINNINGS 60
#define WEIGHED 1e-3       /* m at which contacts are weighed, … */
#define WEIGHED_LIMIT 200  /* … or after so many factorizations */
#define LEAST_WEIGHED 1e-3 /* of what a contact carries */
#define REJECTED 4         /* steps in a row: back to an earlier point, */
#define EARLIER 24         /* of so many, */
#define CAUTIOUS 0.25      /* by a smaller step from there; … */
#define CARE 0.2           /* … and what counts as near is less by this for a while, each time that it happens, … */
#define MOST_CARE 4
#define EASY 12 /* … until so many steps have gone well */

/* A point of the path, or a way from one. */
typedef struct Point {
    double *z, *u, *v;
    double t;
} Point;

typedef struct Mark {
    Point at, tangent;
    double step; /* that was taken from here */
} Mark;

struct pcCentral {
    const pcProblem* p;
    pcBlocks* H;
    const pcTouching* touching;
    const bool* lifted;            /* per cone; NULL: all are */
    double unit, m, *own, *weight; /* own, weight: per cone */
    Point at;                      /* u is in units of velocity */
    double *C, *Y, *r, *F;
    double *A, *G, *T, *d, *Ct; /* per cone: A, A B T / own; per row: the row of B T below n but for the 1 of n, (1, d), C_t */
    double* b;                  /* per cone */
    double *TH, *dH, *bH;       /* T, d and b where H was made */
    double *g, *dv;
    int *offset, factors;
    Point tangent, correction, full, way, from; /* way: the tangent that a step follows, of length 1 */
    Mark mark[EARLIER];
    int marks, newest, rejected, care, easy; /* easy: steps since care was last taken */
    double step, power;
    bool begun;
    bool isTangent;     /* of a loop: which right side; … */
    const Point *x, *y; /* … whose product; … */
    double* partial;    /* … what it sums up, by chunks: sums, then largest parts */
};

static bool isContact(const pcCone* cone) { return cone->kind == PC_CONE_FRICTION; }

/* In units of the cone. */
static double softness(const pcCentral* s, int k) { return s->p->soft[s->p->cone[k].row] / s->own[k]; }

/* m of a cone. */
static double gapOf(const pcCentral* s, int k) { return s->m * s->weight[k]; }

static void overCones(pcCentral* s, pcLoopBody* body) { pcPoolLoop(s->p->pool, body, s, s->p->cones); }
static void overBlocks(pcCentral* s, pcLoopBody* body) { pcPoolLoop(s->p->pool, body, s, s->p->blocks); }

/* ---- where it stands ---- */

/* (1, d) of a cone's z. */
static void frameOf(int n, const double* z, double* d)
{
    double tail = pcSocTail(n, z);
    d[0] = 1.0;
    for (int i = 1; i < n; i++) d[i] = tail > 0.0 ? z[i] / tail : i == 1;
}

/* The eigenvalue of C along l; that of Y is m by it. */
static double impulseAlong(double l, double m)
{
    double more = 0.5 * (fabs(l) + sqrt(l * l + 4.0 * m));
    return l > 0.0 ? more : m / more;
}

/* A FREE row has z = C, and what is left is u + s C. */
static void evaluateFree(pcCentral* s, int k)
{
    int row = s->p->cone[k].row;
    s->C[row] = s->at.z[row], s->Y[row] = s->T[row] = s->b[k] = 0.0, s->d[row] = 1.0;
    s->r[row] = -s->at.u[row] - softness(s, k) * s->C[row];
}

static bool isLifted(const pcCentral* s, int k) { return !s->lifted || s->lifted[k]; }

/* Without |u_t|: s = 0, T = 0, and B is the identity. */
static void evaluateUnlifted(pcCentral* s, int k)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    frameOf(n, s->at.z + row, s->d + row);
    pcSocCentre(n, s->at.z + row, gapOf(s, k), s->C + row, s->Y + row);
    s->b[k] = 0.0;
    for (int i = row; i < row + n; i++) s->r[i] = s->Y[i] - s->at.u[i], s->T[i] = 0.0;
}

/* C, Y, r and T of a contact. */
static void evaluateCone(pcCentral* s, int k)
{
    if (!isLifted(s, k)) {
        evaluateUnlifted(s, k);
        return;
    }
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    const double *z = s->at.z + row, *u = s->at.u + row;
    double *r = s->r + row, *T = s->T + row, *d = s->d + row, t[PC_SOC_ROWS] = {0.0};
    double m = gapOf(s, k), slip = pcSocTail(n, u), soft = SMOOTH * m / impulseAlong(z[0] + pcSocTail(n, z), m),
           over = sqrt(slip * slip + soft * soft);
    double b = over > 0.0 ? SMOOTH * (soft / over - 1.0) : 0.0;
    frameOf(n, z, d);
    pcSocCentre(n, z, m, s->C + row, s->Y + row);
    for (int i = 0; i < n; i++) r[i] = s->Y[row + i] - u[i];
    r[0] -= over - soft;
    s->b[k] = b /= 1.0 - b;
    for (int i = 1; i < n; i++) t[i] = over > 0.0 ? u[i] / over : 0.0;
    for (int i = 0; i < n; i++) T[i] = t[i] + b * (d[i] + t[i]);
}

static void evaluateCones(void* context, int begin, int end)
{
    pcCentral* s = context;
    for (int k = begin; k < end; k++) (isContact(s->p->cone + k) ? evaluateCone : evaluateFree)(s, k);
}

PC_SIMD static void balance(void* context, int begin, int end)
{
    pcCentral* s = context;
    for (int b = begin; b < end; b++) {
        double moved[6];
        for (int i = 0; i < 6; i++) moved[i] = s->at.v[6 * b + i] - s->p->free[6 * b + i];
        for (int i = 0; i < 6; i++) s->F[6 * b + i] = dotSix(s->p->mass + 36 * (size_t)b + 6 * i, moved);
        addTouching(s->p, s->touching, b, -s->unit, s->own, s->C, s->F + 6 * b);
    }
}

static void evaluate(pcCentral* s)
{
    s->m = exp(s->at.t);
    overCones(s, evaluateCones);
    overBlocks(s, balance);
}

/* ---- the matrix ---- */

static void stiffenFree(pcCentral* s, int k)
{
    double A = 1.0 / (STIFF + softness(s, k));
    s->A[s->offset[k]] = A, s->G[s->offset[k]] = A / s->own[k], s->Ct[s->p->cone[k].row] = 0.0;
}

static void stiffenCone(pcCentral* s, int k)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    const double *z = s->at.z + row, *d = s->d + row, *T = s->T + row;
    double *A = s->A + s->offset[k], *G = s->G + s->offset[k], tail = pcSocTail(n, z), m = gapOf(s, k);
    double first = impulseAlong(z[0] + tail, m), second = impulseAlong(z[0] - tail, m);
    double along[2] = {first * first / m, second * second / m}, across = first * second / m;
    double change[2] = {m / (first + m / first), m / (second + m / second)}; /* of C and Y by log m, l being as it is */
    if (n == 1) along[1] = along[0], change[1] = change[0];
    for (int i = 0; i < n; i++) {
        s->Ct[row + i] = 0.5 * (change[0] + (i ? -change[1] : change[1])) * d[i];
        for (int j = 0; j < n; j++) {
            bool tails = i > 0 && j > 0, mixed = (i > 0) != (j > 0);
            A[i * n + j] =
                0.5 * (along[0] + (mixed ? -along[1] : along[1])) * d[i] * d[j] + (tails ? across * ((i == j) - d[i] * d[j]) : 0.0);
        }
    }
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) G[i * n + j] = (A[i * n + j] + A[i * n] * T[j]) / s->own[k];
}

static void stiffen(void* context, int begin, int end)
{
    pcCentral* s = context;
    for (int k = begin; k < end; k++) {
        int row = s->p->cone[k].row;
        for (int i = row; i < row + s->p->cone[k].rows; i++) s->TH[i] = s->T[i], s->dH[i] = s->d[i];
        s->bH[k] = s->b[k];
        (isContact(s->p->cone + k) ? stiffenCone : stiffenFree)(s, k);
    }
}

static bool factor(pcCentral* s)
{
    s->factors++;
    overCones(s, stiffen);
    return pcStiffnessFactor(s->p, s->G, s->offset, s->H);
}

/* ---- ways ---- */

/* Y_t dt - R without du: of the tangent, by dt = 1, or of what is left. */
static void loadOf(const pcCentral* s, int k, double* x)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    double along = 0.0;
    for (int i = 0; i < n; i++) x[i] = s->isTangent ? s->Ct[row + i] : s->r[row + i];
    for (int i = 0; i < n && !s->isTangent; i++) along += s->dH[row + i] * x[i];
    x[0] += s->bH[k] * along;
}

static void loadCones(void* context, int begin, int end)
{
    const pcCentral* s = context;
    for (int k = begin; k < end; k++) {
        int n = s->p->cone[k].rows, row = s->p->cone[k].row;
        const double* A = s->A + s->offset[k];
        double x[PC_SOC_ROWS];
        loadOf(s, k, x);
        for (int i = 0; i < n; i++) {
            s->g[row + i] = s->isTangent ? s->Ct[row + i] : 0.0;
            for (int j = 0; j < n; j++) s->g[row + i] += A[i * n + j] * x[j];
        }
    }
}

PC_SIMD static void loadBlocks(void* context, int begin, int end)
{
    pcCentral* s = context;
    for (int i = 6 * begin; i < 6 * end; i++) s->dv[i] = s->isTangent ? 0.0 : -s->F[i];
    for (int b = begin; b < end; b++) addTouching(s->p, s->touching, b, s->unit, s->own, s->g, s->dv + 6 * b);
}

/* du and dz of dv: in `correction` or `tangent`. */
PC_SIMD static void answerCones(void* context, int begin, int end)
{
    pcCentral* s = context;
    Point* way = s->isTangent ? &s->tangent : &s->correction;
    for (int k = begin; k < end; k++) {
        int n = s->p->cone[k].rows, row = s->p->cone[k].row;
        const double *A = s->A + s->offset[k], *T = s->TH + row;
        double x[PC_SOC_ROWS], *du = way->u + row;
        loadOf(s, k, x);
        for (int i = 0; i < n; i++) du[i] = rowTimes(s->p, row + i, s->dv) / s->unit, x[i] -= du[i];
        for (int i = 0; i < n; i++) x[0] -= T[i] * du[i];
        for (int i = 0; i < n; i++) {
            way->z[row + i] = isContact(s->p->cone + k) ? x[i] : 0.0;
            for (int j = 0; j < n; j++) way->z[row + i] += A[i * n + j] * x[j];
        }
    }
}

static void solve(pcCentral* s, bool isTangent)
{
    Point* way = isTangent ? &s->tangent : &s->correction;
    s->isTangent = isTangent;
    overCones(s, loadCones);
    overBlocks(s, loadBlocks);
    pcBlocksSolve(s->H, s->dv);
    overCones(s, answerCones);
    memcpy(way->v, s->dv, 6 * (size_t)s->p->blocks * sizeof *way->v);
    way->t = isTangent;
}

/* Of two ways at one cone, on the scales of its eigenvalues. */
static double productAt(const pcCentral* s, int k)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    const double *z = s->at.z + row, *x = s->x->z + row, *y = s->y->z + row, *d = s->d + row;
    double tail = pcSocTail(n, z), first = z[0] + tail, second = z[0] - tail, width = 4.0 * gapOf(s, k), xd = pcSocDot(n, d, x),
           yd = pcSocDot(n, d, y);
    double product = (x[0] + xd) * (y[0] + yd) / (first * first + width);
    if (n > 1) product += (x[0] - xd) * (y[0] - yd) / (second * second + width);
    if (n > 2) {
        double turns = larger(tail * tail, second * second) + width;
        product += (d[1] * x[2] - d[2] * x[1]) * (d[1] * y[2] - d[2] * y[1]) / turns;
    }
    return product;
}

static void multiply(void* context, int begin, int end)
{
    pcCentral* s = context;
    double sum = 0.0, most = 0.0;
    for (int k = begin; k < end; k++) {
        double product = isContact(s->p->cone + k) ? productAt(s, k) : 0.0;
        sum += product, most = larger(most, product);
    }
    s->partial[begin / PC_CHUNK] = sum, s->partial[pcChunks(s->p->cones) + begin / PC_CHUNK] = most;
}

/* The product of two ways, and the length of x at the cone where that is largest. */
static double productOf(pcCentral* s, const Point* x, const Point* y, double* most)
{
    int chunks = pcChunks(s->p->cones);
    double sum = x->t * y->t, largest = 0.0;
    s->x = x, s->y = y;
    overCones(s, multiply);
    for (int i = 0; i < chunks; i++) sum += s->partial[i], largest = larger(largest, s->partial[chunks + i]);
    if (most) *most = sqrt(largest);
    return sum;
}

static double largestOf(pcCentral* s, const Point* x)
{
    double most;
    productOf(s, x, x, &most);
    return most;
}

static void copyPoint(const pcCentral* s, const Point* from, Point* to)
{
    size_t rows = (size_t)s->p->rows * sizeof *to->z, unknowns = 6 * (size_t)s->p->blocks * sizeof *to->v;
    memcpy(to->z, from->z, rows), memcpy(to->u, from->u, rows), memcpy(to->v, from->v, unknowns);
    to->t = from->t;
}

/* to = from + a way */
static void add(const pcCentral* s, const Point* from, double a, const Point* way, Point* to)
{
    for (int i = 0; i < s->p->rows; i++) to->z[i] = from->z[i] + a * way->z[i], to->u[i] = from->u[i] + a * way->u[i];
    for (int i = 0; i < 6 * s->p->blocks; i++) to->v[i] = from->v[i] + a * way->v[i];
    to->t = from->t + a * way->t;
}

/* ---- back to the path ---- */

/* The correction, across the way that the step has followed; its size. `slope`: how much of the way there is in the tangent. */
static double correctionAcross(pcCentral* s, double slope)
{
    solve(s, false);
    if (slope != 0.0) {
        double a = -productOf(s, &s->correction, &s->way, NULL) / slope;
        add(s, &s->correction, larger(-1.0, smaller(1.0, a)), &s->tangent, &s->correction);
    }
    return largestOf(s, &s->correction);
}

/* By as much of `full` as makes the next correction smaller; false: nothing does. */
static bool damp(pcCentral* s, double slope, double size, double fine, double* part, double* next)
{
    copyPoint(s, &s->at, &s->from);
    copyPoint(s, &s->correction, &s->full);
    for (*part = 1.0; *part > DAMPED; *part *= 0.5) {
        add(s, &s->from, *part, &s->full, &s->at);
        evaluate(s);
        *next = correctionAcross(s, slope);
        if (*next < (1.0 - 0.5 * *part) * size || size < fine) return true;
    }
    return false;
}

/* Newton's method across the way. How many corrections it took, and how the first one contracted; 0: it does not get to the path. */
static int correct(pcCentral* s, double* contraction)
{
    double care = pow(CARE, s->care), near = care * NEAR, fine = care * FINE;
    evaluate(s);
    for (int i = 1; i <= CORRECTIONS; i++) {
        double part, next;
        if (!factor(s)) return 0;
        solve(s, true);
        double slope = productOf(s, &s->tangent, &s->way, NULL), size = correctionAcross(s, slope);
        if (!(size < FURTHEST) || !damp(s, slope, size, fine, &part, &next)) return 0;
        if (i == 1) *contraction = part < 1.0 ? 1.0 : next / size;
        if (part < 1.0) continue;
        add(s, &s->at, 1.0, &s->correction, &s->at);
        evaluate(s);
        if (size < fine || (next < near && next < CONTRACTS * size)) return i;
    }
    return 0;
}

/* The same without asking whether it contracts: it may land on another branch beyond a turn of this one, which leads to a solution as well. A solution takes
 * a fiftieth of what factors do, so the same ones serve as long as corrections halve. False: it does not land. `first`: the first correction. */
static bool leap(pcCentral* s, double* first)
{
    double before = HUGE_VAL, slope = 0.0;
    bool old = false;
    evaluate(s);
    for (int i = 0, factors = 0; i < LEAP_CORRECTIONS;) {
        if (!old) {
            if (factors++ == LEAP_FACTORS || !factor(s)) return false;
            solve(s, true);
            slope = productOf(s, &s->tangent, &s->way, NULL);
        }
        double size = correctionAcross(s, slope);
        if (i == 0 && isfinite(size)) *first = size;
        if (!(size < (i == 0 ? TOO_FAR : old ? DIVERGES * before : STRAYS * before + STRAYS_BY))) return false;
        if (old && size > OLD * before) {
            old = false;
            continue;
        }
        add(s, &s->at, smaller(1.0, LEAP / size), &s->correction, &s->at);
        evaluate(s);
        if (size < LANDED) return true;
        old = true, before = size, i++;
    }
    return false;
}

/* The direction in which m falls where the determinant is positive. Away from the path its sign may be another one: where that does not lead on along
 * the way, it is asked again where the step has come to. If it still does not, that is another branch. */
static bool leadsOn(pcCentral* s) { return -pcBlocksSign(s->H) * productOf(s, &s->tangent, &s->way, NULL) > 0.0; }

static void lookAhead(pcCentral* s)
{
    double length = sqrt(productOf(s, &s->tangent, &s->tangent, NULL)), a = -pcBlocksSign(s->H) / length;
    for (int i = 0; i < s->p->rows; i++) s->way.z[i] = a * s->tangent.z[i], s->way.u[i] = a * s->tangent.u[i];
    for (int i = 0; i < 6 * s->p->blocks; i++) s->way.v[i] = a * s->tangent.v[i];
    s->way.t = a;
}

/* ---- along it ---- */

static void setMark(pcCentral* s, double step)
{
    if (s->marks) s->mark[s->newest].step = step;
    s->newest = (s->newest + 1) % EARLIER, s->marks += s->marks < EARLIER;
    copyPoint(s, &s->at, &s->mark[s->newest].at), copyPoint(s, &s->way, &s->mark[s->newest].tangent);
    s->mark[s->newest].step = step;
}

/* The more often, the further. */
static void goBack(pcCentral* s)
{
    int back = 1 << s->care < s->marks ? 1 << s->care : s->marks - 1;
    s->marks -= back, s->newest = (s->newest + EARLIER - back) % EARLIER;
    s->care += s->care < MOST_CARE, s->easy = 0;
    const Mark* mark = s->mark + s->newest;
    copyPoint(s, &mark->at, &s->at), copyPoint(s, &mark->tangent, &s->way);
    s->step = CAUTIOUS * mark->step, s->rejected = 0;
}

/* To the path from where a step has led. False: it does not get there. `next`: by how much the next step may be longer, or must be shorter. */
static bool land(pcCentral* s, double* next)
{
    if (s->rejected < LEAPS && s->care == 0) {
        double first = 1.0;
        bool landed = leap(s, &first);
        double wanted = sqrt(AIM / first);
        *next = landed ? larger(LEAST_LONGER, smaller(LONGER, wanted)) : larger(LEAST_SHORTER, smaller(MOST_SHORTER, wanted));
        return landed;
    }
    double contraction;
    int corrections = correct(s, &contraction);
    *next = corrections == 0   ? SHORTER
            : corrections == 1 ? smaller(LONGER, larger(1.1, 0.7 / sqrt(contraction + 1e-3)))
            : corrections == 2 ? 0.9
                               : 0.6;
    return corrections > 0;
}

/* One step; false: there is no going on. */
static bool advance(pcCentral* s)
{
    const Mark* mark = s->mark + s->newest;
    double next;
    if (s->rejected >= REJECTED && s->marks > 1) goBack(s), mark = s->mark + s->newest;
    evaluate(s);
    double most = largestOf(s, &s->way), step = smaller(s->step, MOST_FALL / fabs(s->way.t) * most);
    add(s, &mark->at, step / most, &s->way, &s->at);
    bool landed = land(s, &next);
    if (landed && !leadsOn(s)) {
        if (factor(s))
            solve(s, true);
        else
            landed = false, next = SHORTER;
    }
    s->step = smaller(LONGEST_STEP, next * step);
    if (!landed) {
        copyPoint(s, &mark->at, &s->at);
        s->rejected++;
        return s->step > SHORTEST || s->step / most * fabs(s->way.t) > SHORTEST;
    }
    lookAhead(s);
    setMark(s, step);
    if (s->care && ++s->easy > EASY) s->care--, s->easy = 0;
    s->rejected = 0;
    return true;
}

/* ---- from beginning to end ---- */

bool pcCentralApplies(const pcProblem* p)
{
    int contacts = 0;
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = p->cone + k;
        if (cone->kind == PC_CONE_BOX || cone->rows > PC_SOC_ROWS || cone->groups > 1 || cone->edges > 0) return false;
        for (int i = cone->row; i < cone->row + cone->rows && isContact(cone); i++)
            if (p->soft[i] > 0.0) return false;
        contacts += isContact(cone);
    }
    return p->coulomb && !p->W && !p->dense && contacts > 0;
}

static void pointNew(const pcProblem* p, pcArena* arena, Point* out)
{
    out->z = pcArenaNew(arena, double, p->rows), out->u = pcArenaNew(arena, double, p->rows),
    out->v = pcArenaNew(arena, double, 6 * p->blocks);
}

static bool allocate(pcCentral* s, pcArena* arena)
{
    size_t rows = (size_t)s->p->rows, cones = (size_t)s->p->cones, unknowns = 6 * (size_t)s->p->blocks;
    int all = 0;
    s->offset = pcArenaNew(arena, int, cones);
    if (!s->offset) return false;
    for (size_t k = 0; k < cones; k++) s->offset[k] = all, all += s->p->cone[k].rows * s->p->cone[k].rows;
    Point* points[] = {&s->at, &s->tangent, &s->correction, &s->full, &s->way, &s->from};
    double** perRow[] = {&s->C, &s->Y, &s->r, &s->T, &s->d, &s->TH, &s->dH, &s->Ct, &s->g};
    for (size_t i = 0; i < sizeof points / sizeof *points; i++) pointNew(s->p, arena, points[i]);
    for (int i = 0; i < EARLIER; i++) pointNew(s->p, arena, &s->mark[i].at), pointNew(s->p, arena, &s->mark[i].tangent);
    for (size_t i = 0; i < sizeof perRow / sizeof *perRow; i++) *perRow[i] = pcArenaNew(arena, double, rows);
    s->A = pcArenaNew(arena, double, all), s->G = pcArenaNew(arena, double, all);
    s->F = pcArenaNew(arena, double, unknowns), s->dv = pcArenaNew(arena, double, unknowns);
    s->own = pcArenaNew(arena, double, cones), s->weight = pcArenaNew(arena, double, cones), s->b = pcArenaNew(arena, double, cones);
    s->bH = pcArenaNew(arena, double, cones);
    s->partial = pcArenaNew(arena, double, 2 * pcChunks(s->p->cones));
    return pcArenaGood(arena);
}

/* Without impulses nothing is on the path, but where m is as large as the square of any velocity that is not far away. */
static void placeAtBeginning(pcCentral* s)
{
    const pcProblem* p = s->p;
    double most = 1.0;
    memcpy(s->at.v, p->free, 6 * (size_t)p->blocks * sizeof *s->at.v);
    for (int k = 0; k < p->cones; k++) {
        int n = p->cone[k].rows, row = p->cone[k].row;
        double *u = s->at.u + row, *z = s->at.z + row;
        for (int i = 0; i < n; i++) u[i] = (rowTimes(p, row + i, p->free) - p->target[row + i]) / s->unit, z[i] = -u[i];
        z[0] = isContact(p->cone + k) ? -pcSocTail(n, u) - larger(u[0], 0.0) : 0.0;
        most = larger(most, fabs(u[0]) - z[0]);
    }
    s->at.t = 2.0 * log(most), s->step = FIRST_STEP;
    s->marks = s->rejected = s->care = 0;
}

static void setUnits(pcCentral* s, const double* own)
{
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        for (int i = 0; i < cone->rows; i++) s->own[k] += own[cone->row + i] / cone->rows;
        s->weight[k] = 1.0;
    }
}

pcCentral* pcCentralBegin(const pcProblem* p, const double* own, double power, pcBlocks* H, pcArena* arena)
{
    pcCentral* s = pcCentralApplies(p) ? pcArenaNew(arena, pcCentral, 1) : NULL;
    if (!s) return NULL;
    s->p = p, s->H = H, s->touching = pcStiffnessTouching(H), s->unit = p->velocityScale;
    if (!allocate(s, arena)) return NULL;
    setUnits(s, own);
    s->power = power;
    return s;
}

void pcCentralLift(pcCentral* s, const bool* lifted) { s->lifted = lifted; }

/* To the path at the first m: Newton's method. */
static bool begin(pcCentral* s)
{
    placeAtBeginning(s);
    evaluate(s);
    for (int i = 0; i < BEGINNINGS; i++) {
        if (!factor(s)) return false;
        double size = correctionAcross(s, 0.0);
        add(s, &s->at, smaller(1.0, 1.0 / size), &s->correction, &s->at);
        evaluate(s);
        if (size > CENTRED) continue;
        solve(s, true);
        lookAhead(s);
        setMark(s, s->step);
        return true;
    }
    return false;
}

/* False: there is no going on. */
static bool follow(pcCentral* s, double aim, int limit)
{
    for (int end = s->factors + limit; s->at.t > log(aim) && s->factors < end;)
        if (!advance(s)) return false;
    return true;
}

/* Weights are what contacts carry on a first way to WEIGHED; then it begins once more. */
static bool beginPath(pcCentral* s)
{
    if (!begin(s)) return false;
    if (s->power == 0.0) return s->begun = true;
    if (!follow(s, WEIGHED, WEIGHED_LIMIT)) return false;
    evaluate(s);
    for (int k = 0; k < s->p->cones; k++) s->weight[k] = pow(larger(s->C[s->p->cone[k].row], LEAST_WEIGHED), s->power);
    return s->begun = begin(s);
}

bool pcCentralAnswer(const pcCentral* s, double* v, double* c)
{
    if (!s->begun) return false;
    memcpy(v, s->at.v, 6 * (size_t)s->p->blocks * sizeof *v);
    for (int k = 0; k < s->p->cones; k++) {
        int row = s->p->cone[k].row;
        bool open = isContact(s->p->cone + k) && s->C[row] < s->Y[row] && s->C[row] * s->C[row] < gapOf(s, k);
        for (int i = row; i < row + s->p->cone[k].rows; i++) c[i] = open ? 0.0 : s->C[i] * s->unit / s->own[k];
    }
    return true;
}

double pcCentralFollow(pcCentral* s, double aim, int limit, double* v, double* c)
{
    if (!s->begun && !beginPath(s)) return 0.0;
    bool goesOn = follow(s, aim, limit);
    evaluate(s);
    return goesOn && pcCentralAnswer(s, v, c) ? s->m : 0.0;
}

int pcCentralFactors(const pcCentral* s) { return s->factors; }
