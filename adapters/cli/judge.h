/*
 * How well contacts keep their law after a step, whoever took it: from the bodies' velocities and from what the contacts did. It shares no
 * line with any solver. With u the velocity of body 2 against body 1 at the contact, what it
 * yields by softness and slip included, c the impulse, w = 1/m_1 + 1/m_2:
 *
 *     natural map    z = c - P(c - u~ / w),    u~ = u - target n + mu |u_t| n,    P the projection on the friction cone
 *     law            w |z| / (velocity scale of the step)
 *     cone excess    (|c_t| - mu c_n) / (largest c_n of the step)
 *     momentum       |M dv - h F - sum c| / (h M |g|): of all bodies together
 */
#ifndef PC_CLI_JUDGE_H
#define PC_CLI_JUDGE_H

#include <stdbool.h>

#include "adapters/sdf/stage.h"

typedef struct pcJudge {
    int room;
    pcWorldContact* contact;
    int anchors; /* joints that hold a body to the world: their forces come from outside */
    dJointFeedback* anchor;
    bool damped; /* some body loses momentum by itself: then momentum cannot be judged */
    double mass; /* of all that moves */
    double before[3], fastest;
    double* place; /* of the bodies before the step, three numbers each; their data points there */
} pcJudge;

/* NaN: there was nothing to judge. */
typedef struct pcLawVerdict {
    double law, coneExcess, momentum;
} pcLawVerdict;

pcStatus pcJudgeBegin(pcJudge* judge, const pcStage* stage); /* once */
void pcJudgeBefore(pcJudge* judge, const pcStage* stage);    /* each step */
pcLawVerdict pcJudgeAfter(pcJudge* judge, const pcStage* stage, double h);
void pcJudgeEnd(pcJudge* judge);

#endif
