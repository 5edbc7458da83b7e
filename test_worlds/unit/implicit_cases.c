#include "implicit_cases.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

const char* const implicitFamilyNames[CASE_FAMILIES] = {"round on a floor", "round on a fixed round", "two round bodies",
                                                        "faces on a floor", "faces on a fixed box",   "round on faces",
                                                        "a pile of three",  "rounds in a corner"};

static const double PI = 3.14159265358979323846;

/* ---- numbers ---- */

typedef struct Dice {
    uint64_t state;
} Dice;

static double draw(Dice* d) /* 0 .. 1 */
{
    d->state += 0x9e3779b97f4a7c15u;
    uint64_t z = d->state;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u, z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}
static double between(Dice* d, double a, double b) { return a + (b - a) * draw(d); }
static int pick(Dice* d, int n) { return (int)(draw(d) * n) % n; }
static double normal(Dice* d) { return sqrt(-2.0 * log(1.0 - draw(d))) * cos(2.0 * PI * draw(d)); }

static void direction(Dice* d, double out[3])
{
    double size = 0.0;
    while (!(size > 1e-3)) {
        size = 0.0;
        for (int i = 0; i < 3; i++) out[i] = normal(d), size += out[i] * out[i];
        size = sqrt(size);
    }
    for (int i = 0; i < 3; i++) out[i] /= size;
}

static void quaternion(Dice* d, double q[4])
{
    double size = 0.0;
    for (int i = 0; i < 4; i++) q[i] = normal(d), size += q[i] * q[i];
    for (int i = 0; i < 4; i++) q[i] /= sqrt(size);
}

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

static void rotate(const double q[4], const double x[3], double sign, double out[3])
{
    double u[3] = {sign * q[1], sign * q[2], sign * q[3]}, c[3], e[3];
    c[0] = u[1] * x[2] - u[2] * x[1] + q[0] * x[0], c[1] = u[2] * x[0] - u[0] * x[2] + q[0] * x[1],
    c[2] = u[0] * x[1] - u[1] * x[0] + q[0] * x[2];
    e[0] = u[1] * c[2] - u[2] * c[1], e[1] = u[2] * c[0] - u[0] * c[2], e[2] = u[0] * c[1] - u[1] * c[0];
    for (int i = 0; i < 3; i++) out[i] = x[i] + 2.0 * e[i];
}

/* ---- supports ---- */

/* max u x + v y over the unit ball of the p-norm: the norm of the dual exponent. */
static double dual(double u, double v, double p, double* x, double* y)
{
    double s = p / (p - 1.0), top = fmax(fabs(u), fabs(v));
    *x = *y = 0.0;
    if (!(top > 0.0)) return 0.0;
    double a = fabs(u) / top, b = fabs(v) / top, n = pow(pow(a, s) + pow(b, s), 1.0 / s);
    *x = copysign(pow(a / n, s - 1.0), u), *y = copysign(pow(b / n, s - 1.0), v);
    return n * top;
}

double caseSupport(const CaseShape* s, const double n[3], double at[3])
{
    double size, x, y;
    memset(at, 0, 3 * sizeof *at);
    switch (s->kind) {
    case CASE_SPHERE:
        for (int i = 0; i < 3; i++) at[i] = s->a[0] * n[i] / sqrt(dot(n, n));
        break;
    case CASE_ELLIPSOID:
        size = sqrt(pow(s->a[0] * n[0], 2) + pow(s->a[1] * n[1], 2) + pow(s->a[2] * n[2], 2));
        for (int i = 0; i < 3; i++) at[i] = s->a[i] * s->a[i] * n[i] / size;
        break;
    case CASE_SUPER: {
        double inner = dual(s->a[0] * n[0], s->a[1] * n[1], s->p, &at[0], &at[1]);
        dual(inner, s->a[2] * n[2], s->q, &x, &y);
        at[0] *= s->a[0] * x, at[1] *= s->a[1] * x, at[2] = s->a[2] * y;
        break;
    }
    case CASE_CYLINDER:
    case CASE_CAPSULE:
        size = s->kind == CASE_CAPSULE ? sqrt(dot(n, n)) : hypot(n[0], n[1]);
        for (int i = 0; i < (s->kind == CASE_CAPSULE ? 3 : 2) && size > 0.0; i++) at[i] = s->a[0] * n[i] / size;
        at[2] += copysign(0.5 * s->a[1], n[2]);
        break;
    case CASE_BOX:
        for (int i = 0; i < 3; i++) at[i] = copysign(s->a[i], n[i]);
        break;
    case CASE_HULL:
        for (int i = 0, best = 0; i < s->points; i++)
            if (i == 0 || dot(n, s->point[i]) > dot(n, s->point[best])) best = i, memcpy(at, s->point[i], sizeof s->point[i]);
        break;
    default: {
        double apart = 0.0;
        for (int i = 0; i < 3; i++) apart += fabs(n[i] - s->a[i]), at[i] = s->p * s->a[i];
        if (apart > 1e-9) return HUGE_VAL;
    }
    }
    return dot(n, at);
}

