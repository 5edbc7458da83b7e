/*
 * The problem of an island: masses, free velocity, joint rows, then the rows of its contacts. Where these are many, threads share them: each part
 * begins where those before it end at most, and is moved up if they took less.
 */
#include "constraint/constraint.h"

#include <string.h>

#define AT_ONCE 512      /* contacts that a thread takes at a time */
#define PILE 100         /* bodies, from which on … */
#define LEAST_GAP 1e-6   /* … gaps of this part of |g| h^2 … */
#define LEAST_DEPTH 1e-5 /* … and depths of this part of it are none */

/* By several threads, where there are any and it is worth waking them. */
static void share(const pcAssembly* a, pcTask* task, void* context, int parts)
{
    if (a->pool && parts > 2)
        pcPoolRun(a->pool, a->threads, false, task, context, parts);
    else
        for (int i = 0; i < parts; i++) task(context, i, 0);
}

int pcRowsAdd(const pcAssembly* a, pcRows* list, const int body[2], const double J[12], double factor, double target, double soft)
{
    int row = list->rows++;
    for (int side = 0; side < 2; side++) {
        int local = body[side] >= 0 ? a->local[body[side]] : -1;
        list->block[2 * row + side] = local;
        for (int k = 0; k < 6; k++) {
            double entry = factor * J[6 * side + k];
            list->J[12 * row + 6 * side + k] = local >= 0 ? entry : 0.0;
            if (local < 0 && body[side] >= 0) target -= entry * a->motion[body[side]].velocity[k];
        }
    }
    list->target[row] = target, list->soft[row] = soft;
    return row;
}

pcCone* pcRowsAddCone(pcRows* list, pcConeKind kind, int rows)
{
    pcCone* cone = list->cone + list->cones++;
    *cone = (pcCone){.kind = kind, .row = list->rows - rows, .rows = rows};
    return cone;
}

static void addJoint(const pcAssembly* a, const pcRow* row, pcRows* list)
{
    pcRowsAdd(a, list, (const int[2]){row->body1, row->body2}, row->jacobian, 1.0, row->target, row->softness);
    bool bounded = row->lo > -HUGE_VAL || row->hi < HUGE_VAL;
    pcCone* cone = pcRowsAddCone(list, bounded ? PC_CONE_BOX : PC_CONE_FREE, 1);
    if (bounded) cone->lo = row->lo, cone->hi = row->hi;
}

/* For as many rows as there may be: half of it is never touched, and so takes neither time nor memory. */
static pcRows roomFor(pcArena* arena, size_t rows)
{
    return (pcRows){.block = pcArenaRaw(arena, int, 2 * rows),
                    .J = pcArenaRaw(arena, double, 12 * rows),
                    .target = pcArenaRaw(arena, double, rows),
                    .soft = pcArenaRaw(arena, double, rows),
                    .cone = pcArenaRaw(arena, pcCone, rows)};
}

/* The rows and columns of the bodies that move; the mass is its inverse. */
static const double* denseMass(const pcAssembly* a, pcIsland* island)
{
    size_t n = 6 * (size_t)island->bodies, all = 6 * (size_t)a->system->bodyCount;
    double *mobility = pcArenaNew(a->arena, double, n*n), *mass = pcArenaNew(a->arena, double, n*n);
    if (!pcArenaGood(a->arena)) return NULL;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            mobility[i * n + k] =
                a->system->mobility[(6 * (size_t)island->body[i / 6] + i % 6) * all + 6 * (size_t)island->body[k / 6] + k % 6];
    island->mobility = mobility;
    return pcInvertSymmetric(mobility, (int)n, mass) ? mass : NULL;
}

static const double* blockMass(const pcAssembly* a, const pcIsland* island)
{
    double* mass = pcArenaNew(a->arena, double, 36 * (size_t)island->bodies);
    for (int i = 0; mass && i < island->bodies; i++) {
        const pcMotion* m = a->motion + island->body[i];
        double* block = mass + 36 * (size_t)i;
        pcMotionMass(m, block);
        for (int k = 0; k < 9; k++) block[6 * (3 + k / 3) + 3 + k % 3] += m->stiffness[k];
    }
    return mass;
}

/* One body's share of J f. */
static double shareOf(const pcProblem* p, int row, int side)
{
    double sum = 0.0;
    int block = p->block[2 * row + side];
    for (int k = 0; block >= 0 && k < 6; k++) sum += p->J[12 * row + 6 * side + k] * p->free[6 * block + k];
    return fabs(sum);
}

