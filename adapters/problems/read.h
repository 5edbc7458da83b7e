/*
 * Problems kept as text files: contacts by their Delassus matrix (test_worlds/problems/contact), and linear complementarity problems
 * (test_worlds/problems/lcp). The first word tells which. Blanks and ends of lines separate words, and nothing else matters.
 *
 *     dim D contacts N nonzeros K, then K times `row column value`, `q`, D N numbers, `mu`, N numbers
 *     n N, then N N numbers (M by rows), `q`, N numbers
 */
#ifndef PC_ADAPTERS_PROBLEMS_READ_H
#define PC_ADAPTERS_PROBLEMS_READ_H

#include <stdbool.h>

#include "pcontact/lcp.h"

typedef enum pcFileKind { PC_FILE_CONTACTS, PC_FILE_LCP } pcFileKind;

typedef struct pcProblemFile {
    pcFileKind kind;
    pcDelassus contacts; /* if of that kind */
    pcLcp lcp;           /* else */
    int* indices;        /* private: what the two point to */
    double* numbers;
} pcProblemFile;

enum { PC_READ_MESSAGE = 512 };

/* false: `message` says why in one sentence without a full stop, with the file and the line; `out` then holds nothing. */
bool pcProblemRead(const char* path, pcProblemFile* out, char message[PC_READ_MESSAGE]);
void pcProblemFileFree(pcProblemFile* file);

#endif
