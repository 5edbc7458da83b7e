/* What the tool is made with, for a bug report and the head of a page. */
#ifndef PC_CLI_PARTS_H
#define PC_CLI_PARTS_H

enum { PC_CLI_PART = 256 };

/* The version that it was built with, and how the one that was loaded calls itself. */
void pcCliOde(char text[PC_CLI_PART]);
void pcCliLapack(char text[PC_CLI_PART]);
void pcCliMpi(char text[PC_CLI_PART]);

/* Whether there are pages for the browser; if not, how to get them. */
void pcCliReports(char text[PC_CLI_PART]);

#endif
