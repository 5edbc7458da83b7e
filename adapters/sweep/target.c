#include "adapters/sweep/target.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/pose.h"
#include "base/status.h"

enum { SETTING, STEP, TIME, GRAVITY, POSE, VELOCITY, MASS, SURFACE, MOTOR };

typedef struct Field {
    const char* name;
    int kind, field; /* field: index, or offset in the struct */
    double least;
} Field;

#define SURFACE_FIELD(name, member)                               \
    {                                                             \
        name, SURFACE, (int)offsetof(pcSceneSurface, member), 0.0 \
    }
static const Field fields[] = {
    {"x", POSE, 0, -1e9},         {"y", POSE, 1, -1e9},          {"z", POSE, 2, -1e9},          {"roll", POSE, 3, -1e9},
    {"pitch", POSE, 4, -1e9},     {"yaw", POSE, 5, -1e9},        {"vx", VELOCITY, 0, -1e30},    {"vy", VELOCITY, 1, -1e30},
    {"vz", VELOCITY, 2, -1e30},   {"wx", VELOCITY, 3, -1e30},    {"wy", VELOCITY, 4, -1e30},    {"wz", VELOCITY, 5, -1e30},
    {"mass", MASS, 0, 1e-15},     SURFACE_FIELD("mu", mu),       SURFACE_FIELD("mu2", mu2),     SURFACE_FIELD("bounce", bounce),
    SURFACE_FIELD("kp", kp),      SURFACE_FIELD("kd", kd),       SURFACE_FIELD("slip1", slip1), SURFACE_FIELD("slip2", slip2),
    {"max_force", MOTOR, 0, 0.0}, {"velocity", MOTOR, 1, -1e30}, {"damping", MOTOR, 2, 0.0},    {"stiffness", MOTOR, 3, 0.0},
    {"friction", MOTOR, 4, 0.0}};
enum { FIELDS = sizeof fields / sizeof fields[0] };

/* ---- a world of one's own ---- */

static bool copyArray(void* out, const void* from, int count, size_t size)
{
    void* copy = malloc((size_t)count * size + 1);
    if (copy && count > 0) memcpy(copy, from, (size_t)count * size);
    memcpy(out, &copy, sizeof copy);
    return copy != NULL;
}

pcStatus pcTrialWorldMake(const pcScene* source, const pcSettings* settings, double step, double time, pcTrialWorld* out)
{
    *out = (pcTrialWorld){.scene = *source, .source = source, .settings = *settings, .step = step, .time = time};
    pcScene* s = &out->scene;
    s->owners = 1, s->memory = NULL;
    bool good = copyArray(&s->link, source->link, s->links, sizeof *s->link);
    good &= copyArray(&s->collision, source->collision, s->collisions, sizeof *s->collision);
    good &= copyArray(&s->joint, source->joint, s->joints, sizeof *s->joint);
    good &= copyArray(&s->model, source->model, s->models, sizeof *s->model);
    if (good) return PC_OK;
    pcTrialWorldFree(out);
    return pcFail(PC_ERROR_MEMORY, "out of memory for a trial");
}

void pcTrialWorldFree(pcTrialWorld* world)
{
    void* all[] = {world->scene.link, world->scene.collision, world->scene.joint, world->scene.model};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
    *world = (pcTrialWorld){.source = NULL};
}

void pcTrialWorldReset(pcTrialWorld* world, const pcSettings* settings, double step, double time)
{
    const pcScene* from = world->source;
    pcScene* s = &world->scene;
    world->settings = *settings, world->step = step, world->time = time;
    for (int i = 0; i < s->links; i++) s->link[i] = from->link[i];
    for (int i = 0; i < s->collisions; i++) s->collision[i] = from->collision[i];
    for (int i = 0; i < s->joints; i++) s->joint[i] = from->joint[i];
    for (int i = 0; i < s->models; i++) s->model[i] = from->model[i];
    s->physics = from->physics;
}

/* ---- names ---- */

int pcIsPartOf(const char* name, const char* object)
{
    size_t length = strlen(object);
    return strncmp(name, object, length) == 0 && (!name[length] || strncmp(name + length, "::", 2) == 0);
}

static int countParts(const pcScene* s, const char* object, int kind)
{
    int count = 0;
    for (int i = 0; i < s->links && (kind == POSE || kind == VELOCITY || kind == MASS); i++) count += pcIsPartOf(s->link[i].name, object);
    for (int i = 0; i < s->collisions && kind == SURFACE; i++) count += pcIsPartOf(s->collision[i].name, object);
    for (int i = 0; i < s->joints && kind == MOTOR; i++) count += pcIsPartOf(s->joint[i].name, object);
    return count;
}

