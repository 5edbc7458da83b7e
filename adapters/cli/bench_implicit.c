/* pcontact bench implicit: the geometrically implicit step: G's worlds, random configurations, time. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "test_worlds/unit/implicit_judge.h"
#include "test_worlds/unit/implicit_worlds.h"

static const char help[] =
    "Usage: pcontact bench implicit [--cases N] [--seed S] [--way W] [--only random]\n\n"
    "The geometrically implicit step: microseconds per step of G's disc (target 20) and sphere on two spheres (target 100), cost\n"
    "against the number of separate contacts (target: linear), the energy of the disc over 100 rolls, transitions and energies of the\n"
    "papers' worlds against the step, a superellipsoid on its flat pole, and N random contact configurations (100000 unless told),\n"
    "each judged by code that shares nothing with the solver. Every failure is listed. Ends with 1 if a target is missed, and says\n"
    "which.\n\n"
    "  --cases N      random configurations; 0: none\n"
    "  --seed S       of the first one in each family (0 unless told)\n"
    "  --way W        no body moves and turns by more than this in the step (0.15 unless told: half the smallest semi-axis; 'inf': up to "
    "2)\n"
    "  --only random  nothing but these\n";

static int missed; /* targets */

static void reach(bool good, const char* what)
{
    if (!good) printf("  MISSED: %s\n", what), missed++;
}

static ImplicitWorld w;

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int compareNumbers(const void* a, const void* b)
{
    double x = *(const double*)a, y = *(const double*)b;
    return (x > y) - (x < y);
}

/* Median microseconds of one step of the world as it stands. */
static double stepTime(int steps, clockid_t clock)
{
    static double each[20000];
    for (int i = 0; i < steps; i++) {
        double from = now(clock);
        if (implicitWorldStep(&w) != PC_OK) return (double)NAN;
        each[i] = 1e6 * (now(clock) - from);
    }
    qsort(each, (size_t)steps, sizeof *each, compareNumbers);
    return each[steps / 2];
}

/* ---- time ---- */

static void times(void)
{
    puts("microseconds per step (median)");
    for (int kind = 0; kind < DISC_KINDS; kind++) {
        implicitDisc(&w, (DiscKind)kind, 0.01);
        double time = stepTime(3000, CLOCK_MONOTONIC);
        printf("  disc as a %-24s %8.2f   target 20 (G: 20000)\n", discNames[kind], time);
        reach(time < 20.0, "the time of the disc's step");
        implicitWorldEnd(&w);
    }
    implicitTwoSpheres(&w, 0.01);
    double rolling = stepTime(290, CLOCK_MONOTONIC);
    printf("  sphere on two spheres              %8.2f   target 100 (G: 400000)\n", rolling);
    reach(rolling < 100.0, "the time of the two spheres' step");
    implicitWorldEnd(&w);
    /* By processor time: a step of milliseconds is interrupted by whatever else runs, one of microseconds is not. */
    puts("  separate contacts        1      4     16     64    256");
    printf("  per contact       ");
    double few = (double)NAN, many = (double)NAN; /* per contact, of 4 and of 256 */
    for (int count = 1; count <= 256; count *= 4) {
        implicitApart(&w, count, 0.01);
        for (int i = 0; i < 5; i++) implicitWorldStep(&w);
        double each = stepTime(count > 32 ? 100 : 1000, CLOCK_PROCESS_CPUTIME_ID) / count;
        printf(" %6.2f", each);
        if (count == 4) few = each;
        if (count == 256) many = each;
        implicitWorldEnd(&w);
    }
    printf("   target: 256 within 1.5 times of 4; %.2f\n", many / few);
    reach(many <= 1.5 * few, "cost linear in the number of separate contacts");
}

/* ---- worlds ---- */

static void discs(void)
{
    puts("\nkinetic energy of the disc over 100 rolls at h = 0.01 (G: constant within 1e-6)");
    for (int kind = 0; kind < DISC_KINDS; kind++) {
        double worst = 0.0;
        implicitDisc(&w, (DiscKind)kind, 0.01);
        for (int i = 0; i < 20944 && implicitWorldStep(&w) == PC_OK; i++) worst = fmax(worst, fabs(w.result.report.step.kinetic - 6.75));
        printf("  as a %-24s 6.75 J within %.1e\n", discNames[kind], worst);
        reach(worst <= 1e-9, "energy constant to 1e-9");
        implicitWorldEnd(&w);
    }
}

