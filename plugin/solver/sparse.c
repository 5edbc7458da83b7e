/* One start after the other: guesses, the inside of all cones, paths. */
#include "solver/sparse.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "solver/central.h"
#include "solver/delassus.h"
#include "solver/interior.h"
#include "solver/memory.h"
#include "solver/path.h"
#include "solver/proximal.h"
#include "solver/rows.h"
#include "solver/velocity.h"

#define WARM_LIMIT 24           /* Newton steps from a guess, … */
#define ROUGH_LIMIT 8           /* … fewer, if a rough answer will do … */
#define WARM_RESTARTS 2         /* … not more than so many rounds of them in vain … */
#define TEPID_LIMIT 80          /* … and from the inside of all cones (interior.c), … */
#define NEAR_RESTARTS 6         /* … where that was near a guess, not more than so many rounds in vain */
#define AGAIN_LIMIT 6           /* times that the best so far is a start, … */
#define PROMISING 1e-3          /* … if its residual is at most this */
#define NEAR_FACTORS 150        /* without getting nearer, of a path from a guess that lacks a few contacts only, … */
#define FAR_FACTORS 150         /* … of one from elsewhere, … */
#define REST_FACTORS 30         /* … and of one from a point of the central path, … */
#define REST_FIRST 1e-6         /* … from this m on, … */
#define REST_NEXT 0.3           /* … wherever it is less by this … */
#define REST_EVERY 300          /* … or H was factored as often, … */
#define REST_ABOVE 5.0          /* … but for where it has turned back as far: nothing was ever found there, … */
#define REST_LEAST 1e-13        /* … down to here; the path between two of them shall take as long as the try before did */
#define CENTRAL_FACTORS 3000    /* of one of them in all, … */
#define FIRST_PATHS 3           /* … but after so many, where more than NEARLY tolerances are left, … */
#define LAST_FACTORS 8000       /* … so many, … */
#define FAR_PATHS 8             /* … and of no more than these where more than HOPELESS tolerances are left, … */
#define NEAR_PATHS 16           /* … and of these where no more than NEARLY are */
#define LIFT_FIRST 1e-6         /* of the velocity scale: what slides faster is lifted; … */
#define LIFT_NEXT 0.1           /* … where that is not enough, what slides faster than this part of it, … */
#define FEW_SLIDE 0.2           /* … if it is no more than this part of all cones to begin with, … */
#define FEW_MORE 0.02           /* … for so few more, of all that are lifted, no path is followed by itself, … */
#define LIFT_FACTORS 12000      /* … for about so many factorizations in all where no more than NEARLY tolerances are left, … */
#define MOST_LIFT_FACTORS 60000 /* … or so many */
#define LIFTED_END 1e-13        /* m of the path of what is lifted */
#define RELAXED 1e-8            /* residual of the relaxation from which it begins */
#define HOPELESS 1e4            /* what contradicts itself leaves more: all paths would be in vain */
#define MANY_BLOCKS 40          /* from this size on … */
#define NEARLY 100.0            /* … so many tolerances are not worth to begin again */
#define UNIQUE 1e-11 /* tolerance of the relaxation: it has one velocity only, and that is worse than its residual where the problem is */
#define PILE_BLOCKS 100 /* from this size on that costs too much: half of all Newton steps are for the last digit, … */
#define ROUNDING 1e-2   /* … and momentum may be off by this part of the tolerance: what is left of it is given back afterwards */
#define NEAR 1e-5   /* residual to which the interior point method goes from a guess: what is left, Newton's method does in fewer steps */
#define CLOSER 1e-2 /* of the tolerance, where an answer is good by the method's own measure, but not by the certificate's */
#define CONTRADICTS 0.1 /* of the most that is held back: rows with less are on their way to be met */

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
    return p->W ? pcImpulseForm(p, arena, out) : pcVelocityForm(p, arena, out);
}

/* ---- The solver ---------------------------------------------------------------------------------------------------------------- */

