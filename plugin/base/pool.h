/* Threads that wait for work: kept between steps, because starting one takes longer than many a step. */
#ifndef PC_BASE_POOL_H
#define PC_BASE_POOL_H

#include <stdbool.h>

typedef struct pcPool pcPool;

/* One task of many; `worker` is 0 .. threads - 1, and no two tasks run as the same worker at the same time. */
typedef void pcTask(void* context, int task, int worker);

pcPool* pcPoolCreate(void); /* NULL: out of memory */
void pcPoolFree(pcPool* pool);

/* Runs tasks 0 .. count - 1, begun in this order, on up to `threads` threads, the calling one among them; returns when all are done.
 * sharing: some task will call pcPoolShare, so that there is work for more threads than there are tasks. */
void pcPoolRun(pcPool* pool, int threads, bool sharing, pcTask* task, void* context, int count);

/* From within a task of pcPoolRun: the same for parts of it, on this thread and on those that have nothing else left to do. Here `worker` is
 * 0 for this thread, and 1 .. pcPoolWidth - 1 for the others. A pool that is NULL or shared by another task at the time runs them here. */
void pcPoolShare(pcPool* pool, pcTask* part, void* context, int count);

/* The same for parts that do not wait for each other, from both ends: for loops that take some 20 us and more. */
void pcPoolLoop(pcPool* pool, pcTask* part, void* context, int count);

/* How many threads the present pcPoolRun has at most; 1 without a pool. */
int pcPoolWidth(const pcPool* pool);

#endif
