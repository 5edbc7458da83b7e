#include "test_worlds/unit/counting.h"

#include <stddef.h>

static _Thread_local int calls;

void pcCountingStart(void) { calls = 0; }
int pcCountingStop(void) { return calls; }

/* The linker turns every malloc of this program into __wrap_malloc, and __real_malloc into the true one. */
void* __real_malloc(size_t size);
void* __real_calloc(size_t count, size_t size);
void* __real_realloc(void* old, size_t size);
void* __real_aligned_alloc(size_t alignment, size_t size);
void* __wrap_malloc(size_t size);
void* __wrap_calloc(size_t count, size_t size);
void* __wrap_realloc(void* old, size_t size);
void* __wrap_aligned_alloc(size_t alignment, size_t size);

void* __wrap_malloc(size_t size) { return calls++, __real_malloc(size); }
void* __wrap_calloc(size_t count, size_t size) { return calls++, __real_calloc(count, size); }
void* __wrap_realloc(void* old, size_t size) { return calls++, __real_realloc(old, size); }
void* __wrap_aligned_alloc(size_t alignment, size_t size) { return calls++, __real_aligned_alloc(alignment, size); }
