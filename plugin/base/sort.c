/* Merging runs: short ones are made by insertion, and two that already follow each other are left alone. */
#include "base/sort.h"

#include <string.h>

enum { RUN = 16 };

uint64_t pcKeyOfNumber(double number)
{
    uint64_t bits;
    memcpy(&bits, &number, sizeof bits);
    return bits >> 63 ? ~bits : bits | (uint64_t)1 << 63;
}

static void insertionSort(pcKeyed* items, int count)
{
    for (int i = 1; i < count; i++) {
        pcKeyed moving = items[i];
        int j = i;
        for (; j > 0 && moving.key < items[j - 1].key; j--) items[j] = items[j - 1];
        items[j] = moving;
    }
}

static void merge(pcKeyed* items, int middle, int count, pcKeyed* room)
{
    if (items[middle - 1].key <= items[middle].key) return;
    memcpy(room, items, (size_t)middle * sizeof *items);
    int left = 0, right = middle;
    for (int out = 0; left < middle; out++) items[out] = right < count && items[right].key < room[left].key ? items[right++] : room[left++];
}

void pcSortKeyed(pcKeyed* items, int count, pcKeyed* room)
{
    for (int i = 0; i < count; i += RUN) insertionSort(items + i, count - i < RUN ? count - i : RUN);
    for (int run = RUN; run < count; run *= 2)
        for (int i = 0; i + run < count; i += 2 * run) merge(items + i, run, count - i < 2 * run ? count - i : 2 * run, room);
}
