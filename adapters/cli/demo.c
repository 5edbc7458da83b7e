/* pcontact demo: the ratio metric on a few pairs that a reader can check in the head. Uses the public headers only. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adapters/cli/cli.h"
#include "pcontact/metric.h"
#include "pcontact/shape.h"

static const char help[] =
    "Usage: pcontact demo\n\n"
    "Prints the ratio metric r, rho, the gap, the normal and the number of contact events of a few pairs of bodies,\n"
    "then the events of two of them.\n";

/* Events are looked for this far ahead. */
#define MARGIN 0.25

enum { CAPACITY = 16 };

typedef enum Body { CUBE, SLAB, FLOOR, TETRAHEDRON, OCTAHEDRON, BALL, BODIES } Body;

typedef enum Turn { UPRIGHT, ABOUT_X, ABOUT_Y, ABOUT_Z, TURNS } Turn;

typedef struct Placed {
    Body body;
    double position[3];
    Turn turn;
} Placed;

typedef struct Pair {
    const char* name;
    Placed first, second;
    bool listEvents;
} Pair;

/* The slab is 4 x 4 x 1; cube, ball and octahedron reach 0.5, 0.5 and 1 along the axes; the floor is z <= 0. */
static const Pair pairs[] = {
    {"cube on slab, touching", {SLAB, {0, 0, 0}, UPRIGHT}, {CUBE, {0.5, 0, 1}, UPRIGHT}, true},
    {"cube on slab, turned 45 degrees", {SLAB, {0, 0, 0}, UPRIGHT}, {CUBE, {0.5, 0, 1}, ABOUT_Z}, false},
    {"cube above the floor", {FLOOR, {0, 0, 0}, UPRIGHT}, {CUBE, {0, 0, 0.7}, UPRIGHT}, false},
    {"cube on its edge in the floor", {FLOOR, {0, 0, 0}, UPRIGHT}, {CUBE, {0, 0, 0.7}, ABOUT_X}, false},
    {"tetrahedron and cube, penetrating", {CUBE, {0, 0, 0}, UPRIGHT}, {TETRAHEDRON, {0.25, 0.5, 0.75}, UPRIGHT}, false},
    {"cubes edge on edge, crossed", {CUBE, {0, 0, 0}, ABOUT_X}, {CUBE, {0, 0, 1.5}, ABOUT_Y}, true},
    {"octahedron and slab, apart", {SLAB, {0, 0, 0}, UPRIGHT}, {OCTAHEDRON, {3, 0, 2}, UPRIGHT}, false},
    {"ball over the floor", {FLOOR, {0, 0, 0}, UPRIGHT}, {BALL, {0, 0, 0.6}, UPRIGHT}, false},
};
enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static pcStatus makeBody(Body body, pcShape** out)
{
    static const double cube[3] = {1, 1, 1}, slab[3] = {4, 4, 1}, ground[4] = {0, 0, 1, 0};
    static const double tetrahedron[] = {1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, 1};
    static const double octahedron[] = {1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1};
    switch (body) {
    case CUBE: return pcShapeBox(cube, out);
    case SLAB: return pcShapeBox(slab, out);
    case FLOOR: return pcShapeHalfSpace(ground, out);
    case TETRAHEDRON: return pcShapeFromPoints(tetrahedron, 4, NULL, out);
    case OCTAHEDRON: return pcShapeFromPoints(octahedron, 6, NULL, out);
    default: return pcShapeSphere(0.5, out);
    }
}

static void freeBodies(pcShape* body[BODIES])
{
    for (int i = 0; i < BODIES; i++) pcShapeFree(body[i]);
}

static pcStatus makeBodies(pcShape* body[BODIES])
{
    pcStatus status = PC_OK;
    for (int i = 0; i < BODIES && status == PC_OK; i++) status = makeBody((Body)i, &body[i]);
    return status;
}

/* All that the two tables show of one pair. */
typedef struct Answer {
    pcMetric metric;
    pcEvent events[CAPACITY];
    int count;
} Answer;

