/*
 * What the fuzz targets share. A target is one function of bytes, LLVMFuzzerTestOneInput: by libFuzzer it gets bytes that lead to new places
 * (`make fuzz`), by replay.c those of its corpus (ctest). It must be a function of its bytes alone.
 *
 * Bytes that have come to their end read as 0.
 */
#ifndef PC_FUZZ_TARGET_H
#define PC_FUZZ_TARGET_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pcontact/types.h"

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

/* What must hold beyond "no crash": the process ends where it does not, and the input is kept. */
#define REQUIRE(condition, ...)                                                           \
    do {                                                                                  \
        if (!(condition)) {                                                               \
            fprintf(stderr, "%s:%d: %s does not hold: ", __FILE__, __LINE__, #condition); \
            fprintf(stderr, __VA_ARGS__);                                                 \
            fputc('\n', stderr);                                                          \
            abort();                                                                      \
        }                                                                                 \
    } while (0)

/* Set by replay.c, which runs each input in both ways; one for all sources. */
__attribute__((weak)) bool thorough;

/* One input in sixteen, and all where it is asked for: what takes long and promises little is done for these. By their bytes, not by one of them:
 * a fuzzer that could turn it on would fill its corpus with slow inputs. (FNV-1a) */
static inline bool isChosen(const uint8_t* data, size_t size)
{
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < size; i++) hash = (hash ^ data[i]) * 16777619u;
    return thorough || (hash >> 28) == 0;
}

/* One line of printable text, long enough to mean something, without the full stop that the caller puts. */
static inline bool isSentence(const char* text)
{
    for (const char* c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 127) return false;
    return strlen(text) > 10;
}

/* A refusal is a status and a sentence. */
static inline void requireRefusal(pcStatus status)
{
    REQUIRE(status > PC_OK && status < PC_STATUS_COUNT, "status %d", (int)status);
    REQUIRE(status != PC_ERROR_INTERNAL, "%s", pcLastError());
    REQUIRE(isSentence(pcLastError()), "'%s'", pcLastError());
}

typedef struct Bytes {
    const uint8_t* at;
    size_t left;
} Bytes;

static inline unsigned takeByte(Bytes* b) { return b->left > 0 ? b->left--, *b->at++ : 0u; }

static inline int takeBelow(Bytes* b, int limit) { return (int)(takeByte(b) % (unsigned)limit); }

static inline double takeRaw(Bytes* b)
{
    uint64_t bits = 0;
    double number;
    for (int i = 0; i < 8; i++) bits = bits << 8 | takeByte(b);
    memcpy(&number, &bits, sizeof number);
    return number;
}

/* Steps of 1/32 between -4 and 4: where two such numbers meet, things line up exactly. */
static inline double takeGrid(Bytes* b) { return ((int)takeByte(b) - 128) / 32.0; }

/* Between -range and range, in 65536 steps. */
static inline double takeFine(Bytes* b, double range)
{
    unsigned high = takeByte(b), low = takeByte(b);
    return range * ((int)(high << 8 | low) - 32768) / 32768.0;
}

/* Anything: mostly of the grid, some powers of ten, what is none. */
static inline double takeNumber(Bytes* b)
{
    static const double odd[8] = {0.0, 1e-300, 1e300, 1e-9, 1e9, (double)INFINITY, (double)-INFINITY, (double)NAN};
    unsigned kind = takeByte(b);
    if (kind < 200) return ((int)kind - 100) / 25.0;
    if (kind < 220) return takeGrid(b) * pow(10.0, (int)kind - 210);
    if (kind < 240) return takeFine(b, 2.0);
    return kind < 252 ? odd[kind % 8] : takeRaw(b);
}

/* Its path: a file in memory, for what only reads files (file.c); the bytes stay the caller's. */
const char* writeFile(const char* name, const uint8_t* data, size_t size);

#endif
