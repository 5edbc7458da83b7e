/*
 * z >= 0,  w = M z + q >= 0,  z'w = 0      (all in the units of scaled.h)
 *
 *   d      covering vector: w = M z + d z_0 + q is >= 0 for large z_0; a path of almost complementary bases leads to z_0 = 0
 *   y      values of the basic variables: x (z's and z_0) and w;  dy  their response to the entering one (basis.h)
 *   S      the first basis: z_i or w_i for each i. Usually all w; with a guess, z_i where that says so
 *   P      columns B^-1 B_S: how y answers if the i-th variable of S is moved up by eps^i
 *
 * Ratio test: the basic variable that falls to zero first leaves. Several do where contacts touch exactly, so y is taken to be the
 * polynomial y + P (eps, eps^2, ..), which has no ties: compare y, then column by column of P, each divided by -dy. The path then never
 * returns to a basis. It ends with z_0 = 0 (solved) or where nothing falls (a ray).
 */
#include "solver/lemke.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/simd.h"
#include "linalg/panel.h"
#include "solver/basis.h"

/* A response below this, or below this fraction of the largest one, is rounding and does not limit a step. Smaller, and of
 * stacks with corners moved by 0.1 one in fifty pivots on noise and has to start afresh; larger, and what truly falls is overlooked. */
static const double FALLS = 1e-10, FALLS_RELATIVE = 1e-11;
/* How far below zero a step may take a value, relative to the largest one: within that, variables reach zero together. It lets a
 * strong pivot be chosen in place of a weak one that is first by a rounding error. */
static const double TIED = 1e-13;
/* Entries of P, divided by -dy, that differ by less than this are equal. */
static const double SAME = 1e-9;
/* Of tied variables, one whose response is this much smaller than another's stays: its pivot would spoil the inverse. Stacks whose
 * corners are moved by 1e-6 .. 1e-12 fail without this and the line above. */
static const double WEAK = 1e-4;
/* Up to so many tied variables are compared entry by entry; more by whole responses, which cost as much as that many entries. */
enum { TIED_ROWS = 32 };
/* Error of a response at which the inverse is computed anew, and the one at which a fresh inverse is called lost. */
static const double STALE = 1e-10, LOST = 1e-6;
/* Exchanges after which the inverse is computed anew in any case. STALE finds the bad ones at once, so this can be long: 20 costs half as
 * much again as 100, 1000 gains nothing more. */
static const int REFRESH = 100;
/* Steps add up rounding in the values: they are computed from the inverse after this many exchanges, and after each one when z_0 is so
 * small that an error in it could hide the end of the path. */
static const int TIDY = 8;
static const double NEAR_END = 1e-6;
/* Covering entry of rows that a variable without diagonal lifts: the friction rows, by lambda. Large keeps friction out until the normal
 * impulses are found, which halves the pivots (48 contacts: 170 for 340; beyond 32 nothing is gained). */
static const double LIFTED = 32.0;
/* What a ray may miss its conditions by, with its largest entry 1. */
static const double RAY_TOLERANCE = 1e-9;
/* How many covering vectors are tried from the basis of all w, and how many other bases to start from after that. */
static const int COVERS = 3, STARTS = 3;
/* How often a path is continued from its own end while its residual is above this part of the tolerance, see repair(). */
static const int REPAIRS = 2;
static const double GOAL = 0.01;

typedef enum Ending { ENDING_SOLVED, ENDING_RAY, ENDING_LIMIT, ENDING_LOST } Ending;

typedef struct Tied {
    int variable;
    double fall; /* dy */
    double* row; /* see pcBasisRow; NULL: not looked up yet */
} Tied;

typedef struct Path {
    pcScaledLcp* lcp;
    pcBasis basis;
    unsigned char* start; /* S: 1 where z_i is its variable */
    double* cover;        /* d in the basis S, > 0 */
    Tied* tied;
    int* found;           /* room for numbers of theirs */
    double* ratio;        /* one for each of them */
    double* rows;         /* room for TIED_ROWS of theirs */
    double *dx, *dw;      /* room for a second response; dw twice as long as it need be, for residuals */
    double *z, *best, *u; /* this attempt's point, the best one so far, a ray */
    unsigned char* basic; /* flags of the best one */
    double residual;      /* of the best one */
    bool proof, ray;      /* u: see lemke.h */
    double slack;         /* TIED, or less */
    int pivots, limit;
} Path;

