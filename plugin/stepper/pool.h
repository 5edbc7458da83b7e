/* Threads that wait for work: kept between steps, because starting one takes longer than many a step. */
#ifndef PC_STEPPER_POOL_H
#define PC_STEPPER_POOL_H

typedef struct pcPool pcPool;

/* One task of many; `worker` is 0 .. threads - 1, and no two tasks run as the same worker at the same time. */
typedef void pcTask(void* context, int task, int worker);

pcPool* pcPoolCreate(void); /* NULL: out of memory */
void pcPoolFree(pcPool* pool);

/* Runs tasks 0 .. count - 1, begun in this order, on up to `threads` threads, the calling one among them; returns when all are done. */
void pcPoolRun(pcPool* pool, int threads, pcTask* task, void* context, int count);

#endif
