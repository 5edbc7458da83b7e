/*
 * A round of work: its number goes up, the threads wake, each takes the next task until none is left; the last to finish says so.
 *
 * Who finds no task any more waits for the others to share theirs: a large task posts its parts, and whoever waits takes the next of them.
 * One task at a time shares. Its parts are handed out in their order, so that a part may wait for those before it; those of a loop from both
 * ends, so that each thread finds in its cache what it left there in the last loop.
 *
 * Loops of 20 us are worth sharing only if that costs less than one: who waits looks at a number that goes up with every posting, and neither
 * it nor the one that posts takes a lock, as long as nobody sleeps.
 *
 * Parts that wait for each other suffer from every thread that loses its processor: on a busy machine a factorization of 3 ms took 160. So
 * where a share has taken far more of the clock than of the processor, or the end of a loop is waited for too long, nothing is shared for a
 * while, longer and longer as long as that goes on. Nothing but the time depends on it.
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
    PATIENCE = 10000,      /* looks at what is shared before a thread goes to sleep: 0.1 to 0.5 ms, some times what waking it takes */
    FEWEST = 4 * PC_CHUNK, /* a loop over less is done sooner than somebody joins */
    GLANCES = 256          /* looks for the end of a loop before the clock is asked how long that has taken */
};

static const double CROWDED = 1.5, SCHEDULED = 2e-4; /* clock by processor time; seconds that waking and a short interruption may take */
/* Seconds without sharing after a share that had to wait for a processor; twice as long after the next one, … */
static const double AVOID_FIRST = 0.02, AVOID_MOST = 5.0;

typedef struct Helper {
    pthread_t thread;
    pcPool* pool;
    int worker;
} Helper;

/* What a task shares; lives on its stack. */
typedef struct Share {
    pcTask* part;
    void* context;
    int count;
    bool loop;         /* from both ends: the one that shares from the first part on, the others from the last */
    _Atomic int taken; /* parts … */
    _Atomic int back;  /* … of them from the end */
    _Atomic int joined, inside;
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
    _Atomic(Share*) share;
    _Atomic int looking;              /* threads that may have read `share` and are not yet inside it */
    _Atomic int postings;             /* goes up when something is shared, and when the last task is done */
    _Atomic int sleepers;             /* threads that wait for that to be woken */
    _Atomic double avoidUntil, avoid; /* on the clock, and for how long it was; 0: never yet */
};

/* ---- what a task shares ---- */

static void takeParts(Share* share, int worker)
{
    for (int i, front = 0; (i = atomic_fetch_add(&share->taken, 1)) < share->count;) {
        if (share->loop) i = worker == 0 ? front++ : share->count - 1 - atomic_fetch_add(&share->back, 1);
        share->part(share->context, i, worker);
    }
}

/* Joins what is shared, if parts of it are left. A share is not withdrawn while somebody looks. */
static bool join(pcPool* pool)
{
    atomic_fetch_add(&pool->looking, 1);
    Share* share = atomic_load(&pool->share);
    bool joins = share && atomic_load(&share->taken) < share->count;
    if (joins) atomic_fetch_add(&share->inside, 1);
    atomic_fetch_sub(&pool->looking, 1);
    if (!joins) return false;
    takeParts(share, atomic_fetch_add(&share->joined, 1) + 1);
    atomic_fetch_sub(&share->inside, 1);
    return true;
}