/* ---- basic variables ---- */

static bool isBasic(const pcBasis* b, int variable)
{
    int n = b->lcp->n;
    return variable <= n ? b->columnPlace[variable] >= 0 : b->rowPlace[variable - n - 1] < 0;
}

/* The entry of (dx, dw), or (x, w), that belongs to a basic variable. */
static double entry(const pcBasis* b, const double* ofColumns, const double* ofRows, int variable)
{
    int n = b->lcp->n;
    return variable <= n ? ofColumns[b->columnPlace[variable]] : ofRows[variable - n - 1];
}

static double value(const pcBasis* b, int variable) { return entry(b, b->x, b->w, variable); }
static double change(const pcBasis* b, int variable) { return entry(b, b->dx, b->dw, variable); }

static int complement(int n, int variable) { return variable < n ? n + 1 + variable : variable - n - 1; }

static double largestOf(const pcBasis* b, const double* ofColumns, const double* ofRows)
{
    return larger(pcLargest(b->k, ofColumns), pcLargest(b->lcp->n, ofRows));
}

/* ---- ratio test ---- */

typedef struct Falling {
    double threshold; /* dy below this is a fall */
    double slack;     /* how far below zero rounding may take a value */
} Falling;

/* The step at which the first of `count` values y falls below -slack, if that is before `step`. */
PC_SIMD static double firstBelow(int count, const double* y, const double* dy, const Falling* falling, double step)
{
    v4d least = v4Splat(step), threshold = v4Splat(falling->threshold), slack = v4Splat(falling->slack), zero = v4Splat(0.0);
    int i = 0;
    for (; i + 4 <= count; i += 4) {
        v4d fall = v4Load(dy + i), ratio = v4Max(v4Load(y + i) + slack, zero) / -fall;
        least = v4Select((fall < threshold) & (ratio < least), ratio, least);
    }
    step = smaller(smaller(least[0], least[1]), smaller(least[2], least[3]));
    for (; i < count; i++)
        if (dy[i] < falling->threshold) step = smaller(larger(y[i] + falling->slack, 0.0) / -dy[i], step);
    return step;
}

/* Marks those of `count` values y that reach zero up to `step`: their numbers into `found`; returns how many. */
PC_SIMD static int reachZero(int count, const double* y, const double* dy, const Falling* falling, double step, int* found)
{
    v4d threshold = v4Splat(falling->threshold), step4 = v4Splat(step), zero = v4Splat(0.0);
    int i = 0, number = 0;
    for (; i + 4 <= count; i += 4) {
        v4d fall = v4Load(dy + i);
        v4i reached = (fall < threshold) & (v4Load(y + i) + step4 * fall <= zero);
        if (!(reached[0] | reached[1] | reached[2] | reached[3])) continue;
        for (int j = 0; j < 4; j++)
            if (reached[j]) found[number++] = i + j;
    }
    for (; i < count; i++)
        if (dy[i] < falling->threshold && y[i] + step * dy[i] <= 0.0) found[number++] = i;
    return number;
}

/* The variables that reach zero up to `step`, but for weak ones beside stronger ones. */
static int collectTied(Path* path, const Falling* falling, double step)
{
    const pcBasis* b = &path->basis;
    int n = path->lcp->n, count = 0, kept = 0;
    double strongest = 0.0;
    int columns = reachZero(b->k, b->x, b->dx, falling, step, path->found);
    for (int f = 0; f < columns; f++) path->tied[count++] = (Tied){b->column[path->found[f]], b->dx[path->found[f]], NULL};
    int rows = reachZero(n, b->w, b->dw, falling, step, path->found);
    for (int f = 0; f < rows; f++) path->tied[count++] = (Tied){n + 1 + path->found[f], b->dw[path->found[f]], NULL};
    for (int t = 0; t < count; t++) strongest = larger(strongest, -path->tied[t].fall);
    for (int t = 0; t < count; t++)
        if (-path->tied[t].fall >= WEAK * strongest) path->tied[kept++] = path->tied[t];
    return kept;
}

static int removeTied(Tied* tied, int count, int variable)
{
    int kept = 0;
    for (int t = 0; t < count; t++)
        if (tied[t].variable != variable) tied[kept++] = tied[t];
    return kept;
}

