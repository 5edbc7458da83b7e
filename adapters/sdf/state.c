/* <state>: the velocities that links start with. Poses in it are those of another moment, and are not read. */
#include <math.h>

#include "adapters/sdf/reader.h"

static const double FASTEST = 1e9; /* in m/s and rad/s */

/* A model or link in a scope, also as "inner::link"; -1: there is none. */
static int find(pcSdfReader* r, int scope, pcSdfFrameKind kind, const char* name)
{
    int frame = pcSdfFrameNamed(r, scope, kind, name);
    if (frame < 0) frame = pcSdfFrameFind(r, scope, name);
    return frame >= 0 && r->frame[frame].kind == kind ? frame : -1;
}

static void readVelocity(pcSdfReader* r, const xmlNode* node, double out[6])
{
    if (!pcSdfNumbers(r, node, out, 6)) return;
    for (int k = 0; k < 6; k++)
        if (!(fabs(out[k]) <= FASTEST)) pcSdfFail(r, node, "<velocity> is %g: beyond %g nothing is computed", out[k], FASTEST);
}

static void readLink(pcSdfReader* r, const xmlNode* node, int model)
{
    static const char* const known[] = {"velocity", NULL};
    const xmlNode* velocity = pcSdfChild(node, "velocity");
    const char* own = pcSdfAttribute(r, node, "name");
    int link = own ? find(r, model, PC_SDF_LINK, own) : -1;
    if (link < 0)
        pcSdfFail(r, node, "the state names a link '%.60s' of the model '%.60s', which there is not", own ? own : "", r->frame[model].name);
    else if (velocity)
        readVelocity(r, velocity, r->scene->link[r->frame[link].link].velocity);
    pcSdfSkip(r, node, known);
}

/* A saved state may be of more than this file has. */
static void readModel(pcSdfReader* r, const xmlNode* node, int scope)
{
    static const char* const known[] = {"link", "model", NULL};
    const char* own = pcSdfAttribute(r, node, "name");
    if (!own) {
        pcSdfFail(r, node, "a model of the state has no name");
        return;
    }
    int model = find(r, scope, PC_SDF_MODEL, own);
    if (model < 0) {
        pcSdfNoted(r, "state of a model that there is not");
        return;
    }
    for (const xmlNode* child = pcSdfFirst(node); child && r->status == PC_OK; child = pcSdfFollowing(child)) {
        if (pcSdfIs(child, "link")) readLink(r, child, model);
        if (pcSdfIs(child, "model")) readModel(r, child, model);
    }
    pcSdfSkip(r, node, known);
}

void pcSdfState(pcSdfReader* r, const xmlNode* state)
{
    static const char* const known[] = {"model", NULL};
    if (!state) return;
    for (const xmlNode* node = pcSdfChild(state, "model"); node && r->status == PC_OK; node = pcSdfNext(node)) readModel(r, node, 0);
    pcSdfSkip(r, state, known);
}
