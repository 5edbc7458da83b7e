/*
 * A = L U by columns, left-looking, over 6x6 blocks; pivoting only inside a diagonal block. The order of elimination is that of least
 * fill on the graph of blocks (AMD); the pattern of L + U is symmetric, so one list of rows per column serves both factors.
 *
 *     column j:   A_ij -= L_ik U_kj,   A_ji -= L_jk U_ki      for every k < j with j in column k, and i >= j in column k
 *                 then A_jj = P L U by itself, and L_ij = A_ij A_jj^-1 for i > j
 *
 * Threads take branches of the tree of elimination first, which need nothing of each other, each with all its columns; then the columns of
 * its top one by one, by their height in the tree. They wait for the columns k that one needs as they come to them, always in the same order of
 * k: so the factors do not depend on the number of threads. Near the end, where every column needs the one before, a thread has all the
 * others of its column's k to apply while that one is made.
 */
#include "linalg/blocks.h"

#include <math.h>
#include <string.h>

#include <suitesparse/amd.h>

#include "base/pause.h"
#include "base/simd.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE
#define BRANCHES 16          /* no branch is more work than one part in so many */
#define SHARED_PRODUCTS 5000 /* block products of one factorization, about 0.3 ms: below, two threads gain nothing */

/* ---- Pattern ------------------------------------------------------------------------------------------------------------------- */

typedef struct Graph {
    int *start, *length, *row; /* neighbours of i: row[start[i]] .. + length[i] - 1, each once */
    int size, room;
} Graph;

static bool graphOf(Graph* graph, int n, const int* pairs, int count, pcArena* arena)
{
    graph->room = 3 * count + 2 * n + 16; /* AMD wants a fifth more than the entries, and n */
    int* mark = pcArenaNew(arena, int, n);
    graph->start = pcArenaNew(arena, int, n + 1), graph->length = pcArenaNew(arena, int, n);
    graph->row = pcArenaNew(arena, int, graph->room);
    if (!pcArenaGood(arena)) return false;
    for (int p = 0; p < 2 * count; p++) graph->start[pairs[p] + 1]++;
    for (int i = 0; i < n; i++) graph->start[i + 1] += graph->start[i];
    for (int p = 0; p < 2 * count; p++) {
        int i = pairs[p], j = pairs[p ^ 1];
        graph->row[graph->start[i] + graph->length[i]++] = j;
    }
    for (int i = 0; i < n; i++) {
        int kept = 0, *row = graph->row + graph->start[i];
        for (int e = 0; e < graph->length[i]; e++) {
            if (mark[row[e]] != i + 1 && row[e] != i) mark[row[e]] = i + 1, row[kept++] = row[e];
        }
        graph->length[i] = kept;
    }
    graph->size = graph->start[n];
    return true;
}

/* order[k] = which block is eliminated k-th. AMD's inner routine takes its memory from us: the usual entry point would allocate. */
static bool orderOf(const Graph* graph, int n, int* order, pcArena* arena)
{
    int* start = pcArenaNew(arena, int, n + 1);
    int* length = pcArenaNew(arena, int, n);
    int* row = pcArenaNew(arena, int, graph->room);
    int *votes = pcArenaNew(arena, int, n), *next = pcArenaNew(arena, int, n), *head = pcArenaNew(arena, int, n);
    int *elements = pcArenaNew(arena, int, n), *degree = pcArenaNew(arena, int, n), *work = pcArenaNew(arena, int, n);
    double control[AMD_CONTROL], info[AMD_INFO];
    if (!pcArenaGood(arena)) return false;
    int used = 0;
    for (int i = 0; i < n; i++) {
        start[i] = used, length[i] = graph->length[i];
        memcpy(row + used, graph->row + graph->start[i], (size_t)graph->length[i] * sizeof *row);
        used += graph->length[i];
    }
    amd_defaults(control);
    amd_2(n, start, row, length, graph->room, used, votes, next, order, head, elements, degree, work, control, info);
    return true;
}

/* How many entries each column of the factor has: row k of the factor is the subtree of the elimination tree above k's neighbours. */
static long long countColumns(const pcBlocks* A, const Graph* graph, const int* order, int* parent, int* count, int* mark)
{
    long long total = 0;
    for (int k = 0; k < A->n; k++) {
        parent[k] = -1, count[k] = 0, mark[k] = k;
        for (int e = 0; e < graph->length[order[k]]; e++) {
            int i = A->place[graph->row[graph->start[order[k]] + e]];
            for (; i < k && mark[i] != k; i = parent[i]) {
                if (parent[i] < 0) parent[i] = k;
                count[i]++, total++, mark[i] = k;
            }
        }
    }
    return total;
}

