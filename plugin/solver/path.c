/*
 * Coulomb's law in large piles, where Newton's method alone runs in circles: then its path is followed, piece by piece.
 *
 *     round    c = law(a),  a = r - E^-1 u:      F(v) = J'c - M (v - f) = 0;      then r := c, and again, until E (c - r) = -u is nothing
 *     E        eps times the row's own velocity per impulse, smaller from round to round
 *     law      (Alart and Curnier)   open     a_n <= 0                c = 0
 *                                    sticks   |a_t| <= a_n            c = a
 *                                    slides   otherwise               c = a_n (1, d),  d = a_t / |a_t|
 *     Newton   (M + J'G J) dv = F,  G = -dc/du;  shortened until |F| is less
 *     path     F(v) = l F(v_0), l from 1 to 0: where Newton finds no shorter F, v goes on along the same direction to the border of the
 *              piece it is on, and from there by the matrix of the next one. Where the determinant changes its sign from piece to piece
 *              the path turns back, and l grows for a while: as Lemke's method goes on.
 *     G        changes by x y' in one cone where a border is crossed:
 *              open -> slides    x = (1, d),  y = (1/e_n, 0)            slides -> sticks    x = (0, d),  y = (-1/e_n, d/e_t)
 *              so that (H + X Y')^-1 = H^-1 - Z S^-1 Y'H^-1 with Z = H^-1 X, S = 1 + Y'Z: one solution per border in place of a
 *              factorization. That d turns meanwhile is left out of G; after RANK borders, or a turn of TURN, H is made anew.
 *
 * Why this law and not that of cone.c: De Saxce's shift |u_t| has its kink where contacts stick, which is where most of them end; here
 * sticking is linear. Why rounds: contacts of a pile all but contradict each other, and what they hold back falls with eps; a path is
 * short and hardly turns where eps is large, so that eps goes down while paths stay short, and up where one does not end. It goes down
 * slowly: a pile that flows slips by 1 m/s here and by 1e-9 there, with as many contacts in every decade between, and whoever comes down
 * decade by decade finds which of them slip. By steps ten times as large, falling piles take a
 * fifth more factorizations, and fewer of the packed ones end.
 *
 * Contacts that contradict each other by a little hold back the same in every round, while impulses grow until one of them gives way. The
 * centre r is then moved along that drift to the first border, and eps stays. Where they contradict each other by hardly more than the tolerance, nothing need give
 * way: rounds leave the least in the mean, by E; a smaller E where most is left leaves the least at most, which is down to half of that. Of 16 steps of a packed pile
 * that central.c had left at 1.0e-10 to 3e-9, eight then end within 1e-10, after 5 to 100 factorizations, where it had gone on for thousands.
 *
 * Of a pile of 1000 that falls, with 500 to 970 bodies and 1500 to 3500 acting contacts in one group, the start of interior.c leaves 1e-3 to
 * 1e-5. From there 100 to 700 factorizations lead below 1e-10. When the pile has landed and packs (3000 contacts, half of them sticking) that is
 * as good as chance, and where 150 in a row have not halved what is left, it begins anew from points of the central path (central.c): from one of them,
 * 30 to 150 are enough. At the end there are about as many equations as unknowns, three for every
 * contact that sticks and one for every one that slides, 5770 for 961 bodies, and at the start of interior.c 7100: hundreds of contacts have to
 * give way, one after the other. From an answer that lacks two contacts 40 are enough where it took 900 from the inside.
 *
 * proximal.c takes as many from the same starts in a falling pile, and ends at
 * 4e-11 to 2e-9. Tried as well: a factorization at every border (the same path, four times the time), no path (rounds fail until eps is so
 * large that nothing moves), going on along paths that turn many times (twice as long, no better), starts from the relaxation (1e-5 where this ends
 * at 1e-8) or from the impulses of the step before (as many factorizations), Newton's method on the slips alone
 * with the relaxation solved in each step (T 5.17; the map expands by 1.6 per pass, and 4000 factorizations end at 1e-6), a few contacts
 * solved exactly by Lemke's method with the others on their pieces (mostly there is no such solution), Anderson's method on r (it drifts by
 * a constant, which that cannot see), r moved from border to border by changes of rank one with F = 0 all the way (ten times the borders in
 * the same time, and as often in circles), targets moved from what holds at the start to what shall hold (20,000 borders, half of them turns,
 * for 2 % of the way), eps from 1 downward with r = 0 (it turns back at 1e-2 to 1e-3), no targets below 1e-6 to 1e-3 m/s (as many), weights
 * of chance for E (as many), going back to the best round so far where rounds lead away from it (fewer end), the alternating direction method of
 * multipliers with the same law, whose matrix is factored once (2000 passes, 0.3 to 0.6 s, lead a falling pile to 1e-6 to 5e-6; in a packed one it wanders about
 * between 1e-5 and 1e-4 for 100,000 passes, whatever its weight, and starts from there are no better), three times the patience (eight of 40 packed
 * problems then end, after 600 to 1600 factorizations, which costs the others more than it saves), starts from relaxations with the slips of the pass before (T 5.17;
 * plain passes run in circles at 1e-2 of the velocities, those that go half of the way lead to 1e-3 in 20 passes and to 1e-4 in 200, and then wander about; of 12 problems
 * that the inside does not solve, 6 end from the first such start, but all together take a sixth more factorizations than by central.c at once).
 *
 * Gauss and Seidel's method, contact by contact and each exactly, is the one that never goes astray in a packed pile, and never gets there: 1.4e-2 after 200 sweeps (0.1 s), 2e-4 after 10,000, 8e-5
 * after 20,000, 9e-6 after 320,000, at 0.5 ms each. Impulses of nets that contradict each other grow by the same in every sweep; so four fifths of the last change added to each sweep make it five to ten
 * times as quick down to 1e-4 (19 of 20 parts: it diverges), and Anderson's method, which takes away what stays the same, makes it slower. Starts from 1e-4 to 5e-5 lead this file to 2e-5, no further than
 * others do. A step of Newton's method on the pieces after every few sweeps, as long as it helps: half as quick as adding a part of the change. Clusters of 30 to 250 bodies around the contact that is
 * furthest off, solved exactly one after the other: each ends, but on another of its solutions, so that the whole does not. Rounds whose eps goes up and down so that each takes four factorizations at
 * most: of eight packed problems two end at 1e-10, after 6500 and 18,000, the others stand between 1e-7 and 1e-6 after 20,000 to 30,000: as long as central.c takes, and less often.
 */
