/* What a library that stands between a program and ODE asks for beyond the public header. */
#ifndef PC_ODE_HOST_H
#define PC_ODE_HOST_H

#include "pcontact/pcontact.h"

/* 1: the world is attached. */
int pcOdeAttached(dWorldID world);

/* A step that the host asked for, by dWorldQuickStep if `quick`: then a step that has to be native, or is beside a shadow, is a quick one.
 * Not PC_OK: nothing was done. */
pcStatus pcOdeHostStep(dWorldID world, dReal h, int quick);

/* It is about to be destroyed, attached or not. */
void pcOdeForgetWorld(dWorldID world);

#endif
