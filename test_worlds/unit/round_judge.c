#include "test_worlds/unit/round_judge.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"

typedef long double real;

static real dotOf(const real a[3], const real b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

double roundBetween(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }

void roundDirection(pcRandom* random, double out[3])
{
    double square;
    do {
        for (int i = 0; i < 3; i++) out[i] = roundBetween(random, -1, 1);
        square = out[0] * out[0] + out[1] * out[1] + out[2] * out[2];
    } while (square > 1 || square < 0.01);
    for (int i = 0; i < 3; i++) out[i] /= sqrt(square);
}

/* ---- making ---- */

static void eggSupport(const void* context, const double d[3], double p[3])
{
    const Solid* s = context;
    double size = 0;
    for (int i = 0; i < 3; i++) size += s->size[i] * s->size[i] * d[i] * d[i];
    for (int i = 0; i < 3; i++) p[i] = s->middle[i] + s->size[i] * s->size[i] * d[i] / sqrt(size);
}

static void pillowSupport(const void* context, const double d[3], double p[3])
{
    const Solid* s = context;
    for (int i = 0; i < 3; i++) p[i] = copysign(s->size[i], d[i]) + s->size[3] * d[i];
}

static double least(const double* a) { return fmin(a[0], fmin(a[1], a[2])); }

static pcStatus makeSupport(Solid* s)
{
    double largest = fmax(s->size[0], fmax(s->size[1], s->size[2])), diagonal = hypot(hypot(s->size[0], s->size[1]), s->size[2]);
    pcSupportDef egg = {eggSupport, s, {s->middle[0], s->middle[1], s->middle[2]}, least(s->size), largest};
    pcSupportDef pillow = {pillowSupport, s, {0, 0, 0}, least(s->size) + s->size[3], diagonal + s->size[3]};
    return pcShapeSupport(s->kind == SOLID_EGG ? &egg : &pillow, &s->shape);
}

Solid* solidOf(SolidKind kind, const double size[4])
{
    Solid* s = calloc(1, sizeof *s);
    s->kind = kind;
    memcpy(s->size, size, sizeof s->size);
    double full[3] = {2 * size[0], 2 * size[1], 2 * size[2]};
    if (kind == SOLID_EGG) s->middle[0] = 0.5 * size[0], s->middle[1] = -size[1], s->middle[2] = 0.1;
    pcStatus status = kind == SOLID_BOX         ? pcShapeBox(full, &s->shape)
                      : kind == SOLID_SPHERE    ? pcShapeSphere(size[0], &s->shape)
                      : kind == SOLID_ELLIPSOID ? pcShapeEllipsoid(size, &s->shape)
                      : kind == SOLID_CAPSULE   ? pcShapeCapsule(size[0], full[1], &s->shape)
                      : kind == SOLID_CYLINDER  ? pcShapeCylinder(size[0], full[1], &s->shape)
                                                : makeSupport(s);
    PC_EXPECT_STATUS(PC_OK, status);
    return s;
}

Solid* solidMake(pcRandom* random, SolidKind kind, double spread)
{
    double size[4];
    for (int i = 0; i < 4; i++) size[i] = exp(roundBetween(random, -spread, spread));
    size[3] *= 0.2;
    if (kind != SOLID_HULL) return solidOf(kind, size);
    Solid* s = calloc(1, sizeof *s);
    double xyz[90];
    int count = 8 + (int)(22 * pcRandomUnit(random));
    for (int i = 0; i < 3 * count; i++) xyz[i] = size[i % 3] * roundBetween(random, -1, 1);
    s->kind = kind;
    PC_EXPECT_STATUS(PC_OK, pcShapeFromPoints(xyz, count, NULL, &s->shape));
    pcShapeInfo info;
    if (pcShapeDescribe(s->shape, &info) == PC_OK) memcpy(s->middle, info.centre, sizeof s->middle);
    return s;
}

void solidFree(Solid* solid)
{
    pcShapeFree(solid->shape);
    free(solid);
}

RoundScene roundScene(pcRandom* random, const Solid* a, const Solid* b, double reach, bool square)
{
    static const unsigned flags[4] = {0, 0, PC_FIXED_1, PC_FIXED_2};
    RoundScene s = {.solid = {a, b}, .flags = flags[pcRandomBits(random) % 4]};
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 4; k++) s.pose[i].quaternion[k] = square ? k == 0 : roundBetween(random, -1, 1);
    for (int k = 0; k < 3; k++) s.pose[1].position[k] = roundBetween(random, -reach, reach);
    if (!square) return s;
    int turn = (int)(pcRandomBits(random) % 4), axis = (int)(pcRandomBits(random) % 3);
    if (turn > 0) s.pose[1].quaternion[turn] = 1; /* a quarter turn */
    if (pcRandomBits(random) % 2) s.pose[1].position[axis] = 0;
    return s;
}