/* The same walk, writing; rows come in ascending order by themselves, because k ascends. */
static void writeColumns(pcBlocks* A, const Graph* graph, const int* order, const int* parent, int* filled, int* mark)
{
    for (int k = 0; k < A->n; k++) filled[k] = A->start[k], mark[k] = -1;
    for (int k = 0; k < A->n; k++) {
        mark[k] = k;
        for (int e = 0; e < graph->length[order[k]]; e++) {
            int i = A->place[graph->row[graph->start[order[k]] + e]];
            for (; i < k && mark[i] != k; i = parent[i]) A->row[filled[i]++] = k, mark[i] = k;
        }
    }
}

/* The rows of the lower factor, from its columns. Returns how many block products a factorization takes. */
static long long turnPattern(pcBlocks* A, int* filled)
{
    long long products = 0;
    memset(A->rowStart, 0, ((size_t)A->n + 1) * sizeof *A->rowStart);
    for (int e = 0; e < A->start[A->n]; e++) A->rowStart[A->row[e] + 1]++;
    for (int j = 0; j < A->n; j++) A->rowStart[j + 1] += A->rowStart[j], filled[j] = A->rowStart[j];
    for (int k = 0; k < A->n; k++) {
        long long count = A->start[k + 1] - A->start[k];
        products += count * count;
        for (int e = A->start[k]; e < A->start[k + 1]; e++) {
            int place = filled[A->row[e]]++;
            A->column[place] = k, A->at[place] = e;
        }
    }
    return products;
}

/* The tree of elimination, in which the first row of a column is its parent. */
typedef struct Tree {
    const int* parent;
    double* weight;    /* of a column and all below it: about what they take, in block products */
    int *first, *size; /* the first column below it, and how many there are, itself among them */
    int* height;
} Tree;

static bool growTree(const pcBlocks* A, Tree* tree, pcArena* arena)
{
    tree->weight = pcArenaRaw(arena, double, A->n), tree->first = pcArenaRaw(arena, int, A->n);
    tree->size = pcArenaRaw(arena, int, A->n), tree->height = pcArenaNew(arena, int, A->n);
    if (!pcArenaGood(arena)) return false;
    for (int k = 0; k < A->n; k++) {
        double count = A->start[k + 1] - A->start[k];
        tree->weight[k] = count * count + 2.0 * count + 8.0, tree->first[k] = k, tree->size[k] = 1;
    }
    for (int k = 0; k < A->n; k++) {
        int up = tree->parent[k];
        if (up < 0) continue;
        tree->weight[up] += tree->weight[k], tree->size[up] += tree->size[k];
        if (tree->first[k] < tree->first[up]) tree->first[up] = tree->first[k];
        if (tree->height[up] <= tree->height[k]) tree->height[up] = tree->height[k] + 1;
    }
    return true;
}

static void addTask(pcBlocks* A, int begin, int end)
{
    int at = A->taskStart[A->tasks];
    for (int k = begin; k < end; k++) A->task[at++] = k;
    A->taskStart[++A->tasks] = at;
}

/* Branches, and the columns that are in none to `top`; returns how many these are. A branch is a range of columns, as the order of elimination
 * mostly leaves them; neighbours that are little work together are one. */
static int cutBranches(pcBlocks* A, const Tree* tree, int* top)
{
    int tops = 0, begin = A->n, end = A->n;
    double all = 0.0, held = 0.0;
    for (int k = 0; k < A->n; k++) all += tree->parent[k] < 0 ? tree->weight[k] : 0.0;
    for (int k = A->n - 1; k >= 0;) {
        bool branch = tree->weight[k] <= all / BRANCHES && tree->size[k] == k + 1 - tree->first[k];
        if (begin < end && (!branch || held + tree->weight[k] > all / BRANCHES)) addTask(A, begin, end), begin = end = k + 1;
        if (begin == end) end = k + 1, held = 0.0;
        if (branch)
            begin = tree->first[k], held += tree->weight[k], k = begin - 1;
        else
            top[tops++] = k--, begin = end = k + 1;
    }
    if (begin < end) addTask(A, begin, end);
    return tops;
}

