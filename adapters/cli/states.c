#define _POSIX_C_SOURCE 200809L
#include "adapters/cli/states.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "base/status.h"

static const char columns[] = "time,body,x,y,z,qw,qx,qy,qz,vx,vy,vz,wx,wy,wz\n";

enum { NUMBERS = 13 }; /* of a body */

/* ---- writing ---- */

bool pcStatesIsFile(const char* a, const char* b)
{
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev && first.st_ino == second.st_ino;
}

static pcStatus nameOf(const char* base, char name[PC_PATH_LENGTH])
{
    if (snprintf(name, PC_PATH_LENGTH, "%s.states.csv", base) < PC_PATH_LENGTH) return PC_OK;
    return pcFail(PC_ERROR_ARGUMENT, "the name '%s' is too long", base);
}

pcStatus pcStatesSpare(const char* base, const char* from)
{
    char name[PC_PATH_LENGTH];
    pcStatus status = nameOf(base, name);
    if (status == PC_OK && pcStatesIsFile(name, from))
        status = pcFail(PC_ERROR_ARGUMENT, "'%s' is what the run goes on from, and would be lost: --csv takes another name", name);
    return status;
}

pcStatus pcStatesOpen(const char* base, FILE** out)
{
    char name[PC_PATH_LENGTH];
    pcStatus status = nameOf(base, name);
    if (status != PC_OK) return status;
    FILE* file = fopen(name, "w");
    if (!file) return pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be written", name);
    fputs(columns, file);
    *out = file;
    return PC_OK;
}

static void putNumbers(FILE* file, const dReal* number, int count)
{
    for (int i = 0; i < count; i++) fprintf(file, ",%.17g", number[i]);
}

void pcStatesWrite(FILE* file, const pcStage* stage, double time)
{
    for (int i = 0; i < stage->bodies; i++) {
        dBodyID body = stage->body[i].body;
        fprintf(file, "%.9g,%s", time, stage->body[i].name);
        putNumbers(file, dBodyGetPosition(body), 3);
        putNumbers(file, dBodyGetQuaternion(body), 4);
        putNumbers(file, dBodyGetLinearVel(body), 3);
        putNumbers(file, dBodyGetAngularVel(body), 3);
        fputc('\n', file);
    }
    fflush(file); /* a run that is stopped can be gone on with from here */
}

/* ---- reading ---- */

typedef struct States {
    const char* path;
    FILE* file;
    const pcStage* stage;
    char* line;
    size_t room;
    int lines;
    double *next, *whole; /* NUMBERS per body: the state that is being read, and the last one that is whole */
    double time;          /* of that; NaN: there is none */
} States;

/* What follows a number; NULL: there is none. */
static const char* readNumber(const char* text, double* number)
{
    char* end;
    *number = strtod(text, &end);
    return end > text && isfinite(*number) ? end : NULL;
}

/* `time,name,x,y,…` of body i. */
static bool readBody(const States* s, int i, double* time, double* number)
{
    const char *name = s->stage->body[i].name, *at = readNumber(s->line, time);
    if (!at || *at != ',' || strncmp(at + 1, name, strlen(name)) != 0) return false;
    at += 1 + strlen(name);
    for (int k = 0; k < NUMBERS; k++) {
        if (*at != ',') return false;
        at = readNumber(at + 1, number + k);
        if (!at) return false;
    }
    return *at == '\n';
}

static bool nextLine(States* s)
{
    ssize_t length = getline(&s->line, &s->room, s->file);
    s->lines += length > 0;
    return length > 0;
}

/* True: there may be another state after this one. */
static bool readState(States* s, pcStatus* status)
{
    size_t size = NUMBERS * (size_t)s->stage->bodies;
    double time = NAN;
    for (int i = 0; i < s->stage->bodies; i++) {
        if (!nextLine(s)) return false;
        if (readBody(s, i, &time, s->next + (size_t)(NUMBERS * i))) continue;
        if (strchr(s->line, '\n')) /* else somebody was stopped here */
            *status = pcFail(PC_ERROR_ARGUMENT, "%s:%d: this is no state of '%s'", s->path, s->lines, s->stage->body[i].name);
        return false;
    }
    memcpy(s->whole, s->next, size * sizeof *s->whole);
    s->time = time;
    return true;
}

static pcStatus readAll(States* s)
{
    pcStatus status = PC_OK;
    if (!nextLine(s) || strcmp(s->line, columns) != 0)
        return pcFail(PC_ERROR_ARGUMENT, "'%s' is no file of states, as --csv BASE writes BASE.states.csv", s->path);
    while (s->stage->bodies > 0 && readState(s, &status)) continue;
    if (status == PC_OK && isnan(s->time)) status = pcFail(PC_ERROR_ARGUMENT, "'%s' has no state of all bodies", s->path);
    return status;
}

static void moveBodies(const States* s)
{
    for (int i = 0; i < s->stage->bodies; i++) {
        dBodyID body = s->stage->body[i].body;
        const double *x = s->whole + (size_t)(NUMBERS * i), *q = x + 3, *v = x + 7, *w = x + 10;
        dQuaternion turn = {q[0], q[1], q[2], q[3]};
        dBodySetPosition(body, x[0], x[1], x[2]);
        dBodySetQuaternion(body, turn);
        dBodySetLinearVel(body, v[0], v[1], v[2]);
        dBodySetAngularVel(body, w[0], w[1], w[2]);
    }
}

pcStatus pcStatesTake(const char* path, pcStage* stage, double* time)
{
    States s = {.path = path, .file = fopen(path, "r"), .stage = stage, .time = NAN};
    size_t size = NUMBERS * (size_t)stage->bodies + 1;
    if (!s.file) return pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be read", path);
    s.next = malloc(size * sizeof *s.next), s.whole = malloc(size * sizeof *s.whole);
    pcStatus status = s.next && s.whole ? readAll(&s) : pcFail(PC_ERROR_MEMORY, "out of memory for the states of %d bodies", stage->bodies);
    if (status == PC_OK) moveBodies(&s), *time = s.time, pcStageGoOnAt(stage, s.time);
    fclose(s.file);
    free(s.line), free(s.next), free(s.whole);
    return status;
}
