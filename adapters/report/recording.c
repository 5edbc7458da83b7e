#include "adapters/report/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Frames beyond this are thinned out: more than a page can hold, however well it packs. */
static const size_t MOST_BYTES = (size_t)48 << 20;

struct pcRecordedBody {
    dBodyID body;
    int number;
};

/* ---- bodies by address ---- */

static int byAddress(const void* a, const void* b)
{
    uintptr_t x = (uintptr_t)((const struct pcRecordedBody*)a)->body, y = (uintptr_t)((const struct pcRecordedBody*)b)->body;
    return (x > y) - (x < y);
}

static void learnBodies(pcRecording* r, const pcStage* stage)
{
    for (int i = 0; i < r->scene->links; i++) r->bodyOfLink[i] = -1;
    for (int i = 0; i < r->bodies; i++) {
        r->known[i] = (struct pcRecordedBody){stage->body[i].body, i};
        r->bodyOfLink[stage->body[i].link] = i;
        snprintf(r->bodyName[i], sizeof r->bodyName[i], "%s", stage->body[i].name);
    }
    qsort(r->known, (size_t)r->bodies, sizeof *r->known, byAddress);
}

static int numberOf(const pcRecording* r, dBodyID body)
{
    struct pcRecordedBody wanted = {body, 0}, *found = NULL;
    if (body && r->bodies > 0) found = bsearch(&wanted, r->known, (size_t)r->bodies, sizeof wanted, byAddress);
    return found ? found->number : -1;
}

/* ---- one frame ---- */

static int16_t unitToShort(double x) { return (int16_t)lrint(32767.0 * fmax(-1.0, fmin(1.0, isnan(x) ? 0.0 : x))); }

/* To one part in 2^13, 1.2e-4. */
static float rounded(double x)
{
    int power;
    double part = frexp(x, &power);
    return isfinite(x) ? (float)ldexp(rint(8192.0 * part), power - 13) : (float)x;
}

static void readBody(dBodyID body, pcFrameBody* out)
{
    const dReal *x = dBodyGetPosition(body), *q = dBodyGetQuaternion(body), *v = dBodyGetLinearVel(body), *w = dBodyGetAngularVel(body);
    for (int k = 0; k < 3; k++) out->position[k] = (float)x[k];
    for (int k = 0; k < 4; k++) out->quaternion[k] = unitToShort(q[(k + 1) % 4]);
    for (int k = 0; k < 6; k++) out->velocity[k] = rounded(k < 3 ? v[k] : w[k - 3]);
}

/* The contacts of the last step; how many. */
static int readContacts(pcRecording* r, const pcStage* stage)
{
    int count = 0;
    if (pcWorldContacts(stage->world, r->contact, r->contactRoom, &count) != PC_OK) return 0;
    if (count <= r->contactRoom) return count;
    pcWorldContact* more = realloc(r->contact, 2 * (size_t)count * sizeof *more);
    if (!more) {
        r->failed = true;
        return 0;
    }
    r->contact = more, r->contactRoom = 2 * count;
    return pcWorldContacts(stage->world, r->contact, r->contactRoom, &count) == PC_OK ? count : 0;
}

static void copyContact(const pcRecording* r, const pcWorldContact* c, pcFrameContact* out)
{
    *out = (pcFrameContact){.body = {numberOf(r, c->body1), numberOf(r, c->body2)}, .kind = c->kind};
    for (int k = 0; k < 3; k++) {
        out->point[k] = (float)c->point[k];
        out->normal[k] = (float)c->normal[k];
        out->impulse[k] = (float)c->impulse[k];
    }
}

static void freeFrame(pcFrame* frame)
{
    free(frame->body);
    free(frame->contact);
}

static size_t frameBytes(const pcRecording* r, int contacts)
{
    return (size_t)r->bodies * sizeof(pcFrameBody) + (size_t)contacts * sizeof(pcFrameContact);
}

static bool frameRoom(pcRecording* r)
{
    if (r->frames < r->frameRoom) return true;
    int room = 2 * r->frameRoom + 64;
    pcFrame* more = realloc(r->frame, (size_t)room * sizeof *more);
    if (!more) return false;
    r->frame = more, r->frameRoom = room;
    return true;
}