/* ---- support functions and gauges, about the centre, in the body's axes ---- */

static real supportOf(const Solid* s, const real d[3])
{
    const double* a = s->size;
    real ad[3] = {a[0] * d[0], a[1] * d[1], a[2] * d[2]}, flat = fabsl(ad[0]) + fabsl(ad[1]) + fabsl(ad[2]), size = sqrtl(dotOf(d, d));
    int count = 0;
    const double* v = pcShapeVertices(s->shape, &count);
    real best = -HUGE_VALL;
    switch (s->kind) {
    case SOLID_BOX: return flat;
    case SOLID_SPHERE: return a[0] * size;
    case SOLID_ELLIPSOID:
    case SOLID_EGG: return sqrtl(dotOf(ad, ad));
    case SOLID_CAPSULE: return a[0] * size + a[1] * fabsl(d[2]);
    case SOLID_CYLINDER: return a[0] * sqrtl(d[0] * d[0] + d[1] * d[1]) + a[1] * fabsl(d[2]);
    case SOLID_PILLOW: return flat + a[3] * size;
    default: break;
    }
    for (int i = 0; i < count; i++) {
        real k[3] = {v[3 * i] - (real)s->middle[0], v[3 * i + 1] - (real)s->middle[1], v[3 * i + 2] - (real)s->middle[2]};
        best = fmaxl(best, dotOf(d, k));
    }
    return best;
}

/* Whether x is in t K, for the bodies without a closed form. */
static bool holds(const Solid* s, const real x[3], real t)
{
    const double* a = s->size;
    bool capsule = s->kind == SOLID_CAPSULE;
    real half[3] = {capsule ? 0 : t * a[0], capsule ? 0 : t * a[1], capsule ? t * a[1] : t * a[2]}, square = 0,
         r = t * (capsule ? a[0] : a[3]);
    for (int i = 0; i < 3; i++) {
        real out = fmaxl(0, fabsl(x[i]) - half[i]);
        square += out * out;
    }
    return square <= r * r;
}

static real gaugeOf(const Solid* s, const real x[3])
{
    const double* a = s->size;
    real scaled[3] = {x[0] / a[0], x[1] / a[1], x[2] / a[2]}, worst = 0, low = 0,
         high = sqrtl(dotOf(x, x)) / (s->kind == SOLID_CAPSULE ? a[0] : a[3]);
    pcShapeInfo info;
    switch (s->kind) {
    case SOLID_BOX: return fmaxl(fabsl(scaled[0]), fmaxl(fabsl(scaled[1]), fabsl(scaled[2])));
    case SOLID_SPHERE: return sqrtl(dotOf(x, x)) / a[0];
    case SOLID_ELLIPSOID:
    case SOLID_EGG: return sqrtl(dotOf(scaled, scaled));
    case SOLID_CYLINDER: return fmaxl(sqrtl(x[0] * x[0] + x[1] * x[1]) / a[0], fabsl(x[2]) / a[1]);
    case SOLID_CAPSULE:
    case SOLID_PILLOW:
        for (int i = 0; i < 90; i++) {
            real middle = 0.5L * (low + high);
            if (holds(s, x, middle))
                high = middle;
            else
                low = middle;
        }
        return high;
    default: break;
    }
    if (pcShapeDescribe(s->shape, &info) != PC_OK) return HUGE_VALL;
    for (int k = 0; k < info.facets; k++) {
        pcFacet facet;
        if (pcShapeFacet(s->shape, k, &facet) != PC_OK) return HUGE_VALL;
        real n[3] = {facet.plane[0], facet.plane[1], facet.plane[2]}, m[3] = {s->middle[0], s->middle[1], s->middle[2]};
        worst = fmaxl(worst, dotOf(n, x) / (facet.plane[3] - dotOf(n, m)));
    }
    return worst;
}

/* ---- in the world ---- */

static void turn(const double q[4], const real x[3], bool back, real out[3])
{
    real w = q[0], u[3] = {q[1], q[2], q[3]}, square = w * w + dotOf(u, u), sign = back ? -1 : 1;
    real t[3] = {u[1] * x[2] - u[2] * x[1], u[2] * x[0] - u[0] * x[2], u[0] * x[1] - u[1] * x[0]};
    real v[3] = {u[1] * t[2] - u[2] * t[1], u[2] * t[0] - u[0] * t[2], u[0] * t[1] - u[1] * t[0]};
    for (int i = 0; i < 3; i++) out[i] = x[i] + 2 / square * (sign * w * t[i] + v[i]);
}

