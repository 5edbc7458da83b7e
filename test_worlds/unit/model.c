#include "test_worlds/unit/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PI 3.14159265358979323846

double pcBetween(pcRandom* random, double low, double high) { return low + (high - low) * pcRandomUnit(random); }

v3 pcDirection(pcRandom* random)
{
    double z = pcBetween(random, -1.0, 1.0), angle = pcBetween(random, 0.0, 2.0 * PI), r = sqrt(1.0 - z * z);
    return v3Make(r * cos(angle), r * sin(angle), z);
}

/* ---- Memory ---- */

/* A test has no use for going on without memory. */
static void* there(void* block)
{
    if (!block) abort();
    return block;
}

static size_t room(int count, size_t size) { return (size_t)(count > 0 ? count : 1) * size; }

static void* resized(void* place, int count, size_t size) { return there(realloc(place, room(count, size))); }

static void* copied(const void* place, int count, size_t size)
{
    void* copy = there(malloc(room(count, size)));
    if (count > 0) memcpy(copy, place, (size_t)count * size);
    return copy;
}

static void point(pcConeModel* model)
{
    pcProblem* p = &model->problem;
    p->mass = model->mass, p->free = model->free, p->J = model->J, p->target = model->target, p->soft = model->soft;
    p->block = model->block, p->cone = model->cone;
}

pcConeModel pcModelStart(bool coulomb, double velocityScale)
{
    pcConeModel model = {.problem = {.coulomb = coulomb, .velocityScale = velocityScale}};
    return model;
}

void pcModelFree(pcConeModel* model)
{
    free(model->mass), free(model->free), free(model->J), free(model->target), free(model->soft);
    free(model->block), free(model->cone);
    *model = (pcConeModel){0};
}

static int massNumbers(const pcProblem* p) { return p->dense ? 36 * p->blocks * p->blocks : 36 * p->blocks; }

static pcConeModel copyOf(const pcConeModel* model)
{
    const pcProblem* p = &model->problem;
    pcConeModel copy = {.problem = *p};
    copy.mass = copied(p->mass, massNumbers(p), sizeof(double)), copy.free = copied(p->free, 6 * p->blocks, sizeof(double));
    copy.J = copied(p->J, 12 * p->rows, sizeof(double)), copy.block = copied(p->block, 2 * p->rows, sizeof(int));
    copy.target = copied(p->target, p->rows, sizeof(double)), copy.soft = copied(p->soft, p->rows, sizeof(double));
    copy.cone = copied(p->cone, p->cones, sizeof(pcCone));
    point(&copy);
    return copy;
}

/* ---- Bodies ---- */

int pcModelBody(pcConeModel* model, double mass, v3 inertia, v3 velocity, v3 spin)
{
    int body = model->problem.blocks++;
    model->mass = resized(model->mass, 36 * (body + 1), sizeof(double));
    model->free = resized(model->free, 6 * (body + 1), sizeof(double));
    double* M = model->mass + 36 * (size_t)body;
    memset(M, 0, 36 * sizeof(double));
    for (int i = 0; i < 3; i++) M[7 * i] = mass;
    M[21] = inertia.x, M[28] = inertia.y, M[35] = inertia.z;
    v3Store(model->free + 6 * (size_t)body, velocity), v3Store(model->free + 6 * (size_t)body + 3, spin);
    point(model);
    return body;
}

void pcModelInertia(pcConeModel* model, int body, const double inertia[9])
{
    double* M = model->mass + 36 * (size_t)body;
    for (int i = 0; i < 9; i++) M[6 * (3 + i / 3) + 3 + i % 3] = inertia[i];
}

/* ---- Rows ---- */

typedef struct Row {
    int body1, body2;
    v3 linear1, angular1, linear2, angular2;
    double target, soft;
} Row;

static void addRow(pcConeModel* model, const Row* row)
{
    int r = model->problem.rows++;
    model->J = resized(model->J, 12 * (r + 1), sizeof(double)), model->block = resized(model->block, 2 * (r + 1), sizeof(int));
    model->target = resized(model->target, r + 1, sizeof(double)), model->soft = resized(model->soft, r + 1, sizeof(double));
    double* J = model->J + 12 * (size_t)r;
    memset(J, 0, 12 * sizeof(double));
    if (row->body1 >= 0) v3Store(J, row->linear1), v3Store(J + 3, row->angular1);
    if (row->body2 >= 0) v3Store(J + 6, row->linear2), v3Store(J + 9, row->angular2);
    model->block[2 * r] = row->body1, model->block[2 * r + 1] = row->body2;
    model->target[r] = row->target, model->soft[r] = row->soft;
}

static pcCone* addCone(pcConeModel* model, pcConeKind kind)
{
    int i = model->problem.cones++;
    model->cone = resized(model->cone, i + 1, sizeof(pcCone));
    model->cone[i] = (pcCone){.kind = kind, .row = model->problem.rows};
    return &model->cone[i];
}

