/*
 * What keeps ODE alive in worlds that are badly out of proportion; others are left as they are. ODE's own step is not taken in them: its
 * pivoting ends the program there sooner or later. What follows is for single steps that fall back to it.
 *
 * Bodies that reach ten thousand times as far as their radius of gyration, and more, get the inertia that is missing to that.
 *
 * Rows must be a little soft. ODE factors A = J M^-1 J' + cfm / h and has nothing to say where a pivot is 0: it ends the program over the
 * numbers that come of it. Its own cfm of 1e-10 keeps pivots away from 0 as long as the entries of A are not so large that it drowns in their
 * rounding: beyond that, in worlds of dust or of very long levers, it grows with them.
 *
 *     A_ii <= s = 1/m + max(1, r^2) trace(I^-1),  r the furthest that a joint or a shape is from the body's centre
 *
 * And not too soft: rows of which cfm / h leaves less than a hundred thousandth beside hard ones drown those, from about 1e8 s on. A world's cfm
 * is that much at most, at which its rows hold nothing any more.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/inner.h"
#include "base/pose.h"
#include "base/status.h"
#include "base/vec.h"

/* Of a positive definite matrix. */
static double traceOfInverse(const double* I)
{
    double xx = I[4] * I[8] - I[5] * I[5], yy = I[0] * I[8] - I[2] * I[2], zz = I[0] * I[4] - I[1] * I[1];
    double determinant = I[0] * xx - I[1] * (I[1] * I[8] - I[5] * I[2]) + I[2] * (I[1] * I[5] - I[4] * I[2]);
    return (xx + yy + zz) / determinant;
}

static double sizeOf(const pcSceneShape* shape)
{
    double most = shape->kind == PC_SCENE_PLANE ? 0.0 : v3Norm(v3Load(shape->size));
    for (int i = 0; i < shape->pieces; i++)
        for (int k = 0; k < shape->piece[i].count; k++) most = larger(most, v3Norm(v3Load(shape->piece[i].xyz + 3 * k)));
    return most;
}

static v3 centreOf(const pcSceneLink* link)
{
    pcPose centre = {.quaternion = {1, 0, 0, 0}};
    v3Store(centre.position, v3Load(link->centre));
    return v3Load(pcPoseCompose(&link->pose, &centre).position);
}

static void addLevers(const pcScene* scene, double* lever)
{
    for (int i = 0; i < scene->collisions; i++) {
        const pcSceneCollision* c = scene->collision + i;
        double reach = v3Norm(v3Sub(v3Load(c->pose.position), v3Load(scene->link[c->link].centre))) + sizeOf(&c->shape);
        lever[c->link] = larger(lever[c->link], reach);
    }
    for (int i = 0; i < scene->joints; i++) {
        const pcSceneJoint* j = scene->joint + i;
        const int ends[] = {j->parent, j->child};
        for (int k = 0; k < 2; k++)
            if (ends[k] >= 0) {
                double reach = v3Norm(v3Sub(v3Load(j->anchor), centreOf(scene->link + ends[k])));
                lever[ends[k]] = larger(lever[ends[k]], reach);
            }
    }
}

/* Adds what is missing to m (r / 10000)^2, the same about all axes: true bodies that reach as far as r have more. */
static bool fillInertia(const pcSceneLink* link, double lever, double* I)
{
    double least = 1e-8 * link->mass * lever * lever;
    memcpy(I, link->inertia, sizeof link->inertia);
    if (!(traceOfInverse(I) * least > 1.0)) return false;
    for (int k = 0; k < 3; k++) I[4 * k] += least;
    return true;
}

pcStatus pcStageBalance(pcStage* stage)
{
    const double own = 1e-10, drowns = 1e-15, enough = 1e-12, nothing = 1e5;
    pcStageInner* inner = stage->inner;
    const pcScene* scene = inner->scene;
    double largest = 0.0, h = scene->physics.step, *lever = calloc((size_t)scene->links + 1, sizeof *lever);
    inner->inertia = calloc((size_t)scene->links + 1, sizeof *inner->inertia);
    if (!lever || !inner->inertia) {
        free(lever);
        return pcFail(PC_ERROR_MEMORY, "out of memory for a world");
    }
    addLevers(scene, lever);
    for (int i = 0; i < scene->links; i++) {
        const pcSceneLink* link = scene->link + i;
        if (link->fixed) continue;
        bool filled = fillInertia(link, lever[i], inner->inertia[i]);
        double scale = 1.0 / link->mass + larger(1.0, lever[i] * lever[i]) * traceOfInverse(inner->inertia[i]);
        if (filled) pcStageNote(stage, "inertia too small for how far its link reaches, made larger");
        if (!inner->lopsided && (filled || drowns * h * scale > own)) inner->lopsided = link->name;
        largest = larger(largest, scale);
    }
    free(lever);
    if (drowns * h * largest > own) inner->leastCfm = enough * h * largest;
    inner->mostCfm = largest > 0.0 ? nothing * h * largest : HUGE_VAL;
    if (scene->physics.cfm > inner->mostCfm) pcStageNote(stage, "cfm so large that nothing would hold, made smaller");
    return PC_OK;
}
