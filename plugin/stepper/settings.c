/*
 * Settings: one table says for every setting its name, where it is kept and what it may be. Reading, printing, checking and every
 * sentence about a mistake are made from that table, so that they cannot drift apart.
 */
#include "stepper/settings.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "pcontact/system.h"

static const unsigned COOKIE = 0x70635365u;

typedef enum Kind { CHOICE, WHOLE, NUMBER, TEXT } Kind;

typedef struct Field {
    const char* name;
    Kind kind;
    size_t offset;
    double low, high;    /* WHOLE and NUMBER, both included */
    const char* choices; /* CHOICE: words in the order of the enum */
    const char* wanted;  /* but of a CHOICE: what it may be, in words */
    const char* meaning; /* in one line, for those who ask the tool */
    bool unset;          /* NUMBER: "unset" (NaN) is a value */
    bool edges;          /* WHOLE: 0, or even and at least 4 */
} Field;

#define AT(member) offsetof(pcSettings, member)
static const Field fields[] = {
    {.name = "model",
     .kind = CHOICE,
     .offset = AT(model),
     .choices = "native quick lcp convex implicit",
     .meaning =
         "ODE's own solvers (native, quick), ours (lcp), its convex relaxation, or implicit; shadow:MODEL solves beside native steps"},
    {.name = "solver",
     .kind = CHOICE,
     .offset = AT(solver),
     .choices = "auto lemke fixedpoint minmap sparse",
     .meaning = "of our models; auto picks one for each island"},
    {.name = "narrowphase",
     .kind = CHOICE,
     .offset = AT(narrowphase),
     .choices = "ratio native euclid",
     .meaning = "where contacts come from: the ratio metric, dCollide, or Euclidean distances"},
    {.name = "gamma",
     .kind = NUMBER,
     .offset = AT(gamma),
     .high = 2,
     .wanted = "a number from 0 to 2, or unset",
     .unset = true,
     .meaning =
         "part of a gap that one step removes, but for 1e-5 |g| h^2 in islands of 100 bodies; unset: the host's ERP, 0.2 without a host"},
    {.name = "gammaGap",
     .kind = CHOICE,
     .offset = AT(gammaGap),
     .choices = "touch paper",
     .meaning = "touch: gamma counts for penetration only, so that nothing brakes before it touches; paper: for every gap"},
    {.name = "gap",
     .kind = CHOICE,
     .offset = AT(gap),
     .choices = "length ratio pair",
     .meaning = "what the gap of a contact is: the distance of its features, the papers' ratio at its point, or the ratio of its pair"},
    {.name = "coneEdges",
     .kind = WHOLE,
     .offset = AT(coneEdges),
     .high = 1024,
     .wanted = "0, or an even number from 4 to 1024",
     .edges = true,
     .meaning = "edges of the friction cone; 0: circular"},
    {.name = "alignCone",
     .kind = WHOLE,
     .offset = AT(alignCone),
     .high = 1,
     .wanted = "0 or 1",
     .meaning = "1: edges of a polyhedral cone turn to the direction of sliding"},
    {.name = "margin",
     .kind = NUMBER,
     .offset = AT(margin),
     .high = 1e300,
     .wanted = "a length >= 0",
     .meaning = "how far ahead contacts are looked for; 0: from velocities, spins and the step"},
    {.name = "layer",
     .kind = NUMBER,
     .offset = AT(layer),
     .high = 1e300,
     .wanted = "a length >= 0",
     .meaning = "length that is kept between bodies"},
    {.name = "epsX",
     .kind = NUMBER,
     .offset = AT(epsX),
     .high = 1e300,
     .wanted = "a number >= 0",
     .meaning = "selection of events (T 3.14): by which part of its size an event may lie outside of a body"},
    {.name = "epsT",
     .kind = NUMBER,
     .offset = AT(epsT),
     .high = HUGE_VAL,
     .wanted = "a number >= 0, or inf",
     .meaning = "selection of events (T 3.14): how far their ratio may be above that of the pair"},
    {.name = "eps0",
     .kind = NUMBER,
     .offset = AT(eps0),
     .high = HUGE_VAL,
     .wanted = "a number >= 0, or inf",
     .meaning = "selection of events (T 3.14): how far their ratio may be below that of the pair"},
    {.name = "mu",
     .kind = NUMBER,
     .offset = AT(mu),
     .high = HUGE_VAL,
     .wanted = "a number >= 0, or inf",
     .meaning = "friction where nothing else says"},
    {.name = "mu2",
     .kind = NUMBER,
     .offset = AT(mu2),
     .high = HUGE_VAL,
     .wanted = "a number >= 0, inf, or unset",
     .unset = true,
     .meaning = "friction along the second direction; unset: as mu"},
    {.name = "bounce",
     .kind = NUMBER,
     .offset = AT(bounce),
     .high = 1,
     .wanted = "a number from 0 to 1",
     .meaning = "restitution where nothing else says"},
    {.name = "restitution",
     .kind = CHOICE,
     .offset = AT(restitution),
     .choices = "newton poisson",
     .meaning = "by Newton's law of velocities or Poisson's of impulses"},
    {.name = "friction",
     .kind = CHOICE,
     .offset = AT(friction),
     .choices = "host coulomb",
     .meaning = "host: as each contact says; coulomb: mu is always a coefficient"},
    {.name = "flight",
     .kind = CHOICE,
     .offset = AT(flight),
     .choices = "end mean",
     .meaning = "bodies that nothing acts on move by the velocity at the end of the step, or by the mean of old and new"},
    {.name = "adaptiveGamma",
     .kind = WHOLE,
     .offset = AT(adaptiveGamma),
     .high = 1,
     .wanted = "0 or 1",
     .meaning = "1: gamma is chosen for each row and step"},
    {.name = "implicitJoints",
     .kind = WHOLE,
     .offset = AT(implicitJoints),
     .high = 1,
     .wanted = "0 or 1",
     .meaning = "1: joints hold where the step ends: no drift, at two to four times the cost"},
    {.name = "lookahead",
     .kind = WHOLE,
     .offset = AT(lookahead),
     .high = 1,
     .wanted = "0 or 1",
     .meaning = "1: interposed dCollide also returns contacts that are still apart, for the whole process"},
    {.name = "tolerance",
     .kind = NUMBER,
     .offset = AT(tolerance),
     .low = 1e-16,
     .high = 1,
     .wanted = "a number from 1e-16 to 1",
     .meaning = "of the residual of a step, dimensionless"},
    {.name = "threads",
     .kind = WHOLE,
     .offset = AT(threads),
     .high = 256,
     .wanted = "a whole number from 0 to 256",
     .meaning = "that look for contacts and solve islands; 0: one for each core"},
    {.name = "islands", .kind = WHOLE, .offset = AT(islands), .high = 1, .wanted = "0 or 1", .meaning = "0: all bodies in one problem"},
    {.name = "fixedPoint",
     .kind = WHOLE,
     .offset = AT(fixedPoint),
     .low = 1,
     .high = 3,
     .wanted = "1, 2 or 3",
     .meaning = "which map solver=fixedpoint iterates: chi_1, chi_2 or chi_3 of T 5.17"},
    {.name = "reportAfter",
     .kind = WHOLE,
     .offset = AT(reportAfter),
     .high = 1,
     .wanted = "0 or 1",
     .meaning = "1: infeasibility after the step is reported too, for which contacts are looked for twice"},
    {.name = "report", .kind = TEXT, .offset = AT(report), .wanted = "a file name", .meaning = "gets a line for each step"},
    {.name = "dump",
     .kind = TEXT,
     .offset = AT(dump),
     .wanted = "a folder",
     .meaning = "gets a file for each island that missed its tolerance"},
};
enum { FIELDS = sizeof fields / sizeof *fields };

