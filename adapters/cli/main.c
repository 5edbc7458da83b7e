/* The tool `pcontact`: finds the command that the arguments name, in one table. */
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "pcontact/types.h"

typedef struct Command {
    const char* group; /* first word of a command of two words, or NULL */
    const char* name;
    const char* summary;
    int (*run)(int argc, char** argv);
} Command;

/* A new command: one row here and its declaration in cli.h. */
static const Command commands[] = {
#ifdef PCONTACT_WITH_ODE
    {NULL, "run", "play a world file and tell what happens", pcCliRun},
    {NULL, "compare", "play a world under ODE's solvers and ours, side by side", pcCliCompare},
    {NULL, "sweep", "play a world many times with parameters drawn, in threads or under mpirun", pcCliSweep},
#endif
    {NULL, "demo", "show the ratio metric on a few pairs of bodies", pcCliDemo},
#ifdef PCONTACT_WITH_ODE
    {NULL, "exec", "run an unmodified ODE program with another solver", pcCliExec},
    {NULL, "doctor", "tell whether 'exec' can reach a program, and what stays native", pcCliDoctor},
#endif
    {NULL, "info", "show version, shapes and how this program was built", pcCliInfo},
    {"bench", "disc", "energy that polygons lose where a disc loses none", pcCliBenchDisc},
    {"bench", "ellipsoids", "lattices of ellipsoids on a plane, beside the figures of E section 7", pcCliBenchEllipsoids},
    {"bench", "metric", "time the metric against libccd on the same pairs", pcCliBenchMetric},
    {"bench", "implicit", "time and judge the geometrically implicit step: its paper's worlds, 100,000 random contacts",
     pcCliBenchImplicit},
#ifdef PCONTACT_WITH_ODE
    {"bench", "hand", "joint and contact infeasibility of the robot hand against gamma", pcCliBenchHand},
    {"bench", "nut", "the Brazil nut: height against shakes, and the step of a penalty method", pcCliBenchNut},
    {"bench", "papers", "mean infeasibility against step and gamma in the papers' worlds", pcCliBenchPapers},
    {"bench", "simbenchmark", "SimBenchmark's contact scenes beside its published figures", pcCliBenchSimbenchmark},
#endif
    {"bench", "solver", "time the contact solvers against Gauss-Seidel and ODE, or on files", pcCliBenchSolver},
#ifdef PCONTACT_WITH_ODE
    {"bench", "step", "time steps against ODE's own: scenes of few to 10,000 bodies, and what a step costs besides solving",
     pcCliBenchStep},
#endif
};
enum { COMMANDS = sizeof commands / sizeof commands[0] };

int pcCliBadInput(const char* format, ...)
{
    char sentence[8192]; /* written by one call: others may be writing, as under mpirun */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    fprintf(stderr, "pcontact: %s.\n", sentence);
    return PC_CLI_BAD_INPUT;
}

int pcCliOnlyHelp(int argc, char** argv, const char* command, const char* help)
{
    if (argc == 0) return -1;
    if (!pcCliIsHelp(argv[0]))
        return pcCliBadInput("'%s' takes no argument '%s'; 'pcontact %s --help' explains it", command, argv[0], command);
    fputs(help, stdout);
    return PC_CLI_OK;
}

void pcCliListCommands(bool bench)
{
    const char* last = "";
    for (int i = 0; i < COMMANDS; i++) {
        const Command* c = &commands[i];
        const char* word = bench || !c->group ? c->name : c->group;
        if (bench == (c->group != NULL) || (!bench && strcmp(word, last) != 0)) puts(word);
        last = word;
    }
}

static bool inGroup(const Command* command, const char* group)
{
    return group ? command->group && strcmp(command->group, group) == 0 : command->group == NULL;
}

static bool isGroup(const char* word)
{
    for (int i = 0; i < COMMANDS; i++) {
        if (inGroup(&commands[i], word)) return true;
    }
    return false;
}

/* All commands, or those of one group. */
static int printHelp(const char* groupOrNull)
{
    printf("Usage: pcontact %s%sCOMMAND [OPTION]...\n\n", groupOrNull ? groupOrNull : "", groupOrNull ? " " : "");
    for (int i = 0; i < COMMANDS; i++) {
        const Command* c = &commands[i];
        if (groupOrNull && !inGroup(c, groupOrNull)) continue;
        char words[64];
        snprintf(words, sizeof words, "%s%s%s", c->group ? c->group : "", c->group ? " " : "", c->name);
        printf("  %-14s %s\n", words, c->summary);
    }
    puts("\n'pcontact COMMAND --help' explains a command; 'pcontact --version' prints the version.");
    puts("Exit codes: 0 all is well, 1 it ran but a check failed, 2 bad input.");
    return PC_CLI_OK;
}

/* argv[0] is the word that should name a command, of `groupOrNull` if that is given. */
static int dispatch(const char* groupOrNull, int argc, char** argv)
{
    const char* before = groupOrNull ? groupOrNull : "";
    const char* space = groupOrNull ? " " : "";
    if (argc == 0) return pcCliBadInput("a command is missing; 'pcontact %s%s--help' lists them", before, space);
    if (pcCliIsHelp(argv[0])) return printHelp(groupOrNull);
    for (int i = 0; i < COMMANDS; i++) {
        if (inGroup(&commands[i], groupOrNull) && strcmp(commands[i].name, argv[0]) == 0) return commands[i].run(argc - 1, argv + 1);
    }
    if (!groupOrNull && isGroup(argv[0])) return dispatch(argv[0], argc - 1, argv + 1);
    const char* kind = argv[0][0] == '-' ? "option" : "command";
    return pcCliBadInput("there is no %s '%s%s%s'; 'pcontact %s%s--help' lists what there is", kind, before, space, argv[0], before, space);
}

int main(int argc, char** argv)
{
    if (argc == 2 && strcmp(argv[1], "--version") == 0) {
        printf("pcontact %s\n", pcVersion());
        return PC_CLI_OK;
    }
    int code = dispatch(NULL, argc - 1, argv + 1);
    /* A full disk must not look like a result. */
    bool written = fflush(stdout) == 0 && !ferror(stdout);
    return written || code == PC_CLI_BAD_INPUT ? code : pcCliBadInput("the output could not be written to its end");
}
