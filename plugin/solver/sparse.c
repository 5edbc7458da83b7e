/*
 * The proximal Newton method in velocity space: x = v, A = M, C = J, B = J'. Its matrix M + J'G J has one 6x6 block per body and per
 * touching pair, so its cost follows the graph of blocks, not the number of rows.
 */
#include "solver/sparse.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/simd.h"
#include "linalg/blocks.h"
#include "linalg/mass.h"
#include "linalg/panel.h"
#include "solver/central.h"
#include "solver/certificate.h"
#include "solver/delassus.h"
#include "solver/interior.h"
#include "solver/memory.h"
#include "solver/path.h"
#include "solver/proximal.h"
#include "solver/rows.h"
#include "solver/stiffness.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE
#define WARM_LIMIT 24        /* Newton steps from a guess, … */
#define ROUGH_LIMIT 8        /* … fewer, if a rough answer will do … */
#define WARM_RESTARTS 2      /* … not more than so many rounds of them in vain … */
#define TEPID_LIMIT 80       /* … and from the inside of all cones (interior.c), … */
#define NEAR_RESTARTS 6      /* … where that was near a guess, not more than so many rounds in vain */
#define AGAIN_LIMIT 6        /* times that the best so far is a start, … */
#define PROMISING 1e-3       /* … if its residual is at most this */
#define NEAR_FACTORS 150     /* without getting nearer, of a path from a guess that lacks a few contacts only, … */
#define FAR_FACTORS 150      /* … of one from elsewhere, … */
#define REST_FACTORS 30      /* … and of one from a point of the central path, … */
#define REST_FIRST 1e-6      /* … from this m on, … */
#define REST_NEXT 0.3        /* … wherever it is less by this … */
#define REST_EVERY 300       /* … or H was factored as often, … */
#define REST_ABOVE 5.0       /* … but for where it has turned back as far: nothing was ever found there, … */
#define REST_LEAST 1e-13     /* … down to here; the path between two of them shall take as long as the try before did */
#define CENTRAL_FACTORS 3000 /* of one of them in all, … */
#define FIRST_PATHS 3        /* … but after so many, where more than NEARLY tolerances are left, … */
#define LAST_FACTORS 8000    /* … so many, … */
#define FAR_PATHS 8          /* … and of no more than these where more than HOPELESS tolerances are left, … */
#define NEAR_PATHS 16        /* … and of these where no more than NEARLY are */
#define HOPELESS 1e4         /* what contradicts itself leaves more: all paths would be in vain */
#define MANY_BLOCKS 40       /* from this size on … */
#define NEARLY 100.0         /* … so many tolerances are not worth to begin again */
#define UNIQUE 1e-11 /* tolerance of the relaxation: it has one velocity only, and that is worse than its residual where the problem is */
#define PILE_BLOCKS 100 /* from this size on that costs too much: half of all Newton steps are for the last digit, … */
#define ROUNDING 1e-2   /* … and momentum may be off by this part of the tolerance: what is left of it is given back afterwards */
#define NEAR 1e-5   /* residual to which the interior point method goes from a guess: what is left, Newton's method does in fewer steps */
#define CLOSER 1e-2 /* of the tolerance, where an answer is good by the method's own measure, but not by the certificate's */
#define CONTRADICTS 0.1         /* of the most that is held back: rows with less are on their way to be met */
#define MOMENTUM_ROUNDING 1e-14 /* relative: as good as sums of a few hundred terms can be */

typedef struct Velocity {
    const pcProblem* p;
    pcMass factor;
    double* own;
    double* difference; /* v - f; and M^-1 F */
    double* rhs;
    pcBlocks H;
    double* G; /* what H was factored with, … */
    int size;
    int factorization; /* … and which one of its factorizations that was */
} Velocity;

static const int* blocksOf(const pcProblem* p, int row) { return p->block + 2 * (size_t)row; }
static const double* jacobianOf(const pcProblem* p, int row) { return p->J + 12 * (size_t)row; }

/* A loop over cones or blocks, which threads share. */
typedef struct Loop {
    Velocity* s;
    const double *v, *c;
    double* out;
} Loop;

static void overCones(Velocity* s, pcLoopBody* body, const double* v, double* out)
{
    Loop loop = {.s = s, .v = v, .out = out};
    pcPoolLoop(s->p->pool, body, &loop, s->p->cones);
}

