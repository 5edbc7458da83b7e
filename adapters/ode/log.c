#include "adapters/ode/log.h"

#include <locale.h>
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

/* With a point, whatever the program's locale has. */
static void putNumber(FILE* file, double number)
{
    char text[40];
    snprintf(text, sizeof text, "%.9g", number);
    char* point = strchr(text, localeconv()->decimal_point[0]);
    if (point) *point = '.';
    fputs(text, file);
    fputc(',', file);
}

void pcHostLog(pcHost* host)
{
    if (!host->log) return;
    const pcStepReport* r = &host->report;
    const pcWorldReportExtra* x = &host->extra;
    const double ends[] = {r->residual, r->infeasibilityContact, r->infeasibilityJoint, r->energy, r->milliseconds[5]};
    fprintf(host->log, "%d,", x->steps);
    putNumber(host->log, host->time);
    fprintf(host->log, "%s%s,%s,%d,%d,%d,", host->settings.shadow ? "shadow:" : "", pcModelName(host->settings.model),
            r->solver ? r->solver : "none", r->events, r->rows, r->iterations);
    for (int i = 0; i < 5; i++) putNumber(host->log, ends[i]);
    fprintf(host->log, "%d,%d,", x->native, r->contacts);
    putNumber(host->log, r->penetration);
    fprintf(host->log, "%d,%d,", x->untranslated, x->ignoredContacts);
    putNumber(host->log, x->shadowDifference);
    putReason(host->log, x->native ? x->reason : "");
}
