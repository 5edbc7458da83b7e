/* A settings text: what is read can be printed and read back to the same; what is refused changes nothing. */
#include "pcontact/settings.h"

#include "test_worlds/fuzz/targets/target.h"

enum { ROOM = 4096 };

static void requireSame(const pcSettings* a, const pcSettings* b)
{
    char one[ROOM], other[ROOM];
    REQUIRE(pcSettingsPrint(a, one, ROOM) < ROOM && pcSettingsPrint(b, other, ROOM) < ROOM, "a text too long");
    REQUIRE(strcmp(one, other) == 0, "'%s' and '%s'", one, other);
    REQUIRE(memcmp(&a->tolerance, &b->tolerance, sizeof a->tolerance) == 0 && a->model == b->model && a->shadow == b->shadow, "'%s'", one);
}

static void requireRoundTrip(const pcSettings* settings)
{
    char text[ROOM], shorter[8];
    pcSettings back = pcDefaultSettings();
    int length = pcSettingsPrint(settings, text, ROOM);
    REQUIRE(length == (int)strlen(text), "%d of '%s'", length, text);
    REQUIRE(pcSettingsPrint(settings, shorter, sizeof shorter) == length && strncmp(shorter, text, strlen(shorter)) == 0, "'%s'", shorter);
    REQUIRE(pcSettingsParse(&back, text) == PC_OK, "'%s': %s", text, pcLastError());
    requireSame(settings, &back);
}

/* Two texts in turn are the same as both in one. */
static void requireInTurn(const char* text)
{
    pcSettings turn = pcDefaultSettings(), once = turn;
    char both[2 * ROOM];
    const char* second = "gamma=0.25 model=convex";
    if (pcSettingsParse(&turn, text) != PC_OK || pcSettingsParse(&turn, second) != PC_OK) return;
    snprintf(both, sizeof both, "%s %s", text, second);
    REQUIRE(pcSettingsParse(&once, both) == PC_OK, "'%s': %s", both, pcLastError());
    requireSame(&turn, &once);
}

int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size)
{
    char text[ROOM];
    if (size >= ROOM) return 0;
    memcpy(text, data, size);
    text[size] = 0;
    pcSettings settings = pcDefaultSettings(), before = settings;
    pcStatus status = pcSettingsParse(&settings, text);
    if (status != PC_OK) {
        requireRefusal(status);
        REQUIRE(memcmp(&settings, &before, sizeof settings) == 0, "settings of '%s' have changed", text);
        return 0;
    }
    requireRoundTrip(&settings);
    requireInTurn(text);
    return 0;
}
