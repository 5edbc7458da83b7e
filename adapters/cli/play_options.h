/* The options that all commands share which play a world. */
#ifndef PC_CLI_PLAY_OPTIONS_H
#define PC_CLI_PLAY_OPTIONS_H

#include "adapters/cli/options.h"
#include "adapters/cli/play.h"
#include "adapters/cli/worlds.h"

typedef struct pcPlayOptions {
    const char* world; /* as it was given; NULL: nothing is to be done but to return the exit code */
    char path[PC_CLI_PATH];
    pcSettingsText settings;
    double step, time; /* 0: not given */
    const char *csv, *from;
    const char* format; /* of the table: NULL, csv or json */
    bool quiet;
    const char* page; /* --report FILE.html; NULL: none */
} pcPlayOptions;

int pcPlayOptionsRead(pcPlayOptions* options, const char* command, const char* help, int argc, char** argv);

#endif
