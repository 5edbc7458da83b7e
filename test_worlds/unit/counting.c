#define _GNU_SOURCE /* dladdr */
#include "test_worlds/unit/counting.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

static _Atomic long allocations, held, refused;
static _Atomic long countdown; /* 0: nothing is refused */
static _Atomic bool goesOn, ofQhull;

static _Thread_local long started;

long allocationCount(void) { return atomic_load(&allocations); }
long allocationsHeld(void) { return atomic_load(&held); }
void pcCountingStart(void) { started = allocationCount(); }
int pcCountingStop(void) { return (int)(allocationCount() - started); }

static void refuseFrom(long count, bool onwards, bool qhull)
{
    atomic_store(&refused, 0), atomic_store(&goesOn, onwards), atomic_store(&ofQhull, qhull);
    atomic_store(&countdown, count);
}

void pcAllocationsRefuse(long count, bool onwards) { refuseFrom(count, onwards, false); }
void pcAllocationsRefuseQhull(long count, bool onwards) { refuseFrom(count, onwards, true); }

long pcAllocationsAllow(void)
{
    atomic_store(&countdown, 0);
    return atomic_load(&refused);
}

#if COUNTS_ALLOCATIONS
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);
extern char __executable_start, etext;

/* For the libraries as well: names of this program are hidden from them unless it says so. */
#define INTERPOSED __attribute__((visibility("default")))

/* The library is a part of this program; qhull is one of its own. */
static bool concerns(const void* caller)
{
    Dl_info place;
    if (!atomic_load(&ofQhull)) return (const char*)caller >= &__executable_start && (const char*)caller < &etext;
    return dladdr(caller, &place) && strstr(place.dli_fname, "qhull");
}

static bool refuses(const void* caller)
{
    atomic_fetch_add(&allocations, 1);
    if (atomic_load_explicit(&countdown, memory_order_relaxed) == 0 || !concerns(caller)) return false;
    long left = atomic_fetch_sub(&countdown, 1);
    if (left > 1) return false;
    if (atomic_load(&goesOn)) atomic_store(&countdown, 1); /* 0 would be the end */
    atomic_fetch_add(&refused, 1);
    return true;
}

static void* hold(void* block)
{
    if (block) atomic_fetch_add(&held, 1);
    return block;
}

INTERPOSED void* malloc(size_t size) { return refuses(__builtin_return_address(0)) ? NULL : hold(__libc_malloc(size)); }
INTERPOSED void* calloc(size_t count, size_t size)
{
    return refuses(__builtin_return_address(0)) ? NULL : hold(__libc_calloc(count, size));
}

INTERPOSED void* aligned_alloc(size_t alignment, size_t size)
{
    return refuses(__builtin_return_address(0)) ? NULL : hold(__libc_memalign(alignment, size));
}

INTERPOSED void* realloc(void* block, size_t size)
{
    if (refuses(__builtin_return_address(0))) return NULL;
    void* other = __libc_realloc(block, size);
    if (!block) hold(other);
    if (block && size == 0) atomic_fetch_sub(&held, 1);
    return other;
}

INTERPOSED void free(void* block)
{
    if (block) atomic_fetch_sub(&held, 1);
    __libc_free(block);
}
#endif
