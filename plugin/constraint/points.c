/*
 * Points that joints hold: of a ball, a hinge, a universal, a fixed joint, three rows that leave a point of one body no way off a point of
 * the other. Rows are linear in the velocities, and two things of second order go wrong with that where heavy loads hang on light links.
 *
 *     x, R, w   place, turning and spin of a body        r   arm from x to the point, world axes        F   force that the joint exerted
 *     a, t      linear and angular part of a row: t = r x a                                            h   step
 *
 * Where the point goes. The row moves it by h (v + w x r), the body by h v + (exp(h w) - 1) r. What that differs by,
 *
 *     e = (exp(h w) - 1 - h [w]) r  =  O(h^2),
 *
 * is left as an error of the joint, to be stabilized away in later steps, with the energy that costs. So the target of each row is lowered
 * by a.(e1 - e2) / h and the step solved again until e no longer changes: then the joint holds where the step ends, while its impulse acts
 * along the rows of where it began (the scheme known as SHAKE, which gains and loses no energy in the long run).
 *
 * How stiff the pull is. A force F on an arm r turns back what leaves its line, by the torque -K d for a small turn d:
 *
 *     (r + d x r) x F = r x F - K d,     K = (r.F) 1 - r F'                                (geometric stiffness)
 *
 * Links under the pull of 1000 times their mass swing across it at h sqrt(K / I) > 2, where steps that take the arm from their beginning
 * explode, whatever solves them. So a part of the turn within the step counts:
 *
 *     I w + S (w - KEPT w_old) = I w* + J'c,       S = h^2 sum over its points of K+,     K+ = max(r.F, 0) (1 - r r' / r.r)
 *
 * K+ is K where the force is along the arm and positive semidefinite everywhere; it has nothing to say about turns around the arm, where links
 * have next to no inertia (the symmetric part of K does, and spins them up). With KEPT = 0 this is the implicit Euler method, which brakes
 * all that turns: a chain of ten links with a load of 1000:1 loses 31 % of m g L in ten seconds at h = 0.01. KEPT = 1 only adds inertia
 * and brakes nothing, but gains energy until it explodes, from 0.9 on; at 0.75 it gains none and the same chain loses 9 %, a swing across
 * loses at most a quarter of its energy per step. Where h^2 K is small against I, nothing changes.
 */
#include "constraint/points.h"

#include <string.h>

#include "constraint/m33.h"

static const double KEPT = 0.75; /* Scenes.LoadedChainHoldsAtLargeSteps */

/* ---- finding them ---- */

static v3 linearOf(const pcRow* row, int side) { return v3Load(row->jacobian + 6 * side); }
static v3 angularOf(const pcRow* row, int side) { return v3Load(row->jacobian + 6 * side + 3); }

static bool isEquality(const pcRow* row) { return row->lo == -HUGE_VAL && row->hi == HUGE_VAL; }

/* Three directions that span space well. */
static bool spans(const pcRow* rows)
{
    int side = rows->body1 >= 0 ? 0 : 1;
    v3 a = linearOf(rows, side), b = linearOf(rows + 1, side), c = linearOf(rows + 2, side);
    return fabs(v3Dot(a, v3Cross(b, c))) > 1e-3 * v3Norm(a) * v3Norm(b) * v3Norm(c);
}

/* r of t = r x a for the three rows, by least squares: a x (r x a) = (a.a) r - a (a.r). False if there is none. */
static bool findArm(const pcRow* rows, int side, v3* out)
{
    double normal[9] = {0};
    v3 right = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        v3 a = linearOf(rows + i, side);
        m33AddSymmetric(normal, -1.0, a, a);
        for (int k = 0; k < 9; k += 4) normal[k] += v3Dot(a, a);
        right = v3Add(right, v3Cross(a, angularOf(rows + i, side)));
    }
    *out = m33Solve(normal, right);
    for (int i = 0; i < 3; i++) {
        v3 a = linearOf(rows + i, side), t = angularOf(rows + i, side);
        if (!(v3Size(v3Sub(v3Cross(*out, a), t)) <= 1e-9 * (v3Size(*out) * v3Size(a) + v3Size(t)))) return false;
    }
    return true;
}

/* What one body is pushed by, the other is pushed back by. */
static bool areOpposite(const pcRow* row) { return v3Size(v3Add(linearOf(row, 0), linearOf(row, 1))) <= 1e-12 * v3Size(linearOf(row, 0)); }

