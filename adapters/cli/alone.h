/* Work in a process of its own, which may be ended: a single step of some solvers takes minutes, and some end the program. */
#ifndef PC_CLI_ALONE_H
#define PC_CLI_ALONE_H

#include <stddef.h>

/* Memory that the two processes share, all zero; NULL: there is none. */
void* pcAloneRoom(size_t size);
void pcAloneRoomFree(void* room, size_t size);

typedef void pcAloneWork(void* context);

/* Runs work(context) in a process of its own, at most so many seconds of the clock, then it is ended. What it leaves is what it wrote to shared
 * memory. Returns the most memory it had, in megabytes; < 0: there is no process to be had, and errno says why. */
double pcAlone(pcAloneWork* work, void* context, double seconds);

#endif
