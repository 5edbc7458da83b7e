/* Counting what the whole program allocates, by standing before the C library. Where a sanitizer stands already, nothing is counted. */
#ifndef PC_UNIT_COUNTING_H
#define PC_UNIT_COUNTING_H

#include <stdlib.h> /* says which C library this is */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
#else
#define COUNTS_ALLOCATIONS 0
#endif

/* Blocks asked for since the program began, on all threads. */
long allocationCount(void);

/* The same between two places. */
void pcCountingStart(void);
int pcCountingStop(void);

#endif
