/* The script and the style of every page, as bundled from web/ when the tool was built; sizes are 0 in a build without Node.js. */
#ifndef PC_REPORT_ASSET_H
#define PC_REPORT_ASSET_H

#include <stddef.h>

const char* pcReportScript(void);
size_t pcReportScriptSize(void);
const char* pcReportStyle(void);
size_t pcReportStyleSize(void);

#endif