static void spheres(void)
{
    puts("\nsphere on two spheres (G at h = 0.01: slides at about 3.0 s, leaves the first at 3.2, the second at 3.6)");
    puts("        h   contact 2 slides   contact 1 ends   contact 2 ends   end velocity x y           fall-backs  worst residual");
    for (int i = 0; i < 5; i++) {
        double h = 0.02 / (1 << i), slides = 0.0, ends[3] = {0, 0, 0}, v[2] = {0, 0}, residual = 0.0;
        int fallbacks = 0;
        implicitTwoSpheres(&w, h);
        for (int k = 0; k < (int)(4.0 / h + 0.5) && implicitWorldStep(&w) == PC_OK; k++) {
            fallbacks += w.result.report.step.fallbacks, residual = fmax(residual, w.result.report.step.residual);
            for (int c = 0; c < w.result.contactCount; c++) {
                const pcImplicitContact* contact = w.contact + c;
                if (!(contact->impulse[0] > 0.0)) continue;
                ends[contact->form2] = w.time;
                if (contact->form2 == 2) v[0] = w.body[0].velocity[0], v[1] = w.body[0].velocity[1];
                if (contact->form2 == 2 && slides == 0.0 && hypot(contact->slip[0], contact->slip[1]) > 1e-6) slides = w.time;
            }
        }
        printf("  %7.5f   %16.4f   %14.4f   %14.4f   %12.8f %11.8f   %10d  %.1e\n", h, slides, ends[1], ends[2], v[0], v[1], fallbacks,
               residual);
        reach(fabs(slides - 3.0) <= 0.1 && fabs(ends[1] - 3.2) <= 0.1 && fabs(ends[2] - 3.6) <= 0.1 + 1e-9, "transitions within 0.1 s");
        reach(fallbacks == 0, "every step solved");
        implicitWorldEnd(&w);
    }
}

static void layers(void)
{
    static const double deepest[] = {0.05, 1.0};
    puts("\ndisc on a layer of k = 1000 (G 6.3), 2 s: J lost after the core was hit, or in all");
    puts("  scheme     deepest        h   core hit, s   lost, J");
    for (int i = 0; i < 8; i++) {
        bool midpoint = i / 4, deep = i / 2 % 2;
        double h = i % 2 ? 1e-4 : 2e-4, hit = 0.0;
        implicitLayered(&w, h, deepest[deep], midpoint ? PC_SCHEME_MIDPOINT : PC_SCHEME_EULER);
        double start = implicitLayerEnergy(&w);
        while (w.time < 2.0 && implicitWorldStep(&w) == PC_OK)
            if (w.result.report.coreImpulse > 0.0) start = implicitLayerEnergy(&w), hit = hit > 0.0 ? hit : w.time;
        printf("  %-8s %9g %8g   %11.4f   %.2e\n", midpoint ? "midpoint" : "euler", deepest[deep], h, hit, start - implicitLayerEnergy(&w));
        reach(deep || fabs(hit - 0.34) <= 0.005, "the core hit at 0.34 s");
        reach(!midpoint || fabs(start - implicitLayerEnergy(&w)) <= 1e-5, "1e-5 J kept by the midpoint");
        implicitWorldEnd(&w);
    }
}

/* For 1 s by each length of step: it rocks and comes to stand. */
static void poles(void)
{
    enum { LENGTHS = 200 };
    int steps = 0, fallbacks = 0;
    double penetration = 0.0;
    for (int i = 0; i < LENGTHS; i++) {
        implicitPole(&w, 0.001 * pow(100.0, i / (LENGTHS - 1.0)));
        for (; w.time < 1.0 && implicitWorldStep(&w) == PC_OK; steps++)
            fallbacks += w.result.report.step.fallbacks, penetration = fmax(penetration, w.result.report.penetration);
        reach(w.time >= 1.0, "a step that ends");
        implicitWorldEnd(&w);
    }
    printf(
        "\na superellipsoid on its flat pole, %d lengths of step from 0.001 to 0.1: %d of %d steps took the LCP step; penetration %.1e\n",
        LENGTHS, fallbacks, steps, penetration);
    reach(fallbacks == 0, "every step on the pole solved");
    reach(penetration <= 1e-9, "penetration below 1e-9 on the pole");
}

/* ---- random configurations ---- */

typedef struct Tally {
    int cases, pushing, fallbacks, errors, refused; /* refused: by the judge */
    double worst, penetration;
} Tally;

