#include "solver/interior_cones.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "solver/rows.h"
#include "solver/soc.h"
#include "solver/soc4.h"

#define SMOOTH 1e-2       /* of the root of m: t is that of a smoothed |u_t| below */
#define LEAST_PRODUCT 0.1 /* eigenvalues of products are corrected to between this … */
#define MOST_PRODUCT 10.0 /* … and this, by what the step aims at */
#define STIFF 1e-8        /* e of FREE rows, by their own velocity per impulse */

typedef pcInterior Interior;

/* ---- rows ---- */

/* J v of a cone's rows. */
PC_INLINE void coneTimes(const pcProblem* p, const pcCone* cone, const double* v, double* u)
{
    const int* block = p->block + 2 * (size_t)cone->row;
    const double* J = p->J + 12 * (size_t)cone->row;
    for (int i = 0; i < cone->rows; i++, J += 12) {
        u[i] = block[0] >= 0 ? dotSix(J, v + 6 * (size_t)block[0]) : 0.0;
        if (block[1] >= 0) u[i] += dotSix(J + 6, v + 6 * (size_t)block[1]);
    }
}

static double softness(const Interior* s, int k, int i) { return s->p->soft[s->p->cone[k].row + i] / s->own[k]; }

PC_INLINE void velocityOf(const Interior* s, int k, double* u)
{
    const pcCone* cone = s->p->cone + k;
    coneTimes(s->p, cone, s->v, u);
    for (int i = 0; i < cone->rows; i++) u[i] = (u[i] - s->p->target[cone->row + i]) / s->unit + softness(s, k, i) * s->C[cone->row + i];
}

void pcConeVelocity(const pcInterior* s, int k, double* u) { velocityOf(s, k, u); }

/* ---- four at a time ---- */

static bool isSoft(const Interior* s, int k)
{
    for (int i = 0; i < s->p->cone[k].rows; i++)
        if (s->p->soft[s->p->cone[k].row + i] > 0.0) return true;
    return false;
}

static bool areAlike(const Interior* s, int k)
{
    const pcCone* cone = s->p->cone + k;
    bool alike = k + 4 <= s->p->cones && (cone->rows == 2 || cone->rows == 3);
    for (int i = 0; alike && i < 4; i++)
        alike = pcIsContact(cone + i) && cone[i].rows == cone->rows && cone[i].row == cone->row + i * cone->rows && !isSoft(s, k + i);
    return alike;
}

void pcConesPair(pcInterior* s)
{
    for (int k = 0; k < s->p->cones; k++) s->four[k] = areAlike(s, k);
}

/* Whether k and the three after it are done at a time, within a loop. */
PC_INLINE bool isFour(const Interior* s, int k, int end) { return k + 4 <= end && s->four[k]; }

/* Sums of the four numbers of each, in the order of dotSix. */
PC_INLINE v4d sumsOf(const v4d x[4])
{
    v4d a = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6) + __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
    v4d b = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6) + __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
    return __builtin_shufflevector(a, b, 0, 1, 4, 5) + __builtin_shufflevector(a, b, 2, 3, 6, 7);
}

/* J v of four cones, what they do on one side of them. */
PC_INLINE pcFour fourTimes(int n, const Interior* s, int row, int side, const double* v)
{
    static const double world[6];
    const double *J = s->p->J + 12 * (size_t)row + 6 * side, *at[4];
    pcFour out = {{v4Splat(0.0), v4Splat(0.0), v4Splat(0.0)}};
    for (int c = 0; c < 4; c++) {
        int block = s->p->block[2 * (size_t)(row + c * n) + (size_t)side];
        at[c] = block >= 0 ? v + 6 * (size_t)block : world;
    }
    PC_UNROLL(3) for (int i = 0; i < n; i++)
    {
        v4d four[4];
        v2d two[4];
        PC_UNROLL(4) for (int c = 0; c < 4; c++)
        {
            const double* from = J + 12 * (c * n + i);
            four[c] = v4Load(from) * v4Load(at[c]), two[c] = v2Load(from + 4) * v2Load(at[c] + 4);
        }
        v4d first = __builtin_shufflevector(two[0], two[1], 0, 1, 2, 3), second = __builtin_shufflevector(two[2], two[3], 0, 1, 2, 3);
        out.x[i] = sumsOf(four) + (__builtin_shufflevector(first, second, 0, 2, 4, 6) + __builtin_shufflevector(first, second, 1, 3, 5, 7));
    }
    return out;
}

PC_INLINE pcFour fourBoth(int n, const Interior* s, int row, const double* v)
{
    pcFour a = fourTimes(n, s, row, 0, v), b = fourTimes(n, s, row, 1, v);
    for (int i = 0; i < n; i++) a.x[i] += b.x[i];
    return a;
}

