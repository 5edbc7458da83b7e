/*
 * The level problem of level.h. Near the last solution: Newton's method on the active functions, and an active-set loop around it that drops
 * functions with l < 0 and adds those above t. From nothing, or if that fails: a primal-dual interior point method, which needs no guess,
 *
 *     (H + sum d grad grad') dx - sum d w grad dt = -sum (m / z) grad,      z = w t - f,  d = l / z,  H = sum l Hess f
 *     -sum d w grad . dx + sum d w^2 dt           = -1 + sum w m / z,       dl = m / z - l - d dz
 *
 * until the active functions show; then Newton again, to rounding.
 */
#include "implicit/level.h"

#include <string.h>

#include "linalg/small.h"

#define MOST (4 + PC_ACTIVE)

static int total(const pcLevelPair* p) { return p->side[0]->piece->count + p->side[1]->piece->count; }
static int sideOf(const pcLevelPair* p, int index) { return index >= p->side[0]->piece->count; }

static const pcFunction* functionOf(const pcLevelPair* p, int index)
{
    int side = sideOf(p, index);
    return p->side[side]->piece->function + index - (side ? p->side[0]->piece->count : 0);
}

static pcJet jetAt(const pcLevelPair* p, int index, v3 x)
{
    const pcPlacedPiece* side = p->side[sideOf(p, index)];
    pcJet j = pcFunctionAt(functionOf(p, index), m3TMul(&side->R, v3Sub(x, side->at)));
    j.g = m3Mul(&side->R, j.g);
    if (j.curved && !j.even) pcHessianTurn(&side->R, j.H);
    return j;
}

static double valueAt(const pcLevelPair* p, int index, v3 x)
{
    const pcPlacedPiece* side = p->side[sideOf(p, index)];
    return pcFunctionValue(functionOf(p, index), m3TMul(&side->R, v3Sub(x, side->at)));
}

static double weightOf(const pcLevelPair* p, int index) { return p->weight[sideOf(p, index)]; }

/* A length of the pair: the smaller of the two bodies. */
static double lengthOf(const pcLevelPair* p)
{
    double a = p->side[0]->piece->radius, b = p->side[1]->piece->radius, least = smaller(a, b);
    return least < HUGE_VAL ? least : 1.0;
}

/* ---- Newton on the active functions ---- */

typedef struct Kkt {
    double A[MOST * MOST];
    double rhs[MOST];
    double size; /* of the residual, relative */
} Kkt;

/* The matrix [H 0 G; G' -w 0; 0 0 w'] over (x, t, l), without the part of H's null space: a little of the identity keeps x where it is
 * along directions in which neither body bends (a face on a face). */
static void kktMatrix(const pcLevelPair* p, const pcLevel* s, const pcJet* jet, double flat, double* A)
{
    int n = 4 + s->count;
    memset(A, 0, (size_t)(n * n) * sizeof *A);
    double trace = 0.0;
    for (int i = 0; i < s->count; i++) {
        double g[3], w = weightOf(p, s->index[i]);
        v3Store(g, jet[i].g);
        for (int k = 0; k < 3; k++) A[k * n + 4 + i] = A[(4 + i) * n + k] = g[k];
        A[(4 + i) * n + 3] = -w, A[3 * n + 4 + i] = -w;
        if (!jet[i].curved) continue;
        for (int r = 0; r < 3; r++)
            for (int k = 0; k < 3; k++) A[r * n + k] += s->l[i] * jet[i].H[3 * r + k];
    }
    for (int k = 0; k < 3; k++) trace += A[k * n + k];
    double little = flat * (trace > 0.0 ? trace : 1.0 / lengthOf(p));
    for (int k = 0; k < 3; k++) A[k * n + k] += little;
}

