#include "implicit_judge.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- vectors ---- */

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
static double length(const double a[3]) { return sqrt(dot(a, a)); }
static void cross(const double a[3], const double b[3], double out[3])
{
    out[0] = a[1] * b[2] - a[2] * b[1], out[1] = a[2] * b[0] - a[0] * b[2], out[2] = a[0] * b[1] - a[1] * b[0];
}

static void matrixOf(const double q[4], double R[3][3])
{
    double n = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]), w = q[0] / n, x = q[1] / n, y = q[2] / n, z = q[3] / n;
    double rows[3][3] = {{w * w + x * x - y * y - z * z, 2 * (x * y - w * z), 2 * (x * z + w * y)},
                         {2 * (x * y + w * z), w * w - x * x + y * y - z * z, 2 * (y * z - w * x)},
                         {2 * (x * z - w * y), 2 * (y * z + w * x), w * w - x * x - y * y + z * z}};
    memcpy(R, rows, sizeof rows);
}

/* exp(h omega) R by Rodrigues' formula on the matrix, not on a quaternion. */
static void turned(const double w[3], double h, double R[3][3], double out[3][3])
{
    double angle = h * length(w), k[3] = {0, 0, 0};
    for (int i = 0; i < 3 && angle > 0.0; i++) k[i] = w[i] * h / angle;
    for (int c = 0; c < 3; c++) {
        double x[3] = {R[0][c], R[1][c], R[2][c]}, kx[3];
        cross(k, x, kx);
        for (int i = 0; i < 3; i++) out[i][c] = x[i] * cos(angle) + kx[i] * sin(angle) + k[i] * dot(k, x) * (1.0 - cos(angle));
    }
}

/* ---- bodies at the end ---- */

typedef struct End {
    double at[3], R[3][3];
} End;

static End endOf(const pcPose* pose)
{
    End e;
    memcpy(e.at, pose->position, sizeof e.at);
    matrixOf(pose->quaternion, e.R);
    return e;
}

static End formEnd(const ImplicitCase* c, const pcImplicitResult* r, int form)
{
    int body = c->form[form].body;
    return endOf(body >= 0 ? r->pose + body : &c->form[form].pose);
}

/* max n.x over the form, world axes. */
static double supportOf(const ImplicitCase* c, const pcImplicitResult* r, int form, const double n[3])
{
    End e = formEnd(c, r, form);
    double local[3], at[3];
    for (int k = 0; k < 3; k++) local[k] = e.R[0][k] * n[0] + e.R[1][k] * n[1] + e.R[2][k] * n[2];
    return caseSupport(c->shape + form, local, at) + dot(n, e.at);
}

/* Width of the slab between the two along n: > 0 proves that they are apart. A half-space knows one direction only, its own. */
static double widthAlong(const ImplicitCase* c, const pcImplicitResult* r, int form1, int form2, const double n[3])
{
    double own[3], minus[3];
    memcpy(own, n, sizeof own);
    for (int i = 0; i < 3 && c->shape[form1].kind == CASE_HALFSPACE; i++) own[i] = c->shape[form1].a[i];
    for (int i = 0; i < 3 && c->shape[form2].kind == CASE_HALFSPACE; i++) own[i] = -c->shape[form2].a[i];
    for (int i = 0; i < 3; i++) minus[i] = -own[i];
    return -supportOf(c, r, form2, minus) - supportOf(c, r, form1, own);
}

/* ---- scales ---- */

static double inertiaTimes(const ImplicitCase* c, int body, double R[3][3], const double w[3], double sign, double out[3])
{
    double local[3], sum = 0.0;
    for (int k = 0; k < 3; k++) {
        local[k] = R[0][k] * w[0] + R[1][k] * w[1] + R[2][k] * w[2];
        local[k] *= sign > 0.0 ? c->body[body].inertia[4 * k] : 1.0 / c->body[body].inertia[4 * k];
    }
    for (int i = 0; i < 3; i++) out[i] = R[i][0] * local[0] + R[i][1] * local[1] + R[i][2] * local[2], sum += out[i] * w[i];
    return sum;
}

static double unitOf(const ImplicitCase* c, const pcImplicitResult* r)
{
    double unit = c->h * length(c->system.gravity), arm = 1.0;
    for (int i = 0; i < c->bodies; i++) {
        const double* v[3] = {c->body[i].velocity, c->system.freeVelocity + 6 * i, r->velocity + 6 * i};
        for (int k = 0; k < 3; k++) unit = fmax(unit, fmax(length(v[k]), arm * length(v[k] + 3)));
    }
    return unit > 0.0 ? unit : 1.0;
}

/* ---- one contact ---- */

typedef struct Sight {
    const pcImplicitContact* k;
    double arm[2][3], d[4][3]; /* arms of the bodies; n, t, o, and n again for the moment */
    double own[4];             /* velocity per impulse of each row */
    double u[4];               /* velocity of body 2 relative to body 1 along each row */
} Sight;

