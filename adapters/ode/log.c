#include "adapters/ode/log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/problems/write.h"
#include "base/status.h"
#include "stepper/settings.h"

static const char columns[] = "step,time,model,solver,events,rows,iterations,residual,infeasibility_contact,infeasibility_joint,energy,ms,"
                              "native,contacts,penetration,untranslated,ignored,shadow_difference,"
                              "infeasibility_contact_after,infeasibility_joint_after,penetration_after,reason\n";

/* ---- files ---- */

/* What this process has written: a second world must not write over the first, not even when that is gone. */
typedef struct Name {
    struct Name* next;
    char file[PC_PATH_LENGTH + 16];
} Name;

static pthread_mutex_t openLock = PTHREAD_MUTEX_INITIALIZER;
static Name* written;

static bool isWritten(const char* file)
{
    for (const Name* name = written; name; name = name->next)
        if (strcmp(name->file, file) == 0) return true;
    return false;
}

/* Out of memory: it may be written over. */
static void noteWritten(const char* file)
{
    Name* name = malloc(sizeof *name);
    if (!name) return;
    strcpy(name->file, file);
    name->next = written, written = name;
}

/* A pipe or /dev/null takes what all of them write. */
static bool isShared(const char* file)
{
    struct stat about;
    return stat(file, &about) == 0 && !S_ISREG(about.st_mode);
}

/* The name itself, or with a number before its ending: steps.csv, steps.2.csv */
static void chooseFile(const char* name, char file[PC_PATH_LENGTH + 16])
{
    const char *dot = strrchr(name, '.'), *slash = strrchr(name, '/');
    int stem = dot && (!slash || dot > slash + 1) ? (int)(dot - name) : (int)strlen(name);
    strcpy(file, name);
    for (int i = 2; isWritten(file) && !isShared(file); i++) snprintf(file, PC_PATH_LENGTH + 16, "%.*s.%d%s", stem, name, i, name + stem);
}

static void closeFile(pcHost* host)
{
    if (host->log) fclose(host->log);
    host->log = NULL, host->logName[0] = 0;
}

/* Line by line, so that a program that ends badly leaves what it did. */
static bool openFile(pcHost* host, const char* name)
{
    char chosen[PC_PATH_LENGTH + 16];
    chooseFile(name, chosen);
    FILE* file = fopen(chosen, "w");
    if (!file) return false;
    closeFile(host);
    setvbuf(file, NULL, _IOLBF, BUFSIZ);
    fputs(columns, file);
    noteWritten(chosen);
    host->log = file;
    strcpy(host->logName, name);
    return true;
}

pcStatus pcHostLogOpen(pcHost* host, const char* name)
{
    if (strcmp(name, host->logName) == 0) return PC_OK;
    bool good = true;
    pthread_mutex_lock(&openLock);
    if (*name)
        good = openFile(host, name);
    else
        closeFile(host);
    pthread_mutex_unlock(&openLock);
    return good ? PC_OK : pcFail(PC_ERROR_ARGUMENT, "report=%s cannot be written", name);
}

void pcHostLogClose(pcHost* host)
{
    pthread_mutex_lock(&openLock);
    closeFile(host);
    pthread_mutex_unlock(&openLock);
}

/* ---- lines ---- */

/* In quotes, with none inside. */
static void putReason(FILE* file, const char* text)
{
    fputc('"', file);
    for (; *text; text++) fputc(*text == '"' ? '\'' : *text, file);
    fputs("\"\n", file);
}

/* What is not known stays empty. */
static void putNumber(FILE* file, double number)
{
    if (!isnan(number)) pcWriteNumber(file, number, 9);
    fputc(',', file);
}

static void putStep(const pcHost* host)
{
    const pcStepReport* r = &host->report;
    const pcWorldReportExtra* x = &host->extra;
    const double ends[] = {r->residual, r->infeasibilityContact, r->infeasibilityJoint, r->energy, x->milliseconds[PC_HOST_ALL]};
    const double more[] = {x->shadowDifference, r->infeasibilityContactAfter, r->infeasibilityJointAfter, r->penetrationAfter};
    fprintf(host->log, "%d,", x->steps);
    putNumber(host->log, host->time);
    fprintf(host->log, "%s%s,%s,%d,%d,%d,", host->settings.shadow ? "shadow:" : "", pcModelName(host->settings.model),
            r->solver ? r->solver : "none", r->events, r->rows, r->iterations);
    for (int i = 0; i < 5; i++) putNumber(host->log, ends[i]);
    fprintf(host->log, "%d,%d,", x->native, r->contacts);
    putNumber(host->log, r->penetration);
    fprintf(host->log, "%d,%d,", x->untranslated, x->ignoredContacts);
    for (int i = 0; i < 4; i++) putNumber(host->log, more[i]);
    putReason(host->log, x->native ? x->reason : "");
}

void pcHostLog(pcHost* host)
{
    if (!host->log) return;
    putStep(host);
    host->extra.lostLines += ferror(host->log) != 0;
    clearerr(host->log);
}