pcSettings pcDefaultSettings(void)
{
    pcEventSettings events = pcDefaultEventSettings();
    return (pcSettings){.model = PC_MODEL_LCP,
                        .gamma = (double)NAN,
                        .alignCone = 1,
                        .epsX = events.epsX,
                        .epsT = events.epsT,
                        .eps0 = events.eps0,
                        .mu = 0.5,
                        .mu2 = (double)NAN,
                        .tolerance = 1e-10,
                        .threads = 1,
                        .islands = 1,
                        .fixedPoint = 1,
                        .cookie = COOKIE};
}

pcSurface pcDefaultSurface(const pcSettings* settings)
{
    pcSettings defaults = pcDefaultSettings();
    if (!settings) settings = &defaults;
    return (pcSurface){.mu = settings->mu,
                       .mu2 = settings->mu2,
                       .rolling2 = (double)NAN,
                       .gamma = (double)NAN,
                       .fastest = HUGE_VAL,
                       .bounce = settings->bounce};
}

/* ---- values ---- */

static int wholeOf(const pcSettings* s, const Field* f)
{
    int value;
    memcpy(&value, (const char*)s + f->offset, sizeof value); /* also the enums, which are ints in memory */
    return value;
}

static double numberOf(const pcSettings* s, const Field* f)
{
    double value;
    memcpy(&value, (const char*)s + f->offset, sizeof value);
    return value;
}

