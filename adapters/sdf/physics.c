/* <physics>: steps, ODE's parameters, and our settings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "adapters/sdf/reader.h"

enum { MOST_ITERATIONS = 1000000 };

void pcSdfDefaultPhysics(pcScenePhysics* p)
{
    *p = (pcScenePhysics){.gravity = {0, 0, -9.8}, .step = 0.001, .cfm = 0.0, .erp = 0.2, .fastest = NAN, .layer = NAN, .quick = true};
    p->iterations = 50, p->relaxation = 1.3, p->maxContacts = 20, p->seed = 1;
    p->settings = pcDefaultSettings();
}

void pcSdfGravity(pcSdfReader* r, const xmlNode* parent, double out[3])
{
    const double largest = 1e9;
    pcSdfVector(r, parent, "gravity", out);
    for (int k = 0; k < 3; k++)
        if (!(fabs(out[k]) <= largest))
            pcSdfFail(r, pcSdfChild(parent, "gravity"), "<gravity> is %g: beyond %g nothing is computed", out[k], largest);
}

static void readOde(pcSdfReader* r, const xmlNode* ode, pcScenePhysics* p)
{
    const xmlNode *solver = pcSdfChild(ode, "solver"), *constraints = pcSdfChild(ode, "constraints");
    const char* type = pcSdfText(r, pcSdfChild(solver, "type"));
    if (*type) p->quick = strcmp(type, "world") != 0;
    if (*type && strcmp(type, "world") != 0 && strcmp(type, "quick") != 0)
        pcSdfFail(r, pcSdfChild(solver, "type"), "the solver can be quick or world, not '%.60s'", type);
    p->step = pcSdfNumber(r, solver, "dt", p->step);
    p->iterations = pcSdfInteger(r, solver, "iters", p->iterations);
    p->relaxation = pcSdfNumber(r, solver, "sor", p->relaxation);
    p->cfm = pcSdfPositive(r, constraints, "cfm", p->cfm);
    p->erp = pcSdfWithin(r, constraints, "erp", (pcSdfRange){0.0, 1.0}, p->erp);
    p->fastest = pcSdfMost(r, constraints, "contact_max_correcting_vel", p->fastest);
    p->layer = pcSdfPositive(r, constraints, "contact_surface_layer", p->layer);
    if (!(p->relaxation > 0.0 && p->relaxation <= 2.0))
        pcSdfFail(r, pcSdfChild(solver, "sor"), "<sor> is %g; it must be > 0 and at most 2", p->relaxation);
    if (p->iterations < 1 || p->iterations > MOST_ITERATIONS)
        pcSdfFail(r, pcSdfChild(solver, "iters"), "<iters> is %d; it must be at least 1 and at most %d", p->iterations, MOST_ITERATIONS);
}

/* ---- our settings ---- */

static int planeOf(pcSdfReader* r, const xmlNode* node)
{
    static const char* const names[] = {"yz", "xz", "xy"};
    const char* text = pcSdfText(r, node);
    for (int k = 0; k < 3; k++)
        if (strcmp(text, names[k]) == 0) return 1 + k;
    pcSdfFail(r, node, "<planar> can be xy, xz or yz, not '%.60s'", text);
    return 0;
}

static void readSetting(pcSdfReader* r, const xmlNode* node, pcScenePhysics* p)
{
    char text[PC_PATH_LENGTH + 64];
    bool names = pcSdfIs(node, "report") || pcSdfIs(node, "dump"); /* files are overwritten only where the user says so */
    int length = snprintf(text, sizeof text, "%s=%s", node->name, pcSdfText(r, node));
    if (names)
        pcSdfFail(r, node, "<%s>: a world file cannot name files to write; use the option", node->name);
    else if (length >= (int)sizeof text)
        pcSdfFail(r, node, "<%.60s> is too long", node->name);
    else if (pcSettingsParse(&p->settings, text) != PC_OK)
        pcSdfFail(r, node, "%.300s", pcLastError());
}

