/*
 * What a problem can be spared.
 *
 * The guess. In a world at rest the impulses of the last step are those of this one. Then v = f + M^-1 J'c and one certificate are all the
 * work. Of such a world that v is rounding: of gaps, by h, and of impulses. Kept, it adds up from step to step, bodies drift with it, and after
 * a few steps the guess is no answer any more; so v = 0 is tried first, and the certificate is asked about it, momentum included. A world at rest
 * then stays where it is, to the bit.
 *
 * Contacts that do not act. Looking ahead finds ten contacts for every one that will press; but a contact with c = 0 is no part of the
 * problem, as long as u~ is in K* without it. So: solve with the contacts that the guess presses or drives together, look at the others
 * with the v that comes out, take in those that are violated, and again from there. The end of it solves the whole problem, not an
 * approximation of it: what was left out has c = 0 and u~ in K*, to the last digit. As long as contacts come in, an answer of a few digits
 * tells which; under Coulomb's law it is off by 5e-3 to 2e-2 of the velocities in a packed pile, so that all are taken in that open more slowly than
 * that. (With those below 1e-3 one step in three lacked a contact at the end, and was solved twice.) What the acting contacts do not tie together is
 * solved group by group, and a group that gets no new contact keeps its answer.
 */
#include "solver/lazy.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/vec.h"
#include "linalg/mass.h"
#include "solver/certificate.h"
#include "solver/memory.h"

#define FEWEST_CONES 64 /* smaller problems are solved at once: contacts that come in round by round cost a stack of 12 five times that */
#define ROUNDS 12       /* then all are taken */
#define ROUGH 1e-4      /* tolerance while contacts come in, … */
#define ROUGHER 0.1     /* … by the relaxation, where the next round begins near this one's answer, but not at it, … */
#define ROUGHEST 0.5    /* … the first of which is to find out no more than who else acts, … */
#define NEARLY 1e-5     /* … so that the last one does so, too, if what it begins at is not as good as this */
#define ROOM 1e-3 /* of the velocity scale: what opens more slowly than this after a rough answer may be pressed after a good one, … */
#define FIRST_ROOM 2e-3   /* … after the first by the relaxation than this, … */
#define COULOMB_ROOM 5e-3 /* … under Coulomb's law than this, … */
#define GUESS_ROOM 3e-3   /* … and before it, with the velocities of the guess, than this */
#define FEW 5e-4          /* of the contacts that are there: so few more are no reason for another rough answer by the relaxation */
#define ROUGH_BLOCKS 40   /* of groups from this size on */
#define SLOW 1e-8         /* of the velocity scale, also of spins: only what moves more slowly with the guess may be at rest; … */
#define REST 1e-10        /* … it is, if the certificate is off by no more than this, whatever the tolerance: slow things shall move */
#define DRIVEN 100.0      /* times the residual that a guess may have, by the velocity scale: faster than this, it is none */
#define MISLED 0.25       /* a guess that drives together more contacts than this part of those that it presses is none */

/* ---- the guess ---- */

static double rowVelocity(const pcProblem* p, int row, const double* v)
{
    const int* block = p->block + 2 * (size_t)row;
    const double* J = p->J + 12 * (size_t)row;
    double u = -p->target[row];
    for (int side = 0; side < 2; side++)
        for (int i = 0; block[side] >= 0 && i < 6; i++) u += J[6 * side + i] * v[6 * (size_t)block[side] + (size_t)i];
    return u;
}

/* v = f + M^-1 J'c */
static bool follow(const pcProblem* p, const double* c, pcArena* arena, double* v)
{
    pcMass mass;
    size_t mark = pcArenaMark(arena), n = 6 * (size_t)p->blocks;
    bool good = pcMassFactor(&mass, p->blocks, false, p->mass, arena);
    memset(v, 0, n * sizeof *v);
    for (int row = 0; row < p->rows; row++) {
        if (c[row] == 0.0) continue;
        for (int side = 0; side < 2; side++) {
            int block = p->block[2 * (size_t)row + (size_t)side];
            const double* J = p->J + 12 * (size_t)row + 6 * side;
            for (int i = 0; block >= 0 && i < 6; i++) v[6 * (size_t)block + (size_t)i] += J[i] * c[row];
        }
    }
    if (good) pcMassSolve(&mass, v);
    for (size_t i = 0; i < n; i++) v[i] = good ? v[i] + p->free[i] : p->free[i];
    pcArenaRelease(arena, mark);
    return good;
}