static const char* textOf(const pcSettings* s, const Field* f) { return (const char*)s + f->offset; }
static void setWhole(pcSettings* s, const Field* f, int value) { memcpy((char*)s + f->offset, &value, sizeof value); }
static void setNumber(pcSettings* s, const Field* f, double value) { memcpy((char*)s + f->offset, &value, sizeof value); }

/* The i-th of the words in `choices`: where it begins, and its length; NULL past the end. */
static const char* choiceAt(const char* choices, int i, int* length)
{
    if (i < 0) return NULL;
    for (; i > 0; i--) {
        choices = strchr(choices, ' ');
        if (!choices) return NULL;
        choices++;
    }
    *length = (int)strcspn(choices, " ");
    return choices;
}

static bool inRange(const Field* f, double value)
{
    if (isnan(value)) return f->unset;
    bool even = !f->edges || value == 0.0 || (value >= 4.0 && fmod(value, 2.0) == 0.0);
    return value >= f->low && value <= f->high && even;
}

static bool valueIsGood(const pcSettings* s, const Field* f)
{
    int length;
    switch (f->kind) {
    case CHOICE: return choiceAt(f->choices, wholeOf(s, f), &length) != NULL;
    case WHOLE: return inRange(f, wholeOf(s, f));
    case NUMBER: return inRange(f, numberOf(s, f));
    case TEXT: break;
    }
    return memchr(textOf(s, f), 0, PC_PATH_LENGTH) != NULL;
}

pcStatus pcSettingsCheck(const pcSettings* s)
{
    if (!s || s->cookie != COOKIE) return pcFail(PC_ERROR_ARGUMENT, "settings must start from pcDefaultSettings()");
    for (const Field* f = fields; f < fields + FIELDS; f++) {
        if (valueIsGood(s, f)) continue;
        if (f->kind == NUMBER) return pcFail(PC_ERROR_ARGUMENT, "setting %s is %g: it must be %s", f->name, numberOf(s, f), f->wanted);
        if (f->kind == TEXT) return pcFail(PC_ERROR_ARGUMENT, "setting %s is longer than %d characters", f->name, PC_PATH_LENGTH - 1);
        return pcFail(PC_ERROR_ARGUMENT, "setting %s is %d: it must be %s%s", f->name, wholeOf(s, f), f->kind == CHOICE ? "one of " : "",
                      f->kind == CHOICE ? f->choices : f->wanted);
    }
    if (s->shadow != 0 && s->shadow != 1) return pcFail(PC_ERROR_ARGUMENT, "setting shadow is %d: it must be 0 or 1", s->shadow);
    return PC_OK;
}

static const char* wordOf(const Field* f, int value, char* room, size_t capacity)
{
    int length = 0;
    const char* word = choiceAt(f->choices, value, &length);
    snprintf(room, capacity, "%.*s", length, word ? word : "");
    return room;
}

const char* pcSettingName(int i) { return i >= 0 && i < FIELDS ? fields[i].name : NULL; }

const char* pcModelName(pcModel model)
{
    static _Thread_local char room[16];
    return wordOf(fields, (int)model, room, sizeof room);
}

const char* pcSolverName(pcSolver solver)
{
    static _Thread_local char room[16];
    return wordOf(fields + 1, (int)solver, room, sizeof room);
}

/* ---- numbers, whatever decimal point the host program's locale uses ---- */

static void exchange(char* text, char from, char to)
{
    char* at = strchr(text, from);
    if (at) *at = to;
}

static char hostPoint(void) { return localeconv()->decimal_point[0]; }

static bool readNumber(const char* word, double* out)
{
    char copy[64], *end;
    if (strlen(word) >= sizeof copy || strpbrk(word, "xXpP")) return false;
    strcpy(copy, word);
    exchange(copy, '.', hostPoint());
    *out = strtod(copy, &end);
    return end != copy && *end == 0;
}

