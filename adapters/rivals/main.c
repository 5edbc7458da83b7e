/* The program around an engine (rival.h): reads the scene, plays it, writes what happens. */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "adapters/rivals/rival.h"

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

/* What is fixed may be shaken (scene.h): then gravity is. */
static void gravityAt(const pcScenePhysics* physics, double time, double out[3])
{
    double size = sqrt(physics->gravity[0] * physics->gravity[0] + physics->gravity[1] * physics->gravity[1] +
                       physics->gravity[2] * physics->gravity[2]);
    double turn = 2.0 * acos(-1.0) * physics->shakeFrequency;
    double part = size > 0.0 ? 1.0 - physics->shakeAmplitude * turn * turn * sin(turn * time) / size : 1.0;
    for (int k = 0; k < 3; k++) out[k] = part * physics->gravity[k];
}

static void writeStates(const pcScene* scene, const Rival* rival)
{
    for (int i = 0; i < scene->links; i++) {
        double state[PC_RIVAL_STATE];
        if (scene->link[i].fixed) continue;
        rivalState(rival, i, state);
        fwrite(state, sizeof *state, PC_RIVAL_STATE, stdout);
    }
}

int main(int argc, char** argv)
{
    pcScene* scene;
    if (argc != 4 || pcSceneRead(argv[1], &scene) != PC_OK) {
        fprintf(stderr, "%s\n", argc != 4 ? "Usage: WORLD STEP STEPS" : pcLastError());
        return 2;
    }
    double h = atof(argv[2]);
    int steps = atoi(argv[3]), moving = 0;
    Rival* rival = rivalMake(scene, h);
    if (!rival) return 1;
    for (int i = 0; i < scene->links; i++) moving += !scene->link[i].fixed;
    fwrite(&moving, sizeof moving, 1, stdout);
    for (int step = 0; step < steps && !ferror(stdout); step++) {
        double gravity[3], begun = now();
        gravityAt(&scene->physics, (step + 1) * h, gravity);
        rivalStep(rival, gravity);
        double ms = now() - begun;
        fwrite(&ms, sizeof ms, 1, stdout);
        writeStates(scene, rival);
        fflush(stdout);
    }
    return 0; /* all it has goes with the process */
}
