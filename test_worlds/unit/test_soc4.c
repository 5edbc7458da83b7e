/* Four cones at a time: to the bit as one by one. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "solver/soc4.h"
#include "test_worlds/unit/problems.h"

enum { CASES = 4000, MOST = 4 * PC_SOC_ROWS };

/* Four cones, each inside K, by borders near and far, of sizes between 1e-6 and 1e6; or anywhere. */
static void draw(pcRandom* random, int n, bool inside, double* x)
{
    for (int c = 0; c < 4; c++) {
        double size = pow(10.0, pcBetween(random, -6.0, 6.0)), *cone = x + c * n;
        for (int i = 0; i < n; i++) cone[i] = size * pcBetween(random, -1.0, 1.0);
        if (inside) cone[0] = pcSocTail(n, cone) * (1.0 + pow(10.0, pcBetween(random, -9.0, 1.0)));
        if (!inside && pcBetween(random, 0.0, 1.0) < 0.1) cone[0] = 0.0;
        if (!inside && pcBetween(random, 0.0, 1.0) < 0.1) memset(cone, 0, (size_t)n * sizeof *cone);
    }
}

/* A zero may be one of the other sign: sums with what is not there begin with another one. */
static void expectSame(int n, const double* expected, const pcFour* actual)
{
    double x[MOST] = {0.0};
    fourStore(n, x, actual);
    for (int i = 0; i < 4 * n; i++) PC_EXPECT_TRUE(expected[i] == x[i] || (isnan(expected[i]) && isnan(x[i])));
}

static void compare(int n, pcRandom* random)
{
    double c[MOST], y[MOST], d[MOST], out[MOST], reach[4], det[4];
    pcSocScale scale[4];
    draw(random, n, true, c), draw(random, n, true, y), draw(random, n, false, d);
    pcFour C = fourLoad(n, c), Y = fourLoad(n, y), D = fourLoad(n, d);
    expectSame(n, c, &C), expectSame(n, d, &D);

    pcFourScale fourth = fourScaling(n, &C, &Y);
    for (int k = 0; k < 4; k++) {
        pcSocScaling(n, c + k * n, y + k * n, scale + k);
        PC_EXPECT_TRUE(scale[k].eta == fourth.eta[k]);
        for (int i = 0; i < n; i++) PC_EXPECT_TRUE(scale[k].w[i] == fourth.w.x[i][k] && scale[k].lambda[i] == fourth.lambda.x[i][k]);
    }
    for (int times = -1; times <= 1; times += 2) {
        pcFour applied = fourApply(n, &fourth, times, &D);
        for (int k = 0; k < 4; k++) pcSocApply(n, scale + k, times, d + k * n, out + k * n);
        expectSame(n, out, &applied);
    }
    pcFour twice = fourApplyTwice(n, &fourth, &D), product = fourProduct(n, &C, &D), divided = fourDivide(n, &C, &D);
    for (int k = 0; k < 4; k++) pcSocApplyTwice(n, scale + k, d + k * n, out + k * n);
    expectSame(n, out, &twice);
    for (int k = 0; k < 4; k++) pcSocProduct(n, c + k * n, d + k * n, out + k * n);
    expectSame(n, out, &product);
    for (int k = 0; k < 4; k++) pcSocDivide(n, c + k * n, d + k * n, out + k * n);
    expectSame(n, out, &divided);
    v4Store(reach, fourReach(n, &C, &D)), v4Store(det, fourDet(n, &C));
    for (int k = 0; k < 4; k++) PC_EXPECT_TRUE(pcSocReach(n, c + k * n, d + k * n) == reach[k] && pcSocDet(n, c + k * n) == det[k]);
}

PC_TEST(SocFours, AreWhatTheConesAreOneByOne)
{
    pcRandom random = {4};
    for (int i = 0; i < CASES; i++) compare(2, &random), compare(3, &random);
}