static void addFrame(pcRecording* r, const pcStage* stage, int step)
{
    int contacts = step == 0 ? 0 : readContacts(r, stage);
    pcFrame frame = {step, contacts, malloc((size_t)r->bodies * sizeof *frame.body + 1),
                     malloc((size_t)contacts * sizeof *frame.contact + 1)};
    if (!frame.body || !frame.contact || !frameRoom(r)) {
        freeFrame(&frame);
        r->failed = true;
        return;
    }
    for (int i = 0; i < r->bodies; i++) readBody(stage->body[i].body, frame.body + i);
    for (int i = 0; i < contacts; i++) copyContact(r, r->contact + i, frame.contact + i);
    r->frame[r->frames++] = frame;
    r->bytes += frameBytes(r, contacts);
}

/* ---- the run ---- */

static bool allocate(pcRecording* r)
{
    r->known = malloc((size_t)r->bodies * sizeof *r->known + 1);
    r->bodyName = malloc((size_t)r->bodies * sizeof *r->bodyName + 1);
    r->bodyOfLink = malloc((size_t)r->scene->links * sizeof *r->bodyOfLink + 1);
    bool good = r->known && r->bodyName && r->bodyOfLink;
    for (int k = 0; k < PC_SERIES; k++) good = (r->series[k] = malloc((size_t)r->steps * sizeof(float) + 1)) && good;
    return good;
}

pcStatus pcRecordingBegin(pcRecording* r, const pcScene* scene, const pcStage* stage, double h, int steps)
{
    r->h = h, r->steps = steps, r->stride = 1, r->bodies = stage->bodies, r->taken = 0;
    r->scene = pcSceneShare(scene);
    if (!allocate(r)) return pcFail(PC_ERROR_MEMORY, "out of memory for a recording of %d steps", steps);
    learnBodies(r, stage);
    addFrame(r, stage, 0);
    return pcRecordingStatus(r);
}

static void addSeries(pcRecording* r, const pcStage* stage)
{
    pcStepReport report;
    pcWorldReportExtra extra;
    bool known = pcWorldReport(stage->world, &report) == PC_OK && pcWorldReportMore(stage->world, &extra) == PC_OK;
    for (int k = 0; k < PC_SERIES; k++) r->series[k][r->taken] = NAN;
    if (!known) return;
    double iterations = extra.native ? (double)NAN : (double)report.iterations;
    const double values[PC_SERIES] = {
        report.infeasibilityContact,    report.penetration, report.infeasibilityJoint, report.residual, report.energy, iterations,
        extra.milliseconds[PC_HOST_ALL]};
    for (int k = 0; k < PC_SERIES; k++) r->series[k][r->taken] = (float)values[k];
}

void pcRecordingStep(pcRecording* r, const pcStage* stage)
{
    if (r->failed || r->taken >= r->steps) return;
    addSeries(r, stage);
    r->taken++;
    if (r->taken % r->stride == 0 || r->taken == r->steps) addFrame(r, stage, r->taken);
    while (r->bytes > MOST_BYTES && r->frames > 2) pcRecordingThin(r);
}

pcStatus pcRecordingStatus(const pcRecording* r)
{
    return r->failed ? pcFail(PC_ERROR_MEMORY, "out of memory for a recording of %d steps", r->steps) : PC_OK;
}

void pcRecordingThin(pcRecording* r)
{
    int kept = 0;
    r->stride *= 2;
    for (int i = 0; i < r->frames; i++) {
        pcFrame* frame = r->frame + i;
        if (frame->step % r->stride == 0 || frame->step == r->steps) {
            r->frame[kept++] = *frame;
            continue;
        }
        r->bytes -= frameBytes(r, frame->contacts);
        freeFrame(frame);
    }
    r->frames = kept;
}

void pcRecordingFree(pcRecording* r)
{
    for (int i = 0; i < r->frames; i++) freeFrame(r->frame + i);
    for (int k = 0; k < PC_SERIES; k++) free(r->series[k]);
    free(r->frame);
    free(r->known);
    free(r->bodyName);
    free(r->bodyOfLink);
    free(r->contact);
    pcSceneFree(r->scene);
    *r = (pcRecording){0};
}
