#include "adapters/sweep/plan.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sweep/random.h"
#include "base/status.h"

const char* pcTrialStatusName(int status)
{
    static const char* const names[PC_TRIAL_STATUSES] = {"ok", "native", "lost", "failed"};
    return status >= 0 && status < PC_TRIAL_STATUSES ? names[status] : "failed";
}

/* ---- drawing ---- */

void pcPlanDraw(const pcPlan* plan, long long trial, double* values)
{
    long long cell = trial % plan->cells;
    for (int i = 0; i < plan->varies; i++) {
        const pcVary* v = plan->vary + i;
        double random[2];
        int place = 0;
        if (v->kind == PC_VARY_GRIDDED) place = (int)(cell % v->count), cell /= v->count;
        pcRandomPair(plan->seed, (uint64_t)trial, (uint32_t)i, random);
        values[i] = pcVaryValue(v, place, random);
    }
}

/* ---- columns ---- */

static const char* const linkFields[] = {"x", "y", "z", "roll", "pitch", "yaw", "vx", "vy", "vz", "wx", "wy", "wz"};
enum { POSE_FIELDS = 6, LINK_FIELDS = sizeof linkFields / sizeof linkFields[0] };

int pcPlanColumn(const pcPlan* plan, pcColumnKind kind)
{
    for (int i = 0; i < plan->columns; i++)
        if (plan->column[i].kind == kind) return i;
    return -1;
}

static int findColumn(const pcPlan* plan, const char* name)
{
    for (int i = 0; i < plan->columns; i++)
        if (strcmp(plan->column[i].name, name) == 0) return i;
    return -1;
}

static int addColumn(pcPlan* plan, const char* name, pcColumnKind kind, int which, int field)
{
    if (plan->columns == PC_SWEEP_COLUMNS) return -1;
    pcColumn* c = plan->column + plan->columns;
    *c = (pcColumn){.kind = kind, .which = which, .field = field};
    snprintf(c->name, sizeof c->name, "%s", name);
    return plan->columns++;
}

static int addLinkColumn(pcPlan* plan, int link, int field)
{
    char name[PC_VARY_NAME + 16];
    if (snprintf(name, sizeof name, "end.%s.%s", plan->scene->link[link].name, linkFields[field]) >= (int)sizeof name) return -1;
    int found = findColumn(plan, name);
    return found >= 0 ? found : addColumn(plan, name, PC_COLUMN_LINK, link, field);
}

/* The one link that moves and is, or belongs to, the object; -1: none, or several. */
static int linkOf(const pcScene* scene, const char* object)
{
    int found = -1, count = 0;
    for (int i = 0; i < scene->links; i++) {
        if (scene->link[i].fixed || !pcIsPartOf(scene->link[i].name, object)) continue;
        found = i, count++;
    }
    return count == 1 ? found : -1;
}

/* A name in a formula: a column, or the end of a link that gets one now. */
static int findName(void* context, const char* name)
{
    pcPlan* plan = context;
    char object[PC_VARY_NAME];
    int found = findColumn(plan, name);
    const char* dot = strrchr(name, '.');
    if (found >= 0 || strncmp(name, "end.", 4) != 0 || dot < name + 4) return found;
    snprintf(object, sizeof object, "%.*s", (int)(dot - name) - 4, name + 4);
    int link = linkOf(plan->scene, object);
    for (int k = 0; k < LINK_FIELDS && link >= 0; k++)
        if (strcmp(dot + 1, linkFields[k]) == 0) return addLinkColumn(plan, link, k);
    return -1;
}

static void addFixedColumns(pcPlan* plan)
{
    for (int i = 0; i < plan->varies; i++) addColumn(plan, plan->vary[i].name, PC_COLUMN_PARAMETER, i, 0);
    addColumn(plan, "status", PC_COLUMN_STATUS, 0, 0);
    addColumn(plan, "success", PC_COLUMN_SUCCESS, 0, 0);
    addColumn(plan, "end.time", PC_COLUMN_TIME, 0, 0);
    addColumn(plan, "end.rest", PC_COLUMN_REST, 0, 0);
    addColumn(plan, "most.penetration", PC_COLUMN_PENETRATION, 0, 0);
    addColumn(plan, "most.residual", PC_COLUMN_RESIDUAL, 0, 0);
    addColumn(plan, "missed", PC_COLUMN_MISSED, 0, 0);
}