/* Turns are by 45 degrees, so a quaternion has the cosine and sine of 22.5. */
static pcPose poseOf(const Placed* placed)
{
    const double c = cos(atan(1.0) / 2), s = sin(atan(1.0) / 2);
    const double turns[TURNS][4] = {[UPRIGHT] = {1, 0, 0, 0}, [ABOUT_X] = {c, s, 0, 0}, [ABOUT_Y] = {c, 0, s, 0}, [ABOUT_Z] = {c, 0, 0, s}};
    pcPose pose;
    memcpy(pose.position, placed->position, sizeof pose.position);
    memcpy(pose.quaternion, turns[placed->turn], sizeof pose.quaternion);
    return pose;
}

static pcStatus ask(pcShape* const body[BODIES], const Pair* pair, Answer* answer)
{
    pcEventSettings settings = pcDefaultEventSettings();
    settings.margin = MARGIN;
    const pcShape *shape1 = body[pair->first.body], *shape2 = body[pair->second.body];
    const pcPose pose1 = poseOf(&pair->first), pose2 = poseOf(&pair->second);
    pcStatus status = pcMetricPair(shape1, &pose1, shape2, &pose2, 0, NULL, &answer->metric);
    if (status != PC_OK) return status;
    return pcEventsOfPair(shape1, &pose1, shape2, &pose2, 0, &settings, NULL, answer->events, CAPACITY, &answer->count);
}

static void printVector(const double v[3])
{
    /* Adding 0 turns -0 into 0, which reads better. Rounding first makes a tiny negative such a -0. */
    for (int i = 0; i < 3; i++) printf(" %7.4f", round(v[i] * 1e4) / 1e4 + 0.0);
}

static void printPair(const char* name, const Answer* answer)
{
    const pcMetric* m = &answer->metric;
    printf("%-34s %8.5f %9.5f %9.5f  ", name, m->r, m->rho, m->gap);
    printVector(m->normal);
    printf("  %6d\n", answer->count);
}

static void printEvents(const char* name, const Answer* answer)
{
    static const char* const kinds[] = {"corner on face", "face on corner", "edge on edge", "smooth"};
    printf("\nEvents of: %s\n", name);
    for (int i = 0; i < answer->count && i < CAPACITY; i++) {
        const pcEvent* e = &answer->events[i];
        printf("  %-14s  gap %9.5f  at", kinds[e->kind], e->gap);
        printVector(e->point);
        printf("\n");
    }
}

/* Returns the number of pairs without an answer. */
static int printTable(pcShape* const body[BODIES], Answer answers[PAIRS])
{
    int failed = 0;
    puts("Ratio metric: r < 1 penetrating, 1 touching, > 1 apart; rho = (r - 1) / r; gap and margin are lengths;");
    printf("normals point from the first body to the second; events are counted up to a gap of %g.\n\n", MARGIN);
    printf("%-34s %8s %9s %9s   %-23s  %6s\n", "pair", "r", "rho", "gap", " normal", "events");
    for (int i = 0; i < PAIRS; i++) {
        if (ask(body, &pairs[i], &answers[i]) == PC_OK) {
            printPair(pairs[i].name, &answers[i]);
        } else {
            printf("%-34s failed: %s\n", pairs[i].name, pcLastError());
            failed++;
        }
    }
    return failed;
}

int pcCliDemo(int argc, char** argv)
{
    int answered = pcCliOnlyHelp(argc, argv, "demo", help);
    if (answered >= 0) return answered;
    pcShape* body[BODIES] = {NULL};
    static Answer answers[PAIRS];
    int failed = 1;
    if (makeBodies(body) == PC_OK) {
        failed = printTable(body, answers);
    } else {
        fprintf(stderr, "pcontact: a body could not be made: %s.\n", pcLastError());
    }
    for (int i = 0; i < PAIRS; i++) {
        if (pairs[i].listEvents && answers[i].count > 0) printEvents(pairs[i].name, &answers[i]);
    }
    freeBodies(body);
    return failed ? PC_CLI_CHECK_FAILED : PC_CLI_OK;
}
