/* A round of work: its number goes up, the threads wake, each takes the next task until none is left; the last to finish says so. */
#define _POSIX_C_SOURCE 200809L

#include "stepper/pool.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>

enum { MOST = 256 };

typedef struct Helper {
    pthread_t thread;
    pcPool* pool;
    int worker;
} Helper;

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
    _Atomic int next;
};

static void work(pcPool* pool, int worker)
{
    for (int i; (i = atomic_fetch_add(&pool->next, 1)) < pool->count;) pool->task(pool->context, i, worker);
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
    pool->round++;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
}

static void endRound(pcPool* pool)
{
    pthread_mutex_lock(&pool->lock);
    while (pool->busy > 0) pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void pcPoolRun(pcPool* pool, int threads, pcTask* task, void* context, int count)
{
    int wanted = threads < count ? threads - 1 : count - 1; /* besides the calling thread */
    pool->task = task, pool->context = context, pool->count = count;
    atomic_store(&pool->next, 0);
    if (wanted > 0) hire(pool, wanted);
    if (wanted > pool->helpers) wanted = pool->helpers;
    if (wanted > 0) beginRound(pool, wanted);
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