PC_INLINE pcFourScale fourScale(int n, const Interior* s, int k, int row)
{
    return (pcFourScale){fourLoad(n, s->w + row), fourLoad(n, s->lambda + row), v4Load(s->eta + k)};
}

/* x[i] of each of four matrices that lie one after the other. */
PC_INLINE void fourMatrices(int n, const double* G, v4d* x)
{
    int size = n * n;
    for (int i = 0; i + 4 <= size; i += 4) {
        for (int c = 0; c < 4; c++) x[i + c] = v4Load(G + c * size + i);
        v4Turn(x + i);
    }
    if (size == 9) x[8] = (v4d){G[8], G[17], G[26], G[35]};
}

PC_INLINE void fourMatricesStore(int n, const v4d* x, double* G)
{
    int size = n * n;
    for (int i = 0; i + 4 <= size; i += 4) {
        v4d turned[4] = {x[i], x[i + 1], x[i + 2], x[i + 3]};
        v4Turn(turned);
        for (int c = 0; c < 4; c++) v4Store(G + c * size + i, turned[c]);
    }
    for (int c = 0; c < 4 && size == 9; c++) G[9 * c + 8] = x[8][c];
}

/* ---- where it stands ---- */

/* The shift |u_t| of one contact and its derivative t. */
static void shift(Interior* s, int k, double soft)
{
    const pcCone* cone = s->p->cone + k;
    const double* u = s->u + cone->row;
    double slip = pcSocTail(cone->rows, u), over = sqrt(slip * slip + soft * soft), *t = s->t + cone->row;
    for (int i = 1; i < cone->rows; i++) t[i] = over > 0.0 ? u[i] / over : 0.0;
    s->slip[k] = over > 0.0 ? slip * slip / over : 0.0;
}

/* u, r = Y - u - |u_t| n and t of a cone; the largest |r| of a contact. Rows without cone have r = u. */
PC_INLINE double measureCone(Interior* s, int k, double soft)
{
    const pcCone* cone = s->p->cone + k;
    int n = cone->rows;
    double *u = s->u + cone->row, *r = s->r + cone->row, largest = 0.0;
    velocityOf(s, k, u);
    for (int i = 0; i < n; i++) r[i] = pcIsContact(cone) ? s->Y[cone->row + i] - u[i] : u[i];
    if (pcIsContact(cone) && s->p->coulomb) shift(s, k, soft), r[0] -= s->slip[k];
    for (int i = 0; i < n && pcIsContact(cone); i++) largest = larger(largest, fabs(r[i]));
    return largest;
}

PC_INLINE v4d measureFour(int n, Interior* s, int k, double soft, v4d largest)
{
    const v4d none = v4Splat(0.0);
    int row = s->p->cone[k].row;
    pcFour u = fourBoth(n, s, row, s->v), target = fourLoad(n, s->p->target + row), Y = fourLoad(n, s->Y + row), r,
           t = {{none, none, none}};
    for (int i = 0; i < n; i++) u.x[i] = (u.x[i] - target.x[i]) / v4Splat(s->unit), r.x[i] = Y.x[i] - u.x[i];
    if (s->p->coulomb) {
        v4d slip = fourTail(n, &u), over = fourRoot(slip * slip + v4Splat(soft * soft));
        for (int i = 1; i < n; i++) t.x[i] = v4Select(over > none, u.x[i] / over, none);
        slip = v4Select(over > none, slip * slip / over, none);
        r.x[0] -= slip;
        fourStore(n, s->t + row, &t), v4Store(s->slip + k, slip);
    }
    for (int i = 0; i < n; i++) largest = v4Max(largest, v4Abs(r.x[i]));
    fourStore(n, s->u + row, &u), fourStore(n, s->r + row, &r);
    return largest;
}

PC_SIMD void pcConesMeasure(void* context, int begin, int end)
{
    Interior* s = context;
    double soft = SMOOTH * sqrt(s->m), largest = 0.0;
    v4d most = v4Splat(0.0);
    for (int k = begin; k < end;) {
        if (!isFour(s, k, end))
            largest = larger(largest, measureCone(s, k, soft)), k++;
        else
            most = s->p->cone[k].rows == 3 ? measureFour(3, s, k, soft, most) : measureFour(2, s, k, soft, most), k += 4;
    }
    s->partial[begin / PC_CHUNK] = larger(largest, larger(larger(most[0], most[1]), larger(most[2], most[3])));
}

/* ---- the matrix ---- */

