/* A step that missed its tolerance, from the file that it left (dump=FOLDER), solved again. */
#ifndef PC_UNIT_STEP_FILE_H
#define PC_UNIT_STEP_FILE_H

#include <stdbool.h>

#include "adapters/problems/read.h"

typedef struct StepFile {
    pcProblemFile file;
    double then;      /* how far the answer in the file is off, measured anew; infinite if it has none */
    pcSolveInfo info; /* of the solver */
    double now;       /* likewise its answer: residual or momentum by the certificate, whichever is worse */
    double *v, *c;    /* its answer */
} StepFile;

/* By the named solver; tolerance 0: that of the file. False, and the test has failed, if there is no such step. End it with stepFileEnd. */
bool stepFileSolve(const char* path, const char* solver, double tolerance, StepFile* out);
void stepFileEnd(StepFile* step);

#endif
