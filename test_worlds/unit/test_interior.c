/* The interior point method, and the algebra of its cones. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "base/arena.h"
#include "solver/certificate.h"
#include "solver/interior.h"
#include "solver/soc.h"
#include "solver/sparse.h"
#include "solver/stiffness.h"
#include "test_worlds/unit/problems.h"

/* ---- cones ---- */

static void insideCone(pcRandom* random, int n, double* x)
{
    for (int i = 1; i < n; i++) x[i] = pcBetween(random, -1.0, 1.0);
    x[0] = pcSocTail(n, x) + pow(10.0, pcBetween(random, -6.0, 1.0));
}

PC_TEST(Soc, ScalingTakesImpulseAndVelocityToTheSamePoint)
{
    pcRandom random = {11};
    for (int i = 0; i < 3000; i++) {
        int n = 1 + i % PC_SOC_ROWS;
        double c[PC_SOC_ROWS], y[PC_SOC_ROWS], there[PC_SOC_ROWS], back[PC_SOC_ROWS];
        pcSocScale scale;
        insideCone(&random, n, c), insideCone(&random, n, y);
        pcSocScaling(n, c, y, &scale);
        pcSocApply(n, &scale, -1.0, y, there);
        pcSocApplyTwice(n, &scale, y, back);
        double size = 1e6 * PC_ROUND * (1.0 + scale.w[0] * scale.w[0]) * (scale.eta + 1.0 / scale.eta) * (c[0] + y[0]);
        for (int k = 0; k < n; k++) PC_EXPECT_NEAR(scale.lambda[k], there[k], size);
        for (int k = 0; k < n; k++) PC_EXPECT_NEAR(c[k], back[k], size * (1.0 + 1.0 / scale.eta));
    }
}

PC_TEST(Soc, DivisionUndoesTheProduct)
{
    pcRandom random = {12};
    for (int i = 0; i < 3000; i++) {
        int n = 1 + i % PC_SOC_ROWS;
        double x[PC_SOC_ROWS], y[PC_SOC_ROWS], product[PC_SOC_ROWS];
        insideCone(&random, n, x), insideCone(&random, n, y);
        pcSocProduct(n, x, y, product);
        pcSocDivide(n, x, product, product);
        for (int k = 0; k < n; k++) PC_EXPECT_NEAR(y[k], product[k], 1e-13 * y[0] * (1.0 + x[0] * x[0] / pcSocDet(n, x)));
    }
}

PC_TEST(Soc, CentreHasTheDifferenceAndTheProduct)
{
    pcRandom random = {14};
    for (int i = 0; i < 3000; i++) {
        int n = 1 + i % PC_SOC_ROWS;
        double z[PC_SOC_ROWS], c[PC_SOC_ROWS], y[PC_SOC_ROWS], product[PC_SOC_ROWS], m = pow(10.0, pcBetween(&random, -12.0, 0.0));
        for (int k = 0; k < n; k++) z[k] = i % 7 ? pcBetween(&random, -1.0, 1.0) : 0.0;
        pcSocCentre(n, z, m, c, y);
        pcSocProduct(n, c, y, product);
        PC_EXPECT_GT(c[0] - pcSocTail(n, c), -1e-15);
        PC_EXPECT_GT(y[0] - pcSocTail(n, y), -1e-15);
        for (int k = 0; k < n; k++) PC_EXPECT_NEAR(z[k], c[k] - y[k], 1e-15);
        for (int k = 0; k < n; k++) PC_EXPECT_NEAR(k == 0 ? m : 0.0, product[k], 1e-15);
    }
}