/* W of one contact. */
PC_INLINE pcSocScale scaleOf(const Interior* s, int k)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    pcSocScale scale = {.eta = s->eta[k]};
    for (int i = 0; i < n; i++) scale.w[i] = s->w[row + i], scale.lambda[i] = s->lambda[row + i];
    return scale;
}

static void setScale(const Interior* s, int k)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    pcSocScale scale;
    pcSocScaling(n, s->C + row, s->Y + row, &scale);
    for (int i = 0; i < n; i++) s->w[row + i] = scale.w[i], s->lambda[row + i] = scale.lambda[i];
    s->eta[k] = scale.eta;
}

/* A := (1 + A S)^-1 A, row by row of S, and g with it: a soft contact gives way. */
static void soften(const Interior* s, int k, double* A, double* g)
{
    int n = s->p->cone[k].rows;
    for (int j = 0; j < n; j++) {
        double soft = softness(s, k, j), row[PC_SOC_ROWS], column[PC_SOC_ROWS], load = g[j];
        for (int i = 0; i < n; i++) row[i] = A[j * n + i], column[i] = A[i * n + j] * soft / (1.0 + A[j * n + j] * soft);
        for (int i = 0; i < n; i++) {
            g[i] -= column[i] * load;
            for (int l = 0; l < n; l++) A[i * n + l] -= column[i] * row[l];
        }
    }
}

/* W^-2 (1 + n t') of one contact. */
static void coneStiffness(const Interior* s, int k, double* A)
{
    const pcCone* cone = s->p->cone + k;
    const pcSocScale scale = scaleOf(s, k);
    int n = cone->rows;
    double column[PC_SOC_ROWS];
    for (int j = 0; j < n; j++) {
        double unit[PC_SOC_ROWS] = {s->t[cone->row + j]};
        if (j == 0) unit[0] = 0.0;
        unit[j] += 1.0;
        pcSocApplyTwice(n, &scale, unit, column);
        for (int i = 0; i < n; i++) A[i * n + j] = column[i];
    }
}

static void stiffnessOf(const Interior* s, int k, double* A)
{
    if (pcIsContact(s->p->cone + k))
        coneStiffness(s, k, A);
    else
        A[0] = 1.0 / STIFF;
}

static void stiffenCone(const Interior* s, int k)
{
    const pcCone* cone = s->p->cone + k;
    double *G = s->G + s->offset[k], none[PC_SOC_ROWS] = {0.0};
    if (pcIsContact(cone)) setScale(s, k);
    stiffnessOf(s, k, G);
    if (isSoft(s, k)) soften(s, k, G, none);
    for (int i = 0; i < cone->rows * cone->rows; i++) G[i] /= s->own[k];
}

PC_INLINE void stiffenFour(int n, const Interior* s, int k)
{
    int row = s->p->cone[k].row;
    pcFour C = fourLoad(n, s->C + row), Y = fourLoad(n, s->Y + row), t = fourLoad(n, s->t + row);
    pcFourScale scale = fourScaling(n, &C, &Y);
    v4d G[PC_SOC_ROWS * PC_SOC_ROWS], own = v4Load(s->own + k);
    for (int j = 0; j < n; j++) {
        pcFour unit = {{j ? t.x[j] : v4Splat(0.0), v4Splat(0.0), v4Splat(0.0)}};
        unit.x[j] += v4Splat(1.0);
        unit = fourApplyTwice(n, &scale, &unit);
        for (int i = 0; i < n; i++) G[i * n + j] = unit.x[i] / own;
    }
    fourStore(n, s->w + row, &scale.w), fourStore(n, s->lambda + row, &scale.lambda), v4Store(s->eta + k, scale.eta);
    fourMatricesStore(n, G, s->G + s->offset[k]);
}

PC_SIMD void pcConesStiffen(void* context, int begin, int end)
{
    const Interior* s = context;
    for (int k = begin; k < end;) {
        if (!isFour(s, k, end))
            stiffenCone(s, k), k++;
        else
            s->p->cone[k].rows == 3 ? stiffenFour(3, s, k) : stiffenFour(2, s, k), k += 4;
    }
}

/* ---- a step ---- */

