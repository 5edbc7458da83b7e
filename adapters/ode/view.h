/* An attached world as a pcSystem, and what can be said of it whoever steps it. */
#ifndef PC_ODE_VIEW_H
#define PC_ODE_VIEW_H

#include "adapters/ode/registry.h"

/* States, rows, contacts and shapes of the bodies that pcGatherList has listed. May add torque to the bodies, as ODE's rows do: a world that
 * is not to be changed is given its forces back by pcGatherUndo. */
pcStatus pcHostGather(pcHost* host, const pcSettings* settings, double h);

/* What was gathered. */
pcSystem pcHostSystem(pcHost* host);

/* PC_ERROR_NOT_FINITE: a world that ODE would end the program for, in its step or in its space. */
pcStatus pcHostCheckNumbers(const pcHost* host);

/* A report of which nothing is known yet: counts 0, figures NaN. */
pcStepReport pcHostUnknown(void);

/* The world as it stands, by pcSystemMeasure; it is left as it was. On an error the report is unknown. */
pcStatus pcHostMeasure(pcHost* host, double h, pcStepReport* report);

/* With reportAfter=1: what the report of the last step says of the world after it. */
void pcHostReportAfter(pcHost* host, double h);

/* The same between two steps: what the last one gathered stays. */
pcStatus pcHostMeasureAside(pcHost* host, double h, pcStepReport* report);

/* Kinetic and whole energy of the world as it stands. */
void pcHostEnergy(const pcHost* host, pcStepReport* report);

#endif
