// The C side of a test knows nothing of googletest, and this file knows nothing of contacts: it hands each registered C function to
// googletest, turns failed checks into googletest failures at the C line, and makes sure that no declared test was lost on the way.
#include "pctest.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>

// How many PC_TEST the listed sources declare; written by the build (count_tests.cmake).
extern "C" const int pcTestDeclared;

namespace {

// Plain pointers, because tests register before the constructors of this file have run.
pcTest* firstTest;
pcTest* lastTest;

// Per thread: a worker thread labels its own cases without a race.
thread_local char label[256];

std::unique_ptr<testing::ScopedFakeTestPartResultReporter> catcher;
std::unique_ptr<testing::TestPartResultArray> caught;

class CTest : public testing::Test {
public:
    explicit CTest(const pcTest& test) : test_(test) {}

    void TestBody() override
    {
        label[0] = '\0';
        test_.body();
        label[0] = '\0';
        if (catcher) {
            pcTestCatchEnd();
            pcTestFail(test_.file, test_.line, "the test left pcTestCatchBegin without pcTestCatchEnd");
        }
    }

private:
    const pcTest& test_;
};

std::string printed(const char* format, va_list arguments)
{
    va_list again;
    va_copy(again, arguments);
    std::string text(static_cast<size_t>(std::vsnprintf(nullptr, 0, format, again)), '\0');
    va_end(again);
    std::vsnprintf(&text[0], text.size() + 1, format, arguments);
    return text;
}

const char* statusName(pcStatus status)
{
#define NAME(name, text) #name,
    static const char* const names[] = {PC_STATUS_TABLE(NAME)};
#undef NAME
    const int index = static_cast<int>(status);
    return index >= 0 && index < PC_STATUS_COUNT ? names[index] : "no status";
}

const char* orNull(const char* text) { return text ? text : "NULL"; }

int registerAll()
{
    int count = 0;
    for (const pcTest* test = firstTest; test; test = test->next, ++count) {
        testing::RegisterTest(test->suite, test->name, nullptr, nullptr, test->file, test->line,
                              [test]() -> testing::Test* { return new CTest(*test); });
    }
    return count;
}

// Of so many processes that share the tests; googletest itself refuses what is no number.
int shards()
{
    const char* text = std::getenv("GTEST_TOTAL_SHARDS");
    return text && std::atoi(text) > 1 ? std::atoi(text) : 1;
}

// Declared tests that did not run. A filter asks for fewer on purpose; then only the registration is judged, and that it chose any.
int missingTests(int registered, int executed)
{
    const bool filtered = testing::GTEST_FLAG(filter) != "*";
    const int wanted = filtered ? 1 : pcTestDeclared / shards();
    if (registered != pcTestDeclared) {
        std::printf("The sources declare %d tests, but %d registered.\n", pcTestDeclared, registered);
    }
    if (executed < wanted) {
        std::printf("%d tests ran, at least %d should have.\n", executed, wanted);
    }
    return std::max({std::abs(pcTestDeclared - registered), wanted - executed, 0});
}

// The last line of every run: what scripts read.
void printSummary(int passed, int failed, int skipped)
{
    std::printf("%d passed, %d failed", passed, failed);
    if (skipped > 0) {
        std::printf(", %d skipped", skipped);
    }
    std::printf("\n");
    std::fflush(stdout);
}

} // namespace

void pcTestRegister(pcTest* test)
{
    (lastTest ? lastTest->next : firstTest) = test;
    lastTest = test;
}

void pcTestLabel(const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(label, sizeof label, format, arguments);
    va_end(arguments);
}

void pcTestFail(const char* file, int line, const char* format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const std::string text = printed(format, arguments);
    va_end(arguments);
    ADD_FAILURE_AT(file, line) << (label[0] ? "case " : "") << label << (label[0] ? ": " : "") << text;
}

void pcTestSkip(const char* file, int line, const char* reason) { GTEST_MESSAGE_AT_(file, line, reason, testing::TestPartResult::kSkip); }

