/*
 * Levels as unknowns of Newton's method, beside the velocities: the mixed problem G 21-22 as it stands, in v and in (x, t, l) of each pair,
 *
 *     K dz = -rho - (d rho / d q) dq,      rho the residual of the level problem (level.h), K = d rho / d z
 *
 * so that dz is eliminated pair by pair and the matrix of the velocities stays as it is; only its right side learns of rho. Where a body is
 * flat, as at the pole of a superellipsoid, x moves as the fifth root of a tilt: solved anew at every trial it makes R a function that Newton's
 * method cannot follow, and a tilt of one rounding error moves it by 1e-3. As an unknown it is found by what has to be balanced there.
 */
#include <string.h>

#include "implicit/solve.h"

static pcNear* looseOf(const pcWork* work, int i)
{
    pcNear* near = work->near + work->nearOf[i];
    return near->loose ? near : NULL;
}

void pcLooseBegin(pcWork* work)
{
    for (int i = 0; i < work->nears; i++) {
        pcNear* near = work->near + work->nearOf[i];
        if (near->events || near->soft || near->bonds != 1 || !near->level.known) continue;
        near->loose = pcArenaNew(work->arena, pcLoose, 1);
    }
    work->loose = true;
}

void pcLooseEnd(pcWork* work)
{
    for (int i = 0; i < work->nears; i++) work->near[work->nearOf[i]].loose = NULL;
    work->loose = false;
}

void pcLooseKeep(pcWork* work)
{
    for (int i = 0; i < work->nears; i++) {
        pcNear* near = looseOf(work, i);
        if (near) near->loose->start = near->level;
    }
}

void pcLooseReturn(pcWork* work)
{
    for (int i = 0; i < work->nears; i++) {
        pcNear* near = looseOf(work, i);
        if (near) near->level = near->loose->start;
    }
}

/* Changes of the pose of a body, and what they change in the level. */
static void addBody(const pcWork* work, int body, const double* step, int first, pcLoose* loose)
{
    if (body < 0 || !work->motion[body].moves) return;
    const pcPlace* p = pcPlaceOf(work, body);
    const double* d = step + 6 * (size_t)work->local[body];
    for (int c = 0; c < 6; c++) {
        double dq = c < 3 ? p->move * d[c] : p->T[3 * (c - 3)] * d[3] + p->T[3 * (c - 3) + 1] * d[4] + p->T[3 * (c - 3) + 2] * d[5];
        loose->step.x = v3AddScaled(loose->step.x, dq, loose->slope.x[first + c]), loose->step.t += dq * loose->slope.t[first + c];
        for (int i = 0; i < PC_ACTIVE; i++) loose->step.l[i] += dq * loose->slope.l[first + c][i];
    }
}

void pcLoosePredict(pcWork* work, const double* step)
{
    for (int i = 0; i < work->nears; i++) {
        pcNear* near = looseOf(work, i);
        if (!near) continue;
        pcLoose* loose = near->loose;
        loose->base = near->level;
        loose->step = (pcLevel){.x = loose->slope.x[PC_DRIFT], .t = loose->slope.t[PC_DRIFT]};
        memcpy(loose->step.l, loose->slope.l[PC_DRIFT], sizeof loose->step.l);
        addBody(work, near->body1, step, 0, loose), addBody(work, near->body2, step, 6, loose);
    }
}

void pcLooseMove(pcWork* work, double part)
{
    for (int i = 0; i < work->nears; i++) {
        pcNear* near = looseOf(work, i);
        if (!near) continue;
        const pcLoose* loose = near->loose;
        near->level.x = v3AddScaled(loose->base.x, part, loose->step.x), near->level.t = loose->base.t + part * loose->step.t;
        for (int k = 0; k < near->level.count; k++) near->level.l[k] = loose->base.l[k] + part * loose->step.l[k];
    }
}

double pcLooseMerit(const pcWork* work)
{
    double sum = 0.0;
    for (int i = 0; i < work->nears; i++) {
        const pcNear* near = looseOf(work, i);
        if (!near) continue;
        const pcLevelRest* r = &near->loose->rest;
        double turn = work->scale * r->turn, gap = r->gap / work->move.h, rest = work->scale * r->sum;
        sum += (turn * turn + gap * gap + rest * rest) / near->bond->own[0];
    }
    return sum;
}

double pcLooseRest(const pcWork* work)
{
    double worst = 0.0;
    for (int i = 0; i < work->nears; i++) {
        const pcNear* near = looseOf(work, i);
        if (near) worst = larger(worst, near->loose->rest.size);
    }
    return worst;
}

bool pcLooseIsRight(const pcWork* work)
{
    for (int i = 0; i < work->nears; i++) {
        const pcNear* near = looseOf(work, i);
        pcPlacedPiece side[2];
        pcLevelPair pair;
        if (!near) continue;
        pcPlacePair(work, near, side, &pair);
        if (!pcLevelIsRight(&pair, &near->level)) return false;
    }
    return true;
}
