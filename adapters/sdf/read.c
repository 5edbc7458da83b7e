/* The whole file: read all elements, then work out all poses. */
#include <libxml/hash.h>
#include <libxml/parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/reader.h"
#include "base/status.h"

void pcSdfVersion(pcSdfReader* r, const xmlNode* root)
{
    int major = 0, minor = 0;
    const char* text = pcSdfAttribute(r, root, "version");
    if (!pcSdfIs(root, "sdf") && !pcSdfIs(root, "gazebo")) pcSdfFail(r, root, "the root element is <%.60s>, not <sdf>", root->name);
    if (!text || sscanf(text, "%4d.%4d", &major, &minor) != 2 || major < 0 || minor < 0) {
        pcSdfFail(r, root, "<sdf> needs a version, such as 1.6");
        return;
    }
    r->version = 100 * major + minor;
    if (r->version >= 103 && r->version <= 107) return;
    pcSdfNoted(r, pcSdfJoin(r, "file of SDF version ", "", text));
    r->version = r->version < 103 ? 103 : 107;
}

/* The one that calls itself the default, else the first. */
static const xmlNode* physicsOf(pcSdfReader* r, const xmlNode* world)
{
    const xmlNode *first = pcSdfChild(world, "physics"), *chosen = first;
    for (const xmlNode* node = first; node; node = pcSdfNext(node)) {
        const char* value = pcSdfAttribute(r, node, "default");
        if (value && (strcmp(value, "true") == 0 || strcmp(value, "1") == 0)) return node;
    }
    return chosen;
}

static void readElements(pcSdfReader* r, const xmlNode* world)
{
    for (xmlNode* node = pcSdfFirst(world); node && r->status == PC_OK; node = pcSdfFollowing(node)) {
        if (pcSdfIs(node, "model")) pcSdfModel(r, node, 0, false, NULL);
        if (pcSdfIs(node, "include")) pcSdfInclude(r, node, 0, false);
        if (pcSdfIs(node, "joint")) pcSdfJointHead(r, node, 0);
        if (pcSdfIs(node, "frame")) pcSdfFrameRead(r, node, 0);
    }
    r->random = r->seed ? r->seed : r->scene->physics.seed;
    for (xmlNode* node = pcSdfChild(world, "population"); node && r->status == PC_OK; node = pcSdfNext(node)) pcSdfPopulation(r, node);
}

void pcSdfWorld(pcSdfReader* r, const xmlNode* root)
{
    static const char* const known[] = {"model",          "include",    "joint", "frame", "physics",    "gravity", "gui",
                                        "magnetic_field", "atmosphere", "wind",  "state", "population", NULL};
    static const char* const knownInFile[] = {"model", "world", NULL};
    const xmlNode* world = pcSdfChild(root, "world");
    const xmlNode* physics = physicsOf(r, world);
    pcSdfGravity(r, world, r->scene->physics.gravity);
    if (physics) pcSdfPhysics(r, physics);
    if (world && pcSdfNext(world)) pcSdfNoted(r, "further world");
    if (!world && !pcSdfChild(root, "model")) pcSdfFail(r, root, "the file has neither a <world> nor a <model>");
    readElements(r, world ? world : root);
    if (r->status == PC_OK) pcSdfState(r, pcSdfChild(world, "state"));
    pcSdfSkip(r, world ? world : root, world ? known : knownInFile);
}

/* ---- poses ---- */

static void placeModels(pcSdfReader* r)
{
    pcScene* scene = r->scene;
    scene->model = pcSdfKeep(r, (size_t)r->frames * sizeof *scene->model + 1);
    for (int i = 1; i < r->frames && r->status == PC_OK; i++) {
        if (r->frame[i].kind != PC_SDF_MODEL || r->frame[i].link < 0) continue;
        const char* name = pcSdfScopeName(r, r->frame[i].scope, r->frame[i].name);
        scene->model[scene->models++] = (pcSceneModel){name, pcSdfFrameWorld(r, i)};
    }
}

static void placeAll(pcSdfReader* r)
{
    pcScene* scene = r->scene;
    for (int i = 0; i < scene->links && r->status == PC_OK; i++) scene->link[i].pose = pcSdfFrameWorld(r, r->linkFrame[i]);
    for (int i = 0; i < scene->collisions && r->status == PC_OK; i++) {
        pcPose world = pcSdfFrameWorld(r, r->collisionFrame[i]);
        scene->collision[i].pose = pcSdfRelative(&scene->link[scene->collision[i].link].pose, &world);
    }
    pcSdfFramesCheck(r);
    if (r->status == PC_OK) placeModels(r);
    for (int i = 0; i < r->jointNodes && r->status == PC_OK; i++) pcSdfJoint(r, r->jointNode + i);
}

static void freeReader(pcSdfReader* r)
{
    for (int i = 0; i < r->docs; i++) xmlFreeDoc(r->doc[i]);
    xmlHashFree(r->names, NULL);
    void* all[] = {r->doc, r->frame, r->linkFrame, r->collisionFrame, r->jointNode, r->note};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) free(all[i]);
}

static void readFile(pcSdfReader* r, const char* file)
{
    pcSdfFrame world = {.kind = PC_SDF_FRAME, .state = 2, .link = -1, .pose = pcSdfIdentity(), .local = pcSdfIdentity()};
    pcSdfDefaultPhysics(&r->scene->physics);
    pcSdfFrameAdd(r, &world);
    pcSdfRoots(r, file);
    xmlNode* root = pcSdfOpen(r, file);
    if (!root) return;
    pcSdfVersion(r, root);
    if (r->status == PC_OK) pcSdfWorld(r, root);
    if (r->status == PC_OK) placeAll(r);
    r->scene->skipped = pcSdfNotes(r);
}

/* What libxml2 has no memory for, outside of its parser, it leaves out: attributes, texts. */
static void noteMemory(void* reader, xmlError* error)
{
    if (error->code == XML_ERR_NO_MEMORY) pcSdfOutOfMemory(reader);
}

pcStatus pcSceneRead(const char* file, pcScene** out) { return pcSceneReadSeeded(file, 0, out); }

pcStatus pcSceneReadSeeded(const char* file, unsigned seed, pcScene** out)
{
    pcSdfReader reader = {.status = PC_OK, .seed = seed, .file = file};
    if (!file || !out) return pcFail(PC_ERROR_ARGUMENT, "pcSceneRead needs a file and a place for the scene");
    pcStatus status = pcSceneMake(&reader.scene);
    if (status != PC_OK) return status;
    xmlInitParser();
    xmlSetStructuredErrorFunc(&reader, noteMemory); /* of this thread */
    reader.names = xmlHashCreate(64);
    if (!reader.names)
        reader.status = pcFail(PC_ERROR_MEMORY, "out of memory for a world file");
    else
        readFile(&reader, file);
    freeReader(&reader);
    xmlSetStructuredErrorFunc(NULL, NULL);
    xmlResetLastError(); /* it would be kept */
    if (reader.status == PC_ERROR_MEMORY)
        pcFail(PC_ERROR_MEMORY, "out of memory for the world file %s", file); /* texts that were not there had others */
    if (reader.status == PC_OK)
        *out = reader.scene;
    else
        pcSceneFree(reader.scene);
    return reader.status;
}
