/* pcontact info: what this program is and how it was built, for a bug report or a benchmark table. */
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/parts.h"
#include "adapters/cli/worlds.h"
#include "pcontact/types.h"
#include "stepper/settings.h"

static const char help[] = "Usage: pcontact info [--settings | --list commands|benchmarks|settings|worlds]\n\n"
                           "Prints the version, the shapes that the metric knows, and the facts of this build.\n\n"
                           "  --settings   every setting: its default, what it may be, what it means\n"
                           "  --list WHAT  names, one per line, for scripts\n";

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

static const char* machine(void)
{
#if defined(__x86_64__)
    return "x86-64";
#elif defined(__aarch64__)
    return "aarch64";
#else
    return "other";
#endif
}

/* The level that all code may use; single functions are chosen by the loader for what the machine has. */
static const char* simdOfBuild(void)
{
#if defined(__AVX512F__)
    return "AVX-512";
#elif defined(__AVX2__)
    return "AVX2";
#elif defined(__SSE2__)
    return "SSE2";
#elif defined(__ARM_NEON)
    return "NEON";
#else
    return "none";
#endif
}

static const char* simdOfMachine(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f")) return "AVX-512";
    if (__builtin_cpu_supports("avx2")) return "AVX2";
    if (__builtin_cpu_supports("avx")) return "AVX";
#endif
    return simdOfBuild();
}

static void fact(const char* name, const char* value) { printf("  %-12s %s\n", name, value); }

static void printShapes(void)
{
    puts("\nShapes");
    fact("polyhedron", "convex hull of points, or intersection of half-spaces");
    fact("box", "pairs of boxes in closed form, also in batches");
    fact("half-space", "never scales: its pairs are one-sided");
    fact("round", "sphere, ellipsoid, capsule, cylinder, spherical container, support functions of yours");
}

static void part(const char* name, void (*tell)(char text[PC_CLI_PART]))
{
    char text[PC_CLI_PART];
    tell(text);
    fact(name, text);
}

static void printBuild(void)
{
    puts("\nBuild");
    fact("compiler", COMPILER);
    fact("type", PCONTACT_BUILD_TYPE);
    fact("sanitizer", PCONTACT_SANITIZE[0] ? PCONTACT_SANITIZE : "none");
    fact("machine", machine());
    printf("  %-12s built for %s, this machine has %s\n", "SIMD", simdOfBuild(), simdOfMachine());
    part("ODE", pcCliOde);
    part("LAPACK", pcCliLapack);
    part("MPI", pcCliMpi);
    part("reports", pcCliReports);
    fact("qhull", PCONTACT_QHULL_VERSION " (hulls)");
    fact("libccd", PCONTACT_CCD_VERSION " (only to compare with, in tests and benchmarks)");
}

static int printSettings(void)
{
    pcSettingDescription setting;
    puts("As an option --NAME VALUE, as NAME=VALUE in PCONTACT and in a program, as <NAME>VALUE</NAME> in a world file.\n");
    printf("%-15s %-9s %s\n", "setting", "default", "what it may be");
    for (int i = 0; pcSettingDescribe(i, &setting); i++)
        printf("%-15s %-9s %s\n    %s\n", setting.name, setting.standard, setting.values, setting.meaning);
    return PC_CLI_OK;
}

static int list(const char* what)
{
    if (strcmp(what, "commands") == 0 || strcmp(what, "benchmarks") == 0)
        pcCliListCommands(what[0] == 'b');
    else if (strcmp(what, "settings") == 0)
        for (int i = 0; pcSettingName(i); i++) puts(pcSettingName(i));
    else if (strcmp(what, "worlds") == 0)
        pcCliListWorlds();
    else
        return pcCliBadInput("'info --list' knows commands, benchmarks, settings and worlds, not '%s'", what);
    return PC_CLI_OK;
}

int pcCliInfo(int argc, char** argv)
{
    if (argc == 2 && strcmp(argv[0], "--list") == 0) return list(argv[1]);
    if (argc == 1 && strcmp(argv[0], "--settings") == 0) return printSettings();
    int answered = pcCliOnlyHelp(argc, argv, "info", help);
    if (answered >= 0) return answered;
    printf("pcontact %s\n", pcVersion());
    printShapes();
    printBuild();
    return PC_CLI_OK;
}
