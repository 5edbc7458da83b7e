/* The papers' worlds of smooth bodies: S's ellipse on a table, E's ellipsoids, G's disc. */
#include <math.h>
#include <string.h>

#include "adapters/cli/convergence.h"
#include "adapters/cli/disc.h"
#include "adapters/cli/ellipsoids.h"
#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/scene.h"

/* ---- the ellipse on a table (S section 4): axes 8 and 4, from a height of 8, spinning at 3, mu 0.3, h = 0.05 ---- */

enum { STEPS = 70 };

typedef struct Drop {
    double z[STEPS + 1], turn[STEPS + 1], v[STEPS + 1], spin[STEPS + 1];
} Drop;

/* Two dimensions: rows hold it in the plane y = 0. */
static void playEllipse(double gamma, double height, double spin, Drop* out)
{
    static const double semi[3] = {4, 2, 2};
    static const int held[3] = {1, 3, 5};
    double mass = 8 * 3.14159265358979323846;
    Scene s;
    pcShape* ellipse = NULL;
    sceneBegin(&s);
    sceneFloor(&s);
    s.h = 0.05, s.system.gravity[2] = -9.81;
    s.settings.mu = 0.3, s.settings.gamma = gamma;
    int body = sceneBody(&s, (const double[3]){0, 0, height}, mass, (const double[3]){5 * mass, 5 * mass, 5 * mass});
    PC_EXPECT_STATUS(PC_OK, pcShapeEllipsoid(semi, &ellipse));
    sceneShape(&s, body, ellipse);
    for (int i = 0; i < 3; i++) sceneRow(&s, body, PC_WORLD)->jacobian[held[i]] = 1;
    s.body[body].velocity[4] = spin;
    for (int n = 0; n <= STEPS; n++) {
        const pcBody* b = s.body + body;
        out->z[n] = b->pose.position[2], out->turn[n] = 2 * atan2(b->pose.quaternion[2], b->pose.quaternion[0]);
        out->v[n] = b->velocity[2], out->spin[n] = b->velocity[4];
        if (n < STEPS) sceneStep(&s);
    }
    sceneEnd(&s);
}

static void dropEllipse(double gamma, Drop* out) { playEllipse(gamma, 8, 3, out); }

/* Half the height of an ellipse that has turned, and how it changes with the turn. */
static double reach(double turn) { return sqrt(pow(4 * sin(turn), 2) + pow(2 * cos(turn), 2)); }
static double reachRate(double turn) { return 12 * sin(turn) * cos(turn) / reach(turn); }

/* I_l <= (1 - gamma) I_{l-1} + what the step's own motion adds, O(h^2 v^2) (S 3.1): the ellipse turns while the row is straight. Taken away, by the
 * ellipse's own formula, the factor 1 - gamma is left, step by step, from the impact on; less only where the table lets go of it. */
PC_TEST(RoundPapers, InfeasibilityOfTheEllipseDropsByOneMinusGamma)
{
    static const double gammas[] = {0, 0.1, 0.2, 0.3, 0.5, 0.75, 1};
    static Drop d;
    double after[7];
    for (int g = 0; g < 7; g++) {
        int sunk = 0, held = 0;
        double left = 1 - gammas[g];
        PC_CASE("gamma %g", gammas[g]);
        dropEllipse(gammas[g], &d);
        for (int n = 1; n < STEPS; n++) {
            double I = reach(d.turn[n]) - d.z[n], next = reach(d.turn[n + 1]) - d.z[n + 1];
            if (n == 35) after[g] = I;
            if (!(I > 1e-4)) continue;
            double straight = I + 0.05 * (reachRate(d.turn[n]) * d.spin[n + 1] - d.v[n + 1]), rate = straight / I;
            PC_EXPECT_LE(rate, left + 1e-6);
            PC_EXPECT_LT(fabs(next - straight), 0.05 * 0.05 * 4 * 4 * 4); /* C h^2 v^2 */
            sunk++, held += fabs(rate - left) <= 0.1 * left + 1e-6;
        }
        PC_EXPECT_GT(held, 10);
        PC_EXPECT_GE(held, sunk - 2);
    }
    PC_EXPECT_GT(after[0], 0.06); /* without stabilization it stays */
    for (int g = 1; g < 7; g++) PC_EXPECT_LT(after[g], 0.7 * after[g - 1]);
}

