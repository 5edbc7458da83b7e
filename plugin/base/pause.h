/* Waiting for another thread that is nearly done. */
#ifndef PC_BASE_PAUSE_H
#define PC_BASE_PAUSE_H

#include <sched.h>

static inline void pcPause(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
}

/* The n-th look in vain: the other one may have lost its processor, to us perhaps. */
static inline void pcPauseLonger(int n)
{
    if (n % 256 == 255)
        sched_yield();
    else
        pcPause();
}

#endif
