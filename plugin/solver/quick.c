/*
 * A guess of which contacts press and slide, then the linear equations that hold if it is right, and again with what their solution shows.
 *
 *     w       a row's own velocity per impulse;  e = EPS w
 *     sweep   per cone: c := c - u / w, put back into its cone; v follows
 *     piece   of a cone, by c - u / w (Alart and Curnier):      c' =
 *             open       c_n - u_n / w <= 0                     0
 *             sticks     c_g - u_g / w inside its set           c - u'/e
 *             at a bound, a corner d, an end of a row           c_n' d
 *             a row of softness s, within its bounds            (e c - u') / (e + s)
 *             on a side  with middle m and direction t          c_n' m + t (t.c_g - t.u_g'/e)
 *             slides     (disc) along d = (c_g - u_g / w) / |.| c_n' d, and its turning by first order
 *     step    c' = a - G u',  M (v' - f) = J'c':      (M + J'G J) dv = J'(a - G u) - M (v - f)
 *
 * e keeps redundant rows solvable and is undone from step to step: c - u'/e moves until u' is 0. Sweeps find which contacts press and
 * slide long before they find how much: few are enough for boxes at rest, sliding or pushed. Nothing here is certain to end well: a few
 * steps that do not are given up, and the certificate decides.
 */
#include "solver/quick.h"

#include <math.h>
#include <string.h>

#include "base/vec.h"
#include "solver/certificate.h"
#include "solver/pieces.h"

#define SWEEPS 2 /* and a sixth of the blocks' square, as loads travel from block to block; not more than … */
#define CROWD 8  /* … and one more for so many contacts of a block, not more than … */
#define CROWD_SWEEPS 6
#define MOST_SWEEPS 100 /* also from a guess, but then a quarter per block; and one is enough where it moves nothing by more than … */
#define SWEPT 1e-3      /* … of the velocity scale */
#define STEPS_LIMIT 20
#define CHANGES_LIMIT 12 /* steps that end on other pieces than they began with … */
#define FEW_CHANGES 20   /* … where more pieces than this change, and not half as many as in the step before, a step counts for … */
#define HOPELESS 2       /* … so many more */
#define GOAL 0.1         /* of the tolerance: a step that moves less is the last */
#define HOPE 3.0         /* of that: what an error that is not seen may be, … */
#define REST_HOPE 0.1    /* … also at rest, where c will be a guess */
#define SETTLE 1e3       /* e is this much larger in a last step that takes away what 1/e has made of rounding */
#define POLISH 1e2       /* the same, of a world at rest; that is one that needs no more than … */
#define REST_STEPS 3
#define AT_REST 0.1 /* … and moves by no more than this part of the velocity scale */
#define RELAX_STEPS 3
#define ROUGH 1e4 /* residuals up to this many tolerances may be that */

/* Whether nothing moves but what a step is about: gaps that close, and what gravity would have moved. */
static bool rests(const pcPieces* s)
{
    double most = 0.0;
    for (int i = 0; i < s->size; i++) most = larger(most, fabs(s->v[i]));
    return most <= AT_REST * s->p->velocityScale;
}

/* The error of a step that leaves all pieces as they are is smaller than it by about as much as it is smaller than the step before. Where
 * that is less than this part of what is asked for, it need not be seen. */
static double hopeOf(const pcPieces* s, bool warm)
{
    if (!rests(s)) return HOPE;
    return warm ? 0.0 : REST_HOPE; /* the same error in every step would add up */
}

static bool newton(pcPieces* s, double tolerance, bool warm, int* steps)
{
    bool known = false;
    int changes = 0, before = s->places;
    double goal = GOAL * tolerance * s->p->velocityScale, last = 0.0;
    pcPiecesVelocities(s), pcPiecesChoose(s);
    while (*steps < STEPS_LIMIT && changes < CHANGES_LIMIT) {
        double moved = pcPiecesStep(s, &known);
        ++*steps;
        if (!isfinite(moved)) return false;
        if (moved <= goal) return true; /* pieces may still change to and fro where c is on their border */
        int changed = pcPiecesChoose(s);
        if (changed == 0 && before == 0 && moved * moved <= hopeOf(s, warm) * goal * last) return true;
        changes += (changed > 0) + (changed > FEW_CHANGES && 2 * changed > before ? HOPELESS : 0);
        before = changed, last = moved;
    }
    return false;
}

/* ---- The try ------------------------------------------------------------------------------------------------------------------- */

/* v is what c makes of it, so that momentum is kept to rounding. */
static bool passes(pcPieces* s, const pcConeSettings* settings, pcArena* arena, pcCertificate* certificate)
{
    pcPiecesFollow(s);
    for (int k = 0; k < s->p->cones; k++)
        memcpy(s->out + s->p->cone[k].row, s->c + s->start[k], (size_t)s->p->cone[k].rows * sizeof *s->out);
    *certificate = pcCertify(s->p, s->v, s->out, arena);
    return certificate->residual <= settings->tolerance && certificate->momentum <= settings->tolerance;
}

static void soften(pcPieces* s, double factor)
{
    for (int i = 0; i < s->places; i++) s->stiff[i] /= factor;
}

/* The same pieces with a larger e: c has no reason to move any more, but for its rounding. */
static bool settle(pcPieces* s, double larger)
{
    bool known = false;
    soften(s, larger);
    pcPiecesVelocities(s), pcPiecesChoose(s);
    return isfinite(pcPiecesStep(s, &known));
}