/* ---- forms ---- */

static CaseShape shapeOf(Dice* d, CaseKind kind)
{
    CaseShape s = {.kind = kind};
    for (int i = 0; i < 3; i++) s.a[i] = between(d, 0.3, 1.0);
    s.p = between(d, 2.0, 6.0), s.q = between(d, 2.0, 6.0);
    s.points = 8 + pick(d, 5);
    for (int i = 0; i < s.points; i++) {
        direction(d, s.point[i]);
        for (int k = 0; k < 3; k++) s.point[i][k] *= between(d, 0.5, 1.0);
    }
    return s;
}

static void must(pcStatus status)
{
    if (status != PC_OK) abort();
}

static pcForm* formOf(const CaseShape* s)
{
    pcForm* form = NULL;
    pcShape* shape = NULL;
    double size[3] = {2 * s->a[0], 2 * s->a[1], 2 * s->a[2]}, plane[4] = {s->a[0], s->a[1], s->a[2], s->p};
    switch (s->kind) {
    case CASE_HALFSPACE: must(pcFormHalfSpace(plane, &form)); break;
    case CASE_SPHERE: must(pcFormSphere(s->a[0], &form)); break;
    case CASE_ELLIPSOID: must(pcFormEllipsoid(s->a, &form)); break;
    case CASE_SUPER: must(pcFormSuperellipsoid(s->a, s->p, s->q, &form)); break;
    case CASE_CYLINDER: must(pcFormCylinder(s->a[0], s->a[1], &form)); break;
    case CASE_CAPSULE: must(pcFormCapsule(s->a[0], s->a[1], &form)); break;
    case CASE_BOX: must(pcShapeBox(size, &shape)); break;
    default: must(pcShapeFromPoints(s->point[0], s->points, NULL, &shape));
    }
    if (shape) must(pcFormOfShape(shape, &form));
    pcShapeFree(shape);
    return form;
}

static CaseKind roundKind(Dice* d) { return (CaseKind)(CASE_SPHERE + pick(d, 3)); }
static CaseKind flatKind(Dice* d) { return (CaseKind)(CASE_CYLINDER + pick(d, 4)); }

/* ---- worlds ---- */

static void addForm(ImplicitCase* c, CaseShape shape, int body, const pcPose* pose)
{
    static const pcPose origin = {{0, 0, 0}, {1, 0, 0, 0}};
    c->shape[c->forms] = shape;
    c->form[c->forms++] = (pcPlacedForm){.form = formOf(&shape), .body = body, .pose = pose ? *pose : origin};
}

static void addFloor(ImplicitCase* c, const double n[3], double offset)
{
    CaseShape s = {.kind = CASE_HALFSPACE, .a = {n[0], n[1], n[2]}, .p = offset};
    addForm(c, s, PC_WORLD, NULL);
}

