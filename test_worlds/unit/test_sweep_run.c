/* Trials that are run, kept and summed up. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/gtest/pctest.h"
#include "adapters/sweep/share.h"
#include "adapters/sweep/store.h"
#include "adapters/sweep/summary.h"
#include "adapters/sweep/trial.h"
#include "test_worlds/unit/sdf_text.h"

/* A plate that slides over the ground. */
static pcScene* slidingScene(void)
{
    pcScene* scene = NULL;
    PC_EXPECT_STATUS(
        PC_OK,
        sdfRead(
            sdfWorld("1.6", "%s",
                     "<gravity>0 0 -10</gravity><physics "
                     "type='ode'><max_step_size>0.002</max_step_size><pcontact><time>3</time></pcontact></physics>"
                     "<model name='ground'><static>1</static><link name='l'><collision "
                     "name='c'><geometry><plane/></geometry></collision></link></model>"
                     "<model name='plate'><pose>0 0 0.05 0 0 0</pose><link name='l'><inertial><mass>2</mass></inertial><collision name='c'>"
                     "<geometry><box><size>1 1 0.1</size></box></geometry></collision></link></model>"),
            &scene));
    return scene;
}

static const char* const sliding[] = {"plate.vx=uniform:1:2", "mu=uniform:0.2:0.6"};
static const char* const way[] = {"way=end.plate.x"};

static pcSweepOrder slidingOrder(const pcScene* scene, int trials)
{
    return (pcSweepOrder){.world = "plate",
                          .scene = scene,
                          .settings = "",
                          .rest = 1e-3,
                          .varies = 2,
                          .vary = sliding,
                          .measures = 1,
                          .measure = way,
                          .success = "way > 0.3",
                          .trials = trials,
                          .seed = 5};
}

/* ---- a trial ---- */

PC_TEST(SweepTrial, APlateSlidesAsFarAsItsSpeedAndFrictionSay)
{
    pcScene* scene = slidingScene();
    pcSweepOrder order = slidingOrder(scene, 10);
    pcPlan* plan = NULL;
    pcTrialRunner* runner = NULL;
    PC_ASSERT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    PC_ASSERT_STATUS(PC_OK, pcTrialRunnerMake(plan, &runner));
    for (long long k = 0; k < 10; k++) {
        double row[PC_SWEEP_COLUMNS];
        char reason[PC_TRIAL_REASON];
        pcTrialRun(runner, k, row, reason);
        PC_CASE("trial %lld, v %g, mu %g", k, row[0], row[1]);
        double x = row[0] * row[0] / (2.0 * row[1] * 10.0); /* v^2 / (2 mu g), which a first order step misses by v h / 2 */
        double measured = row[plan->columns - 1];
        PC_EXPECT_NEAR(x - 0.5 * row[0] * 0.002, measured, 1e-5);
        PC_EXPECT_EQ_INT(PC_TRIAL_OK, (int)row[pcPlanColumn(plan, PC_COLUMN_STATUS)]);
        PC_EXPECT_EQ_INT(measured > 0.3, (int)row[pcPlanColumn(plan, PC_COLUMN_SUCCESS)]);
        PC_EXPECT_EQ_INT(1, (int)row[pcPlanColumn(plan, PC_COLUMN_REST)]);
        PC_EXPECT_NEAR(row[0] / (row[1] * 10.0), row[pcPlanColumn(plan, PC_COLUMN_TIME)], 8 * 0.002); /* and five steps at rest */
        PC_EXPECT_LE(row[pcPlanColumn(plan, PC_COLUMN_RESIDUAL)], 1e-9);
        PC_EXPECT_EQ_STR("", reason);
    }
    pcTrialRunnerFree(runner);
    pcPlanFree(plan);
    pcSceneFree(scene);
}

/* What was run before leaves no trace, in warm starts or elsewhere. */
PC_TEST(SweepTrial, ComesOutTheSameAfterAnyOther)
{
    pcScene* scene = slidingScene();
    pcSweepOrder order = slidingOrder(scene, 10);
    order.time = 0.1;
    pcPlan* plan = NULL;
    pcTrialRunner *runner = NULL, *other = NULL;
    PC_ASSERT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    PC_ASSERT_STATUS(PC_OK, pcTrialRunnerMake(plan, &runner));
    PC_ASSERT_STATUS(PC_OK, pcTrialRunnerMake(plan, &other));
    char reason[PC_TRIAL_REASON];
    double first[PC_SWEEP_COLUMNS], again[PC_SWEEP_COLUMNS];
    pcTrialRun(runner, 3, first, reason);
    for (long long k = 9; k >= 3; k--) pcTrialRun(other, k, again, reason);
    PC_EXPECT_EQ_INT(0, memcmp(first, again, (size_t)plan->columns * sizeof *first));
    pcTrialRunnerFree(runner);
    pcTrialRunnerFree(other);
    pcPlanFree(plan);
    pcSceneFree(scene);
}

