#include "adapters/cli/play_options.h"

#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"

/* A length of time: -1 if argv[*i] is not that option, else 0 or an exit code. */
static int readTime(const char* name, const char* what, double* seconds, int argc, char** argv, int* i)
{
    const char* value;
    if (!pcCliOption(name, argc, argv, i, &value)) return -1;
    if (!value) return PC_CLI_BAD_INPUT;
    if (pcCliNumber(value, seconds) && *seconds > 0.0) return 0;
    return pcCliBadInput("%s must be a number of seconds > 0, not '%s'", what, value);
}

static int readFormat(pcPlayOptions* o, int argc, char** argv, int* i)
{
    if (!pcCliOption("--format", argc, argv, i, &o->format)) return -1;
    if (!o->format) return PC_CLI_BAD_INPUT;
    if (strcmp(o->format, "csv") == 0 || strcmp(o->format, "json") == 0) return 0;
    return pcCliBadInput("--format can be csv or json, not '%s'", o->format);
}

/* A page; any other name is the setting report: a line per step. */
static bool isPage(const char* name)
{
    size_t length = name ? strlen(name) : 0;
    return length > 5 && strcmp(name + length - 5, ".html") == 0;
}

static bool readPage(pcPlayOptions* o, int argc, char** argv, int* i)
{
    const char* name = strncmp(argv[*i], "--report=", 9) == 0               ? argv[*i] + 9
                       : strcmp(argv[*i], "--report") == 0 && *i + 1 < argc ? argv[*i + 1]
                                                                            : NULL;
    return isPage(name) && pcCliOption("--report", argc, argv, i, &o->page);
}

static int readOption(pcPlayOptions* o, const char* command, int argc, char** argv, int* i)
{
    int code;
    if ((code = readTime("--step", "a step", &o->step, argc, argv, i)) >= 0) return code;
    if ((code = readTime("--time", "the time", &o->time, argc, argv, i)) >= 0) return code;
    if ((code = readFormat(o, argc, argv, i)) >= 0) return code;
    if (readPage(o, argc, argv, i)) return 0;
    if (pcCliOption("--csv", argc, argv, i, &o->csv)) return o->csv ? 0 : PC_CLI_BAD_INPUT;
    if (pcCliOption("--from", argc, argv, i, &o->from)) return o->from ? 0 : PC_CLI_BAD_INPUT;
    if (strcmp(argv[*i], "--quiet") == 0) {
        o->quiet = true;
        return 0;
    }
    return pcCliSetting(&o->settings, command, argc, argv, i);
}

int pcPlayOptionsRead(pcPlayOptions* o, const char* command, const char* help, int argc, char** argv)
{
    const char* world = NULL;
    *o = (pcPlayOptions){.world = NULL};
    for (int i = 0; i < argc; i++) {
        int code = 0;
        if (pcCliIsHelp(argv[i])) return fputs(help, stdout) >= 0 ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
        if (argv[i][0] == '-')
            code = readOption(o, command, argc, argv, &i);
        else if (world)
            code = pcCliBadInput("'%s' plays one world, but there are '%s' and '%s'", command, world, argv[i]);
        else
            world = argv[i];
        if (code != 0) return code;
    }
    if (!world) return pcCliBadInput("a world is missing; 'pcontact %s --help' explains it", command);
    int code = pcCliFindWorld(world, o->path);
    if (code == 0) o->world = world;
    return code;
}
