/* Energies of an island. */
#include "stepper/stepper.h"

double pcMassProduct(const pcProblem* p, const double* x, const double* y)
{
    size_t n = 6 * (size_t)p->blocks;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        size_t start = p->dense ? 0 : i - i % 6, end = p->dense ? n : start + 6;
        const double* row = p->dense ? p->mass + i * n : p->mass + 6 * i - start; /* block b, row r: 36 b + 6 r = 6 i; column k - start */
        for (size_t k = start; k < end; k++) sum += x[i] * row[k] * y[k];
    }
    return sum;
}

double pcKineticEnergy(const pcProblem* problem, const double* v) { return 0.5 * pcMassProduct(problem, v, v); }
