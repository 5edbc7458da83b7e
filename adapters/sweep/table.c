#include "adapters/sweep/table.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

pcStatus pcTableMake(const pcPlan* plan, pcTable* out)
{
    size_t trials = (size_t)plan->trials;
    *out = (pcTable){.plan = plan};
    out->value = malloc(trials * (size_t)plan->columns * sizeof *out->value);
    out->done = calloc(trials, 1);
    if (out->value && out->done) return PC_OK;
    pcTableFree(out);
    return pcFail(PC_ERROR_MEMORY, "out of memory for %lld trials with %d numbers each", plan->trials, plan->columns);
}

void pcTableFree(pcTable* table)
{
    free(table->value);
    free(table->done);
    *table = (pcTable){.plan = NULL};
}

void pcTablePut(pcTable* t, long long trial, const double* row)
{
    size_t width = (size_t)t->plan->columns;
    if (t->done[trial]) return;
    memcpy(t->value + (size_t)trial * width, row, width * sizeof *row);
    t->done[trial] = 1;
    t->rows++;
}

const double* pcTableRow(const pcTable* t, long long trial)
{
    return t->done[trial] ? t->value + (size_t)trial * (size_t)t->plan->columns : NULL;
}

/* ---- lines ---- */

size_t pcTablePrintHeader(const pcPlan* plan, char line[PC_TABLE_LINE])
{
    int at = snprintf(line, PC_TABLE_LINE, "trial");
    for (int i = 0; i < plan->columns; i++) at += snprintf(line + at, (size_t)(PC_TABLE_LINE - at), ",%s", plan->column[i].name);
    return (size_t)at + (size_t)snprintf(line + at, (size_t)(PC_TABLE_LINE - at), "\n");
}

static void printCell(const pcPlan* plan, const pcColumn* c, double value, char text[32])
{
    if (c->kind == PC_COLUMN_STATUS)
        snprintf(text, 32, "%s", pcTrialStatusName((int)value));
    else if (c->kind == PC_COLUMN_PARAMETER)
        pcVaryPrint(plan->vary + c->which, value, text);
    else
        pcNumberPrint(value, text);
}

size_t pcTablePrintRow(const pcPlan* plan, long long trial, const double* row, char line[PC_TABLE_LINE])
{
    char text[32];
    int at = snprintf(line, PC_TABLE_LINE, "%lld", trial);
    for (int i = 0; i < plan->columns; i++) {
        printCell(plan, plan->column + i, row[i], text);
        at += snprintf(line + at, (size_t)(PC_TABLE_LINE - at), ",%s", text);
    }
    return (size_t)at + (size_t)snprintf(line + at, (size_t)(PC_TABLE_LINE - at), "\n");
}

static bool readWord(const pcPlan* plan, const pcColumn* c, const char* text, double* out)
{
    const pcVary* v = plan->vary + c->which;
    int count = c->kind == PC_COLUMN_STATUS ? PC_TRIAL_STATUSES : v->count;
    for (int i = 0; i < count; i++) {
        *out = i;
        if (strcmp(text, c->kind == PC_COLUMN_STATUS ? pcTrialStatusName(i) : v->word[i]) == 0) return true;
    }
    return false;
}

static bool readCell(const pcPlan* plan, const pcColumn* c, const char* text, double* out)
{
    if (c->kind == PC_COLUMN_STATUS || (c->kind == PC_COLUMN_PARAMETER && plan->vary[c->which].words)) return readWord(plan, c, text, out);
    *out = strstr(text, "-inf") == text ? -INFINITY : strstr(text, "inf") == text ? INFINITY : NAN;
    return !*text || isinf(*out) || pcNumberRead(text, out);
}

bool pcTableReadRow(const pcPlan* plan, char* line, long long* trial, double* row)
{
    double number;
    char* next = strchr(line, ',');
    if (!next) return false;
    *next++ = 0;
    if (!pcNumberRead(line, &number) || !(number >= 0.0 && number < (double)plan->trials) || number != floor(number)) return false;
    *trial = (long long)number;
    for (int i = 0; i < plan->columns; i++) {
        if (!next) return false;
        char* cell = next;
        next = strchr(cell, ',');
        if (next) *next++ = 0;
        if (!readCell(plan, plan->column + i, cell, row + i)) return false;
    }
    return !next;
}
