/* What contacts did in a native step: contact joints of a program's own are its business, those of a step that we set up are read here. */
#ifndef PC_ODE_TOUCHES_H
#define PC_ODE_TOUCHES_H

#include "adapters/ode/contacts.h"
#include "adapters/ode/gather.h"

typedef struct pcTouches {
    int count, room, feedbackRoom;
    pcWorldContact* contact;
    dJointFeedback* feedback;
} pcTouches;

void pcTouchesFree(pcTouches* touches);

/* Before the step, with all its contact joints in place. Out of memory: there are none to tell of. */
void pcTouchesBegin(pcTouches* touches, const dJointID* joint, int joints, const pcHostSurface* host);

/* After it, while they are still there. */
void pcTouchesEnd(pcTouches* touches, const dJointID* joint, double h);

/* A contact as one of our steps solved it. */
pcWorldContact pcTouchOfResult(const pcContactResult* result, const pcGathered* gathered);

#endif
