/* States as a file: a run goes on where another one ended, or was stopped. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adapters/cli/play.h"
#include "adapters/gtest/pctest.h"

#define WORLD PCONTACT_TEST_WORLDS "/papers/dice3.world"
/* Contacts begin without their impulses: answers differ within their tolerance of 1e-10, in each of up to ten steps, and a cube on its edge falls ever
 * faster. */
#define WITHIN 1e-8

typedef struct End {
    double time, number[26]; /* x, q, v and w of two bodies */
    int frames;
} End;

static void look(void* context, const pcStage* stage, double time)
{
    End* end = context;
    end->time = time, end->frames++;
    for (int i = 0; i < stage->bodies && i < 2; i++) {
        dBodyID body = stage->body[i].body;
        memcpy(end->number + 13 * i, dBodyGetPosition(body), 3 * sizeof(double));
        memcpy(end->number + 13 * i + 3, dBodyGetQuaternion(body), 4 * sizeof(double));
        memcpy(end->number + 13 * i + 7, dBodyGetLinearVel(body), 3 * sizeof(double));
        memcpy(end->number + 13 * i + 10, dBodyGetAngularVel(body), 3 * sizeof(double));
    }
}

static pcStatus play(const char* world, double time, const char* csv, const char* from, pcPlayed* played, End* end)
{
    *end = (End){.time = NAN};
    pcPlayPlan plan = {.file = world, .settings = "", .time = time, .csv = csv, .from = from, .frame = look, .context = end};
    return pcPlay(&plan, played);
}

static void expectSame(const End* a, const End* b, double within)
{
    PC_EXPECT_NEAR(a->time, b->time, 1e-12);
    for (int i = 0; i < 26; i++) PC_EXPECT_NEAR(a->number[i], b->number[i], within);
}

PC_TEST(States, RunGoesOnWhereAnotherEnded)
{
    pcPlayed played;
    End whole, half, rest;
    PC_ASSERT_STATUS(PC_OK, play(WORLD, 0.3, NULL, NULL, &played, &whole));
    PC_ASSERT_STATUS(PC_OK, play(WORLD, 0.2, "states_half", NULL, &played, &half));
    PC_ASSERT_STATUS(PC_OK, play(WORLD, 0.3, "states_rest", "states_half.states.csv", &played, &rest));
    PC_EXPECT_EQ_INT(10, played.steps);
    expectSame(&whole, &rest, WITHIN);

    FILE* states = fopen("states_rest.states.csv", "r"); /* the file begins with where it goes on from */
    char line[1024] = "";
    double time = NAN, x = NAN;
    PC_ASSERT_TRUE(states && fgets(line, sizeof line, states) && fgets(line, sizeof line, states));
    fclose(states);
    const char* number = strchr(strchr(line, ',') + 1, ',');
    PC_EXPECT_TRUE(sscanf(line, "%lf", &time) == 1 && sscanf(number, ",%lf", &x) == 1);
    PC_EXPECT_TRUE(fabs(time - 0.2) < 1e-12 && x == half.number[0]);
    remove("states_half.states.csv"), remove("states_half.steps.csv"), remove("states_rest.states.csv"), remove("states_rest.steps.csv");
}

PC_TEST(States, WhatWasStoppedInTheMiddleOfALineGoesOnFromTheLastWholeState)
{
    pcPlayed played;
    End end, rest;
    PC_ASSERT_STATUS(PC_OK, play(WORLD, 0.1, "states_torn", NULL, &played, &end));
    FILE* file = fopen("states_torn.states.csv", "r");
    PC_ASSERT_TRUE(file && fseek(file, 0, SEEK_END) == 0);
    long size = ftell(file);
    fclose(file);
    PC_ASSERT_TRUE(truncate("states_torn.states.csv", size - 20) == 0);
    PC_ASSERT_STATUS(PC_OK, play(WORLD, 0.1, NULL, "states_torn.states.csv", &played, &rest));
    PC_EXPECT_EQ_INT(1, played.steps);
    expectSame(&end, &rest, WITHIN);
    remove("states_torn.states.csv"), remove("states_torn.steps.csv");
}

PC_TEST(States, WhatIsNoneIsRefusedWithASentence)
{
    pcPlayed played;
    End end;
    PC_ASSERT_STATUS(PC_OK, play(WORLD, 0.05, "states_kept", NULL, &played, &end));
    static const char states[] = "states_kept.states.csv";
    struct {
        const char *world, *from, *csv, *says;
        double time;
    } cases[] = {
        {WORLD, "no_such.states.csv", NULL, "cannot be read", 1.0},
        {WORLD, WORLD, NULL, "is no file of states", 1.0},
        {PCONTACT_TEST_WORLDS "/papers/setup6.world", states, NULL, "states_kept.states.csv:2: this is no state of", 1.0},
        {WORLD, states, NULL, "nothing is left of the 0.05 s", 0.05},
        {WORLD, states, "states_kept", "would be lost", 1.0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        PC_CASE("%s", cases[i].says);
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, play(cases[i].world, cases[i].time, cases[i].csv, cases[i].from, &played, &end));
        PC_EXPECT_TRUE(strstr(pcLastError(), cases[i].says) != NULL);
        PC_EXPECT_EQ_INT(0, end.frames);
    }
    PC_EXPECT_STATUS(PC_OK, play(WORLD, 0.1, NULL, states, &played, &end)); /* it is all still there, … */
    PC_EXPECT_TRUE(access("states_kept.steps.2.csv", F_OK) != 0);           /* … and nothing was written beside it */
    remove(states), remove("states_kept.steps.csv");
}
