/*
 * Contact problems by their Delassus matrix (pcDelassusSolve): problems of others, judged by a natural map of this file's own in physical
 * units; and the same problems told otherwise.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "adapters/problems/read.h"
#include "pcontact/lcp.h"
#include "solver/problem.h"
#include "test_worlds/unit/model.h"

#define PI 3.14159265358979323846
#define NOT_FINITE ((double)NAN)

static const char* const files[] = {"boxesstack1-i100000-32",
                                    "capsules-i100-1090",
                                    "capsules-i101-404",
                                    "confeti-ex03",
                                    "nespheres_10_1",
                                    "frictioncontactproblem00031",
                                    "frictioncontactproblem00071",
                                    "frictioncontactproblem00237",
                                    "oneobject-i100000-316",
                                    "fc2d_slidercranklagrangian00000",
                                    "rover1039",
                                    "rover1040",
                                    "rover11035",
                                    "rover4144",
                                    "rover4396",
                                    "rover4609"};
enum { FILES = sizeof files / sizeof *files };

static double target(int dim) { return dim == 2 ? 1e-12 : 1e-8; }

/* ---- A problem of one's own to change ---- */

typedef struct Case {
    pcDelassus problem;
    int *row, *col;
    double *value, *q, *mu, *r;
} Case;

static void* room(int count, size_t size)
{
    void* place = calloc((size_t)count + 1, size);
    if (!place) abort();
    return place;
}

static Case caseNew(int dim, int contacts, int nonzeros)
{
    int n = dim * contacts;
    Case c = {.problem = {.contacts = contacts, .dim = dim, .nonzeros = nonzeros}};
    c.row = room(nonzeros, sizeof(int)), c.col = room(nonzeros, sizeof(int)), c.value = room(nonzeros, sizeof(double));
    c.q = room(n, sizeof(double)), c.mu = room(contacts, sizeof(double)), c.r = room(n, sizeof(double));
    c.problem.row = c.row, c.problem.col = c.col, c.problem.value = c.value, c.problem.q = c.q, c.problem.mu = c.mu;
    return c;
}

static void caseFree(Case* c)
{
    free(c->row), free(c->col), free(c->value), free(c->q), free(c->mu), free(c->r);
    *c = (Case){0};
}

static Case copyOf(const pcDelassus* p)
{
    Case c = caseNew(p->dim, p->contacts, p->nonzeros);
    memcpy(c.row, p->row, (size_t)p->nonzeros * sizeof(int)), memcpy(c.col, p->col, (size_t)p->nonzeros * sizeof(int));
    memcpy(c.value, p->value, (size_t)p->nonzeros * sizeof(double));
    memcpy(c.q, p->q, (size_t)(p->dim * p->contacts) * sizeof(double)), memcpy(c.mu, p->mu, (size_t)p->contacts * sizeof(double));
    return c;
}

static Case load(const char* name)
{
    char path[512], message[PC_READ_MESSAGE] = "";
    snprintf(path, sizeof path, "%s/problems/contact/%s.txt", PCONTACT_TEST_WORLDS, name);
    pcProblemFile file;
    bool good = pcProblemRead(path, &file, message);
    PC_EXPECT_EQ_STR("", message);
    Case c = good && file.kind == PC_FILE_CONTACTS ? copyOf(&file.contacts) : caseNew(3, 0, 0);
    pcProblemFileFree(&file);
    return c;
}

/* W = A A' / n + 0.1 I + skew (B - B'), with random A and B: positive definite however large the skew part is. */
static Case randomCase(pcRandom* random, int dim, int contacts, double skew)
{
    int n = dim * contacts;
    Case c = caseNew(dim, contacts, n * n);
    double *A = room(n * n, sizeof(double)), *B = room(n * n, sizeof(double));
    for (int i = 0; i < n * n; i++) A[i] = pcBetween(random, -1.0, 1.0), B[i] = pcBetween(random, -1.0, 1.0);
    for (int e = 0; e < n * n; e++) {
        int i = c.row[e] = e / n, j = c.col[e] = e % n;
        for (int k = 0; k < n; k++) c.value[e] += A[n * i + k] * A[n * j + k] / n;
        c.value[e] += (i == j ? 0.1 : 0.0) + skew * (B[n * i + j] - B[n * j + i]);
    }
    for (int i = 0; i < n; i++) c.q[i] = pcBetween(random, -1.0, 1.0);
    for (int k = 0; k < contacts; k++) c.mu[k] = pcBetween(random, 0.0, 0.5);
    free(A), free(B);
    return c;
}