static bool settles(pcPieces* s, const pcConeSettings* settings, pcArena* arena, pcCertificate* certificate, int* steps)
{
    if (!(certificate->residual <= ROUGH * settings->tolerance)) return false;
    if (newton(s, settings->tolerance, true, steps) && passes(s, settings, arena, certificate)) return true;
    return settle(s, SETTLE) && passes(s, settings, arena, certificate);
}

static bool isLimited(const pcPieces* s)
{
    bool limit = false;
    for (int i = 0; i < s->places; i++) limit |= s->piece[i] == PC_PIECE_SLIDES;
    return limit;
}

/* At rest, contacts that came to their friction limit on the way there may stay at it, working against each other for nothing; there,
 * every rounding makes them slide. From no friction at all, the least that is needed is found, if that is inside all cones. */
static bool relax(pcPieces* s)
{
    bool known = false;
    if (!isLimited(s)) return false;
    for (int k = 0; k < s->p->cones; k++) {
        for (int i = 1; i < s->p->cone[k].rows; i++) s->c[s->start[k] + i] = 0.0;
    }
    pcPiecesVelocities(s), pcPiecesChoose(s);
    for (int i = 0; i < RELAX_STEPS; i++) {
        if (!isfinite(pcPiecesStep(s, &known))) return false;
        if (pcPiecesChoose(s) > 0) return false;
    }
    return true;
}

/* Where a few steps from a guess were enough, the world is at rest or nearly: then c will be the guess of steps to come, and the further it
 * is from friction limits and the less rounding is in it, the longer it serves. */
static void polish(pcPieces* s, const pcConeSettings* settings, int steps)
{
    size_t size = (size_t)s->places * sizeof *s->c;
    if (!settings->warm || steps > REST_STEPS || !rests(s)) return;
    memcpy(s->kept, s->c, size);
    if (relax(s)) {
        memcpy(s->kept, s->c, size);
    } else {
        memcpy(s->c, s->kept, size);
        pcPiecesFollow(s);
    }
    if (!settle(s, POLISH)) memcpy(s->c, s->kept, size);
}

/* Whether the guess of a world at rest needs no more than one step, with the e that polish() would take for its last. */
static bool stays(pcPieces* s, double tolerance, int* steps)
{
    bool known = false;
    if (!rests(s)) return false;
    soften(s, POLISH);
    pcPiecesVelocities(s), pcPiecesChoose(s);
    bool good = !isLimited(s) && pcPiecesStep(s, &known) <= GOAL * tolerance * s->p->velocityScale && pcPiecesChoose(s) == 0;
    if (!good) soften(s, 1.0 / POLISH);
    ++*steps;
    return good;
}

/* Coulomb's law, blocks with masses of their own, no soft contacts; and nobody counts iterations. */
static bool applies(const pcProblem* p, const pcConeSettings* settings)
{
    if (p->W || p->dense || !p->coulomb || p->rows == 0 || settings->maxIterations > 0) return false;
    for (int k = 0; k < p->cones; k++)
        for (int i = p->cone[k].row; p->cone[k].kind == PC_CONE_FRICTION && i < p->cone[k].row + p->cone[k].rows; i++)
            if (p->soft[i] > 0.0) return false;
    return true;
}

/* The guess: the caller's, or none, and what a few sweeps make of it. */
static void prepare(pcPieces* s, const double* cOrNull)
{
    int few = s->p->blocks < MOST_SWEEPS ? s->p->blocks : MOST_SWEEPS, crowd = s->p->cones / (CROWD * s->p->blocks),
        spread = few * few / 6 + (crowd < CROWD_SWEEPS ? crowd : CROWD_SWEEPS);
    int wanted = cOrNull ? 1 + s->p->blocks / 4 : SWEEPS + spread;
    int sweeps = wanted < MOST_SWEEPS ? wanted : MOST_SWEEPS;
    for (int k = 0; cOrNull && k < s->p->cones; k++)
        memcpy(s->c + s->start[k], cOrNull + s->p->cone[k].row, (size_t)s->p->cone[k].rows * sizeof *s->c);
    pcPiecesFollow(s);
    for (int i = 0; i < sweeps; i++)
        if (pcPiecesSweep(s, i % 2) <= SWEPT * s->p->velocityScale && cOrNull) return;
}

bool pcQuickSolve(const pcProblem* p, const pcConeSettings* settings, pcArena* arena, pcSolveInfo* info, double* v, double* c)
{
    if (!applies(p, settings)) return false;
    pcPieces s;
    pcCertificate certificate;
    size_t mark = pcArenaMark(arena);
    bool good = pcPiecesNew(&s, p, arena);
    if (good) prepare(&s, settings->warm ? c : NULL);
    if (good && !(settings->warm && stays(&s, settings->tolerance, &info->iterations))) {
        good = newton(&s, settings->tolerance, settings->warm, &info->iterations);
        if (good) polish(&s, settings, info->iterations);
    }
    good = good && (passes(&s, settings, arena, &certificate) || settles(&s, settings, arena, &certificate, &info->iterations));
    if (good) {
        memcpy(v, s.v, (size_t)s.size * sizeof *v), memcpy(c, s.out, (size_t)p->rows * sizeof *c);
        info->outcome = PC_SOLVED, info->residual = certificate.residual;
    }
    pcArenaRelease(arena, mark);
    return good;
}
