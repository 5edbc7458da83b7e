/*
 * The processes of a job that mpirun has started, as one process sees the others: numbered messages of bytes, and nothing else of MPI. The
 * part that calls MPI is a module of its own (mpi.c), loaded only in such a job: the tool needs no MPI to be built, installed or run.
 */
#ifndef PC_SWEEP_RANKS_H
#define PC_SWEEP_RANKS_H

#include <stdbool.h>
#include <stddef.h>

#include "pcontact/types.h"

#define PC_RANKS_SYMBOL "pcRanksModule"
#define PC_RANKS_VERSION 1

/* What the module gives. Calls come from one thread. */
typedef struct pcRanks {
    int version, rank, size;
    void (*send)(int to, int tag, const void* bytes, size_t size);
    /* A message, if one is there: its size, or -1. A longer one than the capacity ends the job. */
    long (*poll)(int* from, int* tag, void* bytes, size_t capacity);
    void (*finish)(void); /* waits for the others */
} pcRanks;

typedef const pcRanks* pcRanksStart(void); /* NULL: MPI does not work */

/* Whether this process is the one of its job that speaks for all; also where there is no job. */
bool pcRanksSpeaks(void);

/* NULL in *out and PC_OK: this is no job of several processes. PC_ERROR_UNSUPPORTED: it is one, and this build cannot take part. */
pcStatus pcRanksFind(const pcRanks** out);

#endif
