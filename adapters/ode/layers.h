/* Compliant layers of geoms, as pcGeomSetLayer has given them. Ids of geoms are only numbers here. */
#ifndef PC_ODE_LAYERS_H
#define PC_ODE_LAYERS_H

#include <stdbool.h>

#include "pcontact/pcontact.h"

/* The layers of many geoms: of[i] points to a copy in own[i], or is NULL where the geom is rigid. False: all are. */
bool pcOdeLayersOf(const dGeomID* geom, int count, pcLayer* own, const pcLayer** of);

bool pcOdeHasLayers(void); /* any geom at all */

/* The geom is gone, or ODE was closed. */
void pcOdeForgetLayer(dGeomID geom);
void pcOdeForgetAllLayers(void);

#endif