PC_TEST(Soc, ReachEndsOnTheBorder)
{
    pcRandom random = {13};
    int ended = 0;
    for (int i = 0; i < 3000; i++) {
        int n = 1 + i % PC_SOC_ROWS;
        double x[PC_SOC_ROWS], d[PC_SOC_ROWS], end[PC_SOC_ROWS], a;
        insideCone(&random, n, x);
        for (int k = 0; k < n; k++) d[k] = pcBetween(&random, -1.0, 1.0);
        a = pcSocReach(n, x, d);
        if (!isfinite(a)) {
            PC_EXPECT_GE(d[0], pcSocTail(n, d) * (1.0 - 1e-12)); /* only a direction inside the cone goes on for ever */
            continue;
        }
        for (int k = 0; k < n; k++) end[k] = x[k] + a * d[k];
        PC_EXPECT_NEAR(end[0], pcSocTail(n, end), 1e-9 * (x[0] + a));
        ended++;
    }
    PC_EXPECT_GT(ended, 1000);
}

/* ---- the method ---- */

/* A problem, and where the method is in it. */
typedef struct Inside {
    const pcProblem* p;
    pcArena arena;
    pcLinear linear;
    pcBlocks H;
    double *v, *c;
    bool applies;
} Inside;

static void insideBegin(Inside* s, const pcProblem* p)
{
    *s = (Inside){.p = p};
    s->v = calloc((size_t)pcUnknowns(p) + 1, sizeof *s->v), s->c = calloc((size_t)p->rows + 1, sizeof *s->c);
    s->applies = !p->W && pcLinearForm(p, &s->arena, &s->linear) && pcStiffnessPattern(p, &s->arena, &s->H);
}

static void insideEnd(Inside* s) { pcArenaFree(&s->arena), free(s->v), free(s->c); }

static int insideGo(Inside* s, double residual, pcInside from)
{
    return s->applies ? pcInteriorStart(s->p, s->linear.own, residual, from, &s->H, &s->arena, s->v, s->c) : 0;
}

static double insideResidual(Inside* s) { return pcCertify(s->p, s->v, s->c, &s->arena).residual; }

/* What a start from the inside leaves, by the certificate; NaN: the problem is none for it. */
static double residualOfStart(const pcProblem* p, double residual, int* factors)
{
    Inside s;
    insideBegin(&s, p);
    *factors = insideGo(&s, residual, PC_INSIDE);
    double left = *factors > 0 ? insideResidual(&s) : (double)NAN;
    insideEnd(&s);
    return left;
}

typedef struct Tally {
    int tried, close;
    double worst;
} Tally;

static Tally overAllKinds(bool coulomb, double residual, double close)
{
    Tally t = {0};
    for (int kind = 0; kind < pcProblemKindCount; kind++)
        for (int variant = 0; strcmp(pcProblemKinds[kind].name, "polygons") != 0 && variant < pcProblemKinds[kind].variants; variant++) {
            pcConeModel model = pcProblemKinds[kind].make(variant, coulomb);
            int factors;
            double left = residualOfStart(&model.problem, residual, &factors);
            PC_CASE("%s, variant %d", pcProblemKinds[kind].name, variant);
            if (factors > 0) {
                PC_EXPECT_LE(factors, 40);
                PC_EXPECT_TRUE(isfinite(left));
                t.tried++, t.close += left <= close, t.worst = fmax(t.worst, left);
            }
            pcModelFree(&model);
        }
    return t;
}

PC_TEST(Interior, EndsNearTheAnswerOfTheRelaxation)
{
    Tally t = overAllKinds(false, 1e-6, 1e-4);
    PC_EXPECT_GT(t.tried, 30);
    PC_EXPECT_GE(t.close, 0.95 * t.tried);
}

PC_TEST(Interior, EndsNearAnAnswerOfCoulombsLaw)
{
    Tally t = overAllKinds(true, 1e-6, 1e-3);
    PC_EXPECT_GT(t.tried, 30);
    PC_EXPECT_GE(t.close, 0.9 * t.tried);
}

