/* Failing: a status for the program, a sentence for the person. */
#ifndef PC_BASE_STATUS_H
#define PC_BASE_STATUS_H

#include "pcontact/types.h"

/* Stores the sentence for pcLastError on this thread and returns `status`, so that callers write: return pcFail(…). */
pcStatus pcFail(pcStatus status, const char* format, ...) __attribute__((format(printf, 2, 3)));

#endif