static bool findPoint(const pcSystem* system, int first, pcHeldPoint* out)
{
    const pcRow* rows = system->rows + first;
    *out = (pcHeldPoint){.row = first, .body = {rows->body1, rows->body2}};
    for (int i = 0; i < 3; i++) {
        if (rows[i].body1 != rows->body1 || rows[i].body2 != rows->body2 || !isEquality(rows + i)) return false;
        if (rows->body1 >= 0 && rows->body2 >= 0 && !areOpposite(rows + i)) return false;
    }
    if (!spans(rows)) return false;
    for (int side = 0; side < 2; side++)
        if (out->body[side] >= 0 && !findArm(rows, side, out->arm + side)) return false;
    return true;
}

int pcHeldPointsFind(pcArena* arena, const pcSystem* system, pcHeldPoint** out)
{
    int count = 0;
    pcHeldPoint* points = *out = pcArenaNew(arena, pcHeldPoint, system->rowCount / 3);
    for (int i = 0; points && i + 2 < system->rowCount;) i += findPoint(system, i, points + count) ? (count++, 3) : 1;
    return count;
}

/* ---- stiffness ---- */

/* K+ of a force at an arm. */
static void addPull(double K[9], v3 r, v3 F)
{
    double pull = v3Dot(r, F);
    if (!(pull > 0.0)) return;
    m33AddSymmetric(K, -pull / v3Dot(r, r), r, r);
    for (int k = 0; k < 9; k += 4) K[k] += pull;
}

/* The inertia of the problem becomes I + S, and w* follows; the inertia that kinetic energy counts by stays. */
static void stiffen(pcMotion* m, const double S[9])
{
    double sum[9];
    v3 momentum = m33Times(m->inertia, v3Load(m->free + 3)), kept = v3Scale(KEPT, m33Times(S, v3Load(m->velocity + 3)));
    for (int i = 0; i < 9; i++) sum[i] = m->inertia[i] + S[i];
    memcpy(m->stiffness, S, sizeof m->stiffness);
    m33Invert(sum, m->inverseInertia);
    v3Store(m->free + 3, m33Times(m->inverseInertia, v3Add(momentum, kept)));
}

void pcHeldPointsStiffen(pcArena* arena, const pcSystem* system, const pcHeldPoint* points, int count, const double* force, double h,
                         pcMotion* motion)
{
    double* K = pcArenaNew(arena, double, 9 * (size_t)system->bodyCount);
    if (!K) return;
    for (int i = 0; i < count; i++)
        for (int side = 0; side < 2; side++) {
            int body = points[i].body[side];
            v3 F = {0, 0, 0};
            if (body < 0 || !motion[body].moves) continue;
            for (int k = points[i].row; k < points[i].row + 3; k++) F = v3AddScaled(F, force[k], linearOf(system->rows + k, side));
            addPull(K + 9 * (size_t)body, points[i].arm[side], F);
        }
    for (int i = 0; i < system->bodyCount; i++) {
        double* S = K + 9 * (size_t)i;
        for (int k = 0; k < 9; k++) S[k] *= h * h;
        if (motion[i].moves && S[0] + S[4] + S[8] > 0.0) stiffen(motion + i, S);
    }
}

/* ---- where they go ---- */

/* e = (exp(h w) - 1 - h [w]) r = (sin p / p - 1) d x r + (1 - cos p) / p^2  d x (d x r),  d = h w, p = |d|. */
static v3 beyondRow(v3 spin, v3 r, double h)
{
    v3 d = v3Scale(h, spin), first = v3Cross(d, r), second = v3Cross(d, first);
    double p = v3Norm(d), half = 0.5 * p > 1e-8 ? sin(0.5 * p) / (0.5 * p) : 1.0;
    /* sin p / p - 1 loses its digits where p is small: there its series */
    double sine = p > 0.05 ? sin(p) / p - 1.0 : -p * p / 6.0 * (1.0 - p * p / 20.0 * (1.0 - p * p / 42.0));
    return v3AddScaled(v3Scale(sine, first), 0.5 * half * half, second);
}

double pcHeldPointBend(const pcSystem* system, const pcHeldPoint* point, int k, const double velocity1[6], const double velocity2[6],
                       double h)
{
    const pcRow* row = system->rows + point->row + k;
    double bend = 0.0;
    if (point->body[0] >= 0) bend += v3Dot(linearOf(row, 0), beyondRow(v3Load(velocity1 + 3), point->arm[0], h));
    if (point->body[1] >= 0) bend += v3Dot(linearOf(row, 1), beyondRow(v3Load(velocity2 + 3), point->arm[1], h));
    return bend / h;
}
