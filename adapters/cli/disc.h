/* A disc, or a polygon of n corners in its place, rolls on a plane (G 6.1): how much of its energy is lost on the way. */
#ifndef PC_CLI_DISC_H
#define PC_CLI_DISC_H

#include "pcontact/system.h"

typedef struct pcDiscRun {
    double way;    /* rolled, m */
    double before; /* energy at the start, over that of rest on the plane, J */
    double lost;   /* J */
    double residual, penetration;
} pcDiscRun;

/* Radius 1 m, 1 kg, 2 m/s, as a prism of 0.5 m; `corners` 0: the disc itself, a cylinder. The energy is that of rolling: the potential energy of a
 * polygon that stands on a corner counts too. */
pcStatus pcDiscRoll(int corners, const char* settings, double h, double seconds, pcDiscRun* out);

#endif
