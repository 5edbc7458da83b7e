#include "adapters/ode/layers.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/status.h"
#include "implicit/system.h"

typedef struct Entry {
    struct Entry* next;
    dGeomID geom;
    pcLayer layer;
} Entry;

enum { BUCKETS = 1024 };
static Entry* buckets[BUCKETS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int entries; /* most processes have none, and then nobody takes the lock */

/* The link to its entry, or to the end of its bucket. */
static Entry** linkOf(dGeomID geom)
{
    Entry** link = buckets + (((uint64_t)(uintptr_t)geom >> 4) * 0x9e3779b97f4a7c15u >> 54);
    while (*link && (*link)->geom != geom) link = &(*link)->next;
    return link;
}

static void removeAt(Entry** link)
{
    Entry* gone = *link;
    if (!gone) return;
    *link = gone->next;
    free(gone);
    atomic_fetch_sub(&entries, 1);
}

/* ---- asking ---- */

bool pcOdeHasLayers(void) { return atomic_load(&entries) > 0; }

bool pcOdeLayersOf(const dGeomID* geom, int count, pcLayer* own, const pcLayer** of)
{
    bool any = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
        const Entry* entry = *linkOf(geom[i]);
        if (entry) own[i] = entry->layer, any = true;
        of[i] = entry ? own + i : NULL;
    }
    pthread_mutex_unlock(&lock);
    return any;
}

/* ---- giving ---- */

static pcStatus checkGiven(dGeomID geom, const pcLayer* layer)
{
    char sentence[200];
    if (!geom) return pcFail(PC_ERROR_ARGUMENT, "pcGeomSetLayer: no geom");
    if (dGeomIsSpace(geom)) return pcFail(PC_ERROR_UNSUPPORTED, "pcGeomSetLayer: a space has no surface; give the layer to its geoms");
    pcStatus status = layer ? pcLayerCheck(layer) : PC_OK;
    if (status == PC_OK) return PC_OK;
    snprintf(sentence, sizeof sentence, "%s", pcLastError());
    return pcFail(status, "pcGeomSetLayer: %s", sentence);
}

static pcStatus put(dGeomID geom, const pcLayer* layer)
{
    Entry** link = linkOf(geom);
    if (!*link) {
        *link = calloc(1, sizeof **link);
        if (!*link) return pcFail(PC_ERROR_MEMORY, "out of memory for the layer of a geom");
        (*link)->geom = geom;
        atomic_fetch_add(&entries, 1);
    }
    (*link)->layer = *layer;
    return PC_OK;
}

pcStatus pcGeomSetLayer(dGeomID geom, const pcLayer* layerOrNull)
{
    pcStatus status = checkGiven(geom, layerOrNull);
    if (status != PC_OK) return status;
    if (!layerOrNull) return pcOdeForgetLayer(geom), PC_OK;
    pthread_mutex_lock(&lock);
    status = put(geom, layerOrNull);
    pthread_mutex_unlock(&lock);
    return status;
}

/* ---- forgetting ---- */

void pcOdeForgetLayer(dGeomID geom)
{
    if (!pcOdeHasLayers()) return;
    pthread_mutex_lock(&lock);
    removeAt(linkOf(geom));
    pthread_mutex_unlock(&lock);
}

void pcOdeForgetAllLayers(void)
{
    pthread_mutex_lock(&lock);
    for (int i = 0; i < BUCKETS; i++)
        while (buckets[i]) removeAt(buckets + i);
    pthread_mutex_unlock(&lock);
}
