/* <pcontact><layer> of a collision: a compliant layer over a rigid core (pcontact/implicit.h). */
#include <math.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "implicit/system.h"

/* One number, along the normal, or a matrix of nine over normal and tangents; how many there were, 0 if the element is missing. */
static int readMatrix(pcSdfReader* r, const xmlNode* layer, const char* name, double out[9])
{
    int count = 0;
    const xmlNode* node = pcSdfChild(layer, name);
    const double* list = node ? pcSdfList(r, node, &count) : NULL;
    if (!list) return 0;
    if (count != 1 && count != 9)
        pcSdfFail(r, node, "<%s> has %d numbers; it must have 1, along the normal, or 9, a matrix over the normal and two tangents", name,
                  count);
    else
        memcpy(out, list, (size_t)count * sizeof *out);
    return count;
}

static void readLayer(pcSdfReader* r, const xmlNode* node, pcLayer* out)
{
    static const char* const known[] = {"stiffness", "damping", "deepest", NULL};
    int stiffness = readMatrix(r, node, "stiffness", out->stiffness), damping = readMatrix(r, node, "damping", out->damping);
    if (stiffness == 0) pcSdfFail(r, node, "<layer> needs a <stiffness>");
    if (stiffness == 1 && damping == 9)
        pcSdfFail(r, pcSdfChild(node, "damping"), "<damping> is a matrix, but <stiffness> has one number: then friction is rigid");
    out->tangential = stiffness == 9;
    out->deepest = pcSdfMost(r, node, "deepest", HUGE_VAL);
    pcSdfSkip(r, node, known);
    if (r->status == PC_OK && pcLayerCheck(out) != PC_OK) pcSdfFail(r, node, "%.200s", pcLastError());
}

void pcSdfLayer(pcSdfReader* r, const xmlNode* collision, pcSceneCollision* out)
{
    const xmlNode* own = pcSdfChild(collision, "pcontact");
    for (const xmlNode* node = pcSdfFirst(own); node && r->status == PC_OK; node = pcSdfFollowing(node)) {
        if (!pcSdfIs(node, "layer")) {
            pcSdfFail(r, node, "<pcontact> of a collision has no <%.60s>; it has <layer>", node->name);
        } else {
            out->soft = true, out->layer = (pcLayer){0};
            readLayer(r, node, &out->layer);
        }
    }
    if (!out->soft) return;
    /* Models that know no layers have its spring, without an end, unless <surface> has words of its own. */
    if (isnan(out->surface.kp)) out->surface.kp = out->layer.stiffness[0];
    if (isnan(out->surface.kd)) out->surface.kd = out->layer.damping[0];
}
