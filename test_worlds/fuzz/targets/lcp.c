/* Complementarity problems from raw matrices: an answer is one by definition (lcp_judge.h), a ray is a proof, and a problem that has an answer by
 * theory gets one. */
#include "pcontact/lcp.h"

#include "test_worlds/fuzz/targets/target.h"
#include "test_worlds/unit/lcp_judge.h"

enum { MOST = 5 };

typedef struct Problem {
    int n;
    bool tame;     /* numbers of the grid: answers are judged */
    bool definite; /* A'A and a skew matrix: there is an answer, or a proof that there is no feasible point */
    double M[MOST * MOST], q[MOST];
} Problem;

static void makeDefinite(Problem* p)
{
    double A[MOST * MOST];
    memcpy(A, p->M, sizeof A);
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++) {
            double sum = 0.5 * (A[i * p->n + j] - A[j * p->n + i]);
            for (int k = 0; k < p->n; k++) sum += A[k * p->n + i] * A[k * p->n + j];
            p->M[i * p->n + j] = sum;
        }
}

static Problem takeProblem(Bytes* b)
{
    int kind = takeBelow(b, 4);
    Problem p = {.n = 1 + takeBelow(b, MOST), .tame = kind < 3, .definite = kind == 1};
    for (int i = 0; i < p.n * p.n; i++) p.M[i] = p.tame ? (int)takeBelow(b, 17) - 8 : takeNumber(b);
    for (int i = 0; i < p.n; i++) p.q[i] = p.tame ? (int)takeBelow(b, 17) - 8 : takeNumber(b);
    if (p.definite) makeDefinite(&p);
    return p;
}

static bool isFinite(const Problem* p)
{
    for (int i = 0; i < p->n * p->n; i++)
        if (!isfinite(p->M[i])) return false;
    for (int i = 0; i < p->n; i++)
        if (!isfinite(p->q[i])) return false;
    return true;
}

static void requireAnswer(const Problem* p, const pcSolveInfo* info, const double* z)
{
    REQUIRE(info->residual <= 1e-10, "solved with a residual of %g", info->residual);
    for (int i = 0; i < p->n; i++) REQUIRE(isfinite(z[i]) && z[i] >= 0.0, "z %g", z[i]);
    double worst = p->tame ? pcJudgeSolution(p->n, p->n, p->M, p->q, z) : 0.0;
    REQUIRE(worst <= 1e-8, "solved, and off by %g", worst);
}

/* Of minmap, where no theory promises an answer: Lemke's method follows it then. */
enum { FEW_ITERATIONS = 8 };

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const solvers[] = {"lemke", "auto", "minmap", "lemke"};
    Bytes b = {data, size};
    pcSolveSettings settings = pcDefaultSolveSettings();
    settings.solver = solvers[takeBelow(&b, 4)];
    Problem p = takeProblem(&b);
    if (!p.definite && strcmp(settings.solver, "minmap") == 0 && !isChosen(data, size)) settings.maxIterations = FEW_ITERATIONS;
    double z[MOST], ray[MOST];
    for (int i = 0; i < MOST; i++) z[i] = 7.5, ray[i] = 0.0;
    settings.ray = ray;
    pcLcp lcp = {p.n, p.M, p.q};
    pcSolveInfo info = pcLcpSolve(&lcp, &settings, z);
    REQUIRE(!isnan(info.residual) && info.iterations >= 0, "residual %g, %d iterations", info.residual, info.iterations);
    switch (info.outcome) {
    case PC_SOLVED: requireAnswer(&p, &info, z); break;
    case PC_RAY:
        if (p.tame)
            REQUIRE(pcJudgeInfeasible(p.n, p.M, p.q, ray) || (!p.definite && pcJudgeRay(p.n, p.M, ray)), "a ray that proves nothing");
        break;
    case PC_BAD_INPUT:
        REQUIRE(!p.tame && isSentence(pcLastError()), "refused: '%s'", pcLastError());
        for (int i = 0; i < MOST; i++) REQUIRE(z[i] == 7.5, "an answer to a problem that was refused");
        break;
    default:
        REQUIRE(!(p.definite && strcmp(settings.solver, "minmap") != 0), "%s ended with %d, residual %g", settings.solver,
                (int)info.outcome, info.residual);
    }
    REQUIRE(info.outcome == PC_BAD_INPUT || isFinite(&p), "numbers that are none were accepted");
    return 0;
}
