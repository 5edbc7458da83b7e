/* Structs as the library knows them, against those of a program. */
#ifndef PC_BASE_ABI_H
#define PC_BASE_ABI_H

#include "pcontact/abi.h"

typedef struct pcAbiStruct {
    const char* name;
    pcAbiSize size;
} pcAbiStruct;
#define PC_ABI_STRUCT_(number, type) {#type, {number, (int)sizeof(type)}},

pcStatus pcAbiCompareWith(const pcAbiStruct* known, int knownCount, const pcAbiSize* sizes, int count);

#endif
