/*
 * Rows of one contact, through its point p, along its normal n and two tangents t:
 *
 *     normal      n.(u2 - u1)  >=  b_n,            u_i the velocity of body i at p
 *     sliding     mu_k t_k.(u2 - u1 + surface)     multiplied by its coefficient, as problem.h wants it: |c_g| <= c_n
 *     torsion     torsion n.(w2 - w1)              rolling   rolling_k t_k.(w2 - w1)
 *
 * Target of the normal row, with d = gap - layer (a depth less than what the surface lets sink is none, and in piles whatever is next to nothing:
 * ruleOf in assemble.c):
 *
 *     b_n = -d / h            d > 0 (gammaGap=paper: -gamma d / h): it may come as near as touching
 *     b_n = -gamma d / h      d <= 0: the part of the penetration that one step removes (T 5.1)
 *     b_n = -e u_n(v_old)     if larger, for a contact that approached and touches or would within the step (Newton)
 *
 *     b_n = u_end             for one that bounces within the step, if its bodies fly (flight=mean, below)
 *
 * both beyond the surface's own normal velocity, if it has one; but nothing is repaired faster than the surface says.
 *
 * Adaptive gamma (S 5 asks for one). A body that is pushed out at gamma |d| / h meets the slower target gamma (1 - gamma) |d| / h in the
 * next step. The difference, gamma^2 |d| / h, must not exceed what the acceleration a that presses it on takes from it, a h, or it is
 * thrown clear. But a push of a tenth of the speed V at which the bodies pass does no harm: it adds at most a hundredth to their energy, and
 * the errors of such motion, d ~ (h V)^2 over the size of a body, need less as soon as h V is small beside it. So
 *
 *     gamma = the larger of sqrt(a h^2 / |d|) and V h / (10 |d|), at most 1, at least 0.05,       a = (u_n(v_old) - u_n(v*)) / h:
 *
 * what motion leaves behind is repaired in one step, what lies deep at rest as fast as it can be without a throw.
 */
#include "constraint/constraint.h"

static const double GAMMA = 0.2;        /* where it is not set: ODE's ERP */
static const double LEAST_GAMMA = 0.05; /* so that what nothing presses on comes out at last */
static const double PASSING = 0.1;      /* of the speed of the bodies, adaptive gamma may push */
static const double TOUCH = 1e-9;    /* of the arms of the contact: nearer counts as touching (Assembly.SticksAndBoundsOnlyWherePressed) */
static const double SLIDING = 1e-6;  /* of the speeds of the bodies: slower has no direction */
static const double APPROACH = 1e-9; /* of the same: slower is rounding, not an impact (StepRestitution.StackAtRestCostsNoMore) */

/* What the rows of a contact are made from. */
typedef struct Contact {
    const pcAssembly* a;
    const pcTouch* touch;
    const pcMotion *motion1, *motion2; /* NULL: the world */
    v3 t[2];
    double d;           /* gap - layer */
    double nOld, nFree; /* normal velocity before the step, and without impulses after it */
    v3 slide;           /* tangential velocity without impulses, the surface's included */
    double speed;       /* of the two bodies at the point */
    double mu[2];       /* along the tangents */
    bool touches;       /* within the step, if no impulse acts */
} Contact;

/* ---- geometry ---- */

/* A unit force along n through p gives the torque (p - x) x n about x: so p = x + n x torque, up to its place along n, for which the
 * middle of the two features is taken. */
pcTouch pcTouchOfEvent(const pcEvent* e, const pcPose* pose2)
{
    v3 n = v3Load(e->normal), x = v3Load(pose2->position);
    v3 line = v3Add(x, v3Cross(n, v3Load(e->wrench + 9)));
    v3 middle = v3Scale(0.5, v3Add(v3Load(e->point1), v3Load(e->point2)));
    v3 p = v3AddScaled(line, v3Dot(n, v3Sub(middle, line)), n);
    return (pcTouch){.shape1 = -1, .shape2 = -1, .kind = (int)e->kind, .id = e->id, .point = p, .normal = n, .gap = e->gap};
}