/* Whether v may be no more than rounding; then it is 0 now. */
static bool comesToRest(const pcProblem* p, double* v)
{
    for (int i = 0; i < 6 * p->blocks; i++)
        if (!(fabs(v[i]) <= SLOW * p->velocityScale)) return false;
    memset(v, 0, 6 * (size_t)p->blocks * sizeof *v);
    return true;
}

/* Whether the guess drives a contact together that it does not press, by so much that no certificate need be asked: its residual is at least half of
 * that. */
static bool drivesTogether(const pcProblem* p, const double* v, const double* c, double least)
{
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = p->cone + k;
        if (cone->kind == PC_CONE_FRICTION && c[cone->row] == 0.0 && rowVelocity(p, cone->row, v) < -least) return true;
    }
    return false;
}

bool pcGuessSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeInfo* info, double* v, const double* c)
{
    if (!settings->warm || p->W || p->dense || !follow(p, c, &memory->arena, v) || !(settings->guess > 0.0)) return false;
    bool rests = comesToRest(p, v);
    if (!rests && drivesTogether(p, v, c, DRIVEN * settings->guess * p->velocityScale)) return false;
    pcCertificate certificate = pcCertify(p, v, c, &memory->arena);
    if (rests && !(pcCertificateOff(&certificate) <= smaller(settings->guess, REST))) {
        follow(p, c, &memory->arena, v);
        certificate = pcCertify(p, v, c, &memory->arena);
    }
    if (!(certificate.residual <= settings->guess && certificate.momentum <= settings->tolerance)) return false;
    *info = (pcConeInfo){.solve = {.outcome = PC_SOLVED, .residual = certificate.residual}, .solver = "guess"};
    info->certified = true, info->certificate = certificate;
    return true;
}

/* ---- contacts that act ---- */

typedef struct Lazy {
    const pcProblem* p;
    const pcConeSettings* settings;
    pcSolverMemory* memory;
    pcConeSolve* solve;
    double *v, *c;
    int* round;       /* per cone: in which it was taken in; 0: not yet */
    int* parent;      /* per block: union-find over the cones that are taken */
    int* start;       /* per block that stands for a group: where its cones begin in `member` … */
    int* member;      /* … which lists them by groups */
    int* local;       /* per block: its number in its group */
    double* residual; /* per block that stands for a group: of its last solution */
    bool* rough;      /* likewise: whether that is no more than a few digits */
    pcOutcome* outcome;
    pcConeInfo* info;
    int largest; /* rows of the largest group */
} Lazy;

static bool lazyNew(Lazy* s, pcArena* arena)
{
    int cones = s->p->cones, blocks = s->p->blocks;
    s->round = pcArenaNew(arena, int, cones), s->member = pcArenaRaw(arena, int, cones);
    s->parent = pcArenaRaw(arena, int, blocks), s->start = pcArenaRaw(arena, int, blocks + 1), s->local = pcArenaRaw(arena, int, blocks);
    s->residual = pcArenaNew(arena, double, blocks), s->outcome = pcArenaNew(arena, pcOutcome, blocks);
    s->rough = pcArenaNew(arena, bool, blocks);
    return pcArenaGood(arena);
}

/* How fast a contact that carries nothing opens, beyond what its law asks for. */
static double opening(const pcProblem* p, const pcCone* cone, const double* v)
{
    double u[PC_CONE_ROWS];
    u[0] = rowVelocity(p, cone->row, v);
    if (p->coulomb || u[0] < 0.0) return u[0];
    for (int i = 1; i < cone->rows; i++) u[i] = rowVelocity(p, cone->row + i, v);
    for (int g = 0; g < cone->groups; g++) u[0] -= pcConeSlip(cone, g, u);
    return u[0];
}

/* What is looked for among all cones, by all threads. */
typedef struct Search {
    Lazy* s;
    int round;
    double room;
    const double *v, *cOrNull;
    _Atomic int acting;
} Search;

