/*
 * The rival of the Brazil nut: spring-damper contact between the discs of a planar scene, its planes fixed, its shake as the scene has it.
 *
 *   overlap d > 0, approach velocity u, slip velocity w:   f_n = max(0, k d + c u),   f_t = min(mu f_n, c |w|) against w
 *   k    so that at rest no two discs overlap by more than a part of the smallest radius
 *   c    0.45 of critical for two of the lightest discs
 *   semi-implicit Euler: v += h f / m, then x += h v
 *
 * It survives if its energy stays within what the shake can give it and every disc within the planes.
 */
#ifndef PC_CLI_PENALTY_H
#define PC_CLI_PENALTY_H

#include <stdbool.h>

#include "adapters/sdf/scene.h"

typedef struct pcPenaltyPlan {
    double step, time;
    double overlap; /* that part; 0: one hundredth */
    /* Asked after each period of the shake; NULL: nobody is. xz holds two numbers per disc, in the order of the scene's moving links. */
    void (*shaken)(void* context, int shakes, const double* xz);
    void* context;
} pcPenaltyPlan;

typedef struct pcPenaltyRun {
    bool survived;
    double time;    /* when it ended */
    double overlap; /* most over the second half of the time, by the smallest radius */
} pcPenaltyRun;

/* Only spheres and planes of a world that is planar in xz. */
pcStatus pcPenaltyPlay(const pcScene* scene, const pcPenaltyPlan* plan, pcPenaltyRun* out);

#endif
