/*
 * A world file played under one model: step by step, measured on the way. Whatever the model, everything is measured by the same code, from
 * what can be seen from outside: bodies, the contacts that the step used with their impulses, and the ratio metric between shapes.
 */
#ifndef PC_CLI_PLAY_H
#define PC_CLI_PLAY_H

#include <stdbool.h>

#include "adapters/sdf/stage.h"

typedef struct pcPlayMoment {
    const pcScene* scene;
    const pcStage* stage;
    double h;
    int step, steps; /* taken so far in this play, and in all */
} pcPlayMoment;

typedef struct pcPlayPlan {
    const char* file;
    const char* settings; /* a settings text, on top of what the file says */
    double step, time;    /* 0: the file's; where it says no time, 10 seconds */
    const char* csv;      /* BASE.states.csv and BASE.steps.csv; NULL: none */
    const char* from;     /* such states: go on where they end, at their time; NULL: from the start */
    const char* name;     /* for progress on a terminal; NULL: silent */
    /* Asked at the start, at the times that the file names, and at the end; NULL: nobody is. */
    void (*frame)(void* context, const pcStage* stage, double time);
    void* context;
    /* Told of the world before the first step and after every step; anything but PC_OK ends the play. NULL: nobody is. */
    pcStatus (*watch)(void* watcher, const pcPlayMoment* moment);
    void* watcher;
} pcPlayPlan;

/* NaN where a model has no such thing, or the world none of it. */
typedef struct pcSpread {
    double mean, most;
    int count;
} pcSpread;

typedef struct pcPlayed {
    double step, time;                   /* as they were */
    pcSettings settings;                 /* likewise */
    int bodies, joints, steps, contacts; /* steps taken here; contacts: the most in one step */
    int nativeSteps;                     /* that had to be, though the model is another */
    int inaccurate;                      /* steps that missed the tolerance */
    int messages;                        /* of ODE */
    bool finite;                         /* all bodies are somewhere at the end */
    char reason[256];                    /* of the last native step that had to be */
    char skipped[512];                   /* what the file has and nobody reads; "" nothing */
    pcSpread infeasibility;              /* I (T 6.3) over the steps: the larger of ratio and joint */
    pcSpread ratio;                      /* penetration: negative part of rho */
    pcSpread joint;                      /* joint error, as ODE's rows have it */
    pcSpread length;                     /* penetration as a length */
    double coneExcess;                   /* most: friction beyond mu times normal, by the largest normal impulse of the step */
    double law;                          /* most: how far a contact is from Coulomb's law (judge.h) */
    double residual;                     /* most: of what the model had to solve, as its step reports it */
    double energyGain;                   /* most that the energy ever rose again */
    double momentum;                     /* most that momentum and impulses of a step disagree, by m |g| h of all bodies */
    double creep;                        /* most that a body at rest moves on over the last quarter of the time, length per time */
    double coreMet;                      /* when a layer was first used up: as deep as the core that it has, seconds; NaN: never */
    double median, p99;                  /* milliseconds of a step */
} pcPlayed;

enum { PC_PLAYED_SIZE = 128 };

/* PC_OK, or pcLastError() says what is wrong with the file or the settings. */
pcStatus pcPlay(const pcPlayPlan* plan, pcPlayed* out);

/* "1 body, 0 joints, 400 steps of 0.01 s" */
void pcPlayedSize(const pcPlayed* played, char text[PC_PLAYED_SIZE]);

#endif