/* Who is about to sleep has said so before it looks for the last time, or sees this. */
static void announce(pcPool* pool)
{
    atomic_fetch_add(&pool->postings, 1);
    if (atomic_load(&pool->sleepers) == 0) return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void sleepUntilPosted(pcPool* pool, int seen)
{
    pthread_mutex_lock(&pool->lock);
    atomic_fetch_add(&pool->sleepers, 1);
    while (atomic_load(&pool->postings) == seen) pthread_cond_wait(&pool->wake, &pool->lock);
    atomic_fetch_sub(&pool->sleepers, 1);
    pthread_mutex_unlock(&pool->lock);
}

/* Helps those that share until no task is unfinished. */
static void helpOut(pcPool* pool)
{
    while (atomic_load(&pool->unfinished) > 0) {
        int seen = atomic_load(&pool->postings);
        if (join(pool)) continue;
        if (atomic_load(&pool->unfinished) == 0) return;
        for (int i = 0; i < PATIENCE && atomic_load(&pool->postings) == seen; i++) pcPause();
        if (atomic_load(&pool->postings) == seen) sleepUntilPosted(pool, seen);
    }
}

int pcPoolWidth(const pcPool* pool) { return pool ? pool->wanted + 1 : 1; }

static double secondsOf(clockid_t clock)
{
    struct timespec t;
    return clock_gettime(clock, &t) == 0 ? (double)t.tv_sec + 1e-9 * (double)t.tv_nsec : 0.0;
}

static bool isAvoided(pcPool* pool)
{
    double until = atomic_load(&pool->avoidUntil);
    return until > 0.0 && secondsOf(CLOCK_MONOTONIC) < until;
}

/* Offers what is shared to the others; false: somebody else shares, or it is not worth while at the time. */
static bool post(pcPool* pool, Share* share)
{
    Share* none = NULL;
    if (isAvoided(pool) || !atomic_compare_exchange_strong(&pool->share, &none, share)) return false;
    announce(pool);
    return true;
}

/* Waits for those inside; whether that took too long for a loop. */
static bool withdraw(pcPool* pool, Share* share)
{
    double since = 0.0;
    atomic_store(&pool->share, NULL);
    for (int i = 0; atomic_load(&pool->looking) > 0; i++) pcPauseLonger(i);
    for (int i = 0; atomic_load(&share->inside) > 0; i++) {
        if (i == GLANCES) since = secondsOf(CLOCK_MONOTONIC);
        pcPauseLonger(i);
    }
    return since > 0.0 && secondsOf(CLOCK_MONOTONIC) - since > SCHEDULED;
}

static void avoidForAWhile(pcPool* pool)
{
    double avoid = 2.0 * atomic_load(&pool->avoid);
    if (avoid < AVOID_FIRST) avoid = AVOID_FIRST;
    if (avoid > AVOID_MOST) avoid = AVOID_MOST;
    atomic_store(&pool->avoid, avoid);
    atomic_store(&pool->avoidUntil, secondsOf(CLOCK_MONOTONIC) + avoid);
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
    withdraw(pool, &share);
    if (clock > CROWDED * processor + SCHEDULED)
        avoidForAWhile(pool);
    else
        atomic_store(&pool->avoid, 0.0);
}

typedef struct Loop {
    pcLoopBody* body;
    void* context;
    int count;
} Loop;

static void runChunk(void* context, int chunk, int worker)
{
    const Loop* loop = context;
    int begin = chunk * PC_CHUNK, end = loop->count - begin < PC_CHUNK ? loop->count : begin + PC_CHUNK;
    (void)worker;
    loop->body(loop->context, begin, end);
}

void pcPoolLoop(pcPool* pool, pcLoopBody* body, void* context, int count)
{
    Loop loop = {body, context, count};
    int chunks = pcChunks(count);
    Share share = {.part = runChunk, .context = &loop, .count = chunks, .loop = true};
    if (count < FEWEST || pcPoolWidth(pool) < 2 || !post(pool, &share)) {
        for (int i = 0; i < chunks; i++) runChunk(&loop, i, 0);
        return;
    }
    takeParts(&share, 0);
    if (withdraw(pool, &share)) avoidForAWhile(pool);
}

/* ---- rounds ---- */

static void work(pcPool* pool, int worker)
{
    for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->count;) {
        pool->task(pool->context, i, worker);
        if (atomic_fetch_sub(&pool->unfinished, 1) == 1 && pool->wanted > 0) announce(pool);
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
