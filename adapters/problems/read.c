#include "adapters/problems/read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_ROWS 46340 /* their square still counts in an int, as the library asks */

/* A text and how far it was read. The first failure stays; from then on every call gives 0. */
typedef struct Reader {
    const char* path;
    char* text;
    size_t length;
    const char* at;
    int line;
    bool failed;
    char* message;
} Reader;

__attribute__((format(printf, 3, 4))) static void fail(Reader* r, bool withLine, const char* format, ...)
{
    if (r->failed) return;
    r->failed = true;
    int used = withLine ? snprintf(r->message, PC_READ_MESSAGE, "%.200s, line %d: ", r->path, r->line)
                        : snprintf(r->message, PC_READ_MESSAGE, "%.200s: ", r->path);
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(r->message + used, (size_t)(PC_READ_MESSAGE - used), format, arguments);
    va_end(arguments);
}

/* ---- Words --------------------------------------------------------------------------------------------------------------------- */

static bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

/* How long the next word is; the reader stands at it. 0: the text has ended. */
static int wordLength(Reader* r)
{
    for (; blank(*r->at); r->at++) r->line += *r->at == '\n';
    int length = 0;
    while (r->at[length] && !blank(r->at[length]) && length < 100) length++;
    return length;
}

static void unexpected(Reader* r, const char* wanted)
{
    int length = wordLength(r);
    if (length == 0) fail(r, true, "the file ends where %s should stand", wanted);
    fail(r, true, "%s should stand here, not '%.*s'", wanted, length < 40 ? length : 40, r->at);
}

static bool nextIs(Reader* r, const char* word)
{
    return !r->failed && (size_t)wordLength(r) == strlen(word) && memcmp(r->at, word, strlen(word)) == 0;
}

static void skip(Reader* r, const char* word)
{
    char quoted[32];
    snprintf(quoted, sizeof quoted, "the word '%s'", word);
    if (nextIs(r, word))
        r->at += strlen(word);
    else
        unexpected(r, quoted);
}

static int integer(Reader* r, const char* what, int low, int high)
{
    if (r->failed) return 0;
    char *end = NULL, wanted[100];
    int length = wordLength(r);
    long value = strtol(r->at, &end, 10);
    if (length > 0 && end == r->at + length && value >= low && value <= high) {
        r->at = end;
        return (int)value;
    }
    snprintf(wanted, sizeof wanted, "%s, a whole number from %d to %d,", what, low, high);
    unexpected(r, wanted);
    return 0;
}

static double number(Reader* r, const char* what)
{
    if (r->failed) return 0.0;
    char *end = NULL, wanted[100];
    int length = wordLength(r);
    double value = strtod(r->at, &end);
    if (length > 0 && end == r->at + length && isfinite(value)) {
        r->at = end;
        return value;
    }
    snprintf(wanted, sizeof wanted, "%s, a finite number,", what);
    unexpected(r, wanted);
    return 0.0;
}

static void numbers(Reader* r, const char* what, size_t count, double* out)
{
    for (size_t i = 0; i < count && !r->failed; i++) out[i] = number(r, what);
}

/* ---- Problems ------------------------------------------------------------------------------------------------------------------ */

/* Room for what the first line announced, unless the text cannot hold as much: two characters a word at least. */
static bool room(Reader* r, pcProblemFile* out, size_t indices, size_t count)
{
    if (r->failed) return false;
    if (indices + count > (r->length + 1) / 2) {
        fail(r, true, "%zu numbers are announced, but the file is too short for them", indices + count);
        return false;
    }
    out->indices = calloc(indices + 1, sizeof *out->indices);
    out->numbers = calloc(count + 1, sizeof *out->numbers);
    if (!out->indices || !out->numbers) fail(r, false, "out of memory for %zu numbers", indices + count);
    return !r->failed;
}

static void readContacts(Reader* r, pcProblemFile* out)
{
    skip(r, "dim");
    int dim = integer(r, "the number of rows of a contact", 2, 3);
    skip(r, "contacts");
    int contacts = integer(r, "the number of contacts", 0, LARGEST_ROWS / 3), n = dim * contacts;
    skip(r, "nonzeros");
    int nonzeros = integer(r, "the number of nonzeros", 0, 2000000000);
    size_t entries = (size_t)nonzeros, rows = (size_t)n;
    if (!room(r, out, 2 * entries, entries + rows + (size_t)contacts)) return;
    int *row = out->indices, *col = row + entries;
    double *value = out->numbers, *q = value + entries, *mu = q + rows;
    for (size_t k = 0; k < entries && !r->failed; k++) {
        row[k] = integer(r, "a row of W", 0, n - 1);
        col[k] = integer(r, "a column of W", 0, n - 1);
        value[k] = number(r, "an entry of W");
    }
    skip(r, "q"), numbers(r, "an entry of q", rows, q);
    skip(r, "mu"), numbers(r, "a coefficient of friction", (size_t)contacts, mu);
    out->kind = PC_FILE_CONTACTS;
    out->contacts = (pcDelassus){contacts, dim, nonzeros, row, col, value, q, mu};
}

static void readLcp(Reader* r, pcProblemFile* out)
{
    skip(r, "n");
    int n = integer(r, "the number of variables", 0, LARGEST_ROWS);
    size_t size = (size_t)n;
    if (!room(r, out, 0, size * size + size)) return;
    double *M = out->numbers, *q = M + size * size;
    numbers(r, "an entry of M", size * size, M);
    skip(r, "q"), numbers(r, "an entry of q", size, q);
    out->kind = PC_FILE_LCP;
    out->lcp = (pcLcp){n, M, q};
}

static void readProblem(Reader* r, pcProblemFile* out)
{
    if (nextIs(r, "dim"))
        readContacts(r, out);
    else if (nextIs(r, "n"))
        readLcp(r, out);
    else
        unexpected(r, "'dim', of a contact problem, or 'n', of a complementarity problem,");
    if (!r->failed && wordLength(r) > 0) unexpected(r, "the end of the file");
}

/* ---- Files --------------------------------------------------------------------------------------------------------------------- */

/* The whole text, with a 0 at its end. */
static void load(Reader* r, FILE* file)
{
    size_t capacity = 1 << 16;
    r->text = malloc(capacity);
    while (r->text) {
        r->length += fread(r->text + r->length, 1, capacity - 1 - r->length, file);
        if (r->length < capacity - 1) break;
        char* larger = realloc(r->text, capacity *= 2);
        if (!larger) free(r->text);
        r->text = larger;
    }
    if (!r->text)
        fail(r, false, "out of memory for its text");
    else if (ferror(file))
        fail(r, false, "the file cannot be read to its end");
    else
        r->text[r->length] = '\0';
    r->at = r->text;
}

bool pcProblemRead(const char* path, pcProblemFile* out, char message[PC_READ_MESSAGE])
{
    *out = (pcProblemFile){0};
    Reader r = {.path = path, .line = 1, .message = message};
    FILE* file = fopen(path, "r");
    if (!file)
        fail(&r, false, "the file cannot be opened");
    else
        load(&r, file), fclose(file);
    if (!r.failed) readProblem(&r, out);
    free(r.text);
    if (r.failed) pcProblemFileFree(out);
    return !r.failed;
}

void pcProblemFileFree(pcProblemFile* file)
{
    free(file->indices), free(file->numbers);
    *file = (pcProblemFile){0};
}