/* ---- The judge ---- */

/* Nearest point of { |t| <= mu n } to x = (n, t). */
static void projectOnDisc(int dim, double mu, const double* x, double* y)
{
    double t = dim == 2 ? fabs(x[1]) : hypot(x[1], x[2]);
    double n = t <= mu * x[0] ? x[0] : mu * t <= -x[0] ? 0.0 : (x[0] + mu * t) / (1.0 + mu * mu);
    bool inside = t <= mu * x[0];
    y[0] = n;
    for (int i = 1; i < dim; i++) y[i] = inside ? x[i] : n > 0.0 ? mu * n * x[i] / t : 0.0;
}

static double distance2(const double* x, const double* y)
{
    double sum = 0.0;
    for (int i = 0; i < 3; i++) sum += (x[i] - y[i]) * (x[i] - y[i]);
    return sum;
}

static void takeNearer(const double* x, const double* candidate, double* best)
{
    if (distance2(x, candidate) < distance2(x, best)) memcpy(best, candidate, 3 * sizeof *best);
}

/* The same for the cone over the polygon with corners mu d_i, d_i at angle 2 pi i / edges, by trying its tip, edges and faces. */
static void projectOnPolygon(int edges, double mu, const double* x, double* y)
{
    bool inside = true;
    memset(y, 0, 3 * sizeof *y);
    for (int i = 0; i < edges; i++) {
        v3 a = v3Make(1.0, mu * cos(2.0 * PI * i / edges), mu * sin(2.0 * PI * i / edges));
        v3 b = v3Make(1.0, mu * cos(2.0 * PI * (i + 1) / edges), mu * sin(2.0 * PI * (i + 1) / edges));
        v3 out = v3Cross(b, a), at = v3Load(x), onFace = v3AddScaled(at, -v3Dot(out, at) / v3Dot(out, out), out);
        double candidate[3];
        v3Store(candidate, v3Scale(larger(0.0, v3Dot(a, at) / v3Dot(a, a)), a));
        takeNearer(x, candidate, y);
        v3Store(candidate, onFace);
        if (v3Dot(v3Cross(out, b), onFace) >= 0.0 && v3Dot(v3Cross(a, out), onFace) >= 0.0) takeNearer(x, candidate, y);
        inside = inside && v3Dot(out, at) <= 0.0;
    }
    if (inside) memcpy(y, x, 3 * sizeof *y);
}

/* |u_t|, or the largest speed against a corner. */
static double slipOf(int dim, int edges, const double* u)
{
    if (dim == 2) return fabs(u[1]);
    double slip = 0.0;
    for (int i = 0; i < edges; i++) slip = larger(slip, -u[1] * cos(2.0 * PI * i / edges) - u[2] * sin(2.0 * PI * i / edges));
    return edges ? slip : hypot(u[1], u[2]);
}

static void velocities(const pcDelassus* p, const double* r, double* u, double* own)
{
    memcpy(u, p->q, (size_t)(p->dim * p->contacts) * sizeof *u);
    memset(own, 0, (size_t)p->contacts * sizeof *own);
    for (int e = 0; e < p->nonzeros; e++) {
        u[p->row[e]] += p->value[e] * r[p->col[e]];
        if (p->row[e] == p->col[e]) own[p->row[e] / p->dim] += p->value[e] / p->dim;
    }
}

/* max over contacts of |r - proj_K(r - (u + mu |u_t| n) / w)| w / max |q|, w the mean diagonal of the contact's own block. */
static double residualOf(const pcDelassus* p, const double* r, int edges)
{
    double *u = room(p->dim * p->contacts, sizeof *u), *own = room(p->contacts, sizeof *own), most = 0.0, scale = 0.0;
    velocities(p, r, u, own);
    for (int i = 0; i < p->dim * p->contacts; i++) scale = larger(scale, fabs(p->q[i]));
    for (int k = 0; k < p->contacts; k++) {
        const double *uk = u + p->dim * k, *rk = r + p->dim * k;
        double x[3] = {0.0}, y[3] = {0.0}, there[3] = {0.0};
        for (int i = 0; i < p->dim; i++) there[i] = rk[i], x[i] = rk[i] - uk[i] / own[k];
        x[0] -= p->mu[k] * slipOf(p->dim, edges, uk) / own[k];
        if (edges && p->dim == 3 && p->mu[k] > 0.0)
            projectOnPolygon(edges, p->mu[k], x, y);
        else
            projectOnDisc(p->dim, p->mu[k], x, y);
        most = larger(most, sqrt(distance2(there, y)) * own[k] / scale); /* a NaN comes out */
    }
    free(u), free(own);
    return most;
}

