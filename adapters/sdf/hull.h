/* Points cut down to the corners of their convex hull, while a world file is read. */
#ifndef PC_SDF_HULL_H
#define PC_SDF_HULL_H

#include "adapters/sdf/reader.h"

/* Fails, with the node's line, if they do not span a volume. */
void pcSdfHull(pcSdfReader* reader, const xmlNode* node, pcScenePoints* points);

#endif
