/*
 * Files that are in memory alone: a reader that only knows names of files gets its bytes without a file being written for each of millions of runs.
 * The linker sends what the reader asks of the system here (-Wl,--wrap); what is not in FOLDER goes on to the system.
 */
#define _GNU_SOURCE /* kinds of files */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/stat.h>
#include <unistd.h>

#include "test_worlds/fuzz/targets/target.h"

#define FOLDER "/pcontact_fuzz" /* there is none in the system */
enum { MOST_FILES = 3, FIRST_HANDLE = 1 << 20 };

typedef struct File {
    char path[64];
    const uint8_t* data;
    size_t size, at;
} File;

static File files[MOST_FILES];

const char* writeFile(const char* name, const uint8_t* data, size_t size)
{
    char path[sizeof files->path];
    snprintf(path, sizeof path, FOLDER "/%s", name);
    for (File* f = files; f < files + MOST_FILES; f++) {
        if (f->path[0] && strcmp(f->path, path) != 0) continue;
        memcpy(f->path, path, sizeof path);
        f->data = data, f->size = size;
        return f->path;
    }
    REQUIRE(false, "no room for the file %s", path);
    return NULL;
}

static bool isOurs(const char* path) { return strncmp(path, FOLDER, strlen(FOLDER)) == 0; }

static File* fileAt(const char* path)
{
    for (File* f = files; f < files + MOST_FILES; f++)
        if (strcmp(f->path, path) == 0) return f;
    return NULL;
}

static File* fileOf(int handle)
{
    return handle >= FIRST_HANDLE && handle < FIRST_HANDLE + MOST_FILES ? files + (handle - FIRST_HANDLE) : NULL;
}

/* Not reserved names of ours: the linker's. */
int __real_open(const char* path, int flags, ...);
int __wrap_open(const char* path, int flags, ...);
ssize_t __real_read(int handle, void* to, size_t size);
ssize_t __wrap_read(int handle, void* to, size_t size);
int __real_close(int handle);
int __wrap_close(int handle);
int __real_fstat(int handle, struct stat* about);
int __wrap_fstat(int handle, struct stat* about);
int __real_stat(const char* path, struct stat* about);
int __wrap_stat(const char* path, struct stat* about);
char* __real_realpath(const char* path, char* to);
char* __wrap_realpath(const char* path, char* to);

int __wrap_open(const char* path, int flags, ...)
{
    va_list arguments;
    File* f = fileAt(path);
    if (f) return f->at = 0, FIRST_HANDLE + (int)(f - files);
    va_start(arguments, flags);
    int mode = flags & O_CREAT ? va_arg(arguments, int) : 0;
    va_end(arguments);
    return __real_open(path, flags, mode);
}

ssize_t __wrap_read(int handle, void* to, size_t size)
{
    File* f = fileOf(handle);
    if (!f) return __real_read(handle, to, size);
    if (size > f->size - f->at) size = f->size - f->at;
    if (size > 0) memcpy(to, f->data + f->at, size);
    f->at += size;
    return (ssize_t)size;
}

int __wrap_close(int handle) { return fileOf(handle) ? 0 : __real_close(handle); }

static int missing(void) { return errno = ENOENT, -1; }

static int describe(const File* f, struct stat* about)
{
    *about = (struct stat){.st_mode = f ? S_IFREG : S_IFDIR, .st_size = f ? (off_t)f->size : 0};
    return 0;
}

int __wrap_fstat(int handle, struct stat* about) { return fileOf(handle) ? describe(fileOf(handle), about) : __real_fstat(handle, about); }

static bool isFolder(const char* path) { return strcmp(path, FOLDER) == 0 || strcmp(path, FOLDER "/") == 0; }

int __wrap_stat(const char* path, struct stat* about)
{
    if (!isOurs(path)) return __real_stat(path, about);
    return isFolder(path) || fileAt(path) ? describe(fileAt(path), about) : missing();
}

char* __wrap_realpath(const char* path, char* to)
{
    if (!isOurs(path)) return __real_realpath(path, to);
    if (isFolder(path)) return strcpy(to, FOLDER);
    return fileAt(path) ? strcpy(to, path) : (missing(), NULL);
}