/* The top by height: neighbours in that order seldom wait for each other. */
static bool cutTasks(pcBlocks* A, const int* parent, pcArena* arena)
{
    Tree tree = {.parent = parent};
    int *top = pcArenaRaw(arena, int, A->n), *sorted = pcArenaRaw(arena, int, A->n), *begin = pcArenaNew(arena, int, A->n + 1);
    if (!growTree(A, &tree, arena)) return false;
    int tops = cutBranches(A, &tree, top);
    for (int i = 0; i < tops; i++) begin[tree.height[top[i]] + 1]++;
    for (int h = 0; h < A->n; h++) begin[h + 1] += begin[h];
    for (int i = tops - 1; i >= 0; i--) sorted[begin[tree.height[top[i]]]++] = top[i];
    for (int i = 0; i < tops; i++) addTask(A, sorted[i], sorted[i] + 1);
    return true;
}

/* Which rows each column has, and which columns each row. */
static bool findPattern(pcBlocks* A, const int* pairs, int pairCount, pcPool* pool, pcArena* arena)
{
    int n = A->n;
    Graph graph = {0};
    int *order = A->order, *parent = pcArenaRaw(arena, int, n), *work = pcArenaRaw(arena, int, n + 1);
    if (!graphOf(&graph, n, pairs, pairCount, arena) || !orderOf(&graph, n, order, arena)) return false;
    for (int k = 0; k < n; k++) A->place[order[k]] = k;
    long long total = countColumns(A, &graph, order, parent, work, A->where);
    for (int k = 0; k < n; k++) A->start[k + 1] = A->start[k] + work[k];
    A->row = pcArenaRaw(arena, int, total), A->column = pcArenaRaw(arena, int, total), A->at = pcArenaRaw(arena, int, total);
    if (!pcArenaGood(arena)) return false;
    writeColumns(A, &graph, order, parent, work, A->where);
    A->pool = turnPattern(A, work) >= SHARED_PRODUCTS ? pool : NULL;
    return pcPoolWidth(A->pool) < 2 || cutTasks(A, parent, arena);
}

bool pcBlocksPattern(pcBlocks* A, int n, const int* pairs, int pairCount, pcPool* pool, pcArena* arena)
{
    size_t size = (size_t)n;
    *A = (pcBlocks){.n = n};
    A->place = pcArenaRaw(arena, int, size), A->order = pcArenaRaw(arena, int, size), A->task = pcArenaRaw(arena, int, size);
    A->taskStart = pcArenaNew(arena, int, size + 1);
    A->where = pcArenaRaw(arena, int, size*(size_t)pcPoolWidth(pool));
    A->start = pcArenaNew(arena, int, size + 1), A->rowStart = pcArenaNew(arena, int, size + 1);
    A->done = pcArenaNew(arena, _Atomic int, size);
    A->diagonal = pcArenaRaw(arena, double, size* BB), A->pivot = pcArenaRaw(arena, int, size* B);
    A->x = pcArenaRaw(arena, double, size* B);
    if (!pcArenaGood(arena)) return false;
    for (int i = 0; i < n; i++) A->place[i] = A->order[i] = i; /* nothing is tied: every order is as good */
    if (pairCount > 0 && !findPattern(A, pairs, pairCount, pool, arena)) return false;
    if (A->tasks == 0) addTask(A, 0, n);
    size_t total = (size_t)A->start[n];
    A->lower = pcArenaRaw(arena, double, total* BB), A->upper = pcArenaRaw(arena, double, total* BB);
    return pcArenaGood(arena);
}

/* ---- Values -------------------------------------------------------------------------------------------------------------------- */

void pcBlocksClear(pcBlocks* A)
{
    size_t entries = (size_t)A->start[A->n] * BB;
    memset(A->diagonal, 0, (size_t)A->n * BB * sizeof(double));
    memset(A->lower, 0, entries * sizeof(double));
    memset(A->upper, 0, entries * sizeof(double));
}

double* pcBlocksAt(pcBlocks* A, int i, int j)
{
    int r = A->place[i], c = A->place[j], low = r < c ? r : c, high = r < c ? c : r;
    if (low == high) return A->diagonal + (size_t)low * BB;
    int begin = A->start[low], end = A->start[low + 1] - 1;
    while (begin < end) {
        int middle = (begin + end) / 2;
        if (A->row[middle] < high) {
            begin = middle + 1;
        } else {
            end = middle;
        }
    }
    return (r > c ? A->lower : A->upper) + (size_t)begin * BB;
}

