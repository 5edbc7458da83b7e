/*
 * Another engine that plays a scene: a program of its own, so that the library and the tool need none of them.
 *
 *     pcontact-rival-ENGINE WORLD STEP STEPS
 *
 * writes to its standard output, as numbers in memory: how many links move (int), and for every step its milliseconds and of each such link, in
 * the order of the scene, the place of its centre of mass, its quaternion (w x y z, the link's axes) and its velocity: ten doubles.
 */
#ifndef PC_RIVALS_RIVAL_H
#define PC_RIVALS_RIVAL_H

#include "adapters/sdf/scene.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { PC_RIVAL_STATE = 10 };

typedef struct Rival Rival;
Rival* rivalMake(const pcScene* scene, double h);                          /* NULL: it has no such shapes or joints, or no memory */
void rivalStep(Rival* rival, const double gravity[3]);                     /* by the h it was made for */
void rivalState(const Rival* rival, int link, double out[PC_RIVAL_STATE]); /* link: of the scene */

#ifdef __cplusplus
}
#endif
#endif
