#define _GNU_SOURCE
#include "adapters/sweep/share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/sweep/crew.h"
#include "base/status.h"

/* HELLO: a Greeting. ASK: how many trials are wanted, an int. ENDED: a pcEnded as far as its row goes. WORK: numbers of trials. STOP: an
 * exit code, an int. */
enum { HELLO = 1, ASK, ENDED, WORK, STOP };
enum { MOST_GIVEN = 64, QUEUED = 8 }; /* trials in one message; waiting for each thread at most */

typedef struct Greeting {
    uint64_t plan; /* hash of its text; 0: none */
    int threads;
} Greeting;

static double clockOf(clockid_t which)
{
    struct timespec now;
    clock_gettime(which, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint64_t hashOf(const pcPlan* plan) { return pcHash(0, plan->text, strlen(plan->text)); }

static size_t sizeOfEnded(const pcPlan* plan) { return offsetof(pcEnded, row) + (size_t)plan->columns * sizeof(double); }

/* ---- rank 0 ---- */

typedef struct Master {
    pcShare* share;
    pcCrew* crew;
    long long* missing;
    long long next, count; /* of the missing ones: not handed out yet from `next` on */
    double start;
    int* wanted; /* by each rank, and not given yet */
    pcStatus status;
} Master;

static pcStatus listMissing(Master* m)
{
    const pcTable* table = m->share->table;
    long long trials = m->share->plan->trials;
    m->missing = malloc((size_t)(trials - table->rows + 1) * sizeof *m->missing);
    m->wanted = calloc(m->share->ranks ? (size_t)m->share->ranks->size : 1, sizeof *m->wanted);
    if (!m->missing || !m->wanted) return pcFail(PC_ERROR_MEMORY, "out of memory for a sweep");
    for (long long k = 0; k < trials; k++)
        if (!table->done[k]) m->missing[m->count++] = k;
    return PC_OK;
}

/* Towards the end in smaller portions, so that all end together. */
static int portion(const Master* m, int wanted)
{
    long long left = m->count - m->next, fair = left / (2 * m->share->workers) + 1;
    long long given = wanted < fair ? wanted : fair;
    if (given > left) given = left;
    return given < MOST_GIVEN ? (int)given : MOST_GIVEN;
}

static void feedCrew(Master* m)
{
    int threads = m->share->plan->serial ? 1 : m->share->threads, waiting = pcCrewWaiting(m->crew);
    if (waiting > threads * QUEUED / 2 || m->status != PC_OK) return;
    int count = portion(m, threads * QUEUED - waiting);
    if (count == 0) return;
    m->status = pcCrewGive(m->crew, m->missing + m->next, count);
    m->next += count;
}

static void feedRank(Master* m, int rank)
{
    int count = portion(m, m->wanted[rank]);
    if (count == 0 || m->wanted[rank] == 0) return;
    m->share->ranks->send(rank, WORK, m->missing + m->next, (size_t)count * sizeof *m->missing);
    m->next += count, m->wanted[rank] = 0;
}

static void note(Master* m, const pcEnded* e)
{
    pcShare* s = m->share;
    if (e->trial < 0 || e->trial >= s->plan->trials || s->table->done[e->trial]) return;
    pcTablePut(s->table, e->trial, e->row);
    s->ran++;
    if (e->reason[0] && (!s->reason[0] || e->trial < s->reasonTrial)) {
        memcpy(s->reason, e->reason, sizeof s->reason);
        s->reasonTrial = e->trial;
    }
    if (s->store && m->status == PC_OK) m->status = pcStoreAdd(s->store, s->table, e->trial);
}

static void greet(Master* m, int rank, const Greeting* g)
{
    m->share->workers += g->threads;
    if (g->plan != hashOf(m->share->plan) && m->status == PC_OK)
        m->status = pcFail(PC_ERROR_ARGUMENT, "process %d of the job has another plan: is its world file the same?", rank);
}

static void hear(Master* m)
{
    union {
        pcEnded ended;
        Greeting greeting;
        int count;
    } message;
    const pcRanks* ranks = m->share->ranks;
    int from, tag;
    while (ranks && ranks->poll(&from, &tag, &message, sizeof message) >= 0) {
        if (tag == HELLO) greet(m, from, &message.greeting);
        if (tag == ENDED) note(m, &message.ended);
        if (tag == ASK) m->wanted[from] = message.count;
        feedRank(m, from);
    }
}

static void tellProgress(const Master* m)
{
    const pcShare* s = m->share;
    if (s->progress) s->progress(s->context, s->ran, m->count, clockOf(CLOCK_MONOTONIC) - m->start);
}

static void runAll(Master* m)
{
    pcShare* s = m->share;
    const double pause = s->ranks ? 0.001 : 0.1; /* seconds: messages have to be looked for */
    pcEnded ended;
    while (s->ran < m->count && m->status == PC_OK) {
        hear(m);
        feedCrew(m);
        for (bool one = pcCrewTake(m->crew, pause, &ended); one; one = pcCrewTake(m->crew, 0.0, &ended)) {
            note(m, &ended);
            s->ranHere++;
            feedCrew(m);
        }
        tellProgress(m);
    }
}

pcStatus pcShareRun(pcShare* share)
{
    Master m = {.share = share, .start = clockOf(CLOCK_MONOTONIC), .status = PC_OK};
    double processor = clockOf(CLOCK_PROCESS_CPUTIME_ID);
    share->workers = share->plan->serial ? 1 : share->threads;
    m.status = listMissing(&m);
    if (m.status == PC_OK && m.count > 0) m.status = pcCrewStart(share->plan, share->threads, &m.crew);
    if (m.status == PC_OK) runAll(&m);
    pcCrewStop(m.crew);
    pcShareDismiss(share->ranks, m.status == PC_OK ? 0 : 2);
    share->seconds = clockOf(CLOCK_MONOTONIC) - m.start;
    share->processor = clockOf(CLOCK_PROCESS_CPUTIME_ID) - processor;
    free(m.missing);
    free(m.wanted);
    return m.status;
}

void pcShareDismiss(const pcRanks* ranks, int code)
{
    for (int i = 1; ranks && i < ranks->size; i++) ranks->send(i, STOP, &code, sizeof code);
}

/* ---- the others ---- */

typedef struct Servant {
    const pcRanks* ranks;
    const pcPlan* plan;
    pcCrew* crew;
    int threads;
    bool asked, stopped;
    int code;
} Servant;

static void obey(Servant* s)
{
    long long trials[MOST_GIVEN];
    int from, tag;
    for (long size; !s->stopped && (size = s->ranks->poll(&from, &tag, trials, sizeof trials)) >= 0;) {
        if (tag == STOP) memcpy(&s->code, trials, sizeof s->code), s->stopped = true;
        if (tag == WORK && s->crew) pcCrewGive(s->crew, trials, (int)(size / (long)sizeof *trials));
        s->asked = false;
    }
}

static void ask(Servant* s)
{
    int wanted = s->threads * QUEUED - pcCrewWaiting(s->crew);
    if (s->asked || wanted < s->threads * QUEUED / 2) return;
    s->ranks->send(0, ASK, &wanted, sizeof wanted);
    s->asked = true;
}

static void sleepALittle(void)
{
    const struct timespec little = {0, 1000000};
    nanosleep(&little, NULL);
}

int pcShareServe(const pcRanks* ranks, const pcPlan* plan, int threads)
{
    pcEnded ended;
    Servant s = {.ranks = ranks, .plan = plan, .threads = plan && plan->serial ? 1 : threads};
    bool able = plan && pcCrewStart(plan, s.threads, &s.crew) == PC_OK;
    Greeting hello = {able ? hashOf(plan) : 0, s.threads};
    ranks->send(0, HELLO, &hello, sizeof hello);
    while (!s.stopped) {
        obey(&s);
        if (able) ask(&s);
        if (!able) sleepALittle();
        for (bool one = able && pcCrewTake(s.crew, 0.001, &ended); one; one = pcCrewTake(s.crew, 0.0, &ended))
            ranks->send(0, ENDED, &ended, sizeOfEnded(plan));
    }
    pcCrewStop(s.crew);
    return s.code;
}
