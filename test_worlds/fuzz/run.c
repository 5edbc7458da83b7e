#define _POSIX_C_SOURCE 200809L
#include "test_worlds/fuzz/run.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#define MAX_JOBS 64
#define LOGGED_FAULTS 2 /* of each kind, per family and job: enough to see what it is */
#define SWAP_EVERY 8
#define SCALE_EVERY 256

#define FAULT_NAME_(id, name, text) name,
static const char* const faultName[] = {PC_FAULT_TABLE(FAULT_NAME_)};
#define FAULT_TEXT_(id, name, text) text,
static const char* const faultText[] = {PC_FAULT_TABLE(FAULT_TEXT_)};

double pcFuzzClock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* What one thread works with. */
typedef struct Worker {
    const pcFuzzPlan* plan;
    atomic_llong* nextBlock;
    double start;
    bool leads; /* prints progress */
    pcTally tally[PC_MAX_FAMILIES];
    int family;
    uint64_t number; /* the case at hand */
    int step;
} Worker;

static pcTally* tallyOf(Worker* w) { return &w->tally[w->family]; }

static void fault(Worker* w, pcFault kind, double off)
{
    long long already = tallyOf(w)->fault[kind]++;
    if (!w->plan->log || already >= LOGGED_FAULTS) return;
    fprintf(w->plan->log, "  %s: %s (%.3g); replay: --seed %llu --family %s --only %llu, step %d\n", faultName[kind], faultText[kind], off,
            (unsigned long long)w->plan->seed, pcFamilyName(w->family), (unsigned long long)w->number, w->step);
}

static pcStatus ask(const pcScene* s, pcPairCache* cache, pcMetric* answer)
{
    return pcMetricPair(s->shape[0], &s->pose[0], s->shape[1], &s->pose[1], s->flags, cache, answer);
}

/* ---- judging one answer ---- */

static double largestPosition(const pcScene* s)
{
    double largest = 0.0;
    for (int i = 0; i < 2; i++) {
        pcShapeInfo info;
        if (pcShapeDescribe(s->shape[i], &info) != PC_OK) continue;
        for (int k = 0; k < 3; k++) largest = fmax(largest, fabs(s->pose[i].position[k]) + fabs(info.centre[k]));
    }
    return largest;
}

/* As far as doubles can tell. */
static bool coincide(const pcScene* scene, const pcRatioCertificate* c) { return c->centres <= 1e-14 * largestPosition(scene); }

/* A refusal is right where the centres coincide, and where the one-sided form ends. */
static void judgeRefusal(Worker* w, const pcScene* scene, pcStatus status)
{
    pcRatioCertificate c;
    bool certified = pcRatioCertify(scene, NULL, &c);
    if (status == PC_ERROR_COINCIDENT && coincide(scene, &c))
        tallyOf(w)->coincident++;
    else if (certified && c.border)
        tallyOf(w)->border++;
    else
        fault(w, PC_FAULT_STATUS, (double)status);
}

static bool rhoFits(const pcMetric* a)
{
    if (a->r <= 0.0) return a->rho == -HUGE_VAL;
    double rho = (a->r - 1.0) / a->r;
    return fabs(a->rho - rho) <= 4e-16 * fabs(rho);
}

static void noteWorst(Worker* w, const pcVerdict* v)
{
    pcTally* t = tallyOf(w);
    if (v->error > t->worstError) t->worstError = v->error, t->worstCase = w->number;
    t->worstWidth = fmax(t->worstWidth, v->boundsWidth);
    t->pivots += v->certificate.pivots;
}

static void judgeAnswer(Worker* w, const pcMetric* answer, const pcVerdict* v)
{
    pcTally* t = tallyOf(w);
    if (v->certificate.border && !(v->error <= PC_PROMISED_ERROR)) {
        t->border++;
        return;
    }
    noteWorst(w, v);
    if (!(v->error <= PC_PROMISED_ERROR)) fault(w, PC_FAULT_WRONG, v->error);
    if (!v->boundsHold) fault(w, PC_FAULT_BOUNDS, v->boundsWidth);
    double normal = fmax(v->unit, v->dual);
    if (!(v->unit <= 1.0) || !(v->dual <= 1.0)) fault(w, PC_FAULT_NORMAL, normal);
    if (!(v->gap <= 1.0)) fault(w, PC_FAULT_GAP, v->gap);
    if (!(v->preimages <= 1.0) || !rhoFits(answer)) fault(w, PC_FAULT_POINT, v->preimages);
}