/* What a cone says of it, below. */
static double scaleOfCone(const pcProblem* p, const pcCone* cone)
{
    double scale = 0.0;
    for (int row = cone->row; row < cone->row + cone->rows; row++) {
        bool room = cone->kind == PC_CONE_FRICTION && row == cone->row && p->target[row] < 0.0;
        scale = larger(scale, shareOf(p, row, 0) + shareOf(p, row, 1));
        if (!room) scale = larger(scale, fabs(p->target[row]));
    }
    return scale;
}

typedef struct Scales {
    const pcProblem* p;
    double* most; /* of AT_ONCE cones each */
} Scales;

static void scalePart(void* context, int part, int worker)
{
    const Scales* s = context;
    double scale = 0.0;
    (void)worker;
    for (int k = part * AT_ONCE; k < (part + 1) * AT_ONCE && k < s->p->cones; k++) scale = larger(scale, scaleOfCone(s->p, s->p->cone + k));
    s->most[part] = scale;
}

/* What counts as one unit of velocity: max(|f|, |g| h, |b|), with angular velocities as the rows see them. The target b holds
 * gamma |d| / h; of contacts still apart it is room, not speed, and does not count. 0: out of memory. */
static double velocityScale(const pcAssembly* a, const pcProblem* p)
{
    int parts = (p->cones + AT_ONCE - 1) / AT_ONCE;
    Scales s = {p, pcArenaRaw(a->arena, double, parts)};
    double scale = v3Norm(v3Load(a->system->gravity)) * a->h;
    if (!pcArenaGood(a->arena)) return 0.0;
    for (int i = 0; i < p->blocks; i++) scale = larger(scale, v3Norm(v3Load(p->free + 6 * (size_t)i)));
    share(a, scalePart, &s, parts);
    for (int i = 0; i < parts; i++) scale = larger(scale, s.most[i]);
    return scale > 0.0 ? scale : 1.0;
}

static void writeProblem(const pcAssembly* a, pcIsland* island, const double* mass, const double* free)
{
    const pcRows* list = &island->list;
    pcProblem* p = &island->problem;
    *p = (pcProblem){.blocks = island->bodies, .mass = mass, .dense = a->system->mobility != NULL, .free = free};
    p->rows = list->rows, p->block = list->block, p->J = list->J, p->target = list->target, p->soft = list->soft;
    p->cones = list->cones, p->cone = list->cone;
    p->coulomb = a->settings->model != PC_MODEL_CONVEX;
    p->velocityScale = velocityScale(a, p);
}

void pcIslandAnswer(const pcAssembly* a, const pcIsland* island, const double* impulse, double* out)
{
    size_t n = 6 * (size_t)island->bodies;
    for (int i = 0; !island->mobility && i < island->bodies; i++)
        pcMotionAnswer(a->motion + island->body[i], impulse + 6 * (size_t)i, out + 6 * (size_t)i);
    for (size_t i = 0; island->mobility && i < n; i++) {
        out[i] = 0.0;
        for (size_t k = 0; k < n; k++) out[i] += island->mobility[i * n + k] * impulse[k];
    }
}

/* ---- contacts ---- */

typedef struct Touches {
    const pcAssembly* a;
    pcIsland* island;
    pcTouchRule rule;
    pcRows* part; /* of AT_ONCE contacts each; at first only how much there is at most */
} Touches;

static int partEnd(const Touches* s, int part)
{
    int end = (part + 1) * AT_ONCE;
    return end < s->island->touches ? end : s->island->touches;
}

static const pcTouch* touchOf(const Touches* s, int i) { return s->a->touch + s->island->touch[i]; }

static void countPart(void* context, int part, int worker)
{
    const Touches* s = context;
    pcRows most = {0};
    (void)worker;
    for (int i = part * AT_ONCE, rows, cones; i < partEnd(s, part); i++)
        pcTouchRoom(s->a, touchOf(s, i), &rows, &cones), most.rows += rows, most.cones += cones;
    s->part[part] = most;
}

static void assemblePart(void* context, int part, int worker)
{
    const Touches* s = context;
    (void)worker;
    for (int i = part * AT_ONCE; i < partEnd(s, part); i++)
        pcTouchAssemble(s->a, touchOf(s, i), &s->rule, s->part + part, s->island->touchRows + i);
}

/* Rows and cones of a part, which began at `from` and go to the end of the list. */
static void movePart(const Touches* s, int part, const pcRows* from)
{
    pcRows* list = &s->island->list;
    size_t to = (size_t)list->rows, at = (size_t)from->rows, rows = (size_t)(s->part[part].rows - from->rows);
    int cones = s->part[part].cones - from->cones, by = list->rows - from->rows;
    memmove(list->block + 2 * to, list->block + 2 * at, 2 * rows * sizeof *list->block);
    memmove(list->J + 12 * to, list->J + 12 * at, 12 * rows * sizeof *list->J);
    memmove(list->target + to, list->target + at, rows * sizeof *list->target);
    memmove(list->soft + to, list->soft + at, rows * sizeof *list->soft);
    memmove(list->cone + list->cones, list->cone + from->cones, (size_t)cones * sizeof *list->cone);
    for (int k = list->cones; k < list->cones + cones; k++) list->cone[k].row += by;
    for (int i = part * AT_ONCE; i < partEnd(s, part); i++)
        for (int k = 0; k < 6; k++) s->island->touchRows[i].row[k] += s->island->touchRows[i].row[k] >= 0 ? by : 0;
    list->rows += (int)rows, list->cones += cones;
}

