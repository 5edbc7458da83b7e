/*
 * Tests in C, run by googletest.
 *
 *     PC_TEST(Metric, IsOneWhenBoxesTouch) {
 *         PC_ASSERT_STATUS(PC_OK, pcShapeBox(size, &box));
 *         for (int n = 0; n < 8; ++n) {
 *             PC_CASE("n=%d", n);             // every failure below names this case
 *             PC_EXPECT_NEAR(1.0, r(n), 1e-15);
 *         }
 *     }
 *
 * PC_EXPECT_* notes a failure and goes on; PC_ASSERT_* notes it and returns from the function it stands in.
 * Checks are written so that NaN fails every one of them: "not within" instead of "outside".
 * List the file in PCONTACT_TEST_SOURCES; the run fails if fewer tests ran than the listed files declare.
 */
#ifndef PCTEST_H
#define PCTEST_H

#include <stdbool.h>
#include <stddef.h>

#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pcTest {
    const char* suite;
    const char* name;
    const char* file;
    int line;
    void (*body)(void);
    struct pcTest* next;
} pcTest;

/* Called by PC_TEST before main() starts. */
void pcTestRegister(pcTest* test);

/* PC_TEST must begin its line: that is how the build counts the tests that ought to run. */
#define PC_TEST(Suite, Name)                                                                         \
    static void pcTestBody_##Suite##_##Name(void);                                                   \
    __attribute__((constructor)) static void pcTestAdd_##Suite##_##Name(void)                        \
    {                                                                                                \
        static pcTest test = {#Suite, #Name, __FILE__, __LINE__, pcTestBody_##Suite##_##Name, NULL}; \
        pcTestRegister(&test);                                                                       \
    }                                                                                                \
    static void pcTestBody_##Suite##_##Name(void)

/* The label of the case at hand, as printf writes it. It is put before each following failure of this thread, until the next PC_CASE
 * or the end of the test. */
#define PC_CASE(...) pcTestLabel(__VA_ARGS__)

/* Ends the test without judging it; counted and reported as skipped. */
#define PC_SKIP(reason)                           \
    do {                                          \
        pcTestSkip(__FILE__, __LINE__, (reason)); \
        return;                                   \
    } while (0)

/* A failure in the test's own words, as printf writes them. */
#define PC_FAIL(...) pcTestFail(__FILE__, __LINE__, __VA_ARGS__)

#define PC_EXPECT_TRUE(condition) PC_EXPECT_(PC_IS_(true, condition))
#define PC_EXPECT_FALSE(condition) PC_EXPECT_(PC_IS_(false, condition))
#define PC_EXPECT_EQ_INT(a, b) PC_EXPECT_(PC_EQ_INT_(a, b))
#define PC_EXPECT_EQ_STR(a, b) PC_EXPECT_(PC_EQ_STR_(a, b))
#define PC_EXPECT_NEAR(a, b, tolerance) PC_EXPECT_(PC_NEAR_(a, b, tolerance)) /* |a - b| <= tolerance */
#define PC_EXPECT_REL(a, b, tolerance) PC_EXPECT_(PC_REL_(a, b, tolerance))   /* |a - b| <= tolerance max(|a|, |b|) */
#define PC_EXPECT_LT(a, b) PC_EXPECT_(PC_ORDER_(a, <, b))
#define PC_EXPECT_LE(a, b) PC_EXPECT_(PC_ORDER_(a, <=, b))
#define PC_EXPECT_GT(a, b) PC_EXPECT_(PC_ORDER_(a, >, b))
#define PC_EXPECT_GE(a, b) PC_EXPECT_(PC_ORDER_(a, >=, b))
#define PC_EXPECT_STATUS(expected, actual) PC_EXPECT_(PC_STATUS_(expected, actual))

#define PC_ASSERT_TRUE(condition) PC_ASSERT_(PC_IS_(true, condition))
#define PC_ASSERT_FALSE(condition) PC_ASSERT_(PC_IS_(false, condition))
#define PC_ASSERT_EQ_INT(a, b) PC_ASSERT_(PC_EQ_INT_(a, b))
#define PC_ASSERT_EQ_STR(a, b) PC_ASSERT_(PC_EQ_STR_(a, b))
#define PC_ASSERT_NEAR(a, b, tolerance) PC_ASSERT_(PC_NEAR_(a, b, tolerance))
#define PC_ASSERT_REL(a, b, tolerance) PC_ASSERT_(PC_REL_(a, b, tolerance))
#define PC_ASSERT_LT(a, b) PC_ASSERT_(PC_ORDER_(a, <, b))
#define PC_ASSERT_LE(a, b) PC_ASSERT_(PC_ORDER_(a, <=, b))
#define PC_ASSERT_GT(a, b) PC_ASSERT_(PC_ORDER_(a, >, b))
#define PC_ASSERT_GE(a, b) PC_ASSERT_(PC_ORDER_(a, >=, b))
#define PC_ASSERT_STATUS(expected, actual) PC_ASSERT_(PC_STATUS_(expected, actual))

/* Between begin and end, failures of this thread are kept instead of counting against the test: how the shim tests itself.
 * End returns how many there were; the message of the last one stays readable until the next begin. */
void pcTestCatchBegin(void);
int pcTestCatchEnd(void);
const char* pcTestCaughtMessage(void);

/* Below: what the macros are made of. Each check tells whether it passed. */

#define PC_EXPECT_(check) ((void)(check))
#define PC_ASSERT_(check) \
    do {                  \
        if (!(check)) {   \
            return;       \
        }                 \
    } while (0)

#define PC_IS_(expected, condition) pcTestBool(__FILE__, __LINE__, #condition, (expected), (condition))
#define PC_EQ_INT_(a, b) pcTestEqualInt(__FILE__, __LINE__, #a, #b, (long long)(a), (long long)(b))
#define PC_EQ_STR_(a, b) pcTestEqualText(__FILE__, __LINE__, #a, #b, (a), (b))
#define PC_NEAR_(a, b, tolerance) pcTestNear(__FILE__, __LINE__, #a, #b, (a), (b), (tolerance))
#define PC_REL_(a, b, tolerance) pcTestRelative(__FILE__, __LINE__, #a, #b, (a), (b), (tolerance))
#define PC_ORDER_(a, relation, b) pcTestOrder(__FILE__, __LINE__, #a, #relation, #b, (a), (b))
#define PC_STATUS_(expected, actual) pcTestStatus(__FILE__, __LINE__, #actual, (expected), (actual))

void pcTestLabel(const char* format, ...) __attribute__((format(printf, 1, 2)));
void pcTestFail(const char* file, int line, const char* format, ...) __attribute__((format(printf, 3, 4)));
void pcTestSkip(const char* file, int line, const char* reason);

bool pcTestBool(const char* file, int line, const char* text, bool expected, bool actual);
bool pcTestEqualInt(const char* file, int line, const char* textA, const char* textB, long long a, long long b);
bool pcTestEqualText(const char* file, int line, const char* textA, const char* textB, const char* a, const char* b);
bool pcTestNear(const char* file, int line, const char* textA, const char* textB, double a, double b, double tolerance);
bool pcTestRelative(const char* file, int line, const char* textA, const char* textB, double a, double b, double tolerance);
bool pcTestOrder(const char* file, int line, const char* textA, const char* relation, const char* textB, double a, double b);
bool pcTestStatus(const char* file, int line, const char* text, pcStatus expected, pcStatus actual);

#ifdef __cplusplus
}
#endif
#endif