PC_SIMD static void velocitiesSome(void* context, int begin, int end)
{
    const Loop* loop = context;
    const pcProblem* p = loop->s->p;
    for (int k = begin; k < end; k++)
        for (int row = p->cone[k].row; row < p->cone[k].row + p->cone[k].rows; row++)
            loop->out[row] = rowTimes(p, row, loop->v) - p->target[row];
}

static void velocities(void* self, const double* v, double* u) { overCones(self, velocitiesSome, v, u); }

PC_SIMD static void changeSome(void* context, int begin, int end)
{
    const Loop* loop = context;
    const pcProblem* p = loop->s->p;
    for (int k = begin; k < end; k++)
        for (int row = p->cone[k].row; row < p->cone[k].row + p->cone[k].rows; row++) loop->out[row] = rowTimes(p, row, loop->v);
}

static void change(void* self, const double* dv, double* du) { overCones(self, changeSome, dv, du); }

PC_SIMD static void balanceSome(void* context, int begin, int end)
{
    const Loop* loop = context;
    const pcProblem* p = loop->s->p;
    const double* difference = loop->s->difference;
    int n = B * p->blocks;
    for (int b = begin; b < end; b++) {
        for (int i = B * b; i < B * (b + 1); i++) {
            if (p->dense)
                loop->out[i] = pcDot(n, p->mass + (size_t)i * (size_t)n, difference);
            else
                loop->out[i] = dotSix(p->mass + (size_t)i * B, difference + B * b);
        }
        addTouching(p, pcStiffnessTouching(&loop->s->H), b, -1.0, NULL, loop->c, loop->out + B * b);
    }
}

/* F = M (v - f) - J'c */
static void balance(void* self, const double* v, const double* c, double* F)
{
    Loop loop = {.s = self, .c = c, .out = F};
    const pcProblem* p = loop.s->p;
    for (int i = 0; i < B * p->blocks; i++) loop.s->difference[i] = v[i] - p->free[i];
    pcPoolLoop(p->pool, balanceSome, &loop, p->blocks);
}

/* Energy of the error, with the diagonal of M in place of M. */
static double norm(void* self, const double* F)
{
    const pcProblem* p = ((Velocity*)self)->p;
    double sum = 0.0;
    for (int i = 0, n = B * p->blocks; i < n; i++) {
        double m = p->dense ? p->mass[(size_t)i * (size_t)n + (size_t)i] : p->mass[i / B * BB + i % B * (B + 1)];
        sum += F[i] * F[i] / m;
    }
    return sqrt(sum);
}

/* max |J M^-1 F| */
static double error(void* self, const double* F)
{
    Velocity* s = self;
    const pcProblem* p = s->p;
    double most = 0.0;
    memcpy(s->difference, F, (size_t)(B * p->blocks) * sizeof *F);
    pcMassSolve(&s->factor, s->difference);
    for (int row = 0; row < p->rows; row++) most = larger(most, fabs(rowTimes(p, row, s->difference)));
    return most;
}

/* Where all contacts stay on pieces on which G is constant (they stick, are open, or slide in one dimension), the factors are those of the step
 * before. */
static bool factor(Velocity* s, const double* G, const int* offset)
{
    size_t size = (size_t)s->size * sizeof *G;
    if (s->factorization == s->H.factorization && memcmp(G, s->G, size) == 0) return true;
    memcpy(s->G, G, size);
    bool good = pcStiffnessFactor(s->p, G, offset, &s->H);
    s->factorization = good ? s->H.factorization : -1;
    return good;
}

static bool newton(void* self, const double* G, const int* offset, const double* rhs, double* dv)
{
    Velocity* s = self;
    memcpy(dv, rhs, (size_t)(B * s->p->blocks) * sizeof *dv);
    if (G && !factor(s, G, offset)) return false;
    pcBlocksSolve(&s->H, dv);
    return true;
}

/* J_i M^-1 J_i' of a row; z has room for all blocks, or where M is not dense for two. */
static double ownOf(const Velocity* s, int row, double* z)
{
    const pcProblem* p = s->p;
    const int* block = blocksOf(p, row);
    const double* J = jacobianOf(p, row);
    double own = 0.0;
    if (p->dense) memset(z, 0, (size_t)(B * p->blocks) * sizeof *z);
    for (int side = 0; side < 2; side++) {
        if (block[side] < 0) continue;
        double* at = z + (p->dense ? B * block[side] : B * side);
        memcpy(at, J + B * side, B * sizeof *z);
        if (!p->dense) pcMassSolveBlock(&s->factor, block[side], at), own += dotSix(J + B * side, at);
    }
    if (p->dense) pcMassSolve(&s->factor, z), own = rowTimes(p, row, z);
    return own > 0.0 ? own : 1.0; /* a row that moves nothing: any weight will do */
}

