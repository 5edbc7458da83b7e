/* A program that needs hardly anything of ODE: a body that falls. */
#include <ode/ode.h>
#include <stdio.h>

int main(void)
{
    dInitODE2(0);
    dWorldID world = dWorldCreate();
    dBodyID body = dBodyCreate(world);
    dWorldSetGravity(world, 0, 0, -10);
    dBodySetPosition(body, 0, 0, 10);
    for (int k = 0; k < 100; k++) dWorldStep(world, 0.01);
    printf("height %.6f\n", dBodyGetPosition(body)[2]);
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
