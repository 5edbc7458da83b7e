#include "adapters/preload/note.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void pcNoteResidual(pcNote* note, double residual)
{
    unsigned long long bits, worst = atomic_load_explicit(&note->worst, memory_order_relaxed);
    residual = fabs(residual); /* a NaN has larger bits than every number, and so stays */
    memcpy(&bits, &residual, sizeof bits);
    while (bits > worst && !atomic_compare_exchange_weak(&note->worst, &worst, bits)) continue;
}

void pcNotePrint(const pcNote* note)
{
    unsigned long long solved = atomic_load(&note->solved), native = atomic_load(&note->native), bits = atomic_load(&note->worst);
    double worst;
    memcpy(&worst, &bits, sizeof worst);
    fprintf(stderr, "pcontact: %llu steps, %llu of them native", solved + native, native);
    if (solved > 0) fprintf(stderr, ", worst residual %.2g", worst);
    fputs(".\n", stderr);
}
