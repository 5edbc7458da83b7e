/*
 * Two surfaces as one, as simulators on ODE do it: mu, mu2, bounce and its threshold are the smaller ones, slips add, springs stand one
 * behind the other and dampers side by side:
 *
 *     1/kp = 1/kp_1 + 1/kp_2,   kd = kd_1 + kd_2,   soft_cfm = 1 / (h kp + kd),   soft_erp = h kp soft_cfm
 *
 * With the kp 1e12 and kd 1 of a file that says nothing that is soft_erp 1 within rounding and a soft_cfm of nothing: so the contact stays
 * hard unless the file says kp, kd, soft_cfm or soft_erp.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/host.h"
#include "adapters/sdf/inner.h"
#include "base/vec.h"

/* ---- which pairs ---- */

static bool areJoined(const pcStageInner* inner, int link1, int link2)
{
    int pair[2] = {link1 < link2 ? link1 : link2, link1 < link2 ? link2 : link1};
    if (inner->joinedPairs == 0) return false;
    return bsearch(pair, inner->joined, (size_t)inner->joinedPairs, sizeof pair, pcStageComparePairs) != NULL;
}

static bool mayTouch(const pcStageInner* inner, const pcStageGeom* a, const pcStageGeom* b)
{
    if (a->link == b->link) return false;
    if (a->model == b->model && !a->selfCollide && !b->selfCollide) return false;
    return !areJoined(inner, a->link, b->link);
}

/* ---- how they meet ---- */

static double said(double value, double missing) { return isnan(value) ? missing : value; }
static double smallerSaid(double a, double b) { return isnan(a) ? b : isnan(b) ? a : smaller(a, b); }
static double largerSaid(double a, double b) { return isnan(a) ? b : isnan(b) ? a : larger(a, b); }

/* Where the file says nothing of how soft a contact is, but gamma, ODE's own steps have the ERP of the world. */
static void combineNormal(const pcSceneSurface* a, const pcSceneSurface* b, double h, bool gamma, dSurfaceParameters* out)
{
    double kp1 = said(a->kp, 1e12), kp2 = said(b->kp, 1e12), kp = kp1 > 0.0 && kp2 > 0.0 ? 1.0 / (1.0 / kp1 + 1.0 / kp2) : 0.0;
    double stiff = h * kp + said(a->kd, 1.0) + said(b->kd, 1.0);
    bool springs = !isnan(smallerSaid(smallerSaid(a->kp, b->kp), smallerSaid(a->kd, b->kd)));
    double erp = smallerSaid(a->softErp, b->softErp), cfm = said(a->softCfm, 0.0) + said(b->softCfm, 0.0);
    if (!(stiff > 0.0)) return;
    if (springs || !isnan(erp) || !gamma) out->mode |= dContactSoftERP;
    out->soft_erp = !springs && !isnan(erp) ? erp : h * kp / stiff;
    out->soft_cfm = springs ? 1.0 / stiff : cfm;
    if (out->soft_cfm > 0.0) out->mode |= dContactSoftCFM;
    double bounce = smaller(a->bounce, b->bounce);
    if (!(bounce > 0.0)) return;
    out->mode |= dContactBounce, out->bounce = bounce, out->bounce_vel = smaller(a->threshold, b->threshold);
}

static void combineFriction(const pcSceneSurface* a, const pcSceneSurface* b, dSurfaceParameters* out)
{
    double slip1 = a->slip1 + b->slip1, slip2 = a->slip2 + b->slip2;
    out->mu = smaller(a->mu, b->mu), out->mu2 = smaller(a->mu2, b->mu2);
    if (out->mu != out->mu2) out->mode |= dContactMu2;
    if (slip1 > 0.0) out->mode |= dContactSlip1, out->slip1 = slip1;
    if (slip2 > 0.0) out->mode |= dContactSlip2, out->slip2 = slip2;
}

/* A patch of radius r that is pressed evenly out to its edge as a ball presses: 3 pi / 16 r mu. */
static void combineTorsion(const pcSceneSurface* a, const pcSceneSurface* b, dSurfaceParameters* out)
{
    const double patch = 0.5890486225480862;
    double moment = patch * smaller(a->torsion, b->torsion) * larger(a->patchRadius, b->patchRadius);
    if (!(moment > 0.0)) return;
    out->mode |= dContactRolling | dContactAxisDep;
    out->rho = out->rho2 = 0.0, out->rhoN = moment;
}