static pcSolveInfo solve(Case* c, int edges, const double* start)
{
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.coneEdges = edges, settings.start = start;
    settings.tolerance = c->problem.dim == 2 ? 1e-13 : 1e-10;
    return pcDelassusSolve(&c->problem, &settings, c->r);
}

static pcSolveInfo expectSolved(Case* c, int edges, const double* start)
{
    pcSolveInfo info = solve(c, edges, start);
    PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_LE(residualOf(&c->problem, c->r, edges), target(c->problem.dim));
    return info;
}

/* ---- Problems of others ---- */

/* The largest take seconds: they are left out where the smaller ones tell as much. */
static bool large(const Case* c) { return c->problem.contacts > 100; }

PC_TEST(Delassus, SolvesTheProblemsOfOthersAtTheCircularCone)
{
    for (int i = 0; i < FILES; i++) {
        PC_CASE("%s", files[i]);
        Case c = load(files[i]);
        PC_EXPECT_GT(c.problem.contacts, 0);
        pcSolveInfo info = expectSolved(&c, 0, NULL);
        PC_EXPECT_LE(info.residual, 1e-10);
        caseFree(&c);
    }
}

PC_TEST(Delassus, IsSolvedByEverySolver)
{
    for (int k = 0; k < pcConeSolverCount; k++) {
        for (int i = 0; i < FILES; i++) {
            PC_CASE("%s by %s", files[i], pcConeSolvers[k].name);
            Case c = load(files[i]);
            pcSolveSettings settings = pcDefaultSolveSettings();
            settings.solver = pcConeSolvers[k].name;
            if (!large(&c)) {
                pcSolveInfo info = pcDelassusSolve(&c.problem, &settings, c.r);
                PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
                PC_EXPECT_LE(residualOf(&c.problem, c.r, 0), 1e-8);
            }
            caseFree(&c);
        }
    }
}

/* All sixteen by `sparse`; by `lemke` up to the size beyond which a dense path takes minutes (`pcontact bench solver FILE` has the same). */
PC_TEST(Delassus, IsSolvedToTheToleranceBySparseAndLemke)
{
    static const struct {
        const char* solver;
        int rows, files; /* how many files are that small */
    } limits[] = {{"sparse", 1000000, FILES}, {"lemke", 240, 13}};
    for (int k = 0; k < 2; k++) {
        int solved = 0;
        for (int i = 0; i < FILES; i++) {
            PC_CASE("%s by %s", files[i], limits[k].solver);
            Case c = load(files[i]);
            pcSolveSettings settings = pcDefaultSolveSettings();
            settings.solver = limits[k].solver;
            if (c.problem.dim * c.problem.contacts <= limits[k].rows) {
                pcSolveInfo info = pcDelassusSolve(&c.problem, &settings, c.r);
                PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
                PC_EXPECT_LE(info.residual, 1e-10);
                PC_EXPECT_LE(residualOf(&c.problem, c.r, 0), 1e-10);
                solved++;
            }
            caseFree(&c);
        }
        PC_EXPECT_EQ_INT(limits[k].files, solved);
    }
}

PC_TEST(Delassus, SolvesTheProblemsOfOthersAtPolygonalCones)
{
    const int edges[] = {4, 8, 32};
    for (int i = 0; i < FILES; i++) {
        Case c = load(files[i]);
        for (int e = 0; e < 3; e++) {
            PC_CASE("%s, %d edges", files[i], edges[e]);
            if (large(&c) && e != i % 3) continue;
            expectSolved(&c, edges[e], NULL);
        }
        caseFree(&c);
    }
}

PC_TEST(Delassus, NeedsFewStepsFromTheAnswer)
{
    for (int i = 0; i < FILES; i++) {
        PC_CASE("%s", files[i]);
        Case c = load(files[i]);
        pcSolveInfo cold = expectSolved(&c, 0, NULL);
        double* start = room(c.problem.dim * c.problem.contacts, sizeof *start);
        memcpy(start, c.r, (size_t)(c.problem.dim * c.problem.contacts) * sizeof *start);
        int steps = expectSolved(&c, 0, start).iterations;
        PC_EXPECT_LE(steps, 15);
        PC_EXPECT_LE(steps, 2 + cold.iterations / 4);
        free(start), caseFree(&c);
    }
}