static void readFrames(pcSdfReader* r, const xmlNode* node, pcScenePhysics* p)
{
    p->frame = pcSdfList(r, node, &p->frames);
    for (int i = 0; i < p->frames; i++)
        if (!(p->frame[i] >= (i > 0 ? p->frame[i - 1] : 0.0))) pcSdfFail(r, node, "<frames> must be times >= 0 that ascend");
}

static void readShake(pcSdfReader* r, const xmlNode* node, pcScenePhysics* p)
{
    double shake[2];
    if (!pcSdfNumbers(r, node, shake, 2)) return;
    if (!(shake[0] >= 0.0 && shake[0] <= 1e6 && shake[1] > 0.0 && shake[1] <= 1e6))
        pcSdfFail(r, node, "<shake> is %g %g: an amplitude >= 0 and a frequency > 0 are wanted, both at most 1e6", shake[0], shake[1]);
    p->shakeAmplitude = shake[0], p->shakeFrequency = shake[1];
}

static void readSeed(pcSdfReader* r, const xmlNode* own, pcScenePhysics* p)
{
    int seed = pcSdfInteger(r, own, "seed", 1);
    if (seed < 1) pcSdfFail(r, pcSdfChild(own, "seed"), "<seed> is %d; it must be a whole number >= 1", seed);
    p->seed = (unsigned)seed;
}

static void readSweep(pcSdfReader* r, const xmlNode* sweep, pcScenePhysics* p)
{
    int count = 0;
    for (const xmlNode* node = pcSdfFirst(sweep); node; node = pcSdfFollowing(node)) count++;
    p->option = pcSdfKeep(r, (size_t)count * sizeof *p->option + 1);
    p->options = 0;
    for (const xmlNode* node = pcSdfFirst(sweep); node && r->status == PC_OK; node = pcSdfFollowing(node)) {
        const char* name = pcSdfKeepText(r, (const char*)node->name, strlen((const char*)node->name));
        p->option[p->options++] = (pcSceneOption){name, pcSdfText(r, node), (int)xmlGetLineNo(node)};
    }
}

static void readOwn(pcSdfReader* r, const xmlNode* own, pcScenePhysics* p)
{
    for (const xmlNode* node = pcSdfFirst(own); node && r->status == PC_OK; node = pcSdfFollowing(node)) {
        if (pcSdfIs(node, "planar"))
            p->planar = planeOf(r, node);
        else if (pcSdfIs(node, "time"))
            p->time = pcSdfPositive(r, own, "time", 0.0);
        else if (pcSdfIs(node, "frames"))
            readFrames(r, node, p);
        else if (pcSdfIs(node, "shake"))
            readShake(r, node, p);
        else if (pcSdfIs(node, "seed"))
            readSeed(r, own, p);
        else if (pcSdfIs(node, "sweep"))
            readSweep(r, node, p);
        else
            readSetting(r, node, p);
    }
}

void pcSdfPhysics(pcSdfReader* r, const xmlNode* physics)
{
    static const char* const known[] = {"max_step_size",         "gravity",        "ode", "pcontact", "max_contacts", "real_time_factor",
                                        "real_time_update_rate", "magnetic_field", NULL};
    pcScenePhysics* p = &r->scene->physics;
    p->step = pcSdfNumber(r, physics, "max_step_size", p->step);
    pcSdfGravity(r, physics, p->gravity);
    p->maxContacts = pcSdfInteger(r, physics, "max_contacts", p->maxContacts);
    readOde(r, pcSdfChild(physics, "ode"), p);
    readOwn(r, pcSdfChild(physics, "pcontact"), p);
    pcSdfSkip(r, physics, known);
    if (p->shakeAmplitude > 0.0 && p->gravity[0] == 0.0 && p->gravity[1] == 0.0 && p->gravity[2] == 0.0)
        pcSdfFail(r, physics, "<shake> goes along gravity, and there is none");
    if (!(p->step >= 1e-9 && p->step <= 10.0)) pcSdfFail(r, physics, "the step is %g s; it must be at least 1e-9 and at most 10", p->step);
}
