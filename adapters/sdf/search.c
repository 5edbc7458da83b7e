/*
 * Where files are: model://NAME/… in the folder of the file, in its models/, in the models/ beside it, then along PCONTACT_MODELS,
 * SDF_PATH and GAZEBO_MODEL_PATH (folders separated by colons); file://PATH and plain paths from the folder of the file.
 */
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

static const char* existing(pcSdfReader* r, const char* folder, const char* name)
{
    struct stat about;
    const char* path = pcSdfJoin(r, folder, "/", name);
    return stat(path, &about) == 0 && (S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)) ? path : NULL;
}

static const char* alongVariable(pcSdfReader* r, const char* variable, const char* name)
{
    const char *folders = getenv(variable), *found = NULL;
    for (const char* at = folders; at && *at && !found;) {
        size_t length = strcspn(at, ":");
        if (length > 0) found = existing(r, pcSdfKeepText(r, at, length), name);
        at += length + (at[length] == ':');
    }
    return found;
}

static const char* searchModel(pcSdfReader* r, const char* folder, const char* name)
{
    static const char* const beside[] = {"", "/models", "/..", "/../models", "/../../models"};
    static const char* const variables[] = {"PCONTACT_MODELS", "SDF_PATH", "GAZEBO_MODEL_PATH"};
    const char* found = NULL;
    for (size_t i = 0; i < sizeof beside / sizeof *beside && !found; i++) found = existing(r, pcSdfJoin(r, folder, "", beside[i]), name);
    for (size_t i = 0; i < sizeof variables / sizeof *variables && !found; i++) found = alongVariable(r, variables[i], name);
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
static const char* pickFile(pcSdfReader* r, const char* folder)
{
    const char *config = existing(r, folder, "model.config"), *best = NULL;
    int bestVersion = -1;
    xmlNode* root = config ? pcSdfOpen(r, config) : NULL;
    for (const xmlNode* node = pcSdfChild(root, "sdf"); node; node = pcSdfNext(node)) {
        int version = versionOf(pcSdfAttribute(r, node, "version"));
        const char* file = existing(r, folder, pcSdfText(r, node));
        if (!file || isFolder(file) || version < bestVersion || (version > 107 && best)) continue;
        best = file, bestVersion = version;
    }
    return best ? best : existing(r, folder, "model.sdf");
}

static bool beginsWith(const char* text, const char* start) { return strncmp(text, start, strlen(start)) == 0; }

const char* pcSdfSearch(pcSdfReader* r, const xmlNode* node, const char* uri)
{
    const char *folder = folderOf(r, pcSdfFile(node)), *found;
    if (beginsWith(uri, "model://"))
        found = searchModel(r, folder, uri + 8);
    else if (strstr(uri, "://") && !beginsWith(uri, "file://"))
        found = NULL;
    else {
        const char* path = beginsWith(uri, "file://") ? uri + 7 : uri;
        found = path[0] == '/' ? existing(r, "", path + 1) : searchModel(r, folder, path);
    }
    return found && isFolder(found) ? pickFile(r, found) : found;
}