static void kktResidual(const pcLevelPair* p, const pcLevel* s, const pcJet* jet, Kkt* out)
{
    v3 sum = {0, 0, 0};
    double weights = 0.0, length = lengthOf(p), scale = 0.0;
    for (int i = 0; i < s->count; i++) {
        double w = weightOf(p, s->index[i]);
        sum = v3AddScaled(sum, s->l[i], jet[i].g);
        scale = larger(scale, fabs(s->l[i]) * v3Size(jet[i].g));
        weights += w * s->l[i];
        out->rhs[4 + i] = -(jet[i].f - w * s->t);
    }
    v3Store(out->rhs, v3Neg(sum));
    out->rhs[3] = weights - 1.0;
    out->size = fabs(out->rhs[3]) + v3Size(sum) / (scale > 0.0 ? scale : 1.0);
    for (int i = 0; i < s->count; i++) out->size = larger(out->size, fabs(out->rhs[4 + i]) / (length * larger(v3Size(jet[i].g), 1e-300)));
}

static void refreshN(const pcLevelPair* p, pcLevel* s, const pcJet* jet)
{
    s->N = v3Make(0, 0, 0);
    for (int i = 0; i < s->count; i++)
        if (sideOf(p, s->index[i]) == 0) s->N = v3AddScaled(s->N, s->l[i], jet[i].g);
}

#define SETTLED 1e-14
#define PATIENCE 5 /* rounds without progress: at a flat pole some overshoot */

/* Newton with the functions that are active now; false if it does not settle. */
static bool newton(const pcLevelPair* p, pcLevel* s)
{
    pcJet jet[PC_ACTIVE];
    Kkt kkt;
    double last = HUGE_VAL, best = HUGE_VAL, limit = 2.0 * lengthOf(p);
    int since = 0;
    for (int round = 0; round < 60; round++) { /* two or three, but at a flat pole each takes a third of the last */
        for (int i = 0; i < s->count; i++) jet[i] = jetAt(p, s->index[i], s->x);
        kktResidual(p, s, jet, &kkt);
        bool stalls = !(kkt.size < 0.5 * last) && kkt.size <= 64.0 * SETTLED;
        if (kkt.size <= SETTLED || stalls) {
            refreshN(p, s, jet);
            return true;
        }
        since = kkt.size < best ? 0 : since + 1;
        if (!(kkt.size < HUGE_VAL) || (round > 5 && since > PATIENCE)) return false;
        last = kkt.size, best = smaller(best, last);
        kktMatrix(p, s, jet, 1e-9, kkt.A);
        s->work++;
        if (!pcSmallSolve(4 + s->count, kkt.A, 4 + s->count, kkt.rhs, 1, 1)) return false;
        v3 step = v3Load(kkt.rhs);
        double far = v3Norm(step), part = far > limit ? limit / far : 1.0;
        s->x = v3AddScaled(s->x, part, step), s->t += part * kkt.rhs[3];
        for (int i = 0; i < s->count; i++) s->l[i] += part * kkt.rhs[4 + i];
    }
    return false;
}

static void drop(pcLevel* s, int i)
{
    s->count--;
    for (; i < s->count; i++) s->index[i] = s->index[i + 1], s->l[i] = s->l[i + 1];
}

static bool hasBothSides(const pcLevelPair* p, const pcLevel* s)
{
    int sides = 0;
    for (int i = 0; i < s->count; i++) sides |= 1 << sideOf(p, s->index[i]);
    return sides == 3;
}

static int mostNegative(const pcLevel* s)
{
    int worst = -1;
    for (int i = 0; i < s->count; i++)
        if (s->l[i] < -1e-12 && (worst < 0 || s->l[i] < s->l[worst])) worst = i;
    return worst;
}

static bool isActive(const pcLevel* s, int index)
{
    for (int i = 0; i < s->count; i++)
        if (s->index[i] == index) return true;
    return false;
}

/* The function that lies highest above its level at x; -1: none does. */
static int mostViolated(const pcLevelPair* p, const pcLevel* s)
{
    double worst = 1e-12 * lengthOf(p);
    int at = -1, n = total(p);
    if (n == 2) return -1;
    for (int i = 0; i < n; i++) {
        if (isActive(s, i)) continue;
        double above = valueAt(p, i, s->x) - weightOf(p, i) * s->t;
        if (above > worst) worst = above, at = i;
    }
    return at;
}

