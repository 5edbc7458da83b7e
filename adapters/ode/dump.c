#include "adapters/ode/dump.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "adapters/problems/write.h"
#include "base/status.h"
#include "stepper/memory.h"

pcStatus pcDumpCheck(const pcSettings* settings)
{
    const char* folder = settings->dump;
    struct stat about;
    if (!*folder) return PC_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return pcFail(PC_ERROR_ARGUMENT, "dump=%s cannot be made: %s", folder, strerror(errno));
    if (stat(folder, &about) != 0 || !S_ISDIR(about.st_mode)) return pcFail(PC_ERROR_ARGUMENT, "dump=%s is not a folder", folder);
    if (access(folder, W_OK | X_OK) != 0) return pcFail(PC_ERROR_ARGUMENT, "dump=%s cannot be written: %s", folder, strerror(errno));
    return PC_OK;
}

/* A file that cannot be written is not counted; the step itself is as it would be. */
static void writeMissed(void* context, const pcMissed* missed)
{
    pcHost* host = context;
    char path[PC_PATH_LENGTH + 80];
    if (atomic_fetch_add(&host->dumps, 1) >= PC_MOST_DUMPS) {
        atomic_fetch_sub(&host->dumps, 1);
        return;
    }
    snprintf(path, sizeof path, "%s/world%d_step%06d_island%d.txt", host->settings.dump, host->number, host->extra.steps, missed->island);
    pcStepProblem step = {missed->problem, missed->tolerance, missed->v, missed->c};
    if (!pcProblemWrite(path, &step)) atomic_fetch_sub(&host->dumps, 1);
}

void pcDumpStart(pcHost* host)
{
    host->memory->missed = *host->settings.dump ? writeMissed : NULL;
    host->memory->missedContext = host;
}
