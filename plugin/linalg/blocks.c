/*
 * A = L U by columns, left-looking, over 6x6 blocks; pivoting only inside a diagonal block (the pattern: elimination.c).
 *
 *     column j:   A_ij -= L_ik U_kj,   A_ji -= L_jk U_ki      for every k < j with j in column k, and i >= j in column k
 *                 then A_jj = P L U by itself, and L_ij = A_ij A_jj^-1 for i > j
 *
 * or, where A is symmetric and positive definite, A = W'W (Cholesky), which is half of that, and half of the memory:
 *
 *     column j:   A_ji -= W_kj'W_ki,   then A_jj = W_jj'W_jj by itself, and W_ji = W_jj^-T A_ji
 *
 * A column of L is kept turned, so that both factors are panels of six rows, all blocks of the column side by side, and one kernel serves
 * both: two blocks i are twelve numbers in a row, which fill three vectors of four, where one block leaves a quarter of them empty. What
 * multiplies them is read number by number from the other panel. Columns k in a row of the tree of elimination often have the same rows
 * from j on: up to RUN of them are summed up before the target is stored.
 *
 * A pile of 971 blocks, 208,690 block products, 5 MB of factors, on an AMD EPYC with AVX2: 4.0 ms on one thread, 22 GFlop/s, where block by
 * block it was 5.9 ms. Half of it is the kernel; the rest are the values of the matrix (0.5 ms), the diagonal, and factors that come from
 * the third-level cache. Without AVX2 it is 13 ms, where block by block it was 9.4: nine sums are too many for half as wide registers. What multiplies a row
 * is spread to a vector first, by name: left to the compiler that is 8 % faster with AVX2, and four times slower without. Cholesky's factors take 0.51 of that,
 * a solution with them 0.53 (2.8 against 5.6 ms, 0.16 against 0.30, in one run beside tests).
 * Two threads take 1.8 times less (1.84 for 3.32 ms, Cholesky 1.00 for 1.84), of 5000 blocks 1.9 times (69 for 132 ms); only 1.25 times in an hour in which the two virtual processors
 * were far from each other's caches, though they waited for each other for a twentieth of the time. Columns j with the same rows made together, six at a time, so that what acts on them is read
 * once: 5 % quicker in such an hour and of 5000 blocks, 3 % slower else. Eight numbers at a time, four entries of all six rows, on a Xeon with AVX-512: 10 % quicker
 * (3.95 for 4.4 ms, the same bits).
 *
 * Threads wait for the columns k that one needs as they come to them, always in the same order of k, and a sum rounds the same whether it
 * stays in registers between two k or not: so the factors do not depend on the number of threads. Near the end, where every column needs the
 * one before, a thread has all the others of its column's k to apply while that one is made.
 *
 * Solutions are left to one thread. Shared in the same way, branches first and then the top by ranges of 4, 8 or 16 columns that wait for what acts on them, they took both threads as long as
 * they take one: rows of a panel are then read in pieces of 200 bytes, and a range is done in about the time in which the next one learns of it. Nor is a third clone for
 * AVX-512, with twice as many registers, any quicker beyond the noise (EPYC of 2023: 4.1 to 5.0 ms for one iteration of a packed pile, 4.2 to 5.3 by AVX2).
 */
#include "linalg/blocks.h"

#include <math.h>
#include <string.h>

#include "base/pause.h"
#include "base/simd.h"

#define B PC_BLOCK
#define BB PC_BLOCK_SIZE
#define RUN 4 /* 2 at a time are 4 % slower, 8 are 2 %, 16 are 8 % */

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

PC_INLINE Row rowLoad(const double* p) { return (Row){v4Load(p), v2Load(p + 4)}; }

PC_INLINE void rowStore(double* p, const Row* row) { v4Store(p, row->four), v2Store(p + 4, row->two); }

