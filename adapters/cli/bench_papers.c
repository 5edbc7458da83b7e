/*
 * pcontact bench papers: the stabilization results of the papers. Mean infeasibility (T 6.3) against the step for their four worlds, under
 * both models, with our gap and with theirs; and against gamma for balance2 (T figure 19).
 */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "adapters/cli/pages.h"
#include "adapters/cli/play.h"
#include "adapters/cli/worlds.h"

static const char help[] =
    "Usage: pcontact bench papers [WORLD]... [--quick] [--csv FILE] [--report FILE.html]\n\n"
    "Plays the papers' worlds (balance2, pyramid1, dice3, setup6; or those that are named) with the steps that the papers use, and prints\n"
    "the mean infeasibility with its local slope in h: 2 where contact persists (T 6.12), less or none where it is only a bound.\n\n"
    "  --quick      without the smallest steps\n"
    "  --csv FILE   every figure as a line: world,model,gap,gamma,h,mean,most,residual\n"
    "  --report FILE.html   a page with mean infeasibility against the step (model lcp, our gap) and the slopes fitted to it\n";

enum { STEPS = 5, GAPS = 2, MODELS = 2 };
#define ADAPTIVE 3.0 /* in place of a gamma */

typedef struct Paper {
    const char *world, *eps;
    double gamma, h[STEPS]; /* 0 ends the list */
} Paper;

static const Paper papers[] = {
    {"balance2", "epsX=0.01 epsT=0.1 eps0=1e-4", 1.0, {0.1, 0.02, 0.01, 0.002, 0.001}},
    {"pyramid1", "epsX=0.01 epsT=0.1 eps0=1e-4", 1.0, {0.1, 0.02, 0.01, 0.002, 0.001}},
    {"dice3", "epsX=0.5 epsT=0.2 eps0=1e-7", 1.0, {0.1, 0.05, 0.01, 0.005, 0.0}},
    {"setup6", "epsX=0.5 epsT=0.5 eps0=1e-7", 0.3, {0.1, 0.03, 0.01, 0.003, 0.001}},
};
enum { PAPERS = sizeof papers / sizeof papers[0] };

static const char* const models[MODELS] = {"lcp", "convex"};
static const char* const gaps[GAPS] = {"default", "paper"};

typedef struct Bench {
    bool quick;
    FILE* csv;
    const char* csvName;
    bool named[PAPERS], any;
    pcCliPage page;
    int points[PAPERS];
    double point[PAPERS][STEPS][2]; /* h and mean infeasibility under lcp with our gap, for the page */
} Bench;

static pcStatus playPaper(const Bench* b, const Paper* paper, const char* model, int gap, double gamma, double h, pcPlayed* played)
{
    char path[PC_CLI_PATH], settings[256];
    if (pcCliFindWorld(paper->world, path) != 0) return PC_ERROR_ARGUMENT;
    int length =
        snprintf(settings, sizeof settings, "model=%s %s%s ", model, gap ? "gap=ratio gammaGap=paper " : "", gap ? paper->eps : "");
    snprintf(settings + length, sizeof settings - (size_t)length, gamma < ADAPTIVE ? "gamma=%.9g" : "adaptiveGamma=1", gamma);
    pcStatus status = pcPlay(&(pcPlayPlan){.file = path, .settings = settings, .step = h, .name = paper->world}, played);
    if (status != PC_OK) {
        pcCliBadInput("%s", pcLastError());
    } else if (b->csv) {
        fprintf(b->csv, "%s,%s,%s,%.9g,%.9g,%.9g,%.9g,%.9g\n", paper->world, model, gaps[gap], gamma, h, played->infeasibility.mean,
                played->infeasibility.most, played->residual);
    }
    return status;
}

/* Once a body is deep inside another, or through it, rho is infinite. */
static void printMean(const pcPlayed* played)
{
    if (isfinite(played->infeasibility.mean))
        printf("  %10.2e", played->infeasibility.mean);
    else
        printf("  %10s", "lost");
}

/* The local slope between two steps, where there is infeasibility to speak of. */
static void printSlope(double mean, double before, double h, double hBefore)
{
    if (before > 1e-10 && mean > 1e-10 && isfinite(before) && isfinite(mean))
        printf(" %6.2f", log(mean / before) / log(h / hBefore));
    else
        printf(" %6s", "-");
}

static void keepPoint(Bench* b, const Paper* paper, double h, double mean)
{
    ptrdiff_t i = paper - papers;
    if (!isfinite(mean)) return;
    b->point[i][b->points[i]][0] = h, b->point[i][b->points[i]][1] = mean;
    b->points[i]++;
}

