/*
 * What came out of a sweep: how often it succeeded, how every number is spread, and over one or two grids a map of where it succeeded.
 * As a table for people, and as files for programs:
 *
 *   summary.csv    a line for each column: count, mean, deviation, quantiles
 *   summary.json   the same with histograms, how many trials ended how, and how often they succeeded
 *   map.csv        a line for each cell of the grids: trials, successes, rate and its bounds
 *   map.json       the axes of up to two grids and the rates as rows: picture data
 */
#ifndef PC_SWEEP_SUMMARY_H
#define PC_SWEEP_SUMMARY_H

#include "adapters/sweep/table.h"

enum { PC_QUANTILES = 9, PC_HISTOGRAM = 20 };
extern const double pcQuantiles[PC_QUANTILES]; /* 0 … 1, the median in the middle */

typedef struct pcSpreadOf {
    long long count; /* of finite numbers; all else is 0 if there are none */
    double mean, deviation, quantile[PC_QUANTILES];
    long long histogram[PC_HISTOGRAM]; /* from the least to the most */
} pcSpreadOf;

/* Successes among trials, with Wilson's bounds for 95 %. */
typedef struct pcRate {
    long long trials, successes;
    double rate, low, high; /* NaN without trials */
} pcRate;

typedef struct pcSummary {
    const pcPlan* plan;
    long long rows, status[PC_TRIAL_STATUSES];
    pcRate success;
    pcSpreadOf column[PC_SWEEP_COLUMNS]; /* parameters by words and the status: none */
    pcRate* cell;                        /* plan->cells; NULL without grids, or without a formula of success */
    double reach;                        /* how far off a place may be taken, along each grid */
    bool hasBest;
    double best[PC_SWEEP_VARIES]; /* of each grid, in their order: where success is most likely if it is missed by up to `reach` */
    double bestRate;              /* there, mean over what is within reach */
} pcSummary;

/* `reach` 0: only the cell itself. */
pcStatus pcSummaryMake(const pcTable* table, double reach, pcSummary** out);
void pcSummaryFree(pcSummary* summaryOrNull);

void pcSummaryTell(const pcSummary* summary); /* on stdout */

/* Beside the rows, as store.h does it. */
pcStatus pcSummaryWrite(const pcSummary* summary, const char* base);

#endif
