#define _GNU_SOURCE
#include "adapters/sweep/summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

const double pcQuantiles[PC_QUANTILES] = {0.0, 0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99, 1.0};

/* ---- spread ---- */

static int byValue(const void* a, const void* b)
{
    return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

/* Between neighbours in proportion: quantile 0.5 of two numbers is their mean. */
static double quantileOf(const double* sorted, long long count, double q)
{
    double place = q * (double)(count - 1), below = floor(place);
    long long i = (long long)below;
    return i + 1 < count ? sorted[i] + (place - below) * (sorted[i + 1] - sorted[i]) : sorted[count - 1];
}

static void spreadOf(double* value, long long count, pcSpreadOf* out)
{
    *out = (pcSpreadOf){.count = count};
    if (count == 0) return;
    qsort(value, (size_t)count, sizeof *value, byValue);
    double least = value[0], width = value[count - 1] - least, squares = 0.0;
    for (long long i = 0; i < count; i++) out->mean += (value[i] - out->mean) / (double)(i + 1);
    for (long long i = 0; i < count; i++) {
        squares += (value[i] - out->mean) * (value[i] - out->mean);
        int bin = width > 0.0 ? (int)(PC_HISTOGRAM * (value[i] - least) / width) : 0;
        out->histogram[bin < PC_HISTOGRAM ? bin : PC_HISTOGRAM - 1]++;
    }
    out->deviation = count > 1 ? sqrt(squares / (double)(count - 1)) : 0.0;
    for (int i = 0; i < PC_QUANTILES; i++) out->quantile[i] = quantileOf(value, count, pcQuantiles[i]);
}

static pcStatus spreadColumns(const pcTable* table, pcSummary* s)
{
    const pcPlan* plan = s->plan;
    double* value = malloc((size_t)(table->rows + 1) * sizeof *value);
    if (!value) return pcFail(PC_ERROR_MEMORY, "out of memory for a summary");
    for (int i = 0; i < plan->columns; i++) {
        const pcColumn* c = plan->column + i;
        long long count = 0;
        if (c->kind == PC_COLUMN_STATUS || (c->kind == PC_COLUMN_PARAMETER && plan->vary[c->which].words)) continue;
        for (long long k = 0; k < plan->trials; k++) {
            const double* row = pcTableRow(table, k);
            if (row && isfinite(row[i])) value[count++] = row[i];
        }
        spreadOf(value, count, s->column + i);
    }
    free(value);
    return PC_OK;
}

/* ---- rates ---- */

static void finishRate(pcRate* r)
{
    const double z = 1.959963984540054;
    double n = (double)r->trials;
    r->rate = r->low = r->high = NAN;
    if (r->trials == 0) return;
    double p = r->rate = (double)r->successes / n;
    double middle = (p + z * z / (2.0 * n)) / (1.0 + z * z / n);
    double half = z / (1.0 + z * z / n) * sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n));
    r->low = fmax(0.0, middle - half), r->high = fmin(1.0, middle + half);
}

/* A trial that could not be run to its end has not succeeded. */
static void countRow(pcSummary* s, const double* row, long long trial)
{
    double success = row[pcPlanColumn(s->plan, PC_COLUMN_SUCCESS)];
    s->rows++;
    s->status[(int)row[pcPlanColumn(s->plan, PC_COLUMN_STATUS)]]++;
    if (!s->plan->success) return;
    s->success.trials++, s->success.successes += success == 1.0;
    if (s->cell) s->cell[trial % s->plan->cells].trials++, s->cell[trial % s->plan->cells].successes += success == 1.0;
}

/* ---- the best place ---- */

typedef struct Axes {
    int count, size[PC_SWEEP_VARIES], reach[PC_SWEEP_VARIES];
    double first[PC_SWEEP_VARIES], step[PC_SWEEP_VARIES];
} Axes;

static Axes axesOf(const pcPlan* plan, double reach)
{
    Axes a = {.count = 0};
    for (int i = 0; i < plan->varies; i++) {
        const pcVary* v = plan->vary + i;
        if (v->kind != PC_VARY_GRIDDED) continue;
        a.size[a.count] = v->count, a.first[a.count] = v->first, a.step[a.count] = v->step;
        a.reach[a.count++] = (int)fmin(v->count, floor(reach / v->step + 1e-6));
    }
    return a;
}

/* Mean rate over the cells within reach of one, those beyond the edge counting as failures; negative where a cell has no trials yet. */
static double rateAround(const pcSummary* s, const Axes* a, int x, int y)
{
    int reachY = a->count > 1 ? a->reach[1] : 0, sizeY = a->count > 1 ? a->size[1] : 1, cells = 0;
    double sum = 0.0;
    for (int j = y - reachY; j <= y + reachY; j++)
        for (int i = x - a->reach[0]; i <= x + a->reach[0]; i++) {
            cells++;
            if (i < 0 || i >= a->size[0] || j < 0 || j >= sizeY) continue;
            const pcRate* r = s->cell + (size_t)j * (size_t)a->size[0] + i;
            if (r->trials == 0) return -1.0;
            sum += r->rate;
        }
    return sum / cells;
}

/* The middle of all places that are equally good. */
static void findBest(pcSummary* s)
{
    Axes a = axesOf(s->plan, s->reach);
    double sumX = 0.0, sumY = 0.0;
    int ties = 0, sizeY = a.count > 1 ? a.size[1] : 1;
    if (!s->cell || a.count > 2) return;
    s->bestRate = 0.0;
    for (int y = 0; y < sizeY; y++)
        for (int x = 0; x < a.size[0]; x++) {
            double rate = rateAround(s, &a, x, y);
            if (rate > s->bestRate + 1e-12) s->bestRate = rate, sumX = sumY = 0.0, ties = 0;
            if (rate > s->bestRate - 1e-12) sumX += x, sumY += y, ties++;
        }
    s->hasBest = ties > 0 && s->bestRate > 0.0;
    if (!s->hasBest) return;
    s->best[0] = a.first[0] + a.step[0] * sumX / ties;
    s->best[1] = a.count > 1 ? a.first[1] + a.step[1] * sumY / ties : 0.0;
}

pcStatus pcSummaryMake(const pcTable* table, double reach, pcSummary** out)
{
    const pcPlan* plan = table->plan;
    pcSummary* s = calloc(1, sizeof *s);
    if (!s) return pcFail(PC_ERROR_MEMORY, "out of memory for a summary");
    s->plan = plan, s->reach = reach;
    if (plan->grids > 0 && plan->success) s->cell = calloc((size_t)plan->cells, sizeof *s->cell);
    pcStatus status =
        s->cell || plan->grids == 0 || !plan->success ? spreadColumns(table, s) : pcFail(PC_ERROR_MEMORY, "out of memory for a map");
    for (long long k = 0; k < plan->trials && status == PC_OK; k++)
        if (pcTableRow(table, k)) countRow(s, pcTableRow(table, k), k);
    finishRate(&s->success);
    for (long long k = 0; k < plan->cells && s->cell; k++) finishRate(s->cell + k);
    findBest(s);
    if (status == PC_OK)
        *out = s;
    else
        pcSummaryFree(s);
    return status;
}

void pcSummaryFree(pcSummary* s)
{
    if (!s) return;
    free(s->cell);
    free(s);
}
