/* The first way in: a program that links libpcontact and steps its world by pcWorldStep. */
#include <pcontact/pcontact.h>
#include <stdio.h>

int main(void)
{
    dInitODE2(0);
    dWorldID world = dWorldCreate();
    dSpaceID space = dHashSpaceCreate(0);
    dWorldSetGravity(world, 0, 0, -9.81);
    dCreatePlane(space, 0, 0, 1, 0);
    dBodyID body = dBodyCreate(world);
    dBodySetPosition(body, 0, 0, 1);
    dGeomSetBody(dCreateBox(space, 1, 1, 0.5), body);

    pcSettings settings = pcDefaultSettings();
    pcSettingsParse(&settings, "model=lcp mu=0.8");
    if (pcWorldAttach(world, space, &settings) != PC_OK) { /* contacts are found here: no near callback, no contact joints */
        fprintf(stderr, "%s.\n", pcLastError());
        return 1;
    }
    for (int k = 0; k < 200; k++) pcWorldStep(world, 0.01); /* instead of dWorldStep */

    pcWorldReportExtra report;
    pcWorldReportMore(world, &report);
    printf("height %.3f after %d steps, %d of them native\n", dBodyGetPosition(body)[2], report.steps, report.nativeSteps);
    pcWorldDetach(world);
    dSpaceDestroy(space);
    dWorldDestroy(world);
    dCloseODE();
    return 0;
}
