/*
 * The features of one body that can take part in an event: those with a point at most so deep below the support plane. The vertices above a
 * level of a linear function are connected in the vertex graph of a convex body, so a flood from the highest one finds them all.
 */
#include <string.h>

#include "events/events.h"

static int slotOf(const pcFeatureSet* set, int item)
{
    unsigned at = (unsigned)item * 2654435761u;
    int i = (int)((at ^ (at >> 15)) & (unsigned)set->mask);
    while (set->slot[i] >= 0 && set->slot[i] != item) i = (i + 1) & set->mask;
    return i;
}

bool pcFeatureSetLookUp(const pcFeatureSet* set, int item) { return set->slot[slotOf(set, item)] == item; }

static void clear(pcFeatureSet* set, int slots)
{
    set->mask = slots - 1;
    memset(set->slot, 0xff, (size_t)slots * sizeof *set->slot);
}

/* Twice the table, filled anew from the list. */
static void grow(pcFeatureSet* set)
{
    clear(set, 2 * (set->mask + 1));
    for (int i = 0; i < set->count; i++) set->slot[slotOf(set, set->item[i])] = set->item[i];
}

/* False if the set is full; an item that is there already is no failure. */
static bool insert(pcFeatureSet* set, int item)
{
    if (set->mask == 0) {
        uint64_t bit = (uint64_t)1 << item;
        set->item[set->count] = item;
        set->count += !(set->bits & bit);
        set->bits |= bit;
        return true;
    }
    int at = slotOf(set, item);
    if (set->slot[at] == item) return true;
    if (set->count == PC_NEAR_LIMIT) return false;
    set->slot[at] = item;
    set->item[set->count++] = item;
    if (2 * set->count > set->mask && set->mask + 1 < 2 * PC_NEAR_LIMIT) grow(set);
    return true;
}

static void start(pcFeatureSet* set, int features)
{
    set->count = set->mask = 0;
    set->bits = 0;
    if (features > 64) clear(set, 64);
}

/* Few vertices: looking at all of them is quicker than flooding. */
static void scanVertices(const pcShape* s, v3 d, double floor, pcFeatureSet* out)
{
    for (int i = 0; i < s->vertexCount; i++) {
        bool near = v3Dot(pcShapeK(s, i), d) >= floor;
        out->item[out->count] = i;
        out->count += near;
        out->bits |= (uint64_t)near << i;
    }
}

bool pcNearVertices(const pcShape* s, v3 d, double floor, int highest, pcFeatureSet* out)
{
    start(out, s->vertexCount);
    if (s->vertexCount <= PC_SCAN_LIMIT) {
        scanVertices(s, d, floor, out);
        return true;
    }
    insert(out, highest);
    for (int i = 0; i < out->count; i++) {
        int vertex = out->item[i];
        for (int at = s->fanStart[vertex]; at < s->fanStart[vertex + 1]; at++) {
            int next = s->fanVertex[at];
            if (v3Dot(pcShapeK(s, next), d) >= floor && !insert(out, next)) return false;
        }
    }
    return true;
}

static bool hasNearCorner(const pcShape* s, int facet, const pcFeatureSet* vertices)
{
    for (int slot = s->ringStart[facet]; slot < s->ringStart[facet + 1]; slot++)
        if (pcFeatureSetHas(vertices, s->ringVertex[slot])) return true;
    return false;
}

bool pcNearFacets(const pcShape* s, v3 d, double facing, const pcFeatureSet* vertices, pcFeatureSet* out)
{
    start(out, s->facetCount);
    if (s->vertexCount <= PC_SCAN_LIMIT) {
        for (int k = 0; k < s->facetCount; k++)
            if (v3Dot(s->normal[k], d) > facing && hasNearCorner(s, k, vertices)) insert(out, k);
        return true;
    }
    for (int i = 0; i < vertices->count; i++)
        for (int at = s->fanStart[vertices->item[i]]; at < s->fanStart[vertices->item[i] + 1]; at++)
            if (v3Dot(s->normal[s->fanFacet[at]], d) > facing && !insert(out, s->fanFacet[at])) return false;
    return true;
}

/* The facet at a vertex that faces d best. */
static int facetFacing(const pcShape* s, v3 d, int vertex)
{
    int best = s->fanFacet[s->fanStart[vertex]];
    for (int at = s->fanStart[vertex] + 1; at < s->fanStart[vertex + 1]; at++)
        if (v3Dot(s->normal[s->fanFacet[at]], d) > v3Dot(s->normal[best], d)) best = s->fanFacet[at];
    return best;
}

/* From around the whole facet, so that what rests on it does not tip. */
void pcNearThinned(const pcShape* s, v3 d, int highest, pcFeatureSet* vertices, pcFeatureSet* facets)
{
    int facet = facetFacing(s, d, highest), first = s->ringStart[facet], size = s->ringStart[facet + 1] - first;
    int stride = (size + PC_NEAR_LIMIT / 2 - 1) / (PC_NEAR_LIMIT / 2);
    start(vertices, s->vertexCount);
    start(facets, s->facetCount);
    insert(vertices, highest);
    insert(facets, facet);
    for (int i = 0; i < size; i += stride) {
        insert(vertices, s->ringVertex[first + i]);
        insert(facets, s->ringFacet[first + i]);
    }
}
