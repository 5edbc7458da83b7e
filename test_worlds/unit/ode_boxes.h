/* A floor and boxes in a world of ODE, with a near callback of the usual kind or attached with the space. */
#ifndef PC_UNIT_ODE_BOXES_H
#define PC_UNIT_ODE_BOXES_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

enum { BOXES_MOST = 64 };

typedef struct Boxes {
    dWorldID world;
    dSpaceID space;
    dGeomID floor, geom[BOXES_MOST];
    dBodyID body[BOXES_MOST];
    dJointGroupID group;
    int count;
    double mu;
} Boxes;

void boxesBegin(Boxes* boxes);
void boxesEnd(Boxes* boxes);
dBodyID boxesAdd(Boxes* boxes, double x, double y, double z, double size);

/* With a settings text; a step as a program takes it, which knows only of near callbacks. */
pcSettings boxesSettings(const char* text);
void boxesAttach(Boxes* boxes, bool withSpace, const char* text);
void boxesStep(Boxes* boxes, double h);

pcStepReport boxesReport(const Boxes* boxes);
pcWorldReportExtra boxesExtra(const Boxes* boxes);
void boxesExpectOurs(const Boxes* boxes); /* no step was native */

/* Of the first four. */
typedef struct BoxesState {
    double numbers[4 * 13];
} BoxesState;
BoxesState boxesState(const Boxes* boxes);

#endif
