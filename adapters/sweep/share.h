/*
 * Sharing the trials of a plan among the threads of this process and, in a job of several, the other processes. Rank 0 has the list of what is
 * missing, hands it out as it is asked for, and notes each row as it comes in; the others ask, run, and send. Nobody waits for a slower one
 * but at the very end.
 */
#ifndef PC_SWEEP_SHARE_H
#define PC_SWEEP_SHARE_H

#include "adapters/sweep/ranks.h"
#include "adapters/sweep/store.h"
#include "adapters/sweep/trial.h"

typedef struct pcShare {
    const pcPlan* plan;
    pcTable* table;
    pcStore* store;                                                                 /* or NULL: rows are kept in memory alone */
    const pcRanks* ranks;                                                           /* or NULL: this process alone */
    int threads;                                                                    /* of this process */
    void (*progress)(void* context, long long done, long long all, double seconds); /* or NULL; done: of those that were missing */
    void* context;
    /* written: */
    long long ran, ranHere;       /* trials, and those of this process */
    int workers;                  /* threads of all processes */
    double seconds, processor;    /* from the start, and processor time of this process */
    char reason[PC_TRIAL_REASON]; /* of the first trial that was not ok */
    long long reasonTrial;
} pcShare;

/* Rank 0: runs all that the table lacks. The other ranks are dismissed with the exit code that follows from the status. */
pcStatus pcShareRun(pcShare* share);

/* Rank 0, where there is nothing to run: sends the others home. */
void pcShareDismiss(const pcRanks* ranksOrNull, int code);

/* The other ranks, with NULL where their plan could not be made: the exit code that rank 0 sends. */
int pcShareServe(const pcRanks* ranks, const pcPlan* planOrNull, int threads);

#endif
