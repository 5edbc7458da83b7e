/*
 * An island at a velocity: where its bodies will be, what its contacts are there, what they push with, and how all of it changes.
 *
 *     wrench on body 2 about its centre:  (f, r2 x f + m n),   f = p_n n + p_t t + p_o o,  m = p_r,   on body 1 the opposite about its own
 *     the frame (n, t, o) turns by n x dn as the normal moves
 */
#include <string.h>

#include "implicit/solve.h"

static bool moves(const pcWork* work, int body) { return body >= 0 && work->motion[body].moves; }

/* ---- places ---- */

static void placeBodies(pcWork* work, const double* v)
{
    pcMove move = work->move;
    move.h *= work->ahead;
    for (int i = 0; i < work->bodies; i++) {
        int body = work->body[i];
        pcPlaceBody(&move, &work->system->bodies[body].pose, work->motion[body].velocity, v + 6 * (size_t)i, work->place + body);
    }
}

/* ---- one contact ---- */

static void frameOf(pcBond* b)
{
    v3 t = v3AddScaled(b->reference, -v3Dot(b->reference, b->n), b->n);
    double size = v3Norm(t);
    if (!(size > 0.1)) {
        v3Complete(b->n, &b->reference, &b->o);
        t = b->reference, size = 1.0;
    }
    b->t = v3Scale(1.0 / size, t), b->o = v3Cross(b->n, b->t);
}

typedef struct Sight {
    const pcPlace *p1, *p2;
    v3 r1, r2; /* arms */
    v3 w;      /* velocity of body 2 relative to body 1 at the contact */
    v3 spin;
} Sight;

static Sight sightOf(const pcWork* work, const pcBond* b)
{
    Sight s = {pcPlaceOf(work, b->body1), pcPlaceOf(work, b->body2), .r1 = {0, 0, 0}};
    s.r1 = v3Sub(b->x, s.p1->at), s.r2 = v3Sub(b->x, s.p2->at);
    v3 v1 = v3Add(s.p1->v, v3Cross(s.p1->w, s.r1)), v2 = v3Add(s.p2->v, v3Cross(s.p2->w, s.r2));
    s.w = v3Add(v3Sub(v2, v1), b->belt), s.spin = v3Sub(s.p2->w, s.p1->w);
    return s;
}

static void velocities(const pcWork* work, pcBond* b, const Sight* s)
{
    b->u[0] = b->s / work->move.h + (1.0 - work->ahead) * v3Dot(b->n, s->w);
    b->u[1] = b->limit[0] * v3Dot(b->t, s->w), b->u[2] = b->limit[1] * v3Dot(b->o, s->w), b->u[3] = b->limit[2] * v3Dot(b->n, s->spin);
}

/* Physical force and moment of impulses p. */
static v3 forceOf(const pcBond* b, const double p[4])
{
    v3 f = v3AddScaled(v3Scale(p[0], b->n), b->limit[0] * p[1], b->t);
    return v3AddScaled(f, b->limit[1] * p[2], b->o);
}
static v3 momentOf(const pcBond* b, const double p[4]) { return v3Scale(b->limit[2] * p[3], b->n); }

static void subtract(const pcWork* work, int body, const double wrench[6], double* R)
{
    if (!moves(work, body)) return;
    R += 6 * (size_t)work->local[body];
    for (int k = 0; k < 6; k++) R[k] -= wrench[k];
}

static void subtractWrench(const pcWork* work, const pcBond* b, const double p[4], double* R)
{
    Sight s = sightOf(work, b);
    double wrench[6];
    v3 f = forceOf(b, p), m = momentOf(b, p);
    v3Store(wrench, f), v3Store(wrench + 3, v3Add(v3Cross(s.r2, f), m));
    subtract(work, b->body2, wrench, R);
    f = v3Neg(f), v3Store(wrench, f), v3Store(wrench + 3, v3Sub(v3Cross(s.r1, f), m));
    subtract(work, b->body1, wrench, R);
}

/* ---- slopes of one contact ---- */

typedef struct Slopes {
    double u[PC_COLUMNS][4];       /* over poses, then over velocities; the last by the drift of the level */
    double wrench[PC_COLUMNS][12]; /* [column][row] */
} Slopes;

