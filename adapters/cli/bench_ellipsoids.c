/* pcontact bench ellipsoids: the table of E section 7.3, by E's own method and by ours. */
#include <stdio.h>
#include <stdlib.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/ellipsoids.h"
#include "adapters/cli/options.h"

static const char help[] =
    "Usage: pcontact bench ellipsoids [--mu MU] [--steps N] [--csv FILE]\n\n"
    "Lets cube lattices of 1 to 66 ellipsoids fall on a plane, as E section 7.3 does, and prints E's table: collisions, run time, "
    "iterations\n"
    "of the min-map Newton method and of GMRES inside it; and the time of 'auto' for the same. E's own figures stand beside them.\n\n"
    "  --mu MU      friction, with cones of four edges as in E; default 0 (E 17)\n"
    "  --steps N    of 0.01 s each; default: until the run has as many collisions as E's, or 500\n"
    "  --csv FILE   the table as a file\n";

/* E section 7.3: bodies, collisions, seconds, Newton, GMRES inner, GMRES outer. */
typedef struct Row {
    int bodies, collisions;
    double seconds;
    int newton, inner, outer;
} Row;
static const Row paper[] = {{1, 92, 0.1696, 176, 84, 84},         {6, 905, 0.7182, 215, 115, 590},     {11, 1888, 1.3516, 246, 146, 923},
                            {16, 3414, 2.1160, 282, 182, 1779},   {21, 4545, 2.8538, 294, 194, 2292},  {26, 6222, 3.8113, 279, 183, 2150},
                            {31, 7256, 4.4212, 318, 223, 2741},   {36, 8989, 5.5292, 322, 232, 3074},  {41, 10754, 6.6831, 334, 276, 2919},
                            {46, 12448, 7.8874, 350, 341, 2882},  {51, 14119, 9.0373, 357, 366, 2625}, {56, 15139, 9.8330, 359, 346, 2817},
                            {61, 16913, 11.3371, 355, 362, 2663}, {66, 18463, 12.4849, 371, 396, 2625}};
enum { ROWS = sizeof paper / sizeof *paper, MOST_STEPS = 500 };

typedef struct Bench {
    const char* mu;
    int steps;
    FILE* csv;
} Bench;

static pcStatus run(const Bench* b, const Row* row, const char* solver, int steps, pcEllipsoids* w)
{
    char settings[128];
    snprintf(settings, sizeof settings, "solver=%s mu=%s coneEdges=4", solver, b->mu);
    pcStatus status = pcEllipsoidsMake(PC_ELLIPSOIDS_LATTICE, row->bodies, 1, settings, w);
    if (status == PC_OK && steps > 0) return pcEllipsoidsStep(w, steps);
    while (status == PC_OK && w->collisions < row->collisions && w->steps < MOST_STEPS) status = pcEllipsoidsStep(w, 1);
    return status;
}

static int playRow(const Bench* b, const Row* row, double* seconds)
{
    static pcEllipsoids minmap, fast;
    if (run(b, row, "minmap", b->steps, &minmap) != PC_OK || run(b, row, "auto", minmap.steps, &fast) != PC_OK)
        return pcCliBadInput("%s", pcLastError());
    printf("%6d %6d %10d %9.4f %9.4f %7ld %7ld %7ld %9.1e | %10d %8.4f %6d %6d %6d\n", row->bodies, minmap.steps, minmap.collisions,
           1e-3 * minmap.milliseconds, 1e-3 * fast.milliseconds, minmap.iterations, minmap.restarts, minmap.products, minmap.residual,
           row->collisions, row->seconds, row->newton, row->inner, row->outer);
    if (b->csv)
        fprintf(b->csv, "%d,%d,%d,%.6g,%.6g,%ld,%ld,%ld,%.3g,%ld\n", row->bodies, minmap.steps, minmap.collisions,
                1e-3 * minmap.milliseconds, 1e-3 * fast.milliseconds, minmap.iterations, minmap.restarts, minmap.products, minmap.residual,
                minmap.fallbacks);
    *seconds = 1e-3 * minmap.milliseconds;
    bool good = minmap.unsolved == 0 && fast.unsolved == 0;
    if (!good) printf("       steps that missed their tolerance: %d by minmap, %d by auto\n", minmap.unsolved, fast.unsolved);
    pcEllipsoidsFree(&minmap);
    pcEllipsoidsFree(&fast);
    return good ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}

static int readOptions(int argc, char** argv, Bench* b)
{
    for (int i = 0; i < argc; i++) {
        const char *value, *path;
        double number;
        if (pcCliIsHelp(argv[i])) return fputs(help, stdout), PC_CLI_OK;
        if (pcCliOption("--mu", argc, argv, &i, &value)) {
            if (!value || !pcCliNumber(value, &number) || number < 0.0) return pcCliBadInput("--mu needs a number >= 0");
            b->mu = value;
        } else if (pcCliOption("--steps", argc, argv, &i, &value)) {
            if (!value || !pcCliNumber(value, &number) || !(number >= 1.0 && number <= 1e6))
                return pcCliBadInput("--steps needs a number of steps");
            b->steps = (int)number;
        } else if (pcCliOption("--csv", argc, argv, &i, &path)) {
            if (!path) return PC_CLI_BAD_INPUT;
            if (!(b->csv = fopen(path, "w"))) return pcCliBadInput("'%s' cannot be written", path);
        } else {
            return pcCliBadInput("'bench ellipsoids' takes no argument '%s'; 'pcontact bench ellipsoids --help' explains it", argv[i]);
        }
    }
    return -1;
}

int pcCliBenchEllipsoids(int argc, char** argv)
{
    Bench b = {.mu = "0"};
    double seconds = 0.0;
    int code = readOptions(argc, argv, &b);
    if (code >= 0) return code;
    code = PC_CLI_OK;
    if (b.csv) fputs("bodies,steps,collisions,minmap_s,auto_s,newton,gmres_starts,gmres_products,residual,fallbacks\n", b.csv);
    puts("                          minmap      auto          GMRES   GMRES           | E:");
    puts("bodies  steps collisions  seconds   seconds  Newton  starts products residual | collisions  seconds Newton  inner  outer");
    for (int i = 0; i < ROWS && code != PC_CLI_BAD_INPUT; i++) {
        int row = playRow(&b, paper + i, &seconds);
        code = row != PC_CLI_OK ? row : code;
        fflush(stdout);
    }
    if (b.csv) fclose(b.csv);
    return code;
}
