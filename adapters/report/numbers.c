#include "adapters/report/numbers.h"

#include <stdlib.h>
#include <string.h>

#include <zlib.h>

static const struct {
    const char* name;
    size_t size;
} types[] = {[PC_NUMBER_F32] = {"f32", 4}, [PC_NUMBER_I32] = {"i32", 4}, [PC_NUMBER_I16] = {"i16", 2}, [PC_NUMBER_I8] = {"i8", 1}};

static bool grow(pcNumbers* n, size_t size)
{
    if (size <= n->room) return true;
    size_t room = size > 2 * n->room ? size : 2 * n->room;
    unsigned char* bytes = realloc(n->bytes, room);
    if (!bytes) return false;
    n->bytes = bytes, n->room = room;
    return true;
}

/* Every array begins at a multiple of four, as the browser's typed arrays need it. */
void* pcNumbersAdd(pcNumbers* n, pcJson* json, pcNumberType type, size_t count)
{
    size_t at = n->size, size = (count * types[type].size + 3) / 4 * 4;
    n->failed = n->failed || !grow(n, at + size + 4);
    if (n->failed) return NULL;
    memset(n->bytes + at, 0, size);
    n->size = at + size;
    pcJsonOpen(json, '[');
    pcJsonText(json, types[type].name);
    pcJsonNumber(json, (double)at);
    pcJsonNumber(json, (double)count);
    pcJsonClose(json, ']');
    return n->bytes + at;
}

unsigned char* pcNumbersPack(const pcNumbers* n, size_t* size)
{
    uLongf packed = compressBound((uLong)n->size);
    unsigned char* bytes = n->failed ? NULL : malloc(packed);
    if (bytes && compress2(bytes, &packed, n->size ? n->bytes : (const unsigned char*)"", (uLong)n->size, 6) == Z_OK) {
        *size = packed;
        return bytes;
    }
    free(bytes);
    return NULL;
}

size_t pcBase64Size(size_t size) { return (size + 2) / 3 * 4; }

void pcBase64Write(FILE* file, const unsigned char* bytes, size_t size)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < size; i += 3) {
        unsigned b1 = i + 1 < size ? bytes[i + 1] : 0, b2 = i + 2 < size ? bytes[i + 2] : 0, word = (unsigned)bytes[i] << 16 | b1 << 8 | b2;
        char four[4] = {letters[word >> 18], letters[word >> 12 & 63], i + 1 < size ? letters[word >> 6 & 63] : '=',
                        i + 2 < size ? letters[word & 63] : '='};
        fwrite(four, 1, 4, file);
    }
}

void pcNumbersFree(pcNumbers* n)
{
    free(n->bytes);
    *n = (pcNumbers){0};
}
