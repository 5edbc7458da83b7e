/*
 * Follows a program through the libraries it needs, as the loader would, breadth first: where is dWorldStep defined, who imports what of ODE.
 * Scripts lead on to what they run: a Python module of ODE, or the program that a shell script starts.
 */
#define _GNU_SOURCE
#include "adapters/cli/inspect.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <ode/ode.h>

#include "adapters/cli/elf.h"

#define DEEP_BINDING \
    "ODE calls of a library that is loaded with RTLD_DEEPBIND go past us; if so, 'exec' says afterwards that no step came by"
#define NATIVE_CONTACTS "its pairs keep ODE's own contacts"

const pcOdeUse pcOdeUses[] = {
    {"dWorldStep", "steps", NULL},
    {"dWorldQuickStep", "steps", NULL},
    {"dWorldStepFast1", "steps", "a step of old versions of ODE, which stays what it is"},
    {"dCollide", "contacts", NULL},
    {"dSpaceCollide", "contacts", NULL},
    {"dSpaceCollide2", "contacts", NULL},
    {"dJointCreateContact", "contacts", NULL},
    {"dCreateBox", "shapes", NULL},
    {"dCreateConvex", "shapes", NULL},
    {"dCreatePlane", "shapes", NULL},
    {"dCreateSphere", "shapes", NULL},
    {"dCreateCapsule", "shapes", NULL},
    {"dCreateCylinder", "shapes", NULL},
    {"dCreateTriMesh", "shapes", NATIVE_CONTACTS},
    {"dCreateHeightfield", "shapes", NATIVE_CONTACTS},
    {"dCreateRay", "shapes", "rays are answered by ODE alone"},
    {"dCreateGeomClass", "shapes", "pairs of a class of its own keep the program's contacts"},
    {"dSetColliderOverride", "shapes",
     "its own collider is not asked for pairs of the shapes that the metric knows, unless narrowphase=native"},
    {"dJointSetFeedback", "joints", NULL},
    {"dWorldSetQuickStepNumIterations", "settings", "our solvers end by tolerance instead"},
    {"dWorldSetQuickStepW", "settings", "our solvers have no over-relaxation"},
    {"dWorldSetStepThreadingImplementation", "threads", "ODE integrates on these threads; threads=N is for our solvers"},
    {"dThreadingAllocateMultiThreadedImplementation", "threads", NULL},
    {"dlopen", "loading", DEEP_BINDING},
    {"dlmopen", "loading", "what it loads into a namespace of its own cannot be intercepted"},
};
const int pcOdeUseCount = sizeof pcOdeUses / sizeof pcOdeUses[0];

enum { MAX_FILES = 1024, MAX_DEPTH = 3, MAX_SCRIPT_WORDS = 4000 };

static void conclude(pcInspection* answer, pcReach reach, const char* format, ...) __attribute__((format(printf, 3, 4)));
static void conclude(pcInspection* answer, pcReach reach, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    answer->reach = reach;
    vsnprintf(answer->sentence, sizeof answer->sentence, format, arguments);
    va_end(arguments);
}

/* ---- Files ------------------------------------------------------------------------------------------------------------------------- */

typedef struct File {
    const unsigned char* bytes;
    size_t size;
} File;

/* errno says why not. */
static bool openFile(const char* path, File* file)
{
    *file = (File){(const unsigned char*)"", 0};
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0) return false;
    struct stat about;
    bool regular = fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode);
    void* bytes = regular && about.st_size > 0 ? mmap(NULL, (size_t)about.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0) : NULL;
    close(descriptor);
    if (!regular) errno = S_ISDIR(about.st_mode) ? EISDIR : EINVAL;
    if (!regular || bytes == MAP_FAILED) return false;
    if (bytes) *file = (File){bytes, (size_t)about.st_size};
    return true;
}

static void closeFile(File* file)
{
    if (file->size > 0) munmap((void*)(size_t)file->bytes, file->size);
    file->size = 0;
}

static bool isReadable(const char* path) { return access(path, R_OK) == 0; }

