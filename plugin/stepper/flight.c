/*
 * flight=mean: how bodies move. By x + h v, as ODE moves them, a body in free fall loses T(push) in every step; by the mean of its old and
 * new velocity it keeps its energy, because forces are constant within the step. Impulses c_i that act at once, at t_i, count for what is left:
 *
 *     x' = x + h w,      w = (v_old + v*) / 2 + sum s_i M^-1 J_i'c_i,      s_i = 1 - t_i / h        (contact.c: after; in turn: 1 / 2)
 *
 * which is where the body really is after a bounce at t_i. What is pressed without a bounce has moved by h v in the rows that keep it apart,
 * so w = v; likewise every body that w would bring into another, and islands with joints. Turning is by h omega for all.
 */
#include <string.h>

#include "stepper/bounce.h"

typedef struct Flight {
    const pcIslandSolve* s;
    const double* turned; /* impulses of impacts in turn; NULL: none */
    double enough;        /* of velocity: less is the solver's error */
} Flight;

static const pcTouch* touchAt(const Flight* f, int i) { return f->s->step->touch + f->s->island->touch[i]; }

static double lightness(const Flight* f, int body)
{
    const pcMotion* m = body >= 0 ? f->s->step->motion + body : NULL;
    return m && m->moves ? 1.0 / m->mass : 0.0;
}

/* Its impulse, of those that were found at once, makes a difference to the motion. */
static bool acts(const Flight* f, int i)
{
    const pcTouchRows* rows = f->s->island->touchRows + i;
    double most = 0.0, light = lightness(f, touchAt(f, i)->body1) + lightness(f, touchAt(f, i)->body2);
    for (int k = 0; k < 3; k++)
        if (rows->row[k] >= 0) most = larger(most, fabs(rows->scale[k] * f->s->island->c[rows->row[k]]));
    return most * light > f->enough;
}

static bool flies(const pcIsland* island, int row)
{
    const int* block = island->problem.block + 2 * row;
    return (block[0] >= 0 && !island->held[block[0]]) || (block[1] >= 0 && !island->held[block[1]]);
}

static void hold(const pcIsland* island, int row)
{
    for (int side = 0; side < 2; side++) {
        int block = island->problem.block[2 * row + side];
        if (block < 0) continue;
        island->held[block] = true;
        memcpy(island->way + 6 * (size_t)block, island->v + 6 * (size_t)block, 6 * sizeof *island->way);
    }
}

/* J'(s c) of a contact. */
static void addImpulses(const Flight* f, int i, double* impulse)
{
    const pcIsland* island = f->s->island;
    const pcProblem* p = &island->problem;
    double part = !f->turned && island->touchRows[i].after >= 0.0 ? island->touchRows[i].after : 0.5;
    for (int k = 0; k < 6; k++) {
        int row = island->touchRows[i].row[k];
        if (row < 0) continue;
        double c = part * island->c[row] + (f->turned ? 0.5 * f->turned[row] : 0.0);
        for (int side = 0; side < 2; side++)
            for (int m = 0; p->block[2 * row + side] >= 0 && m < 6; m++)
                impulse[6 * p->block[2 * row + side] + m] += p->J[12 * row + 6 * side + m] * c;
    }
}

/* Linear parts of w. */
static void writeWays(const Flight* f, double* impulse, double* answer)
{
    const pcIsland* island = f->s->island;
    for (int i = 0; i < island->touches; i++) addImpulses(f, i, impulse);
    pcIslandAnswer(&f->s->step->assembly, island, impulse, answer);
    for (int i = 0; i < island->bodies; i++) {
        const pcMotion* m = f->s->step->motion + island->body[i];
        for (int k = 0; k < 3; k++) island->way[6 * i + k] = 0.5 * (m->velocity[k] + m->free[k]) + answer[6 * i + k];
    }
}

/* Deeper, or less far apart than touching, than the rows have it. */
static bool sinks(const Flight* f, int i)
{
    const pcIsland* island = f->s->island;
    const pcTouchRows* rows = island->touchRows + i;
    double h = f->s->step->h, d = touchAt(f, i)->gap - f->s->step->settings->layer;
    double by = pcRowVelocity(&island->problem, rows->row[0], island->way) - rows->carried;
    double asked = pcRowVelocity(&island->problem, rows->row[0], island->v) - rows->carried;
    return d + h * by < (d < 0.0 ? smaller(0.0, d + h * asked) : 0.0) - h * f->enough;
}

static bool holdSinking(const Flight* f)
{
    const pcIsland* island = f->s->island;
    bool any = false;
    for (int i = 0; i < island->touches; i++) {
        int row = island->touchRows[i].row[0];
        if (!flies(island, row) || !sinks(f, i)) continue;
        hold(island, row);
        any = true;
    }
    return any;
}

void pcIslandFly(const pcIslandSolve* s, const double* turned)
{
    pcIsland* island = s->island;
    size_t n = 6 * (size_t)island->bodies, mark = pcArenaMark(&s->worker->arena);
    if (!island->way) return;
    const Flight f = {s, turned, s->step->settings->tolerance * island->problem.velocityScale};
    double *impulse = pcArenaNew(&s->worker->arena, double, n), *answer = pcArenaRaw(&s->worker->arena, double, n);
    memcpy(island->way, island->v, n * sizeof *island->way);
    memset(island->held, 0, (size_t)island->bodies * sizeof *island->held);
    if (pcArenaGood(&s->worker->arena)) { /* else the step ends without an answer */
        writeWays(&f, impulse, answer);
        for (int i = 0; i < island->touches; i++)
            if ((turned || island->touchRows[i].after < 0.0) && acts(&f, i)) hold(island, island->touchRows[i].row[0]);
        while (holdSinking(&f)) continue;
    }
    pcArenaRelease(&s->worker->arena, mark);
}

bool pcIslandLands(const pcIslandSolve* s)
{
    pcIsland* island = s->island;
    bool any = false;
    pcIslandFly(s, NULL);
    for (int i = 0; island->way && i < island->touches; i++) {
        pcTouchRows* rows = island->touchRows + i;
        const int* block = island->problem.block + 2 * rows->row[0];
        bool held = (block[0] >= 0 && island->held[block[0]]) || (block[1] >= 0 && island->held[block[1]]);
        if (!held || !(rows->flown < rows->target)) continue;
        rows->flown = rows->target, island->list.target[rows->row[0]] = rows->carried + rows->target;
        any = true;
    }
    return any;
}