static void rowOn(const Sight* s, int row, int side, double out[6])
{
    double sign = side ? 1.0 : -1.0, torque[3];
    cross(s->arm[side], s->d[row], torque);
    for (int i = 0; i < 3; i++) out[i] = row < 3 ? sign * s->d[row][i] : 0.0, out[3 + i] = sign * (row < 3 ? torque[i] : s->d[row][i]);
}

static Sight sightOf(const ImplicitCase* c, const pcImplicitResult* r, const pcImplicitContact* k)
{
    Sight s = {.k = k};
    const int body[2] = {k->body1, k->body2};
    memcpy(s.d[0], k->normal, sizeof s.d[0]), memcpy(s.d[1], k->tangent1, sizeof s.d[0]), memcpy(s.d[2], k->tangent2, sizeof s.d[0]);
    memcpy(s.d[3], k->normal, sizeof s.d[0]);
    for (int side = 0; side < 2; side++) {
        if (body[side] < 0) continue;
        const double* v = r->velocity + 6 * body[side];
        double R[3][3];
        matrixOf(c->body[body[side]].pose.quaternion, R); /* masses are those before the step */
        for (int i = 0; i < 3; i++) s.arm[side][i] = 0.5 * (k->point1[i] + k->point2[i]) - r->pose[body[side]].position[i];
        for (int row = 0; row < 4; row++) {
            double J[6], answer[3];
            rowOn(&s, row, side, J);
            s.own[row] += dot(J, J) / c->body[body[side]].mass + inertiaTimes(c, body[side], R, J + 3, -1.0, answer);
            s.u[row] += dot(J, v) + dot(J + 3, v + 3);
        }
    }
    return s;
}

/* |c - P(c - u / w)| w with c, u in rows that make the ellipsoid a ball; the nearest point of the ball in the norm of w, by bisection. */
static double frictionResidual(const Sight* s)
{
    double w[3], c[3], push[3], x[3], radius = s->k->impulse[0], low = 0.0, high = 0.0, worst = 0.0;
    for (int k = 0; k < 3; k++) {
        double limit = s->k->limit[k];
        w[k] = limit > 0.0 ? limit * limit * s->own[1 + k] : s->own[0];
        c[k] = limit > 0.0 ? s->k->impulse[1 + k] / limit : 0.0, push[k] = w[k] * c[k] - limit * s->u[1 + k];
        high += fabs(push[k]) / (radius > 0.0 ? radius : 1.0);
    }
    for (int round = 0; round < 400; round++) {
        double g = round == 0 ? 0.0 : 0.5 * (low + high), size = 0.0;
        for (int k = 0; k < 3; k++) x[k] = radius > 0.0 ? push[k] / (w[k] + g) : 0.0, size += x[k] * x[k];
        if (round == 0 && size <= radius * radius) break;
        *(sqrt(size) > radius ? &low : &high) = g;
    }
    for (int k = 0; k < 3; k++) worst = fmax(worst, w[k] * fabs(c[k] - x[k]));
    return worst;
}

static bool isRound(const CaseShape* s) { return s->kind >= CASE_SPHERE && s->kind <= CASE_SUPER; }

/* How far `x` is from the supporting plane of the form along n: on it lies whatever touches there. */
static double offPlane(const ImplicitCase* c, const pcImplicitResult* r, int form, const double n[3], const double x[3])
{
    if (c->shape[form].kind == CASE_HALFSPACE) return fabs(dot(c->shape[form].a, x) - c->shape[form].p);
    return fabs(dot(n, x) - supportOf(c, r, form, n));
}

static void judgeContact(const ImplicitCase* c, const pcImplicitResult* r, const pcImplicitContact* k, double unit, ImplicitVerdict* out)
{
    Sight s = sightOf(c, r, k);
    double size = 1.0, minus[3], p = k->impulse[0], gap = 0.0;
    bool unique = isRound(c->shape + k->form1) || isRound(c->shape + k->form2);
    for (int b = 0; b < c->bodies; b++)
        for (int i = 0; i < 3; i++) size = fmax(size, fabs(r->pose[b].position[i]));
    for (int i = 0; i < 3; i++) minus[i] = -k->normal[i], gap += k->normal[i] * (k->point2[i] - k->point1[i]);
    if (unique) gap = widthAlong(c, r, k->form1, k->form2, k->normal); /* faces touch in several points: each has a gap of its own */
    double rounding = 64.0 * 1.1e-16 * size, off = fmax(0.0, fabs(gap) - rounding) * (gap < 0.0 ? -1.0 : 1.0) / c->h;
    out->friction = fmax(out->friction, frictionResidual(&s) / unit);
    if (!(p >= 0.0)) out->normal = HUGE_VAL;
    if (!(p > 0.0)) return; /* those that do not push are judged with their pair: any direction may prove that it is apart */
    out->normal = fmax(out->normal, s.own[0] * fabs(p - fmax(0.0, p - off / s.own[0])) / unit);
    if (unique)
        out->points = fmax(out->points, fmax(offPlane(c, r, k->form1, k->normal, k->point1), offPlane(c, r, k->form2, minus, k->point2)));
}