/* g of one contact: what dC is where nothing moves. */
static void contactLoad(const Interior* s, int k, double* g)
{
    const pcCone* cone = s->p->cone + k;
    const pcSocScale own = scaleOf(s, k), *scale = &own;
    int n = cone->rows, row = cone->row;
    double x[PC_SOC_ROWS], dC[PC_SOC_ROWS], dY[PC_SOC_ROWS], *q = s->q + row;
    if (s->order == PC_ORDER_FIRST) memset(q, 0, (size_t)n * sizeof *q);
    if (s->order == PC_ORDER_SECOND) {
        pcSocApply(n, scale, 1.0, s->dC + row, dC), pcSocApply(n, scale, -1.0, s->dY + row, dY);
        pcSocProduct(n, dC, dY, q);
    }
    pcSocProduct(n, scale->lambda, scale->lambda, x);
    for (int i = 0; i < n; i++) x[i] = (i ? 0.0 : s->aim) - x[i] - q[i];
    pcSocDivide(n, scale->lambda, x, x);
    pcSocApply(n, scale, -1.0, x, g);
    pcSocApplyTwice(n, scale, s->r + row, x);
    for (int i = 0; i < n; i++) g[i] += x[i];
}

static void load(const Interior* s, int k, double* g)
{
    double A[PC_SOC_ROWS * PC_SOC_ROWS];
    if (pcIsContact(s->p->cone + k))
        contactLoad(s, k, g);
    else
        g[0] = -s->u[s->p->cone[k].row] / STIFF;
    if (!isSoft(s, k)) return;
    stiffnessOf(s, k, A);
    soften(s, k, A, g);
}

PC_INLINE void loadFour(int n, const Interior* s, int k)
{
    int row = s->p->cone[k].row;
    const pcFourScale scale = fourScale(n, s, k, row);
    pcFour q = {{v4Splat(0.0), v4Splat(0.0), v4Splat(0.0)}}, r = fourLoad(n, s->r + row);
    if (s->order == PC_ORDER_SECOND) {
        pcFour dC = fourLoad(n, s->dC + row), dY = fourLoad(n, s->dY + row);
        dC = fourApply(n, &scale, 1.0, &dC), dY = fourApply(n, &scale, -1.0, &dY);
        q = fourProduct(n, &dC, &dY);
    }
    if (s->order == PC_ORDER_CORRECTED)
        q = fourLoad(n, s->q + row);
    else
        fourStore(n, s->q + row, &q);
    pcFour x = fourProduct(n, &scale.lambda, &scale.lambda);
    for (int i = 0; i < n; i++) x.x[i] = v4Splat(i ? 0.0 : s->aim) - x.x[i] - q.x[i];
    x = fourDivide(n, &scale.lambda, &x);
    pcFour g = fourApply(n, &scale, -1.0, &x);
    x = fourApplyTwice(n, &scale, &r);
    for (int i = 0; i < n; i++) g.x[i] += x.x[i];
    fourStore(n, s->g + row, &g);
}

PC_SIMD void pcConesLoad(void* context, int begin, int end)
{
    const Interior* s = context;
    for (int k = begin; k < end;) {
        if (!isFour(s, k, end))
            load(s, k, s->g + s->p->cone[k].row), k++;
        else
            s->p->cone[k].rows == 3 ? loadFour(3, s, k) : loadFour(2, s, k), k += 4;
    }
}

/* dC and dY of a cone by dv. */
PC_INLINE void answer(Interior* s, int k)
{
    const pcCone* cone = s->p->cone + k;
    const double *G = s->G + s->offset[k], *g = s->g + cone->row;
    double du[PC_SOC_ROWS], *dC = s->dC + cone->row, *dY = s->dY + cone->row;
    int n = cone->rows;
    coneTimes(s->p, cone, s->dv, du);
    for (int i = 0; i < n; i++) {
        dC[i] = g[i];
        for (int j = 0; j < n; j++) dC[i] -= s->own[k] / s->unit * G[i * n + j] * du[j];
    }
    if (!pcIsContact(cone)) return;
    for (int i = 0; i < n; i++) du[i] = du[i] / s->unit + softness(s, k, i) * dC[i];
    for (int i = 0; i < n; i++) dY[i] = du[i] - s->r[cone->row + i];
    dY[0] += pcSocDot(n, s->t + cone->row, du);
}

/* To the border of a cone: `nearest`, or less. */
PC_INLINE double reachOf(const Interior* s, int k, double nearest)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    if (!pcIsContact(s->p->cone + k)) return nearest;
    return smaller(nearest, smaller(pcSocReach(n, s->C + row, s->dC + row), pcSocReach(n, s->Y + row, s->dY + row)));
}

