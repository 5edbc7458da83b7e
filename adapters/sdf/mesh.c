/* Meshes: OBJ, and STL as text or binary. Only points matter; what they bound is their convex hull. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "adapters/sdf/hull.h"
#include "adapters/sdf/reader.h"

enum { MOST_PIECES = 10000, MOST_WORDS = 5 };

typedef struct Points {
    int count, room;
    double* xyz;
} Points;

typedef struct Mesh {
    pcSdfReader* reader;
    const xmlNode* node; /* the <mesh>, whose line a failure names beside the file of the mesh */
    const char *file, *uri;
    int line;
    bool pieces; /* each object, group or solid by itself */
    double scale[3];
    pcSceneShape* out;
    int pieceRoom;
    Points vertex; /* OBJ: all so far */
    Points part;   /* of the piece at hand */
} Mesh;

static void failAt(Mesh* m, const char* what) { pcSdfFail(m->reader, m->node, "%s:%d: %s", m->file, m->line, what); }

static void addPoint(Mesh* m, Points* points, const double* xyz)
{
    int room = points->room;
    if (points->count == PC_SDF_MOST_CORNERS) {
        failAt(m, "the mesh is too large");
        return;
    }
    if (!pcSdfGrow(m->reader, &points->xyz, &room, points->count + 1, 3 * sizeof *points->xyz)) return;
    points->room = room;
    memcpy(points->xyz + 3 * (size_t)points->count++, xyz, 3 * sizeof *xyz);
}

static bool hasRoom(Mesh* m)
{
    int count = m->out->pieces;
    if (count < m->pieceRoom) return true;
    m->pieceRoom = count > 0 ? 2 * count : 1;
    pcScenePoints* wider = pcSdfKeep(m->reader, (size_t)m->pieceRoom * sizeof *wider);
    if (wider && count > 0) memcpy(wider, m->out->piece, (size_t)count * sizeof *wider);
    m->out->piece = wider;
    return wider != NULL;
}

static int comparePoints(const void* a, const void* b) { return memcmp(a, b, 3 * sizeof(double)); }

/* Each point once: triangles share their corners. */
static int sortOutTwins(double (*xyz)[3], int count)
{
    int kept = 0;
    qsort(xyz, (size_t)count, sizeof *xyz, comparePoints);
    for (int i = 0; i < count; i++)
        if (kept == 0 || comparePoints(xyz[kept - 1], xyz[i]) != 0) memmove(xyz[kept++], xyz[i], sizeof *xyz);
    return kept;
}

/* The hull of a million points on a sphere would take minutes and gigabytes. */
static void countPoints(Mesh* m)
{
    pcSdfReader* r = m->reader;
    if (m->part.count > PC_SDF_MOST_POINTS) m->part.count = sortOutTwins((double(*)[3])m->part.xyz, m->part.count);
    if (m->part.count > PC_SDF_MOST_POINTS - r->points)
        pcSdfFail(r, m->node, "%s: the meshes have more than %d points in all", m->file, PC_SDF_MOST_POINTS);
    else
        r->points += m->part.count;
}

/* The piece at hand is complete. */
static void endPiece(Mesh* m)
{
    if (m->part.count == 0 || m->reader->status != PC_OK) return;
    if (m->out->pieces == MOST_PIECES) failAt(m, "the mesh has too many pieces");
    countPoints(m);
    pcScenePoints piece = {m->part.count, m->part.xyz};
    pcSdfHull(m->reader, m->node, &piece);
    if (m->reader->status != PC_OK || !hasRoom(m)) return;
    m->out->piece[m->out->pieces++] = piece;
    m->part.count = 0;
}

static void beginPiece(Mesh* m)
{
    if (m->pieces) endPiece(m);
}

/* ---- text ---- */

static bool readPoint(Mesh* m, char* const* word, int words, double xyz[3])
{
    for (int k = 0; k < 3; k++)
        if (words < 4 || !pcSdfWord(word[1 + k], xyz + k)) {
            failAt(m, "a point must be 3 finite numbers");
            return false;
        }
    for (int k = 0; k < 3; k++) xyz[k] *= m->scale[k];
    return true;
}

static void readFace(Mesh* m, char* rest)
{
    char* state;
    for (char* word = strtok_r(rest, " \t\r", &state); word && m->reader->status == PC_OK; word = strtok_r(NULL, " \t\r", &state)) {
        long index = strtol(word, NULL, 10), at = index > 0 ? index - 1 : m->vertex.count + index;
        if (index == 0 || at < 0 || at >= m->vertex.count)
            failAt(m, "a face names a point that there is not");
        else
            addPoint(m, &m->part, m->vertex.xyz + 3 * at);
    }
}

static int splitWords(char* line, char* word[MOST_WORDS])
{
    char* state;
    int words = 0;
    for (char* w = strtok_r(line, " \t\r", &state); w && words < MOST_WORDS; w = strtok_r(NULL, " \t\r", &state)) word[words++] = w;
    return words;
}

static void objLine(Mesh* m, char* line)
{
    char* word[MOST_WORDS];
    double xyz[3];
    if (line[0] == 'f' && (line[1] == ' ' || line[1] == '\t')) {
        readFace(m, line + 2);
        return;
    }
    int words = splitWords(line, word);
    if (words == 0) return;
    if (strcmp(word[0], "v") == 0 && readPoint(m, word, words, xyz)) addPoint(m, &m->vertex, xyz);
    if (strcmp(word[0], "o") == 0 || strcmp(word[0], "g") == 0) beginPiece(m);
}