/* How the tied ones answer to `variable`, which is nonbasic. To a w by single entries, for which each one's row is looked up once; to a z
 * (of a guessed S), and where very many are tied, by the whole response. */
static void answers(Path* path, int count, int variable, double* answer)
{
    pcBasis second = path->basis;
    second.dx = path->dx, second.dw = path->dw;
    bool whole = variable < path->lcp->n || count > TIED_ROWS;
    if (whole) pcBasisResponse(&second, variable);
    for (int t = 0; t < count; t++) {
        Tied* tied = &path->tied[t];
        if (!whole && !tied->row) {
            tied->row = path->rows + (size_t)t * (size_t)path->basis.ld;
            pcBasisRow(&path->basis, tied->variable, tied->row);
        }
        answer[t] = whole ? change(&second, tied->variable) : pcBasisEntry(&path->basis, tied->variable, tied->row, variable);
    }
}

/* Keeps those of the tied whose entry in the column of P for `variable` (nonbasic) is least per -dy. That column is minus its response. */
static int compareColumn(Path* path, int count, int variable)
{
    double least = INFINITY, *ratio = path->ratio;
    int kept = 0;
    answers(path, count, variable, ratio);
    for (int t = 0; t < count; t++) {
        ratio[t] /= path->tied[t].fall;
        least = smaller(ratio[t], least);
    }
    for (int t = 0; t < count; t++)
        if (ratio[t] <= least + SAME * larger(1.0, fabs(least))) path->tied[kept++] = path->tied[t];
    return kept;
}

/* Leaves one of the tied. */
static int breakTie(Path* path, int count)
{
    int n = path->lcp->n;
    for (int i = 0; i < n && count > 1; i++) {
        int variable = path->start[i] ? i : n + 1 + i;
        if (!isBasic(&path->basis, variable))
            count = compareColumn(path, count, variable);
        else if (change(&path->basis, variable) < 0.0)
            count = removeTied(path->tied, count, variable); /* 1 for itself, if it is one of them, 0 for the others */
    }
    return path->tied[0].variable;
}

enum { NOTHING_FALLS = -1, NOT_KNOWN = -2 }; /* a ray; values that are not numbers */

/* The variable that leaves, or one of the above; *step is how far the entering one grows. */
static int chooseLeaving(Path* path, double* step)
{
    pcBasis* b = &path->basis;
    Falling falling = {-larger(FALLS, FALLS_RELATIVE * largestOf(b, b->dx, b->dw)), path->slack * larger(1.0, largestOf(b, b->x, b->w))};
    double furthest = firstBelow(b->k, b->x, b->dx, &falling, INFINITY);
    furthest = firstBelow(path->lcp->n, b->w, b->dw, &falling, furthest);
    if (isinf(furthest)) return NOTHING_FALLS;
    int count = collectTied(path, &falling, furthest), leave = -1;
    for (int t = 0; t < count; t++)
        if (path->tied[t].variable == path->lcp->n) leave = path->lcp->n; /* z_0 may go: the end of the path */
    if (count == 0) return NOT_KNOWN;
    if (leave < 0) leave = breakTie(path, count);
    *step = larger(value(b, leave), 0.0) / -change(b, leave);
    return leave;
}

/* ---- path ---- */

/* Column n of the problem: in the basis S it reads `cover`, that is  [d]_R = -M_RB cover_B,  d = cover - M_B cover_B elsewhere. */
static void setCover(Path* path)
{
    pcBasis* b = &path->basis;
    memset(b->dw, 0, (size_t)path->lcp->ld * sizeof *b->dw);
    for (int c = 0; c < b->k; c++) b->dx[c] = -path->cover[b->column[c]];
    pcScaledAdd(path->lcp, b->k, b->column, b->dx, b->dw);
    for (int i = 0; i < path->lcp->n; i++)
        if (b->rowPlace[i] < 0) b->dw[i] += path->cover[i];
    pcScaledSetLast(path->lcp, b->dw);
}