#include "solver/path.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "base/vec.h"
#include "linalg/dense.h"
#include "linalg/panel.h"
#include "solver/rows.h"
#include "solver/stiffness.h"

#define B PC_BLOCK
#define EPS_FIRST 1e-2
#define EPS_LEAST 1e-10
#define EPS_MOST 1e2
#define ENOUGH 0.95    /* of the tolerance, but for rounding, … */
#define SETTLED 0.7    /* … where a last round does away with most of that */
#define ROUND_LIMIT 40 /* factorizations of one round */
#define LONGEST 4      /* times the patience, in all */
#define HALVINGS 5     /* of a Newton step; then the path is followed */
#define RANK 32        /* borders with one H */
#define TURN 0.3       /* of d, radians */
#define TURNS 5        /* borders on the way back: a path with more of them is given up */
#define CHORD 0.1      /* a step that leaves less than this of F, on the same pieces, may be followed by one with the same H */
#define COARSE 0.01    /* a full step that moves less than this part of what E holds back ends a round: the next one moves more */
#define ENDLESS 1e30
#define SAME 0.7    /* what is held back, from round to round; … */
#define FEW 4       /* … pieces that changed meanwhile: then contacts drift */
#define BEYOND 1.01 /* the border, by so much */
#define NEARLY 5.0  /* tolerances that drifting contacts hold back at most are spread over all that contradict each other, … */
#define SPREADS 30  /* … so many times at most, … */
#define MUCH 0.8    /* … from where there is more than this part of the most … */
#define LESS 0.8    /* … by this */

enum { OPEN, SLIDES, STICKS, LOW, HIGH };

typedef struct Path {
    const pcProblem* p;
    pcBlocks* H;
    const double* own;
    double *e, *r, *v, *u, *a, *c, *F, *G; /* c, F and G of v and the pieces */
    double* share;                         /* per row: of what contradicts, 1 to begin with; E is less where it is */
    int *piece, *offset;
    double *dv, *du, *da; /* where to go */
    double *v0, *u0, *a0; /* where a step began */
    int* piece0;
    double *at, *Z, *S, *w, *dv0; /* of the path: a where H was made, H^-1 X, 1 + Y'Z and its factors, S^-1 Y'H^-1 F, H^-1 F */
    int *pivots, rank, cone[RANK];
    double x[RANK][3], y[RANK][3];
    bool known; /* H is that of the present pieces */
    int factors, turns;
    const pcTouching* touching;
    double t;               /* of a loop: how far to go, or at most */
    struct Border* partial; /* what a loop over cones or blocks finds, by its chunks */
} Path;

/* The nearest border, or another number. */
typedef struct Border {
    double t;
    int cone, beyond;
} Border;

static void overCones(Path* s, pcLoopBody* body) { pcPoolLoop(s->p->pool, body, s, s->p->cones); }
static void overBlocks(Path* s, pcLoopBody* body) { pcPoolLoop(s->p->pool, body, s, s->p->blocks); }

static double largestOf(const Path* s, int count)
{
    double most = 0.0;
    for (int i = 0; i < pcChunks(count); i++) most = larger(most, s->partial[i].t);
    return most;
}

