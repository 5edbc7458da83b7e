/*
 * Every number of the seed files, one at a time, replaced by numbers at and beyond the ends of what makes sense: the file is refused with one
 * sentence that names the line, or its world takes a few steps under each model. ODE ends the program over what it cannot compute: so each
 * number is tried in a child process, which notes what it is about to do.
 */
#define _GNU_SOURCE /* mkstemps, MAP_ANONYMOUS */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adapters/gtest/pctest.h"
#include "adapters/sdf/stage.h"

static const char* const values[] = {"1e308", "-1e308", "1e-308", "1e16", "-1e16", "1e30", "1e-30", "0", "-1", "inf", "nan", "x"};
static const char* const models[] = {"model=lcp", "model=native", "model=quick"};
enum { VALUES = sizeof values / sizeof *values, MODELS = sizeof models / sizeof *models, STEPS = 5, LONGEST = 60 };

/* What parent and child share. */
typedef struct Progress {
    int value, read, refused, unsentenced;
    char model[32], sentence[300];
} Progress;

typedef struct Sweep {
    const char* text;
    char file[64];
    size_t at, length; /* of the number in the text */
    Progress* progress;
} Sweep;

/* ---- in the child ---- */

static bool isSentence(const Sweep* s, const char* text)
{
    size_t length = strlen(s->file);
    return strncmp(text, s->file, length) == 0 && text[length] == ':' && isdigit((unsigned char)text[length + 1]) && !strchr(text, '\n');
}

static void writeWith(const Sweep* s, const char* value)
{
    FILE* file = fopen(s->file, "w");
    if (!file) _exit(3);
    fprintf(file, "%.*s%s%s", (int)s->at, s->text, value, s->text + s->at + s->length);
    fclose(file);
}

static void stepUnder(const Sweep* s, const pcScene* scene, const char* model)
{
    pcStage* stage;
    strcpy(s->progress->model, model);
    if (pcStageMake(scene, &stage) != PC_OK) return;
    pcSettings settings = stage->settings;
    if (pcSettingsParse(&settings, model) == PC_OK && pcStageAttach(stage, &settings) == PC_OK)
        for (int i = 0; i < STEPS && pcStageStep(stage, stage->step) == PC_OK; i++) continue;
    pcStageFree(stage);
}

static void tryValue(const Sweep* s, const char* value)
{
    pcScene* scene;
    Progress* p = s->progress;
    strcpy(p->model, "reading");
    writeWith(s, value);
    if (pcSceneRead(s->file, &scene) != PC_OK) {
        p->refused++;
        if (isSentence(s, pcLastError())) return;
        p->unsentenced++;
        snprintf(p->sentence, sizeof p->sentence, "%s", pcLastError());
        return;
    }
    p->read++;
    for (int m = 0; m < MODELS; m++) stepUnder(s, scene, models[m]);
    pcSceneFree(scene);
}

static void tryAll(const Sweep* s)
{
    alarm(LONGEST);
    for (; s->progress->value < VALUES; s->progress->value++) tryValue(s, values[s->progress->value]);
    _exit(0);
}

/* ---- in the parent ---- */

static int lineOf(const Sweep* s)
{
    int line = 1;
    for (size_t i = 0; i < s->at; i++) line += s->text[i] == '\n';
    return line;
}

static void sweepNumber(const Sweep* s)
{
    Progress* p = s->progress;
    for (p->value = 0; p->value < VALUES; p->value++) {
        int status = 0;
        fflush(NULL);
        pid_t child = fork();
        if (child == 0) tryAll(s);
        if (child < 0 || waitpid(child, &status, 0) != child) {
            PC_FAIL("no child process");
            return;
        }
        if (status == 0) break;
        PC_FAIL("line %d, %s in place of %.*s: ended with %d in '%s'", lineOf(s), values[p->value], (int)s->length, s->text + s->at, status,
                p->model);
    }
    if (p->unsentenced > 0) PC_FAIL("line %d: no sentence with its line: %s", lineOf(s), p->sentence);
    p->unsentenced = 0;
}

/* The next word that is a number in the text of an element, from `from` on. */
static bool nextNumber(Sweep* s, size_t from)
{
    bool inside = true; /* of a text, not of a tag */
    for (const char* at = s->text + from; *at; at++) {
        if (*at == '<' || *at == '>') inside = *at == '>';
        bool begins = inside && strchr("> \n", at[0]) && at[1] && strchr("0123456789-.", at[1]);
        size_t length = begins ? strcspn(at + 1, " \n<") : 0;
        char* end = NULL;
        if (begins) strtod(at + 1, &end);
        if (!begins || end != at + 1 + length) continue;
        s->at = (size_t)(at + 1 - s->text), s->length = length;
        return true;
    }
    return false;
}

static char* readText(const char* name)
{
    char path[600], *text = calloc(1, 1 << 16);
    snprintf(path, sizeof path, PCONTACT_TEST_WORLDS "/fuzz/seeds/%s.world", name);
    FILE* file = fopen(path, "r");
    if (!file || !text || fread(text, 1, (1 << 16) - 1, file) == 0) PC_FAIL("cannot read %s", path);
    if (file) fclose(file);
    return text;
}

/* Under the sanitizers only a part of the numbers, from all over the file. */
static void sweepFile(const char* name, int leastNumbers)
{
    char* text = readText(name);
    Progress* progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    Sweep s = {.text = text, .file = "/tmp/pcontact_sweep_XXXXXX.world", .progress = progress};
    int file = mkstemps(s.file, 6), numbers = 0, every = *PCONTACT_SANITIZE ? 9 : 1;
    if (file >= 0) close(file);
    setenv("PCONTACT_MODELS", PCONTACT_TEST_WORLDS "/papers", 1);
    const char* body = strstr(text, "<sdf");
    PC_ASSERT_TRUE(body && progress != MAP_FAILED && file >= 0);
    for (size_t from = (size_t)(body - text); nextNumber(&s, from); from = s.at + s.length)
        if (numbers++ % every == 0) sweepNumber(&s);
    printf("%s: %d numbers, %d files read, %d refused\n", name, numbers, progress->read, progress->refused);
    PC_EXPECT_GT(numbers, leastNumbers);
    PC_EXPECT_GT(progress->read, 0);
    PC_EXPECT_GT(progress->refused, 0);
    unsetenv("PCONTACT_MODELS");
    unlink(s.file);
    munmap(progress, sizeof *progress);
    free(text);
}

PC_TEST(SdfSweep, NoNumberOfAJointEndsTheProgram) { sweepFile("joints", 200); }

PC_TEST(SdfSweep, NoNumberOfASurfaceShapeOrPhysicsEndsTheProgram) { sweepFile("surfaces", 200); }

PC_TEST(SdfSweep, NoNumberOfAFrameOrPopulationEndsTheProgram) { sweepFile("frames", 80); }