PC_TEST(SweepTrial, WhatCannotBeRunSaysWhy)
{
    static const char* const step[] = {"step=1e-9"}; /* three seconds of these are too many steps */
    pcScene* scene = slidingScene();
    pcSweepOrder order = {
        .world = "plate", .scene = scene, .settings = "", .varies = 1, .vary = step, .success = "end.time > 0", .trials = 1, .seed = 1};
    pcPlan* plan = NULL;
    pcTrialRunner* runner = NULL;
    PC_ASSERT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    PC_ASSERT_STATUS(PC_OK, pcTrialRunnerMake(plan, &runner));
    double row[PC_SWEEP_COLUMNS];
    char reason[PC_TRIAL_REASON];
    pcTrialRun(runner, 0, row, reason);
    PC_EXPECT_EQ_INT(PC_TRIAL_FAILED, (int)row[pcPlanColumn(plan, PC_COLUMN_STATUS)]);
    PC_EXPECT_TRUE(isnan(row[pcPlanColumn(plan, PC_COLUMN_SUCCESS)]));
    PC_EXPECT_TRUE(strstr(reason, "too many steps") != NULL);
    pcTrialRunnerFree(runner);
    pcPlanFree(plan);
    pcSceneFree(scene);
}

/* ---- threads ---- */

static pcTable runTable(const pcPlan* plan, int threads)
{
    pcTable table;
    PC_EXPECT_STATUS(PC_OK, pcTableMake(plan, &table));
    pcShare share = {.plan = plan, .table = &table, .threads = threads};
    PC_EXPECT_STATUS(PC_OK, pcShareRun(&share));
    PC_EXPECT_EQ_INT((int)plan->trials, (int)share.ran);
    return table;
}

PC_TEST(SweepThreads, AnyNumberGivesTheSameRows)
{
    pcScene* scene = slidingScene();
    pcSweepOrder order = slidingOrder(scene, 40);
    order.time = 0.05;
    pcPlan* plan = NULL;
    PC_ASSERT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    pcTable one = runTable(plan, 1), four = runTable(plan, 4);
    PC_EXPECT_EQ_INT(40, (int)four.rows);
    PC_EXPECT_EQ_INT(0, memcmp(one.value, four.value, 40 * (size_t)plan->columns * sizeof *one.value));
    pcTableFree(&one);
    pcTableFree(&four);
    pcPlanFree(plan);
    pcSceneFree(scene);
}

/* ODE's quick solver shuffles rows by one generator for the whole process. */
PC_TEST(SweepThreads, OdesQuickSolverIsRepeatedToo)
{
    static const char* const models[] = {"model=choice:quick:lcp", "plate.vx=uniform:1:2"};
    pcScene* scene = slidingScene();
    pcSweepOrder order = {
        .world = "plate", .scene = scene, .settings = "", .time = 0.05, .varies = 2, .vary = models, .trials = 20, .seed = 1};
    pcPlan* plan = NULL;
    PC_ASSERT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    PC_EXPECT_TRUE(plan->serial);
    pcTable one = runTable(plan, 1), four = runTable(plan, 4);
    PC_EXPECT_EQ_INT(0, memcmp(one.value, four.value, 20 * (size_t)plan->columns * sizeof *one.value));
    pcTableFree(&one);
    pcTableFree(&four);
    pcPlanFree(plan);
    pcSceneFree(scene);
}

/* ---- files ---- */

typedef struct Kept {
    char folder[64], base[96];
    pcScene* scene;
    pcPlan* plan;
} Kept;

