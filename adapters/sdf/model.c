/* <model>, <link>, <frame>, <include>. Poses are only noted here: they are worked out when all frames are known (read.c). */
#include <math.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "base/pose.h"

const char* pcSdfScopeName(pcSdfReader* r, int scope, const char* name)
{
    for (int s = scope; s > 0 && r->status == PC_OK; s = r->frame[s].scope) {
        name = pcSdfJoin(r, r->frame[s].name, "::", name);
        if (strlen(name) > PC_SDF_LONGEST_PATH)
            pcSdfFail(r, r->frame[scope].node, "names in each other are longer than %d bytes", PC_SDF_LONGEST_PATH);
    }
    return name;
}

/* A name that others can refer to. */
const char* pcSdfName(pcSdfReader* r, const xmlNode* node)
{
    const char* name = pcSdfAttribute(r, node, "name");
    if (!name || !*name) pcSdfFail(r, node, "<%s> needs a name", node->name);
    if (name && strlen(name) > PC_SDF_LONGEST_NAME) pcSdfFail(r, node, "the name is longer than %d bytes", PC_SDF_LONGEST_NAME);
    if (name && (strcmp(name, "world") == 0 || (strncmp(name, "__", 2) == 0 && strcmp(name + strlen(name) - 2, "__") == 0)))
        pcSdfFail(r, node, "the name '%.80s' is reserved", name);
    return name && *name ? name : "?";
}

static const char* relativeTo(pcSdfReader* r, const xmlNode* parent)
{
    const xmlNode* pose = pcSdfChild(parent, "pose");
    const char* name = pose ? pcSdfAttribute(r, pose, "relative_to") : NULL;
    return name && *name ? name : NULL;
}

/* ---- inertia ---- */

/* By its Cholesky pivots, each against the trace: what is as thin as rounding is none, nor what is smaller than a nanometre. */
static bool isDefinite(const double* I, double mass)
{
    const double nanometre = 1e-9;
    double least = 1e-12 * (I[0] + I[4] + I[8]);
    double a = I[0], b = I[4] - I[1] * I[1] / I[0];
    double c = I[8] - I[2] * I[2] / I[0] - pow(I[5] - I[1] * I[2] / I[0], 2) / b;
    return a > least && b > least && c > least && I[0] + I[4] + I[8] > mass * nanometre * nanometre;
}

/* R I R'. */
static void turnInertia(const pcPose* pose, double* I)
{
    double R[3][3], half[3][3] = {{0}}, out[9] = {0};
    for (int k = 0; k < 3; k++) {
        pcPose axis = {.quaternion = {1, 0, 0, 0}}, turn = *pose;
        axis.position[k] = 1.0;
        memset(turn.position, 0, sizeof turn.position);
        pcPose turned = pcPoseCompose(&turn, &axis);
        for (int i = 0; i < 3; i++) R[i][k] = turned.position[i];
    }
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++) half[i][k] += R[i][j] * I[3 * j + k];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++)
            for (int j = 0; j < 3; j++) out[3 * i + k] += half[i][j] * R[k][j];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) I[3 * i + k] = 0.5 * (out[3 * i + k] + out[3 * k + i]);
}

static void readInertial(pcSdfReader* r, const xmlNode* link, pcSceneLink* out)
{
    const xmlNode *inertial = pcSdfChild(link, "inertial"), *inertia = pcSdfChild(inertial, "inertia");
    out->mass = pcSdfNumber(r, inertial, "mass", 1.0);
    if (!out->fixed && !(out->mass > 1e-15 && out->mass < 1e15))
        pcSdfFail(r, pcSdfChild(inertial, "mass"), "<mass> is %g; it must be > 0", out->mass);
    double xx = pcSdfNumber(r, inertia, "ixx", 1.0), yy = pcSdfNumber(r, inertia, "iyy", 1.0), zz = pcSdfNumber(r, inertia, "izz", 1.0);
    double xy = pcSdfNumber(r, inertia, "ixy", 0.0), xz = pcSdfNumber(r, inertia, "ixz", 0.0), yz = pcSdfNumber(r, inertia, "iyz", 0.0);
    double I[9] = {xx, xy, xz, xy, yy, yz, xz, yz, zz};
    pcPose pose = pcSdfPose(r, inertial);
    memcpy(out->centre, pose.position, sizeof out->centre);
    if (!isDefinite(I, out->mass)) {
        if (!out->fixed) pcSdfNoted(r, "inertia that is not positive definite, taken as that of a ball of 5 cm");
        memset(I, 0, sizeof I);
        I[0] = I[4] = I[8] = 1e-3 * out->mass;
    }
    turnInertia(&pose, I);
    memcpy(out->inertia, I, sizeof I);
}

