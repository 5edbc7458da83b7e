/*
 * Poses in frames. A frame stands in a scope (its model, or the world) and has a pose in another frame of that scope; both together
 * give its pose in the scope, and scopes in each other give it in the world. A model with a placement frame is put where that frame gets its
 * pose: X_model = X_written * X_placement^-1.
 */
#include <libxml/hash.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "base/pose.h"

pcPose pcSdfIdentity(void) { return (pcPose){.quaternion = {1, 0, 0, 0}}; }

pcPose pcSdfRelative(const pcPose* of, const pcPose* in)
{
    pcPose back = pcScenePoseInverse(of);
    return pcPoseCompose(&back, in);
}

/* ---- names ---- */

static void* indexToEntry(int index) { return (void*)((intptr_t)index + 1); }
static int entryToIndex(const void* entry) { return (int)((intptr_t)entry - 1); }

/* Models, links, joints and frames each have their names: only since 1.7 these must differ from each other. */
static void keysOf(int scope, pcSdfFrameKind kind, char keys[2][16])
{
    snprintf(keys[0], 16, "%d", scope);
    snprintf(keys[1], 16, "%d", (int)kind);
}

int pcSdfFrameNamed(pcSdfReader* r, int scope, pcSdfFrameKind kind, const char* name)
{
    char keys[2][16];
    keysOf(scope, kind, keys);
    const void* entry = xmlHashLookup3(r->names, (const xmlChar*)name, (const xmlChar*)keys[0], (const xmlChar*)keys[1]);
    return entry ? entryToIndex(entry) : -1;
}

static int findHere(pcSdfReader* r, int scope, const char* name)
{
    static const pcSdfFrameKind order[] = {PC_SDF_LINK, PC_SDF_MODEL, PC_SDF_FRAME, PC_SDF_JOINT};
    int found = -1;
    for (size_t i = 0; i < sizeof order / sizeof *order && found < 0; i++) found = pcSdfFrameNamed(r, scope, order[i], name);
    return found;
}

int pcSdfFrameAdd(pcSdfReader* r, const pcSdfFrame* frame)
{
    char keys[2][16];
    if (r->status != PC_OK || !pcSdfGrow(r, &r->frame, &r->frameRoom, r->frames + 1, sizeof *r->frame)) return -1;
    r->frame[r->frames] = *frame;
    if (frame->name) {
        const xmlChar *name = (const xmlChar*)frame->name, *scope = (const xmlChar*)keys[0], *kind = (const xmlChar*)keys[1];
        bool taken = r->version >= 107 && findHere(r, frame->scope, frame->name) >= 0;
        keysOf(frame->scope, frame->kind, keys);
        if (taken || xmlHashLookup3(r->names, name, scope, kind))
            pcSdfFail(r, frame->node, "there is another '%.80s' in the same place", frame->name);
        else if (xmlHashAddEntry3(r->names, name, scope, kind, indexToEntry(r->frames)) != 0)
            pcSdfOutOfMemory(r);
    }
    return r->frames++;
}

/* "inner::link" is the link of the model "inner" of this scope. */
int pcSdfFrameFind(pcSdfReader* r, int scope, const char* name)
{
    if (strcmp(name, "__model__") == 0) return scope;
    if (strcmp(name, "world") == 0) return 0;
    int whole = findHere(r, scope, name);
    const char* colon = strstr(name, "::");
    if (whole >= 0 || !colon) return whole;
    int inner = findHere(r, scope, pcSdfKeepText(r, name, (size_t)(colon - name)));
    return inner >= 0 && r->frame[inner].kind == PC_SDF_MODEL ? pcSdfFrameFind(r, inner, colon + 2) : -1;
}

/* ---- poses ---- */

static pcPose localPose(pcSdfReader* r, int frame, int depth);

/* Pose of a frame in a scope that it stands in, at some depth. */
static pcPose poseInScope(pcSdfReader* r, int frame, int scope, int depth)
{
    pcPose pose = pcSdfIdentity();
    for (; frame != scope && frame > 0 && r->status == PC_OK; frame = r->frame[frame].scope) {
        pcPose outer = localPose(r, frame, depth);
        pose = pcPoseCompose(&outer, &pose);
    }
    return pose;
}