static bool sameFile(const char* path1, const char* path2)
{
    struct stat a, b;
    return stat(path1, &a) == 0 && stat(path2, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Fails rather than give the beginning of a path. */
static bool join(char out[PC_FILE_NAME], const char* format, ...) __attribute__((format(printf, 2, 3)));
static bool join(char out[PC_FILE_NAME], const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(out, PC_FILE_NAME, format, arguments);
    va_end(arguments);
    return length >= 0 && length < PC_FILE_NAME;
}

/* Walks the folders of a list with colons; true as soon as `name` is in one. `origin`: what $ORIGIN stands for. */
static bool findInList(const char* list, const char* origin, const char* name, char out[PC_FILE_NAME])
{
    for (const char* at = list; at && *at;) {
        int length = (int)strcspn(at, ":");
        const char* rest = at;
        int skip = strncmp(at, "$ORIGIN", 7) == 0 ? 7 : strncmp(at, "${ORIGIN}", 9) == 0 ? 9 : 0;
        if (skip > length) skip = 0;
        rest += skip;
        if (length > 0 && join(out, "%s%.*s/%s", skip ? origin : "", length - skip, rest, name) && isReadable(out)) return true;
        at += length + (at[length] == ':');
    }
    return false;
}

/* ---- Where the loader looks -------------------------------------------------------------------------------------------------------- */

/* The folders of ld.so.conf and of the files it includes, as one list with colons. */
static void appendConfig(const char* path, char* list, size_t room, int depth)
{
    FILE* file = depth < MAX_DEPTH ? fopen(path, "r") : NULL;
    if (!file) return;
    char line[PC_FILE_NAME];
    while (fgets(line, sizeof line, file)) {
        char* word = line + strspn(line, " \t");
        word[strcspn(word, "#\r\n")] = 0;
        if (strncmp(word, "include", 7) == 0 && isspace((unsigned char)word[7])) {
            glob_t found;
            if (glob(word + 7 + strspn(word + 7, " \t"), 0, NULL, &found) != 0) continue;
            for (size_t i = 0; i < found.gl_pathc; i++) appendConfig(found.gl_pathv[i], list, room, depth + 1);
            globfree(&found);
        } else if (word[0] == '/' && strlen(list) + strlen(word) + 2 < room) {
            strcat(strcat(list, word), ":");
        }
    }
    fclose(file);
}

static const char* systemFolders(void)
{
    static char list[16384];
    if (!list[0]) {
        appendConfig("/etc/ld.so.conf", list, sizeof list - 64, 0);
        strcat(list, "/lib64:/usr/lib64:/lib:/usr/lib");
    }
    return list;
}

static void folderOf(const char* path, char out[PC_FILE_NAME])
{
    const char* slash = strrchr(path, '/');
    if (slash) {
        join(out, "%.*s", (int)(slash - path), path);
    } else {
        join(out, ".");
    }
}

/* `rootPath`: the RPATH of the program and its folder count for all. */
static bool findLibrary(const char* name, const pcElf* asker, const char* askerFolder, const char* rootPath, const char* rootFolder,
                        char out[PC_FILE_NAME])
{
    if (strchr(name, '/')) return join(out, "%s", name) && isReadable(out);
    if (!asker->runpath && (findInList(asker->rpath, askerFolder, name, out) || findInList(rootPath, rootFolder, name, out))) return true;
    return findInList(getenv("LD_LIBRARY_PATH"), askerFolder, name, out) || findInList(asker->runpath, askerFolder, name, out) ||
           findInList(systemFolders(), askerFolder, name, out);
}

/* ---- From library to library --------------------------------------------------------------------------------------------------------- */

typedef struct Walk {
    pcInspection* answer;
    char* path[MAX_FILES]; /* in the order of loading; [0] is the program */
    int count;
    char rootPath[PC_FILE_NAME], rootFolder[PC_FILE_NAME];
    char inside[PC_FILE_NAME]; /* a library other than libode that defines a step; "" none */
} Walk;

static void addFile(Walk* walk, const char* path)
{
    for (int i = 0; i < walk->count; i++) {
        if (strcmp(walk->path[i], path) == 0) return;
    }
    if (walk->count < MAX_FILES && (walk->path[walk->count] = strdup(path))) walk->count++;
}

static void noteName(pcInspection* answer, const char* name)
{
    for (int i = 0; i < pcOdeUseCount; i++) {
        if (strcmp(name, pcOdeUses[i].name) == 0) answer->uses |= 1ull << i;
    }
}

static bool noteUse(void* context, const char* name, bool defined)
{
    if (!defined && name[0] == 'd' && isupper((unsigned char)name[1])) noteName(context, name);
    return true;
}

/* Only of the program itself: half of the system's libraries load others, and none of those with an ODE. */
static bool noteUseAndLoading(void* context, const char* name, bool defined)
{
    if (!defined && strncmp(name, "dl", 2) == 0) noteName(context, name);
    return noteUse(context, name, defined);
}

static bool isOurs(const pcElf* elf) { return elf->soname && strncmp(elf->soname, "libpcontact", 11) == 0; }

static const char* base(const char* path)
{
    const char* slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* A library: the ODE, one that has an ODE inside, or one that may use it. */
static void noteLibrary(Walk* walk, const pcElf* elf, const char* path)
{
    if (isOurs(elf)) return;
    if (!pcElfDefines(elf, "dWorldStep")) {
        pcElfEachSymbol(elf, &elf->dynamicSymbols, noteUse, walk->answer);
    } else if (strncmp(base(path), "libode", 6) == 0) {
        if (!walk->answer->ode[0]) join(walk->answer->ode, "%s", path);
    } else if (!walk->inside[0]) {
        join(walk->inside, "%s", path);
    }
}

static void followNeeded(Walk* walk, const pcElf* elf, const char* path)
{
    char folder[PC_FILE_NAME], found[PC_FILE_NAME];
    folderOf(path, folder);
    for (int i = 0; i < elf->neededCount; i++) {
        if (findLibrary(elf->needed[i], elf, folder, walk->rootPath, walk->rootFolder, found)) {
            addFile(walk, found);
        } else if (!walk->answer->missing[0]) {
            snprintf(walk->answer->missing, sizeof walk->answer->missing, "%s", elf->needed[i]);
        }
    }
}

static void walkLibraries(Walk* walk, const pcElf* program)
{
    if (program->rpath) join(walk->rootPath, "%s", program->rpath);
    folderOf(walk->path[0], walk->rootFolder);
    followNeeded(walk, program, walk->path[0]);
    for (int i = 1; i < walk->count; i++) {
        File file;
        pcElf elf;
        const char* sentence;
        if (!openFile(walk->path[i], &file)) continue;
        if (pcElfRead(file.bytes, file.size, &elf, &sentence) == PC_ELF_OK) {
            noteLibrary(walk, &elf, walk->path[i]);
            followNeeded(walk, &elf, walk->path[i]);
        }
        closeFile(&file);
    }
}

/* ---- Verdict ------------------------------------------------------------------------------------------------------------------------ */

/* ODE itself, by name or, where names were stripped, by texts that every build with a step contains. */
static bool hasOdeInside(const pcElf* elf)
{
    static const char* const texts[] = {"LCP internal error, s <= 0", "ODE_double_precision", "ODE_single_precision"};
    if (pcElfDefines(elf, "dWorldStep") || pcElfDefines(elf, "dWorldQuickStep")) return true;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        if (memmem(elf->bytes, elf->size, texts[i], strlen(texts[i]))) return true;
    }
    return false;
}

static bool losesPreload(const char* path)
{
    struct stat about;
    if (stat(path, &about) != 0) return false;
    bool group = (about.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
    return (about.st_mode & S_ISUID) || group || getxattr(path, "security.capability", NULL, 0) > 0;
}

/* The ODE that this tool, and with it the preload library, is linked to. */
static const char* ownOde(void)
{
    Dl_info info;
    return dladdr((void*)(size_t)dGetConfiguration, &info) ? info.dli_fname : "";
}

static bool uses(const pcInspection* answer, const char* name)
{
    for (int i = 0; i < pcOdeUseCount; i++) {
        if (strcmp(pcOdeUses[i].name, name) == 0) return answer->uses >> i & 1;
    }
    return false;
}

static void judge(const Walk* walk, const pcElf* program)
{
    pcInspection* answer = walk->answer;
    const char* path = walk->path[0];
    bool inside = hasOdeInside(program) && !isOurs(program);
    if (inside && strncmp(base(path), "libode", 6) == 0) {
        conclude(answer, PC_REACH_NO_ODE, "%s is ODE itself, not a program that uses it", path);
    } else if (inside) {
        conclude(answer, PC_REACH_STATIC, "ODE is linked statically into %s, so its calls cannot be intercepted: link it with libode.so",
                 path);
    } else if (!program->dynamic || (!program->interpreter && program->neededCount == 0)) {
        conclude(answer, PC_REACH_NO_ODE, "%s is linked statically, without ODE, so nothing can be loaded before it", path);
    } else if (walk->inside[0]) {
        conclude(answer, PC_REACH_OTHER_ODE, "%s has an ODE of its own inside, which is not the one that pcontact was built for",
                 walk->inside);
    } else if (answer->ode[0] && !sameFile(answer->ode, ownOde())) {
        conclude(answer, PC_REACH_OTHER_ODE, "it loads %s, but pcontact was built for %s", answer->ode, ownOde());
    } else if (strncmp(answer->missing, "libode", 6) == 0) {
        conclude(answer, PC_REACH_OTHER_ODE, "it needs %s, which is not installed", answer->missing);
    } else if (!answer->ode[0]) {
        conclude(answer, PC_REACH_NO_ODE, "%s does not link ODE; if it loads it later, interception works all the same", path);
    } else if (losesPreload(path)) {
        conclude(answer, PC_REACH_SETUID, "%s is setuid, setgid or has capabilities, so the loader ignores LD_PRELOAD", path);
    } else if (!uses(answer, "dWorldStep") && !uses(answer, "dWorldQuickStep")) {
        conclude(answer, PC_REACH_NO_STEP, "%s links ODE, but calls neither dWorldStep nor dWorldQuickStep", path);
    } else {
        conclude(answer, PC_REACH_YES, "ODE is loaded dynamically, so its steps can be intercepted");
    }
}

static void inspectElf(const File* file, const char* path, pcInspection* answer)
{
    pcElf elf;
    const char* sentence;
    pcElfKind kind = pcElfRead(file->bytes, file->size, &elf, &sentence);
    if (kind == PC_ELF_FOREIGN) conclude(answer, PC_REACH_FOREIGN, "%s cannot be intercepted: %s", path, sentence);
    if (kind == PC_ELF_BROKEN) conclude(answer, PC_REACH_BAD_INPUT, "%s is no whole program: %s", path, sentence);
    if (kind == PC_ELF_NOT) conclude(answer, PC_REACH_BAD_INPUT, "%s is neither a program nor a script", path);
    if (kind != PC_ELF_OK) return;
    Walk* walk = calloc(1, sizeof *walk);
    if (!walk) {
        conclude(answer, PC_REACH_BAD_INPUT, "out of memory");
        return;
    }
    walk->answer = answer;
    join(answer->program, "%s", path);
    addFile(walk, path);
    if (walk->count == 1) {
        pcElfEachSymbol(&elf, &elf.dynamicSymbols, noteUseAndLoading, answer);
        walkLibraries(walk, &elf);
        judge(walk, &elf);
    }
    for (int i = 0; i < walk->count; i++) free(walk->path[i]);
    free(walk);
}

/* ---- Scripts ------------------------------------------------------------------------------------------------------------------------- */

static void inspectPath(const char* path, pcInspection* answer, int depth);

/* The script's text as a string. */
static char* copyText(const File* file)
{
    size_t size = file->size < (1 << 20) ? file->size : 1 << 20;
    char* copy = malloc(size + 1);
    if (!copy) return NULL;
    for (size_t i = 0; i < size; i++) copy[i] = file->bytes[i] ? (char)file->bytes[i] : ' ';
    copy[size] = 0;
    return copy;
}

/* "import ode", "import sys, ode", "from ode import World", and the same of xode, which imports ode. */
static bool importsOde(const char* line)
{
    line += strspn(line, " \t");
    bool from = strncmp(line, "from ", 5) == 0;
    if (!from && strncmp(line, "import ", 7) != 0) return false;
    for (const char* at = line + (from ? 5 : 7); *at && *at != '\n' && *at != '#';) {
        at += strspn(at, " \t,");
        size_t length = strcspn(at, " \t,.;#\r\n");
        if ((length == 3 && strncmp(at, "ode", 3) == 0) || (length == 4 && strncmp(at, "xode", 4) == 0)) return true;
        if (from || length == 0) return false;
        at += length;
    }
    return false;
}

static bool scriptImportsOde(const char* script)
{
    for (const char* line = script; line; line = strchr(line, '\n')) {
        if (*line == '\n') line++;
        if (importsOde(line)) return true;
    }
    return false;
}

static bool globFirst(const char* pattern, char out[PC_FILE_NAME])
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0) return false;
    bool fits = join(out, "%s", found.gl_pathv[0]);
    globfree(&found);
    return fits;
}

/* Where Python would find the compiled module: beside the script, in PYTHONPATH, with the packages of the system or of the environment. */
static bool findModule(const char* script, char out[PC_FILE_NAME])
{
    static const char* const places[] = {"/usr/local/lib/python3*/dist-packages", "/usr/lib/python3/dist-packages",
                                         "/usr/lib/python3*/site-packages", "/usr/local/lib/python3*/site-packages"};
    char folder[PC_FILE_NAME], pattern[PC_FILE_NAME];
    folderOf(script, folder);
    if (join(pattern, "%s/ode.*so", folder) && globFirst(pattern, out)) return true;
    const char* environment = getenv("VIRTUAL_ENV");
    if (environment && join(pattern, "%s/lib/python3*/site-packages/ode.*so", environment) && globFirst(pattern, out)) return true;
    for (const char* at = getenv("PYTHONPATH"); at && *at;) {
        int length = (int)strcspn(at, ":");
        if (length > 0 && join(pattern, "%.*s/ode.*so", length, at) && globFirst(pattern, out)) return true;
        at += length + (at[length] == ':');
    }
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (join(pattern, "%s/ode.*so", places[i]) && globFirst(pattern, out)) return true;
    }
    return false;
}

