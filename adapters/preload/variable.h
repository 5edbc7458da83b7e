/*
 * What the variable PCONTACT asks of the preload library. It comes from whoever started the program, so it is taken as hostile: whatever it
 * says, the program goes on, natively where the text cannot be understood, and one sentence tells why.
 */
#ifndef PC_PRELOAD_VARIABLE_H
#define PC_PRELOAD_VARIABLE_H

#include "pcontact/settings.h"

typedef enum pcPreloadMode {
    PC_PRELOAD_UNKNOWN = 0, /* nothing has been read yet: some other library's constructor was quicker than ours */
    PC_PRELOAD_NATIVE,
    PC_PRELOAD_OURS,
    PC_PRELOAD_REFUSED /* native, and the reason is still to be printed: at the first step, so that the shell around a program keeps silent */
} pcPreloadMode;

typedef struct pcPreloadVariable {
    pcPreloadMode mode;
    pcSettings settings; /* of PC_PRELOAD_OURS */
    int ownCollide;      /* dCollide is ours as well */
    char refusal[640];   /* of PC_PRELOAD_REFUSED: a line for the person */
} pcPreloadVariable;

/* NULL or blank: native. */
pcPreloadVariable pcPreloadRead(const char* textOrNull);

/* Native, because of `what`. */
pcPreloadVariable pcPreloadRefuse(const char* what);

#endif
