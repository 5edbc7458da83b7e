/* Rows of a problem in velocity form: J v and J'c, one row at a time. */
#ifndef PC_SOLVER_ROWS_H
#define PC_SOLVER_ROWS_H

#include "base/simd.h"
#include "solver/problem.h"
#include "solver/touching.h"

PC_INLINE double dotSix(const double* a, const double* b)
{
    return ((a[0] * b[0] + a[1] * b[1]) + (a[2] * b[2] + a[3] * b[3])) + (a[4] * b[4] + a[5] * b[5]);
}

/* J v of one row. */
PC_INLINE double rowTimes(const pcProblem* p, int row, const double* v)
{
    const int* block = p->block + 2 * (size_t)row;
    const double* J = p->J + 12 * (size_t)row;
    double sum = block[0] >= 0 ? dotSix(J, v + 6 * (size_t)block[0]) : 0.0;
    return block[1] >= 0 ? sum + dotSix(J + 6, v + 6 * (size_t)block[1]) : sum;
}

/* x += a J' of one row. */
PC_INLINE void addRow(const pcProblem* p, int row, double a, double* x)
{
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * (size_t)row + (size_t)side];
        const double* J = p->J + 12 * (size_t)row + 6 * side;
        if (block < 0) continue;
        double* to = x + 6 * (size_t)block;
        v4Store(to, v4Load(to) + v4Splat(a) * v4Load(J));
        to[4] += a * J[4], to[5] += a * J[5];
    }
}

/* x += J'c of one block, c being that of its cones times `times`, by their `own` if that is not NULL. */
PC_INLINE void addTouching(const pcProblem* p, const pcTouching* touching, int block, double times, const double* own, const double* c,
                           double* x)
{
    v4d four = v4Load(x);
    v2d two = {x[4], x[5]}, right;
    for (int i = touching->start[block]; i < touching->start[block + 1]; i++) {
        int k = touching->cone[i], row = p->cone[k].row, end = row + p->cone[k].rows;
        const double* J = p->J + 12 * (size_t)row + (p->block[2 * (size_t)row] == block ? 0 : 6);
        double scale = own ? times / own[k] : times;
        for (; row < end; row++, J += 12) {
            double a = scale * c[row];
            if (a == 0.0) continue;
            __builtin_memcpy(&right, J + 4, sizeof right);
            four += v4Splat(a) * v4Load(J), two += (v2d){a, a} * right;
        }
    }
    v4Store(x, four), x[4] = two[0], x[5] = two[1];
}

#endif