static void inspectPython(const char* path, const char* script, pcInspection* answer)
{
    char module[PC_FILE_NAME];
    if (!scriptImportsOde(script)) {
        conclude(answer, PC_REACH_NO_ODE, "%s is a Python program that does not import ode itself; ask about the file that does", path);
    } else if (!findModule(path, module)) {
        conclude(answer, PC_REACH_NO_ODE, "%s imports ode, which is not installed", path);
    } else {
        inspectPath(module, answer, MAX_DEPTH);
    }
}

static bool findProgram(const char* name, char out[PC_FILE_NAME])
{
    if (strchr(name, '/')) return join(out, "%s", name) && isReadable(out);
    return findInList(getenv("PATH"), "", name, out) || (join(out, "%s", name) && isReadable(out));
}

/* Of all words of a shell script the first that names a program with an ODE in it. */
static void inspectShell(const char* path, char* script, pcInspection* answer, int depth)
{
    static const char blanks[] = " \t\r\n\"'`;&|()<>=$";
    pcInspection* other = malloc(sizeof *other);
    char *rest = NULL, found[PC_FILE_NAME];
    bool useful = false;
    int words = 0;
    for (char* word = strtok_r(script, blanks, &rest); other && word && !useful; word = strtok_r(NULL, blanks, &rest)) {
        if (++words > MAX_SCRIPT_WORDS) break;
        if (strlen(word) <= 2 || !findProgram(word, found) || sameFile(found, path)) continue;
        memset(other, 0, sizeof *other);
        inspectPath(found, other, depth + 1);
        useful = other->ode[0] || other->reach == PC_REACH_STATIC;
    }
    if (useful) *answer = *other;
    if (!useful) conclude(answer, PC_REACH_NO_ODE, "%s is a script that names no program with ODE; ask about the one that it starts", path);
    free(other);
}