/* Over the poses x1, theta1, x2, theta2, velocities held. */
static void poseSlopes(const pcBond* b, const Sight* s, const pcGeometry* g, pcColumns columns, double h, Slopes* out)
{
    v3 f = forceOf(b, b->c), m = momentOf(b, b->c), none = {0, 0, 0};
    for (int c = columns.first; c < columns.end; c++) {
        int axis = c % 3;
        v3 e = {axis == 0, axis == 1, axis == 2}, at1 = c < 3 ? e : none, at2 = c >= 6 && c < 9 ? e : none;
        v3 turn = v3Cross(b->n, g->dn[c]), r1 = v3Sub(g->dx[c], at1), r2 = v3Sub(g->dx[c], at2);
        v3 w = v3Sub(v3Cross(s->p2->w, r2), v3Cross(s->p1->w, r1)), df = v3Cross(turn, f), dm = v3Cross(turn, m);
        out->u[c][0] = g->ds[c] / h;
        out->u[c][1] = b->limit[0] * (v3Dot(v3Cross(turn, b->t), s->w) + v3Dot(b->t, w));
        out->u[c][2] = b->limit[1] * (v3Dot(v3Cross(turn, b->o), s->w) + v3Dot(b->o, w));
        out->u[c][3] = b->limit[2] * v3Dot(g->dn[c], s->spin);
        v3Store(out->wrench[c], v3Neg(df));
        v3Store(out->wrench[c] + 3, v3Neg(v3Add(v3Add(v3Cross(r1, f), v3Cross(s->r1, df)), dm)));
        v3Store(out->wrench[c] + 6, df);
        v3Store(out->wrench[c] + 9, v3Add(v3Add(v3Cross(r2, f), v3Cross(s->r2, df)), dm));
    }
}

static void chainBody(const pcPlace* p, Slopes* s, int first)
{
    double u[3][4], wrench[3][12];
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 4; k++) s->u[first + c][k] *= p->move;
        for (int k = 0; k < 12; k++) s->wrench[first + c][k] *= p->move;
    }
    memcpy(u, s->u[first + 3], sizeof u), memcpy(wrench, s->wrench[first + 3], sizeof wrench);
    for (int c = 0; c < 3; c++) {
        for (int k = 0; k < 4; k++) s->u[first + 3 + c][k] = u[0][k] * p->T[c] + u[1][k] * p->T[3 + c] + u[2][k] * p->T[6 + c];
        for (int k = 0; k < 12; k++)
            s->wrench[first + 3 + c][k] = wrench[0][k] * p->T[c] + wrench[1][k] * p->T[3 + c] + wrench[2][k] * p->T[6 + c];
    }
}

/* A row of unit force d through x: its velocity over v1, w1, v2, w2. */
static void rowOf(const Sight* s, v3 d, double out[12])
{
    v3Store(out, v3Neg(d)), v3Store(out + 3, v3Neg(v3Cross(s->r1, d)));
    v3Store(out + 6, d), v3Store(out + 9, v3Cross(s->r2, d));
}

static void rowsOf(const pcBond* b, const Sight* s, double W[4][12])
{
    v3 none = {0, 0, 0};
    rowOf(s, b->n, W[0]), rowOf(s, b->t, W[1]), rowOf(s, b->o, W[2]);
    v3Store(W[3], none), v3Store(W[3] + 3, v3Neg(b->n)), v3Store(W[3] + 6, none), v3Store(W[3] + 9, b->n);
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 12; c++) W[1 + k][c] *= b->limit[k];
}

static void addBlock(pcWork* work, int bodyRow, int bodyColumn, const double* K, int row, int column)
{
    if (!moves(work, bodyRow) || !moves(work, bodyColumn)) return;
    double* block = pcBlocksAt(&work->matrix, work->local[bodyRow], work->local[bodyColumn]);
    for (int i = 0; i < 6; i++)
        for (int k = 0; k < 6; k++) block[6 * i + k] += K[12 * (row + i) + column + k];
}

static bool isLoose(const pcWork* work, const pcBond* b) { return work->loose && !b->frozen && work->near[b->near].loose; }

/* What R becomes by the drift of a loose level, to first order. */
static void addDrift(pcWork* work, pcBond* b, const Sight* s, const pcGeometry* g, double W[4][12])
{
    Slopes slopes;
    poseSlopes(b, s, g, (pcColumns){PC_DRIFT, PC_COLUMNS}, work->move.h, &slopes);
    double* wrench = slopes.wrench[PC_DRIFT];
    memcpy(b->drift, slopes.u[PC_DRIFT], sizeof b->drift);
    for (int i = 0; i < 4; i++) {
        double dc = 0.0;
        for (int k = 0; k < 4; k++) dc += b->C[4 * i + k] * b->drift[k];
        for (int r = 0; r < 12; r++) wrench[r] += W[i][r] * dc;
    }
    subtract(work, b->body1, wrench, work->D), subtract(work, b->body2, wrench + 6, work->D);
}

