/* Statuses, the sentences that go with them, and the version. */
#include <pthread.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/shape.h"

PC_TEST(Status, HasItsOwnSentenceForEveryValue)
{
    for (int status = 0; status < PC_STATUS_COUNT; ++status) {
        PC_CASE("status=%d", status);
        const char* text = pcStatusText((pcStatus)status);
        PC_ASSERT_TRUE(text != NULL && text[0] != '\0');
        for (int other = 0; other < status; ++other) {
            PC_EXPECT_TRUE(strcmp(text, pcStatusText((pcStatus)other)) != 0);
        }
    }
}

PC_TEST(Status, SaysWhatTheTableSays)
{
#define EXPECT_TEXT(status, text) PC_EXPECT_EQ_STR(text, pcStatusText(status));
    PC_STATUS_TABLE(EXPECT_TEXT)
#undef EXPECT_TEXT
}

/* The numbers go through memory, so that no compiler reasons about an enum that cannot hold them. */
PC_TEST(Status, HasASentenceForNumbersThatAreNoStatus)
{
    static const int stranger[] = {-1, PC_STATUS_COUNT, 1000, -2147483647 - 1, 2147483647};
    for (size_t i = 0; i < sizeof stranger / sizeof stranger[0]; ++i) {
        PC_CASE("status=%d", stranger[i]);
        pcStatus status = PC_OK;
        memcpy(&status, &stranger[i], sizeof status);
        const char* text = pcStatusText(status);
        PC_ASSERT_TRUE(text != NULL && text[0] != '\0');
        PC_EXPECT_TRUE(strcmp(text, pcStatusText(PC_OK)) != 0);
    }
}

static void failOnce(void)
{
    pcShape* shape = NULL;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcShapeSphere(-1.0, &shape));
    PC_EXPECT_TRUE(shape == NULL);
}

/* What a new thread reads before and after a failure of its own. */
typedef struct ThreadView {
    char before[256];
    char after[256];
} ThreadView;

static void copyLastError(char text[256])
{
    strncpy(text, pcLastError(), 255);
    text[255] = '\0';
}

static void* failInThread(void* context)
{
    ThreadView* view = context;
    copyLastError(view->before);
    failOnce();
    copyLastError(view->after);
    return NULL;
}

PC_TEST(LastError, IsASentenceAfterAFailure)
{
    failOnce();
    PC_EXPECT_TRUE(strlen(pcLastError()) > 0);
}

PC_TEST(LastError, BelongsToTheThreadThatFailed)
{
    pcShape* shape = NULL;
    const double flat[12] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0};
    PC_EXPECT_STATUS(PC_ERROR_FLAT, pcShapeFromPoints(flat, 4, NULL, &shape));
    char mine[256];
    copyLastError(mine);

    ThreadView view = {"unset", ""};
    pthread_t thread;
    PC_ASSERT_EQ_INT(0, pthread_create(&thread, NULL, failInThread, &view));
    PC_ASSERT_EQ_INT(0, pthread_join(thread, NULL));

    PC_EXPECT_EQ_STR("", view.before);
    PC_EXPECT_TRUE(strlen(view.after) > 0);
    PC_EXPECT_TRUE(strcmp(mine, view.after) != 0);
    PC_EXPECT_EQ_STR(mine, pcLastError());
}

PC_TEST(LastError, SurvivesASuccess)
{
    failOnce();
    char before[256];
    copyLastError(before);
    pcShape* shape = NULL;
    PC_ASSERT_STATUS(PC_OK, pcShapeSphere(1.0, &shape));
    pcShapeFree(shape);
    PC_EXPECT_EQ_STR(before, pcLastError());
}

PC_TEST(Version, OfTheLibraryIsThatOfTheHeaders) { PC_EXPECT_EQ_STR(PC_VERSION_TEXT, pcVersion()); }
