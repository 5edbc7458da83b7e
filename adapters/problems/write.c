#include "adapters/problems/write.h"

#include <locale.h>
#include <math.h>
#include <string.h>

void pcWriteNumber(FILE* file, double number, int digits)
{
    char text[40];
    snprintf(text, sizeof text, "%.*g", digits, number);
    char* point = strchr(text, localeconv()->decimal_point[0]);
    if (point) *point = '.';
    fputs(text, file);
}

/* 17 digits give the same bits again. */
static void put(FILE* file, double number)
{
    fputc(' ', file);
    pcWriteNumber(file, number, 17);
}

static void putAll(FILE* file, const char* name, const double* numbers, size_t count, size_t perLine)
{
    fputs(name, file);
    for (size_t i = 0; i < count; i++) {
        if (i % perLine == 0) fputc('\n', file);
        put(file, numbers[i]);
    }
    fputc('\n', file);
}

static void putRow(FILE* file, const pcProblem* p, int row)
{
    fprintf(file, "%d %d", p->block[2 * row], p->block[2 * row + 1]);
    for (int k = 0; k < 12; k++) put(file, p->block[2 * row + k / 6] >= 0 ? p->J[12 * (size_t)row + (size_t)k] : 0.0);
    put(file, p->target[row]), put(file, p->soft[row]);
    fputc('\n', file);
}

static void putCone(FILE* file, const pcCone* cone)
{
    if (cone->kind == PC_CONE_FREE) {
        fputs("free\n", file);
    } else if (cone->kind == PC_CONE_BOX) {
        fputs("box", file);
        put(file, cone->lo), put(file, cone->hi);
        fputc('\n', file);
    } else {
        fprintf(file, "friction %d", cone->edges);
        put(file, cone->angle);
        fprintf(file, " %d", cone->groups);
        for (int g = 0; g < cone->groups; g++) fprintf(file, " %d", cone->groupSize[g]);
        fputc('\n', file);
    }
}

static void putStep(FILE* file, const pcStepProblem* s)
{
    const pcProblem* p = s->problem;
    size_t n = 6 * (size_t)p->blocks;
    fprintf(file, "step blocks %d dense %d rows %d cones %d coulomb %d scale", p->blocks, p->dense, p->rows, p->cones, p->coulomb);
    put(file, p->velocityScale);
    fputs(" tolerance", file);
    put(file, s->tolerance);
    fputc('\n', file);
    putAll(file, "mass", p->mass, p->dense ? n * n : 6 * n, p->dense ? n : 6);
    putAll(file, "free", p->free, n, 6);
    fputs("rows\n", file);
    for (int i = 0; i < p->rows; i++) putRow(file, p, i);
    fputs("cones\n", file);
    for (int i = 0; i < p->cones; i++) putCone(file, p->cone + i);
    if (!s->c) return;
    putAll(file, "v", s->v, n, 6);
    putAll(file, "c", s->c, (size_t)p->rows, 1);
}

bool pcProblemWrite(const char* path, const pcStepProblem* step)
{
    FILE* file = fopen(path, "w");
    if (!file) return false;
    putStep(file, step);
    bool good = !ferror(file);
    good &= fclose(file) == 0;
    if (!good) remove(path); /* half a problem is none */
    return good;
}
