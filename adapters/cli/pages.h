/* Pages of the tool's commands (--report FILE.html): recordings of what is played, and the head that says what ran. */
#ifndef PC_CLI_PAGES_H
#define PC_CLI_PAGES_H

#include "adapters/cli/parts.h"
#include "adapters/cli/play.h"
#include "adapters/report/page.h"

enum { PC_CLI_RUNS = 4, PC_CLI_FACTS = 14 };

typedef struct pcCliPage {
    pcPageFile* file; /* NULL: no page is wanted */
    const char* name;
    char command[4096], machine[512], date[64], version[64], ode[PC_CLI_PART], lapack[PC_CLI_PART];
    char settings[PC_CLI_RUNS][1024];
    int recordings, facts;
    pcRecording recording[PC_CLI_RUNS];
    pcPageFact fact[PC_CLI_FACTS];
} pcCliPage;

/* Before anything runs; name NULL: no page. 0, or an exit code after one sentence. */
int pcCliPageBegin(pcCliPage* page, const char* name, const char* command, int argc, char** argv);

/* Makes `plan` record one more run. */
void pcCliPageRecord(pcCliPage* page, pcPlayPlan* plan, const char* run);

void pcCliPageFact(pcCliPage* page, const char* name, const char* value);

/* What was played, as a fact; its recording gets the model's name. */
void pcCliPagePlayed(pcCliPage* page, const char* run, const pcPlayed* played);

/* Fills in file, facts and recordings; 0, or an exit code after one sentence. */
int pcCliPageEnd(pcCliPage* page, pcPage* content);

/* Without a page: after a failure. */
void pcCliPageDrop(pcCliPage* page);

#endif