static void addFewLinks(pcPlan* plan)
{
    int moving = 0;
    for (int i = 0; i < plan->scene->links; i++) moving += !plan->scene->link[i].fixed;
    for (int i = 0; i < plan->scene->links && moving <= PC_SWEEP_FEW_LINKS; i++)
        for (int k = 0; k < POSE_FIELDS && !plan->scene->link[i].fixed; k++) addLinkColumn(plan, i, k);
}

static pcStatus addMeasure(pcPlan* plan, const char* text)
{
    char name[PC_VARY_NAME];
    const char* equals = strchr(text, '=');
    size_t length = equals ? strcspn(text, "= ") : 0;
    if (length == 0 || length >= sizeof name) return pcFail(PC_ERROR_ARGUMENT, "'%.80s' should read NAME=FORMULA", text);
    memcpy(name, text, length);
    name[length] = 0;
    if (findColumn(plan, name) >= 0) return pcFail(PC_ERROR_ARGUMENT, "'%.80s' is measured already", name);
    if (strpbrk(name, ",\"\n")) return pcFail(PC_ERROR_ARGUMENT, "'%.80s' cannot name a measure", name);
    if (plan->measures == PC_SWEEP_MEASURES) return pcFail(PC_ERROR_ARGUMENT, "there are more than %d measures", PC_SWEEP_MEASURES);
    pcStatus status = pcExpressionParse(equals + 1, findName, plan, plan->measure + plan->measures);
    if (status != PC_OK) return status;
    if (addColumn(plan, name, PC_COLUMN_MEASURE, plan->measures, 0) < 0) return pcFail(PC_ERROR_ARGUMENT, "there are too many columns");
    plan->measures++;
    return PC_OK;
}

static pcStatus makeColumns(const pcSweepOrder* order, pcPlan* plan)
{
    addFixedColumns(plan);
    addFewLinks(plan);
    pcStatus status = PC_OK;
    for (int i = 0; i < order->measures && status == PC_OK; i++) status = addMeasure(plan, order->measure[i]);
    if (status == PC_OK && order->success) status = pcExpressionParse(order->success, findName, plan, &plan->success);
    return status;
}

/* ---- parameters ---- */

static int extremesOf(const pcVary* v, double* out)
{
    if (v->kind != PC_VARY_CHOICE) {
        out[0] = v->first, out[1] = v->kind == PC_VARY_NORMAL ? v->first : v->second;
        return 2;
    }
    for (int i = 0; i < v->count; i++) out[i] = v->words ? i : v->number[i];
    return v->count;
}

/* Every value that a range ends with can be set, and to what it says. */
static pcStatus tryEnds(pcPlan* plan, int which)
{
    double extreme[PC_VARY_CHOICES];
    pcTrialWorld world;
    int count = extremesOf(plan->vary + which, extreme);
    pcStatus status = pcTrialWorldMake(plan->scene, &plan->settings, plan->step, plan->time, &world);
    if (status != PC_OK) return status;
    for (int i = 0; i < count && status == PC_OK; i++) {
        pcTrialWorldReset(&world, &plan->settings, plan->step, plan->time);
        status = pcTargetSet(plan->target + which, plan->vary + which, extreme[i], &world);
        plan->serial |= world.settings.model == PC_MODEL_QUICK;
    }
    pcTrialWorldFree(&world);
    return status;
}

