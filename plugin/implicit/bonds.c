/*
 * The contacts of pairs. Where a round piece is part of a pair, there is one, by the level of their functions. Pieces with faces and lines
 * touch in regions that have no unique closest points: such pairs have a contact for every corner of the region, found by pcEventsOfPair
 * where the bodies will be, and looked for again until they are where they were found.
 */
#include <string.h>

#include "base/status.h"
#include "implicit/solve.h"
#include "shape/shape.h"

enum { MOST_EVENTS = 32, MOST_CUTS = 32 };                     /* of a pair: the best set of that size */
static const double STEEP = 0.05;                              /* and above which the events have that point */
static const unsigned long long DEEPEST = 0x7100000000000000u; /* ids of points that no event has */
static const double MOST_FRICTION = 1000.0;                    /* what an infinite coefficient counts as */

/* ---- surfaces ---- */

static bool finiteOrMore(double x) { return x >= 0.0; }

static pcStatus checkSurface(const pcNear* near, const pcSurface* s)
{
    if (finiteOrMore(s->mu) && (isnan(s->mu2) || finiteOrMore(s->mu2)) && s->torsion >= 0.0 && s->torsion < HUGE_VAL &&
        v3Finite(v3Load(s->direction1)) && v3Finite(v3Load(s->surfaceVelocity)))
        return PC_OK;
    return pcFail(PC_ERROR_ARGUMENT, "forms %d and %d: their surface has a friction or a velocity that is none", near->form1, near->form2);
}

pcStatus pcNearSurface(pcWork* work, pcNear* near)
{
    const pcImplicitSystem* s = work->system;
    near->checked = true;
    near->surface = pcDefaultSurface(work->settings);
    if (!s->surface) return PC_OK;
    near->skipped = s->surface(s->surfaceContext, near->form1, near->form2, &near->surface) == 0;
    return near->skipped ? PC_OK : checkSurface(near, &near->surface);
}

static double coefficient(double mu) { return smaller(mu, MOST_FRICTION); }

static void applySurface(pcBond* b, const pcSurface* s)
{
    b->limit[0] = coefficient(s->mu), b->limit[1] = isnan(s->mu2) ? b->limit[0] : coefficient(s->mu2), b->limit[2] = s->torsion;
    b->belt = v3Load(s->surfaceVelocity);
    v3 along = v3Load(s->direction1);
    double size = v3Norm(along);
    if (size > 0.0) b->reference = v3Scale(1.0 / size, along);
}

/* ---- one contact ---- */

static v3 inAxes(const pcPlace* p, v3 x) { return m3TMul(&p->R, v3Sub(x, p->at)); }

/* Features as they are with the bodies at hand: from now on they go with them. */
static void freeze(const pcWork* work, pcBond* b, v3 point, v3 normal, double gap, int owner)
{
    const pcPlace *p1 = pcPlaceOf(work, b->body1), *p2 = pcPlaceOf(work, b->body2);
    b->frozen = true, b->owner = owner;
    b->feature[0].k = inAxes(p1, v3AddScaled(point, -0.5 * gap, normal));
    b->feature[1].k = inAxes(p2, v3AddScaled(point, 0.5 * gap, normal));
    b->k = m3TMul(&(owner ? p2 : p1)->R, normal);
    b->x = point, b->n = normal, b->s = gap;
}

/* Round features roll: the point of a ball or of a rim that is farthest along m is another one when the body has turned. A point on the
 * rim that is not the farthest, as around the foot of a standing cylinder, goes with the body. */
static void roundOff(pcWork* work, pcBond* b, int k, const pcPiece* piece, const pcPose* pose, v3 m)
{
    const pcShape* shape = piece->shape;
    const pcPlace* p = pcPlaceOf(work, k ? b->body2 : b->body1);
    bool ball = shape->kind == PC_SHAPE_CAPSULE, disc = shape->kind == PC_SHAPE_CYLINDER;
    if (!ball && !disc) return;
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    struct pcFeature* f = b->feature + k;
    v3 world = v3Add(p->at, m3Mul(&p->R, f->k)), x = m3TMul(&R, v3Sub(world, v3Load(pose->position))), own = m3TMul(&R, m);
    v3 out = ball ? own : v3Make(own.x, own.y, 0.0), core = v3Make(0, 0, x.z);
    double size = v3Norm(out);
    if (!(size > 1e-9)) return;
    out = v3Scale(1.0 / size, out);
    if (ball) core.z = x.z - shape->radius * out.z;
    if (!(v3Norm(v3Sub(x, v3AddScaled(core, shape->radius, out))) <= 1e-3 * shape->radius)) return;
    if (disc && size < work->flat) {
        b->cut = true;
        return;
    }
    f->k = inAxes(p, v3Add(v3Load(pose->position), m3Mul(&R, core)));
    f->radius = shape->radius, f->rim = disc;
    f->axis = m3TMul(&p->R, m3Mul(&R, v3Make(0, 0, 1)));
    pcGeometry g;
    pcBondGeometry(work, b, false, &g);
    b->x = g.x, b->s = g.s;
}

