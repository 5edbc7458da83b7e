#define _GNU_SOURCE /* mkstemps, memmem */
#include "test_worlds/fuzz/sdf_mutate.h"

#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/sdf/stage.h"

static unsigned long long next(SdfMutation* m)
{
    m->state ^= m->state << 13, m->state ^= m->state >> 7, m->state ^= m->state << 17;
    return m->state;
}

static size_t below(SdfMutation* m, size_t limit) { return limit > 0 ? (size_t)(next(m) % limit) : 0; }

static char* readAll(const char* name)
{
    FILE* file = fopen(name, "rb");
    char* text = calloc(1, 1 << 20);
    size_t length = file && text ? fread(text, 1, (1 << 20) - 1, file) : 0;
    if (file) fclose(file);
    if (text) text[length] = 0;
    return text;
}

static void addSeeds(SdfMutation* m, const char* folder, const char* inner)
{
    char pattern[600];
    glob_t found;
    snprintf(pattern, sizeof pattern, "%s/%s/*.world", folder, inner);
    if (glob(pattern, 0, NULL, &found) != 0) return;
    for (size_t i = 0; i < found.gl_pathc && m->seeds < SDF_MOST_SEEDS; i++) m->seed[m->seeds++] = readAll(found.gl_pathv[i]);
    globfree(&found);
}

SdfMutation sdfMutationBegin(const char* folder, unsigned long long seed)
{
    SdfMutation m = {.state = seed * 0x9e3779b97f4a7c15ull + 1};
    char models[1200];
    addSeeds(&m, folder, "peers");
    m.foreign = m.seeds;
    addSeeds(&m, folder, "fuzz/seeds");
    snprintf(models, sizeof models, "%s/peers/models:%s/papers", folder, folder);
    setenv("PCONTACT_MODELS", models, 1);
    strcpy(m.file, "/tmp/pcontact_fuzz_XXXXXX.world");
    int file = mkstemps(m.file, 6);
    if (file >= 0) close(file);
    return m;
}

void sdfMutationEnd(SdfMutation* m)
{
    for (int i = 0; i < m->seeds; i++) free(m->seed[i]);
    unlink(m->file);
    unsetenv("PCONTACT_MODELS");
}

/* ---- damage ---- */

static const char* const words[] = {"nan",
                                    "-1",
                                    "0",
                                    "1e308",
                                    "-1e-320",
                                    "inf",
                                    "",
                                    "1 2",
                                    "world",
                                    "__model__",
                                    "<link name='x'/>",
                                    "<pose>1 2 3 4 5 6</pose>",
                                    "<!--",
                                    "]]>",
                                    "&amp;",
                                    "<model name='q'>",
                                    "</model>",
                                    "<joint name='z' type='ball'>",
                                    "true",
                                    "1e9",
                                    "1e-9",
                                    "0x7fffffff"};

static const char* const values[] = {"0", "1", "-1", "0.5", "2", "3", "1e-9", "1e9", "100", "0.001", "-0.1", "1e-3", "10", "1e6"};

/* Puts `with` in place of text[from .. from + length). */
static void replace(char* text, size_t room, size_t from, size_t length, const char* with)
{
    size_t all = strlen(text), more = strlen(with);
    if (from + length > all || all - length + more + 1 > room) return;
    memmove(text + from + more, text + from + length, all - from - length + 1);
    memcpy(text + from, with, more);
}

/* The text between a '>' and the next '<', somewhere after `from`. */
static bool contentAfter(const char* text, size_t from, size_t* at, size_t* length)
{
    const char* open = strchr(text + from, '>');
    if (!open) return false;
    *at = (size_t)(open + 1 - text), *length = strcspn(open + 1, "<");
    return true;
}

static void damage(SdfMutation* m, char* text, size_t room)
{
    size_t all = strlen(text), from = below(m, all), at, length;
    bool mild = below(m, 4) > 0; /* most files should still be read */
    const char* word = mild ? values[below(m, sizeof values / sizeof *values)] : words[below(m, sizeof words / sizeof *words)];
    char byte[2] = {(char)(1 + below(m, 255)), 0};
    switch (mild ? 4 : below(m, 6)) {
    case 0: replace(text, room, from, 1, byte); break;
    case 1: replace(text, room, from, 0, word); break;
    case 2: replace(text, room, from, below(m, 40) % (all - from + 1), ""); break;
    case 3: {
        char part[256] = {0};
        size_t size = below(m, sizeof part - 1);
        strncpy(part, text + below(m, all), size);
        replace(text, room, from, 0, part);
        break;
    }
    default:
        for (int tries = 0; tries < 8 && contentAfter(text, from, &at, &length); tries++, from = at)
            if (length > 0 && text[at + strspn(text + at, " \n\t\r")] != '<') {
                size_t blank = strspn(text + at, " \n\t\r"), size = strcspn(text + at + blank, " \n\t\r<");
                replace(text, room, at + blank, mild ? size : length - blank, word);
                break;
            }
    }
}

/* ---- the run ---- */

static void stepAFew(SdfMutation* m, const pcScene* scene)
{
    static const char* const models[] = {"model=lcp", "model=lcp", "model=native", "model=quick"};
    pcStage* stage;
    if (pcStageMake(scene, &stage) != PC_OK) return;
    pcSettings settings = stage->settings;
    pcSettingsParse(&settings, models[below(m, sizeof models / sizeof *models)]);
    pcStageAttach(stage, &settings);
    for (int i = 0; i < 3; i++) m->stepped += pcStageStep(stage, stage->step) == PC_OK;
    pcStageFree(stage);
}

static bool isSentence(const char* text) { return strchr(text, ':') && !strchr(text, '\n') && strlen(text) > 10; }

void sdfMutationRun(SdfMutation* m)
{
    const size_t room = 1 << 20;
    char* text = malloc(room);
    pcScene* scene = NULL;
    if (!text || m->seeds == m->foreign) {
        free(text);
        return;
    }
    bool own = m->foreign == 0 || below(m, 2) == 0; /* there are fewer of ours, but they have more in them */
    size_t from = own ? (size_t)m->foreign : 0, count = (size_t)m->seeds - from;
    snprintf(text, room, "%s", m->seed[from + below(m, own ? count : (size_t)m->foreign)]);
    for (size_t i = 0, times = 1 + below(m, 3); i < times && *text; i++) damage(m, text, room);
    FILE* file = fopen(m->file, "wb");
    if (file) {
        fwrite(text, 1, strlen(text), file);
        fclose(file);
    }
    free(text);
    m->runs++;
    if (pcSceneRead(m->file, &scene) != PC_OK) {
        m->refused++;
        if (!isSentence(pcLastError())) printf("no sentence: %s\n", pcLastError()), m->badSentences++;
        return;
    }
    m->read++;
    stepAFew(m, scene);
    pcSceneFree(scene);
}
