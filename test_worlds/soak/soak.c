/*
 * Long runs, watched: does memory, infeasibility or anything else grow?
 *
 *   pcontact_soak WORLD SECONDS [SETTINGS]      plays a world file for so long
 *   pcontact_soak WORLD SHAKES shakes [SETTINGS]  likewise, a world that is shaken, by its shakes
 *   pcontact_soak random STEPS [SEED [SETTINGS]]   worlds in which everything comes and goes
 *
 * SETTINGS may name a dump=FOLDER. Ends with 1 if a step failed, if what is held grew by more than MOST_GROWTH in the second half of the run (between
 * random worlds: since its first tenth) although no step was larger than those before, if more than MOST_LEFT is left of a world that is gone, or if a step of a world file had to be native; random worlds hold bodies in each other and joints that contradict each other, so some of theirs have to.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "adapters/sdf/stage.h"
#include "test_worlds/soak/random_world.h"
#include "test_worlds/soak/tally.h"

enum {
    MOST_GROWTH = 1024,
    MOST_LEFT = 256 /* KB */,
    STORY = 250 /* steps of one random world */,
    MOST_LENGTH = 100 /* m: it is 20 m wide */
};

/* tame: no step has to be native. lasting: one world from the first step to the last, which holds what its largest step took. */
static int verdict(const Tally* tally, long failed, bool tame, bool lasting)
{
    const Tenth *first = tally->tenth, *middle = tally->tenth + TENTHS / 2 - 1, *last = tally->tenth + TENTHS - 1;
    long native = tallyNative(tally), growth = tallyGrowth(tally);
    printf("%ld steps: %ld failed, %ld had to be native, %ld missed the tolerance\n", tally->steps, failed, native, tallyMissed(tally));
    printf("RSS %.1f MB before, %.1f after a tenth, %.1f at the end; growth of what is held: %+ld KB\n", (double)tally->before / 1024.0,
           (double)first->resident / 1024.0, (double)last->resident / 1024.0, growth);
    if (native > 0) printf("last reason: %s\n", tally->reason);
    bool larger = last->rows > middle->rows; /* steps: buffers that keep the room of the largest */
    return failed > 0 || (tame && native > 0) || (growth > MOST_GROWTH && !(lasting && larger));
}

static int refuse(const char* what)
{
    fprintf(stderr, "pcontact_soak: %s.\n", what);
    return 2;
}

/* ---- a world file ---- */

static bool allFinite(const pcStage* stage)
{
    bool finite = true;
    for (int i = 0; i < stage->bodies; i++)
        for (int k = 0; k < 3; k++) finite &= isfinite(dBodyGetPosition(stage->body[i].body)[k]) != 0;
    return finite;
}

static int playStage(pcStage* stage, double seconds)
{
    Tally tally = tallyBegin(lround(seconds / stage->step));
    long failed = 0;
    while (tally.steps < tally.all && failed == 0) {
        failed += pcStageStep(stage, stage->step) != PC_OK || !allFinite(stage);
        tallyStep(&tally, stage->world);
        tallyNext(&tally);
    }
    if (failed) printf("step %ld: %s\n", tally.steps, pcLastError());
    return verdict(&tally, failed, true, true);
}

/* What a world holds while it lives grows with its largest step; what is left of it when it is gone is a leak. */
static int play(const char* file, double amount, bool shakes, const char* text)
{
    long before = tallyHeldBare();
    pcScene* scene = NULL;
    pcStage* stage = NULL;
    int code = 2;
    if (pcSceneRead(file, &scene) == PC_OK && pcStageMake(scene, &stage) == PC_OK) {
        pcSettings settings = stage->settings;
        double seconds = shakes ? amount / scene->physics.shakeFrequency : amount;
        if (pcSettingsParse(&settings, text) == PC_OK && pcStageAttach(stage, &settings) == PC_OK && seconds / stage->step >= TENTHS)
            code = playStage(stage, seconds);
    }
    if (code == 2) refuse(pcLastError());
    pcStageFree(stage);
    pcSceneFree(scene);
    long left = tallyHeldBare() - before;
    printf("left of the world when it is gone: %ld KB\n", left);
    return code == 0 && left > MOST_LEFT ? 1 : code;
}

/* ---- random worlds ---- */

static void keepQuiet(int number, const char* text, va_list arguments) { (void)number, (void)text, (void)arguments; }

/* Where it was when ODE ended the program. */
static struct {
    unsigned long long story;
    int step;
    const RandomWorld* world;
} at;

static void sayWhere(int number, const char* text, va_list arguments)
{
    printf("story %llu, step %d (%s): ODE's error %d: ", at.story, at.step, at.world->attached, number);
    vprintf(text, arguments);
    printf("\n");
    fflush(stdout);
    abort();
}

static int playRandom(long steps, unsigned long long seed, const char* settings)
{
    long failed = 0, made = 0, destroyed = 0, normalless = 0, thrown = 0, thrownNatively = 0;
    dInitODE2(0);
    dSetDebugHandler(sayWhere);
    dSetMessageHandler(keepQuiet); /* ODE's own steps have something to say about bodies in each other */
    Tally tally = tallyBegin(steps);
    for (unsigned long long story = seed; tally.steps < steps; story++) {
        RandomWorld w;
        randomWorldBegin(&w, story * 0x9e3779b97f4a7c15ull, settings);
        for (int i = 0; i < STORY && tally.steps < steps; i++) {
            at.story = story, at.step = i, at.world = &w;
            pcStatus status = randomWorldStep(&w, 0.01);
            if (status != PC_OK || !randomWorldFinite(&w)) printf("story %llu, step %d: %s\n", story, i, pcLastError()), failed++;
            double length = tallyStep(&tally, w.world);
            if (length > MOST_LENGTH) printf("story %llu, step %d: bodies %.1e m deep in each other\n", story, i, length), failed++;
            tallyNext(&tally);
        }
        made += w.made, destroyed += w.destroyed;
        normalless += w.normalless, thrown += w.thrown, thrownNatively += w.thrownNatively;
        if (w.flown > 0) printf("story %llu: our steps threw %ld bodies\n", story, w.flown), failed++;
        randomWorldEnd(&w);
        tallyBetween(&tally);
    }
    dCloseODE();
    printf("%ld bodies, geoms and joints made, %ld destroyed within a step of others\n", made, destroyed);
    printf(
        "bodies thrown at more than 100 m/s or 200 rad/s: %ld by our steps, %ld by ODE's own; %ld contacts without a normal by dCollide\n",
        thrown, thrownNatively, normalless);
    tallyPrintBetween(&tally);
    return verdict(&tally, failed, false, steps <= STORY);
}

int main(int count, char** words)
{
    if (count < 3) return refuse("WORLD SECONDS, WORLD SHAKES shakes, or random STEPS [SEED], each with settings behind");
    double amount = strtod(words[2], NULL);
    if (!(amount >= 0.1 && amount < 1e9)) return refuse("that is no number of seconds, shakes or steps");
    if (strcmp(words[1], "random") == 0)
        return playRandom((long)amount < TENTHS ? TENTHS : (long)amount, count > 3 ? strtoull(words[3], NULL, 10) : 1,
                          count > 4 ? words[4] : "");
    bool shakes = count > 3 && strcmp(words[3], "shakes") == 0;
    return play(words[1], amount, shakes, count > 3 + shakes ? words[3 + shakes] : "");
}
