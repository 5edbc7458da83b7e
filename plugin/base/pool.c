/*
 * A round of work: its number goes up, the threads wake, each takes the next task until none is left; the last to finish says so.
 *
 * Who finds no task any more waits for the others to share theirs: a large task posts its parts, and whoever waits takes the next of them.
 * One task at a time shares; parts are handed out in their order, so that a part may wait for those before it.
 *
 * Parts that wait for each other suffer from every thread that loses its processor: on a busy machine a factorization of 3 ms took 160. So
 * where a share has taken far more of the clock than of the processor, the next ones are not shared, for longer and longer as long as
 * that goes on. Nothing but the time depends on it.
 */
#define _POSIX_C_SOURCE 200809L

#include "base/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>

#include "base/pause.h"

enum {
    MOST = 256,
    PATIENCE = 10000, /* looks at what is shared before a thread goes to sleep: 0.1 to 0.2 ms, some times what waking it takes */
    AVOID_FIRST = 16, /* shares that are not, after one that had to wait for a processor; twice as many after the next one, … */
    AVOID_MOST = 4096
};

static const double CROWDED = 1.5,
                    SCHEDULED = 2e-4; /* clock by processor time, and seconds that waking and a short interruption may take */

typedef struct Helper {
    pthread_t thread;
    pcPool* pool;
    int worker;
} Helper;

/* What a task shares; lives on its stack. */
typedef struct Share {
    pcTask* part;
    void* context;
    int count, joined; /* joined: under the lock */
    _Atomic int next, inside;
} Share;

struct pcPool {
    pthread_mutex_t lock;
    pthread_cond_t wake, done;
    Helper helper[MOST];
    int helpers; /* threads there are, besides the calling one */
    int wanted;  /* of them in this round */
    int busy;
    unsigned round;
    bool quit;
    pcTask* task;
    void* context;
    int count;
    _Atomic int next, unfinished;
    Share* share;         /* under the lock */
    _Atomic int postings; /* goes up when something is shared, and when the last task is done */
    int avoided, avoid;   /* under the lock: shares left to be avoided, and how many it will be next time */
};

/* ---- what a task shares ---- */

static void takeParts(Share* share, int worker)
{
    for (int i; (i = atomic_fetch_add(&share->next, 1)) < share->count;) share->part(share->context, i, worker);
}

/* Joins what is shared, if parts of it are left. The lock is held before and after. */
static bool join(pcPool* pool)
{
    Share* share = pool->share;
    if (!share || atomic_load(&share->next) >= share->count) return false;
    int worker = ++share->joined;
    atomic_fetch_add(&share->inside, 1);
    pthread_mutex_unlock(&pool->lock);
    takeParts(share, worker);
    atomic_fetch_sub(&share->inside, 1);
    pthread_mutex_lock(&pool->lock);
    return true;
}

static void announce(pcPool* pool)
{
    atomic_fetch_add(&pool->postings, 1);
    pthread_cond_broadcast(&pool->wake);
}

/* Helps those that share until no task is unfinished. */
static void helpOut(pcPool* pool)
{
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->unfinished) > 0) {
        int seen = atomic_load(&pool->postings);
        if (join(pool)) continue;
        pthread_mutex_unlock(&pool->lock);
        for (int i = 0; i < PATIENCE && atomic_load(&pool->postings) == seen; i++) pcPause();
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&pool->postings) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
}

int pcPoolWidth(const pcPool* pool) { return pool ? pool->wanted + 1 : 1; }

static double secondsOf(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0.0;
}

/* Offers what is shared to the others; false: somebody else shares, or it is not worth while at the time. */
static bool post(pcPool* pool, Share* share)
{
    pthread_mutex_lock(&pool->lock);
    bool free = pool->share == NULL && pool->avoided == 0;
    if (free) pool->share = share, announce(pool);
    if (pool->avoided > 0) pool->avoided--;
    pthread_mutex_unlock(&pool->lock);
    return free;
}

