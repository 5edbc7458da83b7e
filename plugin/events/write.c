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

/* What all events of a pair share, in world axes. */
typedef struct World {
    v4d centre1;    /* the point */
    v4d toCentre2;  /* from there */
    const m3* turn; /* frame to world */
} World;

PC_INLINE v4d turned(const World* w, v3 a) { return w->turn->column[0] * a.x + w->turn->column[1] * a.y + w->turn->column[2] * a.z; }

/* In lanes until a vector is in world axes, each turned once. */
PC_INLINE void writeEvent(const pcSearch* s, const World* w, const pcFound* found, const pcUnit* unit, pcEvent* out)
{
    const pcFrame* f = s->frame;
    double perT = 1.0 / unit->t;
    v3 n = v3OfLanes(turned(w, unit->n));
    v4d toX = turned(w, unit->x), toArm = turned(w, unit->arm), point = w->centre1 + toX;
    v4d own = unit->t != 0.0 ? toX * perT : toArm, other = s->sigma != 0.0 ? w->toCentre2 + (toX - w->toCentre2) * perT : toX;
    v3 x = v3OfLanes(point), acts = s->settings->gap == PC_GAP_LENGTH ? v3OfLanes(w->centre1 + toArm) : x;
    out->kind = pcKindForCaller(f, found->kind);
    out->id = found->id;
    out->t = unit->t;
    out->phi = pcRatioToRho(unit->t);
    out->gap = rowGap(s, unit);
    v3Store(out->normal, f->swapped ? v3Neg(n) : n);
    v3Store(out->point, x);
    v3Store(out->point1, v3OfLanes(w->centre1 + (f->swapped ? other : own)));
    v3Store(out->point2, v3OfLanes(w->centre1 + (f->swapped ? own : other)));
    v3 force = found->kind == PC_SMOOTH ? v3OfLanes(turned(w, s->force[found->unit])) : n;
    writeRow(f, v3Scale(1.0 / unit->D, force), x, out->gradient);
    writeRow(f, n, acts, out->wrench);
}

PC_SIMD void pcEventsWrite(const pcSearch* s, int count, pcEvent* out)
{
    const pcFrame* f = s->frame;
    World w = {.turn = &f->R1};
    w.centre1 = v3ToLanes(v3Load(f->pose1->position)) + turned(&w, f->shape1->centre);
    w.toCentre2 = turned(&w, f->c);
    for (int i = 0; i < count; i++) {
        const pcFound* found = s->found + i;
        pcUnit again;
        if (found->unit < 0 && !pcUnitOf(s, found->kind, found->feature1, found->feature2, &again))
            continue; /* cannot happen: it is how the event was found */
        writeEvent(s, &w, found, found->unit >= 0 ? s->unit + found->unit : &again, out + i);
    }
}
