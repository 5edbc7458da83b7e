/*
 * Counting what the whole program allocates, and refusing it, by standing before the C library. Where a sanitizer stands already, nothing is
 * counted and nothing refused.
 */
#ifndef PC_UNIT_COUNTING_H
#define PC_UNIT_COUNTING_H

#include <stdbool.h>
#include <stdlib.h> /* says which C library this is */

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define COUNTS_ALLOCATIONS 1
#else
#define COUNTS_ALLOCATIONS 0
#endif

/* Blocks asked for since the program began, on all threads. */
long allocationCount(void);

/* Blocks that are held: asked for and not given back. */
long allocationsHeld(void);

/* The same as the first between two places. */
void pcCountingStart(void);
int pcCountingStop(void);

/* From now on the block number `count` (from 1) that this library asks for is refused, and with `onwards` all that follow. What ODE, the C library
 * and the C++ library ask for, they get: a host that is out of memory by itself is not our affair. */
void pcAllocationsRefuse(long count, bool onwards);

/* The same of what qhull asks for on behalf of this library. */
void pcAllocationsRefuseQhull(long count, bool onwards);

/* No more; returns how many were. */
long pcAllocationsAllow(void);

#endif