static int addBody(ImplicitCase* c, Dice* d, CaseKind kind)
{
    CaseShape shape = shapeOf(d, kind);
    pcBody* b = c->body + c->bodies;
    *b = (pcBody){.mass = pow(10.0, between(d, -1.0, 1.0))};
    double size = shape.a[0] * shape.a[0];
    for (int i = 0; i < 3; i++) b->inertia[4 * i] = b->mass * size * between(d, 0.3, 0.5);
    quaternion(d, b->pose.quaternion);
    double speed = pow(10.0, between(d, -2.0, 1.0)), spin = pow(10.0, between(d, -2.0, 1.0)), way[3];
    direction(d, way);
    for (int i = 0; i < 3; i++) b->velocity[i] = speed * way[i];
    direction(d, way);
    for (int i = 0; i < 3; i++) b->velocity[3 + i] = spin * way[i];
    double way1 = c->h * (speed + spin);
    for (int i = 0; i < 6 && way1 > c->most; i++) b->velocity[i] *= c->most / way1;
    addForm(c, shape, c->bodies, NULL);
    return c->bodies++;
}

/* The point of the form that lies farthest along n, from the position of its body, or of its pose; world axes. Returns how far. */
static double reach(const ImplicitCase* c, int form, const double n[3], double point[3])
{
    const pcPlacedForm* f = c->form + form;
    const pcPose* pose = f->body >= 0 ? &c->body[f->body].pose : &f->pose;
    double local[3], at[3];
    rotate(pose->quaternion, n, -1.0, local);
    double far = caseSupport(c->shape + form, local, at);
    rotate(pose->quaternion, at, 1.0, point);
    return far;
}

static const pcPose* poseOf(const ImplicitCase* c, int form)
{
    return c->form[form].body >= 0 ? &c->body[c->form[form].body].pose : &c->form[form].pose;
}

static bool isFlat(const ImplicitCase* c, int form) { return c->shape[form].kind >= CASE_CYLINDER; }

/* Puts form 2's body beyond form 1 along n, `gap` apart between their supporting planes: they cannot overlap. Their supporting points face
 * each other; of two bodies with faces the centres do, because a corner that meets a corner is no contact that ever happens. */
static void putBeyond(ImplicitCase* c, int form1, int form2, const double n[3], double gap)
{
    double minus[3] = {-n[0], -n[1], -n[2]}, x1[3], x2[3];
    double far = reach(c, form1, n, x1) + reach(c, form2, minus, x2);
    for (int i = 0; i < 3 && isFlat(c, form1) && isFlat(c, form2); i++) x1[i] = far * n[i], x2[i] = 0.0;
    pcBody* b = c->body + c->form[form2].body;
    for (int i = 0; i < 3; i++) b->pose.position[i] = poseOf(c, form1)->position[i] + x1[i] + gap * n[i] - x2[i];
    double away = dot(n, b->velocity); /* most are on their way to a contact */
    for (int i = 0; i < 3 && away > 0.0 && c->bodies != 2; i++) b->velocity[i] -= 2.0 * away * n[i];
}

/* Sometimes touching, sometimes to be met within the step. */
static double someGap(Dice* d, const ImplicitCase* c) { return pick(d, 3) == 0 ? 0.0 : c->h * pow(10.0, between(d, -2.0, 0.7)); }

/* Flat bodies: sometimes with a face or an edge along the other's. */
static void align(ImplicitCase* c, Dice* d, int body)
{
    double* q = c->body[body].pose.quaternion;
    if (pick(d, 2) == 0) return;
    memset(q, 0, 4 * sizeof *q);
    int axis = pick(d, 4);
    double angle = pick(d, 2) ? 0.5 * PI : between(d, 0.0, PI);
    q[0] = cos(0.5 * angle), q[1 + axis % 3] = sin(0.5 * angle);
}

static void fixed(ImplicitCase* c, Dice* d, CaseKind kind)
{
    pcPose pose = {{0, 0, 0}, {1, 0, 0, 0}};
    if (kind != CASE_BOX) quaternion(d, pose.quaternion);
    CaseShape shape = shapeOf(d, kind);
    for (int i = 0; i < 3; i++) shape.a[i] *= kind == CASE_BOX ? 2.0 : 1.0;
    addForm(c, shape, PC_WORLD, &pose);
}

static const double UP[3] = {0, 0, 1};

