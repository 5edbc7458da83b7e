/* <state>: the velocities that links start with. Poses in it are those of another moment, and are not read. */
#include <string.h>

#include "adapters/sdf/reader.h"

static pcSceneLink* linkOf(pcSdfReader* r, const char* name)
{
    for (int i = 0; i < r->scene->links; i++)
        if (strcmp(r->scene->link[i].name, name) == 0) return r->scene->link + i;
    return NULL;
}

static void readLink(pcSdfReader* r, const xmlNode* node, const char* model)
{
    static const char* const known[] = {"velocity", NULL};
    const xmlNode* velocity = pcSdfChild(node, "velocity");
    const char* own = pcSdfAttribute(r, node, "name");
    const char* name = own ? pcSdfJoin(r, model, "::", own) : NULL;
    pcSceneLink* link = name ? linkOf(r, name) : NULL;
    if (!link)
        pcSdfFail(r, node, "the state names a link '%.60s' of the model '%.60s', which there is not", own ? own : "", model);
    else if (velocity)
        pcSdfNumbers(r, velocity, link->velocity, 6);
    pcSdfSkip(r, node, known);
}

static void readModel(pcSdfReader* r, const xmlNode* node, const char* outer)
{
    static const char* const known[] = {"link", "model", NULL};
    const char* own = pcSdfAttribute(r, node, "name");
    if (!own) {
        pcSdfFail(r, node, "a model of the state has no name");
        return;
    }
    const char* name = outer ? pcSdfJoin(r, outer, "::", own) : own;
    for (const xmlNode* child = pcSdfFirst(node); name && child && r->status == PC_OK; child = pcSdfFollowing(child)) {
        if (pcSdfIs(child, "link")) readLink(r, child, name);
        if (pcSdfIs(child, "model")) readModel(r, child, name);
    }
    pcSdfSkip(r, node, known);
}

void pcSdfState(pcSdfReader* r, const xmlNode* state)
{
    static const char* const known[] = {"model", NULL};
    if (!state) return;
    for (const xmlNode* node = pcSdfChild(state, "model"); node && r->status == PC_OK; node = pcSdfNext(node)) readModel(r, node, NULL);
    pcSdfSkip(r, state, known);
}