static void tryCase(int family, int seed, double way, Tally* t)
{
    static pcImplicitContact contact[256];
    double v[6 * CASE_BODIES];
    pcPose pose[CASE_BODIES];
    ImplicitCase c;
    pcImplicitResult r = {.velocity = v, .pose = pose, .contacts = contact, .contactCapacity = 256};
    implicitCaseMake(family, (unsigned)seed, way, &c);
    t->cases++;
    if (pcImplicitStep(&c.system, &c.settings, c.h, &r) != PC_OK) {
        printf("  failure: %s, seed %d: %s\n", implicitFamilyNames[family], seed, pcLastError());
        t->errors++;
    } else if (r.report.step.fallbacks > 0) {
        printf("  failure: %s, seed %d: took the LCP step\n", implicitFamilyNames[family], seed);
        t->fallbacks++;
    } else {
        ImplicitVerdict verdict = implicitJudge(&c, &r);
        double worst = implicitWorst(&verdict);
        t->pushing += r.report.coreImpulse > 0.0;
        t->worst = fmax(t->worst, worst), t->penetration = fmax(t->penetration, verdict.penetration);
        if (!(worst <= 1e-10 && verdict.penetration <= 1e-9)) {
            printf("  failure: %s, seed %d: residual %.1e, penetration %.1e by the judge\n", implicitFamilyNames[family], seed, worst,
                   verdict.penetration);
            t->refused++;
        }
    }
    implicitCaseFree(&c);
}

static void randoms(int cases, int first, double way)
{
    Tally all = {0};
    printf("\n%d random contact configurations, h from 0.001 to 0.1, moving by at most %g in the step, each judged independently\n", cases,
           way);
    for (int family = 0; family < CASE_FAMILIES; family++) {
        Tally t = {0};
        for (int seed = 0; seed < (cases + family) / CASE_FAMILIES; seed++) tryCase(family, first + seed, way, &t);
        printf("  %-22s %6d, %6d push; residual %.1e, penetration %.1e\n", implicitFamilyNames[family], t.cases, t.pushing, t.worst,
               t.penetration);
        all.cases += t.cases, all.fallbacks += t.fallbacks, all.errors += t.errors, all.refused += t.refused;
    }
    int failures = all.fallbacks + all.errors + all.refused;
    printf(
        "  failures: %d of %d (target: fewer than 1 in 10000): %d took the LCP step, %d were refused by the judge, %d ended in an error\n",
        failures, all.cases, all.fallbacks, all.refused, all.errors);
    reach(10000.0 * failures < all.cases, "failures in fewer than 1 of 10000 configurations");
}

typedef struct Plan {
    int cases, seed;
    double way;
    bool onlyRandom;
} Plan;

/* One option; PC_CLI_OK, or it was wrong. */
static int readOption(Plan* plan, int argc, char** argv, int* i)
{
    const char *value, *name = argv[*i];
    double number;
    if (pcCliOption("--only", argc, argv, i, &value)) {
        plan->onlyRandom = value && strcmp(value, "random") == 0;
        return !value ? PC_CLI_BAD_INPUT : plan->onlyRandom ? PC_CLI_OK : pcCliBadInput("--only takes 'random', not '%s'", value);
    }
    bool cases = pcCliOption("--cases", argc, argv, i, &value), seed = !cases && pcCliOption("--seed", argc, argv, i, &value);
    bool way = !cases && !seed && pcCliOption("--way", argc, argv, i, &value);
    if (!cases && !seed && !way) return pcCliBadInput("'bench implicit' takes no argument '%s'", name);
    if (!value) return PC_CLI_BAD_INPUT;
    if (way && strcmp(value, "inf") == 0)
        number = HUGE_VAL;
    else if (!pcCliNumber(value, &number) || !(number >= 0.0 && number <= 1e8))
        return pcCliBadInput("%s takes a number from 0 on, not '%s'", cases ? "--cases" : seed ? "--seed" : "--way", value);
    if (cases) plan->cases = (int)number;
    if (seed) plan->seed = (int)number;
    if (way) plan->way = number;
    return PC_CLI_OK;
}

int pcCliBenchImplicit(int argc, char** argv)
{
    Plan plan = {100000, 0, CASE_MOST, false};
    for (int i = 0; i < argc; i++) {
        if (pcCliIsHelp(argv[i])) return fputs(help, stdout), PC_CLI_OK;
        int code = readOption(&plan, argc, argv, &i);
        if (code != PC_CLI_OK) return code;
    }
    missed = 0;
    if (!plan.onlyRandom) times(), discs(), spheres(), layers(), poles();
    if (plan.cases > 0) randoms(plan.cases, plan.seed, plan.way);
    if (missed > 0)
        printf("\n%d target%s missed.\n", missed, missed == 1 ? "" : "s");
    else
        puts("\nAll targets are met.");
    return missed == 0 ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}
