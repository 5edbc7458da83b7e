/* The processes of a job, here as threads that pass messages: what is missing is shared, and who has another plan is found out. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/sweep/share.h"
#include "test_worlds/unit/sdf_text.h"

enum { RANKS = 3 };

/* ---- messages ---- */

typedef struct Message {
    struct Message* next;
    int from, tag;
    size_t size;
    char bytes[];
} Message;

static pthread_mutex_t post = PTHREAD_MUTEX_INITIALIZER;
static Message* box[RANKS];
static int sent[RANKS]; /* trials that each rank has handed in, and whatever else it says */
static _Thread_local int me;

static void sendBytes(int to, int tag, const void* bytes, size_t size)
{
    Message* m = malloc(sizeof *m + size);
    if (!m) abort();
    *m = (Message){.from = me, .tag = tag, .size = size};
    memcpy(m->bytes, bytes, size);
    pthread_mutex_lock(&post);
    Message** end = box + to;
    while (*end) end = &(*end)->next;
    *end = m;
    sent[me]++;
    pthread_mutex_unlock(&post);
}

static long pollBytes(int* from, int* tag, void* bytes, size_t capacity)
{
    pthread_mutex_lock(&post);
    Message* m = box[me];
    if (m) box[me] = m->next;
    pthread_mutex_unlock(&post);
    if (!m) return -1;
    if (m->size > capacity) abort();
    long size = (long)m->size;
    *from = m->from, *tag = m->tag;
    memcpy(bytes, m->bytes, m->size);
    free(m);
    return size;
}

static void finish(void) {}

static void emptyBoxes(void)
{
    for (int i = 0; i < RANKS; i++) {
        sent[i] = 0;
        for (Message* m = box[i]; m; m = box[i]) {
            box[i] = m->next;
            free(m);
        }
    }
}

static const pcRanks ranks[RANKS] = {{PC_RANKS_VERSION, 0, RANKS, sendBytes, pollBytes, finish},
                                     {PC_RANKS_VERSION, 1, RANKS, sendBytes, pollBytes, finish},
                                     {PC_RANKS_VERSION, 2, RANKS, sendBytes, pollBytes, finish}};

/* ---- the job ---- */

/* A process has its own world and plan. */
typedef struct Process {
    int rank, code;
    pcScene* scene;
    pcPlan* plan;
    pthread_t thread;
} Process;

static void begin(Process* p, int rank, uint64_t seed)
{
    static const char* const varies[] = {"ball.z=uniform:1:2", "ball.vx=uniform:-1:1"};
    *p = (Process){.rank = rank, .code = -1};
    PC_EXPECT_STATUS(
        PC_OK, sdfRead(sdfWorld("1.6", "%s",
                                "<model name='ground'><static>1</static><link name='l'><collision name='c'><geometry><plane/></geometry>"
                                "</collision></link></model><model name='ball'><pose>0 0 1 0 0 0</pose><link name='l'><collision name='c'>"
                                "<geometry><sphere><radius>0.5</radius></sphere></geometry></collision></link></model>"),
                       &p->scene));
    pcSweepOrder order = {
        .world = "ball", .scene = p->scene, .settings = "", .time = 0.1, .varies = 2, .vary = varies, .trials = 100, .seed = seed};
    PC_EXPECT_STATUS(PC_OK, pcPlanMake(&order, &p->plan));
}

static void end(Process* p)
{
    pcPlanFree(p->plan);
    pcSceneFree(p->scene);
}

static void* serve(void* context)
{
    Process* p = context;
    me = p->rank;
    p->code = pcShareServe(ranks + p->rank, p->plan, 1);
    return NULL;
}

/* So that nobody is done before the last one has begun: greetings, and what is asked for by those who have a plan. */
static void waitForAll(const Process* p)
{
    for (int i = 1; i < RANKS; i++)
        for (int said = 0; said < (p[i].plan ? 2 : 1);) {
            pthread_mutex_lock(&post);
            said = sent[i];
            pthread_mutex_unlock(&post);
            sched_yield();
        }
}

static pcStatus runJob(Process* p, pcTable* table, pcShare* share)
{
    PC_EXPECT_STATUS(PC_OK, pcTableMake(p[0].plan, table));
    for (int i = 1; i < RANKS; i++) PC_EXPECT_EQ_INT(0, pthread_create(&p[i].thread, NULL, serve, p + i));
    waitForAll(p);
    me = 0;
    *share = (pcShare){.plan = p[0].plan, .table = table, .ranks = ranks, .threads = 1};
    pcStatus status = pcShareRun(share);
    for (int i = 1; i < RANKS; i++) pthread_join(p[i].thread, NULL);
    return status;
}

PC_TEST(SweepThreads, RanksShareTheTrialsAndGiveTheSameRows)
{
    Process p[RANKS];
    pcTable table, alone;
    pcShare share, single;
    for (int i = 0; i < RANKS; i++) begin(p + i, i, 1);
    PC_EXPECT_STATUS(PC_OK, runJob(p, &table, &share));
    PC_EXPECT_EQ_INT(100, (int)share.ran);
    PC_EXPECT_EQ_INT(100, (int)table.rows);
    PC_EXPECT_TRUE(share.ranHere < 100); /* the others had a part in it */
    for (int i = 1; i < RANKS; i++) {
        PC_EXPECT_EQ_INT(0, p[i].code);
        PC_EXPECT_GT(sent[i], 2); /* not its greeting alone */
    }
    PC_ASSERT_STATUS(PC_OK, pcTableMake(p[0].plan, &alone));
    single = (pcShare){.plan = p[0].plan, .table = &alone, .threads = 1};
    PC_EXPECT_STATUS(PC_OK, pcShareRun(&single));
    PC_EXPECT_EQ_INT(0, memcmp(alone.value, table.value, 100 * (size_t)p[0].plan->columns * sizeof *table.value));
    pcTableFree(&table);
    pcTableFree(&alone);
    for (int i = 0; i < RANKS; i++) end(p + i);
    emptyBoxes();
}

PC_TEST(SweepThreads, ARankWithAnotherPlanEndsTheJob)
{
    for (int without = 0; without < 2; without++) {
        PC_CASE("%s", without ? "none at all" : "another seed");
        Process p[RANKS];
        pcTable table;
        pcShare share;
        for (int i = 0; i < RANKS; i++) begin(p + i, i, i == 2 && !without ? 7 : 1);
        if (without) pcPlanFree(p[2].plan), p[2].plan = NULL;
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, runJob(p, &table, &share));
        PC_EXPECT_TRUE(strstr(pcLastError(), "process 2 of the job has another plan") != NULL);
        PC_EXPECT_EQ_INT(2, p[1].code);
        PC_EXPECT_EQ_INT(2, p[2].code);
        pcTableFree(&table);
        for (int i = 0; i < RANKS; i++) end(p + i);
        emptyBoxes();
    }
}