static void ownsOfSome(void* context, int begin, int end)
{
    const Velocity* s = context;
    double z[2 * B];
    for (int k = begin; k < end; k++)
        for (int row = s->p->cone[k].row; row < s->p->cone[k].row + s->p->cone[k].rows; row++) s->own[row] = ownOf(s, row, z);
}

static bool findOwns(Velocity* s, pcArena* arena)
{
    const pcProblem* p = s->p;
    if (!pcMassFactor(&s->factor, p->blocks, p->dense, p->mass, arena)) return false;
    if (!p->dense) {
        pcPoolLoop(p->pool, ownsOfSome, s, p->cones);
        return true;
    }
    double* z = pcArenaRaw(arena, double, B * p->blocks);
    for (int row = 0; z && row < p->rows; row++) s->own[row] = ownOf(s, row, z);
    return z != NULL;
}

static bool velocityForm(const pcProblem* p, pcArena* arena, pcLinear* out)
{
    Velocity* s = pcArenaNew(arena, Velocity, 1);
    if (!s) return false;
    s->p = p, s->factorization = -1;
    for (int k = 0; k < p->cones; k++) s->size += p->cone[k].rows * p->cone[k].rows;
    s->own = pcArenaNew(arena, double, p->rows), s->G = pcArenaRaw(arena, double, s->size);
    s->difference = pcArenaNew(arena, double, B * p->blocks), s->rhs = pcArenaNew(arena, double, B * p->blocks);
    if (!pcArenaGood(arena) || !findOwns(s, arena) || !pcStiffnessPattern(p, arena, &s->H)) return false;
    out->own = s->own, out->self = s;
    out->velocities = velocities, out->change = change, out->balance = balance;
    out->norm = norm, out->error = error, out->newton = newton;
    return true;
}

static const double* softOrNull(const pcProblem* p)
{
    for (int i = 0; i < p->rows; i++)
        if (p->soft[i] != 0.0) return p->soft;
    return NULL;
}

bool pcLinearForm(const pcProblem* p, pcArena* arena, pcLinear* out)
{
    *out = (pcLinear){.unknowns = pcUnknowns(p),
                      .rows = p->rows,
                      .cones = p->cones,
                      .cone = p->cone,
                      .soft = softOrNull(p),
                      .law = p->coulomb ? PC_LAW_COULOMB : PC_LAW_RELAXED,
                      .velocityScale = p->velocityScale,
                      .pool = p->pool};
    return p->W ? pcImpulseForm(p, arena, out) : velocityForm(p, arena, out);
}

/* ---- The solver ---------------------------------------------------------------------------------------------------------------- */

void pcConeStart(const pcProblem* p, double* v, double* c)
{
    for (int i = 0; i < pcUnknowns(p); i++) v[i] = p->W ? 0.0 : p->free[i];
    for (int i = 0; i < p->rows; i++) c[i] = 0.0;
}

pcCertificate pcBalanceMomentum(const pcProblem* p, const pcLinear* linear, double tolerance, pcArena* arena, double* v, const double* c)
{
    Velocity* s = linear->self;
    pcCertificate before = pcCertify(p, v, c, arena);
    if (p->W) return before; /* there is no momentum in it */
    double* F = s->rhs;
    linear->balance(s, v, c, F);
    if (before.momentum <= MOMENTUM_ROUNDING || !(linear->error(s, F) <= 0.1 * tolerance * p->velocityScale)) return before;
    for (int i = 0; i < B * p->blocks; i++) F[i] = v[i], v[i] -= s->difference[i]; /* difference: M^-1 F */
    pcCertificate after = pcCertify(p, v, c, arena);
    if (after.momentum < before.momentum && after.residual <= larger(before.residual, 0.5 * tolerance)) return after;
    memcpy(v, F, (size_t)(B * p->blocks) * sizeof *v);
    return before;
}

/* The best answer of several attempts, if none is good. */
typedef struct Best {
    double residual, *v, *c;
} Best;