/* The shortest text that reads back to the same number. */
static void printNumber(double value, char text[64])
{
    double back = 0.0;
    for (int digits = 6; digits <= 17; digits++) {
        snprintf(text, 64, "%.*g", digits, value);
        exchange(text, hostPoint(), '.');
        if (readNumber(text, &back) && back == value) return;
    }
}

/* ---- reading ---- */

static pcStatus refuse(const Field* f, const char* value)
{
    if (f->kind == TEXT)
        return pcFail(PC_ERROR_ARGUMENT, "'%s=%.40s…': at most %d characters can stand there", f->name, value, PC_PATH_LENGTH - 1);
    bool choice = f->kind == CHOICE;
    return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': %s must be %s%s", f->name, value, f->name, choice ? "one of " : "",
                  choice ? f->choices : f->wanted);
}

static pcStatus readChoice(pcSettings* s, const Field* f, const char* value)
{
    const char *shadow = "shadow:", *word = value;
    bool isModel = f->offset == AT(model), beside = isModel && strncmp(value, shadow, strlen(shadow)) == 0;
    if (beside) word += strlen(shadow);
    int length;
    const char* choice;
    for (int i = 0; (choice = choiceAt(f->choices, i, &length)) != NULL; i++) {
        if (strlen(word) != (size_t)length || strncmp(word, choice, (size_t)length) != 0) continue;
        if (isModel) s->shadow = beside;
        return setWhole(s, f, i), PC_OK;
    }
    return refuse(f, value);
}

static pcStatus readWhole(pcSettings* s, const Field* f, const char* value)
{
    double number;
    if (!readNumber(value, &number) || !inRange(f, number) || number != floor(number)) return refuse(f, value);
    return setWhole(s, f, (int)number), PC_OK;
}

static pcStatus readReal(pcSettings* s, const Field* f, const char* value)
{
    double number = (double)NAN;
    bool unset = f->unset && strcmp(value, "unset") == 0;
    if (!unset && (!readNumber(value, &number) || isnan(number) || !inRange(f, number))) return refuse(f, value);
    return setNumber(s, f, number), PC_OK;
}

static pcStatus readText(pcSettings* s, const Field* f, const char* value)
{
    if (strlen(value) >= PC_PATH_LENGTH) return refuse(f, value);
    return strcpy((char*)s + f->offset, value), PC_OK;
}

/* How many letters have to be changed, added or dropped to make b of a (Levenshtein). */
static int lettersApart(const char* a, const char* b)
{
    int row[32], length = (int)strlen(b);
    if (length > 30) return INT_MAX;
    for (int j = 0; j <= length; j++) row[j] = j;
    for (int i = 1; a[i - 1]; i++) {
        int corner = row[0];
        row[0] = i;
        for (int j = 1; j <= length; j++) {
            int change = corner + (a[i - 1] != b[j - 1]), shorter = row[j - 1] < row[j] ? row[j - 1] : row[j];
            corner = row[j];
            row[j] = change < shorter + 1 ? change : shorter + 1;
        }
    }
    return row[length];
}

static pcStatus unknownName(const char* name)
{
    char known[400] = "";
    const Field* nearest = fields;
    int least = INT_MAX;
    for (const Field* f = fields; f < fields + FIELDS; f++) {
        int apart = lettersApart(name, f->name);
        if (apart < least) least = apart, nearest = f;
        snprintf(known + strlen(known), sizeof known - strlen(known), " %s", f->name);
    }
    return pcFail(PC_ERROR_ARGUMENT, "there is no setting '%.40s': did you mean %s? There are%s", name, nearest->name, known);
}

static pcStatus readWord(pcSettings* s, char* word)
{
    char* equals = strchr(word, '=');
    if (!equals) return pcFail(PC_ERROR_ARGUMENT, "'%.80s' is no setting: name=value is expected", word);
    *equals = 0;
    for (const Field* f = fields; f < fields + FIELDS; f++) {
        if (strcmp(f->name, word) != 0) continue;
        if (f->kind == CHOICE) return readChoice(s, f, equals + 1);
        if (f->kind == WHOLE) return readWhole(s, f, equals + 1);
        return f->kind == NUMBER ? readReal(s, f, equals + 1) : readText(s, f, equals + 1);
    }
    return unknownName(word);
}