/* At an end of a capsule the ball there has its own contact, by functions, if the other piece has any. */
static bool isAtEnd(const pcPlacedPiece* side, const pcPlacedPiece* other, const pcPose* pose, v3 x, v3 m)
{
    const pcShape* shape = side->piece->shape;
    if (shape->kind != PC_SHAPE_CAPSULE || other->piece->count == 0) return false;
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    double core = m3TMul(&R, v3Sub(x, v3Load(pose->position))).z - shape->radius * m3TMul(&R, m).z;
    return fabs(core) >= (1.0 - 1e-6) * fabs(shape->end[0][2]);
}

static bool isFlat(const pcShape* shape) { return pcShapeIsPolyhedron(shape) || shape->kind == PC_SHAPE_HALFSPACE; }

/* Whose axes the normal goes with: those of the face. */
static int ownerOf(const pcEvent* event, const pcPiece* piece1, const pcPiece* piece2)
{
    if (event->kind != PC_SMOOTH) return event->kind != PC_FACE_CORNER;
    return !(isFlat(piece1->shape) && !isFlat(piece2->shape));
}

static void takeKept(pcBond* b, const pcKeptBond* kept)
{
    v3 t = v3AddScaled(b->reference, -v3Dot(b->reference, b->n), b->n);
    double size = v3Norm(t);
    if (!(size > 0.1)) t = kept->tangent, t = v3AddScaled(t, -v3Dot(t, b->n), b->n), size = v3Norm(t);
    if (!(size > 0.1)) return;
    t = v3Scale(1.0 / size, t);
    v3 o = v3Cross(b->n, t);
    double along[2] = {v3Dot(kept->friction, t), v3Dot(kept->friction, o)};
    b->reference = t;
    b->r[0] = kept->normal, b->core = kept->core;
    for (int k = 0; k < 2; k++) b->r[1 + k] = b->limit[k] > 0.0 ? along[k] / b->limit[k] : 0.0;
    b->r[3] = b->limit[2] > 0.0 ? kept->moment / b->limit[2] : 0.0;
    b->deflected[1] = v3Dot(kept->deflection, t), b->deflected[2] = v3Dot(kept->deflection, o);
}

pcKeptBond pcBondKeep(const pcBond* b, const double p[4], double core, const double deflection[2])
{
    pcKeptBond kept = {.id = b->id, .normal = p[0], .core = core, .moment = b->limit[2] * p[3], .tangent = b->t};
    kept.friction = v3AddScaled(v3Scale(b->limit[0] * p[1], b->t), b->limit[1] * p[2], b->o);
    kept.deflection = v3AddScaled(v3Scale(deflection[0], b->t), deflection[1], b->o);
    return kept;
}

/* From the list before if it was there, else from the last step. */
static void remember(pcBond* b, const pcNear* near)
{
    for (int i = 0; i < near->bonds; i++) {
        const pcBond* old = near->bond + i;
        if (old->id != b->id) continue;
        pcKeptBond kept = pcBondKeep(old, old->r, old->core, old->deflected + 1);
        takeKept(b, &kept);
        b->start = old->start, memcpy(b->deflected, old->deflected, sizeof b->deflected);
        return;
    }
    for (int i = 0; i < near->keptCount; i++)
        if (near->kept[i].id == b->id) takeKept(b, near->kept + i);
}

static pcBond* addBond(pcWork* work)
{
    if (work->bonds == work->room) {
        int room = work->room > 0 ? 2 * work->room + 4 : work->nears + work->givens;
        pcBond* wider = pcArenaRaw(work->arena, pcBond, room);
        if (!wider) return NULL;
        if (work->bonds > 0) memcpy(wider, work->bond, (size_t)work->bonds * sizeof *wider);
        work->bond = wider, work->room = room;
    }
    pcBond* b = work->bond + work->bonds++;
    memset(b, 0, sizeof *b);
    for (int k = 0; k < 4; k++) b->e[k] = b->own[k] = 1.0;
    return b;
}

static pcBond* addOf(pcWork* work, int index)
{
    pcNear* near = work->near + index;
    pcBond* b = addBond(work);
    if (!b) return NULL;
    b->near = index, b->body1 = near->body1, b->body2 = near->body2;
    b->kind = PC_SMOOTH; /* unless an event says otherwise */
    b->layer = near->soft ? &near->layer : NULL;
    applySurface(b, &near->surface);
    return b;
}