/* As deep as the impact leaves it, but at rest: nothing is added by motion, and every gamma is seen as it is, to rounding. (Deeper than
 * g h^2 / gamma^2 a body is thrown out.) */
PC_TEST(RoundPapers, InfeasibilityOfAnEllipseAtRestDropsByOneMinusGammaAtEveryGamma)
{
    static const double gammas[] = {0, 0.1, 0.2, 0.3, 0.5, 0.75, 0.9, 1};
    static Drop d;
    for (int g = 0; g < 8; g++) {
        PC_CASE("gamma %g", gammas[g]);
        playEllipse(gammas[g], 2 - (gammas[g] > 0.8 ? 0.02 : 0.0426), 0, &d);
        for (int n = 0; n < 12; n++) PC_EXPECT_NEAR((1 - gammas[g]) * (2 - d.z[n]), 2 - d.z[n + 1], 1e-12);
    }
}

/* Where the ellipse has come to the end of its swing it hardly moves. By how much of a step it misses the very end is chance: what its turning
 * still adds, over I itself, stays the same with every h and grows with gamma. Up to 0.5 it is less than a tenth; at 0.75 it is a sixth here. */
PC_TEST(RoundPapers, TheDropIsExponentialWhereTheEllipseTurnsBack)
{
    static const double gammas[] = {0.1, 0.2, 0.3, 0.5};
    static Drop d;
    for (int g = 0; g < 4; g++) {
        PC_CASE("gamma %g", gammas[g]);
        dropEllipse(gammas[g], &d);
        int back = 23;
        while (back < STEPS - 2 && d.spin[back] > 0) back++;
        double I = reach(d.turn[back - 1]) - d.z[back - 1], next = reach(d.turn[back]) - d.z[back];
        PC_EXPECT_GT(I, 1e-4);
        PC_EXPECT_REL(1 - gammas[g], next / I, 0.1);
    }
}

/* ---- E section 7: halving the step halves the error ---- */

/* By the rules of convergence.h; larger lattices are measured by `pcontact bench ellipsoids --convergence`. */
PC_TEST(RoundPapers, EllipsoidsConvergeToFirstOrderBeforeTheFirstChaoticContact)
{
    for (int i = 0; i < PC_CONVERGENCE_QUICK; i++) {
        pcConvergence c;
        PC_CASE("%s", pcConvergenceWorlds[i].name);
        PC_ASSERT_STATUS(PC_OK, pcConvergenceMeasure(pcConvergenceWorlds + i, 1, &c));
        PC_EXPECT_EQ_INT(0, c.unsolved);
        PC_EXPECT_GT(c.chaos, 0.1);
        for (int q = 0; q < PC_CONVERGENCE_QUARTERS; q++) {
            PC_EXPECT_GT(c.last[q], 1e-8); /* far above rounding: there is something to see */
            for (int k = 0; k < 2; k++) PC_EXPECT_TRUE(c.order[q][k] >= 0.8 && c.order[q][k] <= 1.3);
        }
    }
}

