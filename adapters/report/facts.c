/* Facts about this run for the head of a page: machine, date, command. */
#define _POSIX_C_SOURCE 200809L
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "adapters/report/page.h"

/* "model name : AMD …" of Linux; "" where there is none. */
static void processorName(char* name, size_t room)
{
    char line[512];
    FILE* file = fopen("/proc/cpuinfo", "r");
    name[0] = 0;
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char* colon = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !colon) continue;
        snprintf(name, room, "%s", colon + 1 + strspn(colon + 1, " \t"));
        name[strcspn(name, "\n")] = 0;
    }
    if (file) fclose(file);
}

void pcPageMachine(char* text, int room)
{
    char processor[256];
    struct utsname about = {0};
    processorName(processor, sizeof processor);
    uname(&about);
    snprintf(text, (size_t)room, "%s%s%ld cores, %s %s", processor, processor[0] ? ", " : "", sysconf(_SC_NPROCESSORS_ONLN), about.sysname,
             about.machine);
}

void pcPageDate(char* text, int room)
{
    time_t now = time(NULL);
    struct tm parts;
    if (!gmtime_r(&now, &parts) || strftime(text, (size_t)room, "%Y-%m-%d %H:%M UTC", &parts) == 0) text[0] = 0;
}

static bool isPlain(const char* word)
{
    for (const char* s = word; *s; s++)
        if (!isalnum((unsigned char)*s) && !strchr("-_=+:,./@%", *s)) return false;
    return *word != 0;
}

/* 'It'\''s': single quotes hold everything but themselves. */
static int quote(char* text, size_t room, const char* word)
{
    size_t at = 0;
    if (at < room) text[at] = '\'';
    at++;
    for (const char* s = word; *s; s++) {
        const char* part = *s == '\'' ? "'\\''" : (const char[2]){*s, 0};
        for (; *part; part++, at++)
            if (at < room) text[at] = *part;
    }
    if (at < room) text[at] = '\'';
    at++;
    if (room > 0) text[at < room ? at : room - 1] = 0;
    return (int)at;
}

void pcPageCommand(char* text, int room, const char* command, int argc, char** argv)
{
    int at = snprintf(text, (size_t)room, "pcontact %s", command);
    for (int i = 0; i < argc && at < room - 1; i++) {
        text[at++] = ' ', text[at] = 0;
        if (isPlain(argv[i]))
            at += snprintf(text + at, (size_t)(room - at), "%s", argv[i]);
        else
            at += quote(text + at, (size_t)(room - at), argv[i]);
    }
}