/* Four functions determine (x, t); a fifth takes the place of that one which leaves no multiplier negative. */
static bool exchange(const pcLevelPair* p, pcLevel* s, int enters)
{
    for (int i = 0; i < s->count; i++) {
        pcLevel other = *s;
        other.index[i] = enters, other.l[i] = 0.0;
        if (!hasBothSides(p, &other) || !newton(p, &other)) continue;
        if (mostNegative(&other) >= 0 || !(other.t > s->t - 1e-12 * lengthOf(p))) continue;
        *s = other;
        return true;
    }
    return false;
}

/* The choice of the active functions that G leaves open: one change at a time, until nothing is negative and nothing above. */
static bool activeSet(const pcLevelPair* p, pcLevel* s)
{
    for (int round = 0; round < 20; round++) {
        if (s->count < 2 || !hasBothSides(p, s) || !newton(p, s)) return false;
        int leaves = mostNegative(s);
        if (leaves >= 0) {
            drop(s, leaves);
            continue;
        }
        int enters = mostViolated(p, s);
        if (enters < 0) return true;
        if (s->count >= 4) {
            if (!exchange(p, s, enters)) return false;
        } else {
            s->index[s->count] = enters, s->l[s->count++] = 0.0;
        }
    }
    return false;
}

/* ---- interior point ---- */

typedef struct Interior {
    int n;
    pcJet* jet;
    double *z, *l, *dl;
    v3 x;
    double t;
} Interior;

static void fillSlacks(const pcLevelPair* p, Interior* s, bool jets)
{
    for (int i = 0; i < s->n; i++) {
        double f;
        if (jets)
            s->jet[i] = jetAt(p, i, s->x), f = s->jet[i].f;
        else
            f = valueAt(p, i, s->x);
        s->z[i] = weightOf(p, i) * s->t - f;
    }
}

static bool allPositive(const Interior* s)
{
    for (int i = 0; i < s->n; i++)
        if (!(s->z[i] > 0.0)) return false;
    return true;
}

/* Between the bodies, or inside the rigid one; t above everything. */
static void startInterior(const pcLevelPair* p, Interior* s)
{
    v3 c[2];
    for (int k = 0; k < 2; k++) c[k] = v3Add(p->side[k]->at, m3Mul(&p->side[k]->R, p->side[k]->piece->centre));
    int fixed = p->weight[0] == 0.0 ? 0 : p->weight[1] == 0.0 ? 1 : -1;
    bool open0 = !(p->side[0]->piece->radius < HUGE_VAL), open1 = !(p->side[1]->piece->radius < HUGE_VAL);
    s->x = fixed >= 0 ? c[fixed] : open0 ? c[1] : open1 ? c[0] : v3Scale(0.5, v3Add(c[0], c[1]));
    double top = -HUGE_VAL, length = lengthOf(p), weights = 0.0;
    for (int i = 0; i < s->n; i++)
        if (weightOf(p, i) > 0.0) top = larger(top, valueAt(p, i, s->x)), weights += 1.0;
    s->t = top + 0.1 * length + 0.1 * fabs(top);
    for (int i = 0; i < s->n; i++) s->l[i] = 1.0 / weights;
    fillSlacks(p, s, true);
}

