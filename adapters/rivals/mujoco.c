/* MuJoCo: Newton's method, elliptic cones, 100 iterations, contacts as soft as it makes them. Bodies float; ball joints are its `connect`. */
#define _GNU_SOURCE
#include <math.h>
#include <mujoco/mujoco.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/rivals/rival.h"

struct Rival {
    const pcScene* scene;
    mjModel* model;
    mjData* data;
    int* body; /* per link */
};

static void writeShape(FILE* f, const pcSceneCollision* c, int index)
{
    const double *s = c->shape.size, *x = c->pose.position, *q = c->pose.quaternion;
    double mu = isnan(c->surface.mu) ? 1.0 : c->surface.mu;
    fprintf(f, "<geom pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g' friction='%g 0 0' ", x[0], x[1], x[2], q[0], q[1], q[2], q[3],
            mu);
    if (c->shape.kind == PC_SCENE_BOX) fprintf(f, "type='box' size='%.17g %.17g %.17g'/>", 0.5 * s[0], 0.5 * s[1], 0.5 * s[2]);
    if (c->shape.kind == PC_SCENE_SPHERE) fprintf(f, "type='sphere' size='%.17g'/>", s[0]);
    if (c->shape.kind == PC_SCENE_HULLS) fprintf(f, "type='mesh' mesh='m%d'/>", index);
    if (c->shape.kind != PC_SCENE_PLANE) return;
    const double* n = c->shape.normal; /* of a plane: the direction of z */
    fprintf(f, "type='plane' size='0 0 1' zaxis='%.17g %.17g %.17g'/>", n[0], n[1], n[2]);
}

static void writePlane(FILE* f, const pcSceneCollision* c)
{
    const double *x = c->pose.position, *n = c->shape.normal;
    double mu = isnan(c->surface.mu) ? 1.0 : c->surface.mu;
    fprintf(f, "<geom pos='%.17g %.17g %.17g' zaxis='%.17g %.17g %.17g' type='plane' size='0 0 1' friction='%g 0 0'/>", x[0], x[1], x[2],
            n[0], n[1], n[2], mu);
}

static void writeLink(FILE* f, const pcScene* scene, int index)
{
    const pcSceneLink* link = scene->link + index;
    const double *x = link->pose.position, *q = link->pose.quaternion, *I = link->inertia;
    fprintf(f, "<body name='b%d' pos='%.17g %.17g %.17g' quat='%.17g %.17g %.17g %.17g'>", index, x[0], x[1], x[2], q[0], q[1], q[2], q[3]);
    if (!link->fixed) {
        fprintf(f, "<freejoint/><inertial pos='%.17g %.17g %.17g' mass='%.17g' ", link->centre[0], link->centre[1], link->centre[2],
                link->mass);
        fprintf(f, "diaginertia='%.17g %.17g %.17g'/>", I[0], I[4], I[8]);
    }
    for (int i = 0; i < scene->collisions; i++) {
        const pcSceneCollision* c = scene->collision + i;
        if (c->link != index) continue;
        if (c->shape.kind == PC_SCENE_PLANE)
            writePlane(f, c);
        else
            writeShape(f, c, i);
    }
    fputs("</body>\n", f);
}

static void writeMeshes(FILE* f, const pcScene* scene)
{
    fputs("<asset>", f);
    for (int i = 0; i < scene->collisions; i++) {
        if (scene->collision[i].shape.kind != PC_SCENE_HULLS) continue;
        const pcScenePoints* p = scene->collision[i].shape.piece;
        fprintf(f, "<mesh name='m%d' vertex='", i);
        for (int k = 0; k < 3 * p->count; k++) fprintf(f, "%.9g ", p->xyz[k]);
        fputs("'/>", f);
    }
    fputs("</asset>\n", f);
}

/* Joints, and links of one model, which pass through each other. */
static void writeTies(FILE* f, const pcScene* scene)
{
    fputs("<equality>", f);
    for (int i = 0; i < scene->joints; i++) {
        const pcSceneJoint* j = scene->joint + i;
        const pcSceneLink* child = scene->link + j->child;
        double anchor[3], inverse[4], off[3];
        for (int k = 0; k < 3; k++) off[k] = j->anchor[k] - child->pose.position[k];
        mju_negQuat(inverse, child->pose.quaternion);
        mju_rotVecQuat(anchor, off, inverse);
        fprintf(f, "<connect body1='b%d' anchor='%.17g %.17g %.17g'", j->child, anchor[0], anchor[1], anchor[2]);
        if (j->parent >= 0) fprintf(f, " body2='b%d'", j->parent);
        fputs("/>", f);
    }
    fputs("</equality>\n<contact>", f);
    for (int i = 0; i < scene->links; i++)
        for (int k = i + 1; k < scene->links && scene->link[k].model == scene->link[i].model; k++)
            if (!scene->link[i].selfCollide && !scene->link[k].selfCollide) fprintf(f, "<exclude body1='b%d' body2='b%d'/>", i, k);
    fputs("</contact>\n", f);
}