void pcTestCatchBegin(void)
{
    using Reporter = testing::ScopedFakeTestPartResultReporter;
    catcher.reset();
    caught.reset(new testing::TestPartResultArray);
    catcher.reset(new Reporter(Reporter::INTERCEPT_ONLY_CURRENT_THREAD, caught.get()));
}

int pcTestCatchEnd(void)
{
    catcher.reset();
    return caught ? caught->size() : 0;
}

const char* pcTestCaughtMessage(void)
{
    return caught && caught->size() > 0 ? caught->GetTestPartResult(caught->size() - 1).message() : "";
}

bool pcTestBool(const char* file, int line, const char* text, bool expected, bool actual)
{
    if (actual == expected) {
        return true;
    }
    pcTestFail(file, line, "%s is %s", text, actual ? "true" : "false");
    return false;
}

bool pcTestEqualInt(const char* file, int line, const char* textA, const char* textB, long long a, long long b)
{
    if (a == b) {
        return true;
    }
    pcTestFail(file, line, "%s == %s does not hold: %lld and %lld", textA, textB, a, b);
    return false;
}

bool pcTestEqualText(const char* file, int line, const char* textA, const char* textB, const char* a, const char* b)
{
    if (a == b || (a && b && std::strcmp(a, b) == 0)) {
        return true;
    }
    pcTestFail(file, line, "%s and %s differ: \"%s\" and \"%s\"", textA, textB, orNull(a), orNull(b));
    return false;
}

// Equal infinities are near: their difference is NaN, but both sides said the same.
bool pcTestNear(const char* file, int line, const char* textA, const char* textB, double a, double b, double tolerance)
{
    if (a == b || std::fabs(a - b) <= tolerance) {
        return true;
    }
    pcTestFail(file, line, "%s = %.17g and %s = %.17g differ by %.3g, allowed %.3g", textA, a, textB, b, std::fabs(a - b), tolerance);
    return false;
}

bool pcTestRelative(const char* file, int line, const char* textA, const char* textB, double a, double b, double tolerance)
{
    const double scale = std::fmax(std::fabs(a), std::fabs(b));
    const bool finite = std::isfinite(a) && std::isfinite(b); // an infinite scale would allow anything
    if (a == b || (finite && std::fabs(a - b) <= tolerance * scale)) {
        return true;
    }
    pcTestFail(file, line, "%s = %.17g and %s = %.17g differ by %.3g relative, allowed %.3g", textA, a, textB, b, std::fabs(a - b) / scale,
               tolerance);
    return false;
}

bool pcTestOrder(const char* file, int line, const char* textA, const char* relation, const char* textB, double a, double b)
{
    const bool orEqual = relation[1] == '=';
    const bool holds = relation[0] == '<' ? (orEqual ? a <= b : a < b) : (orEqual ? a >= b : a > b);
    if (!holds) {
        pcTestFail(file, line, "%s %s %s does not hold: %.17g and %.17g", textA, relation, textB, a, b);
    }
    return holds;
}

bool pcTestStatus(const char* file, int line, const char* text, pcStatus expected, pcStatus actual)
{
    if (actual == expected) {
        return true;
    }
    pcTestFail(file, line, "%s gave %s (%s), expected %s; last error: \"%s\"", text, statusName(actual), pcStatusText(actual),
               statusName(expected), pcLastError());
    return false;
}

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (argc > 1) {
        std::fprintf(stderr, "Unknown argument '%s'; --help lists what googletest takes.\n", argv[1]);
        return 2;
    }
    const int registered = registerAll();
    const int result = RUN_ALL_TESTS();
    if (testing::GTEST_FLAG(list_tests)) {
        return result;
    }
    const testing::UnitTest& run = *testing::UnitTest::GetInstance();
    const int passed = run.successful_test_count(), failed = run.failed_test_count(), skipped = run.skipped_test_count();
    const int missing = missingTests(registered, passed + failed + skipped);
    printSummary(passed, failed + missing, skipped);
    return result != 0 || missing > 0 ? 1 : 0;
}
