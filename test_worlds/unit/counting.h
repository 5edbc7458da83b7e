/* Counts the calls of malloc, calloc, realloc and aligned_alloc that this thread makes from code linked into the test program (shared
 * libraries are not seen). By the linker's --wrap, so the sanitizers' allocators stay underneath. */
#ifndef PC_TEST_COUNTING_H
#define PC_TEST_COUNTING_H

void pcCountingStart(void);
int pcCountingStop(void); /* calls since the start */

#endif