static Best bestNew(const pcProblem* p, pcArena* arena)
{
    return (Best){INFINITY, pcArenaRaw(arena, double, pcUnknowns(p)), pcArenaRaw(arena, double, p->rows)};
}

static void bestKeep(Best* best, const pcProblem* p, double residual, const double* v, const double* c)
{
    if (!best->v || !best->c) return;
    best->residual = residual;
    memcpy(best->v, v, (size_t)pcUnknowns(p) * sizeof *v), memcpy(best->c, c, (size_t)p->rows * sizeof *c);
}

static void bestGive(const Best* best, const pcProblem* p, double* v, double* c)
{
    memcpy(v, best->v, (size_t)pcUnknowns(p) * sizeof *v), memcpy(c, best->c, (size_t)p->rows * sizeof *c);
}

/* What is known while one start is tried after the other. */
typedef struct Attempt {
    const pcProblem* p;
    const pcLinear* linear;
    const pcConeSettings* settings;
    pcSolverMemory* memory;
    pcArena* arena;
    double rough, tolerance; /* what is asked for, and what Newton's method is asked for */
    double *held, *v, *c;
    pcProximalInfo found;
    Best best;
    bool followed; /* a path, which gets further than any way from nothing */
} Attempt;

static bool isLarge(const pcProblem* p) { return !p->W && p->blocks >= MANY_BLOCKS; }
static bool isRelaxedPile(const pcProblem* p) { return !p->W && !p->coulomb && p->blocks >= PILE_BLOCKS; }

/* Newton's method from (v, c), or from nothing if it is not `warm`. */
static void newtonFrom(Attempt* s, bool warm, int limit, int restarts)
{
    pcProximalSettings method = {.tolerance = s->tolerance, .held = s->held, .warm = warm, .maxIterations = limit, .maxRestarts = restarts};
    if (isRelaxedPile(s->p)) method.rounding = ROUNDING * s->tolerance, method.pile = true;
    pcProximalInfo before = s->found;
    s->found = pcProximalSolve(s->linear, &method, s->arena, s->v, s->c);
    s->found.iterations += before.iterations, s->found.restarts += before.restarts;
}

static void keepIfBetter(Attempt* s)
{
    if (s->found.residual < s->best.residual) bestKeep(&s->best, s->p, s->found.residual, s->v, s->c);
}

/* Many blocks under Coulomb's law: the path of Newton's method from (v, c). False: there is none. What it holds for an answer, or nearly one, is as good
 * as the certificate says. */
static bool pathFrom(Attempt* s, int patience)
{
    if (!isLarge(s->p)) return false;
    pcBlocks* H = &((Velocity*)s->linear->self)->H;
    pcPathInfo path = pcPathSolve(s->p, s->linear->own, s->rough, patience, H, s->arena, s->v, s->c);
    s->found.iterations += path.factors;
    if (path.residual <= NEARLY * s->rough) {
        pcCertificate certificate = pcBalanceMomentum(s->p, s->linear, s->rough, s->arena, s->v, s->c);
        path.residual = pcCertificateOff(&certificate);
        s->found.converged = path.residual <= s->rough;
        s->found.residual = path.residual;
    }
    if (path.residual < s->best.residual) bestKeep(&s->best, s->p, path.residual, s->v, s->c);
    if (path.factors > 0) s->followed = true;
    return path.factors > 0;
}

/* (v, c) := what an interior point method finds. False: nothing. */
static bool inside(Attempt* s, double tolerance, pcInside where)
{
    if (s->settings->maxIterations || s->p->W) return false;
    pcBlocks* H = &((Velocity*)s->linear->self)->H;
    int factors = pcInteriorStart(s->p, s->linear->own, tolerance, where, H, s->arena, s->v, s->c);
    if (factors == PC_NO_START) return false;
    s->found.iterations += factors;
    return true;
}

static void fromGuess(Attempt* s)
{
    const pcConeSettings* settings = s->settings;
    int limit = settings->rough > 0.0 ? ROUGH_LIMIT : settings->close ? TEPID_LIMIT : WARM_LIMIT;
    if (settings->close && pathFrom(s, NEAR_FACTORS)) return;
    newtonFrom(s, true, limit, settings->close ? 0 : WARM_RESTARTS);
    if (settings->close) keepIfBetter(s);
}

