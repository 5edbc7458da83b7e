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

/* The same for a loop from 0 to count, of which begin .. end - 1 is one part; parts do not wait for each other. They are the same for any number
 * of threads, PC_CHUNK each but for the last: what a loop sums up is summed by chunks first. */
#define PC_CHUNK 64
typedef void pcLoopBody(void* context, int begin, int end);
void pcPoolLoop(pcPool* pool, pcLoopBody* body, void* context, int count);
static inline int pcChunks(int count) { return (count + PC_CHUNK - 1) / PC_CHUNK; }

/* How many threads the present pcPoolRun has at most; 1 without a pool. */
int pcPoolWidth(const pcPool* pool);

#endif
