/*
 * Self-convergence of E's worlds (E section 7.1), by rules that do not look at the order:
 *
 *     h        0.0025 s, and its halves, quarters and eighths, for one second, or until
 *     chaos    two runs at h/8 whose starts differ by 1e-9 m in every coordinate have a body that is four times as far apart as at the start
 *     e_k      norm of what runs at h/2^k and h/2^(k+1) differ by, over all positions and all steps of h until a quarter, the half and
 *              three quarters of that time
 *     order    log2(e_k / e_k+1)
 */
#ifndef PC_CLI_CONVERGENCE_H
#define PC_CLI_CONVERGENCE_H

#include "adapters/cli/ellipsoids.h"

enum { PC_CONVERGENCE_QUARTERS = 3 };

typedef struct pcConvergence {
    int bodies, unsolved; /* unsolved: steps of all runs */
    double chaos;         /* seconds; 1 if there is none */
    double order[PC_CONVERGENCE_QUARTERS][2];
    double last[PC_CONVERGENCE_QUARTERS]; /* e_2, as a root of the mean over positions and steps: m */
} pcConvergence;

typedef struct pcConvergenceWorld {
    const char* name;
    pcEllipsoidKind kind;
    int count; /* of a lattice */
    const char* settings;
} pcConvergenceWorld;

/* E's worlds, the quick ones first. */
extern const pcConvergenceWorld pcConvergenceWorlds[];
enum { PC_CONVERGENCE_WORLDS = 8, PC_CONVERGENCE_QUICK = 6 };

pcStatus pcConvergenceMeasure(const pcConvergenceWorld* world, unsigned seed, pcConvergence* out);

/* All orders are between 0.8 and 1.3. */
bool pcConvergenceIsFirstOrder(const pcConvergence* c);

#endif