/* From an answer there is less to do than from nothing, and from a guess that is none no more harm than the way there and back. */
PC_TEST(Interior, BeginsNearAGuess)
{
    int cold = 0, warm = 0;
    for (int kind = 0; kind < pcProblemKindCount; kind++) {
        const char* name = pcProblemKinds[kind].name;
        if (strcmp(name, "polygons") == 0 || strcmp(name, "mass ratio stack") == 0) continue; /* not for this method */
        pcConeModel model = pcProblemKinds[kind].make(0, false);
        Inside s;
        insideBegin(&s, &model.problem);
        PC_CASE("%s", name);
        int first = insideGo(&s, 1e-6, PC_INSIDE);
        if (first > 0) {
            cold += first, warm += insideGo(&s, 1e-6, PC_INSIDE_NEAR);
            double left = insideResidual(&s);
            for (int i = 0; i < s.p->rows; i++) s.c[i] = i % 2 ? 1e3 : -1e3;
            PC_EXPECT_GT(insideGo(&s, 1e-6, PC_INSIDE_NEAR), 0);
            PC_EXPECT_LE(fmax(left, insideResidual(&s)), 1e-4);
        }
        insideEnd(&s), pcModelFree(&model);
    }
    PC_EXPECT_GT(cold, 80);
    PC_EXPECT_LE(3 * warm, 2 * cold);
}

/* A rough answer of the relaxation is inside all cones, and the way to the last digits goes on there: both together are a fifth longer than the way at once. */
PC_TEST(Interior, GoesOnWhereARoughAnswerEnded)
{
    int once = 0, apart = 0;
    for (int i = 0; i < 8; i++) {
        pcConeModel model = pcHeap(60 + 25 * i, 3.0, false, 70u + (uint64_t)i);
        const pcProblem* p = &model.problem;
        Inside s;
        insideBegin(&s, p);
        PC_CASE("heap %d: %d contacts", i, p->cones);
        apart += insideGo(&s, 0.1, PC_INSIDE);
        int within = 0;
        for (int k = 0; k < p->cones; k++) within += s.c[p->cone[k].row] > pcSocTail(p->cone[k].rows, s.c + p->cone[k].row);
        PC_EXPECT_EQ_INT(p->cones, within);
        apart += insideGo(&s, 1e-6, PC_INSIDE_NEAR);
        PC_EXPECT_LE(insideResidual(&s), 1e-4);
        once += insideGo(&s, 1e-6, PC_INSIDE);
        insideEnd(&s), pcModelFree(&model);
    }
    PC_CASE("%d factorizations at once, %d in two parts", once, apart);
    PC_EXPECT_GT(once, 80);
    PC_EXPECT_LE(4 * apart, 5 * once);
}

PC_TEST(Interior, LeavesAProblemAloneThatIsNoneForIt)
{
    double mass[36] = {0.0}, free[6] = {0.0}, J[48] = {0.0}, target[4] = {0.0}, soft[4] = {0.0}, own[4] = {1.0, 1.0, 1.0, 1.0};
    double v[6] = {1.0, 2.0, 3.0, 4.0, 5.0, 6.0}, c[4] = {1.0, 2.0, 3.0, 4.0};
    int block[8] = {0, -1, 0, -1, 0, -1, 0, -1};
    pcCone cone = {.kind = PC_CONE_FRICTION, .rows = 4, .groups = 2, .groupSize = {2, 1}};
    for (int i = 0; i < 6; i++) mass[7 * i] = 1.0;
    for (int i = 0; i < 4; i++) J[12 * i + i] = 1.0;
    pcProblem p = {.blocks = 1, .mass = mass, .free = free, .rows = 4, .block = block, .J = J, .target = target, .soft = soft};
    p.cones = 1, p.cone = &cone, p.coulomb = true, p.velocityScale = 1.0;
    pcArena arena = {0};
    pcBlocks H;
    PC_EXPECT_TRUE(pcStiffnessPattern(&p, &arena, &H));
    PC_EXPECT_EQ_INT(PC_NO_START, pcInteriorStart(&p, own, 1e-6, PC_INSIDE, &H, &arena, v, c));
    for (int i = 0; i < 6; i++) PC_EXPECT_NEAR(i + 1.0, v[i], 0.0);
    for (int i = 0; i < 4; i++) PC_EXPECT_NEAR(i + 1.0, c[i], 0.0);
    pcArenaFree(&arena);
}
