/*
 * Which blocks the factors have, and in which order threads make them. The order of elimination is that of least fill on the graph of blocks
 * (AMD); the pattern of L + U is symmetric, so one list of rows per column serves both factors.
 *
 * Threads take branches of the tree of elimination first, which need nothing of each other, each with all its columns; then the columns of
 * its top one by one, by their height in the tree.
 *
 * Nested dissection would spare large piles some work: of 5000 blocks in contact AMD's order takes 2.6e7 block products, that of METIS 1.5e7, one of our own making
 * (coarse graphs, moves of Fiduccia and Mattheyses) 1.8e7, of 6100 blocks 4.1e7 and 3.2e7; of 970 blocks all take as many. But METIS calls srand and rand, which
 * are the host's, and may raise signals and end the program; and our own made a step of ten thousand bodies no more than 1.2 times as fast. (Of 4604 blocks: AMD 1.8e7 in 2 ms,
 * METIS 1.1e7 in 16 ms, SCOTCH 1.6e7 as it comes and 1.1e7 by halving down to 100 blocks, in 34 ms; of 7114 AMD 7.0e7,
 * METIS 3.5e7, SCOTCH 3.7e7 in 90 ms, where a factorization takes 400.)
 */
#include <string.h>

#include <suitesparse/amd.h>

#include "linalg/blocks.h"

#define BRANCHES 16          /* no branch is more work than one part in so many */
#define SHARED_PRODUCTS 5000 /* block products of one factorization, about 0.1 ms: below, two threads gain little */

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

/* What the longest column's values take, lower and upper. */
static size_t longestColumn(const pcBlocks* A)
{
    int longest = 0;
    for (int k = 0; k < A->n; k++) longest = A->start[k + 1] - A->start[k] > longest ? A->start[k + 1] - A->start[k] : longest;
    return 2 * (size_t)longest * PC_BLOCK_SIZE;
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
    A->diagonal = pcArenaRaw(arena, double, size* PC_BLOCK_SIZE), A->pivot = pcArenaRaw(arena, int, size* PC_BLOCK);
    A->x = pcArenaRaw(arena, double, size* PC_BLOCK);
    if (!pcArenaGood(arena)) return false;
    for (int i = 0; i < n; i++) A->place[i] = A->order[i] = i; /* nothing is tied: every order is as good */
    if (pairCount > 0 && !findPattern(A, pairs, pairCount, pool, arena)) return false;
    if (A->tasks == 0) addTask(A, 0, n);
    size_t total = (size_t)A->start[n];
    A->workSize = longestColumn(A);
    A->work = pcArenaRaw(arena, double, A->workSize*(size_t)pcPoolWidth(pool));
    A->lower = pcArenaRaw(arena, double, total* PC_BLOCK_SIZE), A->upper = pcArenaRaw(arena, double, total* PC_BLOCK_SIZE);
    return pcArenaGood(arena);
}
