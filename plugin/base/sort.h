/* Sorting by a number, stable and without allocating (the C library's qsort may). */
#ifndef PC_BASE_SORT_H
#define PC_BASE_SORT_H

#include <stdint.h>

typedef struct pcKeyed {
    uint64_t key;
    int index;
} pcKeyed;

/* By key; items of equal keys keep their order. Nearly sorted input takes nearly linear time. `room` is as long as `items`. */
void pcSortKeyed(pcKeyed* items, int count, pcKeyed* room);

/* A key that orders like the number; not for NaN. */
uint64_t pcKeyOfNumber(double number);

#endif
