#define _GNU_SOURCE
#include "adapters/cli/rivals.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/cli/worlds.h"
#include "adapters/rivals/rival.h"

/* Beside this program. */
static bool findEngine(const char* engine, char path[PC_CLI_PATH])
{
    ssize_t length = readlink("/proc/self/exe", path, PC_CLI_PATH - 64);
    if (length <= 0) return false;
    path[length] = 0;
    char* name = strrchr(path, '/');
    if (!name) return false;
    snprintf(name + 1, 64, "pcontact-rival-%s", engine);
    return access(path, X_OK) == 0;
}

bool pcRivalBegin(pcRival* rival, const char* engine, const char* file, double h, int steps)
{
    char path[PC_CLI_PATH], command[2 * PC_CLI_PATH + 96];
    *rival = (pcRival){0};
    if (!findEngine(engine, path) || strchr(path, '\'') || strchr(file, '\'')) return false;
    snprintf(command, sizeof command, "exec '%s' '%s' %.17g %d 2>/dev/null", path, file, h, steps);
    rival->pipe = popen(command, "r");
    if (!rival->pipe) return false;
    bool good = fread(&rival->moving, sizeof rival->moving, 1, rival->pipe) == 1 && rival->moving >= 0;
    rival->state = good ? malloc(PC_RIVAL_STATE * sizeof(double) * ((size_t)rival->moving + 1)) : NULL;
    if (!rival->state) pcRivalEnd(rival);
    return rival->state != NULL;
}

static const double* stateOf(const pcRival* rival, const pcScene* scene, int link)
{
    int place = 0;
    for (int i = 0; i < link; i++) place += !scene->link[i].fixed;
    return place < rival->moving ? rival->state + (size_t)(PC_RIVAL_STATE * place) : NULL;
}

bool pcRivalStep(pcRival* rival, const pcScene* scene, pcStage* stage, double* ms)
{
    size_t count = PC_RIVAL_STATE * (size_t)rival->moving;
    if (fread(ms, sizeof *ms, 1, rival->pipe) != 1 || fread(rival->state, sizeof(double), count, rival->pipe) != count) return false;
    for (int i = 0; i < stage->bodies; i++) {
        const double* s = stateOf(rival, scene, stage->body[i].link);
        dBodyID body = stage->body[i].body;
        if (!s) return false;
        for (int k = 0; k < PC_RIVAL_STATE; k++)
            if (!(s[k] - s[k] == 0.0)) return false; /* it has lost a body */
        dBodySetPosition(body, s[0], s[1], s[2]);
        dBodySetQuaternion(body, (const dReal[4]){s[3], s[4], s[5], s[6]});
        dBodySetLinearVel(body, s[7], s[8], s[9]);
    }
    return true;
}

void pcRivalEnd(pcRival* rival)
{
    if (rival->pipe) pclose(rival->pipe);
    free(rival->state);
    *rival = (pcRival){0};
}
