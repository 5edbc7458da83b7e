#define _GNU_SOURCE
#include "adapters/cli/alone.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "adapters/cli/progress.h"

void* pcAloneRoom(size_t size)
{
    void* room = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return room == MAP_FAILED ? NULL : room;
}

void pcAloneRoomFree(void* room, size_t size) { munmap(room, size); }

static double await(pid_t child, double seconds)
{
    struct rusage usage = {0};
    double begun = pcCliClock();
    while (wait4(child, NULL, WNOHANG, &usage) == 0) {
        if (pcCliClock() - begun > seconds) {
            kill(child, SIGKILL);
            wait4(child, NULL, 0, &usage);
            break;
        }
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return (double)usage.ru_maxrss / 1024.0;
}

double pcAlone(pcAloneWork* work, void* context, double seconds)
{
    fflush(NULL);
    pid_t child = fork();
    if (child < 0) return -1.0;
    if (child == 0) {
        work(context);
        _exit(0);
    }
    return await(child, seconds);
}