static void writeModel(FILE* f, const pcScene* scene, double h)
{
    fprintf(f, "<mujoco><compiler angle='radian' inertiafromgeom='false' balanceinertia='true'/>\n");
    fprintf(f, "<option timestep='%.17g' cone='elliptic' solver='Newton' iterations='100'/>\n", h);
    fprintf(f, "<size njmax='%d' nconmax='%d'/>\n", 100 * scene->links + 2000, 25 * scene->links + 500);
    writeMeshes(f, scene);
    fputs("<worldbody>\n", f);
    for (int i = 0; i < scene->links; i++) writeLink(f, scene, i);
    fputs("</worldbody>\n", f);
    writeTies(f, scene);
    fputs("</mujoco>\n", f);
}

static bool knowsAll(const pcScene* scene)
{
    for (int i = 0; i < scene->collisions; i++) {
        pcSceneKind kind = scene->collision[i].shape.kind;
        bool hull = kind == PC_SCENE_HULLS && scene->collision[i].shape.pieces == 1;
        if (kind != PC_SCENE_BOX && kind != PC_SCENE_SPHERE && kind != PC_SCENE_PLANE && !hull) return false;
    }
    for (int i = 0; i < scene->joints; i++)
        if (scene->joint[i].kind != PC_SCENE_BALL || scene->joint[i].child < 0) return false;
    return true;
}

static mjModel* compile(const pcScene* scene, double h)
{
    char name[] = "/tmp/pcontact-rival-XXXXXX", error[512] = "";
    int file = mkstemp(name);
    FILE* f = file >= 0 ? fdopen(file, "w") : NULL;
    if (!f) return NULL;
    writeModel(f, scene, h);
    mjModel* model = fclose(f) == 0 ? mj_loadXML(name, NULL, error, sizeof error) : NULL;
    remove(name);
    if (!model) fprintf(stderr, "%s\n", error);
    return model;
}

static void setVelocities(Rival* r)
{
    for (int i = 0; i < r->scene->links; i++) {
        int joint = r->model->body_jntadr[r->body[i]];
        if (joint < 0) continue;
        double *v = r->data->qvel + r->model->jnt_dofadr[joint], turn[3], inverse[4]; /* spin is in the body's axes there */
        memcpy(v, r->scene->link[i].velocity, 3 * sizeof *v);
        mju_negQuat(inverse, r->scene->link[i].pose.quaternion);
        mju_rotVecQuat(turn, r->scene->link[i].velocity + 3, inverse);
        memcpy(v + 3, turn, sizeof turn);
    }
}

Rival* rivalMake(const pcScene* scene, double h)
{
    Rival* r = knowsAll(scene) ? calloc(1, sizeof *r) : NULL;
    if (!r) return NULL;
    r->scene = scene, r->model = compile(scene, h), r->body = calloc((size_t)scene->links, sizeof *r->body);
    r->data = r->model ? mj_makeData(r->model) : NULL;
    if (!r->data || !r->body) return free(r->body), free(r), NULL;
    for (int i = 0; i < scene->links; i++) {
        char name[32];
        snprintf(name, sizeof name, "b%d", i);
        r->body[i] = mj_name2id(r->model, mjOBJ_BODY, name);
    }
    setVelocities(r);
    return r;
}

void rivalStep(Rival* r, const double gravity[3])
{
    memcpy(r->model->opt.gravity, gravity, 3 * sizeof *gravity);
    mj_step(r->model, r->data);
}

void rivalState(const Rival* r, int link, double out[PC_RIVAL_STATE])
{
    int body = r->body[link], joint = r->model->body_jntadr[body];
    const double *q = r->data->qpos + r->model->jnt_qposadr[joint], *v = r->data->qvel + r->model->jnt_dofadr[joint];
    double centre[3];
    mju_rotVecQuat(centre, r->scene->link[link].centre, q + 3);
    for (int k = 0; k < 3; k++) out[k] = q[k] + centre[k];
    memcpy(out + 3, q + 3, 4 * sizeof *q);
    memcpy(out + 7, v, 3 * sizeof *v);
}
