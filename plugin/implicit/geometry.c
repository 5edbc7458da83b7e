/* Where a contact is: by the level of two pieces, or by features that go with their bodies. */
#include "implicit/solve.h"

const pcPlace* pcPlaceOf(const pcWork* work, int body) { return work->place + (body >= 0 ? body : work->system->bodyCount); }

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

static bool frozenGeometry(const pcWork* work, const pcBond* bond, bool slopes, pcGeometry* out)
{
    const pcPlace *p1 = pcPlaceOf(work, bond->body1), *p2 = pcPlaceOf(work, bond->body2), *owner = bond->owner ? p2 : p1;
    v3 r1 = m3Mul(&p1->R, bond->k1), r2 = m3Mul(&p2->R, bond->k2), n = m3Mul(&owner->R, bond->k);
    v3 x1 = v3Add(p1->at, r1), x2 = v3Add(p2->at, r2), apart = v3Sub(x2, x1);
    out->n = n, out->x = v3Scale(0.5, v3Add(x1, x2)), out->s = v3Dot(n, apart);
    for (int c = 0; slopes && c < 12; c++) {
        int axis = c % 3, body = c / 6;
        v3 e = {axis == 0, axis == 1, axis == 2}, moved = c % 6 < 3 ? e : v3Cross(e, body ? r2 : r1);
        out->dn[c] = c % 6 >= 3 && body == bond->owner ? v3Cross(e, n) : v3Make(0, 0, 0);
        out->dx[c] = v3Scale(0.5, moved);
        out->ds[c] = (body ? 1.0 : -1.0) * v3Dot(n, moved) + v3Dot(out->dn[c], apart);
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

static bool levelGeometry(pcWork* work, pcBond* bond, bool slopes, pcGeometry* out)
{
    pcNear* near = work->near + bond->near;
    const pcPlace *p1 = pcPlaceOf(work, bond->body1), *p2 = pcPlaceOf(work, bond->body2);
    pcPlacedPiece side[2];
    pcPlacePiece(work, near->form1, near->piece1, p1, side);
    pcPlacePiece(work, near->form2, near->piece2, p2, side + 1);
    pcLevelPair pair = {{side, side + 1}, {near->weight[0], near->weight[1]}};
    pcLevel* level = &near->level;
    if (!pcLevelSolve(&pair, work->arena, level)) return false;
    double size = v3Norm(level->N);
    if (!(size > 0.0)) return false;
    v3 n = v3Scale(1.0 / size, level->N), centre[2] = {p1->at, p2->at};
    double straight = level->t / size;
    out->n = n, out->x = level->x, out->s = near->soft ? softGap(near, side, n, straight) : straight;
    if (!slopes) return true;
    pcLevelSlope slope;
    if (!pcLevelDifferentiate(&pair, level, centre, &slope)) return false;
    double bent = straight != 0.0 ? out->s / straight : 1.0; /* a layer's depth against t / |N|: 1 to first order */
    for (int c = 0; c < 12; c++) {
        double along = v3Dot(n, slope.N[c]);
        out->dx[c] = slope.x[c];
        out->dn[c] = v3Scale(1.0 / size, v3AddScaled(slope.N[c], -along, n));
        out->ds[c] = bent * (slope.t[c] - straight * along) / size;
    }
    return true;
}

bool pcBondGeometry(pcWork* work, pcBond* bond, bool slopes, pcGeometry* out)
{
    return bond->frozen ? frozenGeometry(work, bond, slopes, out) : levelGeometry(work, bond, slopes, out);
}