static bool endsWith(const char* word, const char* end)
{
    size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

static void inspectScript(const File* file, const char* path, pcInspection* answer, int depth)
{
    char* script = copyText(file);
    if (!script) {
        conclude(answer, PC_REACH_BAD_INPUT, "out of memory");
        return;
    }
    char first[256];
    snprintf(first, sizeof first, "%.*s", (int)strcspn(script, "\r\n"), script);
    bool python = strstr(first, "python") || (strncmp(first, "#!", 2) != 0 && endsWith(path, ".py"));
    join(answer->program, "%s", path);
    if (depth >= MAX_DEPTH) {
        conclude(answer, PC_REACH_NO_ODE, "%s is a script in a script in a script", path);
    } else if (python) {
        inspectPython(path, script, answer);
    } else {
        inspectShell(path, script, answer, depth);
    }
    free(script);
}

/* ---- Front ------------------------------------------------------------------------------------------------------------------------- */

static void inspectPath(const char* path, pcInspection* answer, int depth)
{
    File file;
    if (!openFile(path, &file)) {
        conclude(answer, PC_REACH_BAD_INPUT, "%s cannot be read: %s", path, strerror(errno));
        return;
    }
    bool script = file.size >= 2 && memcmp(file.bytes, "#!", 2) == 0;
    if (script || (endsWith(path, ".py") && file.size > 0)) {
        inspectScript(&file, path, answer, depth);
    } else {
        inspectElf(&file, path, answer);
    }
    closeFile(&file);
}

void pcInspect(const char* program, pcInspection* answer)
{
    char path[PC_FILE_NAME];
    memset(answer, 0, sizeof *answer);
    if (findProgram(program, path)) {
        inspectPath(path, answer, 0);
    } else {
        conclude(answer, PC_REACH_BAD_INPUT, "there is no program '%.200s' that can be read", program);
    }
}
