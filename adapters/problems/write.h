/* Problems into files that pcProblemRead reads back, bit for bit. */
#ifndef PC_ADAPTERS_PROBLEMS_WRITE_H
#define PC_ADAPTERS_PROBLEMS_WRITE_H

#include <stdio.h>

#include "solver/problem.h"

/* A number with a decimal point, whatever the program's locale has. */
void pcWriteNumber(FILE* file, double number, int digits);

/* The problem of an island, in velocity form, and the answer that was found; c NULL: without one. */
typedef struct pcStepProblem {
    const pcProblem* problem;
    double tolerance; /* that the answer should have met */
    const double *v, *c;
} pcStepProblem;

/* false: the file could not be written in full. */
bool pcProblemWrite(const char* path, const pcStepProblem* step);

#endif
