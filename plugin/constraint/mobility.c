/* Mass from mobility: the inverse of a dense symmetric positive definite matrix. */
#include "constraint/constraint.h"

#include <string.h>

#include "linalg/dense.h"

/* Pivots that are no more than rounding of their diagonal: not positive definite, whatever the factor says. */
static bool isRounding(const double* matrix, const double* L, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!(L[i * n + i] * L[i * n + i] > 4.0 * PC_ROUND * (double)n * matrix[i * n + i])) return true;
    return false;
}

bool pcInvertSymmetric(const double* matrix, int size, double* inverse)
{
    size_t n = (size_t)size;
    memcpy(inverse, matrix, n * n * sizeof *inverse);
    if (size == 0) return true;
    if (pcCholeskyFactor(size, inverse, size) != 0 || isRounding(matrix, inverse, n)) return false;
    if (pcCholeskyInvert(size, inverse, size) != 0) return false;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) inverse[i * n + k] = inverse[k * n + i]; /* column-major: the lower triangle is the upper here */
    return true;
}
