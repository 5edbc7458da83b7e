/* <joint>: its frame at once, the rest when all frames are known. */
#include <math.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "base/pose.h"
#include "base/vec.h"

static const double FURTHEST = 1e9; /* in metres, radians, or either per second; also the largest ratio */

void pcSdfJointHead(pcSdfReader* r, xmlNode* node, int scope)
{
    const char* name = pcSdfName(r, node);
    const xmlNode *pose = pcSdfChild(node, "pose"), *child = pcSdfChild(node, "child");
    const char* relative = pose ? pcSdfAttribute(r, pose, "relative_to") : NULL;
    if (!child || !pcSdfChild(node, "parent")) pcSdfFail(r, node, "<joint> needs a <parent> and a <child>");
    pcSdfFrame frame = {.kind = PC_SDF_JOINT, .name = name, .scope = scope, .base = -1, .link = -1, .node = node};
    frame.attached = pcSdfText(r, child);
    frame.relative = relative && *relative ? relative : NULL;
    frame.pose = pcSdfPose(r, node);
    if (!pcSdfGrow(r, &r->jointNode, &r->jointNodeRoom, r->jointNodes + 1, sizeof *r->jointNode)) return;
    if (r->jointNodes == PC_SDF_MOST_LINKS) pcSdfFail(r, node, "there are more than %d joints", PC_SDF_MOST_LINKS);
    int at = pcSdfFrameAdd(r, &frame);
    if (r->status == PC_OK) r->jointNode[r->jointNodes++] = (pcSdfJointNode){node, at, r->version};
}

/* ---- kind ---- */

static bool kindOf(const char* type, pcSceneJointKind* out)
{
    static const struct {
        const char* name;
        pcSceneJointKind kind;
    } table[] = {{"fixed", PC_SCENE_FIXED},         {"revolute", PC_SCENE_REVOLUTE},   {"continuous", PC_SCENE_REVOLUTE},
                 {"prismatic", PC_SCENE_PRISMATIC}, {"ball", PC_SCENE_BALL},           {"universal", PC_SCENE_UNIVERSAL},
                 {"screw", PC_SCENE_SCREW},         {"revolute2", PC_SCENE_REVOLUTE2}, {"gearbox", PC_SCENE_GEARBOX}};
    for (size_t i = 0; type && i < sizeof table / sizeof *table; i++)
        if (strcmp(type, table[i].name) == 0) return *out = table[i].kind, true;
    return false;
}

/* ---- links ---- */

static int linkOf(pcSdfReader* r, const xmlNode* joint, int scope, const char* element)
{
    const xmlNode* node = pcSdfChild(joint, element);
    const char* name = pcSdfText(r, node);
    int link = pcSdfFrameLink(r, pcSdfFrameFind(r, scope, name));
    if (link < PC_SCENE_WORLD) pcSdfFail(r, node ? node : joint, "<%s> names '%.80s', which is no link here", element, name);
    return link < PC_SCENE_WORLD ? PC_SCENE_WORLD : link;
}

/* ---- axes ---- */

/* Since 1.5 an axis is in the frame of the joint, unless it asks for that of the model, in which all were before. */
static int axisFrame(pcSdfReader* r, const xmlNode* axis, const pcSdfJointNode* joint)
{
    const xmlNode* xyz = pcSdfChild(axis, "xyz");
    int scope = r->frame[joint->frame].scope;
    const char* name = xyz ? pcSdfAttribute(r, xyz, "expressed_in") : NULL;
    if (!name || !*name) return pcSdfFlag(r, axis, "use_parent_model_frame", joint->version < 105) ? scope : joint->frame;
    int frame = pcSdfFrameFind(r, scope, name);
    if (frame < 0) pcSdfFail(r, xyz, "there is no frame '%.80s' here", name);
    return frame < 0 ? scope : frame;
}

static void readAxis(pcSdfReader* r, const xmlNode* axis, const pcSdfJointNode* joint, pcSceneAxis* out)
{
    const xmlNode *limit = pcSdfChild(axis, "limit"), *dynamics = pcSdfChild(axis, "dynamics"), *xyz = pcSdfChild(axis, "xyz");
    pcPose direction = {.position = {0, 0, 1}, .quaternion = {1, 0, 0, 0}};
    if (xyz) pcSdfDirection(r, xyz, direction.position);
    pcPose frame = pcSdfFrameWorld(r, axisFrame(r, axis, joint));
    memset(frame.position, 0, sizeof frame.position);
    pcPose turned = pcPoseCompose(&frame, &direction);
    memcpy(out->xyz, turned.position, sizeof out->xyz);
    out->lower = pcSdfLimit(r, limit, "lower", -HUGE_VAL), out->upper = pcSdfLimit(r, limit, "upper", HUGE_VAL);
    if (out->lower == HUGE_VAL || out->upper == -HUGE_VAL)
        pcSdfFail(r, limit, "the limits %g and %g leave no place", out->lower, out->upper);
    if (out->lower > out->upper) pcSdfFail(r, limit, "the lower limit %g is above the upper limit %g", out->lower, out->upper);
    out->effort = pcSdfLimit(r, limit, "effort", -1.0), out->velocity = pcSdfLimit(r, limit, "velocity", -1.0);
    out->damping = pcSdfPositive(r, dynamics, "damping", 0.0);
    out->friction = pcSdfPositive(r, dynamics, "friction", 0.0);
    out->stiffness = pcSdfPositive(r, dynamics, "spring_stiffness", 0.0);
    out->reference = pcSdfWithin(r, dynamics, "spring_reference", (pcSdfRange){-FURTHEST, FURTHEST}, 0.0);
}

