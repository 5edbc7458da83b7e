/* Pages for the browser: what stands in their data, what becomes of names that are markup, and how large they get. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <zlib.h>

#include "adapters/gtest/pctest.h"
#include "adapters/report/json.h"
#include "adapters/report/numbers.h"
#include "adapters/report/page.h"
#include "test_worlds/unit/sdf_text.h"

/* ---- texts and numbers ---- */

static char* jsonOf(const char* text)
{
    char* out = NULL;
    size_t size = 0;
    pcJson json = {open_memstream(&out, &size), false};
    pcJsonText(&json, text);
    fclose(json.file);
    return out;
}

PC_TEST(ReportJson, EscapesWhatCouldBeMarkup)
{
    static const char* const cases[][2] = {
        {"plain", "\"plain\""},
        {"</script><b>&", "\"\\u003c/script\\u003e\\u003cb\\u003e\\u0026\""},
        {"a\"b\\c\n", "\"a\\u0022b\\u005cc\\u000a\""},
        {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\""},
        {"\xff|\xc0\xaf|\xed\xa0\x80|\xe2\x82", "\"\\ufffd|\\ufffd\\ufffd|\\ufffd\\ufffd\\ufffd|\\ufffd\\ufffd\""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        PC_CASE("%zu", i);
        char* text = jsonOf(cases[i][0]);
        PC_EXPECT_EQ_STR(cases[i][1], text);
        free(text);
    }
}

PC_TEST(ReportJson, HasNoNumberWhereThereIsNone)
{
    char* out = NULL;
    size_t size = 0;
    pcJson json = {open_memstream(&out, &size), false};
    const double all[] = {1.5, NAN, HUGE_VAL, -2e-9};
    pcJsonOpen(&json, '{');
    pcJsonKey(&json, "a"), pcJsonNumbers(&json, all, 4);
    pcJsonKey(&json, "b"), pcJsonText(&json, "c");
    pcJsonClose(&json, '}');
    fclose(json.file);
    PC_EXPECT_EQ_STR("{\"a\":[1.5,null,null,-2e-09],\"b\":\"c\"}", out);
    free(out);
}

/* The examples of RFC 4648, section 10. */
PC_TEST(ReportNumbers, AreWrittenInBase64)
{
    static const char* const cases[][2] = {{"", ""},        {"f", "Zg=="},        {"fo", "Zm8="},
                                           {"foo", "Zm9v"}, {"foob", "Zm9vYg=="}, {"foobar", "Zm9vYmFy"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char* out = NULL;
        size_t size = 0;
        FILE* file = open_memstream(&out, &size);
        PC_CASE("%s", cases[i][0]);
        pcBase64Write(file, (const unsigned char*)cases[i][0], strlen(cases[i][0]));
        fclose(file);
        PC_EXPECT_EQ_STR(cases[i][1], out);
        PC_EXPECT_TRUE(pcBase64Size(strlen(cases[i][0])) == size);
        free(out);
    }
}

PC_TEST(ReportNumbers, ComeBackFromTheirPackedForm)
{
    char *text = NULL, unpacked[64];
    size_t textSize = 0, packedSize = 0;
    pcNumbers numbers = {0};
    pcJson json = {open_memstream(&text, &textSize), false};
    int8_t* small = pcNumbersAdd(&numbers, &json, PC_NUMBER_I8, 3);
    PC_ASSERT_TRUE(small);
    small[2] = -7;
    float* large = pcNumbersAdd(&numbers, &json, PC_NUMBER_F32, 2);
    PC_ASSERT_TRUE(large);
    large[1] = 0.25f;
    fclose(json.file);
    PC_EXPECT_EQ_STR("[\"i8\",0,3],[\"f32\",4,2]", text);
    unsigned char* packed = pcNumbersPack(&numbers, &packedSize);
    PC_ASSERT_TRUE(packed);
    uLongf size = sizeof unpacked;
    PC_EXPECT_TRUE(uncompress((unsigned char*)unpacked, &size, packed, packedSize) == Z_OK && size == 12);
    PC_EXPECT_TRUE(unpacked[2] == -7 && memcmp(unpacked + 8, &(float){0.25f}, 4) == 0);
    free(packed), free(text), pcNumbersFree(&numbers);
}

PC_TEST(ReportFacts, QuoteACommandAsAShellNeedsIt)
{
    char text[256], small[16];
    char* argv[] = {"a b.world", "--mu=0.3", "it's", ""};
    pcPageCommand(text, sizeof text, "run", 4, argv);
    PC_EXPECT_EQ_STR("pcontact run 'a b.world' --mu=0.3 'it'\\''s' ''", text);
    pcPageCommand(small, sizeof small, "run", 4, argv); /* too long: cut, not overrun */
    PC_EXPECT_TRUE(strlen(small) < sizeof small && strncmp(small, "pcontact run", 12) == 0);
}

/* ---- recordings ---- */

#define BODY(name, x, z, shape)                                                                                     \
    "<model name='" name "'><pose>" x " 0 " z " 0 0 0</pose><link name='body'><collision name='c'><geometry>" shape \
    "</geometry></collision></link></model>"
#define FLOOR                                                                                                                             \
    "<model name='floor'><static>1</static><link name='l'><collision name='c'><geometry><plane><normal>0 0 1</normal></plane></geometry>" \
    "</collision></link></model>"

static pcStage* boxAndBall(const char* settings)
{
    return sdfStage(sdfWorld("1.6", "%s%s%s", FLOOR, BODY("box", "0", "0.5", "<box><size>1 1 1</size></box>"),
                             BODY("ball", "3", "0.5", "<sphere><radius>0.5</radius></sphere>")),
                    settings);
}

/* Steps of 0.01, recorded; the scene is that of a text of its own, since a stage does not give away its own. */
static void record(pcRecording* r, pcStage* stage, const pcScene* scene, int steps)
{
    PC_ASSERT_STATUS(PC_OK, pcRecordingBegin(r, scene, stage, 0.01, steps));
    for (int i = 0; i < steps; i++) {
        PC_ASSERT_STATUS(PC_OK, pcStageStep(stage, 0.01));
        pcRecordingStep(r, stage);
    }
    PC_ASSERT_STATUS(PC_OK, pcRecordingStatus(r));
}

static int kindsOf(const pcFrame* frame, int body, int kind)
{
    int count = 0;
    for (int i = 0; i < frame->contacts; i++) {
        const pcFrameContact* c = frame->contact + i;
        count += (c->body[0] == body || c->body[1] == body) && c->kind == kind;
    }
    return count;
}

static pcScene* sceneOf(void)
{
    pcScene* scene = NULL;
    sdfRead(sdfWorld("1.6", "%s%s%s", FLOOR, BODY("box", "0", "0.5", "<box><size>1 1 1</size></box>"),
                     BODY("ball", "3", "0.5", "<sphere><radius>0.5</radius></sphere>")),
            &scene);
    return scene;
}

PC_TEST(ReportRecording, HasEveryStepItsBodiesAndWhatTheirContactsAre)
{
    pcRecording ours = {.name = "lcp"}, native = {.name = "native"};
    pcStage *first = boxAndBall("model=lcp"), *second = boxAndBall("model=native");
    pcScene* scene = sceneOf();
    PC_ASSERT_TRUE(first && second && scene);
    record(&ours, first, scene, 20);
    record(&native, second, scene, 20);
    PC_EXPECT_TRUE(ours.frames == 21 && ours.stride == 1 && ours.taken == 20 && ours.bodies == 2);
    PC_EXPECT_EQ_STR("box::body", ours.bodyName[0]);
    PC_EXPECT_NEAR(3.0, (double)ours.frame[20].body[1].position[0], 1e-6);
    PC_EXPECT_TRUE(ours.frame[20].body[0].quaternion[3] == 32767);
    PC_EXPECT_TRUE(ours.frame[0].contacts == 0);
    PC_EXPECT_TRUE(kindsOf(ours.frame + 20, 0, PC_CORNER_FACE) == 4);
    PC_EXPECT_TRUE(kindsOf(ours.frame + 20, 1, PC_SMOOTH) == 1);
    PC_EXPECT_TRUE(kindsOf(native.frame + 20, 0, -1) >= 3);
    PC_EXPECT_TRUE(isnan(native.series[PC_SERIES_RESIDUAL][5]) && ours.series[PC_SERIES_RESIDUAL][5] < 1e-8f);
    pcRecordingFree(&ours), pcRecordingFree(&native), pcStageFree(first), pcStageFree(second), pcSceneFree(scene);
}

PC_TEST(ReportRecording, KeepsTheBeginningAndTheEndWhenThinned)
{
    pcRecording r = {.name = "lcp"};
    pcStage* stage = boxAndBall("model=lcp");
    pcScene* scene = sceneOf();
    PC_ASSERT_TRUE(stage && scene);
    record(&r, stage, scene, 21);
    pcRecordingThin(&r);
    pcRecordingThin(&r);
    static const int wanted[] = {0, 4, 8, 12, 16, 20, 21};
    PC_ASSERT_TRUE(r.frames == 7 && r.stride == 4);
    for (int i = 0; i < 7; i++) PC_EXPECT_TRUE(r.frame[i].step == wanted[i]);
    pcRecordingFree(&r), pcStageFree(stage), pcSceneFree(scene);
}

/* ---- pages ---- */

static char* readFile(const char* name, size_t* size)
{
    FILE* file = fopen(name, "rb");
    char* text = NULL;
    *size = 0;
    if (!file) return NULL;
    fseek(file, 0, SEEK_END);
    long length = ftell(file);
    rewind(file);
    text = calloc(1, (size_t)length + 1);
    if (text) *size = fread(text, 1, (size_t)length, file);
    fclose(file);
    return text;
}

PC_TEST(ReportPage, HoldsNamesAsTextOnly)
{
    char name[] = "pcontact_page_XXXXXX";
    static const char* const note[] = {"<img src=x onerror=alert(1)>"};
    pcPageFact fact = {"world", "</script><script>alert(2)</script>"};
    pcPage page = {
        .title = "<script>alert(3)</script>", .subtitle = "", .command = "pcontact", .facts = 1, .fact = &fact, .notes = 1, .note = note};
    pcPageFile* file;
    size_t size;
    if (pcPageAvailable() != PC_OK) PC_SKIP(pcLastError());
    int descriptor = mkstemp(name);
    PC_ASSERT_TRUE(descriptor >= 0);
    close(descriptor);
    PC_ASSERT_STATUS(PC_OK, pcPageBegin(name, &file));
    PC_ASSERT_STATUS(PC_OK, pcPageWrite(file, &page));
    char* text = readFile(name, &size);
    PC_ASSERT_TRUE(text);
    PC_EXPECT_TRUE(!strstr(text, "<script>alert") && !strstr(text, "<img src=x") && strstr(text, "\\u003cscript\\u003ealert(3)"));
    PC_EXPECT_TRUE(strstr(text, "connect-src 'none'"));
    free(text);
    remove(name);
}

PC_TEST(ReportPage, OfALongRunIsThinnedToItsLimitAndSaysSo)
{
    enum { STEPS = 9000 };
    char *bodies = malloc(50 * 400), name[] = "pcontact_page_XXXXXX";
    int length = 0;
    if (pcPageAvailable() != PC_OK) PC_SKIP(pcLastError());
    for (int i = 0; i < 50; i++)
        length += sprintf(bodies + length, BODY("b%d", "%d", "0.5", "<box><size>0.5 0.5 0.5</size></box>"), i, 2 * i);
    pcScene* scene = NULL;
    PC_ASSERT_STATUS(PC_OK, sdfRead(sdfWorld("1.6", "%s", bodies), &scene));
    pcStage* stage = sdfStage(sdfWorld("1.6", "%s", bodies), "model=native");
    PC_ASSERT_TRUE(stage);
    pcRecording r = {.name = "native"};
    record(&r, stage, scene, 1);
    pcRecordingFree(&r);
    PC_ASSERT_STATUS(PC_OK, pcRecordingBegin(&r, scene, stage, 0.01, STEPS));
    for (int step = 0; step < STEPS; step++) { /* places without any order pack worst */
        for (int i = 0; i < 50; i++) dBodySetPosition(stage->body[i].body, sin(step * 7.1 + i), sin(step * 3.3 + i), cos(step * 5.7 - i));
        pcRecordingStep(&r, stage);
    }
    PC_ASSERT_STATUS(PC_OK, pcRecordingStatus(&r));
    int descriptor = mkstemp(name);
    close(descriptor);
    pcPageFile* file;
    size_t size;
    pcPage page = {.title = "long", .subtitle = "", .command = "pcontact", .recordings = 1, .recording = &r};
    PC_ASSERT_STATUS(PC_OK, pcPageBegin(name, &file));
    PC_ASSERT_STATUS(PC_OK, pcPageWrite(file, &page));
    char* text = readFile(name, &size);
    PC_EXPECT_TRUE(text && size < PC_PAGE_MOST && size > PC_PAGE_MOST / 4 && r.stride > 1 && r.frames > 500);
    PC_EXPECT_TRUE(text && strstr(text, "steps one in "));
    free(text), free(bodies), remove(name);
    pcRecordingFree(&r), pcStageFree(stage), pcSceneFree(scene);
}

PC_TEST(ReportPage, ThatCannotBeWrittenIsRefusedBeforeAnythingRuns)
{
    pcPageFile* file = NULL;
    if (pcPageAvailable() != PC_OK) PC_SKIP(pcLastError());
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcPageBegin("no-such-folder/page.html", &file));
    PC_EXPECT_TRUE(file == NULL && strstr(pcLastError(), "no-such-folder/page.html"));
}

PC_TEST(ReportPage, ThatIsDroppedLeavesNothing)
{
    pcPageFile* file = NULL;
    if (pcPageAvailable() != PC_OK) PC_SKIP(pcLastError());
    PC_ASSERT_STATUS(PC_OK, pcPageBegin("pcontact_dropped.html", &file));
    PC_EXPECT_TRUE(access("pcontact_dropped.html.part", F_OK) == 0);
    pcPageDrop(file);
    PC_EXPECT_TRUE(access("pcontact_dropped.html.part", F_OK) != 0 && access("pcontact_dropped.html", F_OK) != 0);
}