/* The velocity of body 2 relative to body 1 at the contact along `axis`. */
static Row slideRow(const pcTouch* t, v3 axis)
{
    Row row = {.body1 = t->body1, .body2 = t->body2, .linear1 = v3Neg(axis), .linear2 = axis};
    row.angular1 = v3Cross(axis, t->arm1), row.angular2 = v3Cross(t->arm2, axis);
    return row;
}

static Row turnRow(const pcTouch* t, v3 axis)
{
    Row row = {.body1 = t->body1, .body2 = t->body2, .angular1 = v3Neg(axis), .angular2 = axis};
    return row;
}

static void addGroup(pcConeModel* model, pcCone* cone, const Row* rows, int size, double slip)
{
    cone->groupSize[cone->groups++] = size;
    for (int i = 0; i < size; i++) {
        Row row = rows[i];
        row.soft = slip;
        addRow(model, &row);
    }
}

static void addFriction(pcConeModel* model, pcCone* cone, const pcTouch* t)
{
    v3 one, two;
    v3Complete(t->normal, &one, &two);
    if (v3Norm(t->tangent) > 0.0) one = t->tangent, two = v3Cross(t->normal, one);
    double mu2 = t->mu2 > 0.0 ? t->mu2 : t->mu;
    Row slide[2] = {slideRow(t, v3Scale(t->mu, one)), slideRow(t, v3Scale(mu2, two))};
    Row torsion = turnRow(t, v3Scale(t->torsion, t->normal));
    Row rolling[2] = {turnRow(t, v3Scale(t->rolling, one)), turnRow(t, v3Scale(t->rolling, two))};
    addGroup(model, cone, slide, t->planar ? 1 : 2, t->slip);
    if (t->torsion > 0.0) addGroup(model, cone, &torsion, 1, t->slip);
    if (t->rolling > 0.0) addGroup(model, cone, rolling, 2, t->slip);
}

void pcModelTouch(pcConeModel* model, const pcTouch* t)
{
    pcCone* cone = addCone(model, PC_CONE_FRICTION);
    Row normal = slideRow(t, t->normal);
    normal.target = t->target, normal.soft = t->soft;
    addRow(model, &normal);
    if (t->mu >= 0.0) addFriction(model, cone, t);
    cone->rows = model->problem.rows - cone->row;
    cone->edges = t->edges, cone->angle = t->angle;
    point(model);
}

void pcModelLink(pcConeModel* model, const pcLink* l)
{
    bool equality = isinf(l->lo) && isinf(l->hi);
    pcCone* cone = addCone(model, equality ? PC_CONE_FREE : PC_CONE_BOX);
    cone->rows = 1, cone->lo = l->lo, cone->hi = l->hi;
    Row row = {.body1 = l->body1, .body2 = l->body2, .target = l->target, .soft = l->soft};
    row.linear1 = v3Load(l->J), row.angular1 = v3Load(l->J + 3), row.linear2 = v3Load(l->J + 6), row.angular2 = v3Load(l->J + 9);
    addRow(model, &row);
    point(model);
}

void pcModelBall(pcConeModel* model, int body1, v3 arm1, int body2, v3 arm2)
{
    const v3 axes[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};
    pcTouch at = {.body1 = body1, .body2 = body2, .arm1 = arm1, .arm2 = arm2};
    for (int i = 0; i < 3; i++) {
        Row row = slideRow(&at, axes[i]);
        pcCone* cone = addCone(model, PC_CONE_FREE);
        cone->rows = 1, cone->lo = -(double)INFINITY, cone->hi = (double)INFINITY;
        addRow(model, &row);
    }
    point(model);
}

/* ---- The same problem in other words ---- */

/* a a' added to the blocks, a_i = sqrt(coupling M_ii) with changing signs: positive definite as before. */
void pcModelMakeDense(pcConeModel* model, double coupling)
{
    int n = 6 * model->problem.blocks;
    double* M = calloc((size_t)n * (size_t)n + 1, sizeof(double));
    if (!M) abort();
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sign = (i + j) % 2 ? -1.0 : 1.0, own = model->mass[36 * (i / 6) + 7 * (i % 6)],
                   other = model->mass[36 * (j / 6) + 7 * (j % 6)];
            double inside = i / 6 == j / 6 ? model->mass[36 * (i / 6) + 6 * (i % 6) + j % 6] : 0.0;
            M[(size_t)i * (size_t)n + (size_t)j] = inside + sign * coupling * sqrt(own * other);
        }
    free(model->mass);
    model->mass = M, model->problem.dense = true;
    point(model);
}

static void scaleMass(double* M, pcUnits units)
{
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) M[6 * i + j] *= units.mass * (i < 3 ? 1.0 : units.length) * (j < 3 ? 1.0 : units.length);
}

static void scaleRow(double* J, pcUnits units)
{
    for (int i = 0; i < 12; i++)
        if (i % 6 >= 3) J[i] *= units.length;
}

