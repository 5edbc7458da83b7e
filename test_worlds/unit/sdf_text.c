#define _GNU_SOURCE /* mkstemps */
#include "test_worlds/unit/sdf_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "adapters/gtest/pctest.h"

pcStatus sdfRead(const char* text, pcScene** scene)
{
    char name[] = "/tmp/pcontact_XXXXXX.sdf";
    int file = mkstemps(name, 4);
    size_t length = strlen(text);
    *scene = NULL;
    if (file < 0 || write(file, text, length) != (ssize_t)length) PC_FAIL("cannot write %s", name);
    close(file);
    pcStatus status = pcSceneRead(name, scene);
    unlink(name);
    return status;
}

const char* sdfWorld(const char* version, const char* format, ...)
{
    static char text[65536];
    char inner[60000];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(inner, sizeof inner, format, arguments);
    va_end(arguments);
    snprintf(text, sizeof text, "<?xml version='1.0'?>\n<sdf version='%s'><world name='w'>\n%s\n</world></sdf>\n", version, inner);
    return text;
}

pcStage* sdfStage(const char* text, const char* settings)
{
    pcScene* scene;
    pcStage* stage = NULL;
    pcStatus status = sdfRead(text, &scene);
    if (status == PC_OK) status = pcStageMake(scene, &stage);
    pcSettings chosen = stage ? stage->settings : pcDefaultSettings();
    if (status == PC_OK) status = pcSettingsParse(&chosen, settings);
    if (status == PC_OK) status = pcStageAttach(stage, &chosen);
    pcSceneFree(scene);
    if (status == PC_OK) return stage;
    PC_FAIL("%s", pcLastError());
    pcStageFree(stage);
    return NULL;
}

void sdfRun(pcStage* stage, double seconds)
{
    int steps = (int)lround(seconds / stage->step);
    for (int i = 0; i < steps; i++)
        if (pcStageStep(stage, stage->step) != PC_OK) {
            PC_FAIL("step %d: %s", i, pcLastError());
            return;
        }
}

dBodyID sdfBody(const pcStage* stage, const char* name)
{
    for (int i = 0; i < stage->bodies; i++)
        if (strcmp(stage->body[i].name, name) == 0) return stage->body[i].body;
    PC_FAIL("there is no body %s", name);
    return NULL;
}

dJointID sdfJoint(const pcStage* stage, const char* name)
{
    for (int i = 0; i < stage->joints; i++)
        if (strcmp(stage->joint[i].name, name) == 0) return stage->joint[i].joint;
    PC_FAIL("there is no joint %s", name);
    return NULL;
}
