#include "adapters/ode/touches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/ode/gather.h"
#include "adapters/ode/probe.h"
#include "base/vec.h"

void pcTouchesFree(pcTouches* t)
{
    free(t->contact);
    free(t->feedback);
    *t = (pcTouches){0};
}

/* ---- native ---- */

static v3 velocityAt(dBodyID body, const dReal* point)
{
    dVector3 velocity = {0};
    if (body) dBodyGetPointVel(body, point[0], point[1], point[2], velocity);
    return v3Load(velocity);
}

/* ODE's first body of a contact, into which its normal points, is our second. */
static void fill(const pcHostSurface* host, dJointID joint, pcWorldContact* out)
{
    const dContact* contact = pcOdeContact(joint);
    pcContact c;
    dVector3 first, second;
    *out = (pcWorldContact){.body1 = dJointGetBody(joint, 1), .body2 = dJointGetBody(joint, 0), .kind = -1};
    pcContactOfHost(host, contact, 0, &c);
    const pcSurface* s = &c.surface;
    memcpy(out->point, c.point, sizeof out->point);
    memcpy(out->normal, c.normal, sizeof out->normal);
    dPlaneSpace(contact->geom.normal, first, second);
    memcpy(out->tangent1, contact->surface.mode & dContactFDir1 ? contact->fdir1 : first, sizeof out->tangent1);
    out->gap = c.gap, out->mu = s->mu, out->mu2 = s->mu2;
    out->softness = s->softness, out->slip1 = s->slip1, out->slip2 = s->slip2;
    v3 before = v3Sub(velocityAt(out->body2, out->point), velocityAt(out->body1, out->point));
    double approach = s->normalVelocity - v3Dot(v3Load(out->normal), before), depth = larger(-c.gap - s->sink, 0.0);
    out->target = smaller(s->normalVelocity + s->gamma * depth / host->h, s->fastest);
    if (s->bounce > 0.0 && approach > s->bounceVelocity) out->target = larger(out->target, s->bounce * approach + s->normalVelocity);
}

void pcTouchesBegin(pcTouches* t, const dJointID* joint, int joints, const pcHostSurface* host)
{
    t->count = 0;
    if (!pcGrow(&t->contact, &t->room, joints, sizeof *t->contact)) return;
    if (!pcGrow(&t->feedback, &t->feedbackRoom, joints, sizeof *t->feedback)) return;
    t->count = joints;
    for (int i = 0; i < joints; i++) {
        fill(host, joint[i], t->contact + i);
        dJointSetFeedback(joint[i], t->feedback + i);
    }
}

/* ODE's first force is on its first node: of a joint attached as (0, body), on that body. */
void pcTouchesEnd(pcTouches* t, const dJointID* joint, double h)
{
    for (int i = 0; i < t->count; i++) {
        bool turned = !t->contact[i].body2;
        v3Store(t->contact[i].impulse, v3Scale(turned ? -h : h, v3Load(t->feedback[i].f1)));
        dJointSetFeedback(joint[i], NULL);
    }
}

/* ---- ours ---- */

pcWorldContact pcTouchOfResult(const pcContactResult* r, const pcGathered* g)
{
    pcWorldContact out = {.kind = r->kind, .gap = r->gap, .target = r->target, .mu = r->mu, .mu2 = r->mu2};
    if (r->body1 >= 0) out.body1 = g->body[r->body1];
    if (r->body2 >= 0) out.body2 = g->body[r->body2];
    out.softness = r->softness, out.slip1 = r->slip1, out.slip2 = r->slip2;
    memcpy(out.point, r->point, sizeof out.point);
    memcpy(out.normal, r->normal, sizeof out.normal);
    memcpy(out.tangent1, r->tangent1, sizeof out.tangent1);
    v3 normal = v3Scale(r->impulse[0], v3Load(r->normal)), first = v3Scale(r->impulse[1], v3Load(r->tangent1));
    v3Store(out.impulse, v3AddScaled(v3Add(normal, first), r->impulse[2], v3Load(r->tangent2)));
    return out;
}