/* One beyond the last row of a cone. */
static int endOf(const pcCone* cone) { return cone->row + cone->rows; }

static bool applies(const pcProblem* p)
{
    for (int k = 0; k < p->cones; k++) {
        const pcCone* cone = p->cone + k;
        bool soft = false;
        for (int i = 0; i < cone->rows; i++) soft |= p->soft[cone->row + i] > 0.0;
        if (cone->kind == PC_CONE_FRICTION && (soft || cone->groups > 1 || cone->edges > 0 || cone->rows > 3)) return false;
    }
    return p->coulomb && !p->W && !p->dense;
}

static bool allocate(Path* s, pcArena* arena)
{
    size_t rows = (size_t)s->p->rows, cones = (size_t)s->p->cones, size = B * (size_t)s->p->blocks;
    int all = 0;
    s->offset = pcArenaNew(arena, int, cones + 1);
    if (!s->offset) return false;
    for (size_t k = 0; k < cones; k++) s->offset[k] = all, all += s->p->cone[k].rows * s->p->cone[k].rows;
    double** perRow[] = {&s->e, &s->share, &s->r, &s->u, &s->a, &s->c, &s->du, &s->da, &s->u0, &s->a0, &s->at};
    double** perUnknown[] = {&s->v, &s->F, &s->dv, &s->v0, &s->dv0};
    for (size_t i = 0; i < sizeof perRow / sizeof *perRow; i++) *perRow[i] = pcArenaNew(arena, double, rows);
    for (size_t i = 0; i < sizeof perUnknown / sizeof *perUnknown; i++) *perUnknown[i] = pcArenaNew(arena, double, size);
    s->G = pcArenaNew(arena, double, all), s->piece = pcArenaNew(arena, int, cones), s->piece0 = pcArenaNew(arena, int, cones);
    s->Z = pcArenaNew(arena, double, RANK* size), s->S = pcArenaNew(arena, double, 2 * RANK * RANK), s->w = pcArenaNew(arena, double, RANK);
    s->pivots = pcArenaNew(arena, int, RANK);
    for (size_t i = 0; s->share && i < rows; i++) s->share[i] = 1.0;
    s->partial = pcArenaNew(arena, Border, pcChunks(s->p->cones) + pcChunks(s->p->blocks));
    return pcArenaGood(arena);
}

static void setWeights(Path* s, double eps)
{
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        double mean = 0.0;
        for (int i = 1; i < cone->rows; i++) mean += s->own[cone->row + i] / (cone->rows - 1);
        for (int i = 0; i < cone->rows; i++) s->e[cone->row + i] = eps * s->share[cone->row + i] * (i ? mean : s->own[cone->row]);
    }
    s->known = false;
}

/* ---- the law ---- */

static double tailOf(int rows, const double* x) { return rows < 2 ? 0.0 : rows < 3 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]); }

/* c per a of a row without cone: it may be soft. */
static double yielding(const Path* s, int row) { return s->e[row] / (s->e[row] + s->p->soft[row]); }

static int pieceOf(const Path* s, const pcCone* cone)
{
    const double* a = s->a + cone->row;
    if (cone->kind == PC_CONE_FRICTION) return a[0] <= 0.0 ? OPEN : tailOf(cone->rows, a) <= a[0] ? STICKS : SLIDES;
    double c = yielding(s, cone->row) * a[0];
    return cone->kind == PC_CONE_FREE ? STICKS : c <= cone->lo ? LOW : c >= cone->hi ? HIGH : STICKS;
}

/* How many changed. */
static int choosePieces(Path* s)
{
    int changed = 0;
    for (int k = 0; k < s->p->cones; k++) {
        int piece = pieceOf(s, s->p->cone + k);
        changed += piece != s->piece[k];
        s->piece[k] = piece;
    }
    return changed;
}

static void coneAnswer(Path* s, int k)
{
    const pcCone* cone = s->p->cone + k;
    int n = cone->rows, row = cone->row, piece = s->piece[k];
    const double *a = s->a + row, *e = s->e + row;
    double *c = s->c + row, *G = s->G + s->offset[k];
    memset(G, 0, (size_t)(n * n) * sizeof *G), memset(c, 0, (size_t)n * sizeof *c);
    if (cone->kind != PC_CONE_FRICTION) {
        c[0] = piece == LOW ? cone->lo : piece == HIGH ? cone->hi : yielding(s, row) * a[0];
        if (piece == STICKS) G[0] = 1.0 / (e[0] + s->p->soft[row]);
    } else if (piece == STICKS) {
        for (int i = 0; i < n; i++) c[i] = a[i], G[i * n + i] = 1.0 / e[i];
    } else if (piece == SLIDES) {
        double length = tailOf(n, a), d[3] = {0.0}, turn = a[0] / (length * e[1]);
        c[0] = a[0], G[0] = 1.0 / e[0];
        for (int i = 1; i < n; i++) d[i] = a[i] / length, c[i] = a[0] * d[i], G[i * n] = d[i] / e[0];
        if (n == 3) G[4] = turn * d[2] * d[2], G[8] = turn * d[1] * d[1], G[5] = G[7] = -turn * d[1] * d[2];
    }
}

