/* Other engines that play a scene in a program of their own (adapters/rivals), which is asked for where the bodies are. */
#ifndef PC_CLI_RIVALS_H
#define PC_CLI_RIVALS_H

#include <stdbool.h>
#include <stdio.h>

#include "adapters/sdf/stage.h"

typedef struct pcRival {
    FILE* pipe;
    int moving; /* links that it tells of */
    double* state;
} pcRival;

/* False: it was not built, or does not know what is in the scene. */
bool pcRivalBegin(pcRival* rival, const char* engine, const char* file, double h, int steps);

/* One step: its milliseconds, and the bodies of the stage where it has put them. False: it has ended. */
bool pcRivalStep(pcRival* rival, const pcScene* scene, pcStage* stage, double* ms);

void pcRivalEnd(pcRival* rival);

#endif