static bool interiorStep(const pcLevelPair* p, Interior* s, double m, double step[4])
{
    double A[16] = {0};
    memset(step, 0, 4 * sizeof *step);
    step[3] = -1.0;
    for (int i = 0; i < s->n; i++) {
        double d = s->l[i] / s->z[i], w = weightOf(p, i), g[3], push = m / s->z[i];
        v3Store(g, s->jet[i].g);
        for (int r = 0; r < 3; r++) {
            for (int k = 0; k < 3; k++) A[4 * r + k] += d * g[r] * g[k] + (s->jet[i].curved ? s->l[i] * s->jet[i].H[3 * r + k] : 0.0);
            A[4 * r + 3] -= d * w * g[r], A[12 + r] -= d * w * g[r], step[r] -= push * g[r];
        }
        A[15] += d * w * w, step[3] += w * push;
    }
    double trace = A[0] + A[5] + A[10];
    for (int k = 0; k < 3; k++) A[5 * k] += 1e-8 * trace; /* faces on faces, and where functions are flat: any point of them will do */
    if (!pcSmallSolve(4, A, 4, step, 1, 1)) return false;
    for (int i = 0; i < s->n; i++) {
        double dz = weightOf(p, i) * step[3] - v3Dot(s->jet[i].g, v3Load(step));
        s->dl[i] = m / s->z[i] - s->l[i] - s->l[i] / s->z[i] * dz;
    }
    return true;
}

/* As far as everything stays positive. */
static bool interiorMove(const pcLevelPair* p, Interior* s, const double step[4])
{
    double part = 1.0, dual = 1.0;
    for (int i = 0; i < s->n; i++)
        if (s->dl[i] < 0.0) dual = smaller(dual, -0.95 * s->l[i] / s->dl[i]);
    v3 x = s->x;
    double t = s->t;
    for (int cut = 0; cut < 40; cut++, part *= 0.7) {
        s->x = v3AddScaled(x, part, v3Load(step)), s->t = t + part * step[3];
        fillSlacks(p, s, false);
        if (allPositive(s)) break;
        if (cut == 39) return false;
    }
    s->x = v3AddScaled(x, 0.95 * part, v3Load(step)), s->t = t + 0.95 * part * step[3];
    for (int i = 0; i < s->n; i++) s->l[i] += dual * s->dl[i];
    fillSlacks(p, s, true);
    return allPositive(s);
}

/* Those whose multiplier is not on its way to 0, the largest first. */
static void guessActive(const pcLevelPair* p, const Interior* s, pcLevel* out)
{
    out->x = s->x, out->t = s->t, out->count = 0;
    double length = lengthOf(p);
    for (int i = 0; i < s->n; i++) {
        if (!(s->l[i] * length > s->z[i])) continue;
        int at = out->count < PC_ACTIVE ? out->count++ : PC_ACTIVE - 1;
        if (at == PC_ACTIVE - 1 && out->count == PC_ACTIVE && s->l[i] < out->l[at] && out->l[at] > 0.0) continue;
        for (; at > 0 && out->l[at - 1] < s->l[i]; at--) out->l[at] = out->l[at - 1], out->index[at] = out->index[at - 1];
        out->l[at] = s->l[i], out->index[at] = i;
    }
    if (out->count > 4) out->count = 4;
}

/* Where more than four functions meet, as in a corner of many faces, most choices of four have a negative multiplier, and dropping it leads
 * nowhere: all of them, one after the other. */
static bool chooseFour(const pcLevelPair* p, const Interior* s, pcLevel* out)
{
    enum { FEW = 8 };
    int near[FEW], few = 0;
    double length = lengthOf(p);
    for (int i = 0; i < s->n && few < FEW; i++)
        if (s->l[i] * length > s->z[i]) near[few++] = i;
    for (int set = 0; set < 1 << few; set++) {
        pcLevel level = {.x = s->x, .t = s->t};
        for (int i = 0; i < few && level.count <= 4; i++)
            if (set >> i & 1) level.l[level.count] = s->l[near[i]], level.index[level.count++] = near[i];
        if (level.count != 4 || !hasBothSides(p, &level) || !newton(p, &level) || !pcLevelIsRight(p, &level)) continue;
        *out = level;
        return true;
    }
    return false;
}

