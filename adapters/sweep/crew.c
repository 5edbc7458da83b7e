#define _GNU_SOURCE
#include "adapters/sweep/crew.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/sdf/stage.h"
#include "base/status.h"

typedef struct Ended {
    struct Ended* next;
    pcEnded what;
} Ended;

struct pcCrew {
    const pcPlan* plan;
    pthread_mutex_t lock;
    pthread_cond_t work, ended;
    bool stopping;
    long long* waiting; /* taken from `first` on */
    int first, last, room;
    Ended *oldest, *newest; /* that the master has not taken */
    Ended* spare;
    int threads, runners, started;
    pthread_t* thread;
    pcTrialRunner** runner;
};

/* ---- a member ---- */

/* -1: there is no more. */
static long long nextTrial(pcCrew* c)
{
    pthread_mutex_lock(&c->lock);
    while (c->first == c->last && !c->stopping) pthread_cond_wait(&c->work, &c->lock);
    long long trial = c->stopping ? -1 : c->waiting[c->first++];
    pthread_mutex_unlock(&c->lock);
    return trial;
}

static Ended* takeSpare(pcCrew* c)
{
    pthread_mutex_lock(&c->lock);
    Ended* e = c->spare;
    if (e) c->spare = e->next;
    pthread_mutex_unlock(&c->lock);
    return e ? e : malloc(sizeof *e);
}

static void handIn(pcCrew* c, Ended* e)
{
    e->next = NULL;
    pthread_mutex_lock(&c->lock);
    if (c->newest)
        c->newest->next = e;
    else
        c->oldest = e;
    c->newest = e;
    pthread_cond_signal(&c->ended);
    pthread_mutex_unlock(&c->lock);
}

static void* member(void* context)
{
    pcCrew* c = context;
    pthread_mutex_lock(&c->lock);
    pcTrialRunner* runner = c->runner[c->started++];
    pthread_mutex_unlock(&c->lock);
    dAllocateODEDataForThread((unsigned)dAllocateMaskAll);
    for (long long trial = nextTrial(c); trial >= 0; trial = nextTrial(c)) {
        Ended* e = takeSpare(c);
        if (!e) abort(); /* a few kilobytes: nothing else would work either */
        e->what.trial = trial;
        pcTrialRun(runner, trial, e->what.row, e->what.reason);
        handIn(c, e);
    }
    dCleanupODEAllDataForThread();
    return NULL;
}

/* ---- the master ---- */

static pcStatus outOfMemory(void) { return pcFail(PC_ERROR_MEMORY, "out of memory for the threads of a sweep"); }

/* What is found out about ODE once for the whole process wants to be alone with it: so before the threads. Whether the world itself can be
 * made is for the trials to say: they may vary what is wrong with it. */
static void rehearse(const pcPlan* plan)
{
    pcStage* stage;
    if (pcStageMake(plan->scene, &stage) != PC_OK) return;
    pcStageAttach(stage, NULL);
    pcStageFree(stage);
}

static pcStatus startMembers(pcCrew* c, int threads)
{
    c->thread = calloc((size_t)threads, sizeof *c->thread);
    c->runner = calloc((size_t)threads, sizeof *c->runner);
    if (!c->thread || !c->runner) return outOfMemory();
    for (; c->runners < threads; c->runners++) {
        pcStatus status = pcTrialRunnerMake(c->plan, c->runner + c->runners);
        if (status != PC_OK) return status;
    }
    for (; c->threads < threads; c->threads++)
        if (pthread_create(c->thread + c->threads, NULL, member, c) != 0) return pcFail(PC_ERROR_MEMORY, "no more threads can be started");
    return PC_OK;
}

pcStatus pcCrewStart(const pcPlan* plan, int threads, pcCrew** out)
{
    pthread_condattr_t monotonic;
    pcCrew* c = calloc(1, sizeof *c);
    if (!c) return outOfMemory();
    c->plan = plan;
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->work, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pcStageOpenOde(); /* for as long as there are threads */
    rehearse(plan);
    pcStatus status = startMembers(c, plan->serial ? 1 : threads);
    if (status == PC_OK)
        *out = c;
    else
        pcCrewStop(c);
    return status;
}

static void freeList(Ended* e)
{
    for (Ended* next; e; e = next) {
        next = e->next;
        free(e);
    }
}

void pcCrewStop(pcCrew* c)
{
    if (!c) return;
    pthread_mutex_lock(&c->lock);
    c->stopping = true;
    pthread_cond_broadcast(&c->work);
    pthread_mutex_unlock(&c->lock);
    for (int i = 0; i < c->threads; i++) pthread_join(c->thread[i], NULL);
    for (int i = 0; i < c->runners; i++) pcTrialRunnerFree(c->runner[i]);
    freeList(c->oldest);
    freeList(c->spare);
    pthread_cond_destroy(&c->ended);
    pthread_cond_destroy(&c->work);
    pthread_mutex_destroy(&c->lock);
    free(c->thread);
    free(c->runner);
    free(c->waiting);
    free(c);
    pcStageCloseOde();
}

pcStatus pcCrewGive(pcCrew* c, const long long* trials, int count)
{
    pcStatus status = PC_OK;
    pthread_mutex_lock(&c->lock);
    if (c->first < c->last) memmove(c->waiting, c->waiting + c->first, (size_t)(c->last - c->first) * sizeof *c->waiting);
    c->last -= c->first, c->first = 0;
    if (c->last + count > c->room) {
        long long* wider = realloc(c->waiting, (size_t)(c->last + count) * sizeof *wider);
        if (wider) c->waiting = wider, c->room = c->last + count;
        if (!wider) status = outOfMemory();
    }
    if (status == PC_OK) {
        memcpy(c->waiting + c->last, trials, (size_t)count * sizeof *trials);
        c->last += count;
        pthread_cond_broadcast(&c->work);
    }
    pthread_mutex_unlock(&c->lock);
    return status;
}

int pcCrewWaiting(pcCrew* c)
{
    pthread_mutex_lock(&c->lock);
    int count = c->last - c->first;
    pthread_mutex_unlock(&c->lock);
    return count;
}

static struct timespec after(double seconds)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    long long nanoseconds = t.tv_nsec + (long long)(1e9 * seconds);
    return (struct timespec){t.tv_sec + (time_t)(nanoseconds / 1000000000), (long)(nanoseconds % 1000000000)};
}

bool pcCrewTake(pcCrew* c, double seconds, pcEnded* out)
{
    struct timespec until = after(seconds);
    pthread_mutex_lock(&c->lock);
    while (!c->oldest && seconds > 0.0 && pthread_cond_timedwait(&c->ended, &c->lock, &until) == 0) {
    }
    Ended* e = c->oldest;
    if (e) {
        size_t used = offsetof(pcEnded, row) + (size_t)c->plan->columns * sizeof(double);
        memcpy(out, &e->what, used);
        c->oldest = e->next;
        if (!c->oldest) c->newest = NULL;
        e->next = c->spare, c->spare = e;
    }
    pthread_mutex_unlock(&c->lock);
    return e != NULL;
}
