/*
 * From the frame to the caller: world axes, the caller's order of bodies, the row that belongs to the chosen gap.
 *
 *   gradient of t    (-g, -(x - p1) x g, g, (x - p2) x g),   g = n / D,  p_i = pose.position: opposite forces through one point x
 *   wrench           the same with the unit n and the point where the chosen gap acts:
 *                    length: the features as they are;  ratio, pair: the scaled point x
 */
#include "events/events.h"

/* What the two bodies of the frame feel from a unit force f on body 2 through the point: [-f, -(x-p1) x f] and [f, (x-p2) x f]. */
PC_INLINE void writeRow(const pcFrame* f, v3 force, v3 point, double row[12])
{
    v3 arm1 = v3Sub(point, v3Load(f->pose1->position)), arm2 = v3Sub(point, v3Load(f->pose2->position));
    double *first = f->swapped ? row + 6 : row, *second = f->swapped ? row : row + 6;
    v3Store(first, v3Neg(force));
    v3Store(first + 3, v3Neg(v3Cross(arm1, force)));
    v3Store(second, force);
    v3Store(second + 3, v3Cross(arm2, force));
}

PC_INLINE double rowGap(const pcSearch* s, const pcUnit* unit)
{
    const pcFrameMetric* m = s->metric;
    switch (s->settings->gap) {
    case PC_GAP_RATIO: return unit->t * (unit->t - 1.0) * unit->D;
    case PC_GAP_PAIR: return m->r * (m->r - 1.0) * m->D;
    case PC_GAP_LENGTH: break;
    }
    return unit->gap;
}

PC_INLINE pcEventKind kindForCaller(const pcFrame* f, pcEventKind kind)
{
    if (!f->swapped) return kind;
    return kind == PC_CORNER_FACE ? PC_FACE_CORNER : kind == PC_FACE_CORNER ? PC_CORNER_FACE : kind;
}

/* Two bits of kind, 31 of each feature. */
unsigned long long pcEventId(const pcFrame* f, pcEventKind kind, int feature1, int feature2)
{
    unsigned long long first = (unsigned)(f->swapped ? feature2 : feature1), second = (unsigned)(f->swapped ? feature1 : feature2);
    return (unsigned long long)kindForCaller(f, kind) << 62 | first << 31 | second;
}

PC_SIMD void pcEventWrite(const pcSearch* s, const pcFound* found, pcEvent* out)
{
    const pcFrame* f = s->frame;
    pcUnit unit;
    if (found->unit >= 0)
        unit = s->unit[found->unit];
    else if (!pcUnitOf(s, found->kind, found->feature1, found->feature2, &unit))
        return; /* cannot happen: it is how the event was found */
    v3 n = m3Mul(&f->R1, unit.n), x = pcFrameToWorld(f, unit.x), origin = {0.0, 0.0, 0.0};
    v3 own = unit.t != 0.0 ? pcPreimage(origin, unit.x, unit.t) : unit.arm,
       other = s->sigma != 0.0 ? pcPreimage(f->c, unit.x, unit.t) : unit.x;
    v3 acts = s->settings->gap == PC_GAP_LENGTH ? pcFrameToWorld(f, unit.arm) : x;
    out->kind = kindForCaller(f, found->kind);
    out->id = found->id;
    out->t = unit.t;
    out->phi = pcRatioToRho(unit.t);
    out->gap = rowGap(s, &unit);
    v3Store(out->normal, f->swapped ? v3Neg(n) : n);
    v3Store(out->point, x);
    v3Store(out->point1, pcFrameToWorld(f, f->swapped ? other : own));
    v3Store(out->point2, pcFrameToWorld(f, f->swapped ? own : other));
    writeRow(f, v3Scale(1.0 / unit.D, n), x, out->gradient);
    writeRow(f, n, acts, out->wrench);
}