/* to -= x from */
PC_INLINE void rowSubtract(Row* to, double x, const Row* from)
{
    to->four -= v4Splat(x) * from->four;
    to->two -= (v2d){x, x} * from->two;
}

/* A row of two blocks, wherever they are: three vectors that are full. */
typedef struct Wide {
    v4d left, middle, right;
} Wide;

PC_INLINE Wide wideLoad(const double* p, const double* q)
{
    return (Wide){v4Load(p), __builtin_shufflevector(v2Load(p + 4), v2Load(q), 0, 1, 2, 3), v4Load(q + 2)};
}

PC_INLINE void wideStore(double* p, double* q, const Wide* row)
{
    v4Store(p, row->left), v4Store(q + 2, row->right);
    v2Store(p + 4, __builtin_shufflevector(row->middle, row->middle, 0, 1));
    v2Store(q, __builtin_shufflevector(row->middle, row->middle, 2, 3));
}

/* All entries of a column: PC_BLOCK rows of `width` numbers. */
typedef struct Panel {
    double* at;
    size_t width;
} Panel;

PC_INLINE Panel panelOf(const pcBlocks* A, double* factor, int k)
{
    return (Panel){factor + (size_t)A->start[k] * BB, (size_t)(A->start[k + 1] - A->start[k]) * B};
}

/* Columns k that act on one column j in turn, and have the same rows below it: every sum over them is formed in registers. */
typedef struct Run {
    int columns, rows;
    const int* row;
    Panel lower[RUN], upper[RUN]; /* what each has in row j and in these; one width for both */
} Run;

/* C_p -= X'Y_f, C_q -= X'Y_f+1, summed over the columns of a run; X is the other panel's entry 0. Three rows at a time: so many sums stay in
 * registers, if the compiler is kept from unrolling what is around them. */
PC_INLINE void subtractTwo(const Panel* C, const int* place, const Panel* X, const Panel* Y, int columns, int f)
{
    double *left = C->at + place[0] * B, *right = C->at + place[1] * B;
    PC_UNROLL(1) for (int half = 0; half < B; half += 3, left += 3 * C->width, right += 3 * C->width)
    {
        const int ahead = half == 0 ? 16 : 23; /* the next two entries: what is not here yet begins and ends there */
        Wide sum[3];
        PC_UNROLL(3) for (int i = 0; i < 3; i++) sum[i] = wideLoad(left + (size_t)i * C->width, right + (size_t)i * C->width);
        PC_UNROLL(1) for (int t = 0; t < columns; t++)
        {
            const double *x = X[t].at + half, *y = Y[t].at + f * B;
            PC_UNROLL(1) for (int k = 0; k < B; k++, x += Y[t].width, y += Y[t].width)
            {
                v4d y0 = v4Load(y), y1 = v4Load(y + 4), y2 = v4Load(y + 8);
                __builtin_prefetch(y + ahead);
                PC_UNROLL(3) for (int i = 0; i < 3; i++)
                {
                    v4d a = v4Splat(x[i]);
                    sum[i].left -= a * y0, sum[i].middle -= a * y1, sum[i].right -= a * y2;
                }
            }
        }
        PC_UNROLL(3) for (int i = 0; i < 3; i++) wideStore(left + (size_t)i * C->width, right + (size_t)i * C->width, &sum[i]);
    }
}