static void answerCones(void* context, int begin, int end)
{
    for (int k = begin; k < end; k++) coneAnswer(context, k);
}

PC_SIMD static void balance(void* context, int begin, int end)
{
    Path* s = context;
    const pcProblem* p = s->p;
    double sum = 0.0;
    for (int b = begin; b < end; b++) {
        double moved[B], *F = s->F + B * b;
        const double* mass = p->mass + PC_BLOCK_SIZE * (size_t)b;
        for (int i = 0; i < B; i++) moved[i] = p->free[B * b + i] - s->v[B * b + i];
        for (int i = 0; i < B; i++) F[i] = dotSix(mass + B * i, moved);
        addTouching(p, s->touching, b, 1.0, NULL, s->c, F);
        for (int i = 0; i < B; i++) sum += F[i] * F[i] / mass[i * (B + 1)];
    }
    s->partial[begin / PC_CHUNK].t = sum;
}

/* c, G and F = J'c - M (v - f); returns |F|. */
static double evaluate(Path* s)
{
    double sum = 0.0;
    overCones(s, answerCones);
    overBlocks(s, balance);
    for (int i = 0; i < pcChunks(s->p->blocks); i++) sum += s->partial[i].t;
    return sqrt(sum);
}

/* ---- moving ---- */

PC_SIMD static void findArguments(void* context, int begin, int end)
{
    Path* s = context;
    for (int i = s->p->cone[begin].row; i < endOf(s->p->cone + end - 1); i++)
        s->u[i] = rowTimes(s->p, i, s->v) - s->p->target[i], s->a[i] = s->r[i] - s->u[i] / s->e[i];
}

static void arguments(Path* s) { overCones(s, findArguments); }

static void keepPlace(Path* s)
{
    size_t rows = (size_t)s->p->rows * sizeof(double);
    memcpy(s->v0, s->v, (size_t)(B * s->p->blocks) * sizeof(double)), memcpy(s->piece0, s->piece, (size_t)s->p->cones * sizeof(int));
    memcpy(s->u0, s->u, rows), memcpy(s->a0, s->a, rows);
}

static void moveCones(void* context, int begin, int end)
{
    Path* s = context;
    for (int i = s->p->cone[begin].row; i < endOf(s->p->cone + end - 1); i++)
        s->u[i] = s->u0[i] + s->t * s->du[i], s->a[i] = s->a0[i] + s->t * s->da[i];
}

static void moveBy(Path* s, double t)
{
    s->t = t;
    overCones(s, moveCones);
    for (int i = 0; i < B * s->p->blocks; i++) s->v[i] = s->v0[i] + t * s->dv[i];
}

PC_SIMD static void followCones(void* context, int begin, int end)
{
    Path* s = context;
    double most = 0.0;
    for (int i = s->p->cone[begin].row; i < endOf(s->p->cone + end - 1); i++) {
        s->du[i] = rowTimes(s->p, i, s->dv), s->da[i] = -s->du[i] / s->e[i];
        most = larger(most, fabs(s->du[i]));
    }
    s->partial[begin / PC_CHUNK].t = most;
}

/* du and da of dv; the largest du, in units of velocity. */
static double follow(Path* s)
{
    overCones(s, followCones);
    return largestOf(s, s->p->cones) / s->p->velocityScale;
}

static bool factor(Path* s)
{
    s->factors++, s->rank = 0;
    memcpy(s->at, s->a, (size_t)s->p->rows * sizeof *s->at);
    return s->known = pcStiffnessFactor(s->p, s->G, s->offset, s->H);
}

/* ---- borders ---- */

/* The first t in [0, most) at which |a_t| - a_n changes its sign, from inside the cone or from outside. On the border already, it is the
 * direction that counts. */
static double conicBorder(int n, const double* a, const double* da, bool inside, double most)
{
    double A = -da[0] * da[0], halfB = -a[0] * da[0], C = -a[0] * a[0];
    for (int i = 1; i < n; i++) A += da[i] * da[i], halfB += a[i] * da[i], C += a[i] * a[i];
    if (inside ? C >= 0.0 : C <= 0.0) {
        if (inside ? halfB > 0.0 : halfB < 0.0) return 0.0;
        double t = A != 0.0 ? -2.0 * halfB / A : most;
        return t > 0.0 && t < most ? t : most;
    }
    double D = halfB * halfB - A * C;
    if (D < 0.0) return most;
    double q = -(halfB + copysign(sqrt(D), halfB)), first = A != 0.0 ? q / A : most, second = q != 0.0 ? C / q : most;
    if (first > 0.0) most = smaller(most, first);
    return second > 0.0 ? smaller(most, second) : most;
}