static bool interior(const pcLevelPair* p, pcArena* arena, pcLevel* level)
{
    Interior s = {.n = total(p)};
    s.jet = pcArenaRaw(arena, pcJet, s.n), s.z = pcArenaRaw(arena, double, s.n);
    s.l = pcArenaRaw(arena, double, s.n), s.dl = pcArenaRaw(arena, double, s.n);
    if (!pcArenaGood(arena)) return false;
    startInterior(p, &s);
    if (!allPositive(&s)) return false;
    double step[4], length = lengthOf(p);
    for (int round = 0; round < 80; round++) {
        double m = 0.0;
        for (int i = 0; i < s.n; i++) m += s.l[i] * s.z[i];
        m /= s.n;
        if (round % 2 == 1 && m < 1e-2 * length) {
            pcLevel guess = {0};
            guessActive(p, &s, &guess);
            if (activeSet(p, &guess) || (m < 1e-12 * length && chooseFour(p, &s, &guess))) {
                guess.work += level->work + round, guess.known = true, *level = guess;
                return true;
            }
        }
        if (m < 1e-15 * length || !interiorStep(p, &s, 0.15 * m, step) || !interiorMove(p, &s, step)) return false;
    }
    return false;
}

bool pcLevelSolve(const pcLevelPair* pair, pcArena* arena, pcLevel* level)
{
    if (level->known) {
        pcLevel warm = *level;
        if (activeSet(pair, &warm)) {
            *level = warm;
            return true;
        }
        level->known = false;
    }
    size_t mark = pcArenaMark(arena);
    bool good = interior(pair, arena, level);
    if (pcArenaGood(arena)) pcArenaRelease(arena, mark);
    return good;
}

/* ---- levels of features ---- */

bool pcLevelFollow(const pcLevelPair* pair, pcLevel* level) { return newton(pair, level); }

bool pcLevelOfPoints(const pcLevelPair* p, v3 a1, v3 a2, pcLevel* out)
{
    int meet[2] = {0, 0}, planes[2] = {0, 0};
    *out = (pcLevel){.x = v3Scale(0.5, v3Add(a1, a2))};
    for (int i = 0; i < total(p); i++) {
        int side = sideOf(p, i);
        if (!(fabs(valueAt(p, i, side ? a2 : a1)) <= 1e-8 * lengthOf(p))) continue;
        if (out->count == 4) return false;
        out->index[out->count++] = i;
        meet[side]++, planes[side] += functionOf(p, i)->kind == PC_FUNCTION_PLANE;
    }
    for (int k = 0; k < 2; k++)
        if (meet[k] == 0 || (meet[k] == 1 && planes[k] == 1)) return false;
    for (int i = 0; i < out->count; i++) out->l[i] = 1.0 / out->count;
    out->known = newton(p, out);
    return out->known;
}

/* ---- derivatives ---- */

/* Turning body b by theta about its centre c moves the point x of its axes by theta x (x - c): its functions see x move the other way, and
 * their gradients turn along. */
