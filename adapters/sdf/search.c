/*
 * Where files are: model://NAME/…, file://PATH and plain paths, from the folder of the file that names them and then from the roots. These are
 * the folder of the world file, models/ in it, beside it and beside the folder above, the folder above if its own is a model's (it has a
 * model.config), and those along PCONTACT_MODELS, SDF_PATH and GAZEBO_MODEL_PATH (separated by colons).
 *
 * A world file may come from anybody: what is not in one of the roots, once `..` and symbolic links are followed, is not opened.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "adapters/sdf/reader.h"

static const char* folderOf(pcSdfReader* r, const char* file)
{
    const char* slash = strrchr(file, '/');
    return slash ? pcSdfKeepText(r, file, slash == file ? 1 : (size_t)(slash - file)) : ".";
}

static bool isFolder(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

static bool isFileOrFolder(const char* path)
{
    struct stat about;
    return stat(path, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode));
}

/* ---- roots ---- */

static void addRoot(pcSdfReader* r, const char* folder)
{
    char real[PATH_MAX];
    if (r->roots == PC_SDF_MOST_ROOTS || !realpath(folder, real) || !isFolder(real)) return;
    r->root[r->roots++] = pcSdfKeepText(r, real, strlen(real));
}

static void addRootsAlong(pcSdfReader* r, const char* variable)
{
    for (const char* at = getenv(variable); at && *at;) {
        size_t length = strcspn(at, ":");
        if (length > 0) addRoot(r, pcSdfKeepText(r, at, length));
        at += length + (at[length] == ':');
    }
}

void pcSdfRoots(pcSdfReader* r, const char* file)
{
    static const char* const beside[] = {"", "/models", "/../models", "/../../models"};
    static const char* const variables[] = {"PCONTACT_MODELS", "SDF_PATH", "GAZEBO_MODEL_PATH"};
    const char* folder = folderOf(r, file);
    for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) addRoot(r, pcSdfJoin(r, folder, "", beside[i]));
    if (isFileOrFolder(pcSdfJoin(r, folder, "/", "model.config"))) addRoot(r, pcSdfJoin(r, folder, "", "/.."));
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) addRootsAlong(r, variables[i]);
}

static bool isIn(const char* path, const char* root)
{
    size_t length = strlen(root);
    return strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0 || root[length - 1] == '/');
}

/* ---- files ---- */

/* Its real path, which has no links to follow any more; NULL: there is none, or *outside it is. */
static const char* existing(pcSdfReader* r, const char* folder, const char* name, bool* outside)
{
    char real[PATH_MAX];
    if (!realpath(pcSdfJoin(r, folder, "/", name), real) || !isFileOrFolder(real)) return NULL;
    for (int i = 0; i < r->roots; i++)
        if (isIn(real, r->root[i])) return pcSdfKeepText(r, real, strlen(real));
    *outside = true;
    return NULL;
}

static const char* searchRoots(pcSdfReader* r, const char* folder, const char* name, bool* outside)
{
    const char* found = existing(r, folder, name, outside);
    for (int i = 0; i < r->roots && !found; i++) found = existing(r, r->root[i], name, outside);
    return found;
}

/* "1.5" is 105. */
static int versionOf(const char* text)
{
    int major = 0, minor = 0;
    return text && sscanf(text, "%d.%d", &major, &minor) == 2 && major >= 0 && major < 100 && minor >= 0 && minor < 100
               ? 100 * major + minor
               : 0;
}

/* A folder's model.config names a file for each version: the newest that is not newer than ours and exists, else model.sdf. */
static const char* pickFile(pcSdfReader* r, const char* folder, bool* outside)
{
    const char *config = existing(r, folder, "model.config", outside), *best = NULL;
    int bestVersion = -1;
    xmlNode* root = config ? pcSdfOpen(r, config) : NULL;
    for (const xmlNode* node = pcSdfChild(root, "sdf"); node; node = pcSdfNext(node)) {
        int version = versionOf(pcSdfAttribute(r, node, "version"));
        const char* file = existing(r, folder, pcSdfText(r, node), outside);
        if (!file || isFolder(file) || version < bestVersion || (version > 107 && best)) continue;
        best = file, bestVersion = version;
    }
    return best ? best : existing(r, folder, "model.sdf", outside);
}

static bool beginsWith(const char* text, const char* start) { return strncmp(text, start, strlen(start)) == 0; }

static const char* find(pcSdfReader* r, const char* folder, const char* uri, bool* outside)
{
    if (beginsWith(uri, "model://")) return searchRoots(r, folder, uri + 8, outside);
    if (strstr(uri, "://") && !beginsWith(uri, "file://")) return NULL;
    const char* path = beginsWith(uri, "file://") ? uri + 7 : uri;
    return path[0] == '/' ? existing(r, "", path + 1, outside) : searchRoots(r, folder, path, outside);
}

const char* pcSdfSearch(pcSdfReader* r, const xmlNode* node, const char* uri)
{
    bool outside = false;
    const char* found = find(r, folderOf(r, pcSdfFile(node)), uri, &outside);
    if (found && isFolder(found)) found = pickFile(r, found, &outside);
    if (!found && outside)
        pcSdfFail(r, node, "'%.200s' is outside of the folders that are searched: PCONTACT_MODELS can name more of them", uri);
    return found;
}