static Kept keep(void)
{
    Kept k = {.folder = "/tmp/pcontact_sweep_XXXXXX"};
    static const char* const varies[] = {"plate.vx=uniform:1:2", "model=choice:lcp:convex"};
    k.scene = slidingScene();
    PC_EXPECT_TRUE(mkdtemp(k.folder) != NULL);
    snprintf(k.base, sizeof k.base, "%s/base", k.folder);
    pcSweepOrder order = {.world = "plate", .scene = k.scene, .settings = "", .varies = 2, .vary = varies, .trials = 6, .seed = 1};
    PC_EXPECT_STATUS(PC_OK, pcPlanMake(&order, &k.plan));
    return k;
}

static void drop(Kept* k)
{
    static const char* const endings[] = {"plan.json", "trials.csv", "summary.csv", "summary.json"};
    char path[160];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s.%s", k->base, endings[i]);
        unlink(path);
    }
    PC_EXPECT_EQ_INT(0, rmdir(k->folder)); /* nothing else was left there */
    pcPlanFree(k->plan);
    pcSceneFree(k->scene);
}

static char* contents(const Kept* k, size_t* size)
{
    char path[160];
    snprintf(path, sizeof path, "%s.trials.csv", k->base);
    FILE* file = fopen(path, "r");
    char* text = calloc(1, 100000);
    *size = file && text ? fread(text, 1, 99999, file) : 0;
    if (file) fclose(file);
    return text;
}

static void overwrite(const Kept* k, const char* text, size_t size)
{
    char path[160];
    snprintf(path, sizeof path, "%s.trials.csv", k->base);
    FILE* file = fopen(path, "w");
    PC_ASSERT_TRUE(file && fwrite(text, 1, size, file) == size && fclose(file) == 0);
}

static void fakeRow(const pcPlan* plan, long long trial, double* row)
{
    for (int i = 0; i < plan->columns; i++) row[i] = (double)trial + 0.1 * i;
    row[1] = (double)(trial % 2); /* a word */
    row[pcPlanColumn(plan, PC_COLUMN_STATUS)] = (double)(trial % PC_TRIAL_STATUSES);
    row[plan->columns - 1] = trial == 2 ? (double)NAN : trial == 3 ? -HUGE_VAL : 1e-300;
}

static void writeRows(const Kept* k, const int* trials, int count)
{
    pcTable table;
    pcStore* store = NULL;
    PC_ASSERT_STATUS(PC_OK, pcTableMake(k->plan, &table));
    PC_ASSERT_STATUS(PC_OK, pcStoreOpen(k->base, false, &table, &store));
    for (int i = 0; i < count; i++) {
        double row[PC_SWEEP_COLUMNS];
        fakeRow(k->plan, trials[i], row);
        pcTablePut(&table, trials[i], row);
        PC_EXPECT_STATUS(PC_OK, pcStoreAdd(store, &table, trials[i]));
    }
    pcStoreClose(store);
    pcTableFree(&table);
}

static int resumeRows(const Kept* k, pcStatus expected)
{
    pcTable table;
    pcStore* store = NULL;
    PC_EXPECT_STATUS(PC_OK, pcTableMake(k->plan, &table));
    PC_EXPECT_STATUS(expected, pcStoreOpen(k->base, true, &table, &store));
    int rows = (int)table.rows;
    for (long long t = 0; t < k->plan->trials; t++) {
        double row[PC_SWEEP_COLUMNS];
        const double* read = pcTableRow(&table, t);
        fakeRow(k->plan, t, row);
        for (int i = 0; read && i < k->plan->columns; i++) PC_EXPECT_TRUE(read[i] == row[i] || (isnan(read[i]) && isnan(row[i])));
    }
    pcStoreClose(store);
    pcTableFree(&table);
    return rows;
}

PC_TEST(SweepStore, RowsReadBackTheSameAndSorted)
{
    Kept k = keep();
    writeRows(&k, (const int[]){4, 0, 3, 5, 1, 2}, 6);
    PC_EXPECT_EQ_INT(6, resumeRows(&k, PC_OK));
    pcTable table;
    pcStore* store = NULL;
    PC_ASSERT_STATUS(PC_OK, pcTableMake(k.plan, &table));
    PC_ASSERT_STATUS(PC_OK, pcStoreOpen(k.base, true, &table, &store));
    PC_EXPECT_STATUS(PC_OK, pcStoreSort(store, &table));
    pcStoreClose(store);
    pcTableFree(&table);
    size_t size;
    char *text = contents(&k, &size), *line = strchr(text, '\n') + 1;
    for (int i = 0; i < 6; i++, line = strchr(line, '\n') + 1) PC_EXPECT_EQ_INT(i, atoi(line));
    free(text);
    PC_EXPECT_EQ_INT(6, resumeRows(&k, PC_OK));
    drop(&k);
}

