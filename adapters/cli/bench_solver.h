/* pcontact bench solver: what its tables share. */
#ifndef PC_ADAPTERS_CLI_BENCH_SOLVER_H
#define PC_ADAPTERS_CLI_BENCH_SOLVER_H

#include <stdbool.h>
#include <stdio.h>

#define BENCH_TOLERANCE 1e-8 /* what counts as solved, in every table */
#define BENCH_PLANAR_TOLERANCE \
    1e-12 /* ... of contact problems in two dimensions: their cones are polygons, answers are exact to rounding */

typedef struct SolverBench {
    FILE* csv;
    bool quick;
    int missed;      /* answers of ours that are worse than BENCH_TOLERANCE */
    int belowTarget; /* times */
} SolverBench;

/* One line of the CSV file; what does not apply is negative and stays empty. */
typedef struct SolverRow {
    const char *table, *problem, *method;
    int contacts, iterations, fallbacks;
    double residual, ms, ratio;
} SolverRow;
void solverCsv(const SolverBench* bench, const SolverRow* row);

/* Each prints a table and returns an exit code. */
int solverConesTable(SolverBench* bench); /* bench_cones.c */
int solverBoxesTable(SolverBench* bench); /* bench_boxes.c */

#endif
