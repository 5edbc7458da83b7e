#define _GNU_SOURCE /* mallinfo2, clock_gettime */
#include "test_worlds/soak/tally.h"

#include <malloc.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adapters/ode/shapes.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Of Linux: pages in all, pages in memory, … */
static long residentKilobytes(void)
{
    long pages = 0;
    FILE* file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%*d %ld", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

static long heldKilobytes(void)
{
    struct mallinfo2 heap = mallinfo2();
    return (long)((heap.uordblks + heap.hblkhd) / 1024);
}

Tally tallyBegin(long steps)
{
    printf("   steps        s  RSS, MB  held, KB   most rows   ratio  length, m  joint  residual  missed  native\n");
    fflush(stdout);
    return (Tally){.all = steps, .before = residentKilobytes(), .began = now()};
}

static Tenth* current(Tally* tally)
{
    long part = tally->steps * TENTHS / tally->all;
    return tally->tenth + (part < TENTHS ? part : TENTHS - 1);
}

double tallyStep(Tally* tally, dWorldID world)
{
    Tenth* t = current(tally);
    pcStepReport report;
    pcWorldReportExtra extra;
    if (pcWorldReport(world, &report) != PC_OK || pcWorldReportMore(world, &extra) != PC_OK) return 0.0;
    t->ratio = fmax(t->ratio, report.infeasibilityContact);
    t->length = fmax(t->length, report.penetration);
    if (report.rows > t->rows) t->rows = report.rows;
    t->joint = fmax(t->joint, report.infeasibilityJoint);
    bool instead = extra.native && extra.reason[0];
    t->native += instead;
    if (instead) memcpy(tally->reason, extra.reason, sizeof tally->reason);
    if (extra.native) return report.penetration;
    t->missed += report.outcome != PC_SOLVED;
    t->residual = fmax(t->residual, report.residual);
    return report.penetration;
}

static int mostRows(const Tally* tally)
{
    int most = 0;
    for (int i = 0; i < TENTHS; i++) most = tally->tenth[i].rows > most ? tally->tenth[i].rows : most;
    return most;
}

void tallyNext(Tally* tally)
{
    Tenth* t = current(tally);
    tally->steps++, t->steps++;
    if (tally->steps < tally->all && current(tally) == t) return;
    t->resident = residentKilobytes(), t->heap = heldKilobytes(), t->rows = mostRows(tally);
    printf("%8ld %8.0f %8.1f %9ld %9d %7.1e %10.1e %6.0e %9.1e %7ld %7ld\n", tally->steps, now() - tally->began,
           (double)t->resident / 1024.0, t->heap, t->rows, t->ratio, t->length, t->joint, t->residual, t->missed, t->native);
    fflush(stdout);
}

long tallyMissed(const Tally* tally)
{
    long missed = 0;
    for (int i = 0; i < TENTHS; i++) missed += tally->tenth[i].missed;
    return missed;
}

long tallyNative(const Tally* tally)
{
    long native = 0;
    for (int i = 0; i < TENTHS; i++) native += tally->tenth[i].native;
    return native;
}

long tallyHeldBare(void)
{
    pcOdeForgetAllGeoms();
    return heldKilobytes();
}

void tallyBetween(Tally* tally)
{
    long tenth = tally->steps * TENTHS / tally->all - 1;
    if (tenth < 0 || tally->bare[tenth] > 0) return;
    tally->between[tenth] = heldKilobytes();
    tally->bare[tenth] = tallyHeldBare();
}

void tallyPrintBetween(const Tally* tally)
{
    printf("held between worlds: %ld KB after a tenth, %ld at the end; without the shapes of geoms that are gone %ld and %ld\n",
           tally->between[0], tally->between[TENTHS - 1], tally->bare[0], tally->bare[TENTHS - 1]);
}

long tallyGrowth(const Tally* tally)
{
    if (tally->bare[0] > 0) return tally->bare[TENTHS - 1] - tally->bare[0];
    return tally->tenth[TENTHS - 1].heap - tally->tenth[TENTHS / 2 - 1].heap;
}