/* One problem for all bodies, or one for each island: the same motion. */
PC_TEST(RoundPapers, LatticesMoveTheSameWithAndWithoutIslands)
{
    static pcEllipsoids w[2];
    static const char* const settings[] = {"solver=minmap mu=0", "solver=minmap mu=0 islands=0"};
    for (int i = 0; i < 2; i++) {
        PC_ASSERT_STATUS(PC_OK, pcEllipsoidsMake(PC_ELLIPSOIDS_LATTICE, 16, 1, settings[i], w + i));
        PC_ASSERT_STATUS(PC_OK, pcEllipsoidsStep(w + i, 40));
        PC_EXPECT_EQ_INT(0, w[i].unsolved);
    }
    for (int i = 0; i < 16; i++)
        for (int k = 0; k < 3; k++) PC_EXPECT_NEAR(w[0].body[i].pose.position[k], w[1].body[i].pose.position[k], 1e-9);
    PC_EXPECT_TRUE(w[1].iterations < w[0].iterations); /* they are counted once for all islands */
    for (int i = 0; i < 2; i++) pcEllipsoidsFree(w + i);
}

/* Both ways of solving, with friction and without: all steps are solved, and nothing sinks in. */
PC_TEST(RoundPapers, LatticesOfEllipsoidsComeDownSolved)
{
    static const char* const settings[] = {"solver=minmap mu=0", "solver=auto mu=0.4", "solver=auto mu=0.4 narrowphase=euclid",
                                           "solver=auto gap=ratio mu=0"};
    for (int i = 0; i < 4; i++) {
        static pcEllipsoids w;
        PC_CASE("%s", settings[i]);
        PC_ASSERT_STATUS(PC_OK, pcEllipsoidsMake(PC_ELLIPSOIDS_LATTICE, 30, 2, settings[i], &w));
        PC_ASSERT_STATUS(PC_OK, pcEllipsoidsStep(&w, 120));
        PC_EXPECT_EQ_INT(0, w.unsolved);
        PC_EXPECT_GT(w.collisions, 3000);
        PC_EXPECT_LT(w.penetration, 0.01);
        pcEllipsoidsFree(&w);
    }
}

PC_TEST(RoundPapers, MinmapTellsTheProductsOfItsInnerSolver)
{
    static pcEllipsoids w;
    PC_ASSERT_STATUS(PC_OK, pcEllipsoidsMake(PC_ELLIPSOIDS_LATTICE, 8, 1, "solver=minmap mu=0", &w));
    PC_ASSERT_STATUS(PC_OK, pcEllipsoidsStep(&w, 60));
    PC_EXPECT_TRUE(w.restarts > 0);
    PC_EXPECT_TRUE(w.products >= w.restarts);
    PC_EXPECT_TRUE(w.restarts <= w.iterations + 60 * 8);
    pcEllipsoidsFree(&w);
    PC_ASSERT_STATUS(PC_OK, pcEllipsoidsMake(PC_ELLIPSOIDS_LATTICE, 8, 1, "solver=auto mu=0", &w));
    PC_ASSERT_STATUS(PC_OK, pcEllipsoidsStep(&w, 60));
    PC_EXPECT_EQ_INT(0, w.products);
    pcEllipsoidsFree(&w);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcEllipsoidsMake(PC_ELLIPSOIDS_LATTICE, 0, 1, "", &w));
}

/* ---- the disc (G 6.1) ---- */

PC_TEST(RoundPapers, PolygonsLoseWhatTheDiscKeeps)
{
    pcDiscRun r;
    for (int corners = 10; corners <= 1000; corners *= 10) {
        PC_CASE("%d corners", corners);
        PC_ASSERT_STATUS(PC_OK, pcDiscRoll(corners, "mu=0.5", 0.01, 2, &r));
        PC_EXPECT_GT(r.lost, 0.1 * r.before);
    }
    PC_ASSERT_STATUS(PC_OK, pcDiscRoll(0, "mu=0.5", 0.01, 2, &r));
    PC_EXPECT_LT(fabs(r.lost), 1e-9 * r.before);
    PC_EXPECT_NEAR(4, r.way, 1e-9);
    PC_ASSERT_STATUS(PC_OK, pcDiscRoll(0, "model=implicit mu=0.5", 0.01, 2, &r));
    PC_EXPECT_LT(fabs(r.lost), 1e-9 * r.before);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcDiscRoll(2, "mu=0.5", 0.01, 2, &r));
}
