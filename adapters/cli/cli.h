/*
 * The tool `pcontact`: what its commands share.
 *
 * A command is a function that gets the arguments after its own name and returns the exit code of the program. It answers --help itself,
 * because only it knows its options.
 */
#ifndef PC_ADAPTERS_CLI_H
#define PC_ADAPTERS_CLI_H

#include <stdbool.h>

enum {
    PC_CLI_OK = 0,
    PC_CLI_CHECK_FAILED = 1, /* it ran, but something did not come out as it should */
    PC_CLI_BAD_INPUT = 2
};

int pcCliInfo(int argc, char** argv);
int pcCliRun(int argc, char** argv);
int pcCliCompare(int argc, char** argv);
int pcCliSweep(int argc, char** argv);
int pcCliDemo(int argc, char** argv);
int pcCliBenchMetric(int argc, char** argv);
int pcCliBenchSolver(int argc, char** argv);
int pcCliBenchPapers(int argc, char** argv);
int pcCliBenchStep(int argc, char** argv);
int pcCliBenchImplicit(int argc, char** argv);
int pcCliBenchSimbenchmark(int argc, char** argv);
int pcCliBenchNut(int argc, char** argv);
int pcCliBenchHand(int argc, char** argv);
int pcCliBenchEllipsoids(int argc, char** argv);
int pcCliBenchDisc(int argc, char** argv);
int pcCliExec(int argc, char** argv);
int pcCliDoctor(int argc, char** argv);

/* The first words of all commands, or the second ones of `bench`; one line each. */
void pcCliListCommands(bool bench);

/* Prints one sentence on stderr (the full stop is added) and returns PC_CLI_BAD_INPUT. */
int pcCliBadInput(const char* format, ...) __attribute__((format(printf, 1, 2)));

/* Where the preload library is; PC_CLI_BAD_INPUT after a sentence if it is nowhere. Room for PATH_MAX letters. */
int pcCliFindPreload(char* path);

/* For a command without options: PC_CLI_OK after printing `help` if that was asked for, PC_CLI_BAD_INPUT after complaining about any
 * other argument, -1 if there are none and the command should run. */
int pcCliOnlyHelp(int argc, char** argv, const char* command, const char* help);

#endif