/* True: that is all that is asked for. */
static bool fromInside(Attempt* s, bool near)
{
    if (!inside(s, near ? larger(s->rough, NEAR) : s->rough, near ? PC_INSIDE_NEAR : PC_INSIDE)) return false;
    if (s->settings->rough > 0.0) return true;
    if (pathFrom(s, FAR_FACTORS)) return false;
    s->tolerance = s->p->coulomb || isRelaxedPile(s->p) ? s->rough : smaller(s->rough, UNIQUE);
    s->found.restarts += s->settings->warm;
    newtonFrom(s, true, TEPID_LIMIT, near ? NEAR_RESTARTS : 0);
    keepIfBetter(s);
    return near && !s->found.converged && fromInside(s, false); /* what was near is not near enough: from nothing, and to the end */
}

/* From points ever further along the central path, which leads to a solution, however long it takes, or until nobody waits for it any more. False: there
 * is none. */
static bool alongCentralPath(Attempt* s, double power, int limit, const _Atomic bool* needless)
{
    size_t mark = pcArenaMark(s->arena);
    pcCentral* central = pcCentralBegin(s->p, s->linear->own, power, &((Velocity*)s->linear->self)->H, s->arena);
    double aim = REST_FIRST, m = INFINITY, least = INFINITY;
    int tried = 0, cost = 0; /* where on the path the rest of the way was last tried, and what that took */
    while (central && m > REST_LEAST && pcCentralFactors(central) < limit && !s->found.converged && !atomic_load(needless)) {
        m = pcCentralFollow(central, aim, REST_EVERY, s->v, s->c);
        if (m <= aim) aim = REST_NEXT * m;
        least = smaller(least, m);
        if (m <= 0.0 || m > REST_ABOVE * least || (m > REST_LEAST && pcCentralFactors(central) - tried < cost)) continue;
        int before = s->found.iterations;
        pathFrom(s, REST_FACTORS);
        tried = pcCentralFactors(central), cost = s->found.iterations - before;
    }
    s->found.iterations += central ? pcCentralFactors(central) : 0;
    pcArenaRelease(s->arena, mark);
    return central != NULL;
}

static int limitOf(const Attempt* s, int path)
{
    return path >= FIRST_PATHS && s->best.residual > NEARLY * s->rough ? LAST_FACTORS : CENTRAL_FACTORS;
}

/* Two paths next to each other, each with its own matrix; alone, one thread follows the second where the first has not ended. */
typedef struct Lanes {
    Attempt* attempt[2];
    double power[2];
    int limit[2];
    _Atomic bool needless[2]; /* the first is always needed */
} Lanes;

static void followLane(void* context, int lane, int worker)
{
    Lanes* lanes = context;
    (void)worker;
    if (atomic_load(lanes->needless + lane)) return;
    alongCentralPath(lanes->attempt[lane], lanes->power[lane], lanes->limit[lane], lanes->needless + lane);
    if (lane == 0 && lanes->attempt[0]->found.converged) atomic_store(lanes->needless + 1, true);
}

/* A try of its own beside s, which is to beat the same best. */
static bool attemptBeside(const Attempt* s, pcLinear* linear, pcArena* arena, Attempt* out)
{
    *out = *s;
    out->arena = arena, out->linear = linear, out->found = (pcProximalInfo){.residual = INFINITY};
    out->v = pcArenaRaw(arena, double, pcUnknowns(s->p)), out->c = pcArenaRaw(arena, double, s->p->rows);
    out->best = bestNew(s->p, arena), out->best.residual = s->best.residual;
    return pcLinearForm(s->p, arena, linear) && pcArenaGood(arena);
}

/* What came of the second, where the first has not ended. */
static void takeBeside(Attempt* s, const Attempt* other)
{
    s->found.iterations += other->found.iterations, s->followed |= other->followed;
    if (other->best.residual < s->best.residual) bestKeep(&s->best, s->p, other->best.residual, other->best.v, other->best.c);
    if (!other->found.converged) return;
    s->found.converged = true, s->found.residual = other->found.residual;
    bestGive(&(Best){0.0, other->v, other->c}, s->p, s->v, s->c);
}

static void alongTwoPaths(Attempt* s, const double power[2], const int limit[2])
{
    Attempt other;
    pcLinear linear;
    pcArena* arena = &s->memory->beside;
    Lanes lanes = {.attempt = {s, &other}, .power = {power[0], power[1]}, .limit = {limit[0], limit[1]}};
    if (attemptBeside(s, &linear, arena, &other)) {
        pcPoolShare(s->p->pool, followLane, &lanes, 2);
        if (!s->found.converged) takeBeside(s, &other);
    } else {
        followLane(&lanes, 0, 0);
    }
    pcArenaRelease(arena, 0);
}

