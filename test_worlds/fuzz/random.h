/* splitmix64: small, good enough, the same everywhere. */
#ifndef PC_FUZZ_RANDOM_H
#define PC_FUZZ_RANDOM_H

#include <stdint.h>

typedef struct pcRandom {
    uint64_t state;
} pcRandom;

static inline uint64_t pcRandomBits(pcRandom* random)
{
    uint64_t z = random->state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* In [0, 1). */
static inline double pcRandomUnit(pcRandom* random) { return (double)(pcRandomBits(random) >> 11) * 0x1p-53; }

#endif