static void withdraw(pcPool* pool, Share* share, bool crowded)
{
    pthread_mutex_lock(&pool->lock);
    pool->share = NULL;
    pool->avoid = !crowded                    ? AVOID_FIRST
                  : pool->avoid < AVOID_FIRST ? AVOID_FIRST
                  : pool->avoid < AVOID_MOST  ? 2 * pool->avoid
                                              : AVOID_MOST;
    if (crowded) pool->avoided = pool->avoid;
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; atomic_load(&share->inside) > 0; i++) pcPauseLonger(i);
}

void pcPoolShare(pcPool* pool, pcTask* part, void* context, int count)
{
    Share share = {.part = part, .context = context, .count = count};
    if (pcPoolWidth(pool) < 2 || !post(pool, &share)) {
        takeParts(&share, 0);
        return;
    }
    double clock = secondsOf(CLOCK_MONOTONIC), processor = secondsOf(CLOCK_THREAD_CPUTIME_ID);
    takeParts(&share, 0);
    clock = secondsOf(CLOCK_MONOTONIC) - clock, processor = secondsOf(CLOCK_THREAD_CPUTIME_ID) - processor;
    withdraw(pool, &share, clock > CROWDED * processor + SCHEDULED);
}

/* ---- rounds ---- */

static void work(pcPool* pool, int worker)
{
    for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->count;) {
        pool->task(pool->context, i, worker);
        if (atomic_fetch_sub(&pool->unfinished, 1) > 1 || pool->wanted == 0) continue;
        pthread_mutex_lock(&pool->lock);
        announce(pool);
        pthread_mutex_unlock(&pool->lock);
    }
    if (pool->wanted > 0) helpOut(pool);
}

/* Sleeps until the next round or the end; false at the end. */
static bool awaitRound(pcPool* pool, unsigned* seen)
{
    while (pool->round == *seen && !pool->quit) pthread_cond_wait(&pool->wake, &pool->lock);
    *seen = pool->round;
    return !pool->quit;
}

static void* help(void* context)
{
    Helper* helper = context;
    pcPool* pool = helper->pool;
    pthread_mutex_lock(&pool->lock);
    for (unsigned seen = 0; awaitRound(pool, &seen);) {
        if (helper->worker > pool->wanted) continue;
        pthread_mutex_unlock(&pool->lock);
        work(pool, helper->worker);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0) pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

pcPool* pcPoolCreate(void)
{
    pcPool* pool = calloc(1, sizeof *pool);
    if (!pool) return NULL;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    return pool;
}

/* A thread that cannot be started is done without. */
static void hire(pcPool* pool, int helpers)
{
    while (pool->helpers < helpers && pool->helpers < MOST) {
        Helper* helper = pool->helper + pool->helpers;
        *helper = (Helper){.pool = pool, .worker = pool->helpers + 1};
        if (pthread_create(&helper->thread, NULL, help, helper) != 0) return;
        pool->helpers++;
    }
}

static void beginRound(pcPool* pool, int wanted)
{
    pthread_mutex_lock(&pool->lock);
    pool->wanted = pool->busy = wanted;
    if (wanted > 0) pool->round++, pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void endRound(pcPool* pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void pcPoolRun(pcPool* pool, int threads, bool sharing, pcTask* task, void* context, int count)
{
    int wanted = threads < count || sharing ? threads - 1 : count - 1; /* besides the calling thread */
    pool->task = task, pool->context = context, pool->count = count;
    atomic_store(&pool->next, 0), atomic_store(&pool->unfinished, count);
    if (wanted > 0) hire(pool, wanted);
    if (wanted > pool->helpers) wanted = pool->helpers;
    beginRound(pool, wanted > 0 ? wanted : 0);
    work(pool, 0);
    if (wanted > 0) endRound(pool);
}

void pcPoolFree(pcPool* pool)
{
    if (!pool) return;
    pthread_mutex_lock(&pool->lock);
    pool->quit = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->helpers; i++) pthread_join(pool->helper[i].thread, NULL);
    pthread_cond_destroy(&pool->wake);
    pthread_cond_destroy(&pool->done);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}
