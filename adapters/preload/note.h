/*
 * What a program did under the preload library: a few counts. Alone, the library keeps them for its own summary; under `pcontact exec` they
 * lie in memory shared with the tool, so that they outlast a crash and add up over all processes that the program starts.
 */
#ifndef PC_PRELOAD_NOTE_H
#define PC_PRELOAD_NOTE_H

#include <stdatomic.h>

typedef struct pcNote {
    atomic_ullong loaded; /* processes that the library came into */
    atomic_ullong solved; /* steps that were ours */
    atomic_ullong native; /* steps that were ODE's, by model or because they could not be ours */
    atomic_ullong worst;  /* largest residual of our steps, as the bits of a double: for numbers >= 0 they order alike */
} pcNote;

#define PC_NOTE_VARIABLE "PCONTACT_NOTE" /* in the environment: the file that the note is in */

void pcNoteResidual(pcNote* note, double residual);

/* One sentence on stderr. */
void pcNotePrint(const pcNote* note);

#endif
