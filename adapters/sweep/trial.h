/* One trial: the world with its parameters, played to its end. */
#ifndef PC_SWEEP_TRIAL_H
#define PC_SWEEP_TRIAL_H

#include "adapters/sweep/plan.h"

enum { PC_TRIAL_REASON = 160 };

/* What one thread needs to run trials, one after the other. */
typedef struct pcTrialRunner pcTrialRunner;

pcStatus pcTrialRunnerMake(const pcPlan* plan, pcTrialRunner** out);
void pcTrialRunnerFree(pcTrialRunner* runnerOrNull);

/* Fills a number for each column of the plan, NaN where there is none; `reason` says why the status is not ok, "" if it is. */
void pcTrialRun(pcTrialRunner* runner, long long trial, double* row, char reason[PC_TRIAL_REASON]);

#endif
