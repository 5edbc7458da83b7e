/* Parts of a step by themselves: bench_parts.c. Milliseconds of the processor, median; NaN if something failed. */
#ifndef PC_CLI_BENCH_PARTS_H
#define PC_CLI_BENCH_PARTS_H

/* Boxes placed and their pairs found; *pairs: how many. */
double pcBenchBroadphase(int bodies, int* pairs);

/* A step of a falling body beside so many stacks of ten that sleep. */
double pcBenchSleep(int stacks);

#endif