/* ---- the step ---- */

static void judgeMomentum(const ImplicitCase* c, const pcImplicitResult* r, int body, double unit, ImplicitVerdict* out)
{
    double R[3][3], rest[6], dw[3], answer[3];
    const double *v = r->velocity + 6 * body, *free = c->system.freeVelocity + 6 * body;
    matrixOf(c->body[body].pose.quaternion, R);
    for (int i = 0; i < 3; i++) rest[i] = c->body[body].mass * (v[i] - free[i]), dw[i] = v[3 + i] - free[3 + i];
    inertiaTimes(c, body, R, dw, 1.0, rest + 3);
    for (int i = 0; i < r->contactCount; i++) {
        Sight s = sightOf(c, r, r->contacts + i);
        const int bodies[2] = {s.k->body1, s.k->body2};
        for (int side = 0; side < 2; side++)
            for (int row = 0; row < 4 && bodies[side] == body; row++) {
                double J[6];
                rowOn(&s, row, side, J);
                for (int k = 0; k < 6; k++) rest[k] -= J[k] * s.k->impulse[row];
            }
    }
    inertiaTimes(c, body, R, rest + 3, -1.0, answer);
    out->momentum = fmax(out->momentum, fmax(length(rest) / c->body[body].mass, length(answer)) / unit);
}

static void judgePose(const ImplicitCase* c, const pcImplicitResult* r, int body, ImplicitVerdict* out)
{
    double before[3][3], after[3][3], want[3][3];
    const double* v = r->velocity + 6 * body;
    matrixOf(c->body[body].pose.quaternion, before), matrixOf(r->pose[body].quaternion, after);
    turned(v + 3, c->h, before, want);
    for (int i = 0; i < 3; i++) {
        out->pose = fmax(out->pose, fabs(r->pose[body].position[i] - c->body[body].pose.position[i] - c->h * v[i]));
        for (int k = 0; k < 3; k++) out->pose = fmax(out->pose, fabs(want[i][k] - after[i][k]));
    }
}

/* Along the normals of their contacts, or along whatever direction proves that they are apart. */
static void judgePair(const ImplicitCase* c, const pcImplicitResult* r, int form1, int form2, ImplicitVerdict* out)
{
    if (c->form[form1].body == c->form[form2].body && c->form[form1].body >= 0) return;
    if (c->form[form1].body < 0 && c->form[form2].body < 0) return;
    double best = -HUGE_VAL, n[3] = {0, 0, 1};
    for (int i = 0; i < r->contactCount; i++) {
        const pcImplicitContact* k = r->contacts + i;
        bool same = k->form1 == form1 && k->form2 == form2;
        if (same) best = fmax(best, widthAlong(c, r, form1, form2, k->normal));
    }
    for (int i = 0; i < 4000 && best < -1e-9; i++) { /* evenly over the sphere, for a start */
        double z = 1.0 - (2.0 * i + 1.0) / 4000.0, angle = 2.399963229728653 * i,
               d[3] = {sqrt(1.0 - z * z) * cos(angle), sqrt(1.0 - z * z) * sin(angle), z};
        double width = widthAlong(c, r, form1, form2, d);
        if (width > best) best = width, memcpy(n, d, sizeof n);
    }
    for (double step = 0.05; step > 1e-12 && best < -1e-9; step *= 0.7) /* then uphill in smaller and smaller steps */
        for (int i = 0; i < 24; i++) {
            double d[3], size, turn = 2.399963229728653 * i, z = cos(0.7 * i), e[3] = {sin(turn), cos(turn), z};
            for (int k = 0; k < 3; k++) d[k] = n[k] + step * e[k];
            size = length(d);
            for (int k = 0; k < 3; k++) d[k] /= size;
            double width = widthAlong(c, r, form1, form2, d);
            if (width > best) best = width, memcpy(n, d, sizeof n);
        }
    out->penetration = fmax(out->penetration, -best);
}

ImplicitVerdict implicitJudge(const ImplicitCase* c, const pcImplicitResult* r)
{
    ImplicitVerdict out = {0};
    double unit = unitOf(c, r);
    for (int i = 0; i < c->bodies; i++) judgeMomentum(c, r, i, unit, &out), judgePose(c, r, i, &out);
    for (int i = 0; i < r->contactCount; i++) judgeContact(c, r, r->contacts + i, unit, &out);
    for (int i = 0; i < c->forms; i++)
        for (int k = i + 1; k < c->forms; k++) judgePair(c, r, i, k, &out);
    return out;
}

double implicitWorst(const ImplicitVerdict* v) { return fmax(v->momentum, fmax(v->normal, v->friction)); }