PC_INLINE v4d answerFour(int n, Interior* s, int k, v4d nearest)
{
    int row = s->p->cone[k].row;
    pcFour dC = fourLoad(n, s->g + row), du = fourBoth(n, s, row, s->dv), dY, r = fourLoad(n, s->r + row), t = fourLoad(n, s->t + row);
    v4d G[PC_SOC_ROWS * PC_SOC_ROWS], own = v4Load(s->own + k) / v4Splat(s->unit);
    fourMatrices(n, s->G + s->offset[k], G);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) dC.x[i] -= own * G[i * n + j] * du.x[j];
    for (int i = 0; i < n; i++) du.x[i] = du.x[i] / v4Splat(s->unit), dY.x[i] = du.x[i] - r.x[i];
    dY.x[0] += fourDot(n, &t, &du);
    pcFour C = fourLoad(n, s->C + row), Y = fourLoad(n, s->Y + row);
    fourStore(n, s->dC + row, &dC), fourStore(n, s->dY + row, &dY);
    return v4Min(nearest, v4Min(fourReach(n, &C, &dC), fourReach(n, &Y, &dY)));
}

PC_SIMD void pcConesAnswer(void* context, int begin, int end)
{
    Interior* s = context;
    double nearest = HUGE_VAL;
    v4d least = v4Splat(HUGE_VAL);
    for (int k = begin; k < end;) {
        if (!isFour(s, k, end))
            answer(s, k), nearest = reachOf(s, k, nearest), k++;
        else
            least = s->p->cone[k].rows == 3 ? answerFour(3, s, k, least) : answerFour(2, s, k, least), k += 4;
    }
    s->partial[begin / PC_CHUNK] = -smaller(nearest, smaller(smaller(least[0], least[1]), smaller(least[2], least[3])));
}

/* What an eigenvalue of a product lacks, but not more than it may be too large by. */
static double lackOf(double l, double aim)
{
    return larger(larger(LEAST_PRODUCT * aim, smaller(MOST_PRODUCT * aim, l)) - l, -MOST_PRODUCT * aim);
}

static void correctCone(const Interior* s, int k)
{
    const pcSocScale own = scaleOf(s, k), *scale = &own;
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    double C[PC_SOC_ROWS], Y[PC_SOC_ROWS], product[PC_SOC_ROWS], *q = s->q + row;
    for (int i = 0; i < n; i++) C[i] = s->C[row + i] + s->a * s->dC[row + i], Y[i] = s->Y[row + i] + s->a * s->dY[row + i];
    pcSocApply(n, scale, 1.0, C, C), pcSocApply(n, scale, -1.0, Y, Y);
    pcSocProduct(n, C, Y, product);
    double tail = pcSocTail(n, product), more = lackOf(product[0] + tail, s->aim), less = lackOf(product[0] - tail, s->aim);
    q[0] -= 0.5 * (more + less);
    for (int i = 1; i < n && tail > 0.0; i++) q[i] -= 0.5 * (more - less) * product[i] / tail;
}

PC_INLINE v4d lacksOf(v4d l, double aim)
{
    v4d wanted = v4Max(v4Splat(LEAST_PRODUCT * aim), v4Min(v4Splat(MOST_PRODUCT * aim), l));
    return v4Max(wanted - l, v4Splat(-MOST_PRODUCT * aim));
}

PC_INLINE void correctFour(int n, const Interior* s, int k)
{
    const v4d half = v4Splat(0.5), none = v4Splat(0.0), a = v4Splat(s->a);
    int row = s->p->cone[k].row;
    const pcFourScale scale = fourScale(n, s, k, row);
    pcFour C = fourLoad(n, s->C + row), Y = fourLoad(n, s->Y + row), dC = fourLoad(n, s->dC + row), dY = fourLoad(n, s->dY + row);
    for (int i = 0; i < n; i++) C.x[i] = C.x[i] + a * dC.x[i], Y.x[i] = Y.x[i] + a * dY.x[i];
    C = fourApply(n, &scale, 1.0, &C), Y = fourApply(n, &scale, -1.0, &Y);
    pcFour product = fourProduct(n, &C, &Y), q = fourLoad(n, s->q + row);
    v4d tail = fourTail(n, &product), more = lacksOf(product.x[0] + tail, s->aim), less = lacksOf(product.x[0] - tail, s->aim);
    q.x[0] -= half * (more + less);
    for (int i = 1; i < n; i++) q.x[i] = v4Select(tail > none, q.x[i] - half * (more - less) * product.x[i] / tail, q.x[i]);
    fourStore(n, s->q + row, &q);
}

PC_SIMD void pcConesCorrect(void* context, int begin, int end)
{
    const Interior* s = context;
    for (int k = begin; k < end;) {
        if (isFour(s, k, end))
            s->p->cone[k].rows == 3 ? correctFour(3, s, k) : correctFour(2, s, k), k += 4;
        else if (pcIsContact(s->p->cone + k))
            correctCone(s, k), k++;
        else
            k++;
    }
}