static double lineBorder(double x, double dx, double border, double most)
{
    return dx == 0.0 ? most : smaller(most, larger(0.0, (border - x) / dx));
}

/* The border of cone k's piece, if it is nearer than `most`; and what is beyond. */
static double coneBorder(const Path* s, int k, double most, int* beyond)
{
    const pcCone* cone = s->p->cone + k;
    const double *a = s->a + cone->row, *da = s->da + cone->row;
    int n = cone->rows, piece = s->piece[k];
    if (cone->kind == PC_CONE_FREE) return most;
    if (cone->kind == PC_CONE_BOX) {
        double f = yielding(s, cone->row), border = piece == LOW || (piece == STICKS && da[0] < 0.0) ? cone->lo : cone->hi;
        if ((piece == LOW && da[0] <= 0.0) || (piece == HIGH && da[0] >= 0.0)) return most;
        *beyond = piece == STICKS ? (da[0] < 0.0 ? LOW : HIGH) : STICKS;
        return lineBorder(f * a[0], f * da[0], border, most);
    }
    if (piece == OPEN) return *beyond = n > 1 ? SLIDES : STICKS, da[0] > 0.0 ? lineBorder(a[0], da[0], 0.0, most) : most;
    if (n == 1) return *beyond = OPEN, da[0] < 0.0 ? lineBorder(a[0], da[0], 0.0, most) : most;
    *beyond = piece == STICKS ? SLIDES : STICKS;
    most = conicBorder(n, a, da, piece == STICKS, most);
    double opens = piece == SLIDES && da[0] < 0.0 ? lineBorder(a[0], da[0], 0.0, most) : most;
    if (opens < most) *beyond = OPEN;
    return opens;
}

/* How far cone k's d may turn from where H was made. */
static double turnLimit(const Path* s, int k, double most)
{
    const pcCone* cone = s->p->cone + k;
    const double *at = s->at + cone->row, *a = s->a + cone->row, *da = s->da + cone->row;
    if (s->piece[k] != SLIDES || cone->rows < 3) return most;
    double across = at[1] * a[2] - at[2] * a[1], more = at[1] * da[2] - at[2] * da[1], square = at[1] * at[1] + at[2] * at[2];
    double room = TURN * square - (more > 0.0 ? across : -across);
    return fabs(more) * most > room ? larger(smaller(most, room / fabs(more)), 0.0) : most;
}

static void findBorders(void* context, int begin, int end)
{
    const Path* s = context;
    Border* nearest = s->partial + begin / PC_CHUNK;
    int beyond;
    *nearest = (Border){.t = s->t, .cone = -1};
    for (int k = begin; k < end; k++) nearest->t = turnLimit(s, k, nearest->t);
    for (int k = begin; k < end; k++) {
        double t = coneBorder(s, k, nearest->t, &beyond);
        if (t < nearest->t) *nearest = (Border){t, k, beyond};
    }
}

/* The nearest border of all; none, if d may not turn as far. */
static Border nearest(Path* s, double most)
{
    Border first = {.t = most, .cone = -1};
    s->t = most;
    overCones(s, findBorders);
    for (int i = 0; i < pcChunks(s->p->cones); i++)
        if (s->partial[i].t < first.t) first = s->partial[i];
    return first;
}

/* ---- the path ---- */

/* G of cone k as it crosses a border, at which it is; the change is x y'. */
static void changeOf(const Path* s, int k, int beyond, double* x, double* y)
{
    const pcCone* cone = s->p->cone + k;
    const double *a = s->a + cone->row, *e = s->e + cone->row;
    int n = cone->rows, from = s->piece[k];
    double length = tailOf(n, a), sign = beyond > from ? 1.0 : -1.0, d[3] = {0.0};
    for (int i = 1; i < n; i++) d[i] = length > 0.0 ? a[i] / length : 0.0;
    memset(x, 0, 3 * sizeof *x), memset(y, 0, 3 * sizeof *y);
    if (cone->kind != PC_CONE_FRICTION) {
        x[0] = beyond == STICKS ? 1.0 : -1.0, y[0] = 1.0 / (e[0] + s->p->soft[cone->row]);
    } else if (n == 1 || from == OPEN || beyond == OPEN) {
        x[0] = sign, y[0] = 1.0 / e[0];
        for (int i = 1; i < n; i++) x[i] = sign * d[i];
    } else {
        y[0] = -1.0 / e[0];
        for (int i = 1; i < n; i++) x[i] = sign * d[i], y[i] = d[i] / e[i];
    }
}

static double rankTimes(const Path* s, int i, const double* v)
{
    const pcCone* cone = s->p->cone + s->cone[i];
    double sum = 0.0;
    for (int l = 0; l < cone->rows; l++)
        if (s->y[i][l] != 0.0) sum += s->y[i][l] * rowTimes(s->p, cone->row + l, v);
    return sum;
}