PC_TEST(Delassus, SolvesFromAGuessThatIsFarOff)
{
    pcRandom random = {77};
    for (int i = 0; i < FILES; i++) {
        PC_CASE("%s", files[i]);
        Case c = load(files[i]);
        int n = c.problem.dim * c.problem.contacts;
        double* start = room(n, sizeof *start);
        for (int k = 0; k < n; k++) start[k] = pow(10.0, pcBetween(&random, -6.0, 3.0)) * pcBetween(&random, -1.0, 1.0);
        if (!large(&c)) expectSolved(&c, 0, start);
        free(start), caseFree(&c);
    }
}

/* ---- The same told otherwise ---- */

/* Contact k of the new case is contact order[k] of the old one. */
static Case permuted(const pcDelassus* p, pcRandom* random)
{
    Case c = copyOf(p);
    int *place = room(p->contacts, sizeof *place), *order = room(p->contacts, sizeof *order);
    for (int k = 0; k < p->contacts; k++) order[k] = k;
    for (int k = p->contacts - 1; k > 0; k--) {
        int other = (int)(pcRandomBits(random) % (uint64_t)(k + 1)), keep = order[k];
        order[k] = order[other], order[other] = keep;
    }
    for (int k = 0; k < p->contacts; k++) {
        place[order[k]] = k, c.mu[k] = p->mu[order[k]];
        memcpy(c.q + p->dim * k, p->q + p->dim * order[k], (size_t)p->dim * sizeof(double));
    }
    for (int e = 0; e < p->nonzeros; e++) {
        c.row[e] = p->dim * place[p->row[e] / p->dim] + p->row[e] % p->dim;
        c.col[e] = p->dim * place[p->col[e] / p->dim] + p->col[e] % p->dim;
    }
    free(place), free(order);
    return c;
}

PC_TEST(Delassus, SolvesPermutedContacts)
{
    pcRandom random = {5};
    for (int i = 0; i < FILES; i++) {
        PC_CASE("%s", files[i]);
        Case c = load(files[i]), other = permuted(&c.problem, &random);
        if (!large(&c)) expectSolved(&other, 0, NULL);
        caseFree(&c), caseFree(&other);
    }
}

PC_TEST(Delassus, SolvesInOtherUnits)
{
    const double matrix[] = {1e6, 1e-6, 1.0, 1.0, 1e6, 1e-6}, velocity[] = {1.0, 1.0, 1e6, 1e-6, 1e-6, 1e6};
    for (int i = 0; i < FILES; i++) {
        for (int unit = 0; unit < 6; unit++) {
            PC_CASE("%s, W by %g, q by %g", files[i], matrix[unit], velocity[unit]);
            Case c = load(files[i]);
            for (int e = 0; e < c.problem.nonzeros; e++) c.value[e] *= matrix[unit];
            for (int k = 0; k < c.problem.dim * c.problem.contacts; k++) c.q[k] *= velocity[unit];
            if (!large(&c)) expectSolved(&c, 0, NULL);
            caseFree(&c);
        }
    }
}

PC_TEST(Delassus, AddsUpEntriesThatMeet)
{
    Case c = load("rover4396");
    const pcDelassus* p = &c.problem;
    Case halves = caseNew(p->dim, p->contacts, 2 * p->nonzeros);
    for (int e = 0; e < 2 * p->nonzeros; e++) {
        halves.row[e] = p->row[e % p->nonzeros], halves.col[e] = p->col[e % p->nonzeros], halves.value[e] = 0.5 * p->value[e % p->nonzeros];
    }
    memcpy(halves.q, p->q, (size_t)(p->dim * p->contacts) * sizeof(double)), memcpy(halves.mu, p->mu, (size_t)p->contacts * sizeof(double));
    solve(&c, 0, NULL), solve(&halves, 0, NULL);
    for (int i = 0; i < p->dim * p->contacts; i++) PC_EXPECT_EQ_INT(0, memcmp(&c.r[i], &halves.r[i], sizeof(double)));
    caseFree(&c), caseFree(&halves);
}

/* ---- What contacts may be like ---- */

PC_TEST(Delassus, MixesContactsWithAndWithoutFriction)
{
    for (int i = 0; i < FILES; i++) {
        for (int every = 1; every <= 3; every++) {
            PC_CASE("%s, every %d. contact without friction", files[i], every);
            Case c = load(files[i]);
            for (int k = 0; k < c.problem.contacts; k += every) c.mu[k] = 0.0;
            if (!large(&c)) expectSolved(&c, 0, NULL);
            for (int k = 0; k < c.problem.contacts; k += every)
                for (int t = 1; t < c.problem.dim; t++) PC_EXPECT_TRUE(c.r[c.problem.dim * k + t] == 0.0);
            caseFree(&c);
        }
    }
}

