#include "linalg/mass.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"
#include "linalg/dense.h"

#define B 6
#define BB 36

/* Six rows are not worth the way to LAPACK and back. On the diagonal are the reciprocals, so that solving does not divide. */
static bool factorBlock(const double* A, double* L)
{
    for (int i = 0; i < B; i++) {
        for (int j = 0; j <= i; j++) {
            double sum = A[i * B + j];
            for (int k = 0; k < j; k++) sum -= L[i * B + k] * L[j * B + k];
            if (i == j && !(sum > 0.0)) return false;
            L[i * B + j] = i == j ? 1.0 / sqrt(sum) : sum * L[j * B + j];
        }
    }
    return true;
}

bool pcMassFactor(pcMass* mass, int blocks, bool dense, const double* M, pcArena* arena)
{
    size_t size = dense ? (size_t)(B * blocks) * (size_t)(B * blocks) : (size_t)blocks * BB;
    *mass = (pcMass){.blocks = blocks, .dense = dense, .L = pcArenaRaw(arena, double, size)};
    if (!mass->L) return false;
    if (dense) {
        memcpy(mass->L, M, size * sizeof *M);
        return blocks == 0 || pcCholeskyFactor(B * blocks, mass->L, B * blocks) == 0;
    }
    for (int i = 0; i < blocks; i++) {
        if (!factorBlock(M + (size_t)i * BB, mass->L + (size_t)i * BB)) return false;
    }
    return true;
}

void pcMassSolveBlock(const pcMass* mass, int block, double* x)
{
    const double* L = mass->L + (size_t)block * BB;
    for (int i = 0; i < B; i++) {
        for (int k = 0; k < i; k++) x[i] -= L[i * B + k] * x[k];
        x[i] *= L[i * B + i];
    }
    for (int i = B - 1; i >= 0; i--) {
        for (int k = i + 1; k < B; k++) x[i] -= L[k * B + i] * x[k];
        x[i] *= L[i * B + i];
    }
}

PC_SIMD void pcMassSolveRows(const pcMass* mass, int block, int rows, const double* from, double* to, int stride)
{
    static const double nothing[B];
    const double* L = mass->L + (size_t)block * BB;
    for (int first = 0; first < rows; first += 4) {
        const double* row[4];
        v4d x[B];
        for (int r = 0; r < 4; r++) row[r] = first + r < rows ? from + (size_t)(first + r) * (size_t)stride : nothing;
        v4TurnSix(row, x);
        PC_UNROLL(6)
        for (int i = 0; i < B; i++) {
            PC_UNROLL(6)
            for (int k = 0; k < B; k++)
                if (k < i) x[i] -= v4Splat(L[i * B + k]) * x[k];
            x[i] *= v4Splat(L[i * B + i]);
        }
        PC_UNROLL(6)
        for (int i = B - 1; i >= 0; i--) {
            PC_UNROLL(6)
            for (int k = 0; k < B; k++)
                if (k > i) x[i] -= v4Splat(L[k * B + i]) * x[k];
            x[i] *= v4Splat(L[i * B + i]);
        }
        v4Turn(x);
        for (int r = 0; r < 4 && first + r < rows; r++) {
            double* out = to + (size_t)(first + r) * (size_t)stride;
            v4Store(out, x[r]), out[4] = x[4][r], out[5] = x[5][r];
        }
    }
}

void pcMassSolve(const pcMass* mass, double* x)
{
    if (mass->dense) {
        if (mass->blocks) pcCholeskySolve(B * mass->blocks, mass->L, B * mass->blocks, x);
        return;
    }
    for (int i = 0; i < mass->blocks; i++) pcMassSolveBlock(mass, i, x + B * i);
}