/* ---- pairs ---- */

/* Points of a rim that were found earlier in this step, once more, where they are now. */
static void addCuts(pcWork* work, int index)
{
    const pcNear* near = work->near + index;
    const pcBond* old = near->bond;
    for (int i = 0, cuts = 0; i < near->bonds; i++) {
        if (!old[i].cut || cuts++ >= MOST_CUTS) continue;
        pcBond* b = addBond(work);
        pcGeometry g;
        if (!b) return;
        *b = old[i];
        b->id |= (unsigned long long)(i + 1) << 32; /* of its own: the new farthest point has the old id */
        pcBondGeometry(work, b, false, &g);
        b->x = g.x, b->n = g.n, b->s = g.s;
    }
}

/* A disc that all but lies flat on a face: pcEventsOfPair gives points around its rim, but not always that which is deepest. It is taken to be
 * over the face if it is over the other piece. */
static void addDeepest(pcWork* work, int index, const pcPlacedPiece side[2], const pcPose pose[2], int first)
{
    for (int k = 0; k < 2; k++) {
        const pcShape* shape = side[k].piece->shape;
        if (shape->kind != PC_SHAPE_CYLINDER || !isFlat(side[1 - k].piece->shape) || work->bonds == first) continue;
        v3 n = work->bond[first].n, m = k ? v3Neg(n) : n;
        m3 R;
        m3FromQuaternion(v4Load(pose[k].quaternion), &R);
        v3 own = m3TMul(&R, m), out = {own.x, own.y, 0.0};
        double slope = v3Norm(out);
        if (!(slope > 0.0 && slope < STEEP)) continue;
        v3 rim = v3Scale(shape->radius / slope, out);
        rim.z = copysign(fabs(shape->end[0][2]), own.z);
        v3 x = v3Add(v3Load(pose[k].position), m3Mul(&R, rim));
        double gap = HUGE_VAL, top = -HUGE_VAL;
        for (int i = first; i < work->bonds; i++) gap = smaller(gap, work->bond[i].s);
        pcPlacedPiece other = side[1 - k];
        m3FromQuaternion(v4Load(pose[1 - k].quaternion), &other.R);
        v3 seen = m3TMul(&other.R, v3Sub(x, v3Load(pose[1 - k].position)));
        int face = -1;
        for (int i = 0; i < other.piece->count; i++) {
            double f = pcFunctionValue(other.piece->function + i, seen);
            if (f > top) top = f, face = i;
        }
        for (int i = 0; i < other.piece->count; i++)
            if (i != face && pcFunctionValue(other.piece->function + i, seen) > 0.0) face = -2;
        if (face < 0 || !(top < gap)) continue;
        pcBond* b = addOf(work, index);
        if (!b) return;
        b->id = DEEPEST + (unsigned long long)k;
        v3 normal = m3Mul(&other.R, other.piece->function[face].a); /* outwards of the face */
        if (k == 0) normal = v3Neg(normal);
        freeze(work, b, v3AddScaled(x, k ? -0.5 * top : 0.5 * top, normal), normal, top, 1 - k);
        roundOff(work, b, k, side[k].piece, pose + k, k ? v3Neg(normal) : normal);
        b->start = top, b->deflected[0] = larger(0.0, -top);
        remember(b, work->near + index);
        if (b->cut && work->near[index].bonds > 0) memset(b->r, 0, sizeof b->r);
    }
}

/* Edges and rims that cross have a normal that goes with neither body. */
static void cross(const pcWork* work, pcBond* b, v3 x1, v3 x2)
{
    const pcNear* near = work->near + b->near;
    pcPlacedPiece side[2];
    pcLevelPair pair;
    if (near->soft || b->cut) return;
    pcPlacePair(work, near, side, &pair);
    if (side[0].piece->count == 0 || side[1].piece->count == 0 || !pcLevelOfPoints(&pair, x1, x2, &b->level)) return;
    b->crossing = v3Dot(b->level.N, b->n) > 0.999 * v3Norm(b->level.N);
    b->frozen = !b->crossing;
}

