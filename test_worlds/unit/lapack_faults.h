/* LAPACK that says it failed. Standing before it, the call number `count` (from 1) gets info = 1, and with `onwards` all that follow. */
#ifndef PC_UNIT_LAPACK_FAULTS_H
#define PC_UNIT_LAPACK_FAULTS_H

#include <stdbool.h>

void pcLapackFail(long count, bool onwards);

/* No more; returns how many did. */
long pcLapackWork(void);

#endif