/* z_0 enters S at the least value that makes all others >= 0; -1 if they are. Of several the last one leaves: eps^i is least for it. */
static int enterCover(Path* path)
{
    pcBasis* b = &path->basis;
    int n = path->lcp->n, leave = -1;
    double least = 0.0;
    for (int i = 0; i < n; i++) {
        int variable = path->start[i] ? i : n + 1 + i;
        double ratio = value(b, variable) / path->cover[i];
        if (ratio < 0.0 && ratio <= least) least = ratio, leave = variable;
    }
    if (leave < 0) return -1;
    setCover(path);
    pcBasisResponse(b, n);
    pcBasisExchange(b, n, leave, -least);
    path->pivots++;
    return complement(n, leave);
}

static bool refresh(pcBasis* b) { return pcBasisFactor(b) && pcBasisInvert(b); }

/* The response to `enter`, with a new inverse where the old one is worn. */
static bool respond(Path* path, int enter)
{
    pcBasis* b = &path->basis;
    if (b->age >= REFRESH && !refresh(b)) return false;
    double error = pcBasisResponse(b, enter);
    if (error > STALE && b->age > 0) {
        if (!refresh(b)) return false;
        error = pcBasisResponse(b, enter);
    }
    return error <= LOST;
}

static Ending follow(Path* path, int* enter)
{
    pcBasis* b = &path->basis;
    while (path->pivots < path->limit) {
        double step;
        if (!respond(path, *enter)) return ENDING_LOST;
        int leave = chooseLeaving(path, &step);
        if (leave == NOTHING_FALLS && b->age == 0) return ENDING_RAY;
        if (leave == NOTHING_FALLS && refresh(b)) continue; /* a ray is believed to a fresh inverse only */
        if (leave < 0) return ENDING_LOST;
        pcBasisExchange(b, *enter, leave, step);
        path->pivots++;
        if (leave == path->lcp->n) return ENDING_SOLVED;
        if (b->age % TIDY == 0 || b->x[b->columnPlace[path->lcp->n]] < NEAR_END) pcBasisValues(b);
        *enter = complement(path->lcp->n, leave);
    }
    return ENDING_LIMIT;
}

/* ---- what a path has found ---- */

/* Measures z = x without z_0 and keeps it if it is the best so far. */
static double measure(Path* path)
{
    const pcBasis* b = &path->basis;
    int n = path->lcp->n;
    memset(path->z, 0, (size_t)n * sizeof *path->z);
    for (int c = 0; c < b->k; c++)
        if (b->column[c] < n) path->z[b->column[c]] = larger(b->x[c], 0.0);
    double residual = pcScaledResidual(path->lcp, path->z, path->dw);
    if (residual < path->residual) {
        path->residual = residual;
        memcpy(path->best, path->z, (size_t)n * sizeof *path->z);
        for (int i = 0; i < n; i++) path->basic[i] = b->columnPlace[i] >= 0;
    }
    return residual;
}

/* The values of a complementary basis are refined on the data; if the inverse is too worn for that, with a new one. */
static void finish(Path* path, double tolerance)
{
    pcBasisValues(&path->basis);
    if (measure(path) <= GOAL * tolerance || path->basis.age == 0) return;
    if (pcBasisFactor(&path->basis)) measure(path);
}

/* The direction of z, with largest entry 1; false if it has a negative entry. */
static bool takeRay(Path* path, int enter)
{
    const pcBasis* b = &path->basis;
    int n = path->lcp->n;
    double most = 0.0, least = 0.0;
    memset(path->z, 0, (size_t)n * sizeof *path->z);
    if (enter < n) path->z[enter] = 1.0;
    for (int c = 0; c < b->k; c++)
        if (b->column[c] < n) path->z[b->column[c]] = b->dx[c];
    for (int i = 0; i < n; i++) most = larger(most, path->z[i]), least = smaller(least, path->z[i]);
    if (!(most > 0.0) || least < -RAY_TOLERANCE * most) return false;
    for (int i = 0; i < n; i++) path->z[i] = larger(path->z[i], 0.0) / most;
    return true;
}

static double dotColumn(const Path* path, int j)
{
    const double* m = pcScaledColumn(path->lcp, j);
    double sum = 0.0;
    for (int i = 0; i < path->lcp->n; i++) sum += m[i] * path->z[i];
    return sum;
}

/* M'u <= 0 and q'u < 0: u'(M z + q) < 0 for every z >= 0. */
static bool provesInfeasible(const Path* path)
{
    double qu = 0.0;
    for (int i = 0; i < path->lcp->n; i++) qu += path->lcp->q[i] * path->z[i];
    if (!(qu < -RAY_TOLERANCE)) return false;
    for (int j = 0; j < path->lcp->n; j++)
        if (!(dotColumn(path, j) <= RAY_TOLERANCE)) return false;
    return true;
}

