/* Many numbers for a page: one block, deflated and in base64, which the page's JSON points into by [type, offset, count]. */
#ifndef PC_REPORT_NUMBERS_H
#define PC_REPORT_NUMBERS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "adapters/report/json.h"

typedef struct pcNumbers {
    unsigned char* bytes;
    size_t size, room;
    bool failed; /* out of memory; then nothing more is added */
} pcNumbers;

typedef enum pcNumberType { PC_NUMBER_F32, PC_NUMBER_I32, PC_NUMBER_I16, PC_NUMBER_I8 } pcNumberType;

/* Room for `count` numbers, all 0, and where it is in the JSON; NULL: out of memory. The room moves when more is added: fill it at once. */
void* pcNumbersAdd(pcNumbers* numbers, pcJson* json, pcNumberType type, size_t count);

/* Deflated; NULL: out of memory. The caller frees it. */
unsigned char* pcNumbersPack(const pcNumbers* numbers, size_t* size);

/* How many letters base64 needs, and writing them. */
size_t pcBase64Size(size_t size);
void pcBase64Write(FILE* file, const unsigned char* bytes, size_t size);

void pcNumbersFree(pcNumbers* numbers);

#endif
