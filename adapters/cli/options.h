/* Settings as options of a command: `--gamma 1` and `--gamma=1` are the words gamma=1 of a settings text. */
#ifndef PC_CLI_OPTIONS_H
#define PC_CLI_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

enum { PC_SETTINGS_TEXT = 4096 };

typedef struct pcSettingsText {
    char text[PC_SETTINGS_TEXT];
} pcSettingsText;

/* argv[*i] is --name=value, or --name and the value follows. Adds the word, checked: 0, or an exit code after one sentence. A file name counts
 * from the current folder. */
int pcCliSetting(pcSettingsText* settings, const char* command, int argc, char** argv, int* i);

/* Whether argv[*i] is `--name VALUE` or `--name=VALUE`; then *value is it, and *i the last word used. *value NULL: it is missing, which has been
 * said. */
bool pcCliOption(const char* name, int argc, char** argv, int* i, const char** value);

/* A finite number and nothing else, with a point whatever the locale is. */
bool pcCliNumber(const char* text, double* number);

bool pcCliIsHelp(const char* argument);

/* Closes a file that was written, or NULL. The exit code so far, or PC_CLI_BAD_INPUT after a sentence if not all of the file was written. */
int pcCliCloseFile(FILE* file, const char* name, int code);

#endif