/* M u >= 0 and u_i (M u)_i = 0: one of the two factors is. */
static bool staysComplementary(Path* path)
{
    int n = path->lcp->n;
    memset(path->dw, 0, (size_t)path->lcp->ld * sizeof *path->dw);
    for (int j = 0; j < n; j++) pcScaledAdd(path->lcp, 1, &j, path->z + j, path->dw);
    for (int i = 0; i < n; i++)
        if (!(fabs(smaller(path->z[i], path->dw[i])) <= RAY_TOLERANCE)) return false;
    return true;
}

static void judgeRay(Path* path, int enter)
{
    if (!takeRay(path, enter)) return;
    bool proof = provesInfeasible(path), ray = proof || staysComplementary(path);
    if (!ray || (path->ray && !proof)) return;
    path->proof = proof, path->ray = true;
    memcpy(path->u, path->z, (size_t)path->lcp->n * sizeof *path->u);
}

/* ---- attempts ---- */

/* The complementary basis of the guess; columns that depend on the others stay out. */
static void startFromGuess(Path* path, const unsigned char* guess)
{
    pcBasis* b = &path->basis;
    int n = path->lcp->n;
    pcBasisSet(b, guess);
    if (pcBasisFactor(b)) return;
    pcBasisReset(b);
    for (int before = -1; before != b->k;) { /* the zero diagonals of friction become usable once others are in: several rounds */
        before = b->k;
        for (int i = 0; i < n; i++) {
            if (!guess[i] || b->columnPlace[i] >= 0) continue;
            pcBasisResponse(b, i);
            if (fabs(b->dw[i]) > WEAK * larger(1.0, largestOf(b, b->dx, b->dw))) pcBasisExchange(b, i, n + 1 + i, 0.0);
        }
    }
    if (!pcBasisFactor(b)) pcBasisReset(b);
}

/* Numbers in [1, 2) that differ from row to row and from attempt to attempt, not from run to run; the first attempt has all 1. */
static double spread(int attempt, int i)
{
    uint64_t h = ((uint64_t)i + 1u + ((uint64_t)attempt << 32)) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9u;
    return attempt ? 1.0 + (double)((h ^ (h >> 27)) >> 11) * 0x1p-53 : 1.0;
}

static void chooseCover(Path* path, int attempt)
{
    for (int i = 0; i < path->lcp->n; i++) path->cover[i] = (path->lcp->lifted[i] ? LIFTED : 1.0) * spread(attempt, i);
}

/* One path from S = the basis as it is, and what came of it. */
static Ending attempt(Path* path, double tolerance)
{
    for (int i = 0; i < path->lcp->n; i++) path->start[i] = path->basis.columnPlace[i] >= 0;
    int enter = enterCover(path);
    Ending ending = enter < 0 ? ENDING_SOLVED : follow(path, &enter);
    if (ending == ENDING_RAY) judgeRay(path, enter);
    if (ending == ENDING_SOLVED)
        finish(path, tolerance);
    else
        measure(path);
    return ending;
}

static bool makePath(const pcLemke* problem, pcArena* arena, Path* path)
{
    size_t n = (size_t)problem->lcp->n;
    path->lcp = problem->lcp;
    if (!pcBasisMake(path->lcp, arena, &path->basis)) return false;
    path->start = pcArenaRaw(arena, unsigned char, n);
    path->basic = pcArenaNew(arena, unsigned char, n);
    path->tied = pcArenaRaw(arena, Tied, n + 1);
    path->found = pcArenaRaw(arena, int, n + 1);
    path->rows = pcArenaRaw(arena, double, TIED_ROWS*(size_t)path->basis.ld);
    path->ratio = pcArenaRaw(arena, double, n + 1);
    path->dx = pcArenaRaw(arena, double, n + 1);
    path->dw = pcArenaRaw(arena, double, 2 * path->lcp->ld);
    path->best = pcArenaNew(arena, double, n);
    double** vectors[] = {&path->cover, &path->z, &path->u};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) *vectors[i] = pcArenaRaw(arena, double, n);
    path->residual = INFINITY;
    return pcArenaGood(arena);
}