/* The same for one entry. */
PC_INLINE void subtractOne(const Panel* C, int place, const Panel* X, const Panel* Y, int columns, int f)
{
    double* to = C->at + place * B;
    PC_UNROLL(1) for (int half = 0; half < B; half += 3, to += 3 * C->width)
    {
        Row sum[3];
        PC_UNROLL(3) for (int i = 0; i < 3; i++) sum[i] = rowLoad(to + (size_t)i * C->width);
        PC_UNROLL(1) for (int t = 0; t < columns; t++)
        {
            const double *x = X[t].at + half, *y = Y[t].at + f * B;
            PC_UNROLL(1) for (int k = 0; k < B; k++, x += Y[t].width, y += Y[t].width)
            {
                Row row = rowLoad(y);
                PC_UNROLL(3) for (int i = 0; i < 3; i++) rowSubtract(&sum[i], x[i], &row);
            }
        }
        PC_UNROLL(3) for (int i = 0; i < 3; i++) rowStore(to + (size_t)i * C->width, &sum[i]);
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

/* What a panel of L is divided by: A_jj's factors, the reciprocals of their diagonal, and where rows go that were exchanged. */
typedef struct Divisor {
    const double* D;
    double inverse[B];
    int row[B];
} Divisor;

PC_INLINE Divisor divisorOf(const double* D, const int* pivot)
{
    Divisor divisor = {.D = D};
    int from[B];
    for (int i = 0; i < B; i++) divisor.inverse[i] = 1.0 / D[i * B + i], from[i] = i;
    for (int k = B - 1; k >= 0; k--) {
        int swap = from[k];
        from[k] = from[pivot[k]], from[pivot[k]] = swap;
    }
    for (int i = 0; i < B; i++) divisor.row[from[i]] = i;
    return divisor;
}

/* X := D'^-1 X for four columns of a panel. */
PC_INLINE void divideFour(const Divisor* divisor, double* X, size_t width)
{
    const double* D = divisor->D;
    v4d x[B];
    PC_UNROLL(6) for (int i = 0; i < B; i++)
    {
        x[i] = v4Load(X + (size_t)i * width);
        PC_UNROLL(6) for (int k = 0; k < i; k++) x[i] -= D[k * B + i] * x[k];
        x[i] *= divisor->inverse[i];
    }
    PC_UNROLL(6) for (int i = B - 2; i >= 0; i--) { PC_UNROLL(6) for (int k = i + 1; k < B; k++) x[i] -= D[k * B + i] * x[k]; }
    PC_UNROLL(6) for (int i = 0; i < B; i++) v4Store(X + (size_t)divisor->row[i] * width, x[i]);
}

/* The same for the six columns of one entry. */
PC_INLINE void divideSix(const Divisor* divisor, double* X, size_t width)
{
    const double* D = divisor->D;
    Row x[B];
    PC_UNROLL(6) for (int i = 0; i < B; i++)
    {
        x[i] = rowLoad(X + (size_t)i * width);
        PC_UNROLL(6) for (int k = 0; k < i; k++) rowSubtract(&x[i], D[k * B + i], &x[k]);
        x[i].four *= divisor->inverse[i], x[i].two *= divisor->inverse[i];
    }
    PC_UNROLL(6) for (int i = B - 2; i >= 0; i--) { PC_UNROLL(6) for (int k = i + 1; k < B; k++) rowSubtract(&x[i], D[k * B + i], &x[k]); }
    PC_UNROLL(6) for (int i = 0; i < B; i++) rowStore(X + (size_t)divisor->row[i] * width, &x[i]);
}

PC_INLINE void dividePanel(const double* D, const int* pivot, const Panel* panel)
{
    size_t c = 0;
    Divisor divisor = divisorOf(D, pivot);
    if (panel->width % 4 != 0) divideSix(&divisor, panel->at, panel->width), c = B;
    for (; c < panel->width; c += 4) divideFour(&divisor, panel->at + c, panel->width);
}

/* D = W'W, W in the upper triangle; false when D is not positive definite to working precision. */
PC_INLINE bool rootOfBlock(double* D)
{
    double largest = 0.0;
    for (int k = 0; k < B; k++) largest = larger(largest, D[k * (B + 1)]);
    for (int k = 0; k < B; k++) {
        double pivot = D[k * (B + 1)];
        if (!(pivot > 1e-300 + 1e-30 * largest)) return false;
        double root = sqrt(pivot), inverse = 1.0 / root;
        Row right = rightOf(D + k * B, k);
        right.four *= inverse, right.two *= inverse;
        for (int i = k + 1; i < B; i++) {
            Row row = rowLoad(D + i * B);
            rowSubtract(&row, D[k * B + i] * inverse, &right);
            rowStore(D + i * B, &row);
        }
        rowStore(D + k * B, &right), D[k * (B + 1)] = root;
    }
    return true;
}

/* X := W'^-1 X for a panel, W being the root of its diagonal block. */
PC_INLINE void divideByRoot(const double* W, const Panel* panel)
{
    double inverse[B];
    size_t c = 0, width = panel->width;
    for (int i = 0; i < B; i++) inverse[i] = 1.0 / W[i * (B + 1)];
    if (width % 4 != 0) {
        Row x[B];
        PC_UNROLL(6) for (int i = 0; i < B; i++)
        {
            x[i] = rowLoad(panel->at + (size_t)i * width);
            PC_UNROLL(6) for (int k = 0; k < i; k++) rowSubtract(&x[i], W[k * B + i], &x[k]);
            x[i].four *= inverse[i], x[i].two *= inverse[i];
            rowStore(panel->at + (size_t)i * width, &x[i]);
        }
        c = B;
    }
    for (; c < width; c += 4) {
        v4d x[B];
        PC_UNROLL(6) for (int i = 0; i < B; i++)
        {
            x[i] = v4Load(panel->at + (size_t)i * width + c);
            PC_UNROLL(6) for (int k = 0; k < i; k++) x[i] -= v4Splat(W[k * B + i]) * x[k];
            x[i] *= v4Splat(inverse[i]);
            v4Store(panel->at + (size_t)i * width + c, x[i]);
        }
    }
}

static bool isDone(const pcBlocks* A, int k) { return atomic_load_explicit(A->done + k, memory_order_acquire) == A->factorization; }

static void await(const pcBlocks* A, int k)
{
    for (int i = 0; !isDone(A, k); i++) pcPauseLonger(i);
}

PC_INLINE void addToRun(const pcBlocks* A, int k, int e, Run* run)
{
    Panel L = panelOf(A, A->symmetric ? A->upper : A->lower, k), U = panelOf(A, A->upper, k);
    int f = e - A->start[k];
    run->lower[run->columns] = (Panel){L.at + f * B, L.width}, run->upper[run->columns++] = (Panel){U.at + f * B, U.width};
}

/* The run that begins with the i-th of `column`; it ends before a column that is not done. The next one that acts on j is mostly the parent:
 * it has all rows of its child, so they are the same from j on if they are as many. */
PC_INLINE void gatherRun(const pcBlocks* A, int i, int end, Run* run)
{
    int k = A->column[i], e = A->at[i];
    await(A, k);
    run->columns = 0, run->rows = A->start[k + 1] - e, run->row = A->row + e;
    for (addToRun(A, k, e, run); ++i < end && run->columns < RUN; addToRun(A, k, A->at[i], run)) {
        if (A->row[A->start[k]] != A->column[i]) return;
        k = A->column[i];
        if (A->start[k + 1] - A->at[i] != run->rows || !isDone(A, k)) return;
    }
}

/* A run acts on column j, which is its row 0. */
PC_INLINE void applyRun(const pcBlocks* A, const Run* run, int j, const int* where)
{
    Panel L = panelOf(A, A->lower, j), U = panelOf(A, A->upper, j), D = {A->diagonal + (size_t)j * BB, B};
    bool both = !A->symmetric;
    subtractOne(&D, 0, run->lower, run->upper, run->columns, 0);
    int f = 1;
    for (; f + 1 < run->rows; f += 2) {
        const int place[] = {where[run->row[f]], where[run->row[f + 1]]};
        if (both) subtractTwo(&L, place, run->upper, run->lower, run->columns, f);
        subtractTwo(&U, place, run->lower, run->upper, run->columns, f);
    }
    if (f == run->rows) return;
    if (both) subtractOne(&L, where[run->row[f]], run->upper, run->lower, run->columns, f);
    subtractOne(&U, where[run->row[f]], run->lower, run->upper, run->columns, f);
}

typedef struct Factors {
    pcBlocks* A;
    pcBlocksFill* fill; /* NULL: the values are there */
    const void* context;
    _Atomic bool singular;
} Factors;

/* Column j's values, block by block, to `work`: in its place they become panels. */
PC_INLINE void fillColumn(const Factors* factors, int j, const int* where, double* work)
{
    pcBlocks* A = factors->A;
    size_t first = (size_t)A->start[j] * BB, half = (size_t)(A->start[j + 1] - A->start[j]) * BB, size = half * sizeof(double);
    pcBlocksColumn column = {.diagonal = A->diagonal + (size_t)j * BB, .lower = work + half, .upper = work, .where = where};
    if (factors->fill) {
        if (A->symmetric) column.lower = NULL;
        memset(column.diagonal, 0, BB * sizeof(double)), memset(work, 0, A->symmetric ? size : 2 * size);
        factors->fill(factors->context, A, A->order[j], &column);
    } else {
        for (size_t c = 0; c < half; c += 4)
            v4Store(work + c, v4Load(A->upper + first + c)), v4Store(work + half + c, v4Load(A->lower + first + c));
    }
}

/* to = X', in a panel */
PC_INLINE void turnBlock(const double* X, double* to, size_t width)
{
    const double* const rows[] = {X, X + B, X + 2 * B, X + 3 * B};
    v4d four[B];
    v4TurnSix(rows, four);
    PC_UNROLL(6) for (int k = 0; k < B; k++, to += width) { v4Store(to, four[k]), v2Store(to + 4, (v2d){X[4 * B + k], X[5 * B + k]}); }
}

PC_INLINE void spreadColumn(const pcBlocks* A, int j, const double* work)
{
    int count = A->start[j + 1] - A->start[j];
    Panel L = panelOf(A, A->lower, j), U = panelOf(A, A->upper, j);
    const double *upper = work, *lower = work + (size_t)count * BB;
    for (int f = 0; f < count; f++, lower += BB, upper += BB) {
        if (!A->symmetric) turnBlock(lower, L.at + f * B, L.width);
        PC_UNROLL(6) for (int k = 0; k < B; k++)
        {
            Row row = rowLoad(upper + k * B);
            rowStore(U.at + (size_t)k * U.width + f * B, &row);
        }
    }
}

/* A column that has no factors is done all the same: nobody waits for ever. */
PC_INLINE void factorColumn(Factors* factors, int j, int* where, double* work)
{
    pcBlocks* A = factors->A;
    double* D = A->diagonal + (size_t)j * BB;
    Panel L = panelOf(A, A->lower, j), U = panelOf(A, A->upper, j);
    Run run;
    for (int e = A->start[j]; e < A->start[j + 1]; e++) where[A->row[e]] = e - A->start[j];
    fillColumn(factors, j, where, work), spreadColumn(A, j, work);
    for (int i = A->rowStart[j]; i < A->rowStart[j + 1]; i += run.columns)
        gatherRun(A, i, A->rowStart[j + 1], &run), applyRun(A, &run, j, where);
    if (A->symmetric ? rootOfBlock(D) : factorBlock(D, A->pivot + j * B))
        A->symmetric ? divideByRoot(D, &U) : dividePanel(D, A->pivot + j * B, &L);
    else
        atomic_store(&factors->singular, true);
    atomic_store_explicit(A->done + j, A->factorization, memory_order_release);
}

PC_SIMD static void factorColumns(void* context, int task, int worker)
{
    Factors* factors = context;
    const pcBlocks* A = factors->A;
    int* where = A->where + (size_t)worker * (size_t)A->n;
    double* work = A->work + (size_t)worker * A->workSize;
    for (int i = A->taskStart[task]; i < A->taskStart[task + 1]; i++) factorColumn(factors, A->task[i], where, work);
}

static bool factorAll(pcBlocks* A, bool symmetric, pcBlocksFill* fill, const void* context)
{
    Factors factors = {.A = A, .fill = fill, .context = context};
    A->factorization++, A->symmetric = symmetric;
    pcPoolShare(A->pool, factorColumns, &factors, A->tasks);
    return !atomic_load(&factors.singular);
}

bool pcBlocksFactor(pcBlocks* A) { return factorAll(A, false, NULL, NULL); }

bool pcBlocksFactorFilled(pcBlocks* A, pcBlocksFill* fill, const void* context) { return factorAll(A, false, fill, context); }

bool pcBlocksFactorSymmetric(pcBlocks* A, pcBlocksFill* fill, const void* context) { return factorAll(A, true, fill, context); }

/* ---- Solution ------------------------------------------------------------------------------------------------------------------ */

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

/* y_i -= L_ik x for all entries of column k, whose panel and rows these are. Products are added in the same order here and in subtractRow. */
PC_INLINE void subtractColumn(const Panel* L, const int* row, const double* x, double* y)
{
    size_t f = 0;
    for (; (f + 2) * B <= L->width; f += 2) {
        double *p = y + row[f] * B, *q = y + row[f + 1] * B;
        Wide sum = wideLoad(p, q), each[B];
        PC_UNROLL(6) for (int k = 0; k < B; k++)
        {
            const double* from = L->at + (size_t)k * L->width + f * B;
            each[k] = (Wide){x[k] * v4Load(from), x[k] * v4Load(from + 4), x[k] * v4Load(from + 8)};
        }
        sum.left -= ((each[0].left + each[4].left) + (each[1].left + each[5].left)) + (each[2].left + each[3].left);
        sum.middle -= ((each[0].middle + each[4].middle) + (each[1].middle + each[5].middle)) + (each[2].middle + each[3].middle);
        sum.right -= ((each[0].right + each[4].right) + (each[1].right + each[5].right)) + (each[2].right + each[3].right);
        wideStore(p, q, &sum);
    }
    if (f * B < L->width) {
        Row sum = rowLoad(y + row[f] * B), each[B];
        PC_UNROLL(6) for (int k = 0; k < B; k++)
        {
            Row from = rowLoad(L->at + (size_t)k * L->width + f * B);
            each[k] = (Row){x[k] * from.four, x[k] * from.two};
        }
        sum.four -= ((each[0].four + each[4].four) + (each[1].four + each[5].four)) + (each[2].four + each[3].four);
        sum.two -= ((each[0].two + each[4].two) + (each[1].two + each[5].two)) + (each[2].two + each[3].two);
        rowStore(y + row[f] * B, &sum);
    }
}

/* {a0 + a1, b0 + b1, a2 + a3, b2 + b3} */
PC_INLINE v4d halves(v4d a, v4d b) { return __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7); }

/* x -= the sums of the four numbers of each */
PC_INLINE void subtractSums(const v4d each[B], Row* x)
{
    v4d upper = halves(each[0], each[1]), lower = halves(each[2], each[3]), last = halves(each[4], each[5]);
    x->four -= __builtin_shufflevector(upper, lower, 0, 1, 4, 5) + __builtin_shufflevector(upper, lower, 2, 3, 6, 7);
    x->two -= __builtin_shufflevector(last, last, 0, 1) + __builtin_shufflevector(last, last, 2, 3);
}

/* x -= U_ki y_i for all entries of row k, one after the other */
PC_INLINE void subtractRow(const Panel* U, const int* row, const double* y, double* x)
{
    const v4i before = {-1, -1, 0, 0};
    const v4d none = v4Splat(0.0);
    size_t f = 0;
    Row sum = rowLoad(x);
    v4d first[B], second[B];
    for (; (f + 2) * B <= U->width; f += 2) {
        Wide at = wideLoad(y + row[f] * B, y + row[f + 1] * B);
        PC_UNROLL(6) for (int k = 0; k < B; k++)
        {
            const double* from = U->at + (size_t)k * U->width + f * B;
            v4d middle = at.middle * v4Load(from + 4);
            first[k] = at.left * v4Load(from) + v4Select(before, middle, none);
            second[k] = at.right * v4Load(from + 8) + v4Select(before, none, middle);
        }
        subtractSums(first, &sum), subtractSums(second, &sum);
    }
    if (f * B < U->width) {
        Row at = rowLoad(y + row[f] * B);
        PC_UNROLL(6) for (int k = 0; k < B; k++)
        {
            Row from = rowLoad(U->at + (size_t)k * U->width + f * B);
            first[k] = at.four * from.four + __builtin_shufflevector(at.two * from.two, (v2d){0.0, 0.0}, 0, 1, 2, 3);
        }
        subtractSums(first, &sum);
    }
    rowStore(x, &sum);
}

/* Right sides that touch a few bodies leave most columns with nothing to act with. */
PC_INLINE bool isNothing(const double* x) { return x[0] == 0.0 && x[1] == 0.0 && x[2] == 0.0 && x[3] == 0.0 && x[4] == 0.0 && x[5] == 0.0; }

/* x := W'^-1 x, and x := W^-1 x */
PC_INLINE void solveTurnedRoot(const double* W, double* x)
{
    PC_UNROLL(6) for (int k = 0; k < B; k++)
    {
        x[k] /= W[k * (B + 1)];
        PC_UNROLL(6) for (int i = k + 1; i < B; i++) x[i] -= W[k * B + i] * x[k];
    }
}

PC_INLINE void solveRoot(const double* W, double* x)
{
    PC_UNROLL(6) for (int i = B - 1; i >= 0; i--)
    {
        PC_UNROLL(6) for (int k = i + 1; k < B; k++) x[i] -= W[i * B + k] * x[k];
        x[i] /= W[i * (B + 1)];
    }
}

PC_INLINE void solveForward(const pcBlocks* A, double* x)
{
    for (int k = 0; k < A->n; k++, x += B) {
        if (isNothing(x)) continue;
        Panel L = panelOf(A, A->symmetric ? A->upper : A->lower, k);
        if (A->symmetric) solveTurnedRoot(A->diagonal + (size_t)k * BB, x);
        subtractColumn(&L, A->row + A->start[k], x, A->x);
    }
}

PC_INLINE void solveBackward(const pcBlocks* A, double* x)
{
    for (int k = A->n - 1; k >= 0; k--) {
        Panel U = panelOf(A, A->upper, k);
        const double* D = A->diagonal + (size_t)k * BB;
        subtractRow(&U, A->row + A->start[k], x, x + k * B);
        A->symmetric ? solveRoot(D, x + k * B) : solveBlock(D, A->pivot + k * B, x + k * B);
    }
}

PC_SIMD void pcBlocksSolve(pcBlocks* A, double* b)
{
    double* x = A->x;
    for (int i = 0; i < A->n; i++) memcpy(x + A->place[i] * B, b + i * B, B * sizeof *x);
    solveForward(A, x);
    solveBackward(A, x);
    for (int i = 0; i < A->n; i++) memcpy(b + i * B, x + A->place[i] * B, B * sizeof *x);
}

int pcBlocksSign(const pcBlocks* A)
{
    int sign = 1;
    for (int e = 0; e < A->n * B && !A->symmetric; e++) {
        bool negative = A->diagonal[(size_t)(e / B) * BB + (size_t)(e % B * (B + 1))] < 0.0, swapped = A->pivot[e] != e % B;
        if (negative != swapped) sign = -sign;
    }
    return sign;
}