/* Wherever the file ends: what is whole is kept, what is torn is cut off, and whole lines can follow. */
PC_TEST(SweepStore, ATornEndIsRepairedWhereverItIsTorn)
{
    Kept k = keep();
    size_t size, left;
    writeRows(&k, (const int[]){4, 0, 3}, 3);
    char* text = contents(&k, &size);
    for (size_t cut = 0; cut <= size; cut++) {
        PC_CASE("after %zu of %zu bytes", cut, size);
        int lines = -1;
        for (size_t i = 0; i < cut; i++) lines += text[i] == '\n';
        overwrite(&k, text, cut);
        PC_EXPECT_EQ_INT(lines > 0 ? lines : 0, resumeRows(&k, PC_OK));
        char* after = contents(&k, &left);
        PC_ASSERT_TRUE(left > 0 && after[left - 1] == '\n' && strncmp(after, text, left) == 0);
        free(after);
    }
    free(text);
    drop(&k);
}

PC_TEST(SweepStore, DamageInTheMiddleIsRefusedAndLeftAlone)
{
    Kept k = keep();
    size_t size, left;
    writeRows(&k, (const int[]){4, 0, 3}, 3);
    char* text = contents(&k, &size);
    char* second = strchr(text, '\n') + 1;
    *second = 'x';
    overwrite(&k, text, size);
    resumeRows(&k, PC_ERROR_ARGUMENT);
    PC_EXPECT_TRUE(strstr(pcLastError(), "line 2") != NULL);
    char* after = contents(&k, &left);
    PC_EXPECT_TRUE(left == size && memcmp(after, text, size) == 0);
    free(text);
    free(after);
    drop(&k);
}

PC_TEST(SweepStore, RefusesWhatIsThereIsAnothersOrIsBeingWritten)
{
    Kept k = keep();
    pcTable table;
    pcStore *store = NULL, *second = NULL;
    PC_ASSERT_STATUS(PC_OK, pcTableMake(k.plan, &table));
    PC_ASSERT_STATUS(PC_OK, pcStoreOpen(k.base, true, &table, &store)); /* resuming nothing begins it */
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcStoreOpen(k.base, true, &table, &second));
    PC_EXPECT_TRUE(strstr(pcLastError(), "another sweep is writing") != NULL);
    pcStoreClose(store);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcStoreOpen(k.base, false, &table, &second));
    PC_EXPECT_TRUE(strstr(pcLastError(), "is there already") != NULL);
    char* word = strstr(k.plan->text, "\"seed\": 1");
    PC_ASSERT_TRUE(word != NULL);
    word[8] = '2';
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcStoreOpen(k.base, true, &table, &second));
    PC_EXPECT_TRUE(strstr(pcLastError(), "belongs to another sweep") && strstr(pcLastError(), "seed"));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcStoreOpen("/proc/no/such/folder/base", false, &table, &second));
    PC_EXPECT_TRUE(second == NULL);
    pcTableFree(&table);
    drop(&k);
}

PC_TEST(SweepStore, AFileInTheWayIsNotOverwritten)
{
    Kept k = keep();
    pcTable table;
    pcStore* store = NULL;
    char path[160];
    snprintf(path, sizeof path, "%s.summary.json", k.base);
    FILE* file = fopen(path, "w");
    PC_ASSERT_TRUE(file && fputs("mine", file) >= 0 && fclose(file) == 0);
    PC_ASSERT_STATUS(PC_OK, pcTableMake(k.plan, &table));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcStoreOpen(k.base, false, &table, &store));
    struct stat about;
    PC_EXPECT_TRUE(stat(path, &about) == 0 && about.st_size == 4);
    pcTableFree(&table);
    drop(&k); /* and no plan was left behind */
}

/* ---- summaries ---- */

