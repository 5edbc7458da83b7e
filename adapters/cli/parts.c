#include "adapters/cli/parts.h"

#include <stdio.h>

#include "linalg/dense.h"

#ifdef PCONTACT_WITH_ODE
#include <ode/ode.h>

#include "adapters/report/page.h"

void pcCliOde(char text[PC_CLI_PART]) { snprintf(text, PC_CLI_PART, "%s (%s)", PCONTACT_ODE_VERSION, dGetConfiguration()); }

void pcCliReports(char text[PC_CLI_PART])
{
    if (pcPageAvailable() == PC_OK)
        snprintf(text, PC_CLI_PART, "on (--report FILE.html)");
    else
        snprintf(text, PC_CLI_PART, "off: %s", pcLastError());
}
#else
void pcCliOde(char text[PC_CLI_PART]) { snprintf(text, PC_CLI_PART, "none; install libode-dev and build again"); }

void pcCliReports(char text[PC_CLI_PART]) { snprintf(text, PC_CLI_PART, "off: they are of worlds, for which there must be ODE"); }
#endif

void pcCliLapack(char text[PC_CLI_PART]) { snprintf(text, PC_CLI_PART, "%s", pcLapackName()[0] ? pcLapackName() : "of unknown make"); }

void pcCliMpi(char text[PC_CLI_PART])
{
    if (PCONTACT_MPI_VERSION[0])
        snprintf(text, PC_CLI_PART, "Open MPI %s (sweeps under mpirun)", PCONTACT_MPI_VERSION);
    else
        snprintf(text, PC_CLI_PART, "none, sweeps run in threads; install libopenmpi-dev and build again");
}
