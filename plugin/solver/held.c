/*
 * Rows that hold one block and nothing else: a body that stays in a plane, or turns about an axis of the world. They leave it a few freedoms,
 * and the problem of these is smaller than that of six numbers and as many rows as take them away again.
 *
 *     A v + s a = t                      the k rows of a block, all FREE, and their impulses a
 *     v = T (z, w),   T'M T = 1          z: the first k numbers, w: the others
 *     A T = (R' 0)                       R upper triangular: Gram and Schmidt of the columns of M^-1 A', then of unit vectors
 *
 * In these numbers the block's momentum M (v - f) = A'a + J'c, J and c of all other rows, is
 *
 *     z - z_f = R a + (J T)_z'c          R'z + s a = t:  these two know nothing of w,
 *     w - w_f = (J T)_w'c                and this is what is left, with mass 1, J := (J T)_w and b := b - (J T)_z z
 *
 * where z is known before c is: because the rows are hard (s = 0: R'z = t), or because no other row sees z ((J T)_z = 0: discs in a plane). Then
 * (R'R + s) a = t - R'z_f and R'z = t - s a, which for s = 0 asks for no a. Blocks where neither is so keep their rows, and so do those whose
 * rows are nearly dependent. At the end R a = z - z_f - (J T)_z'c, so that momentum is kept to rounding, and the certificate of the whole decides.
 */
#include "solver/held.h"

#include <math.h>
#include <string.h>

#include "linalg/mass.h"
#include "linalg/small.h"
#include "solver/certificate.h"
#include "solver/memory.h"
#include "solver/rows.h"

#define DEPENDENT 1e-3 /* sine of the angle between a row and those before it: smaller is no row of its own */
#define UNSEEN 1e-12   /* of a row's size: what it has along z is rounding */

/* T and M T by columns, each column contiguous: T^-1 = (M T)'. */
typedef struct Block {
    int held;   /* k; 0: it keeps all of its rows */
    int row[6]; /* which rows they are */
    bool soft;  /* one of them is */
    double T[36], MT[36], R[36], z[6];
} Block;

typedef struct Held {
    const pcProblem* p;
    Block* block;
    bool* taken; /* per cone: it is one of these rows, or has no block any more */
    pcProblem rest;
    int *pair, *freedoms;
    double *mass, *free, *J, *target, *soft, *v, *c;
    pcCone* cone;
} Held;

/* The block that a row holds, if that is all it does; -1: none. */
static int heldBlock(const pcProblem* p, const pcCone* cone)
{
    const int* block = p->block + 2 * (size_t)cone->row;
    if (cone->kind != PC_CONE_FREE || (block[0] >= 0 && block[1] >= 0)) return -1;
    return block[0] >= 0 ? block[0] : block[1];
}

static bool anyHeld(const pcProblem* p)
{
    for (int k = 0; k < p->cones; k++)
        if (heldBlock(p, p->cone + k) >= 0) return true;
    return false;
}

static const double* sideOf(const pcProblem* p, int row, int block)
{
    return p->J + 12 * (size_t)row + (p->block[2 * (size_t)row] == block ? 0 : 6);
}

/* ---- one block ---- */

static void times(const double* M, const double* x, double* out)
{
    for (int i = 0; i < 6; i++) out[i] = dotSix(M + 6 * i, x);
}

/* Makes x the next column of T, twice over because once leaves rounding; `along` gets its parts along the columns before and what is left. False: nothing is. */
static bool addColumn(Block* b, const double* M, int column, double* x, double along[6])
{
    double Mx[6], whole, left;
    times(M, x, Mx);
    whole = left = dotSix(x, Mx);
    for (int twice = 0; twice < 2; twice++) {
        for (int j = 0; j < column; j++) {
            double part = dotSix(b->T + 6 * j, Mx);
            for (int i = 0; i < 6; i++) x[i] -= part * b->T[6 * j + i];
            along[j] = twice ? along[j] + part : part;
        }
        times(M, x, Mx);
        left = dotSix(x, Mx);
    }
    if (!(left > DEPENDENT * DEPENDENT * whole)) return false;
    along[column] = sqrt(left);
    for (int i = 0; i < 6; i++) b->T[6 * column + i] = x[i] / along[column], b->MT[6 * column + i] = Mx[i] / along[column];
    return true;
}