/* In a plane, friction acts along the tangent in it: the first direction is across, and has none. */
static void keepInPlane(dSurfaceParameters* out)
{
    out->mode |= dContactMu2;
    out->mu2 = out->mu, out->mu = 0.0;
    if (out->mode & dContactSlip1) out->mode |= dContactSlip2, out->slip2 = out->slip1;
    out->mode &= ~dContactSlip1;
}

/* The specification's 0.01, where a surface says nothing; but who sets gamma has said how much of a depth one step repairs. */
double pcStageFastest(const pcStage* stage) { return isnan(stage->settings.gamma) ? 0.01 : HUGE_VAL; }

int pcStageSurface(void* context, dGeomID geom1, dGeomID geom2, dSurfaceParameters* out)
{
    const pcStageInner* inner = ((const pcStage*)context)->inner;
    const pcStageGeom *a = dGeomGetData(geom1), *b = dGeomGetData(geom2);
    if (!a || !b || !mayTouch(inner, a, b)) return 0;
    *out = (dSurfaceParameters){.mode = dContactApprox1};
    combineNormal(&a->collision->surface, &b->collision->surface, inner->h, !isnan(((const pcStage*)context)->settings.gamma), out);
    combineFriction(&a->collision->surface, &b->collision->surface, out);
    combineTorsion(&a->collision->surface, &b->collision->surface, out);
    if (out->mode & dContactSoftCFM) out->soft_cfm = larger(out->soft_cfm, inner->leastCfm);
    if (inner->scene->physics.planar) keepInPlane(out);
    return 1;
}

void pcStageSurfaceMore(void* context, dGeomID geom1, dGeomID geom2, pcSurfaceMore* more)
{
    const pcStageInner* inner = ((const pcStage*)context)->inner;
    const pcStageGeom *a = dGeomGetData(geom1), *b = dGeomGetData(geom2);
    const pcSceneSurface *first = &a->collision->surface, *second = &b->collision->surface;
    double unsaid = pcStageFastest(context);
    more->fastest = smaller(said(first->fastest, unsaid), said(second->fastest, unsaid));
    more->sink = largerSaid(first->minDepth, second->minDepth);
    bool mine = first->mu <= second->mu && v3Norm(v3Load(first->fdir1)) > 0.0;
    const pcStageGeom* g = mine || !(v3Norm(v3Load(second->fdir1)) > 0.0) ? a : b;
    const double* direction = g->collision->surface.fdir1;
    dBodyID body = inner->bodyOfLink[g->link];
    dVector3 world = {direction[0], direction[1], direction[2]};
    if (body) {
        dBodyVectorToWorld(body, direction[0], direction[1], direction[2], world);
    } else if (v3Norm(v3Load(direction)) > 0.0) {
        dQuaternion q;
        dMatrix3 R;
        memcpy(q, inner->scene->link[g->link].pose.quaternion, sizeof q);
        dQtoR(q, R);
        dMultiply0_331(world, R, direction);
    }
    memcpy(more->direction1, world, sizeof more->direction1);
    if (!inner->scene->physics.planar) return;
    memset(more->direction1, 0, sizeof more->direction1);
    more->direction1[inner->scene->physics.planar - 1] = 1.0;
}

/* ---- layers ---- */

typedef struct Rest {
    const pcStage* stage;
    double left;
} Rest;

static double deepestOf(const pcStageGeom* geom) { return geom->collision->soft ? geom->collision->layer.deepest : 0.0; }

static void lookAtPair(void* context, dGeomID geom1, dGeomID geom2)
{
    Rest* rest = context;
    const pcStageGeom *a = dGeomGetData(geom1), *b = dGeomGetData(geom2);
    double deepest = deepestOf(a) + deepestOf(b); /* one layer behind the other */
    dContactGeom contact[16];
    if (!(deepest > 0.0 && deepest < HUGE_VAL) || !mayTouch(rest->stage->inner, a, b)) return;
    int count = pcCollide(geom1, geom2, 16, contact, sizeof *contact);
    for (int i = 0; i < count; i++) rest->left = smaller(rest->left, 1.0 - contact[i].depth / deepest);
}

double pcStageLayerLeft(const pcStage* stage)
{
    Rest rest = {stage, 1.0};
    if (stage->inner->layered) dSpaceCollide(stage->space, &rest, lookAtPair);
    return rest.left;
}
