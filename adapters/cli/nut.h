/*
 * The Brazil nut, played and watched: how high the model "nut" is among all other bodies after each shake, in a world that <shake>s.
 *
 *   height    of its centre, by the fill: twice the mean height of the other bodies' centres
 *   on top    nobody's centre is over the nut (nearer to its middle, sideways, than its radius) by more than half its radius
 */
#ifndef PC_CLI_NUT_H
#define PC_CLI_NUT_H

#include <stdbool.h>

#include "adapters/sdf/stage.h"

enum { PC_NUT_MOST_SHAKES = 200 };

typedef struct pcNutTrack {
    int shakes; /* so far */
    double height[PC_NUT_MOST_SHAKES];
    int onTop; /* after so many shakes for the first time; 0: not yet */
} pcNutTrack;

typedef struct pcNutPlan {
    const char* file;
    const char* settings; /* on top of the file's; NULL: none */
    unsigned seed;        /* 0: the file's */
    double step;          /* 0: the file's */
    int bodies;           /* only so many, the first ones, for a quick look; 0: all */
    int shakes;           /* at most; fewer if the nut gets on top before */
} pcNutPlan;

typedef struct pcNutRun {
    pcNutTrack track;
    int bodies, steps, inaccurate, nativeSteps;
    int outside;                  /* bodies whose centre is beyond a plane at the end, or nowhere */
    double residual;              /* most */
    double ratio, length;         /* penetration: mean over the steps of its most in each, from the third shake on, when all have fallen */
    double milliseconds, slowest; /* of a step: mean and most */
} pcNutRun;

/* The moving links of a scene, to tell the nut from the others; PC_ERROR_ARGUMENT if there is no nut or no shake. */
typedef struct pcNutCast {
    int bodies, nut;
    double radius; /* of the nut */
} pcNutCast;
pcStatus pcNutFind(const pcScene* scene, pcNutCast* cast);

/* After a shake: x and z of every body, in the order of the scene's moving links. */
void pcNutWatch(const pcNutCast* cast, const double* xz, pcNutTrack* track);

pcStatus pcNutPlay(const pcNutPlan* plan, pcNutRun* out);

#endif