/* A path that did not end is tried from elsewhere. Some central paths are many times as long as others, and there is no telling which; what three of them
 * leave just above the tolerance, a fourth or sixth mostly solves, and of fifty packed problems two were left by the eighth. Where more than NEARLY
 * tolerances are left, there are as many again. From the second on they are followed two at a time, and what the second of two finds counts only where
 * the first finds nothing: so the answer does not depend on the number of threads. */
static void byOtherPaths(Attempt* s)
{
    static const double powers[] = {0.0,    0.5,     1.0,    -0.5,   0.25,   0.75,   -0.25,   1.25,   0.125,  0.625,   1.125,
                                    -0.375, 0.375,   0.875,  -0.125, 1.375,  -0.625, 0.0625,  0.5625, 1.0625, -0.4375, 0.3125,
                                    0.8125, -0.1875, 1.3125, 0.1875, 0.6875, 1.1875, -0.3125, 0.4375, 0.9375, -0.0625, 1.4375};
    static const _Atomic bool never;
    if (!alongCentralPath(s, powers[0], CENTRAL_FACTORS, &never)) {
        pcConeStart(s->p, s->v, s->c);
        pathFrom(s, FAR_FACTORS);
        return;
    }
    for (int i = 1; i + 1 < (int)(sizeof powers / sizeof *powers) && !s->found.converged; i += 2) {
        if (i >= FAR_PATHS && s->best.residual > HOPELESS * s->rough) return;
        if (i >= NEAR_PATHS && s->best.residual <= NEARLY * s->rough) return;
        alongTwoPaths(s, powers + i, (int[]){limitOf(s, i), limitOf(s, i + 1)});
    }
}

/* Large steps to begin with get further than small ones in the end: again from the best so far, as long as it gets better. */
static void fromBest(Attempt* s)
{
    double before = INFINITY;
    for (int i = 0; i < AGAIN_LIMIT && !s->found.converged && s->best.residual <= PROMISING && s->best.residual < before; i++) {
        before = s->best.residual;
        bestGive(&s->best, s->p, s->v, s->c);
        s->found.restarts += s->settings->warm;
        newtonFrom(s, true, TEPID_LIMIT, 0);
        keepIfBetter(s);
    }
}

static void fromNothing(Attempt* s)
{
    if (isLarge(s->p) && (s->followed || s->best.residual <= NEARLY * s->rough)) return;
    pcConeStart(s->p, s->v, s->c);
    s->found.restarts += s->settings->warm;
    newtonFrom(s, false, s->settings->maxIterations, 0);
    keepIfBetter(s);
}

/* A guess gets a short try near to it, unless short ways have failed before; then Newton's method begins at what an interior point method
 * finds (which by the relaxation begins near the guess), unless that is all that is asked for; then again at the best so far; what these
 * cannot finish starts again from nothing.
 *
 * Where paths are followed, they do all this: first from a guess that lacks a few contacts only, then from the inside, then from points ever further along
 * the central path. */
static pcProximalInfo attempt(const pcProblem* p, const pcLinear* linear, const pcConeSettings* settings, pcSolverMemory* memory,
                              double* held, double* v, double* c)
{
    pcArena* arena = &memory->arena;
    double rough = larger(settings->tolerance, settings->rough);
    bool near = settings->warm && settings->hard && !settings->close && !p->coulomb;
    Attempt s = {.p = p, .linear = linear, .settings = settings, .memory = memory, .arena = arena, .held = held, .v = v, .c = c};
    s.rough = s.tolerance = rough, s.found.residual = INFINITY, s.best = bestNew(p, arena);
    if (settings->warm && (settings->close || !settings->hard)) fromGuess(&s);
    if (!s.found.converged && !fromInside(&s, near)) {
        if (!s.found.converged && isLarge(p) && p->coulomb && settings->maxIterations == 0)
            byOtherPaths(&s); /* also where the inside gave no start */
        fromBest(&s);
        if (!s.found.converged) fromNothing(&s);
    }
    if (!s.found.converged && s.best.residual < s.found.residual) bestGive(&s.best, p, v, c);
    return s.found;
}

