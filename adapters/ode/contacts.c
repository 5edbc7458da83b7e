/*
 * ODE's row of a contact, d its depth beyond the surface layer, at least 0; n points into body 1:
 *
 *     n.(u1 - u2) >= min(erp d / h + motionN, fastest),   at least bounce (motionN - n.(u1 - u2)_old) + motionN where that approaches
 *     t_k.(u1 - u2) + (slip_k / h) c_k = motion_k,        |c_k| <= mu_k c_n (Approx1) or h mu_k
 *
 * Ours counts from body 1 to body 2, with ODE's first body as body 2: so n is the same.
 */
#include "adapters/ode/contacts.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/vec.h"

pcHostSurface pcHostSurfaceOf(dWorldID world, const pcSettings* settings, double h)
{
    return (pcHostSurface){.h = h,
                           .erp = dWorldGetERP(world),
                           .gamma = settings->gamma,
                           .layer = dWorldGetContactSurfaceLayer(world),
                           .fastest = dWorldGetContactMaxCorrectingVel(world),
                           .surface = pcDefaultSurface(settings)};
}

/* Negative numbers count as 0, as they do natively. */
static double positive(double x) { return x > 0.0 ? x : 0.0; }

/* ---- normal ---- */

static void writeNormal(const pcHostSurface* host, const dSurfaceParameters* s, pcSurface* out)
{
    out->normalVelocity = s->mode & dContactMotionN ? s->motionN : 0.0;
    double erp = s->mode & dContactSoftERP ? s->soft_erp : host->erp;
    out->gamma = positive(isnan(host->gamma) ? erp : host->gamma);
    out->fastest = positive(host->fastest), out->sink = positive(host->layer);
    bool bounces = (s->mode & dContactBounce) && s->bounce_vel >= 0.0;
    out->bounce = bounces ? smaller(positive(s->bounce), 1.0) : 0.0;
    out->bounceVelocity = bounces ? s->bounce_vel : 0.0;
    out->softness = s->mode & dContactSoftCFM ? positive(s->soft_cfm) / host->h : 0.0;
}

/* ---- friction ---- */

static void writeDirection(const dContact* contact, int turned, pcSurface* out, v3* t1, v3* t2)
{
    dVector3 normal, first, second;
    double sign = turned ? -1.0 : 1.0;
    for (int k = 0; k < 3; k++) normal[k] = sign * contact->geom.normal[k];
    dPlaneSpace(normal, first, second);
    if (contact->surface.mode & dContactFDir1) memcpy(first, contact->fdir1, 3 * sizeof(dReal));
    *t1 = v3Load(first), *t2 = v3Cross(v3Load(normal), *t1);
    v3Store(out->direction1, *t1);
}

static void writeLimits(int mode, pcSurface* out)
{
    bool first = !(mode & dContactApprox1_1), second = !(mode & dContactApprox1_2);
    out->forceLimit = first && second ? PC_LIMIT_FRICTION : first ? PC_LIMIT_FRICTION1 : second ? PC_LIMIT_FRICTION2 : PC_LIMIT_NONE;
}

/* As long as nothing tells the directions apart, none is chosen: friction is then the same all round. */
static bool hasDirections(int mode)
{
    const int apart = dContactFDir1 | dContactMu2 | dContactMotion1 | dContactMotion2 | dContactSlip1 | dContactSlip2;
    bool halfApprox = !(mode & dContactApprox1_1) != !(mode & dContactApprox1_2);
    return (mode & apart) || halfApprox;
}

static void writeFriction(const pcHostSurface* host, const dContact* contact, int turned, pcSurface* out)
{
    const dSurfaceParameters* s = &contact->surface;
    int mode = s->mode;
    v3 t1, t2;
    out->mu = positive(s->mu), out->mu2 = mode & dContactMu2 ? positive(s->mu2) : out->mu;
    writeLimits(mode, out);
    if (!hasDirections(mode)) return;
    writeDirection(contact, turned, out, &t1, &t2);
    double motion1 = mode & dContactMotion1 ? s->motion1 : 0.0, motion2 = mode & dContactMotion2 ? s->motion2 : 0.0;
    v3 belt = v3AddScaled(v3Scale(motion1, t1), motion2, t2);
    v3Store(out->surfaceVelocity, v3Scale(turned ? 1.0 : -1.0, belt));
    out->slip1 = mode & dContactSlip1 ? positive(s->slip1) / host->h : 0.0;
    out->slip2 = mode & dContactSlip2 ? positive(s->slip2) / host->h : 0.0;
}

