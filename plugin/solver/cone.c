/*
 * Projection onto K = { c_n >= 0, c_g in c_n P_g } in the norm of weights e: a minimum over the one number s = c_n.
 *
 *     P_g   unit disc, or the polygon with m corners on the unit circle, or [-1, 1] for a group of one row
 *     z_g   e_g r_g - u_g, what the group would like to be, as a velocity; c_g = the point of s P_g nearest to z_g / e_g
 *     w_g   dc_g/ds, 0 if z_g / e_g lies inside s P_g;     T_g   dc_g/d(z_g/e_g) with s fixed;     w_g'T_g = 0 in all cases
 *     h_g   shift of De Saxce: |u_g|, or max_j -d_j'u_g for corners d_j; 0 for the relaxation
 *
 *     (e_n + sum_g e_g w_g'w_g) s  =  e_n r_n - u_n + sum_g (w_g'z_g - h_g)
 *
 * The right side is where a Newton method would lose its digits: e is small, so a sliding contact has w'z = |e r - u| and h = |u|, both
 * large and nearly equal. Their difference is written so that nothing cancels: (|e r|^2 - 2 e r'u) / (|e r - u| + |u|).
 *
 * With slips lambda_g given (T 5.15) a group does not know of s. Its set of velocities is lambda_g times the polar of P_g, and Moreau's
 * rule turns the minimum into a projection onto it:  e_g c_g = z_g - proj(z_g). The polar of a disc is itself; that of the polygon has
 * its corners in the middle of P_g's sides, at 1 / cos(pi / m).
 */
#include "solver/cone.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"

#define TWO_PI 6.283185307179586476925286766559

typedef struct Group {
    int size, edges;
    double angle, e;
    const double *r, *u;
    double z[2];
    double h, dh[2]; /* shift and its gradient; where it is not smooth (u = 0) the middle of all gradients, 0 */
    double c[2], w[2], T[4];
    double rest; /* w'z - h */
} Group;

static double dot(const double* a, const double* b, int size) { return a[0] * b[0] + (size > 1 ? a[1] * b[1] : 0.0); }
static double lengthOf(const double* a, int size) { return size > 1 ? sqrt(a[0] * a[0] + a[1] * a[1]) : fabs(a[0]); }

static void cornerAt(const Group* g, double index, double* d)
{
    double angle = g->angle + index * (TWO_PI / g->edges);
    d[0] = cos(angle), d[1] = sin(angle);
}

static void setShift(Group* g, pcLaw law)
{
    double length = lengthOf(g->u, g->size);
    g->h = g->dh[0] = g->dh[1] = 0.0;
    if (law != PC_LAW_COULOMB || !(length > 0.0)) return;
    if (!g->edges) {
        g->h = length;
        for (int i = 0; i < g->size; i++) g->dh[i] = g->u[i] / length;
        return;
    }
    double d[2];
    cornerAt(g, floor((atan2(-g->u[1], -g->u[0]) - g->angle) / (TWO_PI / g->edges) + 0.5), d);
    g->dh[0] = -d[0], g->dh[1] = -d[1];
    g->h = dot(g->dh, g->u, 2);
}

static void inside(Group* g)
{
    for (int i = 0; i < g->size; i++) g->c[i] = g->z[i] / g->e;
    g->w[0] = g->w[1] = 0.0;
    g->T[0] = g->T[3] = 1.0, g->T[1] = g->T[2] = 0.0;
    g->rest = -g->h;
}

static void onDisc(Group* g, double s)
{
    double length = lengthOf(g->z, g->size);
    if (length <= s * g->e) {
        inside(g);
        return;
    }
    for (int i = 0; i < g->size; i++) g->w[i] = g->z[i] / length, g->c[i] = s * g->w[i];
    double bend = s * g->e / length;
    if (g->size > 1) {
        g->T[0] = bend * g->w[1] * g->w[1], g->T[3] = bend * g->w[0] * g->w[0];
        g->T[1] = g->T[2] = -bend * g->w[0] * g->w[1];
    } else {
        g->T[0] = 0.0;
    }
    double er[2] = {g->e * g->r[0], g->size > 1 ? g->e * g->r[1] : 0.0};
    g->rest = g->h > 0.0 ? (dot(er, er, g->size) - 2.0 * dot(er, g->u, g->size)) / (length + g->h) : length;
}

