/* Where a contact is: by the level of two pieces, or by features that go with their bodies. */
#include "implicit/solve.h"

const pcPlace* pcPlaceOf(const pcWork* work, int body) { return work->place + (body >= 0 ? body : work->system->bodyCount); }

pcColumns pcBondColumns(const pcWork* work, const pcBond* b)
{
    bool moves1 = b->body1 >= 0 && work->motion[b->body1].moves, moves2 = b->body2 >= 0 && work->motion[b->body2].moves;
    return (pcColumns){moves1 ? 0 : 6, moves2 ? 12 : 6};
}

void pcPlacePiece(const pcWork* work, int form, int piece, const pcPlace* body, pcPlacedPiece* out)
{
    const pcPlacedForm* placed = work->system->forms + form;
    out->piece = placed->form->piece + piece;
    const double* q = placed->pose.quaternion;
    bool plain = q[0] == 1.0 && q[1] == 0.0 && q[2] == 0.0 && q[3] == 0.0;
    out->at = v3Add(body->at, m3Mul(&body->R, v3Load(placed->pose.position)));
    if (plain) {
        out->R = body->R;
        return;
    }
    pcPose pose = pcPoseCompose(&body->pose, &placed->pose);
    m3FromQuaternion(v4Load(pose.quaternion), &out->R);
}

/* ---- features ---- */

/* A feature in the world: its point that lies farthest along m, and what moves it. */
typedef struct Spot {
    v3 arm; /* from the body to the point or centre */
    v3 x;
    v3 axis, out; /* of a rim: where it is farthest */
    double slope; /* length of m across the axis */
} Spot;

static Spot spotOf(const pcPlace* p, const struct pcFeature* f, v3 m)
{
    Spot s = {.arm = m3Mul(&p->R, f->k)};
    s.x = v3Add(p->at, s.arm);
    if (f->radius == 0.0) return s;
    s.out = m, s.slope = 1.0;
    if (f->rim) {
        v3 own = m3TMul(&p->R, m), across = v3AddScaled(own, -v3Dot(own, f->axis), f->axis); /* in body axes: small parts stay exact */
        s.axis = m3Mul(&p->R, f->axis), s.slope = v3Norm(across);
        s.out = s.slope > 1e-9 ? m3Mul(&p->R, v3Scale(1.0 / s.slope, across)) : v3Make(0, 0, 0); /* straight over the disc: its centre */
    }
    s.x = v3AddScaled(s.x, f->radius, s.out);
    return s;
}

/* How the point moves as its body moves by `move` and turns by `turn`, and m by dm. */
static v3 spotSlope(const Spot* s, const struct pcFeature* f, v3 m, v3 move, v3 turn, v3 dm)
{
    v3 dx = v3Add(move, v3Cross(turn, s->arm));
    if (f->radius == 0.0) return dx;
    if (!f->rim) return v3AddScaled(dx, f->radius, dm);
    if (!(s->slope > 1e-9)) return dx;
    v3 da = v3Cross(turn, s->axis);
    v3 across = v3AddScaled(v3AddScaled(dm, -(v3Dot(dm, s->axis) + v3Dot(m, da)), s->axis), -v3Dot(m, s->axis), da);
    across = v3AddScaled(across, -v3Dot(across, s->out), s->out);
    return v3AddScaled(dx, f->radius / s->slope, across);
}

/* The contact lies where the feature is that the normal does not belong to: a corner takes it along, a face does not. */
static bool frozenGeometry(const pcWork* work, const pcBond* bond, bool slopes, pcGeometry* out)
{
    const pcPlace* p[2] = {pcPlaceOf(work, bond->body1), pcPlaceOf(work, bond->body2)};
    v3 n = m3Mul(&p[bond->owner]->R, bond->k), m[2] = {n, v3Neg(n)};
    Spot s[2] = {spotOf(p[0], bond->feature, m[0]), spotOf(p[1], bond->feature + 1, m[1])};
    v3 apart = v3Sub(s[1].x, s[0].x);
    int other = 1 - bond->owner;
    double half = other ? -0.5 : 0.5;
    out->n = n, out->s = v3Dot(n, apart), out->x = v3AddScaled(s[other].x, half * out->s, n);
    pcColumns columns = pcBondColumns(work, bond);
    for (int c = columns.first; slopes && c < columns.end; c++) {
        int axis = c % 3, body = c / 6;
        v3 e = {axis == 0, axis == 1, axis == 2}, none = {0, 0, 0}, move = c % 6 < 3 ? e : none, turn = c % 6 < 3 ? none : e, dx[2];
        v3 dn = body == bond->owner ? v3Cross(turn, n) : none;
        for (int k = 0; k < 2; k++)
            dx[k] = spotSlope(s + k, bond->feature + k, m[k], k == body ? move : none, k == body ? turn : none, k ? v3Neg(dn) : dn);
        out->dn[c] = dn;
        out->ds[c] = v3Dot(n, v3Sub(dx[1], dx[0])) + v3Dot(dn, apart);
        out->dx[c] = v3AddScaled(v3AddScaled(dx[other], half * out->ds[c], n), half * out->s, dn);
    }
    return true;
}