/* The unit vector of which the columns so far leave the largest part. */
static int freest(const Block* b, const double* M, int columns)
{
    int best = 0;
    double most = -1.0;
    for (int i = 0; i < 6; i++) {
        double left = 1.0;
        for (int j = 0; j < columns; j++) left -= b->MT[6 * j + i] * b->MT[6 * j + i] / M[7 * i];
        if (left > most + 1e-6) most = left, best = i;
    }
    return best;
}

static bool findBasis(const pcProblem* p, const pcMass* mass, int index, Block* b)
{
    const double* M = p->mass + 36 * (size_t)index;
    double x[6], along[6];
    for (int k = 0; k < b->held; k++) {
        memcpy(x, sideOf(p, b->row[k], index), sizeof x);
        pcMassSolveBlock(mass, index, x);
        if (!addColumn(b, M, k, x, b->R + 6 * k)) return false;
    }
    for (int k = b->held; k < 6; k++) {
        memset(x, 0, sizeof x);
        x[freest(b, M, k)] = 1.0;
        if (!addColumn(b, M, k, x, along)) return false;
    }
    return true;
}

/* (R'R + s) a = t - R'z_f; here column j of R is at 6 j. */
static bool softImpulses(const pcProblem* p, const Block* b, const double* zf, double* a)
{
    double A[36];
    for (int i = 0; i < b->held; i++) {
        a[i] = p->target[b->row[i]] - dotSix(b->R + 6 * i, zf);
        for (int j = 0; j < b->held; j++) A[6 * i + j] = dotSix(b->R + 6 * i, b->R + 6 * j);
        A[7 * i] += p->soft[b->row[i]];
    }
    return pcSmallSolve(b->held, A, 6, a, 1, 1);
}

/* R'z = t - s a */
static bool findHeld(const pcProblem* p, int index, Block* b)
{
    double a[6] = {0.0}, zf[6] = {0.0};
    for (int i = 0; i < b->held; i++) zf[i] = dotSix(b->MT + 6 * i, p->free + 6 * (size_t)index);
    if (b->soft && !softImpulses(p, b, zf, a)) return false;
    for (int i = 0; i < b->held; i++) {
        b->z[i] = p->target[b->row[i]] - p->soft[b->row[i]] * a[i];
        for (int j = 0; j < i; j++) b->z[i] -= b->R[6 * i + j] * b->z[j];
        b->z[i] /= b->R[7 * i];
    }
    return true;
}

/* Whether a row has more than rounding along z. */
static bool seesHeld(const Block* b, const double* J)
{
    double seen = 0.0, all = 0.0;
    for (int i = 0; i < 6; i++) {
        double part = dotSix(b->T + 6 * i, J);
        all += part * part;
        if (i < b->held) seen += part * part;
    }
    return seen > UNSEEN * UNSEEN * all;
}

/* ---- what is left ---- */

static bool heldNew(Held* s, pcArena* arena)
{
    size_t blocks = (size_t)s->p->blocks, rows = (size_t)s->p->rows;
    s->block = pcArenaNew(arena, Block, blocks), s->taken = pcArenaNew(arena, bool, s->p->cones);
    s->freedoms = pcArenaRaw(arena, int, blocks), s->mass = pcArenaNew(arena, double, 36 * blocks);
    s->free = pcArenaNew(arena, double, 6 * blocks), s->v = pcArenaNew(arena, double, 6 * blocks);
    s->pair = pcArenaRaw(arena, int, 2 * rows), s->J = pcArenaNew(arena, double, 12 * rows);
    s->target = pcArenaRaw(arena, double, rows), s->soft = pcArenaRaw(arena, double, rows), s->c = pcArenaRaw(arena, double, rows);
    s->cone = pcArenaRaw(arena, pcCone, s->p->cones);
    s->rest = *s->p, s->rest.rows = s->rest.cones = 0;
    s->rest.mass = s->mass, s->rest.free = s->free, s->rest.freedoms = s->freedoms, s->rest.block = s->pair, s->rest.J = s->J;
    s->rest.target = s->target, s->rest.soft = s->soft, s->rest.cone = s->cone;
    return pcArenaGood(arena);
}

static void listRows(Held* s)
{
    const pcProblem* p = s->p;
    for (int k = 0; k < p->cones; k++) {
        int index = heldBlock(p, p->cone + k), row = p->cone[k].row;
        if (index < 0) continue;
        Block* b = s->block + index;
        if (b->held < 6) b->row[b->held] = row;
        b->held++, b->soft |= p->soft[row] > 0.0;
    }
}

