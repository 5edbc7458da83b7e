/* Contact problems by their Delassus matrix: an answer keeps Coulomb's law, by a check of its own; with a definite matrix there is one. */
#include "pcontact/lcp.h"

#include "test_worlds/fuzz/targets/target.h"

enum { MOST = 3, ROWS = 3 * MOST };

typedef struct Problem {
    int contacts, dim, n, nonzeros;
    bool tame, definite;
    int row[ROWS * ROWS], col[ROWS * ROWS];
    double value[ROWS * ROWS], W[ROWS * ROWS], q[ROWS], mu[MOST];
} Problem;

/* W = A'A + I / 8. */
static void fillDefinite(Problem* p, Bytes* b)
{
    double A[ROWS * ROWS];
    for (int i = 0; i < p->n * p->n; i++) A[i] = ((int)takeBelow(b, 17) - 8) / 4.0;
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++) {
            double sum = i == j ? 0.125 : 0.0;
            for (int k = 0; k < p->n; k++) sum += A[k * p->n + i] * A[k * p->n + j];
            p->row[p->nonzeros] = i, p->col[p->nonzeros] = j, p->value[p->nonzeros++] = sum;
        }
}

static void fillTriplets(Problem* p, Bytes* b)
{
    p->nonzeros = takeBelow(b, ROWS * ROWS);
    for (int i = 0; i < p->nonzeros; i++) {
        p->row[i] = takeBelow(b, p->n + (p->tame ? 0 : 1)), p->col[i] = takeBelow(b, p->n);
        p->value[i] = p->tame ? ((int)takeBelow(b, 17) - 8) / 4.0 : takeNumber(b);
    }
}

static Problem takeProblem(Bytes* b)
{
    int kind = takeBelow(b, 4);
    Problem p = {.contacts = 1 + takeBelow(b, MOST), .dim = 2 + takeBelow(b, 2), .tame = kind < 3, .definite = kind < 2};
    p.n = p.contacts * p.dim;
    (p.definite ? fillDefinite : fillTriplets)(&p, b);
    for (int i = 0; i < p.n; i++) p.q[i] = p.tame ? ((int)takeBelow(b, 33) - 16) / 8.0 : takeNumber(b);
    for (int i = 0; i < p.contacts; i++) p.mu[i] = p.tame ? takeBelow(b, 9) / 8.0 : takeNumber(b);
    for (int i = 0; p.tame && i < p.nonzeros; i++) p.W[p.row[i] * p.n + p.col[i]] += p.value[i];
    return p;
}

/* Velocities of a few units and impulses of up to some: nothing needs scaling but by the largest of each. The circular cone in 3D. */
static void requireLaw(const Problem* p, const double* r)
{
    double u[ROWS], push = 1.0, speed = 1.0;
    for (int i = 0; i < p->n; i++) {
        u[i] = p->q[i];
        for (int j = 0; j < p->n; j++) u[i] += p->W[i * p->n + j] * r[j];
        push = fmax(push, fabs(r[i])), speed = fmax(speed, fabs(u[i]));
    }
    for (int i = 0; i < p->n; i++)
        for (int j = 0; j < p->n; j++) speed = fmax(speed, fabs(p->W[i * p->n + j] * r[j]));
    for (int c = 0; c < p->contacts; c++) {
        const double *rc = r + p->dim * c, *uc = u + p->dim * c;
        double friction = p->dim == 2 ? fabs(rc[1]) : hypot(rc[1], rc[2]), slip = p->dim == 2 ? fabs(uc[1]) : hypot(uc[1], uc[2]);
        double power = p->dim == 2 ? rc[1] * uc[1] : rc[1] * uc[1] + rc[2] * uc[2], limit = p->mu[c] * rc[0];
        REQUIRE(rc[0] >= -1e-7 * push && uc[0] >= -1e-7 * speed, "contact %d: pushes by %g, parts at %g", c, rc[0], uc[0]);
        REQUIRE(fmin(rc[0] / push, uc[0] / speed) <= 1e-7, "contact %d: pushes by %g, parts at %g", c, rc[0], uc[0]);
        REQUIRE(friction <= limit + 1e-7 * push, "contact %d: friction %g, at most %g", c, friction, limit);
        REQUIRE(fabs(power + limit * slip) <= 1e-6 * push * speed, "contact %d: friction %g of %g does not oppose slip %g", c, power, limit,
                slip);
    }
}

/* Where no theory promises an answer of a solver, it and all that it falls back on may try for hundreds of iterations, the fixed point in each
 * pass. */
static void beBrief(pcSolveSettings* settings)
{
    settings->maxIterations = 8;
    if (strcmp(settings->solver, "fixedpoint") == 0) settings->solver = "sparse";
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    static const char* const solvers[] = {"auto", "sparse", "lemke", "fixedpoint", "minmap"};
    Bytes b = {data, size};
    pcSolveSettings settings = pcDefaultSolveSettings();
    int which = takeBelow(&b, 5);
    settings.solver = solvers[which];
    Problem p = takeProblem(&b);
    if ((!p.definite || which > 2) && !isChosen(data, size)) beBrief(&settings);
    double r[ROWS];
    for (int i = 0; i < ROWS; i++) r[i] = 7.5;
    pcDelassus problem = {p.contacts, p.dim, p.nonzeros, p.row, p.col, p.value, p.q, p.mu};
    pcSolveInfo info = pcDelassusSolve(&problem, &settings, r);
    REQUIRE(!isnan(info.residual) && info.iterations >= 0, "residual %g, %d iterations", info.residual, info.iterations);
    if (info.outcome == PC_BAD_INPUT) {
        REQUIRE(!p.definite && isSentence(pcLastError()), "refused: '%s'", pcLastError());
        for (int i = 0; i < ROWS; i++) REQUIRE(r[i] == 7.5, "an answer to a problem that was refused");
        return 0;
    }
    for (int i = 0; i < p.n; i++) REQUIRE(isfinite(r[i]), "r %g", r[i]);
    REQUIRE(info.outcome != PC_SOLVED || info.residual <= 1e-10, "solved with a residual of %g", info.residual);
    if (info.outcome == PC_SOLVED && p.tame) requireLaw(&p, r);
    if (p.definite && which < 2)
        REQUIRE(info.outcome == PC_SOLVED, "%s ended with %d, residual %g", solvers[which], (int)info.outcome, info.residual);
    return 0;
}
