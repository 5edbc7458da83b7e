/* The states of all bodies as a file, BASE.states.csv: written after every step, and read again to go on where a run ended. */
#ifndef PC_CLI_STATES_H
#define PC_CLI_STATES_H

#include <stdio.h>

#include "adapters/sdf/stage.h"

pcStatus pcStatesOpen(const char* base, FILE** out);

/* Whether two names are of one file that exists. */
bool pcStatesIsFile(const char* a, const char* b);

/* Refuses, before anything is written, a run that would write over the files of the one that it goes on from. */
pcStatus pcStatesSpare(const char* base, const char* from);

/* To the last digit: what is read again is the same state. */
void pcStatesWrite(FILE* file, const pcStage* stage, double time);

/* Puts the bodies where the last state of the file has them that is whole (who was stopped may have written half of one), and tells its time. Nothing is
 * moved unless it returns PC_OK. Impulses are not in the file: the first step from there begins without a guess. */
pcStatus pcStatesTake(const char* path, pcStage* stage, double* time);

#endif
