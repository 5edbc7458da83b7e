/*
 * What a contact pushes with. Rigid: solve.h. With a layer (G 33-38), s the gap and d = -s the deflection where it is negative:
 *
 *     p_n = p_s + p_r,   p_s = max(0, h (K d)_n + (C (d - d_old))_n) where d_n > 0,    0 <= p_r _|_ deepest - d_n >= 0 by its multiplier
 *     p_f = -(h K d + C (d - d_old))_f  with d_f = d_f,old + h (u_f - slip),           slip _|_ the ellipsoid p_f must stay in
 *
 * so that, with A = h (h K + C)_ff and p~ the force without slip, p_f = p~ + A slip, slip = -g E^-2 p_f, g >= 0: one unknown g, found by
 * bisection. K_nf couples p_n to d_f: a fixed point. (G 37 prints the spring law for all of p_n; it binds p_s.)
 */
#include <string.h>

#include "implicit/solve.h"
#include "linalg/small.h"

/* ---- rigid ---- */

/* |c| for c_k = b_k / (e_k + g). */
static double reach(const double b[3], const double e[3], double g, double c[3])
{
    double sum = 0.0;
    for (int k = 0; k < 3; k++) c[k] = b[k] / (e[k] + g), sum += c[k] * c[k];
    return sqrt(sum);
}

/* g >= 0 with |c| = radius: 1 / |c| is nearly a straight line in g and bends one way, so Newton's method on it settles from the left. */
static double slipOf(const double b[3], const double e[3], double radius, double c[3])
{
    double g = 0.0;
    for (int i = 0; i < 50; i++) {
        double size = reach(b, e, g, c), slope = 0.0;
        for (int k = 0; k < 3; k++) slope += c[k] * c[k] / (e[k] + g);
        double step = (size / radius - 1.0) * size * size / slope;
        g += step;
        if (!(fabs(step) > 1e-15 * g)) break;
    }
    reach(b, e, g, c);
    return g;
}

/* The point of the ball nearest to r - u / e in the norm of e: c = (e + g)^-1 (e r - u), with g = 0 inside, else |c| = radius; and its
 * derivatives: c.dc = radius d radius gives dg. */
static void rigidFriction(pcBond* b, bool slopes)
{
    const double* e = b->e + 1;
    double *c = b->c + 1, radius = b->c[0], push[3], M[3], Mcc = 0.0;
    for (int k = 0; k < 3; k++) push[k] = e[k] * b->r[1 + k] - b->u[1 + k];
    bool sticks = reach(push, e, 0.0, c) <= radius;
    double g = sticks ? 0.0 : slipOf(push, e, radius, c);
    for (int k = 0; k < 3; k++) M[k] = 1.0 / (e[k] + g), Mcc += M[k] * c[k] * c[k];
    for (int i = 0; slopes && i < 3; i++) {
        for (int k = 0; k < 3; k++) b->C[4 * (1 + i) + 1 + k] = (i == k ? -M[i] : 0.0) + (sticks ? 0.0 : M[i] * c[i] * M[k] * c[k] / Mcc);
        if (!sticks) b->C[4 * (1 + i)] = M[i] * c[i] * radius / Mcc * b->C[0];
    }
}

static void rigid(pcBond* b, bool slopes)
{
    double push = b->r[0] - b->u[0] / b->e[0];
    memset(b->C, 0, sizeof b->C);
    memset(b->c, 0, sizeof b->c);
    if (push > 0.0) {
        b->c[0] = push, b->C[0] = -1.0 / b->e[0];
        rigidFriction(b, slopes);
    }
    b->coreNow = b->c[0];
    for (int k = 0; k < 3; k++) b->slip[k] = b->limit[k] > 0.0 ? b->u[1 + k] / b->limit[k] : 0.0;
}

/* ---- layer ---- */

/* Midpoint: the mean force is the difference of the spring's energies over the way, which keeps them. */
static double springForce(const pcMove* move, const pcBond* b, double s)
{
    double K = b->layer->stiffness[0], now = larger(0.0, -s), was = larger(0.0, -b->start);
    if (!move->midpoint) return K * now;
    double way = b->start - s;
    if (fabs(way) < 1e-12 * (now + was)) return 0.5 * K * (now + was);
    return way != 0.0 ? 0.5 * K * (now - was) * (now + was) / way : 0.0;
}

typedef struct Friction {
    double A[9], trial[3], limit[3]; /* tangents and spin */
} Friction;

/* (I + g A E^-2) p = trial, E = radius * limit. Returns |E^-1 p|, and in *slope its derivative by g. */
static double frictionAt(const Friction* f, double radius, double g, double p[3], double* slope)
{
    double M[9], both[6], weight[3], sum = 0.0, change = 0.0; /* two right sides: trial, then A E^-2 p */
    for (int k = 0; k < 3; k++) {
        double E = radius * f->limit[k];
        weight[k] = E > 0.0 ? 1.0 / (E * E) : 0.0;
    }
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 3; i++) {
            for (int k = 0; k < 3; k++) M[3 * i + k] = (i == k ? 1.0 : 0.0) + g * f->A[3 * i + k] * weight[k];
            both[3 * round + i] = f->trial[i];
            for (int k = 0; k < 3 && round == 1; k++) both[3 + i] = (k == 0 ? 0.0 : both[3 + i]) - f->A[3 * i + k] * weight[k] * both[k];
        }
        pcSmallSolve(3, M, 3, both + 3 * round, 1, 1);
    }
    for (int k = 0; k < 3; k++) p[k] = both[k], sum += weight[k] * p[k] * p[k], change += weight[k] * p[k] * both[3 + k];
    *slope = sum > 0.0 ? change / sqrt(sum) : 0.0;
    return sqrt(sum);
}