static void centreOf(const RoundScene* s, int i, real out[3])
{
    real middle[3] = {s->solid[i]->middle[0], s->solid[i]->middle[1], s->solid[i]->middle[2]};
    turn(s->pose[i].quaternion, middle, false, out);
    for (int k = 0; k < 3; k++) out[k] += s->pose[i].position[k];
}

static real reachAlong(const RoundScene* s, int i, const double n[3])
{
    real world[3] = {n[0], n[1], n[2]}, local[3], sign = i == 0 ? 1 : -1;
    turn(s->pose[i].quaternion, world, true, local);
    for (int k = 0; k < 3; k++) local[k] *= sign;
    return supportOf(s->solid[i], local);
}

static real centresAlong(const RoundScene* s, const double n[3])
{
    real a[3], b[3], world[3] = {n[0], n[1], n[2]};
    centreOf(s, 0, a);
    centreOf(s, 1, b);
    for (int k = 0; k < 3; k++) b[k] -= a[k];
    return dotOf(world, b);
}

long double roundBelow(const RoundScene* s, const double n[3], bool oneSided)
{
    real c = centresAlong(s, n), h1 = reachAlong(s, 0, n), h2 = reachAlong(s, 1, n);
    if (!oneSided) return c / (h1 + h2);
    return s->flags & PC_FIXED_1 ? (c - h1) / h2 : (c - h2) / h1;
}

long double roundApart(const RoundScene* s, const double n[3]) { return centresAlong(s, n) - reachAlong(s, 0, n) - reachAlong(s, 1, n); }

long double roundReach(const RoundScene* s, int i, const double point[3])
{
    real centre[3], x[3], local[3];
    centreOf(s, i, centre);
    for (int k = 0; k < 3; k++) x[k] = point[k] - centre[k];
    turn(s->pose[i].quaternion, x, true, local);
    return gaugeOf(s->solid[i], local);
}

bool roundOneSided(const RoundScene* s)
{
    real centre[3];
    int moving = s->flags & PC_FIXED_1 ? 1 : 0;
    if (s->flags == 0) return false;
    centreOf(s, moving, centre);
    double point[3] = {(double)centre[0], (double)centre[1], (double)centre[2]};
    return roundReach(s, 1 - moving, point) > 1;
}

static double sizeOf(const RoundScene* s)
{
    pcShapeInfo a, b;
    if (pcShapeDescribe(s->solid[0]->shape, &a) != PC_OK || pcShapeDescribe(s->solid[1]->shape, &b) != PC_OK) return 0;
    double position = 0;
    for (int k = 0; k < 3; k++) position += fabs(s->pose[0].position[k]) + fabs(s->pose[1].position[k]);
    return (a.outradius + b.outradius + position) / fmin(a.inradius, b.inradius);
}

void roundExpectProven(const RoundScene* s, const pcMetric* m, double slack)
{
    bool one = roundOneSided(s);
    int fixed = s->flags & PC_FIXED_1 ? 0 : 1;
    double allowed = (m->upper - m->lower) + 1e-14 * sizeOf(s) * (1 + m->r) + slack * m->r;
    PC_EXPECT_LE(m->lower, m->r);
    PC_EXPECT_LE(m->r, m->upper);
    PC_EXPECT_LE(m->r - allowed, (double)roundBelow(s, m->normal, one));
    long double reach[2] = {roundReach(s, 0, m->point), roundReach(s, 1, m->point)};
    if (one) {
        PC_EXPECT_LE((double)reach[1 - fixed], m->r + allowed);
        PC_EXPECT_LE((double)reach[fixed], 1 + allowed);
    } else {
        PC_EXPECT_LE((double)reach[0], m->r + allowed);
        PC_EXPECT_LE((double)reach[1], m->r + allowed);
    }
    PC_EXPECT_LE((double)roundReach(s, 0, m->point1), 1 + allowed * (1 + 1 / m->r));
    PC_EXPECT_LE((double)roundReach(s, 1, m->point2), 1 + allowed * (1 + 1 / m->r));
    PC_EXPECT_NEAR((double)roundApart(s, m->normal), m->gap, allowed * (1 + fabs(m->gap)) + 1e-13 * (1 + m->r) * sizeOf(s));
}
