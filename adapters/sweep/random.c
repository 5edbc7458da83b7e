#include "adapters/sweep/random.h"

#include <string.h>

static void mix(uint32_t c[4], const uint32_t key[2])
{
    uint64_t a = (uint64_t)0xD2511F53u * c[0], b = (uint64_t)0xCD9E8D57u * c[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ c[1] ^ key[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ key[1], (uint32_t)a};
    memcpy(c, next, sizeof next);
}

void pcPhilox(const uint32_t counter[4], const uint32_t key[2], uint32_t out[4])
{
    uint32_t k[2] = {key[0], key[1]};
    memcpy(out, counter, 4 * sizeof *out);
    for (int i = 0; i < 10; i++, k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u) mix(out, k);
}

/* The middle of one of 2^52 equal parts. */
static double within(uint32_t high, uint32_t low)
{
    uint64_t bits = ((uint64_t)high << 20) | (low >> 12);
    return ((double)bits + 0.5) * 0x1p-52;
}

void pcRandomPair(uint64_t seed, uint64_t trial, uint32_t item, double out[2])
{
    const uint32_t key[2] = {(uint32_t)seed, (uint32_t)(seed >> 32)}, counter[4] = {(uint32_t)trial, (uint32_t)(trial >> 32), item, 0};
    uint32_t block[4];
    pcPhilox(counter, key, block);
    out[0] = within(block[0], block[1]), out[1] = within(block[2], block[3]);
}