static void stlLine(Mesh* m, char* line)
{
    char* word[MOST_WORDS];
    double xyz[3];
    int words = splitWords(line, word);
    if (words == 0) return;
    if (strcmp(word[0], "vertex") == 0 && readPoint(m, word, words, xyz)) addPoint(m, &m->part, xyz);
    if (strcmp(word[0], "solid") == 0) beginPiece(m);
}

static void readLines(Mesh* m, char* text, void (*take)(Mesh*, char*))
{
    for (char* line = text; line && m->reader->status == PC_OK;) {
        char* end = strchr(line, '\n');
        if (end) *end = 0;
        m->line++;
        take(m, line);
        line = end ? end + 1 : NULL;
    }
}

/* ---- binary ---- */

static void readBinary(Mesh* m, const char* bytes, size_t size)
{
    uint32_t count;
    memcpy(&count, bytes + 80, sizeof count);
    size_t there = (size - 84) / 50;
    if (there < count) {
        char what[100];
        snprintf(what, sizeof what, "the file says that it has %u triangles, and ends after %zu", (unsigned)count, there);
        failAt(m, what);
    }
    for (uint32_t i = 0; i < count && m->reader->status == PC_OK; i++)
        for (int corner = 0; corner < 3; corner++) {
            float f[3];
            double xyz[3];
            memcpy(f, bytes + 84 + 50 * (size_t)i + 12 + 12 * (size_t)corner, sizeof f);
            for (int k = 0; k < 3; k++) xyz[k] = m->scale[k] * (double)f[k];
            if (isfinite(xyz[0] + xyz[1] + xyz[2]))
                addPoint(m, &m->part, xyz);
            else
                failAt(m, "a point is not finite");
        }
}

static bool isBinary(const char* bytes, size_t size)
{
    uint32_t count;
    if (size < 84) return false;
    memcpy(&count, bytes + 80, sizeof count);
    return size == 84 + 50 * (size_t)count || memcmp(bytes, "solid", 5) != 0;
}

/* ---- the file ---- */

static bool endsIn(const char* text, const char* end)
{
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcasecmp(text + a - b, end) == 0;
}

static void readMesh(Mesh* m, char* bytes, size_t size)
{
    bytes[size] = 0;
    if (endsIn(m->uri, ".obj"))
        readLines(m, bytes, objLine);
    else if (isBinary(bytes, size))
        readBinary(m, bytes, size);
    else
        readLines(m, bytes, stlLine);
    if (m->part.count == 0 && m->out->pieces == 0) { /* an OBJ of points alone */
        Points swap = m->part;
        m->part = m->vertex, m->vertex = swap;
    }
    endPiece(m);
    if (m->out->pieces == 0) failAt(m, "the mesh has no points");
}

static void freePoints(Mesh* m, Points* points)
{
    m->reader->kept -= (size_t)points->room * 3 * sizeof *points->xyz;
    free(points->xyz);
}

/* ---- meshes that several collisions name are read once ---- */

struct pcSdfMeshRead {
    struct pcSdfMeshRead* next;
    const char* file;
    double scale[3];
    bool pieces;
    pcSceneShape shape;
};

static bool readBefore(Mesh* m)
{
    const struct pcSdfMeshRead* known = m->reader->meshes;
    while (known &&
           (strcmp(known->file, m->file) != 0 || memcmp(known->scale, m->scale, sizeof m->scale) != 0 || known->pieces != m->pieces))
        known = known->next;
    if (known) *m->out = known->shape;
    return known != NULL;
}

static void remember(Mesh* m)
{
    struct pcSdfMeshRead* entry = m->reader->status == PC_OK ? pcSdfKeep(m->reader, sizeof *entry) : NULL;
    if (!entry) return;
    *entry = (struct pcSdfMeshRead){.next = m->reader->meshes, .file = m->file, .pieces = m->pieces, .shape = *m->out};
    memcpy(entry->scale, m->scale, sizeof m->scale);
    m->reader->meshes = entry;
}

static void readFile(Mesh* m)
{
    size_t size;
    char* bytes = pcSdfReadAll(m->reader, m->file, &size);
    if (bytes) readMesh(m, bytes, size);
    free(bytes);
    freePoints(m, &m->vertex);
    freePoints(m, &m->part);
    remember(m);
}

void pcSdfMesh(pcSdfReader* r, const xmlNode* node, pcSceneShape* out)
{
    const char* uri = pcSdfText(r, pcSdfChild(node, "uri"));
    Mesh m = {.reader = r, .node = node, .uri = uri, .scale = {1, 1, 1}, .out = out};
    if (!*uri) pcSdfFail(r, node, "<mesh> needs a <uri>");
    if (r->status != PC_OK) return;
    if (!endsIn(uri, ".obj") && !endsIn(uri, ".stl")) {
        pcSdfNoted(r, "collision by a mesh that is neither OBJ nor STL");
        return;
    }
    if (pcSdfChild(node, "submesh")) pcSdfNoted(r, "submesh, taken as the whole mesh");
    pcSdfVector(r, node, "scale", m.scale);
    m.pieces = pcSdfFlag(r, pcSdfChild(node, "pcontact"), "pieces", false);
    m.file = pcSdfSearch(r, node, uri);
    if (!m.file) pcSdfFail(r, node, "there is no mesh '%.200s'", uri);
    if (r->status == PC_OK && !readBefore(&m)) readFile(&m);
}
