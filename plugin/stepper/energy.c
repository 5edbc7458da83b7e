/*
 * The energy identity of a step (method.md, section 3; the exact form of T 5.20), with f = v*:
 *
 *     1/2 v'Mv - 1/2 f'Mf + 1/2 (v-f)'M(v-f)  =  c'b - c'sc + sum over cones of c'u
 *
 * The left side is v'M(v-f) = c'Jv for any v; the right side is what the laws allow: of FREE rows c u = 0, of a BOX the bound times u, of a
 * contact -c_n sum_g lambda_g, the work of friction, lambda_g the slip speed (of the relaxation: 0). So the two agree only if v obeys
 * momentum, and c its laws.
 */
#include "stepper/stepper.h"

static const double TWO_PI = 6.283185307179586;

double pcMassProduct(const pcProblem* p, const double* x, const double* y)
{
    size_t n = 6 * (size_t)p->blocks;
    double sum = 0.0;
    for (size_t i = 0; i < n; i++) {
        size_t start = p->dense ? 0 : i - i % 6, end = p->dense ? n : start + 6;
        const double* row = p->dense ? p->mass + i * n : p->mass + 6 * i - start; /* block b, row r: 36 b + 6 r = 6 i; column k - start */
        for (size_t k = start; k < end; k++) sum += x[i] * row[k] * y[k];
    }
    return sum;
}

double pcKineticEnergy(const pcProblem* problem, const double* v) { return 0.5 * pcMassProduct(problem, v, v); }

static double rowVelocity(const pcProblem* p, int row, const double* v, const double* c)
{
    double u = p->soft[row] * c[row] - p->target[row];
    for (int side = 0; side < 2; side++) {
        int block = p->block[2 * row + side];
        for (int k = 0; block >= 0 && k < 6; k++) u += p->J[12 * row + 6 * side + k] * v[6 * block + k];
    }
    return u;
}

/* The largest -d.u over the disc or the polygon: the speed that friction works against. */
static double slipSpeed(const pcCone* cone, int group, const double u[2])
{
    if (cone->groupSize[group] == 1) return fabs(u[0]);
    if (group > 0 || cone->edges == 0) return sqrt(u[0] * u[0] + u[1] * u[1]);
    double most = 0.0;
    for (int i = 0; i < cone->edges; i++) {
        double angle = cone->angle + TWO_PI * i / cone->edges;
        most = larger(most, -(u[0] * cos(angle) + u[1] * sin(angle)));
    }
    return most;
}

/* c'u of a cone as its law says. */
static double lawfulWork(const pcProblem* p, const pcCone* cone, const double* v, const double* c)
{
    double u = rowVelocity(p, cone->row, v, c), slip = 0.0;
    if (cone->kind == PC_CONE_FREE) return 0.0;
    if (cone->kind == PC_CONE_BOX) {
        double bound = u > 0.0 ? cone->lo : cone->hi;
        return fabs(bound) < HUGE_VAL ? bound * u : 0.0;
    }
    if (!p->coulomb) return 0.0;
    for (int g = 0, row = cone->row + 1; g < cone->groups; row += cone->groupSize[g++]) {
        double slide[2] = {rowVelocity(p, row, v, c), cone->groupSize[g] > 1 ? rowVelocity(p, row + 1, v, c) : 0.0};
        slip += slipSpeed(cone, g, slide);
    }
    return -slip * c[cone->row];
}

double pcEnergyError(const pcProblem* p, const double* v, const double* c)
{
    double kinetic = pcKineticEnergy(p, v), before = pcKineticEnergy(p, p->free);
    double change = kinetic + before - pcMassProduct(p, v, p->free);
    double right = 0.0, scale = kinetic + before + change;
    for (int i = 0; i < p->rows; i++) right += c[i] * (p->target[i] - p->soft[i] * c[i]);
    for (int i = 0; i < p->cones; i++) right += lawfulWork(p, p->cone + i, v, c);
    return scale > 0.0 ? fabs(kinetic - before + change - right) / scale : 0.0;
}
