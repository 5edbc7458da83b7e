/*
 * Problems kept as text files: contacts by their Delassus matrix (test_worlds/problems/contact), linear complementarity problems
 * (test_worlds/problems/lcp), and islands of a step as dump=FOLDER writes them. The first word tells which. Blanks and ends of lines
 * separate words, and nothing else matters.
 *
 *     dim D contacts N nonzeros K, then K times `row column value`, `q`, D N numbers, `mu`, N numbers
 *     n N, then N N numbers (M by rows), `q`, N numbers
 *     step blocks B dense 0|1 rows N cones K coulomb 0|1 scale S tolerance T, then in the letters of solver/problem.h
 *         mass    36 B numbers (dense: 6B 6B)
 *         free    6 B numbers
 *         rows    N times `block1 block2`, 12 numbers of J, target, softness; blocks from 0, -1 for none
 *         cones   K times `free`, `box lo hi` (may be infinite: -inf, inf) or `friction edges angle groups`, then the size of each group
 *         v, c    6 B and N numbers: the answer that missed the tolerance; both or neither
 */
#ifndef PC_ADAPTERS_PROBLEMS_READ_H
#define PC_ADAPTERS_PROBLEMS_READ_H

#include <stdbool.h>

#include "pcontact/lcp.h"
#include "solver/problem.h"

typedef enum pcFileKind { PC_FILE_CONTACTS, PC_FILE_LCP, PC_FILE_STEP } pcFileKind;

typedef struct pcProblemFile {
    pcFileKind kind;
    pcDelassus contacts; /* if of that kind */
    pcLcp lcp;
    pcProblem step;
    double tolerance;    /* of a step */
    const double *v, *c; /* of a step: the answer in the file, or NULL */
    int* indices;        /* private: what these point to */
    double* numbers;
    pcCone* cones;
} pcProblemFile;

enum { PC_READ_MESSAGE = 512 };

/* false: `message` says why in one sentence without a full stop, with the file and the line; `out` then holds nothing. */
bool pcProblemRead(const char* path, pcProblemFile* out, char message[PC_READ_MESSAGE]);
void pcProblemFileFree(pcProblemFile* file);

#endif
