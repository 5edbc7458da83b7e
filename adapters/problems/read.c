#include "adapters/problems/read.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_ROWS 46340 /* their square still counts in an int, as the library asks … */
#define STEP_ROWS 50000000 /* … where there is a matrix of them */

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

/* Infinity is a number here; NaN is none. */
static double bound(Reader* r, const char* what)
{
    if (r->failed) return 0.0;
    char *end = NULL, wanted[100];
    int length = wordLength(r);
    double value = strtod(r->at, &end);
    if (length > 0 && end == r->at + length && !isnan(value)) {
        r->at = end;
        return value;
    }
    snprintf(wanted, sizeof wanted, "%s, a number,", what);
    unexpected(r, wanted);
    return 0.0;
}

static double number(Reader* r, const char* what)
{
    const char* at = r->at;
    char wanted[100];
    double value = bound(r, what);
    if (isfinite(value)) return value;
    r->at = at;
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

/* ---- Islands of a step ---------------------------------------------------------------------------------------------------------- */

static int counted(Reader* r, const char* word, int low, int high)
{
    skip(r, word);
    return integer(r, word, low, high);
}

static double positive(Reader* r, const char* word)
{
    skip(r, word);
    double value = number(r, word);
    if (!r->failed && !(value > 0.0)) fail(r, true, "%s must be > 0, not %g", word, value);
    return value;
}

static void readRow(Reader* r, const pcProblem* p, int* block, double* J, double* target, double* soft)
{
    for (int side = 0; side < 2; side++) block[side] = integer(r, "a block", -1, p->blocks - 1);
    numbers(r, "an entry of J", 12, J);
    *target = number(r, "a target"), *soft = number(r, "a softness");
    if (!r->failed && (block[0] == block[1] || *soft < 0.0))
        fail(r, true, block[0] == block[1] ? "a row needs two different blocks" : "a softness must be >= 0");
}

static void readFriction(Reader* r, pcCone* cone)
{
    cone->kind = PC_CONE_FRICTION;
    cone->edges = integer(r, "the number of edges", 0, 1024), cone->angle = number(r, "the angle of the edges");
    cone->groups = integer(r, "the number of groups", 0, PC_CONE_GROUPS);
    for (int g = 0; g < cone->groups; g++) cone->rows += cone->groupSize[g] = integer(r, "the size of a group", 1, 2);
}

static void readCone(Reader* r, pcCone* cone)
{
    cone->rows = 1;
    if (nextIs(r, "free")) {
        skip(r, "free");
    } else if (nextIs(r, "box")) {
        skip(r, "box");
        cone->kind = PC_CONE_BOX, cone->lo = bound(r, "a bound"), cone->hi = bound(r, "a bound");
        bool good = cone->lo <= cone->hi && cone->lo < HUGE_VAL && cone->hi > -HUGE_VAL && !(isinf(cone->lo) && isinf(cone->hi));
        if (!r->failed && !good) fail(r, true, "the bounds %g and %g leave nothing, or everything", cone->lo, cone->hi);
    } else {
        skip(r, "friction");
        readFriction(r, cone);
    }
}

/* Every row in one cone, and both of its blocks those of the cone's first row. */
static void readCones(Reader* r, const pcProblem* p, pcCone* cone)
{
    int row = 0;
    for (int i = 0; i < p->cones && !r->failed; i++) {
        cone[i].row = row;
        readCone(r, cone + i);
        row += cone[i].rows;
        if (!r->failed && row > p->rows) fail(r, true, "the cones have more than %d rows", p->rows);
        for (int k = cone[i].row; k < row && !r->failed; k++)
            if (memcmp(p->block + 2 * (size_t)k, p->block + 2 * (size_t)cone[i].row, 2 * sizeof *p->block) != 0)
                fail(r, true, "row %d has other blocks than the first of its cone", k);
    }
    if (!r->failed && row != p->rows) fail(r, true, "the cones have %d rows, not %d", row, p->rows);
}

/* Symmetric positive definite, by Cholesky's method in place of a copy. */
static bool isPositive(const double* matrix, int n, double* work)
{
    for (int i = 0; i < n; i++)
        for (int k = 0; k <= i; k++) {
            double sum = matrix[(size_t)i * (size_t)n + (size_t)k];
            double size = sqrt(fabs(matrix[(size_t)i * (size_t)n + (size_t)i] * matrix[(size_t)k * (size_t)n + (size_t)k]));
            if (!(fabs(sum - matrix[(size_t)k * (size_t)n + (size_t)i]) <= 1e-9 * size)) return false;
            for (int j = 0; j < k; j++) sum -= work[(size_t)i * (size_t)n + (size_t)j] * work[(size_t)k * (size_t)n + (size_t)j];
            if (i == k && !(sum > 0.0)) return false;
            work[(size_t)i * (size_t)n + (size_t)k] = i == k ? sqrt(sum) : sum / work[(size_t)k * (size_t)n + (size_t)k];
        }
    return true;
}

static void checkMass(Reader* r, const pcProblem* p)
{
    int n = p->dense ? 6 * p->blocks : 6, count = p->dense ? p->blocks > 0 : p->blocks;
    double* work = calloc((size_t)n * (size_t)n + 1, sizeof *work);
    if (!work) fail(r, false, "out of memory for a mass");
    for (int i = 0; i < count && !r->failed; i++)
        if (!isPositive(p->mass + (size_t)i * 36, n, work)) fail(r, true, "the mass of block %d is not symmetric positive definite", i);
    free(work);
}

/* The answer may be left out. */
static void readAnswer(Reader* r, pcProblemFile* out, double* v, double* c)
{
    if (r->failed || wordLength(r) == 0) return;
    skip(r, "v"), numbers(r, "an entry of v", 6 * (size_t)out->step.blocks, v);
    skip(r, "c"), numbers(r, "an entry of c", (size_t)out->step.rows, c);
    out->v = v, out->c = c;
}

static void readStep(Reader* r, pcProblemFile* out)
{
    pcProblem* p = &out->step;
    skip(r, "step");
    p->blocks = counted(r, "blocks", 1, STEP_ROWS / 36), p->dense = counted(r, "dense", 0, 1);
    p->rows = counted(r, "rows", 0, STEP_ROWS), p->cones = counted(r, "cones", 0, STEP_ROWS);
    p->coulomb = counted(r, "coulomb", 0, 1);
    p->velocityScale = positive(r, "scale"), out->tolerance = positive(r, "tolerance");
    size_t n = 6 * (size_t)p->blocks, rows = (size_t)p->rows, masses = p->dense ? n * n : 6 * n;
    if (!room(r, out, 2 * rows, masses + n + 14 * rows)) return;
    double* wider = realloc(out->numbers, (masses + 2 * n + 15 * rows + 1) * sizeof *wider); /* and the answer, if there is one */
    out->cones = calloc((size_t)p->cones + 1, sizeof *out->cones);
    if (wider) out->numbers = wider;
    if (!wider || !out->cones) {
        fail(r, false, "out of memory for a step");
        return;
    }
    double *mass = wider, *velocity = mass + masses, *J = velocity + n, *target = J + 12 * rows, *soft = target + rows, *v = soft + rows;
    out->kind = PC_FILE_STEP;
    p->mass = mass, p->free = velocity, p->block = out->indices, p->J = J, p->target = target, p->soft = soft, p->cone = out->cones;
    skip(r, "mass"), numbers(r, "an entry of the mass", masses, mass);
    skip(r, "free"), numbers(r, "a free velocity", n, velocity);
    if (!r->failed) checkMass(r, p);
    skip(r, "rows");
    for (size_t i = 0; i < rows && !r->failed; i++) readRow(r, p, out->indices + 2 * i, J + 12 * i, target + i, soft + i);
    skip(r, "cones"), readCones(r, p, out->cones);
    readAnswer(r, out, v, v + n);
}

static void readProblem(Reader* r, pcProblemFile* out)
{
    if (nextIs(r, "dim"))
        readContacts(r, out);
    else if (nextIs(r, "n"))
        readLcp(r, out);
    else if (nextIs(r, "step"))
        readStep(r, out);
    else
        unexpected(r, "'dim', of a contact problem, 'n', of a complementarity problem, or 'step', of an island,");
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
    free(file->indices), free(file->numbers), free(file->cones);
    *file = (pcProblemFile){0};
}