/* Which cone a row belongs to is known by walking; rows that contradict must all be FREE ones. */
static bool onlyFree(const pcProblem* p, const double* held, double least)
{
    for (int k = 0; k < p->cones; k++) {
        for (int i = p->cone[k].row; p->cone[k].kind != PC_CONE_FREE && i < p->cone[k].row + p->cone[k].rows; i++) {
            if (fabs(held[i]) > least) return false;
        }
    }
    return true;
}

/* Targets of FREE rows that contradict each other: v has settled where it is least wrong, while impulses against each other have grown
 * without end. v is the exact solution with targets changed by what is held back; solved anew from nothing, that problem gives the same
 * v by impulses of a sensible size. (A body squeezed between contacts is left: there, large impulses are what grips it.) */
static void unjam(const pcProblem* p, const double* held, const pcConeSettings* settings, pcArena* arena, double* v, double* c)
{
    size_t rows = (size_t)p->rows, unknowns = (size_t)pcUnknowns(p);
    double *target = pcArenaNew(arena, double, rows), *x = pcArenaNew(arena, double, unknowns), *y = pcArenaNew(arena, double, rows);
    pcProblem changed = *p;
    pcLinear linear;
    if (!pcArenaGood(arena) || !pcLinearForm(&changed, arena, &linear)) return;
    double most = 0.0;
    for (size_t i = 0; i < rows; i++) most = larger(most, fabs(held[i]));
    if (!onlyFree(p, held, CONTRADICTS * most)) return;
    for (size_t i = 0; i < rows; i++) target[i] = p->target[i] - (fabs(held[i]) > CONTRADICTS * most ? held[i] : 0.0);
    changed.target = target;
    pcConeStart(p, x, y);
    pcProximalSettings method = {.tolerance = settings->tolerance, .maxIterations = settings->maxIterations};
    if (!pcProximalSolve(&linear, &method, arena, x, y).converged) return;
    memcpy(v, x, unknowns * sizeof *v), memcpy(c, y, rows * sizeof *c);
}

/* What the method holds for an answer and the certificate does not is brought closer. */
static pcCertificate comeCloser(const pcProblem* p, const pcLinear* linear, double tolerance, pcArena* arena, const pcCertificate* before,
                                int* iterations, double* v, double* c)
{
    Best best = bestNew(p, arena);
    if (!pcArenaGood(arena)) return *before;
    bestKeep(&best, p, 0.0, v, c);
    pcProximalSettings method = {.tolerance = CLOSER * tolerance, .warm = true, .maxIterations = TEPID_LIMIT};
    *iterations += pcProximalSolve(linear, &method, arena, v, c).iterations;
    pcCertificate after = pcBalanceMomentum(p, linear, tolerance, arena, v, c);
    if (pcCertificateOff(&after) < pcCertificateOff(before)) return after;
    bestGive(&best, p, v, c);
    return *before;
}

pcConeInfo pcSparseSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, double* v, double* c)
{
    pcConeInfo info = {.solve = {.outcome = PC_LIMIT, .residual = INFINITY}, .solver = "sparse"};
    pcLinear linear;
    size_t mark = pcArenaMark(&memory->arena);
    if (!pcLinearForm(p, &memory->arena, &linear)) {
        if (!settings->warm) pcConeStart(p, v, c);
    } else {
        double* held = pcArenaNew(&memory->arena, double, p->rows);
        pcProximalInfo found = attempt(p, &linear, settings, memory, held, v, c);
        if (found.jammed && held) unjam(p, held, settings, &memory->arena, v, c);
        pcCertificate certificate = pcBalanceMomentum(p, &linear, settings->tolerance, &memory->arena, v, c);
        if (found.converged && settings->maxIterations == 0 &&
            !(pcCertificateOff(&certificate) <= larger(settings->tolerance, settings->rough)))
            certificate = comeCloser(p, &linear, settings->tolerance, &memory->arena, &certificate, &found.iterations, v, c);
        info.solve.iterations = found.iterations;
        info.solve.fallbacks = found.restarts;
        bool solved = pcCertificateOff(&certificate) <= settings->tolerance;
        info.solve.residual = solved ? certificate.residual : pcCertificateOff(&certificate);
        if (isfinite(info.solve.residual)) info.solve.outcome = solved ? PC_SOLVED : PC_INACCURATE;
    }
    pcArenaRelease(&memory->arena, mark);
    return info;
}
