#define _GNU_SOURCE
#include "adapters/cli/worlds.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/cli/cli.h"

static const char* const shelves[] = {"papers", "peers", "peers/scenes"};
static const char* const endings[] = {"", ".world", ".sdf"};
enum { SHELVES = sizeof shelves / sizeof shelves[0], ENDINGS = sizeof endings / sizeof endings[0] };

static bool isFile(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISREG(about.st_mode);
}

/* The folder of the worlds: in the source tree this program was built from, or beside where it is installed. */
static bool library(int place, char folder[PC_CLI_PATH])
{
    if (place == 0) return snprintf(folder, PC_CLI_PATH, "%s", PCONTACT_TEST_WORLDS) < PC_CLI_PATH;
    char own[PC_CLI_PATH];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) return false;
    own[length] = 0;
    *(strrchr(own, '/') + 1) = 0;
    return snprintf(folder, PC_CLI_PATH, "%s%s", own, PCONTACT_WORLDS_FROM_BIN) < PC_CLI_PATH;
}

static bool findNamed(const char* name, char path[PC_CLI_PATH])
{
    char folder[PC_CLI_PATH];
    for (int place = 0; place < 2; place++) {
        if (!library(place, folder)) continue;
        for (int i = 0; i < SHELVES * ENDINGS; i++) {
            int length = snprintf(path, PC_CLI_PATH, "%s/%s/%s%s", folder, shelves[i / ENDINGS], name, endings[i % ENDINGS]);
            if (length < PC_CLI_PATH && isFile(path)) return true;
        }
    }
    return false;
}

static int isWorld(const struct dirent* entry)
{
    const char* dot = strrchr(entry->d_name, '.');
    return dot && strcmp(dot, ".world") == 0;
}

/* Where the names of worlds go: to stdout, one line each, or into a sentence. */
typedef struct Names {
    char* text; /* NULL: stdout */
    size_t used, room;
} Names;

static void putName(Names* names, const char* file)
{
    int length = (int)(strrchr(file, '.') - file);
    if (!names->text)
        printf("%.*s\n", length, file);
    else if (names->used < names->room)
        names->used +=
            (size_t)snprintf(names->text + names->used, names->room - names->used, "%s%.*s", names->used ? ", " : "", length, file);
}

/* Of the first place that has any. */
static void listShelf(const char* name, Names* names)
{
    char folder[PC_CLI_PATH], shelf[PC_CLI_PATH];
    int count = 0;
    for (int place = 0; place < 2 && count <= 0; place++) {
        struct dirent** entry;
        if (!library(place, folder) || snprintf(shelf, sizeof shelf, "%s/%s", folder, name) >= PC_CLI_PATH) continue;
        count = scandir(shelf, &entry, isWorld, alphasort);
        for (int i = 0; i < count; i++) {
            putName(names, entry[i]->d_name);
            free(entry[i]);
        }
        if (count >= 0) free(entry);
    }
}

void pcCliListWorlds(void)
{
    Names out = {0};
    for (int i = 0; i < SHELVES; i++) listShelf(shelves[i], &out);
}

int pcCliFindWorld(const char* world, char path[PC_CLI_PATH])
{
    char text[512] = "";
    if (isFile(world)) {
        if (snprintf(path, PC_CLI_PATH, "%s", world) < PC_CLI_PATH) return 0;
    } else if (!strchr(world, '/') && findNamed(world, path)) {
        return 0;
    }
    if (strchr(world, '/') || strchr(world, '.')) return pcCliBadInput("there is no world file '%s'", world);
    Names names = {text, 0, sizeof text};
    listShelf(shelves[0], &names);
    return pcCliBadInput("there is no world '%s'; there are %s, and any SDF file", world, text);
}