static int againstStep(Bench* b, const Paper* paper)
{
    double before[MODELS * GAPS] = {0}, hBefore = 1.0;
    printf("\n%s, gamma %g: mean infeasibility and its local slope\n       h", paper->world, paper->gamma);
    for (int k = 0; k < MODELS * GAPS; k++) printf("  %8s, %-7s", models[k % MODELS], k / MODELS ? "paper" : "ours");
    putchar('\n');
    for (int i = 0; i < STEPS && paper->h[i] > 0.0; i++) {
        double h = paper->h[i];
        if (b->quick && h < 0.01) break;
        printf("%8g", h);
        for (int k = 0; k < MODELS * GAPS; k++) {
            pcPlayed played;
            if (playPaper(b, paper, models[k % MODELS], k / MODELS, paper->gamma, h, &played) != PC_OK) return PC_CLI_BAD_INPUT;
            printMean(&played);
            printSlope(played.infeasibility.mean, before[k], h, hBefore);
            before[k] = played.infeasibility.mean;
            if (k == 0) keepPoint(b, paper, h, played.infeasibility.mean);
            fflush(stdout);
        }
        putchar('\n');
        hBefore = h;
    }
    return PC_CLI_OK;
}

static int againstGamma(const Bench* b)
{
    static const double gamma[] = {0.0, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, ADAPTIVE}, h[] = {0.1, 0.05, 0.02, 0.01};
    printf("\nbalance2, lcp: mean infeasibility against gamma (T figure 19; 1.25 and 1.5 as T ch. 8 asks)\n   gamma");
    for (int k = 0; k < 4; k++) printf("   h = %-5g", h[k]);
    putchar('\n');
    for (int i = 0; i < 8; i++) {
        printf(gamma[i] < ADAPTIVE ? "%8g" : "adaptive", gamma[i]);
        for (int k = 0; k < 4; k++) {
            pcPlayed played;
            if (playPaper(b, papers, "lcp", 0, gamma[i], h[k], &played) != PC_OK) return PC_CLI_BAD_INPUT;
            printMean(&played);
            fflush(stdout);
        }
        putchar('\n');
    }
    return PC_CLI_OK;
}

static bool nameWorld(Bench* b, const char* word)
{
    for (int i = 0; i < PAPERS; i++)
        if (strcmp(papers[i].world, word) == 0) return b->named[i] = b->any = true;
    return false;
}

/* -1: go on. */
static int readOptions(Bench* b, int argc, char** argv)
{
    for (int i = 0; i < argc; i++) {
        const char* file;
        if (pcCliIsHelp(argv[i])) return fputs(help, stdout) >= 0 ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
        if (strcmp(argv[i], "--quick") == 0) {
            b->quick = true;
        } else if (pcCliOption("--csv", argc, argv, &i, &file)) {
            if (!file) return PC_CLI_BAD_INPUT;
            b->csv = fopen(file, "w"), b->csvName = file;
            if (!b->csv) return pcCliBadInput("'%s' cannot be written", file);
            fputs("world,model,gap,gamma,h,mean,most,residual\n", b->csv);
        } else if (pcCliOption("--report", argc, argv, &i, &file)) {
            if (!file) return PC_CLI_BAD_INPUT;
            int code = pcCliPageBegin(&b->page, file, "bench papers", argc, argv);
            if (code != 0) return code;
        } else if (!nameWorld(b, argv[i])) {
            return pcCliBadInput("'bench papers' knows no '%s'; 'pcontact bench papers --help' explains it", argv[i]);
        }
    }
    return -1;
}

static int writePage(Bench* b)
{
    pcPageSeries series[PAPERS];
    int count = 0;
    for (int i = 0; i < PAPERS; i++)
        if (b->points[i] > 0) series[count++] = (pcPageSeries){papers[i].world, b->points[i], (const double(*)[2])b->point[i]};
    pcPageSlopes slopes = {"Mean infeasibility against the step, model lcp", "step h, s", count, series};
    pcPage content = {.title = "The papers' worlds", .subtitle = "infeasibility against the step", .slopes = 1, .slope = &slopes};
    return pcCliPageEnd(&b->page, &content);
}

int pcCliBenchPapers(int argc, char** argv)
{
    static Bench b;
    int code = readOptions(&b, argc, argv);
    if (code < 0) {
        code = PC_CLI_OK;
        for (int i = 0; i < PAPERS && code == PC_CLI_OK; i++)
            if (!b.any || b.named[i]) code = againstStep(&b, papers + i);
        if (code == PC_CLI_OK && (!b.any || b.named[0])) code = againstGamma(&b);
        if (code == PC_CLI_OK) code = writePage(&b);
    }
    pcCliPageDrop(&b.page);
    return pcCliCloseFile(b.csv, b.csvName, code);
}