static void takeSome(void* context, int begin, int end)
{
    Search* search = context;
    Lazy* s = search->s;
    int acting = 0;
    for (int k = begin; k < end; k++) {
        const pcCone* cone = s->p->cone + k;
        if (s->round[k]) continue;
        double opens = search->round > ROUNDS || cone->kind != PC_CONE_FRICTION ? -1.0 : opening(s->p, cone, search->v);
        bool acts = (search->cOrNull && search->cOrNull[cone->row] > 0.0) || !(opens >= 0.0);
        if (acts || opens < search->room) s->round[k] = search->round;
        acting += acts;
    }
    if (acting > 0) atomic_fetch_add(&search->acting, acting);
}

/* Takes in what acts at v, or carries something in the guess; how many that are. Contacts that open more slowly than `room` may act at a
 * better v: they come in, too, but they alone do not count. */
static int takeIn(Lazy* s, int round, double room, const double* v, const double* cOrNull)
{
    Search search = {.s = s, .round = round, .room = room, .v = v, .cOrNull = cOrNull};
    pcPoolLoop(s->p->pool, takeSome, &search, s->p->cones);
    return atomic_load(&search.acting);
}

static int takenIn(const Lazy* s)
{
    int taken = 0;
    for (int k = 0; k < s->p->cones; k++) taken += s->round[k] > 0;
    return taken;
}

/* Where everything falls on everything, the impulses of the last step drive contacts together that would never act, and with them comes in
 * more than the matrix can bear: its factors took three times as long. */
typedef struct Guess {
    const pcProblem* p;
    const double *v, *c;
    _Atomic int pressed, driven;
} Guess;

static void judgeSome(void* context, int begin, int end)
{
    Guess* guess = context;
    const pcProblem* p = guess->p;
    int pressed = 0, driven = 0;
    for (int k = begin; k < end; k++) {
        const pcCone* cone = p->cone + k;
        if (cone->kind != PC_CONE_FRICTION) continue;
        bool presses = guess->c[cone->row] > 0.0;
        pressed += presses, driven += !presses && !(rowVelocity(p, cone->row, guess->v) >= -ROOM * p->velocityScale);
    }
    atomic_fetch_add(&guess->pressed, pressed), atomic_fetch_add(&guess->driven, driven);
}

static bool misleads(const pcProblem* p, const double* v, const double* c)
{
    Guess guess = {.p = p, .v = v, .c = c};
    pcPoolLoop(p->pool, judgeSome, &guess, p->cones);
    return p->blocks >= ROUGH_BLOCKS && atomic_load(&guess.driven) > MISLED * atomic_load(&guess.pressed);
}

/* ---- groups that hang together ---- */

