#include "adapters/cli/nut.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "adapters/cli/progress.h"

enum { FILLED = 3 }; /* shakes */

/* ---- watching ---- */

static double radiusOf(const pcSceneShape* shape)
{
    double most = shape->kind == PC_SCENE_SPHERE ? shape->size[0] : 0.0;
    for (int i = 0; i < shape->pieces; i++)
        for (int k = 0; k < shape->piece[i].count; k++) {
            const double* point = shape->piece[i].xyz + 3 * k;
            most = fmax(most, hypot(point[0], point[1])); /* of a prism, across its axis */
        }
    return most;
}

pcStatus pcNutFind(const pcScene* scene, pcNutCast* cast)
{
    int link = -1;
    *cast = (pcNutCast){.nut = -1};
    for (int i = 0; i < scene->links; i++) {
        if (scene->link[i].fixed) continue;
        if (strncmp(scene->link[i].name, "nut::", 5) == 0) link = i, cast->nut = cast->bodies;
        cast->bodies++;
    }
    for (int i = 0; i < scene->collisions; i++)
        if (scene->collision[i].link == link) cast->radius = radiusOf(&scene->collision[i].shape);
    if (cast->bodies < 2 || !(cast->radius > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "the world has no model 'nut' among others");
    return scene->physics.shakeAmplitude > 0.0 ? PC_OK : pcFail(PC_ERROR_ARGUMENT, "the world is not shaken");
}

void pcNutWatch(const pcNutCast* cast, const double* xz, pcNutTrack* track)
{
    const double* nut = xz + 2 * cast->nut;
    double sum = 0.0;
    int over = 0;
    if (track->shakes == PC_NUT_MOST_SHAKES) return;
    for (int i = 0; i < cast->bodies; i++) {
        if (i == cast->nut) continue;
        sum += xz[2 * i + 1];
        over += fabs(xz[2 * i] - nut[0]) < cast->radius && xz[2 * i + 1] > nut[1] + 0.5 * cast->radius;
    }
    track->height[track->shakes++] = nut[1] / (2.0 * sum / (cast->bodies - 1));
    if (over == 0 && track->onTop == 0) track->onTop = track->shakes;
}

/* ---- playing ---- */

typedef struct Nut {
    const pcNutPlan* plan;
    pcNutRun* out;
    pcScene* scene;
    pcStage* stage;
    pcNutCast cast;
    double* xz;
    int measured;
} Nut;

static void watch(Nut* n)
{
    for (int i = 0; i < n->stage->bodies; i++) {
        const dReal* x = dBodyGetPosition(n->stage->body[i].body);
        n->xz[2 * i] = x[0], n->xz[2 * i + 1] = x[2];
    }
    pcNutWatch(&n->cast, n->xz, &n->out->track);
}

static void measure(Nut* n, double milliseconds)
{
    pcStepReport report;
    pcWorldReportExtra extra;
    pcNutRun* out = n->out;
    out->milliseconds += (milliseconds - out->milliseconds) / ++out->steps;
    out->slowest = fmax(out->slowest, milliseconds);
    if (pcWorldReport(n->stage->world, &report) != PC_OK || pcWorldReportMore(n->stage->world, &extra) != PC_OK) return;
    out->nativeSteps += extra.native && extra.reason[0];
    out->inaccurate += !extra.native && report.outcome == PC_INACCURATE;
    if (!extra.native) out->residual = fmax(out->residual, report.residual);
    if (out->track.shakes < FILLED) return;
    n->measured++;
    out->ratio += (report.infeasibilityContact - out->ratio) / n->measured;
    out->length += (report.penetration - out->length) / n->measured;
}

static void countOutside(Nut* n)
{
    for (int i = 0; i < n->stage->bodies; i++) {
        const dReal* x = dBodyGetPosition(n->stage->body[i].body);
        bool inside = true;
        for (int k = 0; k < n->scene->collisions; k++) {
            const pcSceneCollision* c = n->scene->collision + k;
            const double *normal = c->shape.normal, *from = c->pose.position;
            if (c->shape.kind != PC_SCENE_PLANE) continue;
            double height = normal[0] * (x[0] - from[0]) + normal[1] * (x[1] - from[1]) + normal[2] * (x[2] - from[2]);
            inside &= height > 0.0 && height < HUGE_VAL;
        }
        n->out->outside += !inside;
    }
}

static pcStatus play(Nut* n)
{
    const pcNutPlan* plan = n->plan;
    double h = plan->step > 0.0 ? plan->step : n->stage->step, frequency = n->scene->physics.shakeFrequency;
    pcNutTrack* track = &n->out->track;
    pcProgress progress = pcProgressBegin("shakes");
    for (int step = 1; track->shakes < plan->shakes && track->shakes < PC_NUT_MOST_SHAKES && track->onTop == 0; step++) {
        double before = pcCliClock();
        pcStatus status = pcStageStep(n->stage, h);
        if (status != PC_OK) return status;
        measure(n, 1e3 * (pcCliClock() - before));
        if (floor(step * h * frequency + 1e-9) > track->shakes) watch(n);
        pcProgressShow(&progress, step * h * frequency, plan->shakes, "at most");
    }
    pcProgressEnd(&progress);
    countOutside(n);
    return PC_OK;
}

/* Without the links after so many that move; they are the last ones, with one collision each. */
static void keepFirst(pcScene* scene, int bodies)
{
    int kept = 0, links = 0, collisions = 0;
    while (links < scene->links && (scene->link[links].fixed || kept < bodies)) kept += !scene->link[links++].fixed;
    while (collisions < scene->collisions && scene->collision[collisions].link < links) collisions++;
    scene->links = links, scene->collisions = collisions;
}

static pcStatus setUp(Nut* n)
{
    pcSettings settings;
    pcStatus status = pcSceneReadSeeded(n->plan->file, n->plan->seed, &n->scene);
    if (status == PC_OK && n->plan->bodies > 0) keepFirst(n->scene, n->plan->bodies);
    if (status == PC_OK) status = pcNutFind(n->scene, &n->cast);
    if (status == PC_OK) status = pcStageMake(n->scene, &n->stage);
    if (status != PC_OK) return status;
    settings = n->stage->settings;
    if (n->plan->settings) status = pcSettingsParse(&settings, n->plan->settings);
    if (status == PC_OK) status = pcStageAttach(n->stage, &settings);
    n->out->bodies = n->cast.bodies;
    n->xz = malloc(2 * (size_t)n->cast.bodies * sizeof *n->xz);
    return status == PC_OK && !n->xz ? pcFail(PC_ERROR_MEMORY, "out of memory for a shaken world") : status;
}

pcStatus pcNutPlay(const pcNutPlan* plan, pcNutRun* out)
{
    Nut n = {.plan = plan, .out = out};
    *out = (pcNutRun){.bodies = 0};
    pcStatus status = setUp(&n);
    if (status == PC_OK) status = play(&n);
    pcStageFree(n.stage);
    pcSceneFree(n.scene);
    free(n.xz);
    return status;
}