static void addChange(Path* s, int k, int beyond)
{
    const pcCone* cone = s->p->cone + k;
    int m = s->rank++;
    size_t size = (size_t)(B * s->p->blocks);
    double* z = s->Z + (size_t)m * size;
    s->cone[m] = k;
    changeOf(s, k, beyond, s->x[m], s->y[m]);
    s->piece[k] = beyond, s->known = false;
    memset(z, 0, size * sizeof *z);
    for (int i = 0; i < cone->rows; i++)
        if (s->x[m][i] != 0.0) addRow(s->p, cone->row + i, s->x[m][i], z);
    pcBlocksSolve(s->H, z);
    for (int i = 0; i <= m; i++) {
        s->S[i + m * RANK] = (i == m) + rankTimes(s, i, z);
        s->S[m + i * RANK] = (i == m) + rankTimes(s, m, s->Z + (size_t)i * size);
    }
}

/* dv = (H + X Y')^-1 F0, of which dv0 is H^-1 F0; returns the sign of det S, 0 if it is singular. */
static int direct(Path* s)
{
    size_t size = (size_t)(B * s->p->blocks);
    double* LU = s->S + RANK * RANK;
    int sign = 1;
    memcpy(s->dv, s->dv0, size * sizeof *s->dv);
    if (s->rank == 0) return 1;
    memcpy(LU, s->S, RANK * RANK * sizeof *LU);
    for (int i = 0; i < s->rank; i++) s->w[i] = rankTimes(s, i, s->dv0);
    if (pcLuFactor(s->rank, LU, RANK, s->pivots) != 0 || pcLuSolve(s->rank, LU, RANK, s->pivots, false, s->w) != 0) return 0;
    for (int i = 0; i < s->rank; i++) {
        sign = (LU[i * (RANK + 1)] < 0.0) != (s->pivots[i] != i + 1) ? -sign : sign;
        pcAddScaled((int)size, -s->w[i], s->Z + (size_t)i * size, s->dv);
    }
    return sign;
}

/* Along the path with the H that is there, until it is too old or the path ends. False: there is no going on. */
static bool trace(Path* s, int orientation)
{
    double l = 1.0;
    memcpy(s->dv0, s->F, (size_t)(B * s->p->blocks) * sizeof *s->dv0);
    pcBlocksSolve(s->H, s->dv0);
    orientation *= pcBlocksSign(s->H);
    while (s->rank < RANK) {
        int sign = direct(s), flow = sign * orientation;
        if (sign == 0) return s->rank > 0;
        for (int i = 0; flow < 0 && i < B * s->p->blocks; i++) s->dv[i] = -s->dv[i];
        follow(s);
        Border border = nearest(s, flow > 0 ? l : ENDLESS);
        if (!(border.t < ENDLESS)) return false;
        keepPlace(s), moveBy(s, border.t);
        l -= flow * border.t, s->turns += flow < 0;
        if (border.cone < 0) return true;
        addChange(s, border.cone, border.beyond);
    }
    return true;
}

/* ---- rounds ---- */

/* One step of Newton's method, shortened until |F| is less than `size`. */
typedef struct Newton {
    double size, moved; /* |F|; the largest du of the whole step, in units of velocity */
    bool full;          /* not shortened */
} Newton;

/* False: no length will do, and everything is as before. */
static bool newtonStep(Path* s, double enough, Newton* step)
{
    double before = step->size, t = 1.0;
    memcpy(s->dv, s->F, (size_t)(B * s->p->blocks) * sizeof *s->dv);
    pcBlocksSolve(s->H, s->dv);
    step->moved = follow(s);
    keepPlace(s);
    for (int i = 0; i < HALVINGS; i++, t *= 0.5) {
        moveBy(s, t);
        int changed = choosePieces(s);
        step->size = evaluate(s), step->full = i == 0;
        if (step->size <= before * (1.0 - 1e-4 * t) || step->moved <= enough) {
            s->known = changed == 0 && step->full && step->size <= CHORD * before;
            return true;
        }
    }
    moveBy(s, 0.0);
    memcpy(s->piece, s->piece0, (size_t)s->p->cones * sizeof *s->piece);
    step->size = evaluate(s);
    return false;
}

/* The path until F is half as large. `left` counts factorizations. */
static bool walk(Path* s, Newton* step, int* left)
{
    double wanted = 0.5 * step->size;
    int turns = s->turns, orientation;
    if (!s->known && !factor(s)) return false;
    for (orientation = pcBlocksSign(s->H); --*left > 0;) {
        if (!trace(s, orientation) || s->turns - turns > TURNS) return false;
        step->size = evaluate(s);
        if (!isfinite(step->size)) return false;
        if (step->size <= wanted) return true;
        if (!factor(s)) return false;
    }
    return false;
}

