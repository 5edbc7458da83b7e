/*
 * Degenerate pairs for the ratio metric, by (seed, family, number): the same three numbers give the same case, so a failure can be
 * replayed. Cases of one block share a set of shapes, because making shapes takes longer than asking for their metric. */
#ifndef PC_FUZZ_CASES_H
#define PC_FUZZ_CASES_H

#include <stdint.h>

#include "test_worlds/fuzz/random.h"
#include "test_worlds/unit/certificate.h"

#define PC_BLOCK_CASES 500
#define PC_SET_SHAPES 24

/* How many families there are, and their names; NULL past the end. */
int pcFamilyCount(void);
const char* pcFamilyName(int family);

/* -1 if there is no such family. */
int pcFamilyByName(const char* name);

/* The shapes of a block. Half-spaces keep the plane they were made from. */
typedef struct pcCaseSet {
    int family;
    uint64_t seed, block;
    pcShape* shape[PC_SET_SHAPES];
    double plane[PC_SET_SHAPES][4];
    int refused; /* shapes that the library would not make and that were drawn again */
} pcCaseSet;

/* False if the shapes cannot be made at all. */
bool pcCaseSetMake(uint64_t seed, int family, uint64_t block, pcCaseSet* out);
void pcCaseSetFree(pcCaseSet* set);

typedef struct pcCase {
    pcScene scene;
    int steps;      /* > 1: a motion, to be followed with a carried cache */
    double turn[3]; /* per step, of body 1: half the angle as a vector */
    double move[3];
} pcCase;

/* Case `number` = block * PC_BLOCK_CASES + index within it. Valid as long as the set. */
void pcCaseMake(const pcCaseSet* set, int index, pcCase* out);

/* The next step of the motion. */
void pcCaseAdvance(pcCase* c);

#endif
