#define _POSIX_C_SOURCE 200809L
#include "adapters/cli/progress.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

double pcCliClock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

pcProgress pcProgressBegin(const char* nameOrNull) { return (pcProgress){isatty(STDERR_FILENO) ? nameOrNull : NULL, pcCliClock(), 0.0}; }

void pcProgressShow(pcProgress* p, double done, double all, const char* unit)
{
    if (!p->name) return;
    double now = pcCliClock();
    if (now - p->start < 1.0 || now - p->shown < 0.2) return;
    p->shown = now;
    fprintf(stderr, "\r%s: %.4g of %.4g %s ", p->name, done, all, unit);
}

void pcProgressEnd(pcProgress* p)
{
    if (p->shown > 0.0) fprintf(stderr, "\r%60s\r", "");
    p->shown = 0.0;
}