PC_TEST(SweepSummary, QuantilesMeanAndBoundsAreThoseOfTheNumbers)
{
    static const char* const varies[] = {"plate.vx=uniform:1:2"};
    pcScene* scene = slidingScene();
    pcSweepOrder order = {
        .world = "p", .scene = scene, .settings = "", .varies = 1, .vary = varies, .success = "end.time > 0", .trials = 101, .seed = 1};
    pcPlan* plan = NULL;
    pcTable table;
    pcSummary* s = NULL;
    PC_ASSERT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    PC_ASSERT_STATUS(PC_OK, pcTableMake(plan, &table));
    for (int k = 0; k < 101; k++) { /* 0 … 100 in another order; 81 successes; one row that failed */
        double row[PC_SWEEP_COLUMNS] = {(k * 37) % 101};
        row[pcPlanColumn(plan, PC_COLUMN_STATUS)] = k == 100 ? PC_TRIAL_FAILED : PC_TRIAL_OK;
        row[pcPlanColumn(plan, PC_COLUMN_SUCCESS)] = k == 100 ? (double)NAN : k < 81;
        pcTablePut(&table, k, row);
    }
    PC_ASSERT_STATUS(PC_OK, pcSummaryMake(&table, 0.0, &s));
    const pcSpreadOf* c = s->column;
    PC_EXPECT_NEAR(50.0, c->mean, 1e-12);
    PC_EXPECT_NEAR(sqrt(101.0 * 102.0 / 12.0), c->deviation, 1e-12); /* of 0 … n - 1: n (n + 1) / 12 */
    for (int i = 0; i < PC_QUANTILES; i++) PC_EXPECT_NEAR(100.0 * pcQuantiles[i], c->quantile[i], 1e-12);
    long long sum = 0;
    for (int i = 0; i < PC_HISTOGRAM; i++) sum += c->histogram[i];
    PC_EXPECT_EQ_INT(101, (int)sum);
    PC_EXPECT_EQ_INT(81, (int)s->success.successes);
    PC_EXPECT_EQ_INT(1, (int)s->status[PC_TRIAL_FAILED]);
    /* Wilson's bounds satisfy |p - rate| = z sqrt(p (1 - p) / n). */
    for (int side = 0; side < 2; side++) {
        double p = side ? s->success.high : s->success.low;
        PC_EXPECT_NEAR(1.959963984540054 * sqrt(p * (1.0 - p) / 101.0), fabs(p - 81.0 / 101.0), 1e-12);
    }
    pcSummaryFree(s);
    pcTableFree(&table);
    pcPlanFree(plan);
    pcSceneFree(scene);
}

/* A plateau of certain success over x in 2 … 8, y in 1 … 5, and one lucky cell elsewhere: with an error of one step the lucky cell is no
 * good place, the middle of the plateau is. */
PC_TEST(SweepSummary, TheBestPlaceIsTheMiddleOfThePlateau)
{
    static const char* const varies[] = {"plate.x=grid:0:10:1", "plate.y=grid:0:10:1"};
    pcScene* scene = slidingScene();
    pcSweepOrder order = {
        .world = "p", .scene = scene, .settings = "", .varies = 2, .vary = varies, .success = "end.time > 0", .trials = 2, .seed = 1};
    pcPlan* plan = NULL;
    pcTable table;
    pcSummary* s = NULL;
    PC_ASSERT_STATUS(PC_OK, pcPlanMake(&order, &plan));
    PC_ASSERT_STATUS(PC_OK, pcTableMake(plan, &table));
    for (long long k = 0; k < plan->trials; k++) {
        double row[PC_SWEEP_COLUMNS] = {0};
        pcPlanDraw(plan, k, row);
        bool plateau = row[0] >= 2.0 && row[0] <= 8.0 && row[1] >= 1.0 && row[1] <= 5.0;
        row[pcPlanColumn(plan, PC_COLUMN_SUCCESS)] = plateau || (row[0] == 10.0 && row[1] == 10.0);
        pcTablePut(&table, k, row);
    }
    PC_ASSERT_STATUS(PC_OK, pcSummaryMake(&table, 1.0, &s));
    PC_EXPECT_TRUE(s->hasBest);
    PC_EXPECT_NEAR(5.0, s->best[0], 1e-12);
    PC_EXPECT_NEAR(3.0, s->best[1], 1e-12);
    PC_EXPECT_NEAR(1.0, s->bestRate, 1e-12);
    PC_EXPECT_EQ_INT(2, (int)s->cell[1 * 11 + 2].successes);
    PC_EXPECT_EQ_INT(0, (int)s->cell[6 * 11 + 2].successes);
    pcSummaryFree(s);
    pcTableFree(&table);
    pcPlanFree(plan);
    pcSceneFree(scene);
}