/* ---- Factors ------------------------------------------------------------------------------------------------------------------- */

/* A row of a block: four and two numbers at a time. */
typedef struct Row {
    v4d four;
    v2d two;
} Row;

PC_INLINE Row rowLoad(const double* p)
{
    Row row = {.four = v4Load(p)};
    __builtin_memcpy(&row.two, p + 4, sizeof row.two);
    return row;
}

PC_INLINE void rowStore(double* p, const Row* row)
{
    v4Store(p, row->four);
    __builtin_memcpy(p + 4, &row->two, sizeof row->two);
}

/* to -= x from */
PC_INLINE void rowSubtract(Row* to, double x, const Row* from)
{
    to->four -= v4Splat(x) * from->four;
    to->two -= (v2d){x, x} * from->two;
}

/* C -= X Y: first the left four columns of C, then the right two, so that all of Y that is needed stays in registers. */
PC_INLINE void subtractProduct(double* C, const double* X, const double* Y)
{
    v4d four[B];
    v2d two[B];
    PC_UNROLL(6) for (int k = 0; k < B; k++) four[k] = v4Load(Y + k * B);
    PC_UNROLL(6) for (int i = 0; i < B; i++)
    {
        v4d sum = v4Load(C + i * B);
        PC_UNROLL(6) for (int k = 0; k < B; k++) sum -= v4Splat(X[i * B + k]) * four[k];
        v4Store(C + i * B, sum);
    }
    PC_UNROLL(6) for (int k = 0; k < B; k++) __builtin_memcpy(&two[k], Y + k * B + 4, sizeof two[k]);
    PC_UNROLL(6) for (int i = 0; i < B; i++)
    {
        v2d sum;
        __builtin_memcpy(&sum, C + i * B + 4, sizeof sum);
        PC_UNROLL(6) for (int k = 0; k < B; k++) sum -= (v2d){X[i * B + k], X[i * B + k]} * two[k];
        __builtin_memcpy(C + i * B + 4, &sum, sizeof sum);
    }
}

PC_INLINE void swapRows(double* a, double* b)
{
    Row x = rowLoad(a), y = rowLoad(b);
    rowStore(a, &y), rowStore(b, &x);
}

/* What a row has right of column k; zeros before. */
PC_INLINE Row rightOf(const double* p, int k)
{
    Row row = rowLoad(p);
    v4i four = {0, 1, 2, 3};
    v2i two = {4, 5};
    row.four = v4Select(four > k, row.four, v4Splat(0.0)), row.two = v2Select(two > k, row.two, (v2d){0.0, 0.0});
    return row;
}

/* In place, rows exchanged; false when a pivot vanishes against the block. */
PC_INLINE bool factorBlock(double* D, int* pivot)
{
    v4d most = v4Splat(0.0);
    for (int e = 0; e < BB; e += 4) most = v4Max(v4Abs(v4Load(D + e)), most);
    double size = larger(larger(most[0], most[1]), larger(most[2], most[3]));
    for (int k = 0; k < B; k++) {
        int best = k;
        for (int i = k + 1; i < B; i++) {
            if (fabs(D[i * B + k]) > fabs(D[best * B + k])) best = i;
        }
        pivot[k] = best;
        if (best != k) swapRows(D + k * B, D + best * B);
        if (!(fabs(D[k * B + k]) > 1e-300 + 1e-30 * size)) return false;
        Row right = rightOf(D + k * B, k);
        double inverse = 1.0 / D[k * B + k];
        for (int i = k + 1; i < B; i++) {
            double factor = D[i * B + k] * inverse;
            Row row = rowLoad(D + i * B);
            rowSubtract(&row, factor, &right);
            rowStore(D + i * B, &row), D[i * B + k] = factor;
        }
    }
    return true;
}