/* ---- ODE's own parameters ---- */

static void readOde(pcSdfReader* r, const xmlNode* joint, pcSceneJoint* out)
{
    const xmlNode* ode = pcSdfChild(pcSdfChild(joint, "physics"), "ode");
    const xmlNode *limit = pcSdfChild(ode, "limit"), *suspension = pcSdfChild(ode, "suspension");
    const pcSdfRange part = {0.0, 1.0}, speed = {-FURTHEST, FURTHEST};
    out->cfm = pcSdfPositive(r, ode, "cfm", NAN), out->erp = pcSdfWithin(r, ode, "erp", part, NAN);
    out->stopCfm = pcSdfPositive(r, limit, "cfm", NAN), out->stopErp = pcSdfWithin(r, limit, "erp", part, NAN);
    out->bounce = pcSdfPositive(r, ode, "bounce", NAN), out->fudge = pcSdfWithin(r, ode, "fudge_factor", part, NAN);
    out->maxForce = pcSdfMost(r, ode, "max_force", NAN), out->motorVelocity = pcSdfWithin(r, ode, "velocity", speed, NAN);
    out->suspensionCfm = pcSdfPositive(r, suspension, "cfm", NAN), out->suspensionErp = pcSdfWithin(r, suspension, "erp", part, NAN);
}

/* Radians per metre with the sign of a left-handed thread, or, newer, metres per turn. */
static double pitchOf(pcSdfReader* r, const xmlNode* joint)
{
    const double turn = 6.283185307179586;
    const pcSdfRange range = {-FURTHEST, FURTHEST};
    bool newer = pcSdfChild(joint, "screw_thread_pitch");
    double pitch = pcSdfWithin(r, joint, newer ? "screw_thread_pitch" : "thread_pitch", range, 1.0);
    if (!(fabs(pitch) > 1e-9)) pcSdfFail(r, joint, "a screw needs a <thread_pitch> that is not 0");
    if (newer) return pitch / turn;
    return -1.0 / pitch;
}

/* Of two lines: 0 to a right angle. */
static double angleBetween(const double* a, const double* b)
{
    double sine = v3Norm(v3Cross(v3Load(a), v3Load(b)));
    return asin(smaller(sine, 1.0));
}

static void readKind(pcSdfReader* r, const pcSdfJointNode* joint, pcSceneJoint* out)
{
    const xmlNode* node = joint->node;
    const char* type = pcSdfAttribute(r, node, "type");
    const xmlNode *axis = pcSdfChild(node, "axis"), *axis2 = pcSdfChild(node, "axis2");
    if (!kindOf(type, &out->kind)) pcSdfFail(r, node, "a joint cannot be of type '%.60s'", type ? type : "");
    bool two = out->kind == PC_SCENE_UNIVERSAL || out->kind == PC_SCENE_REVOLUTE2 || out->kind == PC_SCENE_GEARBOX;
    if (two && (!axis || !axis2)) pcSdfFail(r, node, "a %s joint needs an <axis> and an <axis2>", type ? type : "");
    readAxis(r, axis, joint, out->axis);
    if (two) readAxis(r, axis2, joint, out->axis + 1);
    if (two && out->kind != PC_SCENE_GEARBOX && !(angleBetween(out->axis[0].xyz, out->axis[1].xyz) > 1e-4))
        pcSdfFail(r, axis2, "the two axes of a %s joint must not be parallel", type ? type : "");
    if (out->kind == PC_SCENE_SCREW) out->pitch = pitchOf(r, node);
    if (out->kind == PC_SCENE_GEARBOX) out->ratio = pcSdfWithin(r, node, "gearbox_ratio", (pcSdfRange){-FURTHEST, FURTHEST}, 1.0);
}

void pcSdfJoint(pcSdfReader* r, const pcSdfJointNode* joint)
{
    static const char* const known[] = {"parent",
                                        "child",
                                        "pose",
                                        "axis",
                                        "axis2",
                                        "thread_pitch",
                                        "gearbox_ratio",
                                        "physics",
                                        "gearbox_reference_body",
                                        "screw_thread_pitch",
                                        NULL};
    pcScene* scene = r->scene;
    int scope = r->frame[joint->frame].scope;
    pcSceneJoint out = {.name = pcSdfScopeName(r, scope, r->frame[joint->frame].name), .reference = PC_SCENE_WORLD};
    out.parent = linkOf(r, joint->node, scope, "parent"), out.child = linkOf(r, joint->node, scope, "child");
    if (r->status == PC_OK && out.parent == out.child) pcSdfFail(r, joint->node, "the joint holds a link to itself");
    readKind(r, joint, &out);
    readOde(r, joint->node, &out);
    if (out.kind == PC_SCENE_GEARBOX && pcSdfChild(joint->node, "gearbox_reference_body"))
        out.reference = linkOf(r, joint->node, scope, "gearbox_reference_body");
    pcPose pose = pcSdfFrameWorld(r, joint->frame);
    memcpy(out.anchor, pose.position, sizeof out.anchor);
    pcSdfSkip(r, joint->node, known);
    if (!pcSdfGrow(r, &scene->joint, &scene->jointRoom, scene->joints + 1, sizeof out)) return;
    scene->joint[scene->joints++] = out;
}
