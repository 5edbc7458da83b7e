/*
 * Random numbers without a state: Philox 4x32 with ten rounds (Salmon, Moraes, Dror, Shaw 2011). A block is a function of a key and a counter,
 * so that what a trial draws depends on the seed, its number and the parameter alone: not on who runs it, when, or after what.
 */
#ifndef PC_SWEEP_RANDOM_H
#define PC_SWEEP_RANDOM_H

#include <stdint.h>

void pcPhilox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4]);

/* Two numbers, each in (0, 1): never 0, never 1. */
void pcRandomPair(uint64_t seed, uint64_t trial, uint32_t item, double out[2]);

#endif
