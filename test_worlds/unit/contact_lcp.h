/*
 * Contact problems with dry friction as plain complementarity problems, for tests and benchmarks:
 *
 *     z = (c_n, beta, lambda),   M = [A_nn A_nD 0; A_Dn A_DD E; mu -E' 0],   q = (N'v + d/h, D'v, 0),   A = J'Minv J
 *
 * Bodies are boxes; `edges` friction directions per contact, in +/- pairs.
 */
#ifndef PC_TEST_CONTACT_LCP_H
#define PC_TEST_CONTACT_LCP_H

typedef struct pcTestBody {
    double mass, half[3], position[3], velocity[6]; /* linear, angular; what it would be without contacts */
} pcTestBody;

typedef struct pcTestContact {
    int upper, lower;           /* bodies; -1: the ground */
    double point[3], normal[3]; /* unit, pushes the upper one */
    double gapSpeed;            /* d/h */
    double mu;
} pcTestContact;

typedef struct pcTestLcp {
    int n, contacts;
    double *M, *q;
} pcTestLcp;

/* Made of malloc; to be freed by pcTestLcpFree. */
pcTestLcp pcTestLcpMake(const pcTestBody* bodies, int bodyCount, const pcTestContact* contacts, int contactCount, int edges);
void pcTestLcpFree(pcTestLcp* lcp);

/* A vertical stack of unit boxes on the ground, four contacts each, gravity over h = 0.01; `disorder` > 0 moves corners, gaps and
 * velocities by about that much, 0 is exactly degenerate. Box i weighs mass * ratio^i. */
typedef struct pcTestStack {
    int boxes, edges;
    double mu, disorder, mass, ratio;
    unsigned long long seed;
} pcTestStack;
pcTestLcp pcTestStackLcp(const pcTestStack* stack);

#endif