pcConeModel pcModelInUnits(const pcConeModel* model, pcUnits units)
{
    pcConeModel scaled = copyOf(model);
    pcProblem* p = &scaled.problem;
    double velocity = units.length / units.time;
    for (int i = 0; i < p->blocks; i++) scaleMass(scaled.mass + 36 * (size_t)i, units);
    for (int i = 0; i < 6 * p->blocks; i++) scaled.free[i] *= i % 6 < 3 ? velocity : 1.0 / units.time;
    for (int r = 0; r < p->rows; r++) scaleRow(scaled.J + 12 * (size_t)r, units);
    for (int r = 0; r < p->rows; r++) scaled.target[r] *= velocity, scaled.soft[r] /= units.mass;
    for (int i = 0; i < p->cones; i++) scaled.cone[i].lo *= units.mass * velocity, scaled.cone[i].hi *= units.mass * velocity;
    p->velocityScale *= velocity;
    return scaled;
}

static int* shuffledNumbers(int count, pcRandom* random)
{
    int* from = resized(NULL, count, sizeof(int));
    for (int i = 0; i < count; i++) from[i] = i;
    for (int i = count - 1; i > 0; i--) {
        int j = (int)(pcRandomBits(random) % (uint64_t)(i + 1)), kept = from[i];
        from[i] = from[j], from[j] = kept;
    }
    return from;
}

static void shuffleBlocks(const pcConeModel* model, pcShuffle* shuffle)
{
    int n = model->problem.blocks;
    for (int a = 0; a < n; a++) {
        int from = shuffle->blockFrom[a];
        memcpy(shuffle->model.free + 6 * (size_t)a, model->free + 6 * (size_t)from, 6 * sizeof(double));
        if (!model->problem.dense) memcpy(shuffle->model.mass + 36 * (size_t)a, model->mass + 36 * (size_t)from, 36 * sizeof(double));
        for (int b = 0; b < n && model->problem.dense; b++)
            for (int k = 0; k < 36; k++) {
                size_t to = (size_t)(6 * a + k / 6) * 6 * (size_t)n + (size_t)(6 * b + k % 6);
                size_t old = (size_t)(6 * from + k / 6) * 6 * (size_t)n + (size_t)(6 * shuffle->blockFrom[b] + k % 6);
                shuffle->model.mass[to] = model->mass[old];
            }
    }
}

static int blockNow(const pcShuffle* shuffle, int old)
{
    for (int i = 0; i < shuffle->model.problem.blocks && old >= 0; i++)
        if (shuffle->blockFrom[i] == old) return i;
    return -1;
}

/* The two sides of a row change places half of the time. */
static void moveRow(const pcConeModel* model, int from, pcShuffle* shuffle, int to, bool turn)
{
    for (int side = 0; side < 2; side++) {
        int old = turn ? 1 - side : side;
        shuffle->model.block[2 * to + side] = blockNow(shuffle, model->block[2 * from + old]);
        memcpy(shuffle->model.J + 12 * (size_t)to + 6 * (size_t)side, model->J + 12 * (size_t)from + 6 * (size_t)old, 6 * sizeof(double));
    }
    shuffle->model.target[to] = model->target[from], shuffle->model.soft[to] = model->soft[from];
}

pcShuffle pcModelShuffled(const pcConeModel* model, pcRandom* random)
{
    pcShuffle shuffle = {.model = copyOf(model)};
    shuffle.coneFrom = shuffledNumbers(model->problem.cones, random);
    shuffle.blockFrom = shuffledNumbers(model->problem.blocks, random);
    shuffleBlocks(model, &shuffle);
    for (int i = 0, row = 0; i < model->problem.cones; i++) {
        const pcCone* from = &model->cone[shuffle.coneFrom[i]];
        bool turn = pcRandomBits(random) & 1u;
        shuffle.model.cone[i] = *from, shuffle.model.cone[i].row = row;
        for (int k = 0; k < from->rows; k++) moveRow(model, from->row + k, &shuffle, row++, turn);
    }
    return shuffle;
}

void pcShuffleBack(const pcShuffle* shuffle, const pcConeModel* original, const double* v, const double* c, double* vOriginal,
                   double* cOriginal)
{
    for (int i = 0; i < original->problem.blocks; i++)
        memcpy(vOriginal + 6 * (size_t)shuffle->blockFrom[i], v + 6 * (size_t)i, 6 * sizeof(double));
    for (int i = 0; i < original->problem.cones; i++) {
        const pcCone *now = &shuffle->model.cone[i], *then = &original->cone[shuffle->coneFrom[i]];
        memcpy(cOriginal + then->row, c + now->row, (size_t)now->rows * sizeof(double));
    }
}

void pcShuffleFree(pcShuffle* shuffle)
{
    pcModelFree(&shuffle->model);
    free(shuffle->coneFrom), free(shuffle->blockFrom);
    *shuffle = (pcShuffle){0};
}