/* Two tangents that follow the normal smoothly: they jump only where it leans over by 120 degrees from upright. */
static void tangentsOf(v3 n, v3* t1, v3* t2)
{
    double sign = n.z < -0.5 ? -1.0 : 1.0, a = -1.0 / (sign + n.z), b = n.x * n.y * a;
    *t1 = v3Make(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *t2 = v3Make(b, sign + n.y * n.y * a, -n.y);
}

/* The part of `direction` across the normal, as tangent 1; false if nothing is left of it. */
static bool tangentAlong(Contact* c, v3 direction)
{
    v3 n = c->touch->normal, across = v3AddScaled(direction, -v3Dot(direction, n), n);
    double size = v3Norm(across);
    if (!(size > 1e-6 * v3Norm(direction))) return false;
    c->t[0] = v3Scale(1.0 / size, across);
    c->t[0] = v3AddScaled(c->t[0], -v3Dot(c->t[0], n), n);
    c->t[1] = v3Cross(n, c->t[0]);
    return true;
}

/* mu along tangent k is a largest force. */
static bool isLimit(const Contact* c, int k)
{
    int limit = c->touch->surface.forceLimit;
    if (c->a->settings->friction != PC_FRICTION_HOST) return false;
    return limit == PC_LIMIT_FRICTION || limit == (k == 0 ? PC_LIMIT_FRICTION1 : PC_LIMIT_FRICTION2);
}

/* A force limit has a direction of its own even where it is the same in both: there the sliding direction is the fair one. */
static void chooseTangents(Contact* c)
{
    const pcSurface* s = &c->touch->surface;
    if (tangentAlong(c, v3Load(s->direction1))) return;
    bool slides = v3Norm(c->slide) > SLIDING * c->speed, box = isLimit(c, 0) && isLimit(c, 1);
    if (box && c->mu[0] == c->mu[1] && slides && tangentAlong(c, c->slide)) return;
    tangentsOf(c->touch->normal, &c->t[0], &c->t[1]);
}

static v3 velocityAt(const Contact* c, const pcMotion* motion, bool free)
{
    if (!motion) return v3Make(0, 0, 0);
    return pcPointVelocity(motion, free ? motion->free : motion->velocity, c->touch->point);
}

static double armOf(const Contact* c, const pcMotion* motion) { return motion ? v3Norm(v3Sub(c->touch->point, motion->position)) : 0.0; }

static void setFriction(Contact* c)
{
    const pcSurface* s = &c->touch->surface;
    c->mu[0] = s->mu, c->mu[1] = isnan(s->mu2) ? s->mu : s->mu2;
}

static Contact look(const pcAssembly* a, const pcTouch* touch, const pcTouchRule* rule)
{
    Contact c = {.a = a, .touch = touch};
    c.motion1 = touch->body1 >= 0 ? a->motion + touch->body1 : NULL;
    c.motion2 = touch->body2 >= 0 ? a->motion + touch->body2 : NULL;
    c.d = touch->gap - a->settings->layer;
    if (c.d < 0.0) c.d = smaller(c.d + touch->surface.sink, 0.0);
    if (c.d < rule->leastGap && -c.d < rule->leastDepth) c.d = 0.0;
    v3 old = v3Sub(velocityAt(&c, c.motion2, false), velocityAt(&c, c.motion1, false));
    v3 free1 = velocityAt(&c, c.motion1, true), free2 = velocityAt(&c, c.motion2, true), free = v3Sub(free2, free1);
    c.nOld = v3Dot(old, touch->normal), c.nFree = v3Dot(free, touch->normal);
    c.slide = v3Add(v3AddScaled(free, -c.nFree, touch->normal), v3Load(touch->surface.surfaceVelocity));
    c.slide = v3AddScaled(c.slide, -v3Dot(c.slide, touch->normal), touch->normal);
    c.speed = v3Norm(free1) + v3Norm(free2) + v3Norm(v3Load(touch->surface.surfaceVelocity));
    setFriction(&c);
    c.touches = c.d + a->h * c.nFree <= TOUCH * (armOf(&c, c.motion1) + armOf(&c, c.motion2));
    chooseTangents(&c);
    return c;
}

/* ---- rows ---- */

static int addRow(const Contact* c, pcRows* list, v3 force, v3 torque, double factor, double target, double soft)
{
    double J[12] = {0};
    v3 p = c->touch->point;
    int body[2] = {c->touch->body1, c->touch->body2};
    for (int side = 0; side < 2; side++) {
        const pcMotion* motion = side ? c->motion2 : c->motion1;
        double sign = side ? 1.0 : -1.0;
        v3 arm = motion ? v3Sub(p, motion->position) : v3Make(0, 0, 0);
        v3Store(J + 6 * side, v3Scale(sign, force));
        v3Store(J + 6 * side + 3, v3Scale(sign, v3Add(v3Cross(arm, force), torque)));
    }
    return pcRowsAdd(c->a, list, body, J, factor, target, soft);
}

static int addForce(const Contact* c, pcRows* list, v3 along, double factor, double target, double soft)
{
    return addRow(c, list, along, v3Make(0, 0, 0), factor, target, soft);
}

static int addTorque(const Contact* c, pcRows* list, v3 about, double factor)
{
    return addRow(c, list, v3Make(0, 0, 0), about, factor, 0.0, 0.0);
}

static double gammaOf(const Contact* c)
{
    const pcSettings* s = c->a->settings;
    double own = c->touch->surface.gamma, usual = isnan(s->gamma) ? GAMMA : s->gamma, gamma = isnan(own) ? usual : own, h = c->a->h,
           pressed = larger(c->nOld - c->nFree, 0.0) * h;
    if (!s->adaptiveGamma || c->d >= 0.0) return gamma;
    return larger(LEAST_GAMMA, smaller(1.0, larger(sqrt(pressed / -c->d), PASSING * c->speed * h / -c->d)));
}

/* Where the position is heading: b_n without restitution. */
static double stabilization(const Contact* c)
{
    bool whole = c->d > 0.0 && c->a->settings->gammaGap == PC_GAMMA_TOUCH;
    double target = c->touch->surface.normalVelocity - (whole ? 1.0 : gammaOf(c)) * c->d / c->a->h;
    return smaller(target, c->touch->surface.fastest);
}

/* The approach that the forces of this step make of rest. In a stack both bodies would fall together, but the ground holds one of them: so
 * each is looked at alone as well. */
static double gainedInStep(const Contact* c)
{
    double gained = c->nOld - c->nFree;
    const pcMotion* motion[2] = {c->motion1, c->motion2};
    for (int side = 0; side < 2; side++) {
        v3 change = v3Sub(velocityAt(c, motion[side], true), velocityAt(c, motion[side], false));
        gained = larger(gained, fabs(v3Dot(c->touch->normal, change)));
    }
    return larger(gained, 0.0);
}

/* Poisson gives back the whole impulse of a contact, that which carries a weight for one step included. So it is for impacts: those faster
 * than the forces of the step make a body at rest, and than the error of the last step's velocities. */
static bool isImpact(const Contact* c, double approach)
{
    return approach > gainedInStep(c) + larger(APPROACH, c->a->settings->tolerance) * c->speed;
}

/*
 * flight=mean. The gap of two bodies that fly is d + u t + a t^2 / 2, with u = u_n(v_old) and a = (u_n(v*) - u) / h. Where it closes at t1 <= h,
 * they meet at u1 = u + a t1 = -sqrt(u^2 - 2 a d), part at -e u1, and end the step with
 *
 *     u_end = -e u1 + a (h - t1),      d_end = -e u1 (h - t1) + a (h - t1)^2 / 2.
 *
 * With d_end < 0 they would meet again within the step, and an approach that is no impact is a weight at rest: neither bounces. Where the gap
 * closes only after the step, which -d / h alone would brake, the mean of u and u' must not be below it: b_n = -2 d / h - u.
 */
static void writeFlight(const Contact* c, double* target, pcTouchRows* out)
{
    const pcSurface* s = &c->touch->surface;
    double h = c->a->h, d = larger(c->d, 0.0), u = c->nOld - s->normalVelocity, a = (c->nFree - c->nOld) / h, square = u * u - 2.0 * a * d;
    double approach = sqrt(larger(square, 0.0)), t1 = u > 0.0 ? (u + approach) / -a : d > 0.0 ? 2.0 * d / (approach - u) : 0.0;
    bool meets = square >= 0.0 && t1 >= 0.0 && t1 <= h, brakes = c->a->settings->gammaGap == PC_GAMMA_PAPER;
    if (!meets && d > 0.0 && !brakes) out->flown = *target = smaller(*target, s->normalVelocity - 2.0 * d / h - u);
    if (!meets || !(approach > s->bounceVelocity) || !isImpact(c, approach)) return;
    double left = h - t1, parting = s->bounce * approach;
    if (parting * left + 0.5 * a * left * left < 0.0) return;
    *target = out->bounced = larger(*target, parting + a * left + s->normalVelocity);
    out->after = left / h;
}

static void writeRestitution(const Contact* c, bool fly, double* target, pcTouchRows* out)
{
    const pcSurface* s = &c->touch->surface;
    double approach = s->normalVelocity - c->nOld;
    out->bounce = s->bounce, out->target = out->bounced = out->flown = *target;
    out->driven = larger(*target, s->normalVelocity), out->after = -1.0;
    if (fly && s->bounce > 0.0 && c->a->settings->restitution == PC_RESTITUTION_NEWTON) {
        writeFlight(c, target, out);
        return;
    }
    if (!(s->bounce > 0.0) || !(approach > s->bounceVelocity) || !(c->touches || c->d <= 0.0)) return;
    if (c->a->settings->restitution == PC_RESTITUTION_NEWTON)
        *target = out->bounced = larger(*target, s->bounce * approach + s->normalVelocity);
    else if (isImpact(c, approach))
        out->impact = true, *target = 0.0;
}

/* The law of friction along tangent k: a cone, a bound, or no sliding at all. The last two do not know whether the contact is pressed; so
 * they are there only if it will be. */
typedef enum Law { LAW_NONE, LAW_CONE, LAW_BOX, LAW_STICK } Law;

static Law lawOf(const Contact* c, double most, bool limit)
{
    if (!(most > 0.0)) return LAW_NONE;
    if (most < HUGE_VAL && !limit) return LAW_CONE;
    if (!c->touches) return LAW_NONE;
    return most < HUGE_VAL ? LAW_BOX : LAW_STICK;
}

static Law slidingLaw(const Contact* c, int k) { return lawOf(c, c->mu[k], isLimit(c, k)); }

/* Turning: about the normal (0), about the tangents (1, 2). */
typedef struct Turning {
    v3 about;
    double most;
    Law law;
} Turning;

static Turning turningOf(const Contact* c, int k)
{
    const pcSurface* s = &c->touch->surface;
    const int bit[3] = {PC_LIMIT_TORSION, PC_LIMIT_ROLLING1, PC_LIMIT_ROLLING2};
    const double most[3] = {s->torsion, s->rolling, isnan(s->rolling2) ? s->rolling : s->rolling2};
    return (Turning){k == 0 ? c->touch->normal : c->t[k - 1], most[k], lawOf(c, most[k], (s->momentLimit & bit[k]) != 0)};
}

/* Multiplied by mu, a row's softness counts mu^2: the velocity mu (u + slip c), the impulse c = mu c_row. */
static int addFriction(const Contact* c, pcRows* list, int k, double factor)
{
    const pcSurface* s = &c->touch->surface;
    double slip = k == 0 ? s->slip1 : s->slip2, belt = v3Dot(c->t[k], v3Load(s->surfaceVelocity));
    return addForce(c, list, c->t[k], factor, -factor * belt, factor * factor * slip);
}

/* A corner of the polygon opposes the sliding that the free motion has, as friction sees it: each part times its coefficient. */
static double angleOf(const Contact* c)
{
    double u1 = c->mu[0] * v3Dot(c->t[0], c->slide), u2 = c->mu[1] * v3Dot(c->t[1], c->slide);
    if (!c->a->settings->alignCone || !(v3Norm(c->slide) > SLIDING * c->speed)) return 0.0;
    return atan2(u2, u1);
}

static void addRoom(Law law, int* rows, int* cones) { *rows += law != LAW_NONE, *cones += law == LAW_BOX || law == LAW_STICK; }

void pcTouchRoom(const pcAssembly* a, const pcTouch* touch, int* rows, int* cones)
{
    Contact c = {.a = a, .touch = touch, .touches = true};
    setFriction(&c);
    *rows = *cones = 1;
    for (int k = 0; k < 2; k++) addRoom(slidingLaw(&c, k), rows, cones);
    for (int k = 0; k < 3; k++) addRoom(turningOf(&c, k).law, rows, cones);
}

static void put(pcTouchRows* out, int k, int row, double scale) { out->row[k] = row, out->scale[k] = scale; }

static int addSliding(const Contact* c, pcRows* list, pcTouchRows* out)
{
    int rows = 0;
    for (int k = 0; k < 2; k++) {
        out->inCone[k] = slidingLaw(c, k) == LAW_CONE;
        if (out->inCone[k]) put(out, 1 + k, addFriction(c, list, k, c->mu[k]), c->mu[k]), rows++;
    }
    return rows;
}

/* Rows of the cone for the turnings from .. to; returns how many. */
static int addTurning(const Contact* c, pcRows* list, pcTouchRows* out, int from, int to)
{
    int rows = 0;
    for (int k = from; k <= to; k++) {
        Turning t = turningOf(c, k);
        if (t.law == LAW_CONE) put(out, 3 + k, addTorque(c, list, t.about, t.most), t.most), rows++;
    }
    return rows;
}

/* The normal row and the groups that there are. */
static void addCone(const Contact* c, double target, pcRows* list, pcTouchRows* out)
{
    int first = list->rows;
    put(out, 0, addForce(c, list, c->touch->normal, 1.0, target, c->touch->surface.softness), 1.0);
    int sliding = addSliding(c, list, out), torsion = addTurning(c, list, out, 0, 0), rolling = addTurning(c, list, out, 1, 2);
    pcCone* cone = pcRowsAddCone(list, PC_CONE_FRICTION, list->rows - first);
    const int size[PC_CONE_GROUPS] = {sliding, torsion, rolling};
    for (int g = 0; g < PC_CONE_GROUPS; g++)
        if (size[g] > 0) cone->groupSize[cone->groups++] = size[g];
    if (sliding == 2 && c->a->settings->coneEdges > 0) cone->edges = c->a->settings->coneEdges, cone->angle = angleOf(c);
}

/* A cone over the last row: bounded by `most`, or not at all. */
static void boundRow(const Contact* c, pcRows* list, Law law, double most)
{
    pcCone* cone = pcRowsAddCone(list, law == LAW_BOX ? PC_CONE_BOX : PC_CONE_FREE, 1);
    if (law == LAW_BOX) cone->hi = most * c->a->h, cone->lo = -cone->hi;
}

static void addBounds(const Contact* c, pcRows* list, pcTouchRows* out)
{
    for (int k = 0; k < 2; k++) {
        Law law = slidingLaw(c, k);
        if (law != LAW_BOX && law != LAW_STICK) continue;
        put(out, 1 + k, addFriction(c, list, k, 1.0), 1.0);
        boundRow(c, list, law, c->mu[k]);
    }
    for (int k = 0; k < 3; k++) {
        Turning t = turningOf(c, k);
        if (t.law != LAW_BOX && t.law != LAW_STICK) continue;
        put(out, 3 + k, addTorque(c, list, t.about, 1.0), 1.0);
        boundRow(c, list, t.law, t.most);
    }
}

void pcTouchAssemble(const pcAssembly* a, const pcTouch* touch, const pcTouchRule* rule, pcRows* list, pcTouchRows* out)
{
    Contact c = look(a, touch, rule);
    double target = stabilization(&c);
    *out = (pcTouchRows){.row = {-1, -1, -1, -1, -1, -1}, .tangent1 = c.t[0], .tangent2 = c.t[1]};
    writeRestitution(&c, rule->fly, &target, out);
    addCone(&c, target, list, out);
    out->carried = list->target[out->row[0]] - target;
    addBounds(&c, list, out);
}
