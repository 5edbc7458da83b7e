#include "test_worlds/unit/contact_lcp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "test_worlds/fuzz/cases.h"

/* Row of J for a push along `direction` at the contact: on the upper body, and against it on the lower one. */
static void jacobianRow(const pcTestBody* bodies, const pcTestContact* contact, v3 direction, double* row)
{
    int of[2] = {contact->upper, contact->lower};
    for (int side = 0; side < 2; side++) {
        if (of[side] < 0) continue;
        v3 force = v3Scale(side ? -1.0 : 1.0, direction);
        v3 arm = v3Sub(v3Load(contact->point), v3Load(bodies[of[side]].position));
        v3Store(row + 6 * of[side], force);
        v3Store(row + 6 * of[side] + 3, v3Cross(arm, force));
    }
}

static double inverseMass(const pcTestBody* body, int axis)
{
    if (axis < 3) return 1.0 / body->mass;
    const double* h = body->half;
    int i = (axis - 3 + 1) % 3, j = (axis - 3 + 2) % 3;
    return 3.0 / (body->mass * (h[i] * h[i] + h[j] * h[j]));
}

static v3 frictionDirection(v3 normal, int edge, int edges)
{
    v3 s, t;
    v3Complete(normal, &s, &t);
    double angle = 3.14159265358979323846 * (edge / 2) / (edges / 2), sign = edge % 2 ? -1.0 : 1.0;
    return v3Add(v3Scale(sign * cos(angle), s), v3Scale(sign * sin(angle), t));
}

/* All rows of J: the normals of all contacts, then the edges contact by contact. */
static double* jacobian(const pcTestBody* bodies, int bodyCount, const pcTestContact* contacts, int m, int edges)
{
    size_t dofs = 6 * (size_t)bodyCount;
    double* J = calloc((size_t)(m * (1 + edges)) * dofs, sizeof *J);
    for (int c = 0; c < m; c++) {
        v3 normal = v3Load(contacts[c].normal);
        jacobianRow(bodies, contacts + c, normal, J + (size_t)c * dofs);
        for (int e = 0; e < edges; e++)
            jacobianRow(bodies, contacts + c, frictionDirection(normal, e, edges), J + (size_t)(m + c * edges + e) * dofs);
    }
    return J;
}

/* A = J Minv J' and J v into the leading block; of row i only the bodies that it touches. */
static void fillMotion(const pcTestBody* bodies, int bodyCount, const double* J, int rows, const pcTestLcp* lcp)
{
    int dofs = 6 * bodyCount;
    for (int i = 0; i < rows; i++)
        for (int k = 0; k < dofs; k++) {
            double push = J[i * dofs + k];
            if (push == 0.0) continue;
            double answer = push * inverseMass(bodies + k / 6, k % 6);
            for (int j = 0; j < rows; j++) lcp->M[(size_t)i * (size_t)lcp->n + (size_t)j] += answer * J[j * dofs + k];
            lcp->q[i] += push * bodies[k / 6].velocity[k % 6];
        }
}

pcTestLcp pcTestLcpMake(const pcTestBody* bodies, int bodyCount, const pcTestContact* contacts, int m, int edges)
{
    int rows = m * (1 + edges), n = rows + m;
    pcTestLcp lcp = {n, m, calloc((size_t)n * (size_t)n, sizeof(double)), calloc((size_t)n, sizeof(double))};
    double* J = jacobian(bodies, bodyCount, contacts, m, edges);
    fillMotion(bodies, bodyCount, J, rows, &lcp);
    free(J);
    for (int c = 0; c < m; c++) {
        size_t slip = (size_t)(rows + c), size = (size_t)n;
        lcp.q[c] += contacts[c].gapSpeed;
        lcp.M[slip * size + (size_t)c] = contacts[c].mu;
        for (int e = 0; e < edges; e++) {
            size_t edge = (size_t)(m + c * edges + e);
            lcp.M[edge * size + slip] = 1.0, lcp.M[slip * size + edge] = -1.0;
        }
    }
    return lcp;
}

void pcTestLcpFree(pcTestLcp* lcp)
{
    free(lcp->M);
    free(lcp->q);
    *lcp = (pcTestLcp){0};
}

pcTestLcp pcTestStackLcp(const pcTestStack* stack)
{
    static const double side[4][2] = {{-0.5, -0.5}, {0.5, -0.5}, {0.5, 0.5}, {-0.5, 0.5}};
    pcRandom random = {stack->seed};
    pcTestBody* bodies = calloc((size_t)stack->boxes, sizeof *bodies);
    pcTestContact* contacts = calloc(4 * (size_t)stack->boxes, sizeof *contacts);
    for (int b = 0; b < stack->boxes; b++) {
        bodies[b] =
            (pcTestBody){stack->mass * pow(stack->ratio, b), {0.5, 0.5, 0.5}, {0.0, 0.0, b + 0.5}, {0.0, 0.0, -0.0981, 0.0, 0.0, 0.0}};
        for (int k = 0; k < 6; k++) bodies[b].velocity[k] += stack->disorder * (pcRandomUnit(&random) - 0.5);
        for (int c = 0; c < 4; c++) {
            double dx = stack->disorder * pcRandomUnit(&random), dy = stack->disorder * pcRandomUnit(&random);
            pcTestContact contact = {b, b - 1, {side[c][0] + dx, side[c][1] + dy, b}, {0.0, 0.0, 1.0}, 0.0, stack->mu};
            contact.gapSpeed = 0.1 * stack->disorder * (pcRandomUnit(&random) - 0.5);
            contacts[4 * b + c] = contact;
        }
    }
    pcTestLcp lcp = pcTestLcpMake(bodies, stack->boxes, contacts, 4 * stack->boxes, stack->edges);
    free(contacts);
    free(bodies);
    return lcp;
}
