/* What the public calls of pcontact/lcp.h share. */
#ifndef PC_SOLVER_PUBLIC_H
#define PC_SOLVER_PUBLIC_H

#include <stdbool.h>

#include "pcontact/lcp.h"

#define PC_LARGEST_PROBLEM 46340 /* rows: their square still counts in an int, and fills 17 GB */

/* false: refused, and pcLastError() says why. */
bool pcSolveSettingsGood(const pcSolveSettings* settings);

#endif
