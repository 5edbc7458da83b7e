/* The module behind ranks.h: the only code that knows MPI. */
#include <limits.h>
#include <mpi.h>
#include <stdio.h>

#include "adapters/sweep/ranks.h"

static void sendBytes(int to, int tag, const void* bytes, size_t size) { MPI_Send(bytes, (int)size, MPI_BYTE, to, tag, MPI_COMM_WORLD); }

static long pollBytes(int* from, int* tag, void* bytes, size_t capacity)
{
    MPI_Status about;
    int there = 0, size = 0;
    MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &there, &about);
    if (!there) return -1;
    MPI_Get_count(&about, MPI_BYTE, &size);
    if ((size_t)size > capacity) {
        fprintf(stderr, "pcontact: a message of %d bytes was not expected.\n", size);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    *from = about.MPI_SOURCE, *tag = about.MPI_TAG;
    MPI_Recv(bytes, size, MPI_BYTE, *from, *tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return size;
}

static void finish(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}

static pcRanks ranks = {.version = PC_RANKS_VERSION, .send = sendBytes, .poll = pollBytes, .finish = finish};

__attribute__((visibility("default"))) const pcRanks* pcRanksModule(void);

const pcRanks* pcRanksModule(void)
{
    int level;
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS || level < MPI_THREAD_FUNNELED) return NULL;
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
    return &ranks;
}