/* There is an answer, but no certificate. */
static void judgeFailure(Worker* w, const pcScene* scene, const pcRatioCertificate* c)
{
    if (c->centres == 0.0)
        fault(w, PC_FAULT_STATUS, 0.0);
    else if (coincide(scene, c))
        tallyOf(w)->coincident++;
    else if (c->border)
        tallyOf(w)->border++;
    else
        fault(w, PC_FAULT_JUDGE, (double)c->pivots);
}

/* Asks and judges; true if there is a certificate that other answers of the same scene may be held against. */
static bool judgeScene(Worker* w, const pcScene* scene, pcPairCache* cache, pcVerdict* verdict)
{
    pcTally* t = tallyOf(w);
    pcMetric answer;
    t->cases++;
    pcStatus status = ask(scene, cache, &answer);
    if (status != PC_OK) {
        judgeRefusal(w, scene, status);
        return false;
    }
    if ((unsigned)answer.path < PC_METRIC_PATHS) t->path[answer.path]++;
    if (!pcJudge(scene, &answer, verdict)) {
        judgeFailure(w, scene, &verdict->certificate);
        return false;
    }
    judgeAnswer(w, &answer, verdict);
    return !verdict->certificate.border;
}

/* ---- the same scene in other words ---- */

static unsigned swappedFlags(unsigned flags) { return (flags & PC_FIXED_1 ? PC_FIXED_2 : 0u) | (flags & PC_FIXED_2 ? PC_FIXED_1 : 0u); }

static void checkSwap(Worker* w, const pcScene* scene, const pcRatioCertificate* truth)
{
    pcScene swapped = {{scene->shape[1], scene->shape[0]}, {scene->pose[1], scene->pose[0]}, swappedFlags(scene->flags), scene->plane};
    pcMetric answer;
    double error = ask(&swapped, NULL, &answer) == PC_OK ? pcRatioError(truth, answer.r) : HUGE_VAL;
    if (!(error <= PC_PROMISED_ERROR)) fault(w, PC_FAULT_SWAP, error);
}

/* A power of two, so that the scaled shape is exactly the same one. NULL if the library refuses it. */
static pcShape* scaledShape(const pcShape* shape, double factor)
{
    pcShapeInfo info;
    int count = 0;
    const double* vertex = pcShapeVertices(shape, &count);
    double xyz[3 * 64], centre[3];
    if (!vertex || count > 64 || pcShapeDescribe(shape, &info) != PC_OK) return NULL;
    for (int i = 0; i < 3 * count; i++) xyz[i] = factor * vertex[i];
    for (int i = 0; i < 3; i++) centre[i] = factor * info.centre[i];
    pcShape* scaled = NULL;
    if (pcShapeFromPoints(xyz, count, centre, &scaled) != PC_OK) return NULL;
    int kept = 0;
    pcShapeVertices(scaled, &kept);
    if (kept == count) return scaled;
    pcShapeFree(scaled);
    return NULL;
}

/* Also turns boxes into general polyhedra, whose way to r is another. */
static void checkScale(Worker* w, const pcScene* scene, const pcRatioCertificate* truth)
{
    static const double factors[] = {0x1p-20, 0x1p20, 0x1p-3};
    double factor = factors[w->number / SCALE_EVERY % 3];
    pcShape *first = scaledShape(scene->shape[0], factor), *second = scaledShape(scene->shape[1], factor);
    if (first && second) {
        pcScene scaled = {{first, second}, {scene->pose[0], scene->pose[1]}, scene->flags, NULL};
        for (int i = 0; i < 6; i++) scaled.pose[i / 3].position[i % 3] *= factor;
        pcMetric answer;
        double error = ask(&scaled, NULL, &answer) == PC_OK ? pcRatioError(truth, answer.r) : HUGE_VAL;
        if (!(error <= PC_PROMISED_ERROR)) fault(w, PC_FAULT_SCALE, error);
    }
    pcShapeFree(first);
    pcShapeFree(second);
}

