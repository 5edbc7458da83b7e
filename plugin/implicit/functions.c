/* Convex functions with their derivatives. */
#include <string.h>

#include "implicit/form.h"

/* ---- ours ---- */

static void diagonal(pcJet* j, double x, double y, double z)
{
    memset(j->H, 0, sizeof j->H);
    j->H[0] = x, j->H[4] = y, j->H[8] = z, j->curved = true, j->even = x == y && y == z;
}

static pcJet ball(v3 k, double radius, double along)
{
    pcJet j = {.f = 0.5 * (v3Dot(k, k) / radius - radius), .g = v3Scale(1.0 / radius, k)};
    diagonal(&j, 1.0 / radius, 1.0 / radius, along / radius);
    return j;
}

/* What is left of x once the nearest point of the segment is taken away. */
static v3 offSegment(v3 x, double half) { return v3Make(x.x, x.y, x.z > half ? x.z - half : x.z < -half ? x.z + half : 0.0); }

static pcJet quadric(const pcFunction* f, v3 x)
{
    v3 k = {x.x / f->a.x, x.y / f->a.y, x.z / f->a.z}, g = {k.x / f->a.x, k.y / f->a.y, k.z / f->a.z};
    pcJet j = {.f = 0.5 * f->d * (v3Dot(k, k) - 1.0), .g = v3Scale(f->d, g)};
    diagonal(&j, f->d / (f->a.x * f->a.x), f->d / (f->a.y * f->a.y), f->d / (f->a.z * f->a.z));
    return j;
}

static const double LEAST = 1e-150; /* a norm below this is none: second derivatives, which are of its inverse, would overflow */

/* The p-norm of (u, v) >= 0 with its derivatives; n_uu = (p-1) (uv)^(p-2) v^2 / n^(2p-1) and so on. */
typedef struct Norm {
    double n, u, v, uu, uv, vv;
} Norm;

static Norm normOf(double u, double v, double p)
{
    double top = larger(u, v);
    if (!(top > LEAST)) return (Norm){0};
    u /= top, v /= top;
    double n = pow(pow(u, p) + pow(v, p), 1.0 / p);
    u /= n, v /= n;
    double a = pow(u, p - 2.0), b = pow(v, p - 2.0), second = (p - 1.0) * a * b / (n * top);
    return (Norm){n * top, a * u, b * v, second * v * v, -second * u * v, second * u * u};
}

static pcJet superellipsoid(const pcFunction* f, v3 x)
{
    v3 s = {copysign(1.0 / f->a.x, x.x), copysign(1.0 / f->a.y, x.y), copysign(1.0 / f->a.z, x.z)};
    Norm r = normOf(x.x * s.x, x.y * s.y, f->p), n = normOf(r.n, x.z * s.z, f->q);
    pcJet j = {.f = 0.5 * f->d * (n.n * n.n - 1.0), .curved = true};
    double gx = n.u * r.u, gy = n.u * r.v, gz = n.v; /* of N, in scaled coordinates */
    j.g = v3Scale(f->d * n.n, v3Make(gx * s.x, gy * s.y, gz * s.z));
    double H[3][3] = {{n.uu * r.u * r.u + n.u * r.uu, n.uu * r.u * r.v + n.u * r.uv, n.uv * r.u},
                      {0, n.uu * r.v * r.v + n.u * r.vv, n.uv * r.v},
                      {0, 0, n.vv}};
    double g[3] = {gx, gy, gz}, scale[3] = {s.x, s.y, s.z};
    for (int i = 0; i < 3; i++)
        for (int k = i; k < 3; k++) j.H[3 * i + k] = j.H[3 * k + i] = f->d * scale[i] * scale[k] * (g[i] * g[k] + n.n * H[i][k]);
    return j;
}

static pcJet asked(const pcFunction* f, v3 x)
{
    double at[3], g[3] = {0, 0, 0};
    pcJet j = {.curved = true};
    v3Store(at, x);
    j.f = f->user.value(f->user.context, at, g, j.H);
    j.g = v3Load(g);
    return j;
}

static pcJet ownAxes(const pcFunction* f, v3 x)
{
    switch (f->kind) {
    case PC_FUNCTION_PLANE: return (pcJet){.f = v3Dot(f->a, x) - f->d, .g = f->a};
    case PC_FUNCTION_SPHERE: return ball(x, f->d, 1.0);
    case PC_FUNCTION_ROD: return ball(v3Make(x.x, x.y, 0.0), f->d, 0.0);
    case PC_FUNCTION_CAPSULE: return ball(offSegment(x, f->a.z), f->d, fabs(x.z) > f->a.z ? 1.0 : 0.0);
    case PC_FUNCTION_QUADRIC: return quadric(f, x);
    case PC_FUNCTION_SUPER: return superellipsoid(f, x);
    default: return asked(f, x);
    }
}

/* ---- in the axes of the piece ---- */

void pcHessianTurn(const m3* R, double H[9])
{
    double half[9];
    for (int k = 0; k < 3; k++) v3Store(half + 3 * k, m3Mul(R, v3Load(H + 3 * k))); /* rows of H R' */
    for (int k = 0; k < 3; k++) {
        v3 column = m3Mul(R, v3Make(half[k], half[3 + k], half[6 + k]));
        H[k] = column.x, H[3 + k] = column.y, H[6 + k] = column.z;
    }
}

pcJet pcFunctionAt(const pcFunction* f, v3 x)
{
    if (!f->placed) return ownAxes(f, x);
    pcJet j = ownAxes(f, m3TMul(&f->R, v3Sub(x, f->at)));
    j.g = m3Mul(&f->R, j.g);
    if (j.curved && !j.even) pcHessianTurn(&f->R, j.H);
    return j;
}

double pcFunctionValue(const pcFunction* f, v3 x)
{
    if (f->placed) x = m3TMul(&f->R, v3Sub(x, f->at));
    return f->kind == PC_FUNCTION_PLANE ? v3Dot(f->a, x) - f->d : ownAxes(f, x).f;
}
