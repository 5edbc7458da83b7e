/* Pairs of boxes that meet. */
#ifndef PC_BROADPHASE_SWEEP_H
#define PC_BROADPHASE_SWEEP_H

#include "broadphase/broadphase.h"

typedef struct pcPairList {
    pcArena* arena;
    int (*pair)[2]; /* the smaller shape first */
    int count, capacity;
} pcPairList;

/* Room for so many more; false if out of memory. */
bool pcPairListGrow(pcPairList* list, int more);
void pcPairListAdd(pcPairList* list, int a, int b);

/* Whether shapes of these categories collide. */
PC_INLINE bool pcAreWanted(unsigned category1, unsigned collide1, unsigned category2, unsigned collide2)
{
    bool any = (category1 | collide1) == 0 || (category2 | collide2) == 0;
    return any || (category1 & collide2) != 0 || (category2 & collide1) != 0;
}

/* Adds all pairs of shapes that have a box, in any order. `order` is a permutation of the shapes, at best that of the last step, and is updated:
 * boxes come first. Returns how many shapes have one. */
int pcSweepBoxes(const pcProxy* proxies, int count, int* order, pcPairList* list);

#endif
