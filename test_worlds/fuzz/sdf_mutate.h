/*
 * World files with damage: bytes, numbers and whole parts of the text changed by a seeded generator, read, made into a world and stepped
 * under one of the models.
 */
#ifndef PC_FUZZ_SDF_MUTATE_H
#define PC_FUZZ_SDF_MUTATE_H

#include <stdbool.h>
#include <stddef.h>

enum { SDF_MOST_SEEDS = 64 };

typedef struct SdfMutation {
    char* seed[SDF_MOST_SEEDS]; /* the texts */
    int seeds, foreign;         /* the first ones are foreign: of peers/ */
    unsigned long long state;
    char file[512]; /* the one at hand */
    int runs, read, refused, stepped;
    int badSentences; /* refusals without FILE:LINE */
} SdfMutation;

/* `folder`: that of the test worlds. The seeds are the worlds of peers/, and those of fuzz/seeds/, which have every element that is read. */
SdfMutation sdfMutationBegin(const char* folder, unsigned long long seed);
void sdfMutationRun(SdfMutation* mutation); /* one file */
void sdfMutationEnd(SdfMutation* mutation);

#endif