/* What E still holds back, in units of velocity. */
static double heldBack(const Path* s)
{
    double most = 0.0;
    for (int i = 0; i < s->p->rows; i++) most = larger(most, fabs(s->e[i] * (s->c[i] - s->r[i])));
    return most / s->p->velocityScale;
}

static bool solveRound(Path* s, double enough)
{
    arguments(s), choosePieces(s);
    s->known = false;
    Newton step = {.size = evaluate(s)};
    for (int left = ROUND_LIMIT; left > 0; left--) {
        if (!s->known && !factor(s)) return false;
        if (newtonStep(s, enough, &step)) {
            if (step.full && step.moved <= larger(enough, COARSE * heldBack(s))) return true;
        } else if (!walk(s, &step, &left)) {
            return false;
        }
    }
    return false;
}

/* ---- from round to round ---- */

/* How small the next eps may be. */
typedef struct Schedule {
    double eps, failed; /* `failed`: an eps that was too small a short while ago */
} Schedule;

static void afterSuccess(Schedule* s, int factors)
{
    double next = s->eps * (factors <= 4 ? 0.35 : factors <= 10 ? 0.5 : 0.7);
    if (next <= s->failed) next = sqrt(s->eps * s->failed);
    s->eps = larger(next, EPS_LEAST), s->failed *= 0.3;
}

static void afterFailure(Schedule* s) { s->failed = s->eps, s->eps = smaller(3.0 * s->eps, EPS_MOST); }

/* Where rounds have come to, and the best of them. */
typedef struct Rounds {
    double *v, *c, *centre; /* the last good round's, and the next one's r: c, or where c is going */
    double *bestV, *bestC, best;
    double held;
    int* piece; /* of the round before */
} Rounds;

static bool roundsNew(Rounds* n, const Path* s, double* v, double* c, pcArena* arena)
{
    size_t rows = (size_t)s->p->rows, size = B * (size_t)s->p->blocks;
    *n = (Rounds){.v = v, .c = c, .best = HUGE_VAL, .held = HUGE_VAL};
    n->centre = pcArenaNew(arena, double, rows), n->bestC = pcArenaNew(arena, double, rows);
    n->bestV = pcArenaNew(arena, double, size), n->piece = pcArenaNew(arena, int, s->p->cones);
    if (!pcArenaGood(arena)) return false;
    memcpy(n->centre, c, rows * sizeof *c);
    return true;
}

/* One round from (v, centre); on success v and c are replaced. */
static bool advance(Path* s, double eps, double tolerance, Rounds* n)
{
    size_t rows = (size_t)s->p->rows * sizeof *n->c, size = (size_t)(B * s->p->blocks) * sizeof *n->v;
    setWeights(s, eps);
    memcpy(s->v, n->v, size), memcpy(s->r, n->centre, rows);
    if (!solveRound(s, 0.05 * tolerance)) return false;
    memcpy(n->v, s->v, size), memcpy(n->c, s->c, rows);
    return true;
}

static void keepBest(const Path* s, double left, Rounds* n)
{
    if (left >= n->best) return;
    n->best = left;
    memcpy(n->bestV, n->v, (size_t)(B * s->p->blocks) * sizeof *n->v), memcpy(n->bestC, n->c, (size_t)s->p->rows * sizeof *n->c);
}

/* Contacts that contradict each other by the same in round after round: their impulses grow until one of them gives way, by so little per
 * round that it would take hundreds. How many such rounds it is until the first one does; 0: they do not drift so. */
static double driftOf(const Path* s, double held, Rounds* n)
{
    int changed = 0, which = -1;
    double t = ENDLESS;
    for (int k = 0; k < s->p->cones; k++) changed += s->piece[k] != n->piece[k], n->piece[k] = s->piece[k];
    bool same = held > SAME * n->held && n->held > SAME * held;
    n->held = held;
    for (int k = 0; same && changed <= FEW && k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        double c[3] = {0.0}, dc[3] = {0.0};
        if (cone->kind != PC_CONE_FRICTION || cone->rows < 2 || s->piece[k] == OPEN) continue;
        for (int i = 0; i < cone->rows; i++) c[i] = s->c[cone->row + i], dc[i] = c[i] - s->r[cone->row + i];
        double border = s->piece[k] == STICKS ? conicBorder(cone->rows, c, dc, true, t) : dc[0] < 0.0 ? lineBorder(c[0], dc[0], 0.0, t) : t;
        if (border < t && border > 0.0) t = border, which = k;
    }
    return which < 0 ? 0.0 : BEYOND * t;
}

/* How far a contact is from its law, in units of velocity: |C - proj_K(C - U)| with C = c by its own velocity per impulse and U that of De Saxce, as the
 * certificate has it. */
