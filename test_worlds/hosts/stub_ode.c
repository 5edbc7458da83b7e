/*
 * A library that calls itself ODE and has next to nothing of it: a world of one body that falls. For programs that are content with that
 * (stub_program.c), under libraries of ours that need much more. With WITH_STEPS it also has all that is looked up by name when a program
 * starts, so that what is missing is found out later.
 */
#include <ode/ode.h>

static double height, speed, pull;
static char world, body;

int dInitODE2(unsigned flags) { return (void)flags, 1; }
dWorldID dWorldCreate(void) { return (dWorldID)(void*)&world; }
void dWorldSetGravity(dWorldID w, dReal x, dReal y, dReal z) { (void)w, (void)x, (void)y, pull = z; }
dBodyID dBodyCreate(dWorldID w) { return (void)w, (dBodyID)(void*)&body; }
void dBodySetPosition(dBodyID b, dReal x, dReal y, dReal z) { (void)b, (void)x, (void)y, height = z; }

const dReal* dBodyGetPosition(dBodyID b)
{
    static dReal position[4];
    (void)b, position[2] = height;
    return position;
}

int dWorldStep(dWorldID w, dReal h)
{
    (void)w, speed += h * pull, height += h * speed;
    return 1;
}

void dWorldDestroy(dWorldID w) { (void)w; }
void dCloseODE(void) {}

#ifdef WITH_STEPS
void _Z10dxStepBodyP6dxBodyd(void* b, double h);
void _Z10dxStepBodyP6dxBodyd(void* b, double h) { (void)b, (void)h; }
int dWorldQuickStep(dWorldID w, dReal h) { return dWorldStep(w, h); }
int dCollide(dGeomID a, dGeomID b, int flags, dContactGeom* contacts, int skip)
{
    return (void)a, (void)b, (void)flags, (void)contacts, (void)skip, 0;
}
void dBodyDestroy(dBodyID b) { (void)b; }
void dJointDestroy(dJointID j) { (void)j; }
void dGeomDestroy(dGeomID g) { (void)g; }
#endif