/* The next word of *text into `word`; quotes keep blanks and commas together, and "" is a word. 0: the end, -1: too long or a quote that never
 * ends. */
static int nextWord(const char** text, char* word, size_t capacity)
{
    const char* at = *text + strspn(*text, " \t\r\n,");
    bool quoted = false, there = *at != 0;
    size_t length = 0;
    for (; *at && (quoted || !strchr(" \t\r\n,", *at)); at++) {
        if (*at == '"')
            quoted = !quoted;
        else if (length + 1 < capacity)
            word[length++] = *at;
        else
            return -1;
    }
    word[length] = 0, *text = at;
    return quoted ? -1 : there;
}

pcStatus pcSettingsParse(pcSettings* settings, const char* text)
{
    if (!text) return pcFail(PC_ERROR_ARGUMENT, "pcSettingsParse needs a text");
    pcStatus status = pcSettingsCheck(settings);
    if (status != PC_OK) return status;
    pcSettings changed = *settings;
    char word[2 * PC_PATH_LENGTH];
    int more;
    while ((more = nextWord(&text, word, sizeof word)) > 0)
        if ((status = readWord(&changed, word)) != PC_OK) return status;
    if (more < 0) return pcFail(PC_ERROR_ARGUMENT, "a setting is too long, or its quote has no end: '%.40s'", text);
    *settings = changed;
    return PC_OK;
}

/* ---- printing ---- */

typedef struct Printer {
    char* text;
    int capacity, length;
} Printer;

static void put(Printer* p, const char* text)
{
    for (; *text; text++, p->length++)
        if (p->length + 1 < p->capacity) p->text[p->length] = *text;
    if (p->capacity > 0) p->text[p->length < p->capacity ? p->length : p->capacity - 1] = 0;
}

static bool sameValue(const pcSettings* a, const pcSettings* b, const Field* f)
{
    switch (f->kind) {
    case NUMBER: return numberOf(a, f) == numberOf(b, f) || (isnan(numberOf(a, f)) && isnan(numberOf(b, f)));
    case TEXT: return strcmp(textOf(a, f), textOf(b, f)) == 0;
    case CHOICE:
        if (f->offset == AT(model) && a->shadow != b->shadow) return false;
        break;
    case WHOLE: break;
    }
    return wholeOf(a, f) == wholeOf(b, f);
}

static void putText(Printer* p, const char* text)
{
    const char* quote = strpbrk(text, " \t\r\n,") ? "\"" : "";
    put(p, quote), put(p, text), put(p, quote);
}

static void putValue(Printer* p, const pcSettings* s, const Field* f)
{
    char room[64] = "unset";
    if (f->kind == TEXT) {
        putText(p, textOf(s, f));
        return;
    }
    if (f->kind == CHOICE && f->offset == AT(model) && s->shadow) put(p, "shadow:");
    if (f->kind == CHOICE) wordOf(f, wholeOf(s, f), room, sizeof room);
    if (f->kind == WHOLE) snprintf(room, sizeof room, "%d", wholeOf(s, f));
    if (f->kind == NUMBER && !isnan(numberOf(s, f))) printNumber(numberOf(s, f), room);
    put(p, room);
}

bool pcSettingDescribe(int i, pcSettingDescription* out)
{
    if (i < 0 || i >= FIELDS) return false;
    const Field* f = fields + i;
    const pcSettings defaults = pcDefaultSettings();
    Printer values = {out->values, sizeof out->values, 0}, standard = {out->standard, sizeof out->standard, 0};
    out->name = f->name, out->meaning = f->meaning;
    put(&values, f->kind == CHOICE ? f->choices : f->wanted);
    putValue(&standard, &defaults, f);
    if (standard.length == 0) put(&standard, "none");
    return true;
}

int pcSettingsPrint(const pcSettings* settings, char* text, int capacity)
{
    Printer p = {text, text ? capacity : 0, 0};
    pcSettings defaults = pcDefaultSettings();
    put(&p, "");
    if (!settings) return 0;
    for (const Field* f = fields; f < fields + FIELDS; f++) {
        if (sameValue(settings, &defaults, f)) continue;
        if (p.length > 0) put(&p, " ");
        put(&p, f->name), put(&p, "="), putValue(&p, settings, f);
    }
    return p.length;
}