/* dR/dv = M - d wrench: through the poses with the impulses held, and through the impulses. */
static void addSlopes(pcWork* work, pcBond* b, const pcGeometry* g)
{
    Sight s = sightOf(work, b);
    Slopes slopes;
    double W[4][12], K[144], half[4][12];
    pcColumns columns = pcBondColumns(work, b);
    poseSlopes(b, &s, g, columns, work->move.h, &slopes);
    if (columns.first == 0) chainBody(s.p1, &slopes, 0);
    if (columns.end == 12) chainBody(s.p2, &slopes, 6);
    rowsOf(b, &s, W);
    for (int k = 0; k < 4; k++)
        for (int c = columns.first; c < columns.end; c++)
            b->U[12 * k + c] = slopes.u[c][k] + (k > 0 ? W[k][c] : (1.0 - work->ahead) * W[k][c]);
    for (int i = 0; i < 4; i++)
        for (int c = columns.first; c < columns.end; c++) {
            half[i][c] = 0.0;
            for (int k = 0; k < 4; k++) half[i][c] += b->C[4 * i + k] * b->U[12 * k + c];
        }
    for (int r = columns.first; r < columns.end; r++)
        for (int c = columns.first; c < columns.end; c++) {
            double sum = slopes.wrench[c][r];
            for (int i = 0; i < 4; i++) sum += W[i][r] * half[i][c];
            K[12 * r + c] = -sum;
        }
    addBlock(work, b->body1, b->body1, K, 0, 0), addBlock(work, b->body1, b->body2, K, 0, 6);
    addBlock(work, b->body2, b->body1, K, 6, 0), addBlock(work, b->body2, b->body2, K, 6, 6);
    memset(b->drift, 0, sizeof b->drift);
    if (isLoose(work, b)) addDrift(work, b, &s, g, W);
}

/* ---- rows of joints ---- */

static double rowVelocity(const pcWork* work, const pcRow* row)
{
    double sum = 0.0;
    const int body[2] = {row->body1, row->body2};
    for (int side = 0; side < 2; side++) {
        const pcPlace* p = pcPlaceOf(work, body[side]);
        if (body[side] < 0) continue;
        sum += v3Dot(v3Load(row->jacobian + 6 * side), p->v) + v3Dot(v3Load(row->jacobian + 6 * side + 3), p->w);
    }
    return sum;
}

/* c = clamp((e r - (J v - target)) / (e + softness)): at c = r, J v + softness c = target or a bound. Returns -dc/d(Jv). */
static double rowLaw(const pcWork* work, int i, double e, double r, double* c)
{
    const pcRow* row = work->system->rows + work->row[i];
    double free = (e * r - (rowVelocity(work, row) - row->target)) / (e + row->softness);
    *c = free < row->lo ? row->lo : free > row->hi ? row->hi : free;
    return *c == free ? 1.0 / (e + row->softness) : 0.0;
}

static void addRow(pcWork* work, int i, bool slopes)
{
    const pcRow* row = work->system->rows + work->row[i];
    double stiff = rowLaw(work, i, work->rowE[i], work->rowR[i], work->rowC + i), K[144];
    if (!slopes || stiff == 0.0) return;
    for (int r = 0; r < 12; r++)
        for (int c = 0; c < 12; c++) K[12 * r + c] = stiff * row->jacobian[r] * row->jacobian[c];
    addBlock(work, row->body1, row->body1, K, 0, 0), addBlock(work, row->body1, row->body2, K, 0, 6);
    addBlock(work, row->body2, row->body1, K, 6, 0), addBlock(work, row->body2, row->body2, K, 6, 6);
}

static void subtractRow(const pcWork* work, int i, double c, double* R)
{
    const pcRow* row = work->system->rows + work->row[i];
    double wrench[12];
    for (int k = 0; k < 12; k++) wrench[k] = row->jacobian[k] * c;
    subtract(work, row->body1, wrench, R);
    subtract(work, row->body2, wrench + 6, R);
}

/* ---- the island ---- */

