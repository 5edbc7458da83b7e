/* For adapters: the implicit step of a pcSystem whose shapes may have compliant layers, which pcPlacedShape has no place for. */
#ifndef PC_IMPLICIT_SYSTEM_H
#define PC_IMPLICIT_SYSTEM_H

#include "pcontact/implicit.h"

/* Whether a layer can be one; else the sentence says which of its numbers cannot. */
pcStatus pcLayerCheck(const pcLayer* layer);

/* As pcImplicitSystemStep. `layers` has one for each shape, NULL where it is rigid; NULL: all are. */
pcStatus pcImplicitLayeredStep(const pcSystem* system, const pcLayer* const* layers, pcImplicitMemory* memory, pcTurn turn,
                               const pcSettings* settings, double h, pcSystemResult* result);

#endif
