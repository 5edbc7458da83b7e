#include "adapters/report/scenery.h"

#include <math.h>

#include "base/pose.h"

/* A page draws at most as many points of a series as anyone can see; the largest of each group is kept, so that no peak is lost. */
enum { MOST_POINTS = 4000 };

/* ---- shapes ---- */

static void writePose(pcJson* json, const pcPose* pose)
{
    const double *x = pose->position, *q = pose->quaternion, all[7] = {x[0], x[1], x[2], q[0], q[1], q[2], q[3]};
    pcJsonKey(json, "pose");
    pcJsonNumbers(json, all, 7);
}

static void beginShape(pcJson* json, const char* kind, int body, const pcPose* pose)
{
    pcJsonOpen(json, '{');
    pcJsonKey(json, "kind"), pcJsonText(json, kind);
    pcJsonKey(json, "body"), pcJsonNumber(json, body);
    writePose(json, pose);
}

static void writeShape(pcJson* json, const pcSceneShape* shape, int body, const pcPose* pose)
{
    static const char* const kinds[] = {"box", "sphere", "cylinder", "capsule", "ellipsoid", "plane"};
    if (shape->kind != PC_SCENE_HULLS) {
        beginShape(json, kinds[shape->kind], body, pose);
        pcJsonKey(json, "size"), pcJsonNumbers(json, shape->size, 3);
        if (shape->kind == PC_SCENE_PLANE) pcJsonKey(json, "normal"), pcJsonNumbers(json, shape->normal, 3);
        pcJsonClose(json, '}');
        return;
    }
    for (int i = 0; i < shape->pieces; i++) {
        beginShape(json, "hull", body, pose);
        pcJsonKey(json, "points"), pcJsonNumbers(json, shape->piece[i].xyz, 3 * shape->piece[i].count);
        pcJsonClose(json, '}');
    }
}

/* A body's frame is at the centre of mass, in the axes of its link; what does not move stands in the world. A plane never moves. */
static void writeShapes(pcJson* json, const pcRecording* r)
{
    const pcScene* scene = r->scene;
    pcJsonKey(json, "shapes");
    pcJsonOpen(json, '[');
    for (int i = 0; i < scene->collisions; i++) {
        const pcSceneCollision* c = scene->collision + i;
        const pcSceneLink* link = scene->link + c->link;
        int body = c->shape.kind == PC_SCENE_PLANE ? -1 : r->bodyOfLink[c->link];
        pcPose pose = body < 0 ? pcPoseCompose(&link->pose, &c->pose) : c->pose;
        for (int k = 0; k < 3 && body >= 0; k++) pose.position[k] -= link->centre[k];
        writeShape(json, &c->shape, body, &pose);
    }
    pcJsonClose(json, ']');
}

static void writeBodies(pcJson* json, const pcRecording* r)
{
    pcJsonKey(json, "bodies");
    pcJsonOpen(json, '[');
    for (int i = 0; i < r->bodies; i++) {
        pcJsonOpen(json, '{');
        pcJsonKey(json, "name"), pcJsonText(json, r->bodyName[i]);
        pcJsonClose(json, '}');
    }
    pcJsonClose(json, ']');
}

/* ---- frames ---- */

/* Body by body, then frame by frame: what rests packs to nothing. */
static void writeFrames(pcJson* json, pcNumbers* numbers, const pcRecording* r)
{
    size_t frames = (size_t)r->frames, all = frames * (size_t)r->bodies;
    pcJsonKey(json, "frameStep");
    int32_t* step = pcNumbersAdd(numbers, json, PC_NUMBER_I32, frames);
    for (int f = 0; step && f < r->frames; f++) step[f] = r->frame[f].step;
    pcJsonKey(json, "position");
    float* position = pcNumbersAdd(numbers, json, PC_NUMBER_F32, 3 * all);
    for (size_t i = 0; position && i < all; i++)
        for (int k = 0; k < 3; k++) position[3 * i + (size_t)k] = r->frame[i % frames].body[i / frames].position[k];
    pcJsonKey(json, "quaternion");
    int16_t* quaternion = pcNumbersAdd(numbers, json, PC_NUMBER_I16, 4 * all);
    for (size_t i = 0; quaternion && i < all; i++)
        for (int k = 0; k < 4; k++) quaternion[4 * i + (size_t)k] = r->frame[i % frames].body[i / frames].quaternion[k];
    pcJsonKey(json, "velocity");
    float* velocity = pcNumbersAdd(numbers, json, PC_NUMBER_F32, 6 * all);
    for (size_t i = 0; velocity && i < all; i++)
        for (int k = 0; k < 6; k++) velocity[6 * i + (size_t)k] = r->frame[i % frames].body[i / frames].velocity[k];
}

