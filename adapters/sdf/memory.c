/* Everything that a scene holds, in one list. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "base/status.h"

struct pcSceneMemory {
    struct pcSceneMemory* next;
    max_align_t bytes[];
};

void pcSdfOutOfMemory(pcSdfReader* r)
{
    if (r->status == PC_OK) r->status = pcFail(PC_ERROR_MEMORY, "out of memory for a world file");
}

pcStatus pcSceneMake(pcScene** out)
{
    *out = calloc(1, sizeof **out);
    if (!*out) return pcFail(PC_ERROR_MEMORY, "out of memory for a world file");
    (*out)->owners = 1;
    return PC_OK;
}

pcScene* pcSceneShare(const pcScene* scene)
{
    pcScene* shared = (pcScene*)scene; /* only its owners are counted */
    shared->owners++;
    return shared;
}

void pcSceneFree(pcScene* scene)
{
    if (!scene || --scene->owners > 0) return;
    for (struct pcSceneMemory *m = scene->memory, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    free(scene->link);
    free(scene->collision);
    free(scene->joint);
    free(scene);
}

/* A file of a few MB can ask for any amount: names of models in each other, clones, lists. */
static bool mayKeep(pcSdfReader* r, size_t bytes)
{
    r->kept += bytes;
    if (bytes <= PC_SDF_MOST_KEPT && r->kept <= PC_SDF_MOST_KEPT) return true;
    if (r->status == PC_OK) r->status = pcFail(PC_ERROR_ARGUMENT, "%s:0: the world needs more than %d MB", r->file, PC_SDF_MOST_KEPT >> 20);
    return false;
}

void* pcSdfKeep(pcSdfReader* r, size_t bytes)
{
    if (!mayKeep(r, bytes + sizeof(struct pcSceneMemory))) return NULL;
    struct pcSceneMemory* m = calloc(1, sizeof *m + bytes);
    if (!m) {
        pcSdfOutOfMemory(r);
        return NULL;
    }
    m->next = r->scene->memory;
    r->scene->memory = m;
    return m->bytes;
}

const char* pcSdfKeepText(pcSdfReader* r, const char* text, size_t length)
{
    char* copy = pcSdfKeep(r, length + 1);
    if (copy) memcpy(copy, text, length);
    return copy ? copy : "";
}

const char* pcSdfJoin(pcSdfReader* r, const char* first, const char* separator, const char* second)
{
    size_t a = strlen(first), b = strlen(separator), c = strlen(second);
    char* text = pcSdfKeep(r, a + b + c + 1);
    if (!text) return "";
    memcpy(text, first, a);
    memcpy(text + a, separator, b);
    memcpy(text + a + b, second, c);
    return text;
}

bool pcSdfGrow(pcSdfReader* r, void* array, int* room, int needed, size_t size)
{
    void* old;
    if (needed <= *room) return true;
    int more = *room < 16 ? 16 : 2 * *room;
    if (more < needed) more = needed;
    if (!mayKeep(r, (size_t)(more - *room) * size)) return false;
    memcpy(&old, array, sizeof old);
    void* wider = realloc(old, (size_t)more * size);
    if (!wider) {
        pcSdfOutOfMemory(r);
        return false;
    }
    memcpy(array, &wider, sizeof wider);
    *room = more;
    return true;
}