/* The start of an attempt; false if it is the end already, because its point solves the problem. The first goes from the guess, if there
 * is one; then come paths from all w, each with another covering vector; then paths from other bases, because from all w some (games,
 * M >= 0 with a zero diagonal) end at once with every covering vector. */
static bool begin(Path* path, const pcLemke* problem, int number)
{
    const unsigned char* guess = problem->guessOrNull;
    int cold = guess ? number - 1 : number;
    if (cold >= 0 && cold < COVERS) return pcBasisReset(&path->basis), chooseCover(path, cold), true;
    for (int i = 0; cold >= 0 && i < path->lcp->n; i++) path->start[i] = cold == COVERS ? path->lcp->q[i] < 0.0 : spread(cold, i) < 1.5;
    startFromGuess(path, cold < 0 ? guess : path->start);
    if (measure(path) <= problem->tolerance) return false;
    if (!pcBasisInvert(&path->basis)) pcBasisReset(&path->basis);
    return chooseCover(path, 0), true;
}

/* A path ended at a complementary basis that is not quite feasible, because slack let values fall too far: once more from there, with
 * less of it. */
static Ending repair(Path* path, double tolerance, Ending ending)
{
    for (int round = 0; round < REPAIRS && ending == ENDING_SOLVED && path->residual > GOAL * tolerance; round++) {
        path->slack *= 0.01;
        if (!refresh(&path->basis)) break;
        ending = attempt(path, tolerance);
    }
    return ending;
}

/* Paths until one solves the problem or proves that it has no solution. */
static Ending search(Path* path, const pcLemke* problem, int* attempts)
{
    int last = COVERS + STARTS - 1 + (problem->guessOrNull != NULL);
    int total = problem->maxPivots, each = 200 + 5 * path->lcp->n;
    for (*attempts = 0;; ++*attempts) {
        path->slack = TIED;
        if (!begin(path, problem, *attempts)) return ENDING_SOLVED;
        path->limit = total > 0 ? total : path->pivots + each;
        Ending ending = repair(path, problem->tolerance, attempt(path, problem->tolerance));
        bool spent = *attempts == last || (total > 0 && path->pivots >= total);
        if (spent || path->residual <= problem->tolerance || path->proof) return ending;
    }
}

static pcOutcome outcomeOf(const Path* path, double tolerance, Ending ending)
{
    if (path->residual <= tolerance) return PC_SOLVED;
    if (path->ray) return PC_RAY;
    return ending == ENDING_LIMIT ? PC_LIMIT : PC_INACCURATE;
}

/* M'u <= 0 is about rows of M (u = R u'), M u >= 0 about its columns (u = C u'). */
static void writeRay(const Path* path, double* ray)
{
    const double* scale = path->proof ? path->lcp->rowScale : path->lcp->columnScale;
    double most = 0.0;
    for (int i = 0; i < path->lcp->n; i++) ray[i] = scale[i] * path->u[i], most = larger(most, ray[i]);
    for (int i = 0; i < path->lcp->n; i++) ray[i] /= most;
}

pcSolveInfo pcLemkeSolve(const pcLemke* problem, pcArena* arena, double* z, double* rayOrNull)
{
    pcSolveInfo info = {.outcome = PC_LIMIT, .residual = INFINITY};
    Path path = {.residual = INFINITY};
    size_t mark = pcArenaMark(arena);
    memset(z, 0, (size_t)problem->lcp->n * sizeof *z);
    if (problem->basisOrNull) memset(problem->basisOrNull, 0, (size_t)problem->lcp->n);
    if (makePath(problem, arena, &path)) {
        Ending ending = search(&path, problem, &info.fallbacks);
        info.outcome = outcomeOf(&path, problem->tolerance, ending);
        info.iterations = path.pivots, info.residual = path.residual;
        if (!pcScaledGive(path.lcp, path.best, z)) info.residual = INFINITY;
        if (isinf(info.residual) && info.outcome == PC_SOLVED) info.outcome = PC_INACCURATE;
        if (problem->basisOrNull) memcpy(problem->basisOrNull, path.basic, (size_t)problem->lcp->n);
        if (info.outcome == PC_RAY && rayOrNull) writeRay(&path, rayOrNull);
    }
    pcArenaRelease(arena, mark);
    return info;
}
