/* Whether the preload library can stand between a program and ODE: told from the files alone, nothing is run. */
#ifndef PC_CLI_INSPECT_H
#define PC_CLI_INSPECT_H

#define PC_FILE_NAME 4096 /* room for one; the system has no longer ones */

typedef enum pcReach {
    PC_REACH_YES = 0,
    PC_REACH_STATIC,    /* ODE is inside the program */
    PC_REACH_OTHER_ODE, /* it would load another ODE than the one this tool was built for */
    PC_REACH_SETUID,    /* the loader ignores LD_PRELOAD */
    PC_REACH_FOREIGN,   /* of another machine */
    PC_REACH_NO_ODE,
    PC_REACH_NO_STEP,  /* ODE, but no step */
    PC_REACH_BAD_INPUT /* no program, or not a whole one */
} pcReach;

/* What of ODE matters for us; `remark` NULL: it simply works. */
typedef struct pcOdeUse {
    const char* name;
    const char* group;
    const char* remark;
} pcOdeUse;
extern const pcOdeUse pcOdeUses[];
extern const int pcOdeUseCount;

typedef struct pcInspection {
    pcReach reach;
    char sentence[1024];        /* the verdict, without a full stop */
    char program[PC_FILE_NAME]; /* the file that was looked at: what PATH names, the module a script imports … */
    char ode[PC_FILE_NAME];     /* the libode it would load; "" none */
    char missing[256];          /* a library that was not found; "" none */
    unsigned long long uses;    /* bit i: pcOdeUses[i] */
} pcInspection;

/* `program` as for exec: a path, or a name in PATH. */
void pcInspect(const char* program, pcInspection* answer);

#endif