/* False: out of memory. */
static bool assembleShared(Touches* s)
{
    const pcAssembly* a = s->a;
    int parts = (s->island->touches + AT_ONCE - 1) / AT_ONCE;
    pcRows *list = &s->island->list, *began = pcArenaRaw(a->arena, pcRows, parts), most = *list;
    s->part = pcArenaRaw(a->arena, pcRows, parts);
    if (!pcArenaGood(a->arena)) return false;
    share(a, countPart, s, parts);
    for (int i = 0; i < parts; i++) {
        began[i] = most;
        most.rows += s->part[i].rows, most.cones += s->part[i].cones, s->part[i] = began[i];
    }
    share(a, assemblePart, s, parts);
    for (int i = 0; i < parts; i++) {
        if (began[i].rows == list->rows && began[i].cones == list->cones)
            list->rows = s->part[i].rows, list->cones = s->part[i].cones;
        else
            movePart(s, i, began + i);
    }
    return true;
}

/* A pile comes to rest only if what is next to nothing is none. Its bodies are held at more places than they can move in, and what one place has to give way by, be it
 * 1e-9 m, the others have to make room for: hundreds of bodies slide, and leave depths and gaps behind that are next to nothing. So in a large island depths below
 * LEAST_DEPTH and gaps below LEAST_GAP of |g| h^2, what a body falls by in a step, are left as they are: 1e-8 and 1e-9 m at h = 0.01, far below the h^2 |v|^2 that a step may
 * leave (S 3.1); but not where gaps are the papers' (gammaGap=paper, T 5.1). Of a pile of 1000 that lies, 1100 contacts slide without this by the relaxation, on their way to
 * targets of 1e-13 to 1e-5 m/s. */
static pcTouchRule ruleOf(const pcAssembly* a, const pcIsland* island, bool fly)
{
    bool pile = island->bodies >= PILE && a->settings->gammaGap == PC_GAMMA_TOUCH;
    double fall = pile ? v3Norm(v3Load(a->system->gravity)) * a->h * a->h : 0.0;
    return (pcTouchRule){.fly = fly, .leastGap = LEAST_GAP * fall, .leastDepth = LEAST_DEPTH * fall};
}

static bool assembleTouches(const pcAssembly* a, pcIsland* island, bool fly)
{
    Touches s = {.a = a, .island = island, .rule = ruleOf(a, island, fly)};
    if (a->pool && a->threads > 1 && island->touches > 2 * AT_ONCE) return assembleShared(&s);
    for (int i = 0; i < island->touches; i++) pcTouchAssemble(a, touchOf(&s, i), &s.rule, &island->list, island->touchRows + i);
    return true;
}

bool pcIslandAssemble(const pcAssembly* a, pcIsland* island)
{
    pcArena* arena = a->arena;
    double* free = pcArenaNew(arena, double, 6 * (size_t)island->bodies);
    const double* mass = a->system->mobility ? denseMass(a, island) : blockMass(a, island);
    island->list = roomFor(arena, (size_t)island->rows + 6 * (size_t)island->touches);
    island->touchRows = pcArenaRaw(arena, pcTouchRows, island->touches);
    island->v = pcArenaNew(arena, double, 6 * (size_t)island->bodies);
    bool fly = a->settings->flight == PC_FLIGHT_MEAN && island->rows == 0 && !a->system->mobility;
    if (fly) island->way = pcArenaNew(arena, double, 6 * (size_t)island->bodies), island->held = pcArenaNew(arena, bool, island->bodies);
    if (!mass || !pcArenaGood(arena)) return false;
    for (int i = 0; i < island->bodies; i++) {
        memcpy(free + 6 * (size_t)i, a->motion[island->body[i]].free, 6 * sizeof *free);
        memcpy(island->v + 6 * (size_t)i, a->motion[island->body[i]].velocity, 6 * sizeof *free);
    }
    for (int i = 0; i < island->rows; i++) addJoint(a, a->system->rows + island->row[i], &island->list);
    if (!assembleTouches(a, island, fly)) return false;
    island->c = pcArenaNew(arena, double, island->list.rows);
    if (!pcArenaGood(arena)) return false;
    writeProblem(a, island, mass, free);
    return pcArenaGood(arena);
}
