#include "adapters/sweep/vary.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* ---- numbers as text ---- */

int pcNumberRead(const char* text, double* out)
{
    char* end;
    double value = strtod(text, &end);
    if (end == text || *end || !isfinite(value)) return 0;
    *out = value;
    return 1;
}

void pcNumberPrint(double value, char text[32])
{
    double back;
    text[0] = 0;
    for (int digits = 6; digits <= 17 && isfinite(value); digits++) {
        snprintf(text, 32, "%.*g", digits, value);
        if (digits == 17 || (pcNumberRead(text, &back) && back == value)) return;
    }
    if (isinf(value)) strcpy(text, value > 0.0 ? "inf" : "-inf");
}

void pcVaryPrint(const pcVary* v, double value, char text[32])
{
    if (v->words && value >= 0.0 && value < v->count)
        snprintf(text, 32, "%s", v->word[(int)value]);
    else
        pcNumberPrint(value, text);
}

/* ---- reading ---- */

enum { PARTS = PC_VARY_CHOICES + 1 };

typedef struct Parts {
    char text[PC_VARY_TEXT];
    char* part[PARTS];
    int count;
} Parts;

static pcStatus split(const pcVary* v, Parts* out)
{
    strcpy(out->text, v->text);
    out->count = 0;
    for (char* at = out->text; at; out->count++) {
        if (out->count == PARTS) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.40s…' has more than %d values", v->name, v->text, PC_VARY_CHOICES);
        out->part[out->count] = at;
        at = strchr(at, ':');
        if (at) *at++ = 0;
    }
    return PC_OK;
}

static pcStatus readNumbers(const pcVary* v, const Parts* parts, const char* shape, double* out, int count)
{
    if (parts->count != count + 1) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s' should read %s=%s", v->name, v->text, v->name, shape);
    for (int i = 0; i < count; i++)
        if (!pcNumberRead(parts->part[i + 1], out + i))
            return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': '%.40s' is not a number", v->name, v->text, parts->part[i + 1]);
    return PC_OK;
}

static pcStatus readUniform(pcVary* v, const Parts* parts)
{
    double x[2];
    bool logarithm = v->kind == PC_VARY_LOGUNIFORM;
    pcStatus status = readNumbers(v, parts, logarithm ? "loguniform:LOW:HIGH" : "uniform:LOW:HIGH", x, 2);
    if (status != PC_OK) return status;
    if (!(x[0] < x[1])) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': %g is not below %g", v->name, v->text, x[0], x[1]);
    if (logarithm && !(x[0] > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': a logarithm needs numbers > 0", v->name, v->text);
    if (!isfinite(x[1] - x[0])) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s' is too wide", v->name, v->text);
    v->first = x[0], v->second = x[1];
    return PC_OK;
}

static pcStatus readNormal(pcVary* v, const Parts* parts)
{
    double x[2];
    pcStatus status = readNumbers(v, parts, "normal:MEAN:DEVIATION", x, 2);
    if (status != PC_OK) return status;
    if (!(x[1] > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': the deviation must be > 0", v->name, v->text);
    v->first = x[0], v->second = x[1];
    return PC_OK;
}

static pcStatus readGrid(pcVary* v, const Parts* parts)
{
    double x[3];
    pcStatus status = readNumbers(v, parts, "grid:FROM:TO:STEP", x, 3);
    if (status != PC_OK) return status;
    if (!(x[2] > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': the step must be > 0", v->name, v->text);
    if (!(x[0] <= x[1])) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': %g is above %g", v->name, v->text, x[0], x[1]);
    double count = floor((x[1] - x[0]) / x[2] + 1e-6) + 1.0;
    if (!(count <= PC_VARY_GRID)) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s' has more than %d values", v->name, v->text, PC_VARY_GRID);
    v->first = x[0], v->second = x[1], v->step = x[2], v->count = (int)count;
    return PC_OK;
}

/* Numbers if all of them are, else words. */
static pcStatus readChoice(pcVary* v, char* const* part, int count)
{
    v->count = count;
    for (int i = 0; i < count; i++) {
        if (!*part[i] || strlen(part[i]) >= sizeof v->word[i] || strpbrk(part[i], " \t,\"="))
            return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': '%.40s' is neither a number nor a word", v->name, v->text, part[i]);
        strcpy(v->word[i], part[i]);
        v->words |= !pcNumberRead(part[i], v->number + i);
    }
    return count > 0 ? PC_OK : pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s' should read %s=choice:THIS:THAT", v->name, v->text, v->name);
}

static pcStatus readKind(pcVary* v, const Parts* parts)
{
    static const struct {
        const char* name;
        pcVaryKind kind;
        pcStatus (*read)(pcVary*, const Parts*);
    } kinds[] = {{"uniform", PC_VARY_UNIFORM, readUniform},
                 {"loguniform", PC_VARY_LOGUNIFORM, readUniform},
                 {"normal", PC_VARY_NORMAL, readNormal},
                 {"grid", PC_VARY_GRIDDED, readGrid}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(parts->part[0], kinds[i].name) != 0) continue;
        v->kind = kinds[i].kind;
        return kinds[i].read(v, parts);
    }
    if (strcmp(parts->part[0], "choice") == 0) return readChoice(v, parts->part + 1, parts->count - 1);
    if (parts->count == 1) return readChoice(v, parts->part, 1);
    return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': '%.40s' is none of uniform, loguniform, normal, choice, grid", v->name, v->text,
                  parts->part[0]);
}

pcStatus pcVaryParse(const char* text, pcVary* out)
{
    pcVary v = {.kind = PC_VARY_CHOICE};
    Parts parts;
    const char* equals = strchr(text, '=');
    if (!equals || equals == text) return pcFail(PC_ERROR_ARGUMENT, "'%.80s' should read NAME=KIND:…, such as mu=uniform:0.1:0.4", text);
    if ((size_t)(equals - text) >= sizeof v.name || strlen(equals + 1) >= sizeof v.text)
        return pcFail(PC_ERROR_ARGUMENT, "'%.80s…' is too long", text);
    memcpy(v.name, text, (size_t)(equals - text));
    if (strpbrk(v.name, " \t,\"")) return pcFail(PC_ERROR_ARGUMENT, "'%.80s' is not the name of a parameter", v.name);
    strcpy(v.text, equals + 1);
    pcStatus status = split(&v, &parts);
    if (status == PC_OK) status = readKind(&v, &parts);
    if (status == PC_OK) *out = v;
    return status;
}

/* ---- drawing ---- */

double pcVaryValue(const pcVary* v, int place, const double random[2])
{
    const double turn = 6.283185307179586;
    double u = random[0];
    switch (v->kind) {
    case PC_VARY_UNIFORM: return v->first + u * (v->second - v->first);
    case PC_VARY_LOGUNIFORM: return exp(log(v->first) + u * (log(v->second) - log(v->first)));
    case PC_VARY_NORMAL: return v->first + v->second * sqrt(-2.0 * log(u)) * cos(turn * random[1]); /* Box and Muller */
    case PC_VARY_GRIDDED: return v->first + place * v->step;
    default: break;
    }
    int chosen = (int)(u * v->count);
    return v->words ? chosen : v->number[chosen];
}
