#include "adapters/report/asset.h"

#ifdef PCONTACT_REPORT_FOLDER

/* The assembler reads the files into the program as they are; both compilers that build this know it. */
#define EMBED(name, file)                                                 \
    __asm__(".section .rodata\n"                                          \
            ".global " #name "\n" #name ":\n.incbin \"" file "\"\n"       \
            ".global " #name "End\n" #name "End:\n.byte 0\n.previous\n"); \
    extern const char name[], name##End[]

EMBED(pcReportScriptBytes, PCONTACT_REPORT_FOLDER "/report.js");
EMBED(pcReportStyleBytes, PCONTACT_REPORT_FOLDER "/report.css");

const char* pcReportScript(void) { return pcReportScriptBytes; }
size_t pcReportScriptSize(void) { return (size_t)(pcReportScriptBytesEnd - pcReportScriptBytes); }
const char* pcReportStyle(void) { return pcReportStyleBytes; }
size_t pcReportStyleSize(void) { return (size_t)(pcReportStyleBytesEnd - pcReportStyleBytes); }

#else

const char* pcReportScript(void) { return ""; }
size_t pcReportScriptSize(void) { return 0; }
const char* pcReportStyle(void) { return ""; }
size_t pcReportStyleSize(void) { return 0; }

#endif
