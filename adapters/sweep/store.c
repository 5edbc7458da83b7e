#define _GNU_SOURCE
#include "adapters/sweep/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"

struct pcStore {
    char base[PATH_MAX];
    int plan, trials; /* descriptors; -1: none */
    bool made;        /* the plan file is ours and new: gone again if the rest cannot be opened */
};

static pcStatus nameFile(const char* base, const char* ending, char path[PATH_MAX])
{
    if (snprintf(path, PATH_MAX, "%s.%s", base, ending) < PATH_MAX) return PC_OK;
    return pcFail(PC_ERROR_ARGUMENT, "the name '%.80s…' is too long", base);
}

static pcStatus cannotWrite(const char* path) { return pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be written: %s", path, strerror(errno)); }

static pcStatus writeAll(int file, const char* path, const char* text, size_t size)
{
    while (size > 0) {
        ssize_t written = write(file, text, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return cannotWrite(path);
        text += written, size -= (size_t)written;
    }
    return PC_OK;
}

/* The whole file, with a final 0; NULL if it cannot be read. */
static char* readAll(int file, size_t* size)
{
    struct stat about;
    if (fstat(file, &about) != 0) return NULL;
    char* text = malloc((size_t)about.st_size + 1);
    *size = 0;
    while (text && *size < (size_t)about.st_size) {
        ssize_t got = pread(file, text + *size, (size_t)about.st_size - *size, (off_t)*size);
        if (got <= 0) break;
        *size += (size_t)got;
    }
    if (text) text[*size] = 0;
    return text;
}

/* ---- the plan, which is the lock ---- */

static size_t lineLength(const char* text) { return strcspn(text, "\n"); }

/* The first line that differs says what is different. */
static pcStatus compare(const char* path, const char* theirs, const char* ours)
{
    while (*theirs && *ours) {
        size_t a = lineLength(theirs), b = lineLength(ours);
        if (a != b || strncmp(theirs, ours, a) != 0) break;
        theirs += a + (theirs[a] != 0), ours += b + (ours[b] != 0);
    }
    if (!*theirs && !*ours) return PC_OK;
    theirs += strspn(theirs, " "), ours += strspn(ours, " ");
    int a = (int)lineLength(theirs), b = (int)lineLength(ours);
    return pcFail(PC_ERROR_ARGUMENT, "'%s' belongs to another sweep: it has '%.*s', this one '%.*s'", path, a < 120 ? a : 120, theirs,
                  b < 120 ? b : 120, ours);
}

static pcStatus lockPlan(pcStore* s, const char* path)
{
    if (flock(s->plan, LOCK_EX | LOCK_NB) == 0) return PC_OK;
    s->made = false;
    return pcFail(PC_ERROR_ARGUMENT, "another sweep is writing '%s' and its trials", path);
}

static pcStatus openPlan(pcStore* s, bool resume, const pcPlan* plan, char path[PATH_MAX])
{
    pcStatus status = nameFile(s->base, "plan.json", path);
    if (status != PC_OK) return status;
    s->plan = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    s->made = s->plan >= 0;
    if (!s->made && errno != EEXIST) return cannotWrite(path);
    if (!s->made) s->plan = open(path, O_RDWR | O_CLOEXEC);
    if (s->plan < 0) return cannotWrite(path);
    status = lockPlan(s, path);
    if (status != PC_OK) return status;
    size_t size = 0;
    char* text = readAll(s->plan, &size);
    if (!text) return pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be read", path);
    if (!s->made && !resume)
        status = pcFail(PC_ERROR_ARGUMENT, "'%s' is there already: --resume goes on with it, another --csv leaves it alone", path);
    else if (size > 0)
        status = compare(path, text, plan->text);
    free(text);
    if (status == PC_OK && size == 0) status = writeAll(s->plan, path, plan->text, strlen(plan->text));
    return status;
}

/* ---- the rows ---- */

/* Reads lines up to the first that is none; `good` is where that begins. */
static pcStatus readRows(const char* path, char* text, size_t size, pcTable* table, size_t* good)
{
    double row[PC_SWEEP_COLUMNS];
    long long trial;
    int line = 1;
    for (size_t at = *good; at < size; line++) {
        char* end = memchr(text + at, '\n', size - at);
        size_t next = end ? (size_t)(end - text) + 1 : size;
        if (end) *end = 0;
        bool whole = end && pcTableReadRow(table->plan, text + at, &trial, row);
        if (!whole && next < size) return pcFail(PC_ERROR_ARGUMENT, "'%s', line %d, is not a row of this sweep", path, line + 1);
        if (!whole) return PC_OK;
        pcTablePut(table, trial, row);
        at = *good = next;
    }
    return PC_OK;
}

static pcStatus readTrials(pcStore* s, const char* path, pcTable* table)
{
    char* header = malloc(PC_TABLE_LINE);
    size_t size = 0, good = 0, length = header ? pcTablePrintHeader(table->plan, header) : 0;
    char* text = header ? readAll(s->trials, &size) : NULL;
    pcStatus status = text ? PC_OK : pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be read", path);
    bool headed = text && size >= length && memcmp(text, header, length) == 0;
    bool torn = text && size < length && memcmp(text, header, size) == 0; /* an empty file too */
    if (status == PC_OK && !headed && !torn) status = pcFail(PC_ERROR_ARGUMENT, "'%s' has other columns than this sweep", path);
    if (headed) good = length;
    if (status == PC_OK && headed) status = readRows(path, text, size, table, &good);
    if (status == PC_OK && good < size && ftruncate(s->trials, (off_t)good) != 0) status = cannotWrite(path);
    if (status == PC_OK && good == 0) status = writeAll(s->trials, path, header, length);
    free(text);
    free(header);
    return status;
}

/* A new sweep finds no file in the place of those that it will write. */
static pcStatus refuseOthers(const pcStore* s)
{
    static const char* const endings[] = {"trials.csv", "summary.csv", "summary.json", "map.csv", "map.json"};
    char path[PATH_MAX];
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (nameFile(s->base, endings[i], path) == PC_OK && access(path, F_OK) == 0)
            return pcFail(PC_ERROR_ARGUMENT, "'%s' is there already, but no sweep belongs to it", path);
    return PC_OK;
}

static pcStatus openTrials(pcStore* s, bool resume, pcTable* table)
{
    char path[PATH_MAX];
    pcStatus status = nameFile(s->base, "trials.csv", path);
    if (status == PC_OK && !resume) status = refuseOthers(s);
    if (status != PC_OK) return status;
    s->trials = open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666);
    return s->trials < 0 ? cannotWrite(path) : readTrials(s, path, table);
}

pcStatus pcStoreOpen(const char* base, bool resume, pcTable* table, pcStore** out)
{
    char path[PATH_MAX];
    pcStore* s = calloc(1, sizeof *s);
    if (!s) return pcFail(PC_ERROR_MEMORY, "out of memory for a sweep");
    s->plan = s->trials = -1;
    pcStatus status = strlen(base) + 32 < sizeof s->base ? PC_OK : pcFail(PC_ERROR_ARGUMENT, "the name '%.80s…' is too long", base);
    if (status == PC_OK) strcpy(s->base, base);
    if (status == PC_OK) status = openPlan(s, resume, table->plan, path);
    if (status == PC_OK) status = openTrials(s, resume, table);
    if (status == PC_OK) {
        *out = s;
        return PC_OK;
    }
    if (s->made) unlink(path);
    pcStoreClose(s);
    return status;
}

void pcStoreClose(pcStore* s)
{
    if (!s) return;
    if (s->trials >= 0) close(s->trials);
    if (s->plan >= 0) close(s->plan);
    free(s);
}

pcStatus pcStoreAdd(pcStore* s, const pcTable* table, long long trial)
{
    static _Thread_local char line[PC_TABLE_LINE];
    char path[PATH_MAX];
    size_t length = pcTablePrintRow(table->plan, trial, pcTableRow(table, trial), line);
    nameFile(s->base, "trials.csv", path);
    return writeAll(s->trials, path, line, length);
}

pcStatus pcStoreSort(pcStore* s, const pcTable* table)
{
    char* line = malloc(PC_TABLE_LINE);
    char* text = NULL;
    size_t size = 0;
    FILE* all = line ? open_memstream(&text, &size) : NULL;
    if (!all) {
        free(line);
        return pcFail(PC_ERROR_MEMORY, "out of memory to sort the trials");
    }
    fwrite(line, 1, pcTablePrintHeader(table->plan, line), all);
    for (long long k = 0; k < table->plan->trials; k++)
        if (pcTableRow(table, k)) fwrite(line, 1, pcTablePrintRow(table->plan, k, pcTableRow(table, k), line), all);
    bool good = fclose(all) == 0;
    pcStatus status = good ? pcStoreWrite(s->base, "trials.csv", text, size) : pcFail(PC_ERROR_MEMORY, "out of memory to sort the trials");
    free(text);
    free(line);
    return status;
}

/* Beside it first, then in its place. */
pcStatus pcStoreWrite(const char* base, const char* ending, const char* text, size_t size)
{
    char path[PATH_MAX], beside[PATH_MAX];
    pcStatus status = nameFile(base, ending, path);
    if (status == PC_OK) status = nameFile(path, "new", beside);
    if (status != PC_OK) return status;
    int file = open(beside, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) return cannotWrite(beside);
    status = writeAll(file, beside, text, size);
    if (close(file) != 0 && status == PC_OK) status = cannotWrite(beside);
    if (status == PC_OK && rename(beside, path) != 0) status = cannotWrite(path);
    if (status != PC_OK) unlink(beside);
    return status;
}