static int rootOf(int* parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

/* Any block of a cone; -1: it has none. */
static int handleOf(const pcProblem* p, int cone)
{
    const int* block = p->block + 2 * (size_t)p->cone[cone].row;
    return block[0] >= 0 ? block[0] : block[1];
}

static void joinBlocks(Lazy* s)
{
    const pcProblem* p = s->p;
    for (int i = 0; i < p->blocks; i++) s->parent[i] = i;
    for (int k = 0; k < p->cones; k++) {
        const int* block = p->block + 2 * (size_t)p->cone[k].row;
        if (!s->round[k] || block[0] < 0 || block[1] < 0) continue;
        int a = rootOf(s->parent, block[0]), b = rootOf(s->parent, block[1]);
        if (a != b) s->parent[a < b ? b : a] = a < b ? a : b;
    }
}

/* Cones by the root of their group, in their order. A cone without blocks has nothing to decide. */
static void listMembers(Lazy* s)
{
    const pcProblem* p = s->p;
    memset(s->start, 0, ((size_t)p->blocks + 1) * sizeof *s->start);
    for (int k = 0; k < p->cones; k++)
        if (s->round[k] && handleOf(p, k) >= 0) s->start[rootOf(s->parent, handleOf(p, k)) + 1]++;
    for (int i = 0; i < p->blocks; i++) s->start[i + 1] += s->start[i], s->local[i] = s->start[i];
    for (int k = 0; k < p->cones; k++)
        if (s->round[k] && handleOf(p, k) >= 0) s->member[s->local[rootOf(s->parent, handleOf(p, k))]++] = k;
}

/* The problem of one group. */
typedef struct Group {
    pcProblem part;
    int* where; /* per block of it: which one of all */
    int* freedoms;
    double *mass, *free, *v, *c;
    int* block;
    double *J, *target, *soft;
    pcCone* cone;
} Group;

static bool groupNew(Group* g, const Lazy* s, const int* member, int cones, pcArena* arena)
{
    size_t rows = 0, blocks;
    for (int i = 0; i < cones; i++) rows += (size_t)s->p->cone[member[i]].rows;
    blocks = 2 * (size_t)cones < (size_t)s->p->blocks ? 2 * (size_t)cones : (size_t)s->p->blocks;
    *g = (Group){.part = *s->p};
    g->where = pcArenaRaw(arena, int, blocks), g->mass = pcArenaRaw(arena, double, 36 * blocks);
    g->free = pcArenaRaw(arena, double, 6 * blocks), g->v = pcArenaRaw(arena, double, 6 * blocks);
    g->block = pcArenaRaw(arena, int, 2 * rows), g->J = pcArenaRaw(arena, double, 12 * rows);
    g->target = pcArenaRaw(arena, double, rows), g->soft = pcArenaRaw(arena, double, rows), g->c = pcArenaRaw(arena, double, rows);
    g->cone = pcArenaRaw(arena, pcCone, cones);
    if (s->p->freedoms) g->part.freedoms = g->freedoms = pcArenaRaw(arena, int, blocks);
    g->part.blocks = g->part.rows = 0, g->part.cones = cones;
    g->part.mass = g->mass, g->part.free = g->free, g->part.block = g->block, g->part.J = g->J;
    g->part.target = g->target, g->part.soft = g->soft, g->part.cone = g->cone;
    return pcArenaGood(arena);
}

static void addBlock(Group* g, const Lazy* s, int block)
{
    size_t from = (size_t)block, to = (size_t)g->part.blocks;
    if (block < 0 || s->local[block] >= 0) return;
    s->local[block] = g->part.blocks, g->where[g->part.blocks++] = block;
    if (g->freedoms) g->freedoms[to] = s->p->freedoms[from];
    memcpy(g->mass + 36 * to, s->p->mass + 36 * from, 36 * sizeof *g->mass);
    memcpy(g->free + 6 * to, s->p->free + 6 * from, 6 * sizeof *g->free);
    memcpy(g->v + 6 * to, s->v + 6 * from, 6 * sizeof *g->v);
}

static void addCone(Group* g, const Lazy* s, int index, int at)
{
    const pcProblem* p = s->p;
    const pcCone* cone = p->cone + index;
    const int* block = p->block + 2 * (size_t)cone->row;
    size_t from = (size_t)cone->row, to = (size_t)g->part.rows, rows = (size_t)cone->rows;
    addBlock(g, s, block[0]), addBlock(g, s, block[1]);
    g->cone[at] = *cone, g->cone[at].row = g->part.rows;
    for (size_t i = 0; i < 2 * rows; i++) g->block[2 * to + i] = block[i % 2] >= 0 ? s->local[block[i % 2]] : -1;
    memcpy(g->J + 12 * to, p->J + 12 * from, 12 * rows * sizeof *g->J);
    memcpy(g->target + to, p->target + from, rows * sizeof *g->target);
    memcpy(g->soft + to, p->soft + from, rows * sizeof *g->soft);
    memcpy(g->c + to, s->c + from, rows * sizeof *g->c);
    g->part.rows += cone->rows;
}

static void takeAnswer(Lazy* s, const Group* g, const int* member, int root, const pcConeInfo* info)
{
    for (int i = 0; i < g->part.blocks; i++) memcpy(s->v + 6 * (size_t)g->where[i], g->v + 6 * (size_t)i, 6 * sizeof *g->v);
    for (int i = 0; i < g->part.cones; i++)
        memcpy(s->c + s->p->cone[member[i]].row, g->c + g->cone[i].row, (size_t)g->cone[i].rows * sizeof *g->c);
    s->info->solve.iterations += info->solve.iterations, s->info->solve.fallbacks += info->solve.fallbacks;
    if (g->part.rows > s->largest) s->largest = g->part.rows, s->info->solver = info->solver;
    s->residual[root] = info->solve.residual, s->outcome[root] = info->solve.outcome;
}

static double roughOf(bool coulomb, int round) { return coulomb ? ROUGH : round == 1 ? ROUGHEST : ROUGHER; }

/* The group of a root, if anything has come in since it was solved, or if its answer is rough and that is not enough any more. */
static bool solveGroup(Lazy* s, int root, int round, bool last)
{
    const int* member = s->member + s->start[root];
    int cones = s->start[root + 1] - s->start[root];
    bool changed = last && s->rough[root];
    Group g;
    for (int i = 0; i < cones; i++) changed |= s->round[member[i]] == round;
    if (!changed) return true;
    size_t mark = pcArenaMark(&s->memory->arena);
    bool good = groupNew(&g, s, member, cones, &s->memory->arena);
    for (int i = 0; good && i < cones; i++) addCone(&g, s, member[i], i);
    if (good) {
        pcConeSettings inner = *s->settings;
        bool coulomb = s->p->coulomb;
        inner.warm |= round > 1, inner.rough = !last && g.part.blocks >= ROUGH_BLOCKS ? roughOf(coulomb, round) : 0.0;
        /* The relaxation is convex: from a few digits Newton's method finds the others. Under Coulomb's law it goes astray from there. */
        inner.close = last && (!s->rough[root] || (!coulomb && s->residual[root] <= NEARLY));
        /* From the guess of another step it finds nothing in the few steps that it is given. */
        inner.hard = (round > 1 || !coulomb) && g.part.blocks >= ROUGH_BLOCKS;
        pcConeInfo info = s->solve(&g.part, &inner, s->memory, g.v, g.c);
        takeAnswer(s, &g, member, root, &info);
        s->rough[root] = inner.rough > 0.0 && !(info.solve.residual <= inner.tolerance);
        for (int i = 0; i < g.part.blocks; i++) s->local[g.where[i]] = -1;
    }
    pcArenaRelease(&s->memory->arena, mark);
    return good;
}

static bool solveGroups(Lazy* s, int round, bool last)
{
    bool good = true;
    joinBlocks(s), listMembers(s);
    for (int i = 0; i < s->p->blocks; i++) s->local[i] = -1;
    for (int i = 0; i < s->p->blocks && good; i++)
        if (s->start[i + 1] > s->start[i]) good = solveGroup(s, i, round, last);
    return good;
}

static bool anyRough(const Lazy* s)
{
    for (int i = 0; i < s->p->blocks; i++)
        if (s->start[i + 1] > s->start[i] && s->rough[i]) return true;
    return false;
}

/* What nothing acts on goes on as it would; and the guess of what is left out is none. */
static void begin(Lazy* s, bool warm)
{
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        if (!warm || !s->round[k]) memset(s->c + cone->row, 0, (size_t)cone->rows * sizeof *s->c);
    }
    for (int i = 0; i < 6 * s->p->blocks; i++) s->v[i] = warm ? s->v[i] : s->p->free[i];
    s->info->solve = (pcSolveInfo){.outcome = PC_SOLVED};
}

