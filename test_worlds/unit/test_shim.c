/* The tests' own tools: a check that cannot fail proves nothing, so each one is seen failing here. */
#include <math.h>
#include <string.h>

#include "adapters/gtest/pctest.h"

/* How many failures one check makes; leaves its message for pcTestCaughtMessage(). */
#define FAILURES_OF(check) (pcTestCatchBegin(), (check), pcTestCatchEnd())

static bool messageHas(const char* part) { return strstr(pcTestCaughtMessage(), part) != NULL; }

PC_TEST(Shim, PassesWhatHolds)
{
    PC_EXPECT_TRUE(1 < 2);
    PC_EXPECT_FALSE(2 < 1);
    PC_EXPECT_EQ_INT(7, sizeof "second");
    PC_EXPECT_EQ_STR("same", "same");
    PC_EXPECT_EQ_STR(NULL, NULL);
    PC_EXPECT_NEAR(1.0, 1.0 + 1e-12, 1e-11);
    PC_EXPECT_REL(1e300, 1e300 * (1 + 1e-12), 1e-11);
    PC_EXPECT_REL(0.0, 0.0, 0.0);
    PC_EXPECT_LT(1.0, 2.0);
    PC_EXPECT_LE(1.0, 1.0);
    PC_EXPECT_GT(2.0, 1.0);
    PC_EXPECT_GE(2.0, 2.0);
    PC_EXPECT_STATUS(PC_OK, PC_OK);
}

PC_TEST(Shim, FailsWhatDoesNotHold)
{
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_TRUE(2 < 1)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_FALSE(1 < 2)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_EQ_INT(1, 2)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_EQ_STR("one", "other")));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_EQ_STR("one", NULL)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_NEAR(1.0, 1.1, 0.01)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_REL(1e-300, 1.1e-300, 0.01)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_LT(1.0, 1.0)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_LE(2.0, 1.0)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_GT(1.0, 1.0)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_GE(1.0, 2.0)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_STATUS(PC_OK, PC_ERROR_FLAT)));
}

PC_TEST(Shim, FailsOnNaNInEveryNumberCheck)
{
    const double number[2] = {1.0, (double)NAN};
    for (int a = 0; a < 2; ++a) {
        for (int b = 1 - a; b < 2; ++b) { /* at least one of the two is NaN */
            PC_CASE("a=%g b=%g", number[a], number[b]);
            PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_NEAR(number[a], number[b], 1e9)));
            PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_REL(number[a], number[b], 1e9)));
            PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_LT(number[a], number[b])));
            PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_LE(number[a], number[b])));
            PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_GT(number[a], number[b])));
            PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_GE(number[a], number[b])));
        }
    }
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_NEAR(1.0, 1.5, (double)NAN)));
}

PC_TEST(Shim, TakesInfinitiesAsEqualOnlyToThemselves)
{
    const double infinity = (double)INFINITY;
    PC_EXPECT_NEAR(infinity, infinity, 0.0);
    PC_EXPECT_REL(-infinity, -infinity, 0.0);
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_NEAR(infinity, -infinity, 1e9)));
    PC_EXPECT_EQ_INT(1, FAILURES_OF(PC_EXPECT_REL(infinity, 1.0, 1e9)));
}

PC_TEST(Shim, NamesTheFailingCase)
{
    FAILURES_OF(PC_EXPECT_TRUE(false));
    PC_EXPECT_FALSE(messageHas("case"));
    for (int n = 3; n < 5; ++n) {
        char wanted[32] = "case n=0 angle=0.5: ";
        wanted[7] = (char)('0' + n);
        PC_CASE("n=%d angle=%g", n, 0.5);
        FAILURES_OF(PC_EXPECT_TRUE(false));
        PC_EXPECT_TRUE(messageHas(wanted));
    }
}

PC_TEST(Shim, ForgetsTheCaseOfTheTestBefore)
{
    FAILURES_OF(PC_EXPECT_TRUE(false));
    PC_EXPECT_FALSE(messageHas("case"));
}

PC_TEST(Shim, QuotesStatusAndExpressions)
{
    FAILURES_OF(PC_EXPECT_STATUS(PC_OK, PC_ERROR_FLAT));
    PC_EXPECT_TRUE(messageHas("PC_ERROR_FLAT"));
    PC_EXPECT_TRUE(messageHas(pcStatusText(PC_ERROR_FLAT)));
    const double width = 1.0, height = 2.0;
    FAILURES_OF(PC_EXPECT_NEAR(width, height, 0.5));
    PC_EXPECT_TRUE(messageHas("width = 1 and height = 2 differ by 1"));
}

static void assertThenMark(bool* reached)
{
    PC_ASSERT_LT(2.0, 1.0);
    *reached = true;
}

PC_TEST(Shim, LeavesTheFunctionWhenAnAssertionFails)
{
    bool reached = false;
    PC_EXPECT_EQ_INT(1, FAILURES_OF(assertThenMark(&reached)));
    PC_EXPECT_FALSE(reached);
}

/* A sanitizer that is asked for but not compiled in would let every sanitizer run pass; one that slipped into a normal build would
 * spoil every timing. */
PC_TEST(Build, HasTheSanitizerItSays)
{
#if defined(__SANITIZE_ADDRESS__)
    PC_EXPECT_EQ_STR("address", PCONTACT_SANITIZE);
#elif defined(__SANITIZE_THREAD__)
    PC_EXPECT_EQ_STR("thread", PCONTACT_SANITIZE);
#else
    PC_EXPECT_EQ_STR("", PCONTACT_SANITIZE);
#endif
}

/* x * y is 1 - 2^-60, which rounds to 1; a fused multiply-add would keep the 2^-60. */
PC_TEST(Build, DoesNotContractProductsIntoFusedOperations)
{
    volatile double x = 1.0 + 0x1p-30, y = 1.0 - 0x1p-30, one = 1.0;
    PC_EXPECT_TRUE(x * y - one == 0.0);
}