/* ---- collisions ---- */

void pcSdfCollision(pcSdfReader* r, const xmlNode* node, int link, int linkFrame)
{
    static const char* const known[] = {"geometry", "surface", "pcontact", "pose", "max_contacts", "laser_retro", NULL};
    pcScene* scene = r->scene;
    const xmlNode *geometry = pcSdfChild(node, "geometry"), *contact = pcSdfChild(pcSdfChild(node, "surface"), "contact");
    bool empty;
    pcSceneCollision c = {.link = link};
    if (!geometry) pcSdfFail(r, node, "<collision> needs a <geometry>");
    pcSdfGeometry(r, geometry, &c.shape, &empty);
    pcSdfSurface(r, node, &c.surface);
    pcSdfLayer(r, node, &c);
    c.name = pcSdfJoin(r, scene->link[link].name, "::", pcSdfName(r, node));
    c.maxContacts = pcSdfInteger(r, node, "max_contacts", 10);
    c.bits = pcSdfBits(r, contact, "collide_bitmask", 0xffff);
    pcSdfSkip(r, node, known);
    if (empty) pcSdfNoted(r, "collision of no size");
    if (empty || r->status != PC_OK) return;
    if (scene->collisions == PC_SDF_MOST_LINKS) pcSdfFail(r, node, "there are more than %d collisions", PC_SDF_MOST_LINKS);
    int at = scene->collisions;
    pcSdfFrame frame = {.scope = r->frame[linkFrame].scope, .base = linkFrame, .relative = relativeTo(r, node), .link = link, .node = node};
    frame.pose = pcSdfPose(r, node);
    if (!pcSdfGrow(r, &scene->collision, &scene->collisionRoom, at + 1, sizeof c)) return;
    if (!pcSdfGrow(r, &r->collisionFrame, &r->collisionFrameRoom, at + 1, sizeof *r->collisionFrame)) return;
    scene->collision[at] = c;
    r->collisionFrame[at] = pcSdfFrameAdd(r, &frame);
    scene->collisions++;
}

/* ---- links ---- */

static void readLink(pcSdfReader* r, const xmlNode* node, int scope, bool fixed, bool selfCollide)
{
    static const char* const known[] = {"pose",         "inertial",       "collision",         "gravity",     "kinematic",
                                        "self_collide", "velocity_decay", "must_be_base_link", "enable_wind", NULL};
    pcScene* scene = r->scene;
    int at = scene->links;
    const pcSdfRange part = {0.0, 1.0};
    const xmlNode* decay = pcSdfChild(node, "velocity_decay");
    const char* name = pcSdfName(r, node);
    pcSceneLink link = {.name = pcSdfScopeName(r, scope, name), .model = scope, .fixed = fixed};
    link.kinematic = pcSdfFlag(r, node, "kinematic", false);
    link.gravity = pcSdfFlag(r, node, "gravity", true);
    link.selfCollide = pcSdfFlag(r, node, "self_collide", selfCollide);
    link.linearDecay = pcSdfWithin(r, decay, "linear", part, 0.0);
    link.angularDecay = pcSdfWithin(r, decay, "angular", part, 0.0);
    readInertial(r, node, &link);
    if (at == PC_SDF_MOST_LINKS) pcSdfFail(r, node, "there are more than %d links", PC_SDF_MOST_LINKS);
    pcSdfFrame frame = {.kind = PC_SDF_LINK, .name = name, .scope = scope, .base = scope, .link = at, .node = node};
    frame.relative = relativeTo(r, node);
    frame.pose = pcSdfPose(r, node);
    if (!pcSdfGrow(r, &scene->link, &scene->linkRoom, at + 1, sizeof link)) return;
    if (!pcSdfGrow(r, &r->linkFrame, &r->linkFrameRoom, at + 1, sizeof *r->linkFrame)) return;
    int added = pcSdfFrameAdd(r, &frame);
    if (r->status != PC_OK) return;
    scene->link[at] = link, r->linkFrame[at] = added, scene->links++;
    for (int s = scope; s > 0 && r->frame[s].link < 0; s = r->frame[s].scope) r->frame[s].link = at;
    pcSdfSkip(r, node, known);
    for (const xmlNode* c = pcSdfChild(node, "collision"); c && r->status == PC_OK; c = pcSdfNext(c)) pcSdfCollision(r, c, at, added);
}