static int baseOf(pcSdfReader* r, const pcSdfFrame* f)
{
    const char* name = f->relative ? f->relative : f->base < 0 ? f->attached : NULL;
    if (!name) return f->base;
    int base = pcSdfFrameFind(r, f->scope, name);
    if (base < 0) pcSdfFail(r, f->node, "there is no frame '%.80s' here", name);
    if (base == 0 && f->scope != 0 && f->relative) pcSdfFail(r, f->node, "a pose inside a model cannot be relative to the world");
    return base;
}

static pcPose workOut(pcSdfReader* r, int frame, int depth)
{
    const pcSdfFrame f = r->frame[frame];
    int base = baseOf(r, &f);
    if (r->status != PC_OK) return pcSdfIdentity();
    pcPose outer = base == 0 && f.scope != 0 ? pcSdfIdentity() : poseInScope(r, base, f.scope, depth + 1);
    pcPose pose = pcPoseCompose(&outer, &f.pose);
    if (!f.placement) return pose;
    int placed = pcSdfFrameFind(r, frame, f.placement);
    if (placed <= 0) pcSdfFail(r, f.node, "there is no frame '%.80s' to place the model by", f.placement);
    if (r->status != PC_OK) return pose;
    pcPose inner = poseInScope(r, placed, frame, depth + 1), back = pcScenePoseInverse(&inner);
    return pcPoseCompose(&pose, &back);
}

static pcPose localPose(pcSdfReader* r, int frame, int depth)
{
    pcSdfFrame* f = r->frame + frame;
    if (f->state == 2) return f->local;
    if (f->state == 1) pcSdfFail(r, f->node, "the pose of '%.80s' is given relative to itself", f->name ? f->name : "this");
    if (depth > PC_SDF_MOST_FRAMES_BETWEEN)
        pcSdfFail(r, f->node, "more than %d frames are relative to each other", PC_SDF_MOST_FRAMES_BETWEEN);
    if (r->status != PC_OK) return pcSdfIdentity();
    f->state = 1;
    f->local = workOut(r, frame, depth);
    f->state = 2;
    return f->local;
}

/* A joint at a child that is the world has its pose in the world; all others stand in their scope. */
pcPose pcSdfFrameWorld(pcSdfReader* r, int frame)
{
    const pcSdfFrame* f = r->frame + frame;
    bool inWorld = f->kind == PC_SDF_JOINT && !f->relative && f->attached && strcmp(f->attached, "world") == 0;
    return inWorld ? f->pose : poseInScope(r, frame, 0, 0);
}

/* ---- what moves with what ---- */

int pcSdfFrameLink(pcSdfReader* r, int frame)
{
    for (int hops = 0; hops < PC_SDF_MOST_FRAMES_BETWEEN; hops++) {
        if (frame == 0) return PC_SCENE_WORLD;
        if (frame < 0) return -2;
        const pcSdfFrame* f = r->frame + frame;
        if (f->kind == PC_SDF_LINK || f->kind == PC_SDF_MODEL) return f->link >= 0 ? f->link : -2;
        frame = f->attached ? pcSdfFrameFind(r, f->scope, f->attached) : f->scope;
    }
    return -2;
}

/* Frames that nobody refers to must have a place as well. Each is looked at once: what has been seen before is known to end somewhere. */
void pcSdfFramesCheck(pcSdfReader* r)
{
    int* seen = pcSdfKeep(r, ((size_t)r->frames + 1) * sizeof *seen);
    for (int i = 1; seen && i < r->frames && r->status == PC_OK; i++) {
        if (r->frame[i].kind != PC_SDF_FRAME || !r->frame[i].name) continue;
        pcSdfFrameWorld(r, i);
        int at = i;
        for (; at > 0 && !seen[at] && r->frame[at].attached; at = pcSdfFrameFind(r, r->frame[at].scope, r->frame[at].attached))
            seen[at] = i;
        if (at > 0 && seen[at] == i) pcSdfFail(r, r->frame[i].node, "the frame '%.80s' is attached to itself", r->frame[i].name);
        if (at < 0) pcSdfFail(r, r->frame[i].node, "the frame '%.80s' is attached to nothing that there is", r->frame[i].name);
    }
}
