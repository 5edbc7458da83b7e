/* <surface> of a collision. Coefficients that the specification has a default for get it; what may be left out is NaN. */
#include <math.h>

#include "adapters/sdf/reader.h"

static void readFriction(pcSdfReader* r, const xmlNode* friction, pcSceneSurface* out)
{
    static const char* const known[] = {"ode", "torsional", "bullet", NULL};
    const xmlNode *ode = pcSdfChild(friction, "ode"), *torsional = pcSdfChild(friction, "torsional");
    out->mu = pcSdfLimit(r, ode, "mu", 1.0);
    out->mu2 = pcSdfLimit(r, ode, "mu2", pcSdfChild(ode, "mu") ? out->mu : 1.0);
    if (out->mu < 0.0 || out->mu2 < 0.0) pcSdfFail(r, ode, "a friction coefficient is negative");
    pcSdfVector(r, ode, "fdir1", out->fdir1);
    out->slip1 = pcSdfPositive(r, ode, "slip1", 0.0);
    out->slip2 = pcSdfPositive(r, ode, "slip2", 0.0);
    pcSdfSkip(r, friction, known);
    if (!torsional) return;
    out->torsion = pcSdfPositive(r, torsional, "coefficient", 1.0);
    out->patchRadius = pcSdfPositive(r, torsional, "patch_radius", 0.0);
    if (!pcSdfFlag(r, torsional, "use_patch_radius", true)) {
        out->patchRadius = 0.0;
        pcSdfNoted(r, "torsional friction by surface_radius");
    }
}

static void readContact(pcSdfReader* r, const xmlNode* contact, pcSceneSurface* out)
{
    const xmlNode* ode = pcSdfChild(contact, "ode");
    out->passive = pcSdfFlag(r, contact, "collide_without_contact", false);
    out->kp = pcSdfPositive(r, ode, "kp", NAN);
    out->kd = pcSdfPositive(r, ode, "kd", NAN);
    out->softCfm = pcSdfPositive(r, ode, "soft_cfm", NAN);
    out->softErp = pcSdfWithin(r, ode, "soft_erp", (pcSdfRange){0.0, 1.0}, NAN);
    out->fastest = pcSdfMost(r, ode, "max_vel", NAN);
    out->minDepth = pcSdfPositive(r, ode, "min_depth", NAN);
}

void pcSdfSurface(pcSdfReader* r, const xmlNode* collision, pcSceneSurface* out)
{
    static const char* const known[] = {"friction", "contact", "bounce", NULL};
    const xmlNode *surface = pcSdfChild(collision, "surface"), *bounce = pcSdfChild(surface, "bounce");
    *out = (pcSceneSurface){.mu = 1.0, .mu2 = 1.0};
    readFriction(r, pcSdfChild(surface, "friction"), out);
    readContact(r, pcSdfChild(surface, "contact"), out);
    out->bounce = pcSdfPositive(r, bounce, "restitution_coefficient", 0.0);
    out->threshold = pcSdfMost(r, bounce, "threshold", 1e5);
    pcSdfSkip(r, surface, known);
}