/* The frame that a pose of the object is the pose of. */
static pcPose* frameOf(pcScene* s, const char* object)
{
    for (int i = 0; i < s->models; i++)
        if (strcmp(s->model[i].name, object) == 0) return &s->model[i].pose;
    for (int i = 0; i < s->links; i++)
        if (strcmp(s->link[i].name, object) == 0) return &s->link[i].pose;
    return NULL;
}

static const Field* fieldOf(const char* name)
{
    for (int i = 0; i < FIELDS; i++)
        if (strcmp(fields[i].name, name) == 0) return fields + i;
    return NULL;
}

static pcStatus noSuchObject(const pcScene* s, const char* object, int kind)
{
    char names[256] = "";
    size_t used = 0;
    bool joints = kind == MOTOR;
    int count = joints ? s->joints : s->models;
    for (int i = 0; i < count && used < 200; i++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.40s", i ? ", " : "", joints ? s->joint[i].name : s->model[i].name);
    return pcFail(PC_ERROR_ARGUMENT, "there is no %s '%.80s' in the world; there are %s%s", joints ? "joint" : "model or link", object,
                  count ? names : "none", used >= 200 ? ", …" : "");
}

static pcStatus findField(const pcScene* s, const char* name, const char* dot, pcTarget* out)
{
    const Field* field = fieldOf(dot + 1);
    memcpy(out->object, name, (size_t)(dot - name));
    out->object[dot - name] = 0;
    if (strcmp(out->object, "gravity") == 0 && field && field->kind == POSE && field->field < 3) {
        out->kind = GRAVITY, out->field = field->field;
        return PC_OK;
    }
    if (!field)
        return pcFail(PC_ERROR_ARGUMENT,
                      "'%.80s': there is no '%.40s' to vary; there are x y z roll pitch yaw, vx … wz, mass, mu and others (see --help)",
                      name, dot + 1);
    out->kind = field->kind, out->field = field->field;
    pcScene copy = *s;
    bool found = countParts(s, out->object, field->kind) > 0 && (field->kind != POSE || frameOf(&copy, out->object));
    return found ? PC_OK : noSuchObject(s, out->object, field->kind);
}

pcStatus pcTargetFind(const pcScene* scene, const char* name, pcTarget* out)
{
    const char* dot = strrchr(name, '.');
    *out = (pcTarget){.kind = SETTING};
    if (strlen(name) >= sizeof out->object) return pcFail(PC_ERROR_ARGUMENT, "the name '%.40s…' is too long", name);
    if (dot) return findField(scene, name, dot, out);
    strcpy(out->object, name);
    if (strcmp(name, "step") == 0) out->kind = STEP;
    if (strcmp(name, "time") == 0) out->kind = TIME;
    bool ofSurface = strcmp(name, "mu") == 0 || strcmp(name, "mu2") == 0 || strcmp(name, "bounce") == 0;
    const Field* field = ofSurface ? fieldOf(name) : NULL;
    if (field) {
        out->kind = SURFACE, out->field = field->field;
        out->object[0] = 0; /* every collision */
    }
    if (strcmp(name, "report") == 0 || strcmp(name, "dump") == 0 || strcmp(name, "threads") == 0)
        return pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be varied", name);
    return PC_OK;
}

/* ---- setting ---- */

/* X of everything in the object becomes T X; so do anchors and axes of its joints. */
typedef struct Move {
    const char* object;
    pcPose by;
} Move;

static void moveVector(const Move* m, double xyz[3], bool direction)
{
    pcPose by = m->by, point = {.quaternion = {1, 0, 0, 0}};
    if (direction) memset(by.position, 0, sizeof by.position);
    memcpy(point.position, xyz, sizeof point.position);
    point = pcPoseCompose(&by, &point);
    memcpy(xyz, point.position, sizeof point.position);
}

/* 1 in the object, 0 in the world that does not move, -1 elsewhere. */
static int sideOf(const pcScene* s, int link, const Move* m)
{
    if (link == PC_SCENE_WORLD) return 0;
    if (pcIsPartOf(s->link[link].name, m->object)) return 1;
    return s->link[link].fixed ? 0 : -1;
}

static pcStatus moveJoints(pcScene* s, const Move* m)
{
    for (int i = 0; i < s->joints; i++) {
        pcSceneJoint* j = s->joint + i;
        int parent = sideOf(s, j->parent, m), child = sideOf(s, j->child, m);
        if (parent != 1 && child != 1) continue;
        if (parent < 0 || child < 0)
            return pcFail(PC_ERROR_ARGUMENT, "moving '%.80s' alone would tear the joint '%.80s'", m->object, j->name);
        moveVector(m, j->anchor, false);
        for (int k = 0; k < 2; k++) moveVector(m, j->axis[k].xyz, true);
    }
    return PC_OK;
}

static pcStatus setPose(const pcTarget* t, double value, pcScene* s)
{
    const pcPose* frame = frameOf(s, t->object);
    if (!frame) return pcFail(PC_ERROR_ARGUMENT, "there is no '%.80s' to move", t->object);
    pcPose before = *frame;
    double numbers[6];
    pcScenePoseNumbers(&before, numbers);
    numbers[t->field] = value;
    pcPose after = pcScenePose(numbers), back = pcScenePoseInverse(&before);
    Move move = {t->object, pcPoseCompose(&after, &back)};
    pcStatus status = moveJoints(s, &move);
    for (int i = 0; i < s->models && status == PC_OK; i++)
        if (pcIsPartOf(s->model[i].name, t->object)) s->model[i].pose = pcPoseCompose(&move.by, &s->model[i].pose);
    for (int i = 0; i < s->links && status == PC_OK; i++)
        if (pcIsPartOf(s->link[i].name, t->object)) s->link[i].pose = pcPoseCompose(&move.by, &s->link[i].pose);
    return status;
}

static void setLinks(const pcTarget* t, double value, pcScene* s)
{
    for (int i = 0; i < s->links; i++) {
        pcSceneLink* link = s->link + i;
        if (!pcIsPartOf(link->name, t->object)) continue;
        if (t->kind == VELOCITY) link->velocity[t->field] = value;
        if (t->kind != MASS) continue;
        for (int k = 0; k < 9; k++) link->inertia[k] *= value / link->mass;
        link->mass = value;
    }
}

static void setSurfaces(const pcTarget* t, double value, pcScene* s)
{
    bool both = t->field == (int)offsetof(pcSceneSurface, mu);
    for (int i = 0; i < s->collisions; i++) {
        pcSceneCollision* c = s->collision + i;
        if (t->object[0] && !pcIsPartOf(c->name, t->object)) continue;
        memcpy((char*)&c->surface + t->field, &value, sizeof value);
        if (both) c->surface.mu2 = value;
    }
}

static void setMotors(const pcTarget* t, double value, pcScene* s)
{
    for (int i = 0; i < s->joints; i++) {
        pcSceneJoint* j = s->joint + i;
        double* number[] = {&j->maxForce, &j->motorVelocity, &j->axis[0].damping, &j->axis[0].stiffness, &j->axis[0].friction};
        if (pcIsPartOf(j->name, t->object)) *number[t->field] = value;
    }
}

static pcStatus setSetting(const pcTarget* t, const pcVary* vary, double value, pcTrialWorld* world)
{
    char text[PC_VARY_NAME + 40], number[32];
    pcVaryPrint(vary, value, number);
    snprintf(text, sizeof text, "%s=%s", t->object, number);
    return pcSettingsParse(&world->settings, text);
}

static pcStatus checkNumber(const pcTarget* t, const pcVary* vary, double value)
{
    double least = t->kind == STEP || t->kind == TIME ? 1e-9 : -1e9;
    for (int i = 0; i < FIELDS; i++)
        if (t->kind != GRAVITY && fields[i].kind == t->kind && fields[i].field == t->field) least = fields[i].least;
    if (vary->words) return pcFail(PC_ERROR_ARGUMENT, "'%s=%.80s': a number is wanted", vary->name, vary->text);
    if (value >= least && value <= 1e30 && (t->kind != POSE || value <= 1e9)) return PC_OK;
    return pcFail(PC_ERROR_ARGUMENT, "'%s' cannot be %g; it must be at least %g", vary->name, value, least);
}

pcStatus pcTargetSet(const pcTarget* t, const pcVary* vary, double value, pcTrialWorld* world)
{
    if (t->kind == SETTING) return setSetting(t, vary, value, world);
    pcStatus status = checkNumber(t, vary, value);
    if (status != PC_OK) return status;
    switch (t->kind) {
    case STEP: world->step = value; break;
    case TIME: world->time = value; break;
    case GRAVITY: world->scene.physics.gravity[t->field] = value; break;
    case POSE: return setPose(t, value, &world->scene);
    case SURFACE: setSurfaces(t, value, &world->scene); break;
    case MOTOR: setMotors(t, value, &world->scene); break;
    default: setLinks(t, value, &world->scene); break;
    }
    return PC_OK;
}
