/* pcontact bench ellipsoids: the table of E section 7.3, by E's own method and by ours. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/convergence.h"
#include "adapters/cli/ellipsoids.h"
#include "adapters/cli/options.h"

static const char help[] =
    "Usage: pcontact bench ellipsoids [--mu MU] [--steps N] [--csv FILE]\n"
    "       pcontact bench ellipsoids --convergence\n\n"
    "Lets cube lattices of 1 to 66 ellipsoids fall on a plane, as E section 7.3 does, and prints E's table: collisions, run time, "
    "iterations\n"
    "of the min-map Newton method and of GMRES inside it, with all collisions of a step in one problem as there; and the time of 'auto', "
    "by\n"
    "islands. E's own figures stand beside them, and in the end how iterations grow; without friction they should not grow faster than "
    "E's,\n"
    "and the 66 should have E's 18463 collisions behind them in 0.25 s, a fiftieth of E's time, by either solver; what is missed is said,\n"
    "and the exit code is 1.\n\n"
    "  --mu MU      friction, with cones of four edges as in E; default 0 (E 17)\n"
    "  --steps N    of 0.01 s each; default: until the run has as many collisions as E's, or 500\n"
    "  --csv FILE   the table as a file\n"
    "  --convergence  instead: how the difference between runs falls with the step in E's worlds (E section 7.1), before the first "
    "contact\n"
    "               after which runs that differ by 1e-9 m are four times as far apart; should be of order 0.8 to 1.3\n";

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
    bool convergence;
    FILE* csv;
} Bench;

/* The rows between which growth is told: the paper's last one, and the first with several bodies. */
enum { GROWS_FROM = 1, GROWS_TO = ROWS - 1 };

static pcStatus run(const Bench* b, const Row* row, const char* solver, int steps, pcEllipsoids* w)
{
    char settings[128];
    snprintf(settings, sizeof settings, "%s mu=%s coneEdges=4", solver, b->mu);
    pcStatus status = pcEllipsoidsMake(PC_ELLIPSOIDS_LATTICE, row->bodies, 1, settings, w);
    if (status == PC_OK && steps > 0) return pcEllipsoidsStep(w, steps);
    while (status == PC_OK && w->collisions < row->collisions && w->steps < MOST_STEPS) status = pcEllipsoidsStep(w, 1);
    return status;
}

static int playRow(const Bench* b, const Row* row, Row* out, double* autoSeconds)
{
    static pcEllipsoids minmap, fast;
    if (run(b, row, "solver=minmap islands=0", b->steps, &minmap) != PC_OK || run(b, row, "solver=auto", minmap.steps, &fast) != PC_OK)
        return pcCliBadInput("%s", pcLastError());
    printf("%6d %6d %10d %9.4f %9.4f %7ld %7ld %7ld %9.1e | %10d %8.4f %6d %6d %6d\n", row->bodies, minmap.steps, minmap.collisions,
           1e-3 * minmap.milliseconds, 1e-3 * fast.milliseconds, minmap.iterations, minmap.restarts, minmap.products, minmap.residual,
           row->collisions, row->seconds, row->newton, row->inner, row->outer);
    if (b->csv)
        fprintf(b->csv, "%d,%d,%d,%.6g,%.6g,%ld,%ld,%ld,%.3g,%ld\n", row->bodies, minmap.steps, minmap.collisions,
                1e-3 * minmap.milliseconds, 1e-3 * fast.milliseconds, minmap.iterations, minmap.restarts, minmap.products, minmap.residual,
                minmap.fallbacks);
    *out = (Row){row->bodies,          minmap.collisions,   1e-3 * minmap.milliseconds, (int)minmap.iterations,
                 (int)minmap.restarts, (int)minmap.products};
    *autoSeconds = 1e-3 * fast.milliseconds;
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
        } else if (strcmp(argv[i], "--convergence") == 0) {
            b->convergence = true;
        } else if (pcCliOption("--csv", argc, argv, &i, &path)) {
            if (!path) return PC_CLI_BAD_INPUT;
            if (!(b->csv = fopen(path, "w"))) return pcCliBadInput("'%s' cannot be written", path);
        } else {
            return pcCliBadInput("'bench ellipsoids' takes no argument '%s'; 'pcontact bench ellipsoids --help' explains it", argv[i]);
        }
    }
    return -1;
}

static double growth(int from, int to) { return from > 0 ? (double)to / from : 0.0; }

