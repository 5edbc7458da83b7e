#define _GNU_SOURCE
#include "adapters/cli/options.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/cli/cli.h"
#include "pcontact/settings.h"

/* A program may change its folder before the first step: file names count from where the tool was called. */
static bool isRelativePath(const char* name, const char* value)
{
    return (strcmp(name, "report") == 0 || strcmp(name, "dump") == 0) && value[0] && value[0] != '/';
}

/* Adds name=value, checked: 0, or the exit code after a sentence. */
static int addSetting(pcSettingsText* settings, const char* name, const char* value)
{
    char folder[PATH_MAX] = "", word[PATH_MAX * 2];
    if (isRelativePath(name, value) && !getcwd(folder, sizeof folder - 1)) return pcCliBadInput("the current folder is gone");
    if (folder[0]) strcat(folder, "/");
    if (strchr(value, '"')) return pcCliBadInput("a setting cannot contain a quote: --%s '%s'", name, value);
    const char* quote = strpbrk(value, " \t\r\n,") || strpbrk(folder, " \t\r\n,") ? "\"" : "";
    int length = snprintf(word, sizeof word, " %s=%s%s%s%s", name, quote, folder, value, quote);
    if (length < 0 || (size_t)length >= sizeof word || strlen(settings->text) + (size_t)length >= sizeof settings->text) {
        return pcCliBadInput("the settings are too long");
    }
    pcSettings parsed = pcDefaultSettings();
    if (pcSettingsParse(&parsed, word) != PC_OK) return pcCliBadInput("%s", pcLastError());
    strcat(settings->text, word);
    return 0;
}

int pcCliSetting(pcSettingsText* settings, const char* command, int argc, char** argv, int* i)
{
    char name[64];
    const char *option = argv[*i] + 2, *equals = strchr(option, '=');
    size_t length = equals ? (size_t)(equals - option) : strlen(option);
    if (strncmp(argv[*i], "--", 2) != 0 || length == 0 || length >= sizeof name)
        return pcCliBadInput("'%s' has no option '%s'; 'pcontact %s --help' explains it", command, argv[*i], command);
    snprintf(name, sizeof name, "%.*s", (int)length, option);
    if (equals) return addSetting(settings, name, equals + 1);
    if (*i + 1 >= argc || strcmp(argv[*i + 1], "--") == 0) {
        /* Nothing follows: whether there is such a setting at all is the better complaint. */
        char word[80];
        snprintf(word, sizeof word, "%s=", name);
        pcSettings parsed = pcDefaultSettings();
        bool unknown = pcSettingsParse(&parsed, word) != PC_OK && strncmp(pcLastError(), "there is no setting", 19) == 0;
        return unknown ? pcCliBadInput("%s", pcLastError()) : pcCliBadInput("--%s needs a value", name);
    }
    return addSetting(settings, name, argv[++*i]);
}

bool pcCliOption(const char* name, int argc, char** argv, int* i, const char** value)
{
    size_t length = strlen(name);
    const char* word = argv[*i];
    if (strncmp(word, name, length) != 0 || (word[length] != 0 && word[length] != '=')) return false;
    *value = NULL;
    if (word[length] == '=')
        *value = word + length + 1;
    else if (*i + 1 < argc)
        *value = argv[++*i];
    else
        pcCliBadInput("%s needs a value", name);
    return true;
}

bool pcCliNumber(const char* text, double* number)
{
    static locale_t plain;
    char* end;
    if (!plain) plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value = plain ? strtod_l(text, &end, plain) : strtod(text, &end);
    if (end == text || *end || !isfinite(value)) return false;
    *number = value;
    return true;
}

bool pcCliIsHelp(const char* argument) { return strcmp(argument, "--help") == 0 || strcmp(argument, "-h") == 0; }

int pcCliCloseFile(FILE* file, const char* name, int code)
{
    if (!file) return code;
    bool bad = ferror(file) != 0;
    bad |= fclose(file) != 0;
    return bad && code != PC_CLI_BAD_INPUT ? pcCliBadInput("'%s' could not be written to its end", name) : code;
}
