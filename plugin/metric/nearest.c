/* The nearest point of a shape, where it has a simple form: by turns on two bodies these lead to a common point. */
#include "metric/round.h"

static double clamp(double a, double limit) { return a > limit ? limit : a < -limit ? -limit : a; }

bool pcShapeNearest(const pcShape* s, v3 k, v3* out)
{
    double half = s->coreCount > 1 ? s->end[1][2] : 0.0, across = sqrt(k.x * k.x + k.y * k.y);
    switch (s->kind) {
    case PC_SHAPE_BOX: *out = v3Make(clamp(k.x, s->half.x), clamp(k.y, s->half.y), clamp(k.z, s->half.z)); return true;
    case PC_SHAPE_CYLINDER: {
        double shrink = across > s->radius ? s->radius / across : 1.0;
        *out = v3Make(shrink * k.x, shrink * k.y, clamp(k.z, half));
        return true;
    }
    case PC_SHAPE_SPHERE:
    case PC_SHAPE_CAPSULE: {
        v3 core = v3Make(0.0, 0.0, clamp(k.z, half)), away = v3Sub(k, core);
        double size = v3Norm(away);
        *out = size > s->radius ? v3AddScaled(core, s->radius / size, away) : k;
        return true;
    }
    default: return false;
    }
}