/* x := D^-1 x; written out, so that x stays in registers once its rows are exchanged. */
PC_INLINE void solveBlock(const double* D, const int* pivot, double* x)
{
    double y[B];
    for (int k = 0; k < B; k++) {
        double swap = x[k];
        x[k] = x[pivot[k]], x[pivot[k]] = swap;
    }
    PC_UNROLL(6) for (int i = 0; i < B; i++) y[i] = x[i];
    PC_UNROLL(6) for (int k = 0; k < B; k++) { PC_UNROLL(6) for (int i = k + 1; i < B; i++) y[i] -= D[i * B + k] * y[k]; }
    PC_UNROLL(6) for (int i = B - 1; i >= 0; i--)
    {
        PC_UNROLL(6) for (int k = i + 1; k < B; k++) y[i] -= D[i * B + k] * y[k];
        y[i] /= D[i * B + i];
    }
    PC_UNROLL(6) for (int i = 0; i < B; i++) x[i] = y[i];
}

/* out = X' */
PC_INLINE void turnBlock(const double* X, double* out)
{
    PC_UNROLL(6) for (int i = 0; i < B; i++) { PC_UNROLL(6) for (int k = 0; k < B; k++) out[k * B + i] = X[i * B + k]; }
}

/* X := X D^-1, that is D'X' solved, all columns of X' at a time. */
PC_INLINE void divideBlock(const double* D, const int* pivot, double* X)
{
    double turned[BB];
    Row x[B];
    turnBlock(X, turned);
    for (int i = 0; i < B; i++) {
        double inverse = 1.0 / D[i * B + i];
        x[i] = rowLoad(turned + i * B);
        for (int k = 0; k < i; k++) rowSubtract(&x[i], D[k * B + i], &x[k]);
        x[i].four *= v4Splat(inverse), x[i].two *= (v2d){inverse, inverse};
    }
    for (int i = B - 2; i >= 0; i--)
        for (int k = i + 1; k < B; k++) rowSubtract(&x[i], D[k * B + i], &x[k]);
    for (int k = B - 1; k >= 0; k--) {
        Row swap = x[k];
        x[k] = x[pivot[k]], x[pivot[k]] = swap;
    }
    for (int i = 0; i < B; i++) rowStore(turned + i * B, &x[i]);
    turnBlock(turned, X);
}

/* Column k, whose entry e is in row j, acts on column j. */
PC_INLINE void applyColumn(const pcBlocks* A, int k, int e, int j, const int* where)
{
    const double *Ljk = A->lower + (size_t)e * BB, *Ukj = A->upper + (size_t)e * BB;
    subtractProduct(A->diagonal + (size_t)j * BB, Ljk, Ukj);
    for (int f = e + 1; f < A->start[k + 1]; f++) {
        size_t target = (size_t)where[A->row[f]] * BB;
        subtractProduct(A->lower + target, A->lower + (size_t)f * BB, Ukj);
        subtractProduct(A->upper + target, Ljk, A->upper + (size_t)f * BB);
    }
}

static void await(const pcBlocks* A, int k)
{
    for (int i = 0; atomic_load_explicit(A->done + k, memory_order_acquire) != A->factorization; i++) pcPauseLonger(i);
}

typedef struct Factors {
    pcBlocks* A;
    pcBlocksFill* fill; /* NULL: the values are there */
    const void* context;
    _Atomic bool singular;
} Factors;

static void fillColumn(const Factors* factors, int j, const int* where)
{
    pcBlocks* A = factors->A;
    size_t first = (size_t)A->start[j] * BB, size = (size_t)(A->start[j + 1] - A->start[j]) * BB * sizeof(double);
    memset(A->diagonal + (size_t)j * BB, 0, BB * sizeof(double));
    memset(A->lower + first, 0, size), memset(A->upper + first, 0, size);
    factors->fill(factors->context, A, A->order[j], where);
}

/* A column that has no factors is done all the same: nobody waits for ever. */
PC_INLINE void factorColumn(Factors* factors, int j, int* where)
{
    pcBlocks* A = factors->A;
    double* D = A->diagonal + (size_t)j * BB;
    for (int e = A->start[j]; e < A->start[j + 1]; e++) where[A->row[e]] = e;
    if (factors->fill) fillColumn(factors, j, where);
    for (int i = A->rowStart[j]; i < A->rowStart[j + 1]; i++) await(A, A->column[i]), applyColumn(A, A->column[i], A->at[i], j, where);
    if (factorBlock(D, A->pivot + j * B)) {
        for (int e = A->start[j]; e < A->start[j + 1]; e++) divideBlock(D, A->pivot + j * B, A->lower + (size_t)e * BB);
    } else {
        atomic_store(&factors->singular, true);
    }
    atomic_store_explicit(A->done + j, A->factorization, memory_order_release);
}

