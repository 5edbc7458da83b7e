/* One query for the events of a pair: metric, search, choice, writing. */
#include "events/events.h"

#include "base/status.h"

static const unsigned COOKIE = 0x70634576u;
/* What counts as touching beyond the margin, relative to D: without it a contact at rest would flicker with rounding. */
static const double SLOP = 1e-9;

pcEventSettings pcDefaultEventSettings(void)
{
    return (pcEventSettings){.margin = 0.0, .epsX = 1e-9, .epsT = HUGE_VAL, .eps0 = HUGE_VAL, .gap = PC_GAP_LENGTH, .cookie = COOKIE};
}

static pcStatus checkSettings(const pcEventSettings* s)
{
    if (!s || s->cookie != COOKIE) return pcFail(PC_ERROR_ARGUMENT, "event settings must start from pcDefaultEventSettings()");
    if (!(s->margin >= 0.0 && s->margin < HUGE_VAL)) return pcFail(PC_ERROR_ARGUMENT, "margin is %g: it must be a length >= 0", s->margin);
    if (!(s->epsX >= 0.0 && s->epsX < HUGE_VAL)) return pcFail(PC_ERROR_ARGUMENT, "epsX is %g: it must be a number >= 0", s->epsX);
    if (!(s->epsT >= 0.0)) return pcFail(PC_ERROR_ARGUMENT, "epsT is %g: it must be >= 0, or infinite", s->epsT);
    if (!(s->eps0 >= 0.0)) return pcFail(PC_ERROR_ARGUMENT, "eps0 is %g: it must be >= 0, or infinite", s->eps0);
    if ((int)s->gap < 0 || s->gap > PC_GAP_PAIR)
        return pcFail(PC_ERROR_ARGUMENT, "gap is %d: PC_GAP_LENGTH, _RATIO and _PAIR are known", (int)s->gap);
    return PC_OK;
}

/* What rounding can do to a gap: of a very thin body more than SLOP of its thickness. */
static double roundingOf(const pcFrame* f)
{
    double size2 = f->shape2->kind == PC_SHAPE_HALFSPACE   ? 0.0
                   : f->shape2->kind == PC_SHAPE_CONTAINER ? f->shape2->radius
                                                           : f->shape2->outradius;
    return 8.0 * PC_ROUND * (v3Size(f->c) + f->shape1->outradius + size2) + 2.0 * f->error;
}

/* The range of t: what the settings say, and what 2 margin along the pair's normal leaves (find.c): r D (1 - 1/t) <= 2 margin. */
static void prepare(pcSearch* s)
{
    const pcFrameMetric* m = s->metric;
    s->sigma = m->sigma;
    s->margin = s->settings->margin + SLOP * m->D + roundingOf(s->frame);
    s->count = s->kept = 0;
    s->pastEnds = s->settings->epsX > 1e-9 ? HUGE_VAL : 1e-6;
    s->reach = s->settings->epsX * (s->frame->shape1->outradius + s->frame->shape2->outradius);
    v3Complete(m->n, &s->u, &s->v);
    double share = 2.0 * s->margin / (m->r * m->D);
    double furthest = m->r > 0.0 && share < 1.0 ? 1.0 / (1.0 - share) : HUGE_VAL;
    bool plane = s->frame->shape2->unbounded;
    s->low = larger(m->r - s->settings->eps0, plane ? -HUGE_VAL : 0.5 * m->r);
    s->high = smaller(m->r + s->settings->epsT, plane ? HUGE_VAL : furthest * (1.0 + 1e-12));
    if (!plane) s->reach /= smaller(s->low, 1.0); /* as it is, a body scaled by t is widened by b epsX / t */
}

static void search(pcSearch* s)
{
    const pcFrame* f = s->frame;
    if (!((s->metric->r - 1.0) * s->metric->D <= s->margin)) return;
    bool flat2 = pcShapeIsPolyhedron(f->shape2) || f->shape2->kind == PC_SHAPE_HALFSPACE;
    if (!pcShapeIsPolyhedron(f->shape1) || !flat2)
        pcSearchRound(s);
    else if (f->shape2->kind == PC_SHAPE_HALFSPACE)
        pcSearchPlane(s);
    else
        pcSearchPolyhedra(s);
}

/* By Shell's method, which is insertion for the few events of the usual pair: in place, where the C library's qsort allocates. */
void pcSortById(pcFound* found, int count)
{
    static const int gaps[] = {701, 301, 132, 57, 23, 10, 4, 1};
    for (size_t g = 0; g < sizeof gaps / sizeof *gaps; g++)
        for (int i = gaps[g]; i < count; i++) {
            pcFound moving = found[i];
            int j = i;
            for (; j >= gaps[g] && moving.id < found[j - gaps[g]].id; j -= gaps[g]) found[j] = found[j - gaps[g]];
            found[j] = moving;
        }
}

pcStatus pcEventsOfPair(const pcShape* shape1, const pcPose* pose1, const pcShape* shape2, const pcPose* pose2, unsigned flags,
                        const pcEventSettings* settings, pcPairCache* cacheOrNull, pcEvent* events, int capacity, int* count)
{
    pcFrame frame;
    pcFrameMetric metric;
    pcFound found[PC_FOUND_LIMIT];
    pcUnit unit[PC_UNIT_LIMIT];
    v3 force[PC_UNIT_LIMIT];
    metric.basis = (pcBasis){.count1 = 1, .vertex = {-1, -1, -1, -1}};
    pcSearch s = {.frame = &frame, .metric = &metric, .settings = settings, .found = found, .unit = unit, .force = force};
    if (!count || capacity < 0 || (capacity > 0 && !events))
        return pcFail(PC_ERROR_ARGUMENT, "pcEventsOfPair needs a buffer and a place for the count");
    pcStatus status = checkSettings(settings);
    if (status == PC_OK && shape1 && shape2 && pose1 && pose2 && (shape1->kind == PC_SHAPE_MESH || shape2->kind == PC_SHAPE_MESH))
        return pcEventsOfMesh(&(pcMeshPair){{shape1, shape2}, {pose1, pose2}, settings}, events, capacity, count);
    if (status == PC_OK) status = pcFrameMake(shape1, pose1, shape2, pose2, flags, &frame);
    if (status == PC_OK) status = pcFrameSolve(&frame, cacheOrNull, &metric);
    if (status != PC_OK) return status;
    prepare(&s);
    search(&s);
    /* A moving centre on the very surface of a fixed body: r is 0 but for rounding, and at that size a body has no corners. Both scale, then. */
    if (s.kept == 0 && metric.sigma == 0.0 && metric.r < 1.0 && !frame.shape2->unbounded) {
        status = pcFrameMake(shape1, pose1, shape2, pose2, 0, &frame);
        if (status == PC_OK) status = pcFrameSolve(&frame, NULL, &metric);
        if (status != PC_OK) return status;
        prepare(&s);
        search(&s);
    }
    pcSelectWidest(s.found, s.kept, capacity, SLOP * metric.D);
    int written = s.kept < capacity ? s.kept : capacity;
    pcSortById(s.found, written);
    pcEventsWrite(&s, written, events);
    *count = capacity > s.kept ? s.kept : s.count; /* never more than are written while there is room */
    return PC_OK;
}
