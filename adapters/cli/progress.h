/* Progress on a terminal, for what takes more than a second; nothing in a pipe. */
#ifndef PC_CLI_PROGRESS_H
#define PC_CLI_PROGRESS_H

#include <stdbool.h>

typedef struct pcProgress {
    const char* name; /* NULL: silent */
    double start, shown;
} pcProgress;

/* Seconds of a clock that only goes forward. */
double pcCliClock(void);

pcProgress pcProgressBegin(const char* nameOrNull);

/* Often, with how much of `all` is done and what the unit is called. */
void pcProgressShow(pcProgress* progress, double done, double all, const char* unit);

/* Wipes the line, if there is one. */
void pcProgressEnd(pcProgress* progress);

#endif
