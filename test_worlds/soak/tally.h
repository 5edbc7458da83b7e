/* What a long run is watched for, a tenth of it at a time: memory, infeasibility, residual, steps that missed their tolerance or had to be native. */
#ifndef PC_SOAK_TALLY_H
#define PC_SOAK_TALLY_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

enum { TENTHS = 10 };

typedef struct Tenth {
    long steps;
    double ratio, length, joint; /* most infeasibility before a step: contacts as ratio and length, joints */
    double residual;             /* most */
    long missed, native;         /* steps that are not solved to the tolerance; that had to be native */
    long resident, heap;         /* KB at its end: of the process, and of blocks that are held */
    int rows;                    /* most of any step so far */
} Tenth;

typedef struct Tally {
    long steps, all;      /* taken, and to be taken */
    long before;          /* KB of the process when it began */
    long between[TENTHS]; /* KB of blocks held between two worlds, if there are several, at the end of each tenth … */
    long bare[TENTHS];    /* … and without the shapes that are remembered of geoms that are gone */
    Tenth tenth[TENTHS];
    char reason[256]; /* of the last step that had to be native */
    double began;
} Tally;

Tally tallyBegin(long steps);

/* After a step of an attached world, whatever its model; how deep bodies were in each other, a length. */
double tallyStep(Tally* tally, dWorldID world);

/* After every step: prints a line when a tenth is full. */
void tallyNext(Tally* tally);

/* Between two worlds, when nothing of a world is left but the shapes of geoms, of which nobody has said that they are gone; at the end of a tenth
 * these are forgotten. */
void tallyBetween(Tally* tally);

/* KB of blocks that are held now, without the shapes of geoms that are gone. */
long tallyHeldBare(void);

long tallyMissed(const Tally* tally);
long tallyNative(const Tally* tally);

/* KB of blocks held by which it has grown in its second half, when all buffers are there; of several worlds, between them since the first
 * tenth and without remembered shapes. What the process has of the system besides is the C library's, which keeps what the largest step ever needed. */
long tallyGrowth(const Tally* tally);

/* A line for each of the first and the last tenth: what is held between worlds. */
void tallyPrintBetween(const Tally* tally);

#endif