static double offOf(const Path* s, int k)
{
    int n = s->p->cone[k].rows, row = s->p->cone[k].row;
    const double *u = s->u + row, *c = s->c + row;
    double own = 0.0, x[3] = {0.0}, square, slip = tailOf(n, u);
    for (int i = 0; i < n; i++) own += s->own[row + i] / n;
    for (int i = 0; i < n; i++) x[i] = own * c[i] - u[i] - (i ? 0.0 : slip);
    double tail = tailOf(n, x), along = tail <= x[0] ? 1.0 : tail <= -x[0] ? 0.0 : 0.5 * (1.0 + x[0] / tail);
    double head = along == 1.0 ? x[0] : along * tail;
    square = (own * c[0] - head) * (own * c[0] - head);
    for (int i = 1; i < n; i++) square += (own * c[i] - along * x[i]) * (own * c[i] - along * x[i]);
    return sqrt(square);
}

/* What is left, in units of velocity: what E holds back, but where that is next to nothing, how far contacts are from their law. */
static double leftOver(const Path* s, double tolerance)
{
    double held = heldBack(s), most = 0.0;
    if (held > NEARLY * tolerance) return held;
    for (int k = 0; k < s->p->cones; k++) {
        int row = s->p->cone[k].row;
        most = larger(most, s->p->cone[k].kind == PC_CONE_FRICTION ? offOf(s, k) : fabs(s->e[row] * (s->c[row] - s->r[row])));
    }
    return most / s->p->velocityScale;
}

/* Contacts that contradict each other by nearly nothing: what they hold back is the least in the mean, by E. Where it is most it becomes less by a smaller E, and
 * more elsewhere, until it is the least at most. */
static void spread(Path* s, double most)
{
    most *= s->p->velocityScale;
    for (int k = 0; k < s->p->cones; k++) {
        const pcCone* cone = s->p->cone + k;
        bool much = cone->kind == PC_CONE_FRICTION && offOf(s, k) > MUCH * most;
        for (int i = cone->row; much && i < endOf(cone); i++) s->share[i] *= LESS;
    }
}

static void chooseCentre(const Path* s, double drift, Rounds* n)
{
    for (int i = 0; i < s->p->rows; i++) n->centre[i] = n->c[i] + drift * (n->c[i] - s->r[i]);
}

/* Where eps became very small, 1/E has amplified rounding, seen in F: a last round with a larger one takes it away. */
static void settle(Path* s, double tolerance, Rounds* n)
{
    memcpy(n->v, n->bestV, (size_t)(B * s->p->blocks) * sizeof *n->v), memcpy(n->c, n->bestC, (size_t)s->p->rows * sizeof *n->c);
    memcpy(n->centre, n->c, (size_t)s->p->rows * sizeof *n->c);
    if (advance(s, EPS_FIRST, tolerance, n) && leftOver(s, tolerance) <= larger(n->best, SETTLED * tolerance)) return;
    memcpy(n->v, n->bestV, (size_t)(B * s->p->blocks) * sizeof *n->v), memcpy(n->c, n->bestC, (size_t)s->p->rows * sizeof *n->c);
}

static void solveRounds(Path* s, double tolerance, int patience, Rounds* n)
{
    Schedule schedule = {.eps = EPS_FIRST};
    double reached = HUGE_VAL;  /* the best when it last had halved, … */
    int since = 0, spreads = 0; /* … after so many factorizations */
    while (s->factors < LONGEST * patience && s->factors - since < patience && n->best > ENOUGH * tolerance) {
        int before = s->factors;
        double drift = 0.0;
        if (n->best < 0.5 * reached) reached = n->best, since = s->factors;
        if (advance(s, schedule.eps, tolerance, n)) {
            double held = heldBack(s);
            double left = leftOver(s, tolerance);
            keepBest(s, left, n);
            drift = driftOf(s, held, n);
            bool nearly = drift > 0.0 && held <= NEARLY * tolerance && spreads++ < SPREADS;
            if (nearly) spread(s, left);
            chooseCentre(s, nearly ? 0.0 : drift, n);
            if (drift == 0.0) afterSuccess(&schedule, s->factors - before);
        } else {
            memcpy(n->centre, n->c, (size_t)s->p->rows * sizeof *n->c);
            afterFailure(&schedule);
        }
    }
    if (n->best < HUGE_VAL) settle(s, tolerance, n);
}

pcPathInfo pcPathSolve(const pcProblem* p, const double* own, double tolerance, int patience, pcBlocks* H, pcArena* arena, double* v,
                       double* c)
{
    pcPathInfo info = {.residual = HUGE_VAL};
    Path s = {.p = p, .H = H, .own = own, .touching = pcStiffnessTouching(H)};
    size_t mark = pcArenaMark(arena);
    Rounds rounds;
    if (applies(p) && allocate(&s, arena) && roundsNew(&rounds, &s, v, c, arena)) {
        solveRounds(&s, tolerance, patience, &rounds);
        info.residual = rounds.best;
    }
    pcArenaRelease(arena, mark);
    info.factors = s.factors;
    return info;
}