/* Soft rows hold a block only as far as they are loaded. */
static void letGoOfSeen(Held* s)
{
    const pcProblem* p = s->p;
    for (int k = 0; k < p->cones; k++) {
        if (heldBlock(p, p->cone + k) >= 0) continue;
        for (int i = 0; i < 2 * p->cone[k].rows; i++) {
            size_t at = 2 * (size_t)p->cone[k].row + (size_t)i;
            Block* b = p->block[at] >= 0 ? s->block + p->block[at] : NULL;
            if (b && b->held && b->soft && seesHeld(b, p->J + 6 * at)) b->held = 0;
        }
    }
}

/* False: there is no block to hold. */
static bool findBlocks(Held* s, pcArena* arena)
{
    pcMass mass;
    bool any = false;
    if (!pcMassFactor(&mass, s->p->blocks, false, s->p->mass, arena)) return false;
    listRows(s);
    for (int i = 0; i < s->p->blocks; i++) {
        Block* b = s->block + i;
        if (b->held == 0) continue;
        if (b->held > 6 || !findBasis(s->p, &mass, i, b) || !findHeld(s->p, i, b)) b->held = 0;
    }
    letGoOfSeen(s);
    for (int i = 0; i < s->p->blocks; i++) any |= s->block[i].held > 0;
    return any;
}

static void addBlock(Held* s, int index)
{
    const Block* b = s->block + index;
    size_t at = 6 * (size_t)index;
    s->freedoms[index] = 6 - b->held;
    if (b->held == 0) {
        memcpy(s->mass + 6 * at, s->p->mass + 6 * at, 36 * sizeof *s->mass);
        memcpy(s->free + at, s->p->free + at, 6 * sizeof *s->free);
        return;
    }
    for (size_t i = 0; i < 6; i++) s->mass[6 * at + 7 * i] = 1.0;
    for (int i = b->held; i < 6; i++) s->free[at + (size_t)(i - b->held)] = dotSix(b->MT + 6 * i, s->p->free + at);
}

/* One side of a row in the numbers that are left. */
static void addSide(Held* s, size_t from, size_t to, int side)
{
    int index = s->p->block[2 * from + (size_t)side];
    const double* J = s->p->J + 12 * from + 6 * side;
    double* out = s->J + 12 * to + 6 * side;
    const Block* b = index >= 0 ? s->block + index : NULL;
    s->pair[2 * to + (size_t)side] = b && b->held == 6 ? -1 : index;
    if (!b) return;
    if (b->held == 0) memcpy(out, J, 6 * sizeof *out);
    for (int i = 0; i < b->held; i++) s->target[to] -= dotSix(b->T + 6 * i, J) * b->z[i];
    for (int i = b->held; b->held && i < 6; i++) out[i - b->held] = dotSix(b->T + 6 * i, J);
}

static bool hasBlock(const Held* s, int row)
{
    for (int side = 0; side < 2; side++) {
        int index = s->p->block[2 * (size_t)row + (size_t)side];
        if (index >= 0 && s->block[index].held < 6) return true;
    }
    return false;
}

static void addCone(Held* s, const pcCone* cone)
{
    s->cone[s->rest.cones] = *cone, s->cone[s->rest.cones++].row = s->rest.rows;
    for (int i = cone->row; i < cone->row + cone->rows; i++, s->rest.rows++) {
        size_t from = (size_t)i, to = (size_t)s->rest.rows;
        s->target[to] = s->p->target[from], s->soft[to] = s->p->soft[from];
        addSide(s, from, to, 0), addSide(s, from, to, 1);
    }
}

static void build(Held* s)
{
    const pcProblem* p = s->p;
    for (int i = 0; i < p->blocks; i++) addBlock(s, i);
    for (int k = 0; k < p->cones; k++) {
        int index = heldBlock(p, p->cone + k);
        s->taken[k] = (index >= 0 && s->block[index].held) || !hasBlock(s, p->cone[k].row);
        if (!s->taken[k]) addCone(s, p->cone + k);
    }
}

/* ---- there and back ---- */

