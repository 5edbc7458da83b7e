#include "adapters/cli/pages.h"

#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"

int pcCliPageBegin(pcCliPage* p, const char* name, const char* command, int argc, char** argv)
{
    memset(p, 0, sizeof *p);
    p->name = name;
    if (!name) return 0;
    if (pcPageBegin(name, &p->file) != PC_OK) return pcCliBadInput("%s", pcLastError());
    pcPageCommand(p->command, sizeof p->command, command, argc, argv);
    pcPageMachine(p->machine, sizeof p->machine);
    pcPageDate(p->date, sizeof p->date);
    snprintf(p->version, sizeof p->version, "pcontact %s", PC_VERSION_TEXT);
    pcCliOde(p->ode);
    pcCliLapack(p->lapack);
    pcCliPageFact(p, "version", p->version);
    pcCliPageFact(p, "ODE", p->ode);
    pcCliPageFact(p, "LAPACK", p->lapack);
    pcCliPageFact(p, "machine", p->machine);
    pcCliPageFact(p, "date", p->date);
    return 0;
}

static pcStatus watch(void* recording, const pcPlayMoment* moment)
{
    if (moment->step == 0) return pcRecordingBegin(recording, moment->scene, moment->stage, moment->h, moment->steps);
    pcRecordingStep(recording, moment->stage);
    return pcRecordingStatus(recording);
}

void pcCliPageRecord(pcCliPage* p, pcPlayPlan* plan, const char* run)
{
    if (!p->file || p->recordings >= PC_CLI_RUNS) return;
    pcRecording* r = p->recording + p->recordings++;
    snprintf(r->name, sizeof r->name, "%s", run);
    plan->watch = watch, plan->watcher = r;
}

void pcCliPageFact(pcCliPage* p, const char* name, const char* value)
{
    if (p->facts < PC_CLI_FACTS) p->fact[p->facts++] = (pcPageFact){name, value};
}

void pcCliPagePlayed(pcCliPage* p, const char* run, const pcPlayed* played)
{
    if (!p->file) return;
    int k = p->recordings - 1;
    snprintf(p->recording[k].name, sizeof p->recording[k].name, "%s", run);
    pcSettingsPrint(&played->settings, p->settings[k], sizeof p->settings[k]);
    pcCliPageFact(p, p->recording[k].name, p->settings[k][0] ? p->settings[k] : "settings: all as they are by default");
}

int pcCliPageEnd(pcCliPage* p, pcPage* content)
{
    if (!p->file) return 0;
    content->command = p->command;
    content->facts = p->facts, content->fact = p->fact;
    content->recordings = p->recordings, content->recording = p->recording;
    pcStatus status = pcPageWrite(p->file, content);
    p->file = NULL;
    pcCliPageDrop(p);
    return status == PC_OK ? 0 : pcCliBadInput("%s", pcLastError());
}

void pcCliPageDrop(pcCliPage* p)
{
    pcPageDrop(p->file);
    p->file = NULL;
    for (int i = 0; i < p->recordings; i++) pcRecordingFree(p->recording + i);
    p->recordings = 0;
}