/* Of the side that faces z: its middle direction n, its line t. The nearest point lies on it or in one of its ends. */
static void onPolygon(Group* g, double s)
{
    double step = TWO_PI / g->edges, half = 0.5 * step, n[2], t[2];
    double side = floor((atan2(g->z[1], g->z[0]) - g->angle) / step);
    cornerAt(g, side + 0.5, n);
    t[0] = -n[1], t[1] = n[0];
    double across = dot(n, g->z, 2), along = dot(t, g->z, 2), radius = s * g->e;
    if (across <= radius * cos(half)) {
        inside(g);
        return;
    }
    bool corner = fabs(along) > radius * sin(half);
    if (corner) {
        cornerAt(g, along > 0.0 ? side + 1.0 : side, g->w);
        g->c[0] = s * g->w[0], g->c[1] = s * g->w[1];
    } else {
        g->w[0] = cos(half) * n[0], g->w[1] = cos(half) * n[1];
        g->c[0] = s * g->w[0] + along / g->e * t[0], g->c[1] = s * g->w[1] + along / g->e * t[1];
    }
    for (int i = 0; i < 4; i++) g->T[i] = corner ? 0.0 : t[i / 2] * t[i % 2];
    /* w'z - h = w'(e r) - (w + dh)'u, where dh is minus a corner: the same one as w, or an end of its side */
    double turn[2] = {g->w[0] + g->dh[0], g->w[1] + g->dh[1]};
    if (g->h > 0.0 && corner && lengthOf(turn, 2) < 1e-6 / g->edges) turn[0] = turn[1] = 0.0;
    g->rest = g->e * dot(g->w, g->r, 2) - dot(turn, g->u, 2);
}

/* Everything at height s: the slope of the minimized function and its bend. */
static double slopeAt(Group* groups, int count, double start, double e, double s, double* bend)
{
    double slope = e * s - start;
    *bend = e;
    for (int k = 0; k < count; k++) {
        Group* g = &groups[k];
        if (g->edges) {
            onPolygon(g, s);
        } else {
            onDisc(g, s);
        }
        double weight = g->e * dot(g->w, g->w, g->size);
        slope += weight * s - g->rest;
        *bend += weight;
    }
    return slope;
}

/* The slope is monotone and piecewise linear in s, so Newton's method ends after a few pieces; the bracket makes sure of it. Leaves the
 * groups at the height it returns, which is 0 if the contact opens. */
static double heightOf(Group* groups, int count, double start, double e, double* bend)
{
    double low = 0.0, high = INFINITY, s = 0.0, slope = slopeAt(groups, count, start, e, s, bend);
    if (!(slope < 0.0)) return 0.0;
    for (int round = 0; round < 100; round++) {
        double next = s - slope / *bend;
        if (!(next > low)) next = 0.5 * (low + s);
        if (!(next < high)) next = 0.5 * (s + high);
        if (!(fabs(next - s) > 4.0 * PC_ROUND * next)) break;
        s = next;
        slope = slopeAt(groups, count, start, e, s, bend);
        if (slope < 0.0) {
            low = s;
        } else {
            high = s;
        }
    }
    return s;
}

static void frictionDerivative(const Group* groups, int count, double bend, int rows, double* G)
{
    double ds[PC_CONE_ROWS] = {1.0 / bend}, w[PC_CONE_ROWS] = {1.0}; /* ds = -(ds/du) */
    for (int k = 0, row = 1; k < count; row += groups[k++].size) {
        const Group* g = &groups[k];
        for (int i = 0; i < g->size; i++) {
            w[row + i] = g->w[i];
            ds[row + i] = (g->w[i] + g->dh[i]) / bend;
            for (int j = 0; j < g->size; j++) G[(row + i) * rows + row + j] = g->T[2 * i + j] / g->e;
        }
    }
    for (int i = 0; i < rows; i++) {
        for (int j = 0; j < rows; j++) G[i * rows + j] += w[i] * ds[j];
    }
}

static void setGroups(const pcCone* cone, pcLaw law, const double* e, const double* r, const double* u, Group* groups)
{
    for (int k = 0, row = 1; k < cone->groups; row += cone->groupSize[k++]) {
        Group* g = &groups[k];
        *g = (Group){.size = cone->groupSize[k], .e = e[row], .r = r + row, .u = u + row};
        if (k == 0 && g->size == 2) g->edges = cone->edges, g->angle = cone->angle;
        for (int i = 0; i < g->size; i++) g->z[i] = g->e * g->r[i] - g->u[i];
        setShift(g, law);
    }
}

static void frictionLaw(const pcCone* cone, pcLaw law, const double* e, const double* r, const double* u, double* c, double* G)
{
    Group groups[PC_CONE_GROUPS];
    setGroups(cone, law, e, r, u, groups);
    double bend, s = heightOf(groups, cone->groups, e[0] * r[0] - u[0], e[0], &bend);
    memset(c, 0, (size_t)cone->rows * sizeof *c);
    if (G) memset(G, 0, (size_t)(cone->rows * cone->rows) * sizeof *G);
    if (!(s > 0.0)) return;
    c[0] = s;
    for (int k = 0, row = 1; k < cone->groups; row += groups[k++].size) memcpy(c + row, groups[k].c, (size_t)groups[k].size * sizeof *c);
    if (G) frictionDerivative(groups, cone->groups, bend, cone->rows, G);
}

/* ---- one disc ----
 * What nearly all contacts have, and there the height has a closed form: inside the disc e_n s = e_n r_n - u_n - h, else
 * (e_n + e_g) s = e_n r_n - u_n + (|z| - h). */

static bool isDisc(const pcCone* cone) { return cone->groups == 1 && cone->groupSize[0] == 2 && cone->edges == 0; }

