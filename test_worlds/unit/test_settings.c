/* Settings as text: what is read, what is printed, what is refused and with which words. */
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/gtest/pctest.h"
#include "pcontact/system.h"
#include "stepper/settings.h"

static void expectText(const pcSettings* s, const char* expected)
{
    char text[1024];
    int length = pcSettingsPrint(s, text, (int)sizeof text);
    PC_EXPECT_EQ_STR(expected, text);
    PC_EXPECT_EQ_INT((int)strlen(expected), length);
}

PC_TEST(Settings, AreTheDefaultsOfTheHeader)
{
    pcSettings s = pcDefaultSettings();
    pcEventSettings e = pcDefaultEventSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsCheck(&s));
    PC_EXPECT_TRUE(s.model == PC_MODEL_LCP && s.solver == PC_SOLVER_AUTO && s.shadow == 0 && s.alignCone == 1 && s.coneEdges == 0);
    PC_EXPECT_TRUE(isnan(s.gamma) && isnan(s.mu2) && s.mu == 0.5 && s.tolerance == 1e-10 && s.threads == 1 && s.islands == 1 &&
                   s.fixedPoint == 1 && s.flight == PC_FLIGHT_END);
    PC_EXPECT_TRUE(s.epsX == e.epsX && s.epsT == e.epsT && s.eps0 == e.eps0);
    expectText(&s, "");
}

PC_TEST(Settings, ReadWhatTheyPrint)
{
    static const char* const texts[] = {
        "model=convex solver=lemke gamma=0.3",
        "model=shadow:lcp",
        "model=shadow:implicit gammaGap=paper gap=ratio coneEdges=8 alignCone=0",
        "narrowphase=euclid margin=0.1 layer=0.005 epsX=0.5 epsT=0.2 eps0=1e-07",
        "mu=inf mu2=0.25 bounce=1 restitution=poisson friction=coulomb flight=mean",
        "gamma=2 adaptiveGamma=1 implicitJoints=1 lookahead=1 tolerance=1e-12 threads=0 islands=0 fixedPoint=3 reportAfter=1",
        "gamma=0.30000000000000004",
        "report=steps.csv dump=\"my folder, here\"",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        PC_CASE("%s", texts[i]);
        pcSettings s = pcDefaultSettings();
        PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, texts[i]));
        PC_EXPECT_STATUS(PC_OK, pcSettingsCheck(&s));
        if (strncmp(texts[i], "model=shadow:lcp", 17) != 0) expectText(&s, texts[i]);
        pcSettings again = pcDefaultSettings();
        char text[1024], second[1024];
        pcSettingsPrint(&s, text, (int)sizeof text);
        PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&again, text));
        pcSettingsPrint(&again, second, (int)sizeof second);
        PC_EXPECT_EQ_STR(text, second);
    }
}

/* What people are told comes from the table that reads: a default reads back to itself, a choice is one of its words. */
PC_TEST(Settings, AreDescribedOneByOne)
{
    int count = 0;
    pcSettingDescription d;
    while (pcSettingDescribe(count, &d)) {
        char text[256];
        pcSettings s = pcDefaultSettings();
        PC_CASE("%s", d.name);
        PC_EXPECT_EQ_STR(pcSettingName(count), d.name);
        PC_EXPECT_TRUE(d.meaning && strlen(d.meaning) > 10 && strlen(d.meaning) < 140 && !strchr(d.meaning, '\n'));
        PC_EXPECT_TRUE(strlen(d.values) > 2 && strlen(d.values) + 1 < sizeof d.values && strlen(d.standard) + 1 < sizeof d.standard);
        snprintf(text, sizeof text, "%s=%s", d.name, strcmp(d.standard, "none") == 0 ? "" : d.standard);
        PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, text));
        expectText(&s, "");
        count++;
    }
    PC_EXPECT_TRUE(count >= 28 && pcSettingName(count) == NULL);
    PC_EXPECT_TRUE(!pcSettingDescribe(-1, &d));
}

PC_TEST(Settings, AcceptBlanksAndCommas)
{
    pcSettings s = pcDefaultSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, "  model=convex,gamma=1,\tmu=0.1\n"));
    PC_EXPECT_TRUE(s.model == PC_MODEL_CONVEX && s.gamma == 1.0 && s.mu == 0.1);
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, "gamma=unset mu2=unset"));
    PC_EXPECT_TRUE(isnan(s.gamma));
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, ""));
}

PC_TEST(Settings, LastWordWins)
{
    pcSettings s = pcDefaultSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, "model=shadow:lcp gamma=0.1 gamma=0.2 model=lcp"));
    PC_EXPECT_TRUE(s.gamma == 0.2 && s.shadow == 0);
}

typedef struct Mistake {
    const char *text, *words;
} Mistake;

