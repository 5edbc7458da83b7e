/* Threads that run trials: numbers in, rows out, in whatever order they end. One thread, the master, gives and takes. */
#ifndef PC_SWEEP_CREW_H
#define PC_SWEEP_CREW_H

#include "adapters/sweep/trial.h"

typedef struct pcCrew pcCrew;

/* A trial that has ended. */
typedef struct pcEnded {
    long long trial;
    char reason[PC_TRIAL_REASON];
    double row[PC_SWEEP_COLUMNS]; /* as many as the plan has columns */
} pcEnded;

pcStatus pcCrewStart(const pcPlan* plan, int threads, pcCrew** out);
void pcCrewStop(pcCrew* crewOrNull); /* when the trials under way have ended; those that wait are forgotten */

pcStatus pcCrewGive(pcCrew* crew, const long long* trials, int count);
int pcCrewWaiting(pcCrew* crew); /* trials that nobody has begun */

/* Waits up to so many seconds for one; false: none has ended. */
bool pcCrewTake(pcCrew* crew, double seconds, pcEnded* out);

#endif