static pcStatus findEvents(pcWork* work, int index, bool exact)
{
    pcNear* near = work->near + index;
    pcPlacedPiece side[2];
    pcPose pose[2];
    const int form[2] = {near->form1, near->form2}, piece[2] = {near->piece1, near->piece2}, body[2] = {near->body1, near->body2};
    unsigned flags = 0;
    for (int k = 0; k < 2; k++) {
        const pcPlacedForm* placed = work->system->forms + form[k];
        pcPose outer = pcPoseCompose(&pcPlaceOf(work, body[k])->pose, &placed->pose);
        side[k].piece = placed->form->piece + piece[k];
        pose[k] = pcPoseCompose(&outer, &side[k].piece->pose);
        if (body[k] < 0 || !work->motion[body[k]].moves) flags |= k ? PC_FIXED_2 : PC_FIXED_1;
    }
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = near->margin;
    pcEvent event[MOST_EVENTS];
    int count = 0, first = work->bonds;
    pcStatus status = pcEventsOfPair(side[0].piece->shape, pose, side[1].piece->shape, pose + 1, flags, &settings, &near->cache, event,
                                     MOST_EVENTS, &count);
    if (status != PC_OK) return pcFail(status, "forms %d and %d: %s", form[0], form[1], pcStatusText(status));
    for (int i = 0; i < count && i < MOST_EVENTS; i++) {
        pcTouch touch = pcTouchOfEvent(event + i, pose + 1);
        v3 n = touch.normal, x1 = v3AddScaled(touch.point, -0.5 * touch.gap, n), x2 = v3AddScaled(touch.point, 0.5 * touch.gap, n);
        if (isAtEnd(side, side + 1, pose, x1, n) || isAtEnd(side + 1, side, pose + 1, x2, v3Neg(n))) continue;
        pcBond* b = addOf(work, index);
        if (!b) return PC_OK; /* the arena remembers */
        b->id = event[i].id, b->kind = (int)event[i].kind;
        freeze(work, b, touch.point, touch.normal, touch.gap, ownerOf(event + i, side[0].piece, side[1].piece));
        if (event[i].kind == PC_SMOOTH)
            for (int k = 0; k < 2; k++) roundOff(work, b, k, side[k].piece, pose + k, k ? v3Neg(touch.normal) : touch.normal);
        if (exact && (event[i].kind == PC_SMOOTH || event[i].kind == PC_EDGE_EDGE)) cross(work, b, x1, x2);
        b->start = touch.gap, b->deflected[0] = larger(0.0, -touch.gap);
        remember(b, near);
        if (b->cut && near->bonds > 0) memset(b->r, 0, sizeof b->r); /* it is another point than that of the same id before */
    }
    addDeepest(work, index, side, pose, first);
    addCuts(work, index);
    return PC_OK;
}

static pcStatus findLevel(pcWork* work, int index, bool exact)
{
    pcNear* near = work->near + index;
    pcBond* b = addOf(work, index);
    pcGeometry g;
    if (!b) return PC_OK;
    if (!pcBondGeometry(work, b, false, &g)) {
        work->lost = true, work->bonds--;
        return PC_OK;
    }
    if (g.s > near->margin) {
        work->bonds--;
        return PC_OK;
    }
    b->x = g.x, b->n = g.n, b->s = b->start = g.s, b->deflected[0] = larger(0.0, -g.s);
    if (!exact) freeze(work, b, g.x, g.n, g.s, 1);
    remember(b, near);
    return PC_OK;
}

/* Contacts that were given stay what they were before the step. */
static void findGiven(pcWork* work, int index)
{
    const pcContact* c = work->system->contacts + index;
    pcBond* b = addBond(work);
    if (!b) return;
    b->near = -1 - index, b->body1 = c->body1, b->body2 = c->body2, b->id = c->id, b->kind = -1;
    applySurface(b, &c->surface);
    v3 n = v3Load(c->normal);
    freeze(work, b, v3Load(c->point), v3Scale(1.0 / v3Norm(n), n), c->gap, 1);
    b->start = c->gap;
    if (work->given && work->given[index].id != 0) takeKept(b, work->given + index);
}

pcStatus pcBondsFind(pcWork* work, bool exact)
{
    bool first = work->bond == NULL;
    int givens = 0;
    pcBond* old = work->bond;
    while (!first && givens < work->bonds && old[givens].near < 0) givens++;
    work->bond = NULL, work->bonds = work->room = 0, work->lost = false;
    if (first)
        for (int i = 0; i < work->givens; i++) findGiven(work, work->givenOf[i]);
    for (int i = 0; i < givens; i++) {
        pcBond* b = addBond(work);
        if (b) *b = old[i];
    }
    pcStatus status = PC_OK;
    for (int i = 0; i < work->nears && status == PC_OK; i++) {
        pcNear* near = work->near + work->nearOf[i];
        int before = work->bonds;
        if (!near->checked) status = pcNearSurface(work, near);
        if (status == PC_OK && !near->skipped)
            status = near->events ? findEvents(work, work->nearOf[i], exact) : findLevel(work, work->nearOf[i], exact);
        near->bonds = work->bonds - before;
    }
    int at = 0;
    while (at < work->bonds && work->bond[at].near < 0) at++;
    for (int i = 0; i < work->nears; i++) { /* only now: the list has stopped moving */
        pcNear* near = work->near + work->nearOf[i];
        near->bond = work->bond + at, at += near->bonds;
    }
    return status;
}