bool pcLevelDifferentiate(const pcLevelPair* p, const pcLevel* s, const v3 centre[2], pcColumns columns, pcLevelSlope* out)
{
    enum { C = PC_COLUMNS };
    pcJet jet[PC_ACTIVE];
    double A[MOST * MOST], B[MOST * C];
    int n = 4 + s->count;
    memset(B, 0, sizeof B);
    for (int i = 0; i < s->count; i++) jet[i] = jetAt(p, s->index[i], s->x);
    for (int c = columns.first; c < columns.end && c < PC_DRIFT; c++) {
        int body = c / 6, axis = c % 3;
        v3 e = {axis == 0, axis == 1, axis == 2}, r = v3Sub(s->x, centre[body]);
        bool turns = c % 6 >= 3;
        v3 seen = turns ? v3Neg(v3Cross(e, r)) : v3Neg(e);
        for (int i = 0; i < s->count; i++) {
            if (sideOf(p, s->index[i]) != body) continue;
            v3 change = turns ? v3Cross(e, jet[i].g) : v3Make(0, 0, 0);
            if (jet[i].curved)
                for (int k = 0; k < 3; k++) {
                    double row = v3Dot(v3Load(jet[i].H + 3 * k), seen);
                    change.x += k == 0 ? row : 0.0, change.y += k == 1 ? row : 0.0, change.z += k == 2 ? row : 0.0;
                }
            B[0 * C + c] -= s->l[i] * change.x, B[1 * C + c] -= s->l[i] * change.y, B[2 * C + c] -= s->l[i] * change.z;
            B[(4 + i) * C + c] = -v3Dot(jet[i].g, seen);
        }
    }
    double own[C][3];
    memset(own, 0, sizeof own);
    for (int c = columns.first; c < columns.end && c < 6; c++)
        v3Store(own[c], v3Make(-B[c], -B[C + c], -B[2 * C + c])); /* what body 1's own motion makes of N */
    if (columns.end == C) {
        Kkt kkt;
        kktResidual(p, s, jet, &kkt);
        for (int i = 0; i < n; i++) B[i * C + PC_DRIFT] = kkt.rhs[i];
    }
    bool unique = p->side[0]->piece->round || p->side[1]->piece->round;
    kktMatrix(p, s, jet, unique || columns.end == C ? 1e-9 : 1e-2,
              A); /* along a line of contact the point stays, as far as Newton's method is concerned */
    if (!pcSmallSolve(n, A, n, B + columns.first, columns.end - columns.first, C)) return false;
    for (int c = columns.first; c < columns.end; c++) {
        out->x[c] = v3Make(B[c], B[C + c], B[2 * C + c]), out->t[c] = B[3 * C + c];
        for (int i = 0; i < s->count; i++) out->l[c][i] = B[(4 + i) * C + c];
        v3 N = v3Load(own[c]);
        for (int i = 0; i < s->count; i++) {
            if (sideOf(p, s->index[i]) != 0) continue;
            N = v3AddScaled(N, out->l[c][i], jet[i].g);
            if (!jet[i].curved) continue;
            v3 dx = out->x[c];
            N = v3AddScaled(N, s->l[i],
                            v3Make(v3Dot(v3Load(jet[i].H), dx), v3Dot(v3Load(jet[i].H + 3), dx), v3Dot(v3Load(jet[i].H + 6), dx)));
        }
        out->N[c] = N;
    }
    return true;
}

/* ---- levels on their way ---- */

pcLevelRest pcLevelRestOf(const pcLevelPair* p, pcLevel* s)
{
    pcJet jet[PC_ACTIVE] = {0};
    Kkt kkt;
    for (int i = 0; i < s->count; i++) jet[i] = jetAt(p, s->index[i], s->x);
    kktResidual(p, s, jet, &kkt);
    refreshN(p, s, jet);
    pcLevelRest rest = {.size = kkt.size, .turn = v3Norm(v3Load(kkt.rhs)) / v3Norm(s->N), .sum = fabs(kkt.rhs[3])};
    for (int i = 0; i < s->count; i++) rest.gap = larger(rest.gap, fabs(kkt.rhs[4 + i]) / v3Norm(jet[i].g));
    return rest;
}

bool pcLevelIsRight(const pcLevelPair* p, const pcLevel* s) { return mostNegative(s) < 0 && mostViolated(p, s) < 0; }

/* ---- depth and closest points ---- */

static double highest(const pcPlacedPiece* side, v3 x, v3* gradient)
{
    double top = -HUGE_VAL;
    v3 local = m3TMul(&side->R, v3Sub(x, side->at));
    for (int i = 0; i < side->piece->count; i++) {
        pcJet j = pcFunctionAt(side->piece->function + i, local);
        if (j.f > top) top = j.f, *gradient = m3Mul(&side->R, j.g);
    }
    return top;
}