/* ---- functions ---- */

/* Under a layer the gap is minus its deflection G 35, measured on the side that gives way. */
static double softGap(const pcNear* near, const pcPlacedPiece side[2], v3 n, double straight)
{
    double depth = 0.0;
    if (straight >= 0.0) return straight;
    if (near->weight[0] > 0.0) depth += pcLevelDepth(side, near->level.x, n);
    if (near->weight[1] > 0.0) depth += pcLevelDepth(side + 1, near->level.x, v3Neg(n));
    return -depth;
}

void pcPlacePair(const pcWork* work, const pcNear* near, pcPlacedPiece side[2], pcLevelPair* out)
{
    pcPlacePiece(work, near->form1, near->piece1, pcPlaceOf(work, near->body1), side);
    pcPlacePiece(work, near->form2, near->piece2, pcPlaceOf(work, near->body2), side + 1);
    *out = (pcLevelPair){{side, side + 1}, {near->weight[0], near->weight[1]}};
}

/* Where the axis of a capsule runs through another form, or the middle of a box lies below the ground, the level is flat, N nothing but rounding,
 * and t / |N| a depth beyond all sizes. A half-space has no size; a round form becomes flat in it little by little, which is no rounding yet. */
static bool isDepth(const pcPlacedPiece side[2], double straight)
{
    double a = side[0].piece->radius, b = side[1].piece->radius, size = a + b;
    return -straight <= (size < HUGE_VAL ? 2.0 * size : 1e6 * smaller(a, b)); /* infinite, if both are */
}

static bool levelGeometry(pcWork* work, pcBond* bond, bool slopes, pcGeometry* out)
{
    pcNear* near = work->near + bond->near;
    const pcPlace *p1 = pcPlaceOf(work, bond->body1), *p2 = pcPlaceOf(work, bond->body2);
    pcPlacedPiece side[2];
    pcLevelPair pair;
    pcPlacePair(work, near, side, &pair);
    pcLevel* level = bond->crossing ? &bond->level : &near->level;
    if (bond->crossing) {
        if (!pcLevelFollow(&pair, level)) return false;
    } else if (near->loose)
        near->loose->rest = pcLevelRestOf(&pair, level);
    else if (!pcLevelSolve(&pair, work->arena, level))
        return false;
    double size = v3Norm(level->N);
    if (!(size > 0.0 && size < HUGE_VAL)) return false;
    v3 n = v3Scale(1.0 / size, level->N), centre[2] = {p1->at, p2->at};
    double straight = level->t / size;
    if (!isDepth(side, straight)) return false;
    out->n = n, out->x = level->x, out->s = near->soft ? softGap(near, side, n, straight) : straight;
    if (!slopes) return true;
    pcLevelSlope slope;
    pcColumns columns = pcBondColumns(work, bond);
    if (near->loose) columns.end = PC_COLUMNS;
    if (!pcLevelDifferentiate(&pair, level, centre, columns, &slope)) return false;
    if (near->loose) near->loose->slope = slope;
    double bent = straight != 0.0 ? out->s / straight : 1.0; /* a layer's depth against t / |N|: 1 to first order */
    for (int c = columns.first; c < columns.end; c++) {
        double along = v3Dot(n, slope.N[c]);
        out->dx[c] = slope.x[c];
        out->dn[c] = v3Scale(1.0 / size, v3AddScaled(slope.N[c], -along, n));
        out->ds[c] = bent * (slope.t[c] - straight * along) / size;
    }
    return true;
}

/* ---- balls ---- */

/* A ball, or a half-space, in the world: what needs no level. */
typedef struct Simple {
    bool ball, plane;
    v3 at; /* centre; a point of the plane */
    v3 m;  /* outwards of the plane */
    double radius;
} Simple;