PC_TEST(Settings, RefuseWithASentenceAndChangeNothing)
{
    static const Mistake mistakes[] = {
        {"mu=0.3 gama=0.3", "there is no setting 'gama': did you mean gamma?"},
        {"Model=lcp", "did you mean model? There are model solver"},
        {"gamma", "'gamma' is no setting: name=value is expected"},
        {"=3", "there is no setting ''"},
        {"gamma=3", "'gamma=3': gamma must be a number from 0 to 2, or unset"},
        {"gamma=-0.1", "gamma must be"},
        {"gamma=nan", "gamma must be"},
        {"gamma=", "gamma must be"},
        {"gamma=0.3x", "gamma must be"},
        {"gamma=0x1", "gamma must be"},
        {"mu=unset", "mu must be a number >= 0, or inf"},
        {"margin=inf", "margin must be a length >= 0"},
        {"model=lpc", "'model=lpc': model must be one of native quick lcp convex implicit"},
        {"model=shadow:", "model must be one of"},
        {"solver=shadow:lemke", "solver must be one of"},
        {"solver=lem", "solver must be one of"},
        {"coneEdges=5", "coneEdges must be 0, or an even number from 4"},
        {"coneEdges=2", "coneEdges must be"},
        {"coneEdges=4.5", "coneEdges must be"},
        {"threads=1e9", "threads must be a whole number from 0 to 256"},
        {"fixedPoint=0", "fixedPoint must be 1, 2 or 3"},
        {"tolerance=0", "tolerance must be"},
        {"dump=\"a b", "its quote has no end"},
    };
    for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
        PC_CASE("%s", mistakes[i].text);
        pcSettings s = pcDefaultSettings(), before = s;
        PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsParse(&s, mistakes[i].text));
        if (!strstr(pcLastError(), mistakes[i].words)) PC_FAIL("the sentence is: %s", pcLastError());
        PC_EXPECT_TRUE(memcmp(&s, &before, sizeof s) == 0);
    }
    pcSettings s = pcDefaultSettings();
    char longName[400] = "report=";
    memset(longName + 7, 'x', 300);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsParse(&s, longName));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsParse(&s, NULL));
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsParse(NULL, ""));
}

PC_TEST(Settings, AreCheckedWhereverTheyComeFrom)
{
    pcSettings raw;
    memset(&raw, 0, sizeof raw);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsCheck(&raw));
    PC_EXPECT_EQ_STR("settings must start from pcDefaultSettings()", pcLastError());
    pcSettings s = pcDefaultSettings();
    s.mu = -1;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsCheck(&s));
    PC_EXPECT_EQ_STR("setting mu is -1: it must be a number >= 0, or inf", pcLastError());
    s = pcDefaultSettings(), s.tolerance = (double)NAN;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsCheck(&s));
    s = pcDefaultSettings(), s.coneEdges = 3;
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsCheck(&s));
    int strange = 77;
    s = pcDefaultSettings(), memcpy(&s.solver, &strange, sizeof strange);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsCheck(&s));
    PC_EXPECT_TRUE(strstr(pcLastError(), "setting solver is 77: it must be one of auto") != NULL);
    s = pcDefaultSettings(), memset(s.report, 'x', sizeof s.report);
    PC_EXPECT_STATUS(PC_ERROR_ARGUMENT, pcSettingsCheck(&s));
}

PC_TEST(Settings, PrintIntoTooLittleRoom)
{
    pcSettings s = pcDefaultSettings();
    s.mu = 0.25;
    char text[5] = "????";
    PC_EXPECT_EQ_INT(7, pcSettingsPrint(&s, text, 5));
    PC_EXPECT_EQ_STR("mu=0", text);
    PC_EXPECT_EQ_INT(7, pcSettingsPrint(&s, NULL, 0));
}

/* A host program may have set a locale whose numbers are written with a comma. */
PC_TEST(Settings, ReadPointsInALocaleOfCommas)
{
    const char* locales[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"};
    char before[64];
    snprintf(before, sizeof before, "%s", setlocale(LC_NUMERIC, NULL));
    bool found = false;
    for (int i = 0; i < 3 && !found; i++) found = setlocale(LC_NUMERIC, locales[i]) != NULL;
    if (!found) PC_SKIP("no such locale is installed");
    pcSettings s = pcDefaultSettings();
    PC_EXPECT_STATUS(PC_OK, pcSettingsParse(&s, "gamma=0.25"));
    PC_EXPECT_TRUE(s.gamma == 0.25);
    expectText(&s, "gamma=0.25");
    setlocale(LC_NUMERIC, before);
}

PC_TEST(Settings, FillTheDefaultSurface)
{
    pcSettings s = pcDefaultSettings();
    s.mu = 0.7, s.mu2 = 0.1, s.bounce = 0.3;
    pcSurface surface = pcDefaultSurface(&s), plain = pcDefaultSurface(NULL);
    PC_EXPECT_TRUE(surface.mu == 0.7 && surface.mu2 == 0.1 && surface.bounce == 0.3 && surface.torsion == 0 && surface.forceLimit == 0);
    PC_EXPECT_TRUE(plain.mu == 0.5 && isnan(plain.mu2));
}
