/* pcontact compare: one world under ODE's two solvers and ours, from the same start, in one table. */
#define _POSIX_C_SOURCE 200809L /* isatty */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/cli/cli.h"
#include "adapters/cli/pages.h"
#include "adapters/cli/play_options.h"
#include "stepper/settings.h"

static const char help[] =
    "Usage: pcontact compare WORLD [--SETTING VALUE]... [--step H] [--time T] [--csv BASE] [--from STATES] [--report FILE.html]\n"
    "                              [--format csv|json]\n\n"
    "Plays WORLD under ODE's dWorldStep (native), its dWorldQuickStep (quick) and our model, and measures all three in the same way.\n"
    "Every setting is an option ('pcontact info --settings' explains them):\n\n"
    "  pcontact compare balance2\n"
    "  pcontact compare balance2 --model convex --gamma 0.3 --step 0.02\n"
    "  pcontact compare my.world --csv out --format json >out.json     also out.native.states.csv, out.ours.steps.csv, …\n"
    "  pcontact compare balance2 --report balance2.html                 a page for the browser: all three side by side\n"
    "  pcontact compare my.world --from out.ours.states.csv            all three go on where those states end\n"
    "  pcontact compare quasi_rigid                                     a floor with a compliant layer, which only model=implicit knows\n\n"
    "  penetration    before each step: negative part of rho (ratio), and the deepest contact (length)\n"
    "  joint error    before each step: the largest error of a joint's rows\n"
    "  cone excess    friction beyond mu times the normal impulse, by the largest normal impulse of the step\n"
    "  Coulomb's law  how far contacts are from it after the step (natural map), by the velocities of the step\n"
    "  residual       of the problem that our model solves, as it reports it\n"
    "  energy gain    the most that the energy ever rose again; motors and springs may add some\n"
    "  momentum       what momentum and impulses of a step disagree by, by the weight over the step\n"
    "  creep          the fastest that a body at rest moves on, over the last quarter of the time\n"
    "  core met       when a compliant layer (<layer>) was first used up; its deflection counts as penetration, springs as energy gain\n\n"
    "Exit code: 0; 1 if one of our steps had to be ODE's own, or our model lost a body; 2 for bad input.\n";

enum { MODELS = 3 };

/* ---- the quantities ---- */

typedef struct Quantity {
    const char *name, *key, *unit;
    size_t place; /* in pcPlayed */
    enum {
        NUMBER, /* less of it is better, as of the next */
        FAULTS,
        COUNT, /* of which less is not better, nor of the next */
        MOMENT /* shown only where there is one */
    } kind;
} Quantity;

static const Quantity quantities[] = {
    {"penetration, ratio: mean", "penetration_ratio_mean", "", offsetof(pcPlayed, ratio.mean), NUMBER},
    {"penetration, ratio: most", "penetration_ratio_max", "", offsetof(pcPlayed, ratio.most), NUMBER},
    {"penetration, length: mean", "penetration_length_mean", "m", offsetof(pcPlayed, length.mean), NUMBER},
    {"penetration, length: most", "penetration_length_max", "m", offsetof(pcPlayed, length.most), NUMBER},
    {"joint error: mean", "joint_error_mean", "", offsetof(pcPlayed, joint.mean), NUMBER},
    {"joint error: most", "joint_error_max", "", offsetof(pcPlayed, joint.most), NUMBER},
    {"cone excess: most", "cone_excess_max", "", offsetof(pcPlayed, coneExcess), NUMBER},
    {"off Coulomb's law: most", "law_error_max", "", offsetof(pcPlayed, law), NUMBER},
    {"residual: most", "residual_max", "", offsetof(pcPlayed, residual), NUMBER},
    {"energy gain: most", "energy_gain_max", "J", offsetof(pcPlayed, energyGain), NUMBER},
    {"momentum error: most", "momentum_error_max", "", offsetof(pcPlayed, momentum), NUMBER},
    {"creep at rest: most", "creep_max", "m/s", offsetof(pcPlayed, creep), NUMBER},
    {"time per step: median", "ms_median", "ms", offsetof(pcPlayed, median), NUMBER},
    {"time per step: p99", "ms_p99", "ms", offsetof(pcPlayed, p99), NUMBER},
    {"core of a layer is met", "core_met", "s", offsetof(pcPlayed, coreMet), MOMENT},
    {"contacts in a step: most", "contacts_max", "", offsetof(pcPlayed, contacts), COUNT},
    {"messages of ODE", "ode_messages", "", offsetof(pcPlayed, messages), FAULTS},
    {"steps not solved as asked", "fallback_steps", "", offsetof(pcPlayed, nativeSteps), FAULTS},
};
enum { QUANTITIES = sizeof quantities / sizeof quantities[0] };

