#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local char lastError[512];

/* A sentence may quote what somebody else wrote: it stays one line, and no terminal takes it for commands. */
static void makePrintable(char* text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 127) *text = '?';
}

pcStatus pcFail(pcStatus status, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(lastError, sizeof lastError, format, arguments);
    va_end(arguments);
    makePrintable(lastError);
    return status;
}

const char* pcLastError(void) { return lastError; }

const char* pcStatusText(pcStatus status)
{
#define PC_STATUS_SENTENCE_(name, text) text,
    static const char* const sentences[] = {PC_STATUS_TABLE(PC_STATUS_SENTENCE_)};
#undef PC_STATUS_SENTENCE_
    int known = (int)status >= 0 && (int)status < (int)PC_STATUS_COUNT;
    return known ? sentences[status] : "not a status of this library";
}

const char* pcVersion(void) { return PC_VERSION_TEXT; }