static pcStatus readVaries(const pcSweepOrder* order, pcPlan* plan)
{
    pcStatus status = PC_OK;
    if (order->varies > PC_SWEEP_VARIES) return pcFail(PC_ERROR_ARGUMENT, "more than %d parameters are varied", PC_SWEEP_VARIES);
    plan->vary = calloc((size_t)order->varies + 1, sizeof *plan->vary);
    if (!plan->vary) return pcFail(PC_ERROR_MEMORY, "out of memory for a sweep");
    for (int i = 0; i < order->varies && status == PC_OK; i++) {
        status = pcVaryParse(order->vary[i], plan->vary + i);
        for (int k = 0; k < i && status == PC_OK; k++)
            if (strcmp(plan->vary[k].name, plan->vary[i].name) == 0)
                status = pcFail(PC_ERROR_ARGUMENT, "'%s' is varied twice", plan->vary[i].name);
        if (status == PC_OK) status = pcTargetFind(plan->scene, plan->vary[i].name, plan->target + i);
        if (status != PC_OK) break;
        plan->varies = i + 1;
        status = tryEnds(plan, i);
    }
    return status;
}

static pcStatus countTrials(const pcSweepOrder* order, pcPlan* plan)
{
    double cells = 1.0;
    for (int i = 0; i < plan->varies; i++)
        if (plan->vary[i].kind == PC_VARY_GRIDDED) cells *= plan->vary[i].count, plan->grids++;
    plan->repeats = order->trials >= 0 ? order->trials : plan->grids > 0 ? 1 : 100;
    if (plan->repeats < 1) return pcFail(PC_ERROR_ARGUMENT, "a sweep needs at least one trial");
    if (!(cells * (double)plan->repeats <= PC_SWEEP_MOST_TRIALS))
        return pcFail(PC_ERROR_ARGUMENT, "%.0f cells with %lld trials each: more than %d trials", cells, plan->repeats,
                      PC_SWEEP_MOST_TRIALS);
    plan->cells = (long long)cells, plan->trials = plan->cells * plan->repeats;
    return PC_OK;
}

/* ---- as text ---- */

uint64_t pcHash(uint64_t hash, const void* bytes, size_t size)
{
    const unsigned char* byte = bytes;
    if (hash == 0) hash = 14695981039346656037ull;
    for (size_t i = 0; i < size; i++) hash = (hash ^ byte[i]) * 1099511628211ull;
    return hash;
}

static uint64_t hashShape(uint64_t hash, const pcSceneShape* shape)
{
    hash = pcHash(hash, shape->size, sizeof shape->size);
    hash = pcHash(hash, shape->normal, sizeof shape->normal);
    for (int i = 0; i < shape->pieces; i++) hash = pcHash(hash, shape->piece[i].xyz, 3 * (size_t)shape->piece[i].count * sizeof(double));
    return hash;
}

/* The numbers of the world, meshes included: a file that was changed in between is another world. */
static uint64_t hashScene(const pcScene* s)
{
    uint64_t hash = pcHash(0, s->physics.gravity, sizeof s->physics.gravity);
    for (int i = 0; i < s->links; i++) {
        const pcSceneLink* l = s->link + i;
        hash = pcHash(hash, l->name, strlen(l->name));
        hash = pcHash(hash, &l->pose, sizeof l->pose);
        hash = pcHash(hash, &l->mass, sizeof l->mass);
        hash = pcHash(hash, l->inertia, sizeof l->inertia);
        hash = pcHash(hash, l->velocity, sizeof l->velocity);
    }
    for (int i = 0; i < s->collisions; i++) {
        const pcSceneCollision* c = s->collision + i;
        hash = pcHash(hash, &c->pose, sizeof c->pose);
        hash = pcHash(hash, &c->surface.mu, offsetof(pcSceneSurface, passive));
        hash = hashShape(hash, &c->shape);
    }
    for (int i = 0; i < s->joints; i++) {
        const pcSceneJoint* j = s->joint + i;
        hash = pcHash(hash, &j->anchor, sizeof j->anchor);
        hash = pcHash(hash, j->axis, sizeof j->axis);
        hash = pcHash(hash, &j->pitch, sizeof *j - offsetof(pcSceneJoint, pitch));
    }
    return hash;
}

typedef struct Text {
    char* text;
    size_t used, room;
    bool full;
} Text;

__attribute__((format(printf, 2, 3))) static void put(Text* t, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(t->text + t->used, t->room - t->used, format, arguments);
    va_end(arguments);
    t->full |= length < 0 || (size_t)length >= t->room - t->used;
    if (!t->full) t->used += (size_t)length;
}

