#define _GNU_SOURCE
#include "adapters/sweep/ranks.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/status.h"

/* Set by mpirun (OpenMPI), or by whatever else starts processes by PMI. */
static int jobNumber(const char* openMpi, const char* others, int missing)
{
    const char* text = getenv(openMpi) ? getenv(openMpi) : getenv(others);
    return text ? atoi(text) : missing;
}

static int jobSize(void) { return jobNumber("OMPI_COMM_WORLD_SIZE", "PMI_SIZE", 1); }

bool pcRanksSpeaks(void) { return jobNumber("OMPI_COMM_WORLD_RANK", "PMI_RANK", 0) == 0; }

/* Beside the tool as it was built, or where it is installed. */
static void* openModule(void)
{
    static const char* const folders[] = {"", PCONTACT_MODULE_FROM_BIN "/"};
    char own[PATH_MAX], path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0) return NULL;
    own[length] = 0;
    *(strrchr(own, '/') + 1) = 0;
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s%spcontact-mpi.so", own, folders[i]);
        void* module = dlopen(path, RTLD_NOW | RTLD_GLOBAL); /* MPI loads parts of itself that look for it */
        if (module) return module;
    }
    return NULL;
}

pcStatus pcRanksFind(const pcRanks** out)
{
    *out = NULL;
    if (jobSize() <= 1) return PC_OK;
    void* module = openModule();
    void* symbol = module ? dlsym(module, PC_RANKS_SYMBOL) : NULL;
    if (!symbol)
        return pcFail(PC_ERROR_UNSUPPORTED,
                      "%d processes were started, but this build of pcontact has no MPI (install libopenmpi-dev and "
                      "build again): use --threads on one machine",
                      jobSize());
    pcRanksStart* start = NULL;
    memcpy(&start, &symbol, sizeof start);
    const pcRanks* ranks = start();
    if (!ranks || ranks->version != PC_RANKS_VERSION) return pcFail(PC_ERROR_UNSUPPORTED, "MPI could not be started");
    *out = ranks->size > 1 ? ranks : NULL;
    return PC_OK;
}
