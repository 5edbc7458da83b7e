/*
 * A parameter and where its values come from, spelled NAME=KIND:NUMBER:NUMBER…
 *
 *   mu=0.3                    always this
 *   mu=uniform:0.1:0.4        evenly between
 *   mu=normal:0.3:0.05        by mean and deviation
 *   kp=loguniform:1e3:1e6     its logarithm evenly between
 *   solver=choice:auto:lemke  one of these, numbers or words
 *   ball.x=grid:-10:10:1      from, to, in steps of: every one, combined with every one of the other grids
 */
#ifndef PC_SWEEP_VARY_H
#define PC_SWEEP_VARY_H

#include "pcontact/types.h"

enum { PC_VARY_NAME = 128, PC_VARY_TEXT = 512, PC_VARY_CHOICES = 64, PC_VARY_GRID = 1000000 };

typedef enum pcVaryKind { PC_VARY_CHOICE, PC_VARY_UNIFORM, PC_VARY_NORMAL, PC_VARY_LOGUNIFORM, PC_VARY_GRIDDED } pcVaryKind;

typedef struct pcVary {
    char name[PC_VARY_NAME];
    char text[PC_VARY_TEXT]; /* what stands behind the = */
    pcVaryKind kind;
    double first, second, step; /* as they are spelled */
    int count;                  /* values of a choice or a grid, else 0 */
    int words;                  /* 1: the choices are words, and a value is the index of one */
    double number[PC_VARY_CHOICES];
    char word[PC_VARY_CHOICES][32];
} pcVary;

/* PC_ERROR_ARGUMENT: one sentence in pcLastError(). */
pcStatus pcVaryParse(const char* text, pcVary* out);

/* From two numbers in (0, 1); of a grid: its value number `place`. */
double pcVaryValue(const pcVary* vary, int place, const double random[2]);

/* As it is written in a settings text or a table: the word, or the shortest number that reads back the same. */
void pcVaryPrint(const pcVary* vary, double value, char text[32]);
void pcNumberPrint(double value, char text[32]); /* "" for NaN */
int pcNumberRead(const char* text, double* out); /* 1: a finite number and nothing else; in the C locale, which the tool never leaves */

#endif
