/*
 * Bodies in a fluid (E 2): a mobility that couples all of them, given by the caller. Twenty spheres of radius a with the mobility of Rotne
 * and Prager, pulled towards the middle until they touch.
 */
#include <math.h>
#include <stdlib.h>

#include "adapters/gtest/pctest.h"
#include "test_worlds/unit/round_judge.h"
#include "test_worlds/unit/scene.h"

enum { SPHERES = 20, SIZE = 6 * SPHERES };

/* Of two spheres at the distance r along `way`, in units of 1 / (6 pi eta a): positive definite also where they overlap. */
static double rotnePrager(double a, double r, const double way[3], int i, int k)
{
    double same = i == k, along = way[i] * way[k];
    if (r >= 2 * a) return 0.75 * a / r * (same + along) + 0.5 * pow(a / r, 3) * (same - 3 * along);
    return (1 - 9 * r / (32 * a)) * same + 3 * r / (32 * a) * along;
}

static void fillMobility(const Scene* s, double a, double* M)
{
    const double scale = 1 / (6 * 3.14159265358979323846 * a), turning = 1 / (8 * 3.14159265358979323846 * a * a * a);
    for (int i = 0; i < SPHERES; i++)
        for (int j = 0; j < SPHERES; j++) {
            double way[3], r = 0;
            for (int k = 0; k < 3; k++) way[k] = s->body[j].pose.position[k] - s->body[i].pose.position[k], r += way[k] * way[k];
            r = sqrt(r);
            for (int p = 0; p < 3; p++)
                for (int q = 0; q < 3; q++) {
                    double unit[3] = {r > 0 ? way[0] / r : 0, r > 0 ? way[1] / r : 0, r > 0 ? way[2] / r : 0};
                    M[(6 * i + p) * SIZE + 6 * j + q] = i == j ? scale * (p == q) : scale * rotnePrager(a, r, unit, p, q);
                    M[(6 * i + 3 + p) * SIZE + 6 * j + 3 + q] = i == j && p == q ? turning : 0;
                }
        }
}

PC_TEST(RoundWorlds, SpheresInAFluidTouchAndStayApart)
{
    const double a = 0.1;
    pcRandom random = {7};
    Scene s;
    sceneBegin(&s);
    for (int i = 0; i < SPHERES; i++)
        sceneSphere(&s, 0.25 * (i % 3) + 0.01 * roundBetween(&random, -1, 1), 0.25 * (i / 3 % 3),
                    0.25 * (i / 9) + 0.01 * roundBetween(&random, -1, 1), a, 1);
    double* M = calloc(SIZE * SIZE, sizeof *M);
    s.system.mobility = M;
    s.system.gravity[2] = 0;
    int touching = 0;
    for (int step = 0; step < 300; step++) {
        fillMobility(&s, a, M);
        for (int i = 0; i < SPHERES; i++)
            for (int k = 0; k < 6; k++) {
                s.body[i].velocity[k] = 0; /* no inertia: the velocity is what forces and contacts make of it */
                s.body[i].force[k] = k < 3 ? 2 / s.h * (0.25 - s.body[i].pose.position[k]) : 0; /* mobility times h f */
            }
        sceneStep(&s);
        PC_EXPECT_EQ_INT(PC_SOLVED, s.result.report.outcome);
        PC_EXPECT_LT(s.result.report.penetration, 1e-4);
        touching = s.result.contactCount;
    }
    PC_EXPECT_GT(touching, 30);
    s.system.mobility = NULL;
    free(M);
    sceneEnd(&s);
}