static void end(Lazy* s)
{
    for (int i = 0; i < s->p->blocks; i++) {
        if (s->start[i + 1] == s->start[i]) continue;
        s->info->solve.residual = larger(s->info->solve.residual, s->residual[i]);
        if (s->outcome[i] > s->info->solve.outcome) s->info->solve.outcome = s->outcome[i];
    }
}

bool pcLazySolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info,
                 double* v, double* c)
{
    if (p->W || p->dense || p->cones < FEWEST_CONES || settings->maxIterations > 0) return false;
    Lazy s = {.p = p, .settings = settings, .memory = memory, .solve = solve, .v = v, .c = c, .info = info};
    size_t mark = pcArenaMark(&memory->arena);
    bool good = lazyNew(&s, &memory->arena), warm = settings->warm && !misleads(p, v, c);
    pcConeSettings own = *settings;
    own.warm = warm, s.settings = &own;
    double guessRoom = warm && !p->coulomb ? GUESS_ROOM * p->velocityScale : 0.0;
    if (good) takeIn(&s, 1, guessRoom, warm ? v : p->free, warm ? c : NULL), begin(&s, warm);
    bool last = false; /* next to nothing came in with rough answers: now to the last digit, as is what comes in after that */
    for (int round = 1, more = 1; good && (more || !last); round++) {
        last |= !more || (round > 1 && !p->coulomb && more <= FEW * takenIn(&s));
        good = solveGroups(&s, round, last);
        double room = last || !anyRough(&s) ? 0.0 : p->coulomb ? COULOMB_ROOM : round == 1 ? FIRST_ROOM : ROOM;
        more = good ? takeIn(&s, round + 1, room * p->velocityScale, v, NULL) : 0;
    }
    if (good) end(&s);
    pcArenaRelease(&memory->arena, mark);
    return good;
}