static void takeGuess(Held* s, const double* v, const double* c)
{
    for (int i = 0; i < s->p->blocks; i++) {
        const Block* b = s->block + i;
        size_t at = 6 * (size_t)i;
        if (b->held == 0) memcpy(s->v + at, v + at, 6 * sizeof *v);
        for (int j = b->held; b->held && j < 6; j++) s->v[at + (size_t)(j - b->held)] = dotSix(b->MT + 6 * j, v + at);
    }
    for (int k = 0, row = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        if (s->taken[k]) continue;
        memcpy(s->c + row, c + cone->row, (size_t)cone->rows * sizeof *c), row += cone->rows;
    }
}

static void giveVelocity(const Block* b, const double* w, double* v)
{
    if (b->held == 0) memcpy(v, w, 6 * sizeof *v);
    for (int i = 0; b->held && i < 6; i++) {
        v[i] = 0.0;
        for (int j = 0; j < 6; j++) v[i] += b->T[6 * j + i] * (j < b->held ? b->z[j] : w[j - b->held]);
    }
}

/* R a = T_z'g with g = M (v - f) - J'c */
static void giveImpulses(const Block* b, const double* g, double* c)
{
    double a[6];
    for (int i = b->held - 1; i >= 0; i--) {
        a[i] = dotSix(b->T + 6 * i, g);
        for (int j = i + 1; j < b->held; j++) a[i] -= b->R[6 * j + i] * a[j];
        a[i] /= b->R[7 * i];
        c[b->row[i]] = a[i];
    }
}

/* The answer of the whole; `g` is room for as many numbers as v has. */
static void giveAnswer(const Held* s, double* g, double* v, double* c)
{
    const pcProblem* p = s->p;
    memset(c, 0, (size_t)p->rows * sizeof *c);
    for (int k = 0, row = 0; k < p->cones; k++) {
        const pcCone* cone = p->cone + k;
        if (s->taken[k]) continue;
        memcpy(c + cone->row, s->c + row, (size_t)cone->rows * sizeof *c), row += cone->rows;
    }
    for (int i = 0; i < p->blocks; i++) {
        size_t at = 6 * (size_t)i;
        double moved[6];
        giveVelocity(s->block + i, s->v + at, v + at);
        for (size_t j = 0; j < 6; j++) moved[j] = v[at + j] - p->free[at + j];
        times(p->mass + 6 * at, moved, g + at);
    }
    for (int row = 0; row < p->rows; row++)
        if (c[row] != 0.0) addRow(p, row, -c[row], g);
    for (int i = 0; i < p->blocks; i++) giveImpulses(s->block + i, g + 6 * (size_t)i, c);
}

/* What no row is left for goes on as it would. */
static pcConeInfo solveRest(Held* s, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve)
{
    if (s->rest.cones > 0) return solve(&s->rest, settings, memory, s->v, s->c);
    memcpy(s->v, s->free, 6 * (size_t)s->p->blocks * sizeof *s->v);
    return (pcConeInfo){.solve = {.outcome = PC_SOLVED}, .solver = "held"};
}

static bool solveHeld(Held* s, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info, double* v,
                      double* c)
{
    pcArena* arena = &memory->arena;
    size_t rows = (size_t)s->p->rows, unknowns = 6 * (size_t)s->p->blocks;
    build(s);
    if (settings->warm) takeGuess(s, v, c);
    pcConeInfo found = solveRest(s, settings, memory, solve);
    double *x = pcArenaRaw(arena, double, unknowns), *y = pcArenaRaw(arena, double, rows), *room = pcArenaRaw(arena, double, unknowns);
    if (!pcArenaGood(arena) || found.solve.outcome != PC_SOLVED) return false;
    giveAnswer(s, room, x, y);
    found.certified = true, found.certificate = pcCertify(s->p, x, y, arena), found.solve.residual = found.certificate.residual;
    if (!(pcCertificateOff(&found.certificate) <= settings->tolerance)) return false;
    memcpy(v, x, unknowns * sizeof *v), memcpy(c, y, rows * sizeof *c);
    *info = found;
    return true;
}

bool pcHeldSolve(const pcProblem* p, const pcConeSettings* settings, pcSolverMemory* memory, pcConeSolve* solve, pcConeInfo* info,
                 double* v, double* c)
{
    if (p->W || p->dense || settings->maxIterations > 0 || !anyHeld(p)) return false;
    Held s = {.p = p};
    size_t mark = pcArenaMark(&memory->arena);
    bool good = heldNew(&s, &memory->arena) && findBlocks(&s, &memory->arena) && solveHeld(&s, settings, memory, solve, info, v, c);
    pcArenaRelease(&memory->arena, mark);
    return good;
}