/* Whether none of the three counts grows faster than the paper's. */
static bool tellGrowth(const Row* ours)
{
    const Row *a = ours + GROWS_FROM, *b = ours + GROWS_TO, *c = paper + GROWS_FROM, *d = paper + GROWS_TO;
    double own[] = {growth(a->newton, b->newton), growth(a->inner, b->inner), growth(a->outer, b->outer)};
    double theirs[] = {growth(c->newton, d->newton), growth(c->inner, d->inner), growth(c->outer, d->outer)};
    printf("From %d to %d bodies: Newton %.2f times (E: %.2f), GMRES starts %.2f (%.2f), products %.2f (%.2f)\n", a->bodies, b->bodies,
           own[0], theirs[0], own[1], theirs[1], own[2], theirs[2]);
    return own[0] <= theirs[0] && own[1] <= theirs[1] && own[2] <= theirs[2];
}

static const char* orMissed(bool good) { return good ? "" : "  MISSED"; }

/* E's last row: as many collisions as there, in this many seconds. */
static const double MOST_SECONDS = 0.25;
static bool tellTargets(const Row* ours, double autoSeconds)
{
    const Row *last = ours + ROWS - 1, *theirs = paper + ROWS - 1;
    bool enough = last->collisions >= theirs->collisions, quick = last->seconds <= MOST_SECONDS, quickAuto = autoSeconds <= MOST_SECONDS;
    printf("%d bodies: %d collisions, target %d%s\n", last->bodies, last->collisions, theirs->collisions, orMissed(enough));
    printf("           %.3f s by minmap, target %.2f%s; %.3f s by auto, target %.2f%s\n", last->seconds, MOST_SECONDS, orMissed(quick),
           autoSeconds, MOST_SECONDS, orMissed(quickAuto));
    return enough && quick && quickAuto;
}

static int tellConvergence(void)
{
    int code = PC_CLI_OK;
    puts("                          chaotic  difference of runs at h/4 and h/8 (m), and orders from h to h/4 and from h/2 to h/8,");
    puts("world                     from, s  until 1/4 of that time       1/2                      3/4");
    for (int i = 0; i < PC_CONVERGENCE_WORLDS; i++) {
        pcConvergence c;
        if (pcConvergenceMeasure(pcConvergenceWorlds + i, 1, &c) != PC_OK) return pcCliBadInput("%s", pcLastError());
        printf("%-25s %7.3f", pcConvergenceWorlds[i].name, c.chaos);
        for (int q = 0; q < PC_CONVERGENCE_QUARTERS; q++) printf("  %8.2e  %5.2f %5.2f ", c.last[q], c.order[q][0], c.order[q][1]);
        puts("");
        fflush(stdout);
        if (c.unsolved > 0 || !pcConvergenceIsFirstOrder(&c)) code = PC_CLI_CHECK_FAILED;
    }
    return code;
}

int pcCliBenchEllipsoids(int argc, char** argv)
{
    Bench b = {.mu = "0"};
    Row ours[ROWS] = {0};
    double autoSeconds = 0.0;
    int code = readOptions(argc, argv, &b);
    if (code >= 0) return code;
    if (b.convergence) return tellConvergence();
    code = PC_CLI_OK;
    if (b.csv) fputs("bodies,steps,collisions,minmap_s,auto_s,newton,gmres_starts,gmres_products,residual,fallbacks\n", b.csv);
    puts("                          minmap      auto          GMRES   GMRES           | E:");
    puts("bodies  steps collisions  seconds   seconds  Newton  starts products residual | collisions  seconds Newton  inner  outer");
    for (int i = 0; i < ROWS && code != PC_CLI_BAD_INPUT; i++) {
        int row = playRow(&b, paper + i, ours + i, &autoSeconds);
        code = row != PC_CLI_OK ? row : code;
        fflush(stdout);
    }
    if (b.csv) fclose(b.csv);
    if (code == PC_CLI_BAD_INPUT) return code;
    bool asPaper = strtod(b.mu, NULL) == 0.0, grows = !tellGrowth(ours);
    if (asPaper && grows) puts("MISSED: iterations grow faster than E's"), code = PC_CLI_CHECK_FAILED;
    if (asPaper && b.steps == 0 && !tellTargets(ours, autoSeconds)) code = PC_CLI_CHECK_FAILED;
    return code;
}
