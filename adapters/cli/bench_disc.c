/* pcontact bench disc: the energy that polygons lose where a disc loses none (G 6.1). */
#include <math.h>
#include <stdio.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/disc.h"
#include "adapters/cli/options.h"

static const char help[] =
    "Usage: pcontact bench disc [--csv FILE]\n\n"
    "Rolls polygons of 10 to 10000 corners and the smooth disc on a plane for 5 s, at 2 m/s and h = 0.01, and "
    "prints the energy that each has\n"
    "lost: the corners of a polygon strike the plane one after the other, and each stroke takes its share. The disc must lose\n"
    "less than 1e-9 of it by either model; else the exit code is 1.\n\n"
    "  --csv FILE   the table as a file: body,corners,model,h,way,before,lost,part,residual\n";

/* A way to roll: one row for each model that knows smooth bodies. */
typedef struct Row {
    const char *body, *model;
    int corners; /* 0: none */
} Row;
static const Row rows[] = {{"polygon", "lcp", 10},   {"polygon", "lcp", 20},    {"polygon", "lcp", 50},   {"polygon", "lcp", 100},
                           {"polygon", "lcp", 200},  {"polygon", "lcp", 500},   {"polygon", "lcp", 1000}, {"polygon", "lcp", 2000},
                           {"polygon", "lcp", 5000}, {"polygon", "lcp", 10000}, {"disc", "lcp", 0},       {"disc", "implicit", 0}};
enum { ROWS = sizeof rows / sizeof *rows };

static const double STEP = 0.01, SECONDS = 5.0;

/* Of its energy: what a disc may lose. G's own figure is 1e-6. */
static const double NOTHING = 1e-9;

static pcStatus playRow(const Row* row, FILE* csv, bool* lost)
{
    char settings[64];
    pcDiscRun r;
    snprintf(settings, sizeof settings, "model=%s mu=0.5", row->model);
    pcStatus status = pcDiscRoll(row->corners, settings, STEP, SECONDS, &r);
    if (status != PC_OK) return status;
    printf("%-8s %7d  %-8s %9.4f %12.4e %10.4f %%  %9.1e\n", row->body, row->corners, row->model, r.way, r.lost, 100.0 * r.lost / r.before,
           r.residual);
    if (csv)
        fprintf(csv, "%s,%d,%s,%g,%.9g,%.9g,%.9g,%.9g,%.3g\n", row->body, row->corners, row->model, STEP, r.way, r.before, r.lost,
                r.lost / r.before, r.residual);
    if (row->corners == 0 && !(fabs(r.lost) <= NOTHING * r.before))
        printf("MISSED: the disc by '%s' lost %.1e of its energy, target %.0e\n", row->model, r.lost / r.before, NOTHING), *lost = true;
    fflush(stdout);
    return PC_OK;
}

int pcCliBenchDisc(int argc, char** argv)
{
    const char* path = NULL;
    for (int i = 0; i < argc; i++) {
        if (pcCliIsHelp(argv[i])) return fputs(help, stdout), PC_CLI_OK;
        if (!pcCliOption("--csv", argc, argv, &i, &path))
            return pcCliBadInput("'bench disc' takes no argument '%s'; 'pcontact bench disc --help' explains it", argv[i]);
        if (!path) return PC_CLI_BAD_INPUT;
    }
    FILE* csv = path ? fopen(path, "w") : NULL;
    if (path && !csv) return pcCliBadInput("'%s' cannot be written", path);
    pcStatus status = PC_OK;
    bool lost = false;
    puts("body     corners  model      way, m      lost, J       of all    residual");
    if (csv) fputs("body,corners,model,h,way,before,lost,part,residual\n", csv);
    for (int i = 0; i < ROWS && status == PC_OK; i++) status = playRow(rows + i, csv, &lost);
    int code = status != PC_OK ? pcCliBadInput("%s", pcLastError()) : lost ? PC_CLI_CHECK_FAILED : PC_CLI_OK;
    return pcCliCloseFile(csv, path, code);
}