void pcSdfFrameRead(pcSdfReader* r, const xmlNode* node, int scope)
{
    const char* attached = pcSdfAttribute(r, node, "attached_to");
    pcSdfFrame frame = {.kind = PC_SDF_FRAME, .name = pcSdfName(r, node), .scope = scope, .base = scope, .link = -1, .node = node};
    frame.relative = relativeTo(r, node);
    frame.pose = pcSdfPose(r, node);
    if (attached && *attached) frame.attached = attached, frame.base = -1;
    pcSdfFrameAdd(r, &frame);
}

/* ---- models ---- */

static int addModel(pcSdfReader* r, const xmlNode* node, int scope, const pcSdfOverride* override)
{
    const xmlNode* placed = override && pcSdfChild(override->include, "pose") ? override->include : node;
    const xmlNode* placement = override ? pcSdfChild(override->include, "placement_frame") : NULL;
    const char* name = override && override->name ? override->name : pcSdfName(r, node);
    if (strlen(name) > PC_SDF_LONGEST_NAME) pcSdfFail(r, node, "the name is longer than %d bytes", PC_SDF_LONGEST_NAME);
    pcSdfFrame frame = {.kind = PC_SDF_MODEL, .name = name, .scope = scope, .base = scope, .link = -1, .node = node};
    frame.relative = relativeTo(r, placed);
    frame.pose = pcSdfPose(r, placed);
    frame.placement = placement ? pcSdfText(r, placement) : pcSdfAttribute(r, node, "placement_frame");
    if (frame.placement && (!*frame.placement || strcmp(frame.placement, "__model__") == 0)) frame.placement = NULL;
    return pcSdfFrameAdd(r, &frame);
}

void pcSdfModel(pcSdfReader* r, xmlNode* node, int scope, bool fixed, const pcSdfOverride* override)
{
    static const char* const known[] = {"pose",  "static",  "self_collide",       "link",        "joint",   "frame",
                                        "model", "include", "allow_auto_disable", "enable_wind", "gripper", NULL};
    int model = addModel(r, node, scope, override);
    if (r->status != PC_OK) return;
    fixed |= pcSdfFlag(r, override ? override->include : NULL, "static", pcSdfFlag(r, node, "static", false));
    bool selfCollide = pcSdfFlag(r, node, "self_collide", false);
    for (xmlNode* child = pcSdfFirst(node); child && r->status == PC_OK; child = pcSdfFollowing(child)) {
        if (pcSdfIs(child, "link")) readLink(r, child, model, fixed, selfCollide);
        if (pcSdfIs(child, "joint")) pcSdfJointHead(r, child, model);
        if (pcSdfIs(child, "frame")) pcSdfFrameRead(r, child, model);
        if (pcSdfIs(child, "model")) pcSdfModel(r, child, model, fixed, NULL);
        if (pcSdfIs(child, "include")) pcSdfInclude(r, child, model, fixed);
    }
    pcSdfSkip(r, node, known);
}

/* ---- includes ---- */

static void readIncluded(pcSdfReader* r, const xmlNode* include, const char* file, int scope, bool fixed)
{
    const char* name = pcSdfChild(include, "name") ? pcSdfText(r, pcSdfChild(include, "name")) : NULL;
    pcSdfOverride override = {name && *name ? name : NULL, include};
    int version = r->version;
    xmlNode* root = pcSdfOpen(r, file);
    if (!root) return;
    pcSdfVersion(r, root);
    xmlNode* model = pcSdfChild(root, "model");
    if (model)
        pcSdfModel(r, model, scope, fixed, &override);
    else
        pcSdfNoted(r, pcSdfFirst(root) ? (const char*)pcSdfFirst(root)->name : "empty include");
    r->version = version;
}

void pcSdfInclude(pcSdfReader* r, const xmlNode* include, int scope, bool fixed)
{
    const char* uri = pcSdfText(r, pcSdfChild(include, "uri"));
    if (!*uri) pcSdfFail(r, include, "<include> needs a <uri>");
    if (r->includes == PC_SDF_MOST_INCLUDES) pcSdfFail(r, include, "files include each other more than %d deep", PC_SDF_MOST_INCLUDES);
    if (++r->files > PC_SDF_MOST_FILES) pcSdfFail(r, include, "more than %d files are included", PC_SDF_MOST_FILES);
    const char* merge = pcSdfAttribute(r, include, "merge");
    if (merge && strcmp(merge, "true") == 0) pcSdfNoted(r, "include that asks to be merged, taken as a nested model");
    const char* file = r->status == PC_OK ? pcSdfSearch(r, include, uri) : NULL;
    if (!file) pcSdfFail(r, include, "there is no '%.200s' to include: PCONTACT_MODELS can name folders of models", uri);
    if (r->status != PC_OK) return;
    r->includes++;
    readIncluded(r, include, file, scope, fixed);
    r->includes--;
}
