/*
 * Boxes on a plane as plain arrays: what ODE and our solvers both get. All contacts have their normal upwards and friction along x and y,
 * |c_x| <= mu c_n and |c_y| <= mu c_n: the pyramid of ODE, which for us is a polygon of four edges, turned by 45 degrees.
 */
#ifndef PC_ADAPTERS_CLI_BENCH_BOXES_H
#define PC_ADAPTERS_CLI_BENCH_BOXES_H

#include <stdbool.h>

enum { MOST_BOXES = 12, MOST_TOUCHES = 4 * MOST_BOXES };

#define BOXES_STEP 0.01
#define BOXES_GRAVITY 9.81
#define BOXES_MU 0.5
#define BOXES_ERP 0.2

typedef struct Box {
    double mass, side, position[3];
} Box;

typedef struct Touch {
    int lower, upper; /* boxes; lower -1: the plane */
    double point[3], depth;
} Touch;

/* Islands come one after the other, each with as many boxes as the others, and four contacts per box. */
typedef struct BoxScene {
    int islands, boxesEach;
    int boxes, touches;
    Box box[MOST_BOXES];
    Touch touch[MOST_TOUCHES];
} BoxScene;

/* Velocities (linear, then angular, per box) and the impulses of contacts: normal, x, y. */
typedef struct BoxState {
    double velocity[6 * MOST_BOXES];
    double impulse[3 * MOST_TOUCHES];
} BoxState;

#endif