/* ---- cases and blocks ---- */

/* A cache that belongs to another pair must cost time at most. */
static void borrowCache(const pcCaseSet* set, int index, pcPairCache* cache)
{
    pcCase other;
    pcMetric answer;
    memset(cache, 0, sizeof *cache);
    pcCaseMake(set, index ^ 1, &other);
    ask(&other.scene, cache, &answer);
}

static void runMotion(Worker* w, const pcCaseSet* set, int index, pcCase* c)
{
    pcPairCache cache;
    memset(&cache, 0, sizeof cache);
    for (w->step = 1; w->step < c->steps; w->step++) {
        pcVerdict verdict;
        if (w->step == 1) ask(&c->scene, &cache, &(pcMetric){0});
        if (w->step == 2 && index % 4 == 0) borrowCache(set, index, &cache);
        pcCaseAdvance(c);
        judgeScene(w, &c->scene, &cache, &verdict);
    }
}

static void runCase(Worker* w, const pcCaseSet* set, int index)
{
    pcCase c;
    pcVerdict verdict;
    w->number = set->block * PC_BLOCK_CASES + (uint64_t)index;
    w->step = 0;
    pcCaseMake(set, index, &c);
    bool known = judgeScene(w, &c.scene, NULL, &verdict);
    if (known && w->number % SWAP_EVERY == 0) checkSwap(w, &c.scene, &verdict.certificate);
    if (known && w->number % SCALE_EVERY == 0 && !c.scene.plane) checkScale(w, &c.scene, &verdict.certificate);
    if (c.steps > 1) runMotion(w, set, index, &c);
}

static void runBlock(Worker* w, uint64_t block, int from, int to)
{
    pcCaseSet set;
    if (!pcCaseSetMake(w->plan->seed, w->family, block, &set)) {
        w->number = block * PC_BLOCK_CASES;
        fault(w, PC_FAULT_SHAPES, (double)set.refused);
        return;
    }
    tallyOf(w)->refused += set.refused;
    for (int i = from; i < to; i++) runCase(w, &set, i);
    pcCaseSetFree(&set);
}

static bool finished(const Worker* w, long long block)
{
    const pcFuzzPlan* plan = w->plan;
    if (plan->cases > 0 && block * PC_BLOCK_CASES >= plan->cases) return true;
    return plan->seconds > 0.0 && pcFuzzClock() - w->start >= plan->seconds;
}

static void report(const Worker* w, long long block, double* next)
{
    double now = pcFuzzClock() - w->start;
    if (!w->leads || !w->plan->progress || !w->plan->log || now < *next) return;
    fprintf(w->plan->log, "  %.0f s: about %lld cases\n", now, block * PC_BLOCK_CASES);
    *next = now + 10.0;
}

static void* work(void* data)
{
    Worker* w = data;
    double next = 10.0;
    for (;;) {
        long long block = atomic_fetch_add(w->nextBlock, 1);
        if (finished(w, block)) return NULL;
        bool all = w->plan->family < 0;
        w->family = all ? (int)(block % pcFamilyCount()) : w->plan->family;
        runBlock(w, (uint64_t)(all ? block / pcFamilyCount() : block), 0, PC_BLOCK_CASES);
        report(w, block, &next);
    }
}

/* ---- tallies ---- */

long long pcTallyFaults(const pcTally* tally)
{
    long long sum = 0;
    for (int k = 0; k < PC_FAULT_COUNT; k++) sum += tally->fault[k];
    return sum;
}

void pcTallyAdd(pcTally* sum, const pcTally* more)
{
    if (more->worstError > sum->worstError) sum->worstError = more->worstError, sum->worstCase = more->worstCase;
    sum->worstWidth = fmax(sum->worstWidth, more->worstWidth);
    sum->cases += more->cases;
    for (int k = 0; k < PC_FAULT_COUNT; k++) sum->fault[k] += more->fault[k];
    for (int k = 0; k < PC_METRIC_PATHS; k++) sum->path[k] += more->path[k];
    sum->border += more->border, sum->coincident += more->coincident;
    sum->refused += more->refused, sum->pivots += more->pivots;
}