static bool isWhole(const Quantity* q) { return q->kind == FAULTS || q->kind == COUNT; }
static bool isPlain(const Quantity* q) { return q->kind == COUNT || q->kind == MOMENT; }

static double valueOf(const Quantity* q, const pcPlayed* played)
{
    const void* place = (const char*)played + q->place;
    return isWhole(q) ? *(const int*)place : *(const double*)place;
}

/* ---- tables ---- */

typedef struct Comparison {
    const pcPlayOptions* options;
    pcCliPage page;
    char model[MODELS][32];
    pcPlayed played[MODELS];
} Comparison;

static bool isShown(const Comparison* c, const Quantity* q)
{
    bool known = false;
    for (int k = 0; k < MODELS; k++) known |= !isnan(valueOf(q, c->played + k));
    return known || q->kind != MOMENT;
}

/* The best of a row stands out on a terminal, if it is alone. */
static bool stands(const Comparison* c, const Quantity* q, int k)
{
    double value = valueOf(q, c->played + k);
    if (isPlain(q)) return false;
    for (int i = 0; i < MODELS; i++)
        if (i != k && !(valueOf(q, c->played + i) > value)) return false;
    return true;
}

static void printValue(const Comparison* c, const Quantity* q, int k, bool coloured)
{
    double value = valueOf(q, c->played + k);
    bool bright = coloured && stands(c, q, k);
    if (bright) fputs("\033[1;32m", stdout);
    if (isnan(value))
        printf("%12s", "-");
    else
        printf(isWhole(q) ? "%12.0f" : q->kind == MOMENT ? "%12.4f" : "%12.2e", value);
    if (bright) fputs("\033[0m", stdout);
}

static void printTable(const Comparison* c)
{
    bool coloured = isatty(STDOUT_FILENO) && !getenv("NO_COLOR");
    char size[PC_PLAYED_SIZE];
    pcPlayedSize(c->played, size);
    printf("%s: %s\n\n%-28s", c->options->world, size, "");
    for (int k = 0; k < MODELS; k++) printf("%12s", c->model[k]);
    putchar('\n');
    for (int i = 0; i < QUANTITIES; i++) {
        const Quantity* q = quantities + i;
        if (!isShown(c, q)) continue;
        printf("%s%s%-*s", q->name, *q->unit ? ", " : "", 28 - (int)strlen(q->name) - (*q->unit ? 2 : 0), q->unit);
        for (int k = 0; k < MODELS; k++) printValue(c, q, k, coloured);
        putchar('\n');
    }
}

static void printCsv(const Comparison* c)
{
    fputs("quantity,unit", stdout);
    for (int k = 0; k < MODELS; k++) printf(",%s", c->model[k]);
    putchar('\n');
    for (int i = 0; i < QUANTITIES; i++) {
        printf("%s,%s", quantities[i].key, quantities[i].unit);
        for (int k = 0; k < MODELS; k++) {
            double value = valueOf(quantities + i, c->played + k);
            putchar(',');
            if (!isnan(value)) printf("%.9g", value);
        }
        putchar('\n');
    }
}

/* What JSON cannot hold as a number is null. */
static void printJson(const Comparison* c)
{
    const pcPlayed* first = c->played;
    printf("{\"world\": \"");
    for (const char* s = c->options->world; *s; s++)
        printf((unsigned char)*s < 32 ? "\\u%04x" : *s == '"' || *s == '\\' ? "\\%c" : "%c", *s);
    printf("\", \"bodies\": %d, \"joints\": %d, \"steps\": %d, \"step\": %.9g, \"models\": {", first->bodies, first->joints, first->steps,
           first->step);
    for (int k = 0; k < MODELS; k++) {
        printf("%s\n  \"%s\": {", k ? "," : "", c->model[k]);
        for (int i = 0; i < QUANTITIES; i++) {
            double value = valueOf(quantities + i, c->played + k);
            printf("%s\"%s\": ", i ? ", " : "", quantities[i].key);
            if (isfinite(value))
                printf("%.9g", value);
            else
                fputs("null", stdout);
        }
        putchar('}');
    }
    puts("\n}}");
}

