/* What came out of a sweep, as a page: how every number is spread, and over two grids a map of where it succeeded. */
#ifndef PC_CLI_SWEEP_PAGE_H
#define PC_CLI_SWEEP_PAGE_H

#include "adapters/cli/pages.h"
#include "adapters/sweep/summary.h"

/* 0, or an exit code after one sentence. */
int pcCliSweepPage(pcCliPage* page, const char* world, const pcSummary* summary);

#endif
