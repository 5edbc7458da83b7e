/*
 * The plan of a sweep: one world, what is varied in it, how many trials, and what is noted of each. Trial k is a function of the plan and k
 * alone. Everybody who takes part, thread or rank, has the same plan; nobody changes it once it is made.
 *
 * With grids, a trial has one cell of their product and everything else drawn: trial k has cell k mod cells, so that a sweep that is stopped
 * has gone over the whole map about as often everywhere.
 */
#ifndef PC_SWEEP_PLAN_H
#define PC_SWEEP_PLAN_H

#include <stdbool.h>
#include <stdint.h>

#include "adapters/sweep/expression.h"
#include "adapters/sweep/target.h"

enum { PC_SWEEP_VARIES = 64, PC_SWEEP_MEASURES = 32, PC_SWEEP_COLUMNS = 256, PC_SWEEP_FEW_LINKS = 8, PC_SWEEP_MOST_TRIALS = 10000000 };

typedef enum pcTrialStatus {
    PC_TRIAL_OK,
    PC_TRIAL_NATIVE, /* a step had to be ODE's own though the model is another */
    PC_TRIAL_LOST,   /* a body ended nowhere */
    PC_TRIAL_FAILED, /* it could not be run to its end */
    PC_TRIAL_STATUSES
} pcTrialStatus;
const char* pcTrialStatusName(int status);

typedef enum pcColumnKind {
    PC_COLUMN_PARAMETER,   /* `which` of the plan */
    PC_COLUMN_STATUS,      /* a pcTrialStatus */
    PC_COLUMN_SUCCESS,     /* 1, 0; NaN: the plan has no formula for it, or the trial failed */
    PC_COLUMN_TIME,        /* when the trial ended */
    PC_COLUMN_REST,        /* 1: because everything was at rest */
    PC_COLUMN_PENETRATION, /* most of it in any step, a length */
    PC_COLUMN_RESIDUAL,    /* likewise; NaN for ODE's own models */
    PC_COLUMN_MISSED,      /* steps that missed the tolerance */
    PC_COLUMN_LINK,        /* end of link `which`, number `field` of x y z roll pitch yaw vx vy vz wx wy wz */
    PC_COLUMN_MEASURE      /* formula `which` */
} pcColumnKind;

typedef struct pcColumn {
    char name[PC_VARY_NAME + 16];
    pcColumnKind kind;
    int which, field;
} pcColumn;

/* What a plan is made of. Texts are read while it is made, the scene as long as it lives. */
typedef struct pcSweepOrder {
    const char* world; /* its name */
    const pcScene* scene;
    const char* settings; /* a settings text on top of the file's */
    double step, time;    /* 0: the file's; where it says no time, 10 seconds */
    double rest;          /* speed below which a trial has come to its end; 0: it runs its time */
    int varies, measures;
    const char* const* vary;
    const char* const* measure; /* NAME=FORMULA */
    const char* success;        /* formula, or NULL */
    long long trials;           /* of each cell of the grids; -1: not said */
    uint64_t seed;
} pcSweepOrder;

typedef struct pcPlan {
    const pcScene* scene;
    pcSettings settings;
    double step, time, rest;
    uint64_t seed;
    int varies, measures, columns, grids;
    pcVary* vary;
    pcTarget target[PC_SWEEP_VARIES];
    long long cells, repeats, trials;
    pcColumn column[PC_SWEEP_COLUMNS]; /* varies first, in their order */
    pcExpression *measure[PC_SWEEP_MEASURES], *success;
    bool serial; /* ODE's quick solver draws from one generator per process: no two trials at once in one */
    char* text;  /* all of it, as JSON with a line for each thing: two plans are the same if these are */
} pcPlan;

/* PC_ERROR_ARGUMENT: one sentence says what in the order is wrong; ranges are tried at their ends. */
pcStatus pcPlanMake(const pcSweepOrder* order, pcPlan** out);
void pcPlanFree(pcPlan* plan);

/* What the parameters are in trial k, in the order of the plan. */
void pcPlanDraw(const pcPlan* plan, long long trial, double* values);

const pcVary* pcPlanGrid(const pcPlan* plan, int which);        /* the grids in their order; NULL: there are fewer */
int pcPlanColumn(const pcPlan* plan, pcColumnKind kind);        /* the first of a kind; -1: none */
uint64_t pcHash(uint64_t hash, const void* bytes, size_t size); /* of FNV-1a; begin with 0 */

#endif