PC_SIMD static void factorColumns(void* context, int task, int worker)
{
    Factors* factors = context;
    const pcBlocks* A = factors->A;
    for (int i = A->taskStart[task]; i < A->taskStart[task + 1]; i++)
        factorColumn(factors, A->task[i], A->where + (size_t)worker * (size_t)A->n);
}

bool pcBlocksFactorFilled(pcBlocks* A, pcBlocksFill* fill, const void* context)
{
    Factors factors = {.A = A, .fill = fill, .context = context};
    A->factorization++;
    pcPoolShare(A->pool, factorColumns, &factors, A->tasks);
    return !atomic_load(&factors.singular);
}

bool pcBlocksFactor(pcBlocks* A) { return pcBlocksFactorFilled(A, NULL, NULL); }

/* ---- Solution ------------------------------------------------------------------------------------------------------------------ */

/* x three times over, as two rows of a block meet it: four, four and four numbers. */
typedef struct Turned {
    v4d first, middle, last;
} Turned;

PC_INLINE Turned turnedOf(const double* x) { return (Turned){v4Load(x), {x[4], x[5], x[0], x[1]}, v4Load(x + 2)}; }

/* Two rows of X times x: their sums are those of the four numbers of each. */
PC_INLINE void rowsTimes(const double* X, const Turned* x, v4d* even, v4d* odd)
{
    const v4i left = {-1, -1, 0, 0};
    v4d middle = v4Load(X + 4) * x->middle, none = v4Splat(0.0);
    *even = v4Load(X) * x->first + v4Select(left, middle, none);
    *odd = v4Load(X + 8) * x->last + v4Select(left, none, middle);
}

/* {a0 + a1, b0 + b1, a2 + a3, b2 + b3} */
PC_INLINE v4d halves(v4d a, v4d b) { return __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7); }

/* y -= X x */
PC_INLINE void subtractVector(double* y, const double* X, const Turned* x)
{
    v4d row[B];
    for (int i = 0; i < B; i += 2) rowsTimes(X + B * i, x, &row[i], &row[i + 1]);
    v4d upper = halves(row[0], row[1]), lower = halves(row[2], row[3]), last = halves(row[4], row[5]);
    v4d left = __builtin_shufflevector(upper, lower, 0, 1, 4, 5), right = __builtin_shufflevector(upper, lower, 2, 3, 6, 7);
    v4Store(y, v4Load(y) - (left + right));
    y[4] -= last[0] + last[2], y[5] -= last[1] + last[3];
}

/* Right sides that touch a few bodies leave most columns with nothing to act with. */
PC_INLINE bool isNothing(const double* x) { return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0 && x[3] == 0.0 && x[4] == 0.0 && x[5] == 0.0; }

PC_SIMD void pcBlocksSolve(pcBlocks* A, double* b)
{
    double* x = A->x;
    for (int i = 0; i < A->n; i++) memcpy(x + A->place[i] * B, b + i * B, B * sizeof *x);
    for (int k = 0; k < A->n; k++) {
        if (isNothing(x + k * B)) continue;
        Turned turned = turnedOf(x + k * B);
        for (int e = A->start[k]; e < A->start[k + 1]; e++) subtractVector(x + A->row[e] * B, A->lower + (size_t)e * BB, &turned);
    }
    for (int k = A->n - 1; k >= 0; k--) {
        for (int e = A->start[k]; e < A->start[k + 1]; e++) {
            Turned turned = turnedOf(x + A->row[e] * B);
            subtractVector(x + k * B, A->upper + (size_t)e * BB, &turned);
        }
        solveBlock(A->diagonal + (size_t)k * BB, A->pivot + k * B, x + k * B);
    }
    for (int i = 0; i < A->n; i++) memcpy(b + i * B, x + A->place[i] * B, B * sizeof *x);
}

int pcBlocksSign(const pcBlocks* A)
{
    int sign = 1;
    for (int e = 0; e < A->n * B; e++) {
        bool negative = A->diagonal[(size_t)(e / B) * BB + (size_t)(e % B * (B + 1))] < 0.0, swapped = A->pivot[e] != e % B;
        if (negative != swapped) sign = -sign;
    }
    return sign;
}