/* The friction of a layer for a given normal impulse; returns g, with p its force. By Newton's method on 1 / |E^-1 p| as above. */
static double layerFriction(const Friction* f, double radius, double p[3])
{
    double g = 0.0, slope;
    memset(p, 0, 3 * sizeof *p);
    if (!(radius > 0.0)) return 0.0;
    double size = frictionAt(f, radius, 0.0, p, &slope);
    for (int i = 0; i < 60 && (i > 0 || size > 1.0) && slope < 0.0; i++) {
        double step = (size - size * size) / slope;
        g = larger(0.0, g + step);
        size = frictionAt(f, radius, g, p, &slope);
        if (!(fabs(step) > 1e-15 * g)) break;
    }
    for (int k = 0; k < 3; k++)
        if (!(f->limit[k] > 0.0)) p[k] = 0.0;
    return g;
}

/* The force of the layer along row i, (normal, tangents), for the deflections d. */
static double layerRow(const pcMove* move, const pcBond* b, int i, double normal, const double d[2])
{
    const double *K = b->layer->stiffness + 3 * i, *C = b->layer->damping + 3 * i;
    double sum = C[0] * (normal - b->deflected[0]);
    if (i > 0) sum += move->h * K[0] * normal;
    for (int k = 0; k < 2; k++) sum += move->h * K[1 + k] * d[k] + C[1 + k] * (d[k] - b->deflected[1 + k]);
    return sum;
}

static void layerOnce(const pcMove* move, pcBond* b)
{
    double h = move->h, s = h * b->u[0], normal = larger(0.0, -s), d[2] = {0, 0}, p[3] = {0, 0, 0};
    bool tangential = b->layer->tangential;
    Friction f = {{0}, {0}, {b->limit[0], b->limit[1], b->limit[2]}};
    double u[3], slip[3] = {0, 0, 0};
    for (int k = 0; k < 3; k++) u[k] = b->limit[k] > 0.0 ? b->u[1 + k] / b->limit[k] : 0.0;
    b->coreNow = b->layer->deepest < HUGE_VAL ? larger(0.0, b->core - (b->u[0] + b->layer->deepest / h) / b->e[0]) : 0.0;
    for (int k = 0; k < 2 && tangential; k++) d[k] = b->deflected[1 + k] + h * u[k]; /* without slip */
    for (int k = 0; k < 3; k++) {                                                    /* rigid rows: by their multipliers */
        double e = b->limit[k] > 0.0 ? b->e[1 + k] / (b->limit[k] * b->limit[k]) : 1.0;
        f.A[4 * k] = 1.0 / e, f.trial[k] = b->limit[k] * b->r[1 + k] - u[k] / e;
    }
    for (int i = 0; i < 2 && tangential; i++) {
        f.trial[i] = -layerRow(move, b, 1 + i, normal, d);
        for (int k = 0; k < 2; k++)
            f.A[3 * i + k] = h * (h * b->layer->stiffness[3 * (1 + i) + 1 + k] + b->layer->damping[3 * (1 + i) + 1 + k]);
    }
    double touched[2] = {d[0], d[1]}, spring = 0.0, last = -1.0;
    for (int k = 0; k < 2; k++) d[k] = b->deflected[1 + k]; /* as if all slipped: what sticks has moved on by the end of the first round */
    for (int round = 0; round < 60 && (round < 2 || fabs(spring - last) > 1e-15 * spring); round++) {
        last = spring;
        spring = normal > 0.0 || (move->midpoint && b->start < 0.0)
                     ? larger(0.0, h * springForce(move, b, s) + layerRow(move, b, 0, normal, d))
                     : 0.0;
        b->c[0] = spring + b->coreNow;
        double g = layerFriction(&f, b->c[0], p);
        for (int k = 0; k < 3; k++) {
            double E = b->c[0] * b->limit[k];
            slip[k] = E > 0.0 ? -g * p[k] / (E * E) : u[k];
        }
        for (int k = 0; k < 2 && tangential; k++) d[k] = touched[k] - h * slip[k];
    }
    for (int k = 0; k < 3; k++) b->c[1 + k] = b->limit[k] > 0.0 ? p[k] / b->limit[k] : 0.0;
    for (int k = 0; k < 3; k++) b->slip[k] = k < 2 && tangential ? slip[k] : u[k];
    for (int k = 0; k < 2; k++) b->deflection[k] = normal > 0.0 && tangential ? d[k] : 0.0;
}

/* C by differences: the law of a layer has too many cases for formulas, and Newton's method does not need all digits of it. */
static void layer(const pcMove* move, pcBond* b, bool slopes)
{
    layerOnce(move, b);
    if (!slopes) return;
    pcBond probe = *b;
    memset(b->C, 0, sizeof b->C);
    for (int k = 0; k < 4; k++) {
        double step = 1e-7 * (fabs(b->u[0]) + fabs(b->u[k]) + 1e-9 * b->e[k] * (b->c[0] + 1e-300)) + 1e-12;
        double side[2][4];
        for (int i = 0; i < 2; i++) {
            probe.u[k] = b->u[k] + (i ? step : -step);
            layerOnce(move, &probe);
            memcpy(side[i], probe.c, sizeof probe.c);
        }
        probe.u[k] = b->u[k];
        for (int i = 0; i < 4; i++) b->C[4 * i + k] = (side[1][i] - side[0][i]) / (2.0 * step);
    }
}

void pcBondLaw(const pcMove* move, pcBond* bond, bool slopes)
{
    if (bond->layer)
        layer(move, bond, slopes);
    else
        rigid(bond, slopes);
}