/* ---- rolling ---- */

static void writeRolling(const dSurfaceParameters* s, pcSurface* out)
{
    int mode = s->mode;
    out->rolling = out->rolling2 = out->torsion = 0.0, out->momentLimit = 0;
    if (!(mode & dContactRolling)) return;
    bool apart = mode & dContactAxisDep;
    out->rolling = positive(s->rho), out->rolling2 = apart ? positive(s->rho2) : out->rolling;
    out->torsion = apart ? positive(s->rhoN) : out->rolling;
    out->momentLimit = (mode & dContactApprox1_1 && out->rolling < HUGE_VAL ? 0 : PC_LIMIT_ROLLING1) |
                       (mode & dContactApprox1_2 && out->rolling2 < HUGE_VAL ? 0 : PC_LIMIT_ROLLING2) |
                       (mode & dContactApprox1_N && out->torsion < HUGE_VAL ? 0 : PC_LIMIT_TORSION);
}

/* ---- the whole ---- */

static void writeSurface(const pcHostSurface* host, const dContact* contact, int turned, pcSurface* out)
{
    *out = host->surface;
    writeNormal(host, &contact->surface, out);
    writeFriction(host, contact, turned, out);
    writeRolling(&contact->surface, out);
}

/* The directions of a surface are those of its contacts: a pair has none yet. */
void pcSurfaceOfPair(const pcHostSurface* host, const dSurfaceParameters* parameters, pcSurface* out)
{
    dContact contact = {.surface = *parameters};
    contact.geom.normal[2] = 1.0;
    writeSurface(host, &contact, 0, out);
    memset(out->direction1, 0, sizeof out->direction1);
}

/* A contact still apart (its depth is negative: one of ours) keeps its gap; natively it would count as touching. */
void pcContactOfHost(const pcHostSurface* host, const dContact* contact, int turned, pcContact* out)
{
    memcpy(out->point, contact->geom.pos, sizeof out->point);
    memcpy(out->normal, contact->geom.normal, sizeof out->normal);
    out->gap = -contact->geom.depth;
    writeSurface(host, contact, turned, &out->surface);
}

/* ---- identity ---- */

static unsigned long long mix(unsigned long long hash, unsigned long long more)
{
    hash = (hash ^ more) * 0x9e3779b97f4a7c15ull;
    return hash ^ (hash >> 29);
}

/* The contact's place in the axes of a body of the pair, in units of a part of the body's own size; a place near the border of a cell may
 * change cells, and then only its warm start is lost. The geoms are only numbers here: programs fill contacts by hand. */
unsigned long long pcContactId(const dContact* contact, const pcBody* bodies, const pcContact* place)
{
    const pcBody* body = bodies + (place->body2 >= 0 ? place->body2 : place->body1);
    const double* q = body->pose.quaternion;
    double size = sqrt((body->inertia[0] + body->inertia[4] + body->inertia[8]) / body->mass) / 16.0;
    v3 u = v3Make(-q[1], -q[2], -q[3]), arm = v3Sub(v3Load(contact->geom.pos), v3Load(body->pose.position));
    v3 across = v3AddScaled(v3Cross(u, arm), q[0], arm);
    v3 local = v3AddScaled(arm, 2.0, v3Cross(u, across));
    double part[3];
    v3Store(part, local);
    unsigned long long hash = mix((uintptr_t)contact->geom.g1, (uintptr_t)contact->geom.g2);
    hash = mix(hash, (unsigned)contact->geom.side1), hash = mix(hash, (unsigned)contact->geom.side2);
    for (int k = 0; k < 3; k++)
        hash = mix(hash, fabs(part[k] / size) < 1e9 ? (unsigned long long)(long long)floor(part[k] / size + 0.5) : 0);
    return hash ? hash : 1;
}