/* G = (1, w)(1, w + dh)' / bend + T / e, T between the second and third row: its diagonal and what is beside it. */
static void discDerivative(const double w[2], const double dh[2], double bend, const double T[3], double e, double* G)
{
    double d0 = (w[0] + dh[0]) / bend, d1 = (w[1] + dh[1]) / bend, ds = 1.0 / bend;
    G[0] = ds, G[1] = d0, G[2] = d1;
    G[3] = w[0] * ds, G[4] = T[0] / e + w[0] * d0, G[5] = T[1] / e + w[0] * d1;
    G[6] = w[1] * ds, G[7] = T[1] / e + w[1] * d0, G[8] = T[2] / e + w[1] * d1;
}

static void discLaw(pcLaw law, const double* e, const double* r, const double* u, double* c, double* G)
{
    double er[2] = {e[1] * r[1], e[1] * r[2]}, z[2] = {er[0] - u[1], er[1] - u[2]}, start = e[0] * r[0] - u[0], bend = e[0];
    double length = lengthOf(z, 2), h = law == PC_LAW_COULOMB ? lengthOf(u + 1, 2) : 0.0, s = (start - h) / bend;
    double w[2] = {0.0, 0.0}, T[3] = {1.0, 0.0, 1.0}, dh[2] = {0.0, 0.0};
    bool slides = !(length <= s * e[1]);
    if (slides) {
        double rest = h > 0.0 ? (dot(er, er, 2) - 2.0 * dot(er, u + 1, 2)) / (length + h) : length;
        bend = e[0] + e[1], s = (start + rest) / bend;
        w[0] = z[0] / length, w[1] = z[1] / length;
        double turn = s * e[1] / length;
        T[0] = turn * w[1] * w[1], T[1] = -turn * w[0] * w[1], T[2] = turn * w[0] * w[0];
    }
    if (!(s > 0.0)) {
        memset(c, 0, 3 * sizeof *c);
        if (G) memset(G, 0, 9 * sizeof *G);
        return;
    }
    c[0] = s, c[1] = slides ? s * w[0] : z[0] / e[1], c[2] = slides ? s * w[1] : z[1] / e[1];
    if (h > 0.0) dh[0] = u[1] / h, dh[1] = u[2] / h;
    if (G) discDerivative(w, dh, bend, T, e[1], G);
}

/* One group held to |u_g| <= lambda: nothing inside, what is beyond is taken by the impulse. */
static void holdSlip(Group* g, double lambda)
{
    double half = g->edges ? 0.5 * TWO_PI / g->edges : 0.0, proj[2] = {0.0, 0.0};
    g->angle += half;
    if (!(lambda > 0.0)) {
        inside(g);
        return;
    }
    if (g->edges) {
        onPolygon(g, lambda / (g->e * cos(half)));
    } else {
        onDisc(g, lambda / g->e);
    }
    memcpy(proj, g->c, (size_t)g->size * sizeof *proj);
    for (int i = 0; i < g->size; i++) g->c[i] = g->z[i] / g->e - proj[i];
    for (int i = 0; i < 4; i++) g->T[i] = (i % 3 == 0 ? 1.0 : 0.0) - g->T[i];
}

static void givenSlipLaw(const pcCone* cone, const double* slip, const double* e, const double* r, const double* u, double* c, double* G)
{
    Group groups[PC_CONE_GROUPS];
    setGroups(cone, PC_LAW_GIVEN_SLIP, e, r, u, groups);
    if (G) memset(G, 0, (size_t)(cone->rows * cone->rows) * sizeof *G);
    c[0] = larger(0.0, r[0] - u[0] / e[0]);
    if (G && c[0] > 0.0) G[0] = 1.0 / e[0];
    for (int k = 0, row = 1; k < cone->groups; row += groups[k++].size) {
        Group* g = &groups[k];
        holdSlip(g, slip[row]);
        memcpy(c + row, g->c, (size_t)g->size * sizeof *c);
        for (int i = 0; G && i < g->size * g->size; i++) {
            int a = i / g->size, b = i % g->size;
            G[(row + a) * cone->rows + row + b] = g->T[2 * a + b] / g->e;
        }
    }
}

void pcConeLaw(const pcCone* cone, pcLaw law, const double* slip, const double* e, const double* r, const double* u, double* c, double* G)
{
    if (cone->kind == PC_CONE_FRICTION) {
        if (law == PC_LAW_GIVEN_SLIP) {
            givenSlipLaw(cone, slip, e, r, u, c, G);
        } else if (isDisc(cone)) {
            discLaw(law, e, r, u, c, G);
        } else {
            frictionLaw(cone, law, e, r, u, c, G);
        }
        return;
    }
    double y = r[0] - u[0] / e[0];
    bool open = cone->kind == PC_CONE_FREE || (y > cone->lo && y < cone->hi);
    c[0] = open ? y : y <= cone->lo ? cone->lo : cone->hi;
    if (G) G[0] = open ? 1.0 / e[0] : 0.0;
}