PC_TEST(Delassus, SolvesMatricesThatAreNotSymmetric)
{
    pcRandom random = {9};
    const double skew[] = {0.0, 0.05, 0.3};
    for (int trial = 0; trial < 60; trial++) {
        int dim = 2 + trial % 2, contacts = 1 + trial % 10;
        PC_CASE("trial %d: dim %d, %d contacts, skew %g", trial, dim, contacts, skew[trial % 3]);
        Case c = randomCase(&random, dim, contacts, skew[trial % 3]);
        expectSolved(&c, 0, NULL);
        if (dim == 3) expectSolved(&c, 6, NULL);
        caseFree(&c);
    }
}

static Case oneContact(double normal, double slip)
{
    Case c = caseNew(3, 1, 3);
    for (int i = 0; i < 3; i++) c.row[i] = c.col[i] = i, c.value[i] = 1.0;
    c.q[0] = normal, c.q[1] = slip, c.mu[0] = 0.5;
    return c;
}

PC_TEST(Delassus, SticksSlidesAndLetsGo)
{
    Case stick = oneContact(-1.0, 0.3), slide = oneContact(-1.0, 2.0), apart = oneContact(1e-9, 2.0);
    expectSolved(&stick, 0, NULL), expectSolved(&slide, 0, NULL), expectSolved(&apart, 0, NULL);
    PC_EXPECT_NEAR(1.0, stick.r[0], 1e-9);
    PC_EXPECT_NEAR(-0.3, stick.r[1], 1e-9);
    PC_EXPECT_NEAR(1.0, slide.r[0], 1e-9);
    PC_EXPECT_NEAR(-0.5, slide.r[1], 1e-9);
    for (int i = 0; i < 3; i++) PC_EXPECT_TRUE(apart.r[i] == 0.0);
    caseFree(&stick), caseFree(&slide), caseFree(&apart);
}

PC_TEST(Delassus, SolvesNothingAtOnce)
{
    pcDelassus none = {.dim = 3};
    pcSolveSettings settings = pcDefaultSolveSettings();
    pcSolveInfo info = pcDelassusSolve(&none, &settings, NULL);
    PC_EXPECT_EQ_INT(PC_SOLVED, info.outcome);
    PC_EXPECT_TRUE(info.residual == 0.0);
    PC_EXPECT_EQ_INT(0, info.iterations);
}

/* W pulls the contact in as it is pushed out. */
PC_TEST(Delassus, SaysSoWhereThereIsNoSolution)
{
    Case c = oneContact(-1.0, 0.3);
    for (int sign = 0; sign < 2; sign++) {
        PC_CASE("W_nn = %d", -sign);
        c.value[0] = -sign;
        pcSolveInfo info = solve(&c, 0, NULL);
        PC_EXPECT_TRUE(info.outcome != PC_SOLVED && info.outcome != PC_BAD_INPUT);
        PC_EXPECT_GT(info.residual, 1e-3);
        for (int i = 0; i < 3; i++) PC_EXPECT_TRUE(isfinite(c.r[i]));
    }
    caseFree(&c);
}

PC_TEST(Delassus, ReportsTheResidualItReached)
{
    for (int limit = 1; limit <= 5; limit++) {
        PC_CASE("%d steps", limit);
        Case c = load("rover4609");
        pcSolveSettings settings = pcDefaultSolveSettings();
        settings.maxIterations = limit;
        pcSolveInfo info = pcDelassusSolve(&c.problem, &settings, c.r);
        double measured = residualOf(&c.problem, c.r, 0);
        PC_EXPECT_LE(info.iterations, limit);
        PC_EXPECT_EQ_INT(info.residual <= settings.tolerance ? PC_SOLVED : PC_INACCURATE, info.outcome);
        PC_EXPECT_LE(measured, 10.0 * info.residual + 1e-12); /* friction rows are scaled by mu there */
        caseFree(&c);
    }
}

/* ---- What is refused ---- */