/* M (v - v*) less the wrenches of the law's impulses, or of the answer's. */
static void balance(const pcWork* work, const double* v, bool answer, double* R)
{
    for (int i = 0; i < work->bodies; i++) {
        const pcMotion* m = work->motion + work->body[i];
        v3 dv = v3Sub(v3Load(v + 6 * i), v3Load(m->free)), dw = v3Sub(v3Load(v + 6 * i + 3), v3Load(m->free + 3));
        v3Store(R + 6 * i, v3Scale(m->mass, dv));
        for (int k = 0; k < 3; k++) R[6 * i + 3 + k] = v3Dot(v3Load(m->inertia + 3 * k), dw);
    }
    for (int i = 0; i < work->bonds; i++) subtractWrench(work, work->bond + i, answer ? work->bond[i].p : work->bond[i].c, R);
    for (int i = 0; i < work->rows; i++) subtractRow(work, i, answer ? work->rowP[i] : work->rowC[i], R);
}

static void startMatrix(pcWork* work)
{
    pcBlocksClear(&work->matrix);
    for (int i = 0; i < work->bodies; i++) pcMotionMass(work->motion + work->body[i], pcBlocksAt(&work->matrix, i, i));
}

bool pcWorkEvaluate(pcWork* work, const double* v, bool slopes)
{
    pcGeometry g;
    placeBodies(work, v);
    if (slopes) startMatrix(work), memset(work->D, 0, 6 * (size_t)work->bodies * sizeof *work->D);
    for (int i = 0; i < work->bonds; i++) {
        pcBond* b = work->bond + i;
        if (!pcBondGeometry(work, b, slopes, &g)) return false;
        b->x = g.x, b->n = g.n, b->s = g.s;
        frameOf(b);
        Sight s = sightOf(work, b);
        velocities(work, b, &s);
        pcBondLaw(&work->move, b, slopes);
        if (slopes) addSlopes(work, b, &g);
    }
    for (int i = 0; i < work->rows; i++) addRow(work, i, slopes);
    balance(work, v, false, work->R);
    return true;
}

static double along(const pcWork* work, const int body[2], const double J[12], const double* step)
{
    double sum = 0.0;
    for (int side = 0; side < 2; side++) {
        if (!moves(work, body[side])) continue;
        const double* d = step + 6 * (size_t)work->local[body[side]];
        for (int k = 0; k < 6; k++) sum += J[6 * side + k] * d[k];
    }
    return sum;
}

void pcWorkPredict(pcWork* work, const double* step)
{
    for (int i = 0; i < work->bonds; i++) {
        pcBond* b = work->bond + i;
        const int body[2] = {b->body1, b->body2};
        double du[4];
        for (int k = 0; k < 4; k++) du[k] = b->drift[k] + along(work, body, b->U + 12 * k, step);
        for (int k = 0; k < 4; k++) {
            b->p[k] = b->c[k];
            for (int c = 0; c < 4; c++) b->p[k] += b->C[4 * k + c] * du[c];
        }
        b->coreP = !b->layer ? b->p[0] : b->coreNow > 0.0 ? b->coreNow - du[0] / b->e[0] : 0.0;
    }
    for (int i = 0; i < work->rows; i++) {
        const pcRow* row = work->system->rows + work->row[i];
        const int body[2] = {row->body1, row->body2};
        double c, stiff = rowLaw(work, i, work->rowE[i], work->rowR[i], &c);
        work->rowP[i] = c - stiff * along(work, body, row->jacobian, step);
    }
}

/* ---- weights ---- */

/* J M^-1 J' of a row over both bodies. */
static double ownOf(const pcWork* work, int body1, int body2, const double J[12])
{
    double sum = 0.0, answer[6];
    const int body[2] = {body1, body2};
    for (int side = 0; side < 2; side++) {
        if (!moves(work, body[side])) continue;
        pcMotionAnswer(work->motion + body[side], J + 6 * side, answer);
        for (int k = 0; k < 6; k++) sum += J[6 * side + k] * answer[k];
    }
    return sum;
}