static void putString(Text* t, const char* text)
{
    put(t, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            put(t, "\\%c", *text);
        else if ((unsigned char)*text < 0x20)
            put(t, " ");
        else
            put(t, "%c", *text);
    }
    put(t, "\"");
}

static void putEntry(Text* t, const char* name, const char* value)
{
    put(t, "  \"%s\": ", name);
    putString(t, value);
    put(t, ",\n");
}

static pcStatus describe(const pcSweepOrder* order, pcPlan* plan)
{
    char settings[2048], name[PC_VARY_NAME + 8];
    Text t = {.text = malloc(1 << 18), .room = 1 << 18};
    if (!t.text) return pcFail(PC_ERROR_MEMORY, "out of memory for a sweep");
    pcSettingsPrint(&plan->settings, settings, sizeof settings);
    put(&t, "{\n");
    putEntry(&t, "pcontact", pcVersion());
    putEntry(&t, "world", order->world);
    put(&t, "  \"world_hash\": \"%016llx\",\n", (unsigned long long)hashScene(plan->scene));
    putEntry(&t, "settings", settings);
    put(&t, "  \"step\": %.17g,\n  \"time\": %.17g,\n  \"rest\": %.17g,\n", plan->step, plan->time, plan->rest);
    put(&t, "  \"seed\": %llu,\n  \"trials\": %lld,\n  \"cells\": %lld,\n", (unsigned long long)plan->seed, plan->trials, plan->cells);
    for (int i = 0; i < plan->varies; i++) {
        snprintf(name, sizeof name, "vary %s", plan->vary[i].name);
        putEntry(&t, name, plan->vary[i].text);
    }
    for (int i = 0; i < order->measures; i++) {
        snprintf(name, sizeof name, "measure %d", i + 1);
        putEntry(&t, name, order->measure[i]);
    }
    put(&t, "  \"success\": ");
    putString(&t, order->success ? order->success : "");
    put(&t, "\n}\n");
    plan->text = t.text;
    return t.full ? pcFail(PC_ERROR_ARGUMENT, "the options of the sweep are too long") : PC_OK;
}

/* ---- all of it ---- */

static pcStatus chooseSettings(const pcSweepOrder* order, pcPlan* plan)
{
    plan->settings = order->scene->physics.settings;
    plan->step = order->step > 0.0 ? order->step : order->scene->physics.step;
    plan->time = order->time > 0.0 ? order->time : order->scene->physics.time > 0.0 ? order->scene->physics.time : 10.0;
    plan->rest = order->rest;
    pcStatus status = pcSettingsParse(&plan->settings, order->settings);
    if (status == PC_OK && (plan->settings.report[0] || plan->settings.dump[0]))
        status = pcFail(PC_ERROR_ARGUMENT, "the trials of a sweep would all write the same report or dump: play one of them by 'run'");
    plan->serial = plan->settings.model == PC_MODEL_QUICK;
    return status;
}

pcStatus pcPlanMake(const pcSweepOrder* order, pcPlan** out)
{
    pcPlan* plan = calloc(1, sizeof *plan);
    if (!plan) return pcFail(PC_ERROR_MEMORY, "out of memory for a sweep");
    plan->scene = order->scene, plan->seed = order->seed;
    pcStatus status = chooseSettings(order, plan);
    if (status == PC_OK) status = readVaries(order, plan);
    if (status == PC_OK) status = countTrials(order, plan);
    if (status == PC_OK) status = makeColumns(order, plan);
    if (status == PC_OK) status = describe(order, plan);
    if (status == PC_OK)
        *out = plan;
    else
        pcPlanFree(plan);
    return status;
}

void pcPlanFree(pcPlan* plan)
{
    if (!plan) return;
    for (int i = 0; i < plan->measures; i++) pcExpressionFree(plan->measure[i]);
    pcExpressionFree(plan->success);
    free(plan->vary);
    free(plan->text);
    free(plan);
}

const pcVary* pcPlanGrid(const pcPlan* plan, int which)
{
    for (int i = 0; i < plan->varies; i++)
        if (plan->vary[i].kind == PC_VARY_GRIDDED && which-- == 0) return plan->vary + i;
    return NULL;
}
