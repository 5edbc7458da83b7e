#include "test_worlds/unit/counting.h"

#include <stdatomic.h>

static _Atomic long allocations;

static _Thread_local long started;

long allocationCount(void) { return atomic_load(&allocations); }
void pcCountingStart(void) { started = allocationCount(); }
int pcCountingStop(void) { return (int)(allocationCount() - started); }

#if COUNTS_ALLOCATIONS
extern void* __libc_malloc(size_t size);
extern void* __libc_calloc(size_t count, size_t size);
extern void* __libc_realloc(void* block, size_t size);
extern void* __libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void* block);
void* malloc(size_t size) { return atomic_fetch_add(&allocations, 1), __libc_malloc(size); }
void* calloc(size_t count, size_t size) { return atomic_fetch_add(&allocations, 1), __libc_calloc(count, size); }
void* realloc(void* block, size_t size) { return atomic_fetch_add(&allocations, 1), __libc_realloc(block, size); }
void* aligned_alloc(size_t alignment, size_t size) { return atomic_fetch_add(&allocations, 1), __libc_memalign(alignment, size); }
void free(void* block) { __libc_free(block); }
#endif
