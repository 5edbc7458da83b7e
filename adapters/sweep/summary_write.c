/* A summary as text: for people, and as CSV and JSON. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sweep/store.h"
#include "adapters/sweep/summary.h"
#include "base/status.h"

/* ---- for people ---- */

static void tellColumns(const pcSummary* s)
{
    printf("\n%-28s %11s %11s %11s %11s %11s %11s\n", "", "mean", "least", "5 %", "median", "95 %", "most");
    for (int i = 0; i < s->plan->columns; i++) {
        const pcSpreadOf* c = s->column + i;
        if (c->count == 0 || s->plan->column[i].kind == PC_COLUMN_SUCCESS) continue;
        const double* q = c->quantile;
        printf("%-28s %11.4g %11.4g %11.4g %11.4g %11.4g %11.4g\n", s->plan->column[i].name, c->mean, q[0], q[2], q[4], q[6], q[8]);
    }
}

/* A letter for each cell: . none, 1 to 9 tenths, # all. */
static char letterOf(const pcRate* r)
{
    if (r->trials == 0) return ' ';
    if (r->successes == r->trials) return '#';
    if (r->successes == 0) return '.';
    int tenths = (int)(10.0 * r->rate + 0.5);
    return (char)('0' + (tenths < 1 ? 1 : tenths > 9 ? 9 : tenths));
}

static void tellMap(const pcSummary* s)
{
    const pcVary *x = pcPlanGrid(s->plan, 0), *y = pcPlanGrid(s->plan, 1);
    if (!s->cell || s->plan->grids != 2 || x->count > 100 || y->count > 60) return;
    printf("\nsuccess in tenths (# always, . never): %s from %g to %g to the right, %s upwards\n", x->name, x->first, x->second, y->name);
    for (int j = y->count - 1; j >= 0; j--) {
        printf("%10.4g  ", y->first + j * y->step);
        for (int i = 0; i < x->count; i++) printf("%c ", letterOf(s->cell + (size_t)j * (size_t)x->count + i));
        putchar('\n');
    }
}

void pcSummaryTell(const pcSummary* s)
{
    const pcRate* r = &s->success;
    tellColumns(s);
    tellMap(s);
    if (s->plan->success)
        printf("\nsuccess: %lld of %lld, %.1f %% (95 %% sure: %.1f to %.1f)\n", r->successes, r->trials, 100.0 * r->rate, 100.0 * r->low,
               100.0 * r->high);
    for (int i = 1; i < PC_TRIAL_STATUSES; i++)
        if (s->status[i] > 0) printf("%s: %lld trials\n", pcTrialStatusName(i), s->status[i]);
    if (!s->hasBest) return;
    printf("best place, if it is missed by up to %g: %s %.4g", s->reach, pcPlanGrid(s->plan, 0)->name, s->best[0]);
    if (s->plan->grids > 1) printf(", %s %.4g", pcPlanGrid(s->plan, 1)->name, s->best[1]);
    printf(" (%.1f %% within reach of it)\n", 100.0 * s->bestRate);
}

/* ---- for programs ---- */

/* JSON has no NaN. */
static void number(FILE* out, double value)
{
    char text[32];
    pcNumberPrint(value, text);
    fputs(isfinite(value) ? text : "null", out);
}

static void numbers(FILE* out, const double* value, int count)
{
    fputc('[', out);
    for (int i = 0; i < count; i++) {
        if (i) fputs(", ", out);
        number(out, value[i]);
    }
    fputc(']', out);
}

static void namedNumber(FILE* out, const char* name, double value)
{
    fprintf(out, "\"%s\": ", name);
    number(out, value);
}

static void putRate(FILE* out, const pcRate* r)
{
    fprintf(out, "{\"trials\": %lld, \"successes\": %lld, ", r->trials, r->successes);
    namedNumber(out, "rate", r->rate);
    fputs(", ", out);
    namedNumber(out, "low", r->low);
    fputs(", ", out);
    namedNumber(out, "high", r->high);
    fputc('}', out);
}

static void putColumnJson(FILE* out, const char* name, const pcSpreadOf* c)
{
    fprintf(out, "    \"%s\": {\"count\": %lld, ", name, c->count);
    namedNumber(out, "mean", c->mean);
    fputs(", ", out);
    namedNumber(out, "deviation", c->deviation);
    fputs(", \"quantiles\": ", out);
    numbers(out, c->quantile, PC_QUANTILES);
    fputs(", \"histogram\": [", out);
    for (int i = 0; i < PC_HISTOGRAM; i++) fprintf(out, "%s%lld", i ? ", " : "", c->histogram[i]);
    fputs("]}", out);
}

static void putBest(FILE* out, const pcSummary* s)
{
    fputs("  \"best\": ", out);
    if (!s->hasBest) {
        fputs("null", out);
        return;
    }
    fputs("{\"place\": ", out);
    numbers(out, s->best, s->plan->grids);
    fputs(", ", out);
    namedNumber(out, "reach", s->reach);
    fputs(", ", out);
    namedNumber(out, "rate", s->bestRate);
    fputc('}', out);
}

