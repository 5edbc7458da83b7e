/*
 * A = L U by columns, left-looking, over 6x6 blocks; pivoting only inside a diagonal block. The order of elimination is that of least
 * fill on the graph of blocks (AMD); the pattern of L + U is symmetric, so one list of rows per column serves both factors.
 *
 *     column j:   A_ij -= L_ik U_kj,   A_ji -= L_jk U_ki      for every k < j with j in column k, and i >= j in column k
 *                 then A_jj = P L U by itself, and L_ij = A_ij A_jj^-1 for i > j
 */
#include "linalg/blocks.h"

#include <math.h>
#include <string.h>

#include <suitesparse/amd.h>

#include "base/simd.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE

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

bool pcBlocksPattern(pcBlocks* A, int n, const int* pairs, int pairCount, pcArena* arena)
{
    Graph graph = {0};
    *A = (pcBlocks){.n = n};
    int *order = pcArenaNew(arena, int, n), *parent = pcArenaNew(arena, int, n);
    A->place = pcArenaNew(arena, int, n), A->start = pcArenaNew(arena, int, n + 1);
    A->head = pcArenaNew(arena, int, n), A->next = pcArenaNew(arena, int, n);
    A->at = pcArenaNew(arena, int, n), A->where = pcArenaNew(arena, int, n);
    if (!graphOf(&graph, n, pairs, pairCount, arena) || (n && !orderOf(&graph, n, order, arena))) return false;
    for (int k = 0; k < n; k++) A->place[order[k]] = k;
    long long total = countColumns(A, &graph, order, parent, A->at, A->where);
    for (int k = 0; k < n; k++) A->start[k + 1] = A->start[k] + A->at[k];
    A->row = pcArenaNew(arena, int, total);
    A->lower = pcArenaNew(arena, double, total* BB), A->upper = pcArenaNew(arena, double, total* BB);
    A->diagonal = pcArenaNew(arena, double, n* BB), A->pivot = pcArenaNew(arena, int, n* B);
    A->x = pcArenaNew(arena, double, n* B);
    if (!pcArenaGood(arena)) return false;
    writeColumns(A, &graph, order, parent, A->at, A->where);
    return true;
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

/* C -= X Y */
PC_INLINE void subtractProduct(double* C, const double* X, const double* Y)
{
    Row y[B];
    for (int k = 0; k < B; k++) y[k] = rowLoad(Y + k * B);
    for (int i = 0; i < B; i++) {
        Row sum = rowLoad(C + i * B);
        for (int k = 0; k < B; k++) rowSubtract(&sum, X[i * B + k], &y[k]);
        rowStore(C + i * B, &sum);
    }
}

/* In place, rows exchanged; false when a pivot vanishes against the block. */
static bool factorBlock(double* D, int* pivot)
{
    double size = 0.0;
    for (int e = 0; e < BB; e++) size = larger(size, fabs(D[e]));
    for (int k = 0; k < B; k++) {
        int best = k;
        for (int i = k + 1; i < B; i++) {
            if (fabs(D[i * B + k]) > fabs(D[best * B + k])) best = i;
        }
        pivot[k] = best;
        for (int j = 0; best != k && j < B; j++) {
            double swap = D[k * B + j];
            D[k * B + j] = D[best * B + j], D[best * B + j] = swap;
        }
        if (!(fabs(D[k * B + k]) > 1e-300 + 1e-30 * size)) return false;
        for (int i = k + 1; i < B; i++) {
            double factor = D[i * B + k] /= D[k * B + k];
            for (int j = k + 1; j < B; j++) D[i * B + j] -= factor * D[k * B + j];
        }
    }
    return true;
}

/* x := D^-1 x */
static void solveBlock(const double* D, const int* pivot, double* x)
{
    for (int k = 0; k < B; k++) {
        double swap = x[k];
        x[k] = x[pivot[k]], x[pivot[k]] = swap;
    }
    for (int i = 1; i < B; i++) {
        for (int k = 0; k < i; k++) x[i] -= D[i * B + k] * x[k];
    }
    for (int i = B - 1; i >= 0; i--) {
        for (int k = i + 1; k < B; k++) x[i] -= D[i * B + k] * x[k];
        x[i] /= D[i * B + i];
    }
}

/* X := X D^-1, that is D'X' solved, all columns of X' at a time. */
PC_INLINE void divideBlock(const double* D, const int* pivot, double* X)
{
    double turned[BB];
    Row x[B];
    for (int e = 0; e < BB; e++) turned[e % B * B + e / B] = X[e];
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
    for (int e = 0; e < BB; e++) X[e % B * B + e / B] = turned[e];
}

/* Column k, whose next row is j, acts on column j. */
PC_INLINE void applyColumn(const pcBlocks* A, int k, int j)
{
    int e = A->at[k];
    const double *Ljk = A->lower + (size_t)e * BB, *Ukj = A->upper + (size_t)e * BB;
    subtractProduct(A->diagonal + (size_t)j * BB, Ljk, Ukj);
    for (int f = e + 1; f < A->start[k + 1]; f++) {
        size_t target = (size_t)A->where[A->row[f]] * BB;
        subtractProduct(A->lower + target, A->lower + (size_t)f * BB, Ukj);
        subtractProduct(A->upper + target, Ljk, A->upper + (size_t)f * BB);
    }
}

/* Column k waits at the row it acts on next. */
static void hang(pcBlocks* A, int k)
{
    if (A->at[k] >= A->start[k + 1]) return;
    int row = A->row[A->at[k]];
    A->next[k] = A->head[row], A->head[row] = k;
}

PC_SIMD bool pcBlocksFactor(pcBlocks* A)
{
    for (int j = 0; j < A->n; j++) A->head[j] = -1;
    for (int j = 0; j < A->n; j++) {
        for (int e = A->start[j]; e < A->start[j + 1]; e++) A->where[A->row[e]] = e;
        for (int k = A->head[j], after; k >= 0; k = after) {
            after = A->next[k];
            applyColumn(A, k, j);
            A->at[k]++;
            hang(A, k);
        }
        double* D = A->diagonal + (size_t)j * BB;
        if (!factorBlock(D, A->pivot + j * B)) return false;
        for (int e = A->start[j]; e < A->start[j + 1]; e++) divideBlock(D, A->pivot + j * B, A->lower + (size_t)e * BB);
        A->at[j] = A->start[j];
        hang(A, j);
    }
    return true;
}

/* y -= X x */
static inline void subtractVector(double* y, const double* X, const double* x)
{
    for (int i = 0; i < B; i++) {
        for (int k = 0; k < B; k++) y[i] -= X[i * B + k] * x[k];
    }
}

void pcBlocksSolve(pcBlocks* A, double* b)
{
    double* x = A->x;
    for (int i = 0; i < A->n; i++) memcpy(x + A->place[i] * B, b + i * B, B * sizeof *x);
    for (int k = 0; k < A->n; k++) {
        for (int e = A->start[k]; e < A->start[k + 1]; e++) subtractVector(x + A->row[e] * B, A->lower + (size_t)e * BB, x + k * B);
    }
    for (int k = A->n - 1; k >= 0; k--) {
        for (int e = A->start[k]; e < A->start[k + 1]; e++) subtractVector(x + k * B, A->upper + (size_t)e * BB, x + A->row[e] * B);
        solveBlock(A->diagonal + (size_t)k * BB, A->pivot + k * B, x + k * B);
    }
    for (int i = 0; i < A->n; i++) memcpy(b + i * B, x + A->place[i] * B, B * sizeof *x);
}
