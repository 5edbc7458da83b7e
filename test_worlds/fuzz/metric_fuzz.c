/*
 * The long fuzz of the ratio metric: degenerate pairs by the million, each judged by a quadruple-precision certificate.
 * Exit code 0: nothing wrong; 1: something is; 2: the command line is.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "test_worlds/fuzz/run.h"

static const char usage[] = "usage: metric_fuzz [--cases N] [--seconds S] [--seed K] [--family NAME] [--only CASE] [--jobs J]\n"
                            "  --cases N      how many cases, all families together (default 100000 if no --seconds)\n"
                            "  --seconds S    stop after this time\n"
                            "  --seed K       another seed, other cases (default 1)\n"
                            "  --family NAME  one family only; `list` prints their names\n"
                            "  --only CASE    one case of that family, as a fault report names it\n"
                            "  --jobs J       threads (default 1)\n";

static bool readNumber(const char* text, double* value)
{
    char* end;
    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0 && *value >= 0.0 && *value < 9e15;
}

static bool readFamily(const char* name, pcFuzzPlan* plan)
{
    plan->family = pcFamilyByName(name);
    return plan->family >= 0;
}

static bool readOption(const char* option, const char* value, pcFuzzPlan* plan)
{
    double number = 0.0;
    if (strcmp(option, "--family") == 0) return readFamily(value, plan);
    if (!readNumber(value, &number)) return false;
    if (strcmp(option, "--cases") == 0)
        plan->cases = (long long)number;
    else if (strcmp(option, "--seconds") == 0)
        plan->seconds = number;
    else if (strcmp(option, "--seed") == 0)
        plan->seed = (uint64_t)number;
    else if (strcmp(option, "--only") == 0)
        plan->only = (long long)number;
    else if (strcmp(option, "--jobs") == 0)
        plan->jobs = number < 64.0 ? (int)number : 64;
    else
        return false;
    return true;
}

static bool readCommandLine(int argc, char** argv, pcFuzzPlan* plan)
{
    for (int i = 1; i < argc; i += 2)
        if (i + 1 >= argc || !readOption(argv[i], argv[i + 1], plan)) return false;
    if (plan->cases == 0 && plan->seconds == 0.0) plan->cases = 100000;
    return plan->only < 0 || plan->family >= 0;
}

static int listFamilies(void)
{
    for (int i = 0; i < pcFamilyCount(); i++) printf("%s\n", pcFamilyName(i));
    return 0;
}

int main(int argc, char** argv)
{
    pcFuzzPlan plan = {.seed = 1, .family = -1, .only = -1, .jobs = 1, .log = stderr, .progress = true};
    if (argc == 3 && strcmp(argv[1], "--family") == 0 && strcmp(argv[2], "list") == 0) return listFamilies();
    if (!readCommandLine(argc, argv, &plan)) {
        fputs(usage, stderr);
        return 2;
    }
    static pcTally tally[PC_MAX_FAMILIES];
    double start = pcFuzzClock();
    long long faults = pcFuzzRun(&plan, tally);
    pcFuzzPrint(stdout, tally);
    printf("%lld faults, %.1f s, seed %llu\n", faults, pcFuzzClock() - start, (unsigned long long)plan.seed);
    return faults > 0 ? 1 : 0;
}