static void putSummaryJson(FILE* out, const pcSummary* s)
{
    fprintf(out, "{\n  \"trials\": %lld,\n  \"status\": {", s->rows);
    for (int i = 0; i < PC_TRIAL_STATUSES; i++) fprintf(out, "%s\"%s\": %lld", i ? ", " : "", pcTrialStatusName(i), s->status[i]);
    fputs("},\n  \"success\": ", out);
    putRate(out, &s->success);
    fputs(",\n", out);
    putBest(out, s);
    fputs(",\n  \"quantiles\": ", out);
    numbers(out, pcQuantiles, PC_QUANTILES);
    fputs(",\n  \"columns\": {\n", out);
    for (int i = 0, some = 0; i < s->plan->columns; i++) {
        if (s->column[i].count == 0) continue;
        if (some++) fputs(",\n", out);
        putColumnJson(out, s->plan->column[i].name, s->column + i);
    }
    fputs("\n  }\n}\n", out);
}

static void cell(FILE* out, double value)
{
    char text[32];
    pcNumberPrint(value, text);
    fprintf(out, ",%s", text);
}

static void putSummaryCsv(FILE* out, const pcSummary* s)
{
    fputs("column,count,mean,deviation", out);
    for (int i = 0; i < PC_QUANTILES; i++) fprintf(out, ",q%g", pcQuantiles[i]);
    fputc('\n', out);
    for (int i = 0; i < s->plan->columns; i++) {
        const pcSpreadOf* c = s->column + i;
        if (c->count == 0) continue;
        fprintf(out, "%s,%lld", s->plan->column[i].name, c->count);
        cell(out, c->mean);
        cell(out, c->deviation);
        for (int k = 0; k < PC_QUANTILES; k++) cell(out, c->quantile[k]);
        fputc('\n', out);
    }
}

static void putMapCsv(FILE* out, const pcSummary* s)
{
    const pcPlan* plan = s->plan;
    for (int i = 0; i < plan->grids; i++) fprintf(out, "%s,", pcPlanGrid(plan, i)->name);
    fputs("trials,successes,rate,low,high\n", out);
    for (long long k = 0; k < plan->cells; k++) {
        const pcRate* r = s->cell + k;
        long long rest = k;
        for (int i = 0; i < plan->grids; i++) {
            const pcVary* v = pcPlanGrid(plan, i);
            char text[32];
            pcNumberPrint(v->first + (double)(rest % v->count) * v->step, text);
            fprintf(out, "%s,", text);
            rest /= v->count;
        }
        fprintf(out, "%lld,%lld", r->trials, r->successes);
        cell(out, r->rate);
        cell(out, r->low);
        cell(out, r->high);
        fputc('\n', out);
    }
}

static void putAxis(FILE* out, const char* name, const pcVary* v)
{
    fprintf(out, "  \"%s\": {\"name\": \"%s\", \"values\": [", name, v ? v->name : "");
    for (int i = 0; v && i < v->count; i++) {
        if (i) fputs(", ", out);
        number(out, v->first + i * v->step);
    }
    fputs("]},\n", out);
}

/* rows[j][i] is the rate at x[i], y[j]. */
static void putMapJson(FILE* out, const pcSummary* s)
{
    const pcVary *x = pcPlanGrid(s->plan, 0), *y = s->plan->grids > 1 ? pcPlanGrid(s->plan, 1) : NULL;
    int columns = x->count, rows = y ? y->count : 1;
    fputs("{\n", out);
    putAxis(out, "x", x);
    putAxis(out, "y", y);
    putBest(out, s);
    fputs(",\n  \"rows\": [\n", out);
    for (int j = 0; j < rows; j++) {
        fputs("    [", out);
        for (int i = 0; i < columns; i++) {
            if (i) fputs(", ", out);
            number(out, s->cell[(size_t)j * (size_t)columns + (size_t)i].rate);
        }
        fprintf(out, "]%s\n", j + 1 < rows ? "," : "");
    }
    fputs("  ]\n}\n", out);
}

static pcStatus writeOne(const pcSummary* s, const char* base, const char* ending, void (*put)(FILE*, const pcSummary*))
{
    char* text = NULL;
    size_t size = 0;
    FILE* out = open_memstream(&text, &size);
    if (!out) return pcFail(PC_ERROR_MEMORY, "out of memory for a summary");
    put(out, s);
    pcStatus status = fclose(out) == 0 ? pcStoreWrite(base, ending, text, size) : pcFail(PC_ERROR_MEMORY, "out of memory for a summary");
    free(text);
    return status;
}

pcStatus pcSummaryWrite(const pcSummary* s, const char* base)
{
    pcStatus status = writeOne(s, base, "summary.csv", putSummaryCsv);
    if (status == PC_OK) status = writeOne(s, base, "summary.json", putSummaryJson);
    if (status == PC_OK && s->cell) status = writeOne(s, base, "map.csv", putMapCsv);
    if (status == PC_OK && s->cell && s->plan->grids <= 2) status = writeOne(s, base, "map.json", putMapJson);
    return status;
}