static Simple simpleOf(const pcPlacedPiece* side)
{
    const pcFunction* f = side->piece->function;
    if (side->piece->count != 1 || (f->kind != PC_FUNCTION_SPHERE && f->kind != PC_FUNCTION_PLANE)) return (Simple){0};
    Simple s = {.ball = f->kind == PC_FUNCTION_SPHERE, .plane = f->kind == PC_FUNCTION_PLANE, .radius = f->d};
    s.m = s.plane ? m3Mul(&side->R, f->a) : v3Make(0, 0, 0);
    v3 own = s.plane ? v3Scale(f->d, f->a) : f->placed ? f->at : v3Make(0, 0, 0);
    s.at = v3Add(side->at, m3Mul(&side->R, own));
    return s;
}

/* How a point of a body moves along column c. */
static v3 carried(const pcPlace* p, v3 x, int c)
{
    v3 e = {c % 3 == 0, c % 3 == 1, c % 3 == 2};
    return c % 6 < 3 ? e : v3Cross(e, v3Sub(x, p->at));
}

/* n = d / |d|, s = |d| - r1 - r2. */
static void ballOnBall(const Simple side[2], const pcPlace* const p[2], pcColumns columns, pcGeometry* out)
{
    v3 d = v3Sub(side[1].at, side[0].at), n;
    double far = v3Norm(d);
    n = v3Scale(1.0 / far, d);
    out->n = n, out->s = far - side[0].radius - side[1].radius;
    double half = side[0].radius + 0.5 * out->s;
    out->x = v3AddScaled(side[0].at, half, n);
    for (int c = columns.first; c < columns.end; c++) {
        v3 moved = carried(p[c / 6], side[c / 6].at, c), rest = {0, 0, 0}, dd = c < 6 ? v3Neg(moved) : moved;
        out->ds[c] = v3Dot(n, dd);
        out->dn[c] = v3Scale(1.0 / far, v3AddScaled(dd, -out->ds[c], n));
        out->dx[c] = v3AddScaled(v3AddScaled(c < 6 ? moved : rest, 0.5 * out->ds[c], n), half, out->dn[c]);
    }
}

/* s = m.(c - q) - r; the normal is m seen from the plane. */
static void ballOnPlane(const Simple side[2], const pcPlace* const p[2], pcColumns columns, pcGeometry* out)
{
    int ball = side[0].ball ? 0 : 1;
    const Simple *b = side + ball, *q = side + 1 - ball;
    v3 apart = v3Sub(b->at, q->at);
    double sign = ball ? 1.0 : -1.0;
    out->s = v3Dot(q->m, apart) - b->radius, out->n = v3Scale(sign, q->m);
    double half = b->radius + 0.5 * out->s;
    out->x = v3AddScaled(b->at, -half, q->m);
    for (int c = columns.first; c < columns.end; c++) {
        bool own = c / 6 == ball;
        v3 e = {c % 3 == 0, c % 3 == 1, c % 3 == 2}, rest = {0, 0, 0}, moved = carried(p[c / 6], own ? b->at : q->at, c);
        v3 dm = !own && c % 6 >= 3 ? v3Cross(e, q->m) : rest;
        out->ds[c] = (own ? 1.0 : -1.0) * v3Dot(q->m, moved) + v3Dot(dm, apart);
        out->dn[c] = v3Scale(sign, dm);
        out->dx[c] = v3AddScaled(v3AddScaled(own ? moved : rest, -0.5 * out->ds[c], q->m), -half, dm);
    }
}

/* Rigid balls and half-spaces: the distance itself. False: the pair is another. */
static bool ballGeometry(const pcWork* work, const pcBond* bond, bool slopes, pcGeometry* out)
{
    const pcNear* near = work->near + bond->near;
    const pcPlace* p[2] = {pcPlaceOf(work, bond->body1), pcPlaceOf(work, bond->body2)};
    pcPlacedPiece placed[2];
    pcPlacePiece(work, near->form1, near->piece1, p[0], placed), pcPlacePiece(work, near->form2, near->piece2, p[1], placed + 1);
    const Simple side[2] = {simpleOf(placed), simpleOf(placed + 1)};
    pcColumns columns = slopes ? pcBondColumns(work, bond) : (pcColumns){0, 0};
    if (side[0].ball && side[1].ball && v3Norm(v3Sub(side[1].at, side[0].at)) > 0.0)
        ballOnBall(side, p, columns, out);
    else if ((side[0].ball && side[1].plane) || (side[0].plane && side[1].ball))
        ballOnPlane(side, p, columns, out);
    else
        return false;
    return true;
}

bool pcBondGeometry(pcWork* work, pcBond* bond, bool slopes, pcGeometry* out)
{
    if (bond->frozen) return frozenGeometry(work, bond, slopes, out);
    const pcNear* near = work->near + bond->near;
    if (near->simple && !near->soft && !bond->crossing && ballGeometry(work, bond, slopes, out)) return true;
    return levelGeometry(work, bond, slopes, out);
}
