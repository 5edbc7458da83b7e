/*
 * The files of a sweep:
 *
 *   BASE.plan.json    what the sweep is; locked as long as somebody writes the rows
 *   BASE.trials.csv   a line for each trial, added when it has ended, sorted by trial when all are there
 *
 * A line is written by one call, so that whoever is killed leaves whole lines, but for the last one at worst; opening cuts that off. What
 * belongs to another sweep, or is being written, is never touched.
 */
#ifndef PC_SWEEP_STORE_H
#define PC_SWEEP_STORE_H

#include "adapters/sweep/table.h"

typedef struct pcStore pcStore;

/* Resuming: rows that are there are put into the table. PC_ERROR_ARGUMENT: one sentence, and nothing was changed. */
pcStatus pcStoreOpen(const char* base, bool resume, pcTable* table, pcStore** out);
pcStatus pcStoreAdd(pcStore* store, const pcTable* table, long long trial);
pcStatus pcStoreSort(pcStore* store, const pcTable* table); /* when all rows are there */
void pcStoreClose(pcStore* storeOrNull);

/* A file of its own beside them, all or nothing: BASE.summary.json and such. */
pcStatus pcStoreWrite(const char* base, const char* ending, const char* text, size_t size);

#endif
