/* The rows of a sweep, one per trial: in memory by their number, and as lines of CSV. */
#ifndef PC_SWEEP_TABLE_H
#define PC_SWEEP_TABLE_H

#include "adapters/sweep/plan.h"

enum { PC_TABLE_LINE = PC_SWEEP_COLUMNS * 160 }; /* room for any line */

typedef struct pcTable {
    const pcPlan* plan;
    double* value;       /* plan->columns for each trial */
    unsigned char* done; /* of each trial: its row is there */
    long long rows;      /* that are */
} pcTable;

pcStatus pcTableMake(const pcPlan* plan, pcTable* out);
void pcTableFree(pcTable* table);

void pcTablePut(pcTable* table, long long trial, const double* row); /* a row that is there already stays */
const double* pcTableRow(const pcTable* table, long long trial);     /* NULL: it is not there */

/* Lines with their line feeds; the length. */
size_t pcTablePrintHeader(const pcPlan* plan, char line[PC_TABLE_LINE]);
size_t pcTablePrintRow(const pcPlan* plan, long long trial, const double* row, char line[PC_TABLE_LINE]);

/* A line without its line feed, which it changes; false: it is not a row of this plan. */
bool pcTableReadRow(const pcPlan* plan, char* line, long long* trial, double* row);

#endif
