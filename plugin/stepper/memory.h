/* What a sequence of steps keeps: buffers, threads, and of the last step what the next one begins with. */
#ifndef PC_STEPPER_MEMORY_H
#define PC_STEPPER_MEMORY_H

#include "base/arena.h"
#include "broadphase/broadphase.h"
#include "constraint/constraint.h"
#include "base/pool.h"

typedef struct pcKeptPair {
    int shape1, shape2;
    pcPairCache cache;
} pcKeptPair;

/* A contact's impulse in world axes, so that it does not matter how the tangents were chosen. */
typedef struct pcKeptTouch {
    int body1, body2, shape1, shape2;
    unsigned long long id;
    double normal, torsion;
    v3 friction, rolling;
    bool still; /* it was the guess of that step, and good enough */
} pcKeptTouch;

/* Of one step. */
typedef struct pcHistory {
    pcArena arena;
    bool solved; /* impulses are here */
    double h;
    int shapes;
    int* order; /* as the broadphase left it */
    int pairs;
    pcKeptPair* pair; /* ascending */
    int touches, slots;
    pcKeptTouch* touch;
    int* slot; /* hash table: index + 1 of a touch, 0: empty */
    int rows;
    double* rowImpulse;
} pcHistory;

/* What a thread works with. */
typedef struct pcWorker {
    pcSolverMemory* solver;
    pcArena arena;
} pcWorker;

/* An island whose answer missed the tolerance, while all of it is still there. */
typedef struct pcMissed {
    int island;
    const pcProblem* problem; /* as it was solved last */
    const double* v;
    const double* c; /* NULL where the impulses are more than this problem's: Poisson's second pass */
    double tolerance;
} pcMissed;
typedef void pcMissedFn(void* context, const pcMissed* missed); /* from any of the threads that solve */

struct pcMemory {
    pcArena arena; /* of the step at hand */
    pcHistory history[2];
    int last; /* which of the two the last step wrote */
    pcPool* pool;
    pcWorker* worker;
    int workers;
    pcMissedFn* missed; /* or NULL */
    void* missedContext;
    bool trying; /* nobody is moved by the answer: it is a guess of an iteration that may end well, and may throw bodies */
};

/* Pools and workers for so many threads; false if out of memory. */
void pcMemoryLevel(pcMemory* memory); /* after a step */
bool pcMemoryPrepare(pcMemory* memory, int threads);
bool pcMemoryStarved(pcMemory* memory); /* whether a worker was refused memory since the last question */
void pcMemoryClear(pcMemory* memory);

/* The pair's cache of the last step, or an empty one. `from` goes through the old list and is kept from call to call: pairs ascend. */
pcPairCache pcHistoryCache(const pcHistory* history, const pcPair* pair, int* from);

/* Empty, with room for so much: in one piece, so that as much in the next steps allocates nothing. False if out of memory. */
typedef struct pcHistorySize {
    int shapes, pairs, touches, rows;
} pcHistorySize;
bool pcHistoryBegin(pcHistory* history, const pcHistorySize* size);

/* The impulse of one contact. */
void pcHistoryKeep(pcHistory* history, const pcKeptTouch* touch);
const pcKeptTouch* pcHistoryFind(const pcHistory* history, const pcTouch* touch);

#endif
