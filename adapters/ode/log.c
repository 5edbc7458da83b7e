#include "adapters/ode/log.h"

#include <string.h>

#include "base/status.h"
#include "stepper/settings.h"

/* Line by line, so that a program that ends badly leaves what it did. */
pcStatus pcHostLogOpen(pcHost* host)
{
    const char* name = host->settings.report;
    if (strcmp(name, host->logName) == 0) return PC_OK;
    if (host->log) fclose(host->log);
    host->log = NULL, host->logName[0] = 0;
    if (!*name) return PC_OK;
    host->log = fopen(name, "w");
    if (!host->log) return pcFail(PC_ERROR_ARGUMENT, "report=%s cannot be written", name);
    setvbuf(host->log, NULL, _IOLBF, BUFSIZ);
    strcpy(host->logName, name);
    fputs("step,time,model,solver,events,rows,iterations,residual,infeasibility_contact,infeasibility_joint,energy,ms,"
          "native,contacts,penetration,untranslated,ignored,shadow_difference,reason\n",
          host->log);
    return PC_OK;
}

/* In quotes, with none inside. */
static void putReason(FILE* file, const char* text)
{
    fputc('"', file);
    for (; *text; text++) fputc(*text == '"' ? '\'' : *text, file);
    fputs("\"\n", file);
}

void pcHostLog(pcHost* host)
{
    if (!host->log) return;
    const pcStepReport* r = &host->report;
    const pcWorldReportExtra* x = &host->extra;
    fprintf(host->log, "%d,%.9g,%s%s,%s,%d,%d,%d,%.6g,%.6g,%.6g,%.9g,%.6g,", x->steps, host->time, host->settings.shadow ? "shadow:" : "",
            pcModelName(host->settings.model), r->solver ? r->solver : "none", r->events, r->rows, r->iterations, r->residual,
            r->infeasibilityContact, r->infeasibilityJoint, r->energy, r->milliseconds[5]);
    fprintf(host->log, "%d,%d,%.6g,%d,%d,%.6g,", x->native, r->contacts, r->penetration, x->untranslated, x->ignoredContacts,
            x->shadowDifference);
    putReason(host->log, x->native ? x->reason : "");
}