static void expectRefused(const pcDelassus* problem, const pcSolveSettings* settings, double* r)
{
    double before[6];
    if (r) memcpy(before, r, sizeof before);
    pcSolveInfo info = pcDelassusSolve(problem, settings, r);
    PC_EXPECT_EQ_INT(PC_BAD_INPUT, info.outcome);
    PC_EXPECT_TRUE(info.residual == (double)INFINITY);
    PC_EXPECT_TRUE(strlen(pcLastError()) > 10);
    if (r) PC_EXPECT_EQ_INT(0, memcmp(before, r, sizeof before));
}

/* A good problem of two contacts, to be spoilt by one change. */
typedef struct Spoilt {
    Case c;
    pcSolveSettings settings;
} Spoilt;

static Spoilt fresh(void)
{
    Spoilt s = {.c = load("rover4396"), .settings = pcDefaultSolveSettings()};
    PC_EXPECT_EQ_INT(2, s.c.problem.contacts);
    for (int i = 0; i < 6; i++) s.c.r[i] = 42.0;
    return s;
}

#define PC_EXPECT_REFUSED(change)                        \
    do {                                                 \
        PC_CASE("%s", #change);                          \
        Spoilt s = fresh();                              \
        change;                                          \
        expectRefused(&s.c.problem, &s.settings, s.c.r); \
        caseFree(&s.c);                                  \
    } while (0)

PC_TEST(Delassus, RefusesWhatIsMissing)
{
    Spoilt whole = fresh();
    expectRefused(NULL, &whole.settings, whole.c.r);
    expectRefused(&whole.c.problem, NULL, whole.c.r);
    expectRefused(&whole.c.problem, &whole.settings, NULL);
    caseFree(&whole.c);
    PC_EXPECT_REFUSED(s.c.problem.row = NULL);
    PC_EXPECT_REFUSED(s.c.problem.col = NULL);
    PC_EXPECT_REFUSED(s.c.problem.value = NULL);
    PC_EXPECT_REFUSED(s.c.problem.q = NULL);
    PC_EXPECT_REFUSED(s.c.problem.mu = NULL);
    PC_EXPECT_REFUSED(s.settings.solver = NULL);
}

PC_TEST(Delassus, RefusesNumbersThatAreNone)
{
    PC_EXPECT_REFUSED(s.c.value[3] = NOT_FINITE);
    PC_EXPECT_REFUSED(s.c.value[0] = -(double)INFINITY);
    PC_EXPECT_REFUSED(s.c.q[5] = NOT_FINITE);
    PC_EXPECT_REFUSED(s.c.q[0] = (double)INFINITY);
    PC_EXPECT_REFUSED(s.c.mu[1] = NOT_FINITE);
    PC_EXPECT_REFUSED(s.c.mu[1] = (double)INFINITY);
    PC_EXPECT_REFUSED(s.c.mu[0] = -0.1);
    const double start[6] = {0.0, 0.0, 0.0, 0.0, NOT_FINITE, 0.0};
    PC_EXPECT_REFUSED(s.settings.start = start);
}

PC_TEST(Delassus, RefusesSizesAndPlacesThatAreWrong)
{
    PC_EXPECT_REFUSED(s.c.problem.dim = 1);
    PC_EXPECT_REFUSED(s.c.problem.dim = 4);
    PC_EXPECT_REFUSED(s.c.problem.dim = -3);
    PC_EXPECT_REFUSED(s.c.problem.contacts = -1);
    PC_EXPECT_REFUSED(s.c.problem.contacts = 1000000000);
    PC_EXPECT_REFUSED(s.c.problem.nonzeros = -1);
    PC_EXPECT_REFUSED(s.c.row[7] = 6);
    PC_EXPECT_REFUSED(s.c.row[0] = -1);
    PC_EXPECT_REFUSED(s.c.col[35] = 6);
    PC_EXPECT_REFUSED(s.c.col[1] = -1);
}

PC_TEST(Delassus, RefusesSettingsThatMakeNoSense)
{
    PC_EXPECT_REFUSED(s.settings.coneEdges = 5);
    PC_EXPECT_REFUSED(s.settings.coneEdges = 2);
    PC_EXPECT_REFUSED(s.settings.coneEdges = -4);
    PC_EXPECT_REFUSED(s.settings.tolerance = 0.0);
    PC_EXPECT_REFUSED(s.settings.tolerance = -1e-8);
    PC_EXPECT_REFUSED(s.settings.tolerance = NOT_FINITE);
    PC_EXPECT_REFUSED(s.settings.maxIterations = -1);
    PC_EXPECT_REFUSED(s.settings.solver = "no such solver");
    PC_EXPECT_REFUSED(s.settings.cookie = 0);
}