double pcLevelDepth(const pcPlacedPiece* side, v3 x, v3 n)
{
    double depth = 0.0;
    for (int round = 0; round < 60; round++) { /* from inside, along n, a convex function is met from below or above: Newton settles */
        v3 g = {0, 0, 0};
        double f = highest(side, v3AddScaled(x, depth, n), &g), slope = v3Dot(g, n);
        if (!(slope > 0.0)) slope = larger(v3Norm(g), 1e-300);
        double step = -f / slope;
        depth += step;
        if (fabs(step) <= 1e-15 * side->piece->radius || fabs(step) <= 1e-16 * fabs(depth)) break;
    }
    return depth;
}

/* Unknowns a1, a2, n, s and a multiplier per active function:
 *     a2 - a1 = s n,   sum l_i grad f_i(a1) = n,   sum l_j grad g_j(a2) = -n,   |n| = 1,   f_i(a1) = 0,   g_j(a2) = 0. */
bool pcLevelClosest(const pcLevelPair* p, const pcLevel* level, pcClosest* out)
{
    enum { N = 10 + PC_ACTIVE };
    int n = 10 + level->count;
    double size = v3Norm(level->N), l[PC_ACTIVE], length = lengthOf(p), last = HUGE_VAL;
    if (!level->known || !(size > 0.0)) return false;
    v3 a[2] = {level->x, level->x}, normal = v3Scale(1.0 / size, level->N);
    double s = level->t / size;
    for (int i = 0; i < level->count; i++) l[i] = level->l[i] / size;
    for (int round = 0; round < 30; round++) {
        double A[N * N], b[N];
        memset(A, 0, sizeof A);
        double nn[3];
        v3Store(nn, normal);
        v3Store(b, v3Neg(v3Sub(v3Sub(a[1], a[0]), v3Scale(s, normal))));
        v3 sum[2] = {v3Neg(normal), normal};
        for (int k = 0; k < 3; k++) {
            A[k * n + k] = -1.0, A[k * n + 3 + k] = 1.0, A[k * n + 6 + k] = -s, A[k * n + 9] = -nn[k];
            A[(3 + k) * n + 6 + k] = -1.0, A[(6 + k) * n + 6 + k] = 1.0, A[9 * n + 6 + k] = nn[k];
        }
        b[9] = 0.5 * (1.0 - v3Dot(normal, normal));
        double worst = 0.0;
        for (int i = 0; i < level->count; i++) {
            int side = sideOf(p, level->index[i]);
            pcJet j = jetAt(p, level->index[i], a[side]);
            double g[3];
            v3Store(g, j.g);
            sum[side] = v3AddScaled(sum[side], l[i], j.g);
            for (int k = 0; k < 3; k++) {
                A[(3 + 3 * side + k) * n + 10 + i] = g[k], A[(10 + i) * n + 3 * side + k] = g[k];
                for (int r = 0; j.curved && r < 3; r++) A[(3 + 3 * side + k) * n + 3 * side + r] += l[i] * j.H[3 * k + r];
            }
            b[10 + i] = -j.f, worst = larger(worst, fabs(j.f) / (length * larger(v3Size(j.g), 1e-300)));
        }
        for (int side = 0; side < 2; side++) {
            v3Store(b + 3 + 3 * side, v3Neg(sum[side])), worst = larger(worst, v3Max(sum[side]));
            for (int k = 0; k < 3; k++) A[(3 + 3 * side + k) * n + 3 * side + k] += 1e-9 / length; /* flat: stay */
        }
        worst = larger(worst, larger(v3Max(v3Load(b)) / length, fabs(b[9])));
        if (worst <= SETTLED || (round > 3 && !(worst < 0.5 * last) && worst <= 1e-12)) {
            *out = (pcClosest){a[0], a[1], normal, s};
            return true;
        }
        last = worst;
        if (!(worst < HUGE_VAL) || !pcSmallSolve(n, A, n, b, 1, 1)) return false;
        a[0] = v3Add(a[0], v3Load(b)), a[1] = v3Add(a[1], v3Load(b + 3)), normal = v3Add(normal, v3Load(b + 6)), s += b[9];
        for (int i = 0; i < level->count; i++) l[i] += b[10 + i];
    }
    return false;
}