/* ---- the three plays ---- */

static pcStatus playOne(Comparison* c, int k)
{
    static const char* const models[MODELS] = {" model=native", " model=quick", ""};
    const pcPlayOptions* o = c->options;
    char settings[PC_SETTINGS_TEXT + 32], csv[PC_PATH_LENGTH];
    snprintf(settings, sizeof settings, "%s%s", o->settings.text, models[k]);
    const char* name = k < 2 ? models[k] + strlen(" model=") : "ours";
    if (o->csv && snprintf(csv, sizeof csv, "%s.%s", o->csv, name) >= (int)sizeof csv)
        return pcPlay(&(pcPlayPlan){.file = o->path, .csv = o->csv, .settings = settings}, c->played + k); /* refused: too long */
    pcPlayPlan plan = {.file = o->path, .settings = settings, .step = o->step, .time = o->time, .csv = o->csv ? csv : NULL, .name = name};
    plan.from = o->from;
    pcCliPageRecord(&c->page, &plan, name);
    pcStatus status = pcPlay(&plan, c->played + k);
    snprintf(c->model[k], sizeof c->model[k], "%s", k < 2 ? name : pcModelName(c->played[k].settings.model));
    if (status == PC_OK) pcCliPagePlayed(&c->page, c->model[k], c->played + k);
    return status;
}

/* ---- the page ---- */

static int writePage(Comparison* c)
{
    static double value[QUANTITIES][MODELS];
    pcPageRow row[QUANTITIES];
    const char* column[MODELS];
    char subtitle[PC_PLAYED_SIZE];
    int rows = 0;
    pcPlayedSize(c->played, subtitle);
    for (int k = 0; k < MODELS; k++) column[k] = c->model[k];
    for (int i = 0; i < QUANTITIES; i++) {
        const Quantity* q = quantities + i;
        for (int k = 0; k < MODELS; k++) value[i][k] = valueOf(q, c->played + k);
        if (isShown(c, q)) row[rows++] = (pcPageRow){q->name, q->unit, value[i], isPlain(q)};
    }
    pcPageTable verdict = {"Verdict", true, MODELS, rows, column, row};
    pcPage content = {.title = c->options->world, .subtitle = subtitle, .verdict = &verdict};
    return pcCliPageEnd(&c->page, &content);
}

int pcCliCompare(int argc, char** argv)
{
    pcPlayOptions options;
    static Comparison c;
    int code = pcPlayOptionsRead(&options, "compare", help, argc, argv);
    if (!options.world) return code;
    pcSettings settings = pcDefaultSettings();
    pcSettingsParse(&settings, options.settings.text);
    if (settings.model == PC_MODEL_NATIVE || settings.model == PC_MODEL_QUICK)
        return pcCliBadInput("'compare' has a column for model=%s anyway; name ours, or none", pcModelName(settings.model));
    if (options.quiet) return pcCliBadInput("'compare' has no option '--quiet'; 'pcontact compare --help' explains it");
    c.options = &options;
    code = pcCliPageBegin(&c.page, options.page, "compare", argc, argv);
    if (code != 0) return code;
    for (int k = 0; k < MODELS; k++)
        if (playOne(&c, k) != PC_OK) {
            pcCliPageDrop(&c.page);
            return pcCliBadInput("%s", pcLastError());
        }
    if (!options.format)
        printTable(&c);
    else if (strcmp(options.format, "csv") == 0)
        printCsv(&c);
    else
        printJson(&c);
    const pcPlayed* ours = c.played + MODELS - 1;
    if (!options.format && ours->skipped[0]) printf("\nnot read: %s\n", ours->skipped);
    if (options.csv && !options.format) printf("\nwritten: %s.{native,quick,ours}.{states,steps}.csv\n", options.csv);
    if (options.page && (code = writePage(&c)) != 0) return code;
    if (options.page && !options.format) printf("\nwritten: %s\n", options.page);
    return ours->nativeSteps == 0 && ours->finite ? PC_CLI_OK : PC_CLI_CHECK_FAILED;
}
