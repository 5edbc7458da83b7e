/*
 * What a page shows of one run: where bodies were, what contacts did, what each step had to say. Whoever plays a world tells a recording of
 * every step; it keeps frames within a limit of memory, of long runs every second, fourth, … step.
 */
#ifndef PC_REPORT_RECORDING_H
#define PC_REPORT_RECORDING_H

#include <stdint.h>

#include "adapters/sdf/stage.h"

typedef struct pcFrameBody {
    float position[3];
    int16_t quaternion[4]; /* x y z w, by 32767 */
    float velocity[6];     /* and spin; to four digits: what nobody reads would not pack */
} pcFrameBody;

typedef struct pcFrameContact {
    int body[2]; /* of the stage; -1: fixed */
    int kind;    /* a pcEventKind; -1: none */
    float point[3], normal[3], impulse[3];
} pcFrameContact;

typedef struct pcFrame {
    int step; /* steps taken before it */
    int contacts;
    pcFrameBody* body;
    pcFrameContact* contact; /* of the step that led to it */
} pcFrame;

enum {
    PC_SERIES_CONTACT, /* infeasibility before the step, as a ratio */
    PC_SERIES_LENGTH,  /* likewise, as a length */
    PC_SERIES_JOINT,
    PC_SERIES_RESIDUAL,
    PC_SERIES_ENERGY,
    PC_SERIES_ITERATIONS,
    PC_SERIES_MS,
    PC_SERIES
};

typedef struct pcRecording {
    char name[64];
    double h;
    int steps, taken; /* planned, and so far */
    int stride;       /* every stride-th step is a frame, and the last */
    int bodies, frames;
    char (*bodyName)[128];
    pcFrame* frame;
    float* series[PC_SERIES]; /* one number per step; NaN: there is none */
    pcScene* scene;
    int* bodyOfLink;              /* of the scene; -1: it does not move */
    struct pcRecordedBody* known; /* bodies by address */
    int frameRoom, contactRoom;
    size_t bytes;            /* of all frames */
    pcWorldContact* contact; /* of the last step */
    bool failed;             /* out of memory */
} pcRecording;

/* The world as it stands before the first of `steps` steps of h. */
pcStatus pcRecordingBegin(pcRecording* recording, const pcScene* scene, const pcStage* stage, double h, int steps);

/* After each step. Out of memory is told of when it ends. */
void pcRecordingStep(pcRecording* recording, const pcStage* stage);
pcStatus pcRecordingStatus(const pcRecording* recording);

/* Drops every second frame. */
void pcRecordingThin(pcRecording* recording);

void pcRecordingFree(pcRecording* recording);

#endif
