/* The part of `pcontact bench step` that plays scenes: bench_scenes.c. */
#ifndef PC_CLI_BENCH_SCENES_H
#define PC_CLI_BENCH_SCENES_H

#include <stdbool.h>

enum { PC_BENCH_MOST_SCENES = 32 };

typedef struct pcBenchScenes {
    const char* scene[PC_BENCH_MOST_SCENES]; /* names or files; none: all */
    int scenes;
    double time;     /* seconds of each scene; 0: its own */
    double cap;      /* seconds of the clock for each model; 0: 20 */
    const char* csv; /* files, or NULL */
    const char* json;
    const char* settings; /* of our model */
    const char* from;     /* states where the scenes go on (states.h); NULL: from the start */
    bool ours;            /* only our model */
} pcBenchScenes;

/* Prints the table; an exit code. */
int pcBenchScenesRun(const pcBenchScenes* plan);

#endif
