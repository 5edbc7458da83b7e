/* Round bodies in `pcontact bench metric`: against libccd at the accuracy that is asked for, and against ODE's own colliders. */
#ifndef PC_ADAPTERS_CLI_BENCH_ROUND_H
#define PC_ADAPTERS_CLI_BENCH_ROUND_H

#include <stdio.h>

#include "adapters/cli/bench_pairs.h"

/* Adds to the figures below target; the CSV file may be NULL. */
pcStatus benchRound(BenchRig* rig, FILE* csv, int* belowTarget);

#endif