static void printHeader(FILE* out)
{
    fprintf(out, "%-15s %9s", "family", "cases");
    for (int k = 0; k < PC_FAULT_COUNT; k++) fprintf(out, " %6s", faultName[k]);
    fprintf(out, " | %9s %9s %9s %9s %9s | %8s %8s %8s | %7s %6s %6s %6s\n", "closed", "warm", "simplex", "exact", "facets", "error",
            "width", "case", "coincid", "border", "redraw", "pivots");
}

static void printLine(FILE* out, const char* name, const pcTally* t)
{
    fprintf(out, "%-15s %9lld", name, t->cases);
    for (int k = 0; k < PC_FAULT_COUNT; k++) fprintf(out, " %6lld", t->fault[k]);
    fprintf(out, " |");
    for (int k = 0; k < PC_METRIC_PATHS; k++) fprintf(out, " %9lld", t->path[k]);
    double pivots = t->cases > 0 ? (double)t->pivots / (double)t->cases : 0.0;
    fprintf(out, " | %8.1e %8.1e %8llu | %7lld %6lld %6lld %6.1f\n", t->worstError, t->worstWidth, (unsigned long long)t->worstCase,
            t->coincident, t->border, t->refused, pivots);
}

void pcFuzzPrint(FILE* out, const pcTally* tally)
{
    pcTally all;
    memset(&all, 0, sizeof all);
    printHeader(out);
    for (int i = 0; i < pcFamilyCount(); i++) {
        if (tally[i].cases == 0 && pcTallyFaults(&tally[i]) == 0) continue;
        printLine(out, pcFamilyName(i), &tally[i]);
        pcTallyAdd(&all, &tally[i]);
    }
    printLine(out, "all", &all);
}

/* ---- the run ---- */

static void startWorker(Worker* w, const pcFuzzPlan* plan, atomic_llong* nextBlock, bool leads)
{
    memset(w, 0, sizeof *w);
    w->plan = plan, w->nextBlock = nextBlock, w->leads = leads;
    w->start = pcFuzzClock();
}

static void runWorkers(const pcFuzzPlan* plan, Worker* worker, int jobs)
{
    atomic_llong nextBlock = 0;
    pthread_t thread[MAX_JOBS];
    bool started[MAX_JOBS] = {false};
    for (int i = 0; i < jobs; i++) startWorker(&worker[i], plan, &nextBlock, i == 0);
    for (int i = 1; i < jobs; i++) started[i] = pthread_create(&thread[i], NULL, work, &worker[i]) == 0;
    work(&worker[0]);
    for (int i = 1; i < jobs; i++)
        if (started[i]) pthread_join(thread[i], NULL);
}

static void runOnly(const pcFuzzPlan* plan, Worker* w)
{
    atomic_llong nextBlock = 0;
    startWorker(w, plan, &nextBlock, true);
    w->family = plan->family;
    int index = (int)(plan->only % PC_BLOCK_CASES);
    runBlock(w, (uint64_t)(plan->only / PC_BLOCK_CASES), index, index + 1);
}

long long pcFuzzRun(const pcFuzzPlan* plan, pcTally* tally)
{
    static Worker worker[MAX_JOBS]; /* too large for a stack; one run at a time */
    int jobs = plan->jobs < 1 ? 1 : plan->jobs > MAX_JOBS ? MAX_JOBS : plan->jobs;
    if (plan->only >= 0 && plan->family >= 0)
        runOnly(plan, &worker[0]), jobs = 1;
    else
        runWorkers(plan, worker, jobs);
    long long faults = 0;
    memset(tally, 0, PC_MAX_FAMILIES * sizeof *tally);
    for (int i = 0; i < jobs; i++)
        for (int f = 0; f < pcFamilyCount(); f++) pcTallyAdd(&tally[f], &worker[i].tally[f]);
    for (int f = 0; f < pcFamilyCount(); f++) faults += pcTallyFaults(&tally[f]);
    return faults;
}