static void populate(ImplicitCase* c, Dice* d, int family)
{
    double n[3];
    direction(d, n);
    switch (family) {
    case 0:
    case 3:
        addFloor(c, UP, 0.0);
        addBody(c, d, family == 0 ? roundKind(d) : flatKind(d));
        if (family == 3) align(c, d, 0);
        putBeyond(c, 0, 1, UP, someGap(d, c));
        break;
    case 1:
        fixed(c, d, roundKind(d));
        addBody(c, d, roundKind(d));
        putBeyond(c, 0, 1, n, someGap(d, c));
        break;
    case 4:
        fixed(c, d, CASE_BOX);
        addBody(c, d, flatKind(d));
        align(c, d, 0);
        putBeyond(c, 0, 1, pick(d, 2) ? UP : n, someGap(d, c));
        break;
    case 5:
        fixed(c, d, pick(d, 2) ? CASE_BOX : CASE_HULL);
        addBody(c, d, roundKind(d));
        putBeyond(c, 0, 1, n, someGap(d, c));
        break;
    case 2:
        addBody(c, d, roundKind(d)), addBody(c, d, pick(d, 2) ? roundKind(d) : flatKind(d));
        putBeyond(c, 0, 1, n, someGap(d, c));
        break;
    case 6:
        addFloor(c, UP, 0.0);
        for (int i = 0; i < 3; i++) {
            double up[3] = {0.2 * normal(d), 0.2 * normal(d), 1.0}, size;
            addBody(c, d, pick(d, 3) ? roundKind(d) : CASE_BOX);
            size = sqrt(dot(up, up));
            for (int k = 0; k < 3; k++) up[k] /= size;
            putBeyond(c, i, i + 1, i ? up : UP, someGap(d, c));
        }
        break;
    default:
        addBody(c, d, roundKind(d));
        for (int i = 0; i < 3; i++) { /* at most 35 degrees from upright, friction at most 50: the cones are pointed together */
            double minus[3], point[3], lean = between(d, 0.0, 35.0 * PI / 180.0), turn = between(d, 0.0, 2.0 * PI);
            n[0] = sin(lean) * cos(turn), n[1] = sin(lean) * sin(turn), n[2] = cos(lean);
            for (int k = 0; k < 3; k++) minus[k] = -n[k];
            addFloor(c, n, -(reach(c, 0, minus, point) + someGap(d, c)));
        }
    }
}

static int surfaceOf(void* context, int form1, int form2, pcSurface* out)
{
    (void)form1, (void)form2;
    *out = ((const ImplicitCase*)context)->surface;
    return 1;
}

void implicitCaseMake(int family, unsigned long long seed, double most, ImplicitCase* c)
{
    Dice d = {seed * 0x100000001b3u + (unsigned)family};
    memset(c, 0, sizeof *c);
    c->most = most;
    c->h = pow(10.0, between(&d, -3.0, -1.0));
    populate(c, &d, family);
    c->settings = pcDefaultSettings();
    c->surface = pcDefaultSurface(&c->settings);
    c->surface.mu = pick(&d, 4) == 0 ? 0.0 : between(&d, 0.0, 1.19), c->surface.mu2 = pick(&d, 2) ? c->surface.mu : between(&d, 0.0, 1.19);
    c->surface.torsion = pick(&d, 2) ? 0.0 : between(&d, 0.0, 0.1);
    if (pick(&d, 2)) direction(&d, c->surface.direction1);
    c->system = (pcImplicitSystem){.bodyCount = c->bodies, .bodies = c->body, .formCount = c->forms, .forms = c->form};
    c->system.gravity[2] = pick(&d, 8) ? -9.81 : 0.0;
    c->system.surface = surfaceOf, c->system.surfaceContext = c;
    for (int i = 0; i < 6 * c->bodies; i++)
        c->free[i] = c->body[i / 6].velocity[i % 6] + (i % 6 < 3 ? c->h * c->system.gravity[i % 6] : 0.0);
    c->system.freeVelocity = c->free;
}

void implicitCaseFree(ImplicitCase* c)
{
    for (int i = 0; i < c->forms; i++) pcFormFree((pcForm*)(uintptr_t)c->form[i].form);
    c->forms = 0;
}