/* ---- contacts ---- */

typedef struct Bounds {
    size_t count;
    double low[3], high[3], impulse; /* of the points; the largest part of an impulse */
} Bounds;

static Bounds boundsOf(const pcRecording* r)
{
    Bounds b = {0, {HUGE_VAL, HUGE_VAL, HUGE_VAL}, {-HUGE_VAL, -HUGE_VAL, -HUGE_VAL}, 0.0};
    for (int f = 0; f < r->frames; f++)
        for (int i = 0; i < r->frame[f].contacts; i++, b.count++)
            for (int k = 0; k < 3; k++) {
                const pcFrameContact* c = r->frame[f].contact + i;
                if (isfinite(c->point[k])) b.low[k] = fmin(b.low[k], c->point[k]), b.high[k] = fmax(b.high[k], c->point[k]);
                if (isfinite(c->impulse[k])) b.impulse = fmax(b.impulse, fabs((double)c->impulse[k]));
            }
    for (int k = 0; k < 3; k++)
        if (!(b.low[k] < b.high[k])) b.low[k] = isfinite(b.low[k]) ? b.low[k] - 0.5 : 0.0, b.high[k] = b.low[k] + 1.0;
    if (b.impulse <= 0.0) b.impulse = 1.0;
    return b;
}

static double within(double x, double low, double high) { return x > low ? (x < high ? x : high) : low; } /* NaN: low */

/* Places to one part in 65535 of their range, impulses to one in 32767 of the largest: enough to draw, a third of the bytes. */
static void fillPoint(const pcFrameContact* c, const Bounds* b, int16_t* out)
{
    for (int k = 0; k < 3; k++)
        out[k] = (int16_t)(lrint(65535.0 * within(((double)c->point[k] - b->low[k]) / (b->high[k] - b->low[k]), 0.0, 1.0)) - 32768);
}

static void fillImpulse(const pcFrameContact* c, const Bounds* b, int16_t* out)
{
    for (int k = 0; k < 3; k++)
        out[k] = (int16_t)lrint(32767.0 * within(isnan(c->impulse[k]) ? 0.0 : (double)c->impulse[k] / b->impulse, -1.0, 1.0));
}

/* One array for all contacts, filled by `fill`-like statements: F is what to do with contact c at place i. */
#define EACH_CONTACT(r, F)                                          \
    for (size_t f_ = 0, i = 0; f_ < (size_t)(r)->frames; f_++)      \
        for (int j_ = 0; j_ < (r)->frame[f_].contacts; j_++, i++) { \
            const pcFrameContact* c = (r)->frame[f_].contact + j_;  \
            F;                                                      \
        }