void pcWorkWeigh(pcWork* work)
{
    for (int i = 0; i < work->bonds; i++) {
        pcBond* b = work->bond + i;
        Sight s = sightOf(work, b);
        double W[4][12];
        rowsOf(b, &s, W);
        b->own[0] = ownOf(work, b->body1, b->body2, W[0]);
        for (int k = 1; k < 4; k++) {
            b->own[k] = ownOf(work, b->body1, b->body2, W[k]);
            if (!(b->own[k] > 0.0)) b->own[k] = b->own[0];
        }
        work->arm = larger(work->arm, larger(moves(work, b->body1) ? v3Norm(s.r1) : 0.0, moves(work, b->body2) ? v3Norm(s.r2) : 0.0));
    }
    for (int i = 0; i < work->rows; i++) {
        const pcRow* row = work->system->rows + work->row[i];
        work->rowOwn[i] = ownOf(work, row->body1, row->body2, row->jacobian);
        if (!(work->rowOwn[i] > 0.0)) work->rowOwn[i] = 1.0;
    }
}

/* ---- measures ---- */

double pcWorkMerit(const pcWork* work)
{
    double sum = 0.0, answer[6];
    for (int i = 0; i < work->bodies; i++) {
        pcMotionAnswer(work->motion + work->body[i], work->R + 6 * (size_t)i, answer);
        for (int k = 0; k < 6; k++) sum += work->R[6 * i + k] * answer[k];
    }
    return sum;
}

double pcWorkImbalance(pcWork* work)
{
    double worst = 0.0, answer[6];
    balance(work, work->v, true, work->Q);
    for (int i = 0; i < work->bodies; i++) {
        pcMotionAnswer(work->motion + work->body[i], work->Q + 6 * (size_t)i, answer);
        worst = larger(worst, larger(v3Max(v3Load(answer)), work->arm * v3Max(v3Load(answer + 3))));
    }
    return worst / work->scale;
}

double pcWorkDisagreement(const pcWork* work)
{
    double worst = 0.0;
    for (int i = 0; i < work->bonds; i++)
        for (int k = 0; k < 4; k++) worst = larger(worst, work->bond[i].e[k] * fabs(work->bond[i].p[k] - work->bond[i].c[k]));
    for (int i = 0; i < work->rows; i++) worst = larger(worst, work->rowE[i] * fabs(work->rowP[i] - work->rowC[i]));
    return worst / work->scale;
}

/* Of one bond: its impulses against those that the law makes of them with weights `own`. */
static double bondResidual(const pcMove* move, const pcBond* b)
{
    pcBond probe = *b;
    memcpy(probe.r, b->p, sizeof probe.r);
    memcpy(probe.e, b->own, sizeof probe.e);
    probe.core = b->coreP;
    pcBondLaw(move, &probe, false);
    double worst = b->own[0] * fabs(probe.c[0] - b->p[0]);
    for (int k = 1; k < 4; k++) worst = larger(worst, b->own[k] * fabs(probe.c[k] - b->p[k]));
    return worst;
}

double pcWorkResidual(const pcWork* work)
{
    double worst = 0.0;
    for (int i = 0; i < work->bonds; i++) worst = larger(worst, bondResidual(&work->move, work->bond + i));
    for (int i = 0; i < work->rows; i++) {
        double c;
        rowLaw(work, i, work->rowOwn[i], work->rowP[i], &c);
        worst = larger(worst, work->rowOwn[i] * fabs(c - work->rowP[i]));
    }
    return worst / work->scale;
}

static void answerByMultipliers(pcWork* work)
{
    for (int i = 0; i < work->bonds; i++)
        memcpy(work->bond[i].p, work->bond[i].r, sizeof work->bond[i].r), work->bond[i].coreP = work->bond[i].core;
    if (work->rows > 0) memcpy(work->rowP, work->rowR, (size_t)work->rows * sizeof(double));
}

void pcWorkGuess(pcWork* work)
{
    for (int i = 0; i < work->bonds; i++) frameOf(work->bond + i);
    for (int i = 0; i < work->bodies; i++) memcpy(work->v + 6 * (size_t)i, work->motion[work->body[i]].free, 6 * sizeof(double));
    answerByMultipliers(work);
    balance(work, work->v, true, work->Q);
    for (int i = 0; i < work->bodies; i++) {
        double answer[6];
        pcMotionAnswer(work->motion + work->body[i], work->Q + 6 * (size_t)i, answer);
        for (int k = 0; k < 6; k++) work->v[6 * i + k] -= answer[k];
    }
}

double pcWorkJudge(pcWork* work)
{
    if (!pcWorkEvaluate(work, work->v, false)) return HUGE_VAL;
    pcWorkWeigh(work);
    answerByMultipliers(work);
    double residual = pcWorkResidual(work); /* and what contacts that are not there any more have given */
    return larger(residual, pcWorkImbalance(work));
}
