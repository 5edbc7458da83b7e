/*
 * Runs degenerate cases through pcMetricPair and judges every answer by its certificate. Shared by the fuzz program and the tests.
 */
#ifndef PC_FUZZ_RUN_H
#define PC_FUZZ_RUN_H

#include <stdio.h>

#include "test_worlds/fuzz/cases.h"

/* What the library promises of r, relative. */
#define PC_PROMISED_ERROR 1e-13

#define PC_MAX_FAMILIES 64
#define PC_METRIC_PATHS 5

/* Everything that can go wrong with an answer, and the sentence for it. */
#define PC_FAULT_TABLE(X)                                                       \
    X(WRONG, "wrong", "r is off by more than 1e-13")                            \
    X(BOUNDS, "bounds", "the true r, or r itself, lies outside [lower, upper]") \
    X(STATUS, "status", "no answer, or one where the centres coincide")         \
    X(NORMAL, "normal", "`normal` is not unit, or does not prove r")            \
    X(GAP, "gap", "`gap` is not the distance across `normal`")                  \
    X(POINT, "point", "`point`, its pre-images or `rho` do not belong to r")    \
    X(SWAP, "swap", "r changes when the bodies change places")                  \
    X(SCALE, "scale", "r changes with the unit of length")                      \
    X(SHAPES, "shapes", "the shapes of a block could not be made")              \
    X(JUDGE, "judge", "the judge could not certify the case (its own fault, not the library's)")

#define PC_FAULT_ID_(id, name, text) PC_FAULT_##id,
typedef enum pcFault { PC_FAULT_TABLE(PC_FAULT_ID_) PC_FAULT_COUNT } pcFault;
#undef PC_FAULT_ID_

typedef struct pcTally {
    long long cases;
    long long fault[PC_FAULT_COUNT];
    long long path[PC_METRIC_PATHS];
    long long border;     /* one-sided with the centre on the surface: either form was accepted */
    long long coincident; /* correctly refused */
    long long refused;    /* shapes that were drawn again */
    long long pivots;     /* of the judge */
    double worstError, worstWidth;
    uint64_t worstCase;
} pcTally;

typedef struct pcFuzzPlan {
    uint64_t seed;
    long long cases; /* 0: no limit */
    double seconds;  /* 0: no limit */
    int family;      /* -1: all, block by block in turn */
    long long only;  /* >= 0: just this case of `family` */
    int jobs;
    FILE* log; /* the first faults of each family, and progress if `progress`; NULL: silent */
    bool progress;
} pcFuzzPlan;

/* `tally` has PC_MAX_FAMILIES entries. Returns the number of faults. */
long long pcFuzzRun(const pcFuzzPlan* plan, pcTally* tally);

/* One line per family, and a last one for all. */
void pcFuzzPrint(FILE* out, const pcTally* tally);

long long pcTallyFaults(const pcTally* tally);
void pcTallyAdd(pcTally* sum, const pcTally* more);

/* Seconds of a clock that only goes forward. */
double pcFuzzClock(void);

#endif