void pcConeStart(const pcProblem* p, double* v, double* c)
{
    for (int i = 0; i < pcUnknowns(p); i++) v[i] = p->W ? 0.0 : p->free[i];
    for (int i = 0; i < p->rows; i++) c[i] = 0.0;
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
    pcBlocks* H = pcVelocityBlocks(s->linear);
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
    pcBlocks* H = pcVelocityBlocks(s->linear);
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
    pcCentral* central = pcCentralBegin(s->p, s->linear->own, power, pcVelocityBlocks(s->linear), s->arena);
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

/* ---- what slides ----
 *
 * De Saxce's shift |u_t| makes the problem one without a convex form, and is 0 wherever nothing slides. So contacts that rest are left without it: they obey the
 * relaxation (T 5.7), which is the same law there. It begins with the relaxation of all; what slides in the answer is lifted, and the problem solved
 * again, by the central path of central.c, which hardly turns as long as a few contacts are lifted. What slides then is lifted, too, and so on. Once nothing slides
 * by more than LIFT_FIRST that is not lifted, path.c tries to do the rest; if it does not get there, what slides by a tenth of that is lifted as well, and from then on
 * it tries after every round, of which Newton's method does the last digits first.
 *
 * Of a pile of 1000 that has come down and lies but for a few bodies, 10 to 80 contacts are lifted in one to four rounds of 75 to 120 factorizations (once in a while
 * of 400), and path.c ends at 1e-11 after 12 to 40: 70 to 1300 in all, where the path with all contacts lifted took 2300 to 223,000 in the twelve steps before and left every
 * second one above 1e-10. Where part of it gives way, one contact without its shift less makes others slide, until a thousand are lifted: 5200 to 93,000 in rounds of up to 3000,
 * mostly 8000 to 32,000, to 8e-13 to 9e-9; in two such steps the path with all of them took 61,000 and 65,000, to 3e-9 and 4e-9. A pile that falls and packs slides at a fifth
 * to nearly half of its contacts to begin with, for which lifting is as long a way.
 *
 * Tried as well: what does not slide any more is left without the shift again (in circles of two: what slides without it sticks with it, at one contact in ten; once for each
 * contact, it saves nothing), what slides most first (as many contacts in the end, after more rounds), Newton's method from the answer of the round before (150 steps do not end, even for a
 * single contact more), weights for the path (the same within a half).
 */

static double slipOf(const pcProblem* p, const pcCone* cone, const double* v)
{
    double square = 0.0;
    for (int row = cone->row + 1; row < cone->row + cone->rows; row++) {
        double u = rowTimes(p, row, v) - p->target[row];
        square += u * u;
    }
    return sqrt(square) / p->velocityScale;
}

static bool slides(const Attempt* s, const pcCone* cone, double slip)
{
    return cone->kind == PC_CONE_FRICTION && s->c[cone->row] > 0.0 && slipOf(s->p, cone, s->v) > slip;
}

static bool slidesMuch(const Attempt* s)
{
    int sliding = 0;
    for (int k = 0; k < s->p->cones; k++) sliding += slides(s, s->p->cone + k, LIFT_FIRST);
    return sliding > FEW_SLIDE * s->p->cones;
}

/* How many contacts slide by more than that and are lifted from now on. */
static int liftWhatSlides(const Attempt* s, double slip, bool* lifted)
{
    int more = 0;
    for (int k = 0; k < s->p->cones; k++)
        if (!lifted[k] && slides(s, s->p->cone + k, slip)) lifted[k] = true, more++;
    return more;
}

/* (v, c) := what the relaxation comes to; false: that is no answer. */
static bool relax(Attempt* s)
{
    pcProblem relaxed = *s->p;
    relaxed.coulomb = false;
    pcConeSettings settings = {.tolerance = UNIQUE, .warm = s->settings->warm, .hard = true};
    pcConeInfo info = pcSparseSolve(&relaxed, &settings, s->memory, s->v, s->c);
    s->found.iterations += info.solve.iterations, s->found.restarts += info.solve.fallbacks;
    return info.solve.residual <= RELAXED;
}

static bool followLifted(Attempt* s, const bool* lifted)
{
    size_t mark = pcArenaMark(s->arena);
    pcCentral* central = pcCentralBegin(s->p, s->linear->own, 0.0, pcVelocityBlocks(s->linear), s->arena);
    bool found = false;
    if (central) {
        pcCentralLift(central, lifted);
        found = pcCentralFollow(central, LIFTED_END, CENTRAL_FACTORS, s->v, s->c) > 0.0 || pcCentralAnswer(central, s->v, s->c);
        s->found.iterations += pcCentralFactors(central);
    }
    pcArenaRelease(s->arena, mark);
    return found;
}

/* The rest of the way, from (v, c), which stay where they are if it finds nothing. */
static void tryTheRest(Attempt* s)
{
    size_t mark = pcArenaMark(s->arena);
    Best before = bestNew(s->p, s->arena);
    if (before.v && before.c) {
        bestKeep(&before, s->p, 0.0, s->v, s->c);
        pathFrom(s, REST_FACTORS);
        if (!s->found.converged) bestGive(&before, s->p, s->v, s->c);
    }
    pcArenaRelease(s->arena, mark);
}

/* What the path leaves, about the root of its m, is taken for sliding where that is what is asked for: so it is done away with. */
static void polish(Attempt* s, const bool* lifted)
{
    pcLinear linear = *s->linear;
    pcProximalSettings method = {.tolerance = UNIQUE, .warm = true, .maxIterations = TEPID_LIMIT};
    size_t mark = pcArenaMark(s->arena);
    Best before = bestNew(s->p, s->arena);
    linear.lifted = lifted;
    if (before.v && before.c) {
        bestKeep(&before, s->p, 0.0, s->v, s->c);
        pcProximalInfo info = pcProximalSolve(&linear, &method, s->arena, s->v, s->c);
        s->found.iterations += info.iterations;
        if (!(info.residual <= RELAXED)) bestGive(&before, s->p, s->v, s->c);
    }
    pcArenaRelease(s->arena, mark);
}

/* Whether all is done that lifts are good for, after so many factorizations. */
static bool hasLifted(const Attempt* s, int factors)
{
    return s->found.converged || factors >= (s->best.residual <= NEARLY * s->rough ? LIFT_FACTORS : MOST_LIFT_FACTORS);
}

/* What has been lifted so far. */
typedef struct Lifts {
    bool* lifted; /* per cone */
    int all;
    double slip; /* what slides faster is lifted */
    bool tried;  /* the rest of the way from where it stands */
} Lifts;

/* How many contacts more it is this time, and those that slide more slowly if there are but a few. */
static int liftMore(Attempt* s, Lifts* lifts)
{
    int more = liftWhatSlides(s, lifts->slip, lifts->lifted);
    if (more > 0 && more < FEW_MORE * (lifts->all + more) && lifts->slip > 2.0 * s->rough)
        lifts->slip *= LIFT_NEXT, more += liftWhatSlides(s, lifts->slip, lifts->lifted);
    lifts->all += more;
    return more;
}

/* False: there is nothing left to be done. */
static bool liftAndFollow(Attempt* s, Lifts* lifts)
{
    bool more = liftMore(s, lifts) > 0, finer = lifts->slip < LIFT_FIRST;
    if (more) {
        lifts->tried = false;
        if (!followLifted(s, lifts->lifted)) return false;
        if (finer) polish(s, lifts->lifted);
    }
    if ((!more || finer) && !lifts->tried) tryTheRest(s), lifts->tried = true;
    if (more) return true;
    bool goesOn = lifts->slip > 2.0 * s->rough;
    lifts->slip *= LIFT_NEXT;
    return goesOn;
}

/* True: there is no better answer to be expected from elsewhere. */
static bool byLifts(Attempt* s)
{
    size_t mark = pcArenaMark(s->arena);
    int before = s->found.iterations;
    Lifts lifts = {.lifted = pcArenaNew(s->arena, bool, s->p->cones), .slip = LIFT_FIRST};
    bool goesOn = lifts.lifted && pcCentralApplies(s->p) && relax(s) && !slidesMuch(s);
    while (goesOn && !hasLifted(s, s->found.iterations - before)) goesOn = liftAndFollow(s, &lifts);
    pcArenaRelease(s->arena, mark);
    return s->found.converged || (hasLifted(s, s->found.iterations - before) && s->best.residual <= NEARLY * s->rough);
}

/* ---- one after the other ---- */

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
 * Where paths are followed, they do all this: first from a guess that lacks a few contacts only, then from answers in which only what slides is lifted, then from
 * the inside, then from points ever further along the central path. */
static pcProximalInfo attempt(const pcProblem* p, const pcLinear* linear, const pcConeSettings* settings, pcSolverMemory* memory,
                              double* held, double* v, double* c)
{
    pcArena* arena = &memory->arena;
    double rough = larger(settings->tolerance, settings->rough);
    bool near = settings->warm && settings->hard && !settings->close && !p->coulomb;
    Attempt s = {.p = p, .linear = linear, .settings = settings, .memory = memory, .arena = arena, .held = held, .v = v, .c = c};
    s.rough = s.tolerance = rough, s.found.residual = INFINITY, s.best = bestNew(p, arena);
    if (settings->warm && (settings->close || !settings->hard)) fromGuess(&s);
    bool pathsLead = isLarge(p) && p->coulomb && settings->maxIterations == 0;
    bool done = pathsLead && !s.found.converged && settings->rough == 0.0 && byLifts(&s);
    if (!s.found.converged && (done || !fromInside(&s, near))) {
        if (!s.found.converged && pathsLead && !done) byOtherPaths(&s); /* also where the inside gave no start */
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
