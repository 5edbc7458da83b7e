#include "adapters/cli/sweep_page.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "adapters/cli/cli.h"

enum { COLUMNS = 6 };

/* ---- the table of spreads ---- */

typedef struct Spreads {
    int rows;
    pcPageRow row[PC_SWEEP_COLUMNS];
    double value[PC_SWEEP_COLUMNS][COLUMNS];
} Spreads;

static void fillSpreads(const pcSummary* s, Spreads* out)
{
    for (int i = 0; i < s->plan->columns; i++) {
        const pcSpreadOf* c = s->column + i;
        if (c->count == 0) continue;
        double* value = out->value[out->rows];
        const double* q = c->quantile;
        const double all[COLUMNS] = {c->mean, q[0], q[2], q[4], q[6], q[8]};
        for (int k = 0; k < COLUMNS; k++) value[k] = all[k];
        out->row[out->rows++] = (pcPageRow){.name = s->plan->column[i].name, .unit = "", .value = value};
    }
}

/* ---- the map ---- */

typedef struct Map {
    double *x, *y, *value;
    int* count;
} Map;

static void freeMap(Map* m) { free(m->x), free(m->y), free(m->value), free(m->count); }

static double* placesOf(const pcVary* grid)
{
    double* place = malloc((size_t)grid->count * sizeof *place);
    for (int i = 0; place && i < grid->count; i++) place[i] = grid->first + i * grid->step;
    return place;
}

static bool fillMap(const pcSummary* s, Map* m, pcPageMap* out)
{
    const pcVary *x = pcPlanGrid(s->plan, 0), *y = pcPlanGrid(s->plan, 1);
    size_t cells = (size_t)s->plan->cells;
    *m = (Map){placesOf(x), placesOf(y), malloc(cells * sizeof(double)), malloc(cells * sizeof(int))};
    if (!m->x || !m->y || !m->value || !m->count) return false;
    for (size_t i = 0; i < cells; i++) m->value[i] = s->cell[i].rate, m->count[i] = (int)s->cell[i].trials;
    *out = (pcPageMap){"Where it succeeds", "success rate", x->name, y->name, x->count, y->count, m->x, m->y, m->value, m->count, 0.0, 1.0};
    return true;
}

/* ---- the page ---- */

static void tellBest(const pcSummary* s, char* text, size_t room)
{
    const pcRate* r = &s->success;
    int length = snprintf(text, room, "Success in %lld of %lld trials, %.1f %%.", r->successes, r->trials, 100.0 * r->rate);
    if (s->hasBest && s->plan->grids == 2)
        snprintf(text + length, room - (size_t)length,
                 " Best place, if it is missed by up to %g: %s %.4g, %s %.4g (%.1f %% within reach of it).", s->reach,
                 pcPlanGrid(s->plan, 0)->name, s->best[0], pcPlanGrid(s->plan, 1)->name, s->best[1], 100.0 * s->bestRate);
}

int pcCliSweepPage(pcCliPage* page, const char* world, const pcSummary* s)
{
    static const char* const column[COLUMNS] = {"mean", "least", "5 %", "median", "95 %", "most"};
    static Spreads spreads;
    char subtitle[128], best[512];
    const char* note = best;
    Map map = {0};
    pcPageMap shown;
    bool hasMap = s->cell && s->plan->grids == 2;
    if (hasMap && !fillMap(s, &map, &shown)) {
        freeMap(&map);
        pcCliPageDrop(page);
        return pcCliBadInput("out of memory for a page");
    }
    fillSpreads(s, &spreads);
    snprintf(subtitle, sizeof subtitle, "%lld trials, seed %llu", s->plan->trials, (unsigned long long)s->plan->seed);
    tellBest(s, best, sizeof best);
    pcPageTable table = {"How the numbers of all trials are spread", false, COLUMNS, spreads.rows, column, spreads.row};
    pcCliPageFact(page, "plan", s->plan->text);
    pcPage content = {.title = world,
                      .subtitle = subtitle,
                      .notes = s->plan->success != NULL,
                      .note = &note,
                      .verdict = &table,
                      .maps = hasMap,
                      .map = &shown};
    int code = pcCliPageEnd(page, &content);
    freeMap(&map);
    return code;
}
