/* The problem of an island: masses, free velocity, joint rows, then the rows of its contacts. */
#include "constraint/constraint.h"

#include <string.h>

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

/* What counts as one unit of velocity: max(|f|, |g| h, |b|), with angular velocities as the rows see them. The target b holds
 * gamma |d| / h; of contacts still apart it is room, not speed, and does not count. */
static double velocityScale(const pcAssembly* a, const pcProblem* p)
{
    double scale = v3Norm(v3Load(a->system->gravity)) * a->h;
    for (int i = 0; i < p->blocks; i++) scale = larger(scale, v3Norm(v3Load(p->free + 6 * (size_t)i)));
    for (int i = 0; i < p->cones; i++)
        for (int row = p->cone[i].row; row < p->cone[i].row + p->cone[i].rows; row++) {
            bool room = p->cone[i].kind == PC_CONE_FRICTION && row == p->cone[i].row && p->target[row] < 0.0;
            scale = larger(scale, shareOf(p, row, 0) + shareOf(p, row, 1));
            if (!room) scale = larger(scale, fabs(p->target[row]));
        }
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

bool pcIslandAssemble(const pcAssembly* a, pcIsland* island)
{
    pcArena* arena = a->arena;
    size_t most = (size_t)island->rows + 6 * (size_t)island->touches;
    double* free = pcArenaNew(arena, double, 6 * (size_t)island->bodies);
    const double* mass = a->system->mobility ? denseMass(a, island) : blockMass(a, island);
    island->list = roomFor(arena, most);
    island->touchRows = pcArenaNew(arena, pcTouchRows, island->touches);
    island->v = pcArenaNew(arena, double, 6 * (size_t)island->bodies);
    island->c = pcArenaNew(arena, double, most);
    bool fly = a->settings->flight == PC_FLIGHT_MEAN && island->rows == 0 && !a->system->mobility;
    if (fly) island->way = pcArenaNew(arena, double, 6 * (size_t)island->bodies), island->held = pcArenaNew(arena, bool, island->bodies);
    if (!mass || !pcArenaGood(arena)) return false;
    for (int i = 0; i < island->bodies; i++) {
        memcpy(free + 6 * (size_t)i, a->motion[island->body[i]].free, 6 * sizeof *free);
        memcpy(island->v + 6 * (size_t)i, a->motion[island->body[i]].velocity, 6 * sizeof *free);
    }
    for (int i = 0; i < island->rows; i++) addJoint(a, a->system->rows + island->row[i], &island->list);
    for (int i = 0; i < island->touches; i++) pcTouchAssemble(a, a->touch + island->touch[i], fly, &island->list, island->touchRows + i);
    writeProblem(a, island, mass, free);
    return true;
}