static void writeContacts(pcJson* json, pcNumbers* numbers, const pcRecording* r)
{
    Bounds b = boundsOf(r);
    pcJsonOpen(json, '{');
    pcJsonKey(json, "low"), pcJsonNumbers(json, b.low, 3);
    pcJsonKey(json, "high"), pcJsonNumbers(json, b.high, 3);
    pcJsonKey(json, "impulseScale"), pcJsonNumber(json, b.impulse);
    pcJsonKey(json, "count");
    int32_t* count = pcNumbersAdd(numbers, json, PC_NUMBER_I32, (size_t)r->frames);
    for (int f = 0; count && f < r->frames; f++) count[f] = r->frame[f].contacts;
    pcJsonKey(json, "body");
    int32_t* body = pcNumbersAdd(numbers, json, PC_NUMBER_I32, 2 * b.count);
    if (body) EACH_CONTACT(r, (body[2 * i] = c->body[0], body[2 * i + 1] = c->body[1]));
    pcJsonKey(json, "kind");
    int8_t* kind = pcNumbersAdd(numbers, json, PC_NUMBER_I8, b.count);
    if (kind) EACH_CONTACT(r, kind[i] = (int8_t)c->kind);
    pcJsonKey(json, "point");
    int16_t* point = pcNumbersAdd(numbers, json, PC_NUMBER_I16, 3 * b.count);
    if (point) EACH_CONTACT(r, fillPoint(c, &b, point + 3 * i));
    pcJsonKey(json, "normal");
    int8_t* normal = pcNumbersAdd(numbers, json, PC_NUMBER_I8, 3 * b.count);
    if (normal) EACH_CONTACT(r, for (size_t k = 0; k < 3; k++) normal[3 * i + k] = (int8_t)lrint(127.0 * within(c->normal[k], -1.0, 1.0)));
    pcJsonKey(json, "impulse");
    int16_t* impulse = pcNumbersAdd(numbers, json, PC_NUMBER_I16, 3 * b.count);
    if (impulse) EACH_CONTACT(r, fillImpulse(c, &b, impulse + 3 * i));
    pcJsonClose(json, '}');
}

/* ---- series ---- */

static float largestOf(const float* value, int from, int to)
{
    float most = value[from];
    for (int i = from + 1; i < to; i++)
        if (isnan(most) || value[i] > most) most = value[i];
    return most;
}

static void writeSeries(pcJson* json, pcNumbers* numbers, const pcRecording* r)
{
    static const char* const names[PC_SERIES] = {
        "infeasibility_contact", "penetration", "infeasibility_joint", "residual", "energy", "iterations", "ms"};
    int group = (r->taken + MOST_POINTS - 1) / MOST_POINTS, points = group > 0 ? (r->taken + group - 1) / group : 0;
    pcJsonOpen(json, '{');
    pcJsonKey(json, "time");
    float* time = pcNumbersAdd(numbers, json, PC_NUMBER_F32, (size_t)points);
    for (int i = 0; time && i < points; i++) time[i] = (float)(fmin((i + 1.0) * group, r->taken) * r->h);
    for (int s = 0; s < PC_SERIES; s++) {
        pcJsonKey(json, names[s]);
        float* value = pcNumbersAdd(numbers, json, PC_NUMBER_F32, (size_t)points);
        for (int i = 0; value && i < points; i++)
            value[i] = largestOf(r->series[s], i * group, i * group + group < r->taken ? i * group + group : r->taken);
    }
    pcJsonClose(json, '}');
}

/* ---- all ---- */

static void writeRun(pcJson* json, pcNumbers* numbers, const pcRecording* r)
{
    pcJsonOpen(json, '{');
    pcJsonKey(json, "name"), pcJsonText(json, r->name);
    pcJsonKey(json, "h"), pcJsonNumber(json, r->h);
    pcJsonKey(json, "steps"), pcJsonNumber(json, r->taken);
    pcJsonKey(json, "stride"), pcJsonNumber(json, r->stride);
    writeFrames(json, numbers, r);
    pcJsonKey(json, "contacts"), writeContacts(json, numbers, r);
    pcJsonKey(json, "series"), writeSeries(json, numbers, r);
    pcJsonClose(json, '}');
}

void pcSceneryWrite(pcJson* json, pcNumbers* numbers, const pcRecording* recording, int recordings)
{
    pcJsonKey(json, "planar"), pcJsonNumber(json, recording->scene->physics.planar);
    writeBodies(json, recording);
    writeShapes(json, recording);
    pcJsonKey(json, "runs");
    pcJsonOpen(json, '[');
    for (int i = 0; i < recordings; i++) writeRun(json, numbers, recording + i);
    pcJsonClose(json, ']');
}
