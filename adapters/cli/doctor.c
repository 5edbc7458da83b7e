/* pcontact doctor: tells beforehand whether `exec` can reach a program, and what of ODE it uses that stays native. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/options.h"
#include "adapters/cli/inspect.h"

static const char help[] =
    "Usage: pcontact doctor PROGRAM\n\n"
    "Says whether 'pcontact exec' can put another solver under PROGRAM, which functions of ODE it uses, and what of them\n"
    "stays as it is. Nothing is run: the answer comes from the program file and the libraries that it needs. PROGRAM is a\n"
    "path or a name in PATH; also a Python program that imports ode, a shell script that starts a program, or a library.\n\n"
    "Exit codes: 0 it can be intercepted, 1 it cannot, 2 there is no such program.\n";

static bool isUsed(const pcInspection* answer, int i) { return answer->uses >> i & 1; }

/* One line for each group of functions: those that are used. */
static void printUses(const pcInspection* answer)
{
    const char* group = "";
    for (int i = 0; i < pcOdeUseCount; i++) {
        if (!isUsed(answer, i)) continue;
        if (strcmp(group, pcOdeUses[i].group) != 0) {
            printf("%s  %-10s", group[0] ? "\n" : "", pcOdeUses[i].group);
            group = pcOdeUses[i].group;
        }
        printf(" %s", pcOdeUses[i].name);
    }
    if (group[0]) printf("\n");
}

static void printRemarks(const pcInspection* answer)
{
    bool first = true;
    for (int i = 0; i < pcOdeUseCount; i++) {
        if (!isUsed(answer, i) || !pcOdeUses[i].remark) continue;
        if (first) puts("\nWhat stays as it is");
        first = false;
        printf("  %s: %s\n", pcOdeUses[i].name, pcOdeUses[i].remark);
    }
}

static void printAnswer(const pcInspection* answer)
{
    printf("%s\n", answer->program[0] ? answer->program : "program");
    if (answer->ode[0]) printf("  %-10s %s\n", "ODE", answer->ode);
    printUses(answer);
    if (answer->missing[0]) printf("  %-10s %s\n", "not found", answer->missing);
    if (answer->reach == PC_REACH_YES || answer->reach == PC_REACH_NO_STEP) printRemarks(answer);
    printf("\n%s: %s.\n", answer->reach == PC_REACH_YES ? "Yes" : "No", answer->sentence);
}

int pcCliDoctor(int argc, char** argv)
{
    if (argc == 1 && pcCliIsHelp(argv[0])) {
        fputs(help, stdout);
        return PC_CLI_OK;
    }
    if (argc >= 1 && strcmp(argv[0], "--") == 0) argc--, argv++;
    if (argc == 0) return pcCliBadInput("a program is missing; 'pcontact doctor --help' explains it");
    if (argv[0][0] == '-') return pcCliBadInput("'doctor' has no option '%s'; 'pcontact doctor --help' explains it", argv[0]);
    if (argc > 1) return pcCliBadInput("'doctor' takes one program, not also '%s'", argv[1]);
    pcInspection answer;
    pcInspect(argv[0], &answer);
    if (answer.reach == PC_REACH_BAD_INPUT) return pcCliBadInput("%s", answer.sentence);
    printAnswer(&answer);
    return answer.reach == PC_REACH_YES ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}
