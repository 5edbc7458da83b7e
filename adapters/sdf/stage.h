/*
 * A scene as a live world of ODE: bodies at their centres of mass with the axes of their links, geoms with offsets, joints, and what a world
 * file says beyond what ODE has:
 *
 *   - Damping and springs of joints are implicit: a motor row of its own, J v + c f = b with c = 1 / (h k + d), b = c k (reference - q),
 *     is f = k (reference - q - h v) - d v at the end of the step, whatever model solves it. Friction is the joint's own motor, held to 0.
 *   - Screws and gearboxes couple two bodies by one more row. Our models get that row; for ODE's own steps, which have no such joint, the
 *     impulse that the two bodies alone would need is given to them before the step: what other forces do within one step is made good in
 *     the next.
 *   - <planar>: rows that keep every body in its plane, and after each step what rounding has left of its motion out of it is removed;
 *     friction acts in the plane alone.
 *   - Links that a joint holds together do not collide, nor do those of one model unless one of them has self_collide.
 *
 * Bodies never fall asleep. min_depth and max_vel of a surface are honoured by our models; ODE's own steps have them for the whole world
 * only. effort and velocity limits of joints concern controllers, which are not here.
 */
#ifndef PC_SDF_STAGE_H
#define PC_SDF_STAGE_H

#include "adapters/sdf/scene.h"
#include "pcontact/pcontact.h"

typedef struct pcStageBody {
    const char* name; /* "model::link", "model::inner::link" */
    dBodyID body;
    int link; /* of the scene */
} pcStageBody;

typedef struct pcStageJoint {
    const char* name;
    dJointID joint;
    int source; /* joint of the scene */
} pcStageJoint;

typedef struct pcStage {
    dWorldID world;
    dSpaceID space;
    int bodies;
    pcStageBody* body; /* those that move; static ones have only geoms */
    int joints;
    pcStageJoint* joint;
    pcSettings settings; /* of <pcontact>, on top of the defaults */
    double step;         /* max_step_size */
    double time;         /* <pcontact><time>; 0: not said */
    int frames;
    const double* frame; /* <pcontact><frames> */
    const char* skipped; /* what the file has and nobody reads, one line; "" nothing */
    int messages;        /* of ODE (errors, debug, LCP failures), counted, not printed, since it was made */
    struct pcStageInner* inner;
} pcStage;

/* ODE counts its users without a lock: who has stages in several threads keeps it open for all of them by these. Every stage does so itself. */
void pcStageOpenOde(void);
void pcStageCloseOde(void);

/* Native and unattached. The scene may be freed at once. Stages of different scenes may be made and used in different threads. */
pcStatus pcStageMake(const pcScene* scene, pcStage** out);

/* pcWorldAttach with its space, and the surfaces of the file; NULL: the file's settings. Again: other settings from the next step on. */
pcStatus pcStageAttach(pcStage* stage, const pcSettings* settings);

/* One step by its settings; the first attaches the stage by the file's, if nothing has. */
pcStatus pcStageStep(pcStage* stage, double h);

/* The scene goes on at this time, as if it had been stepped until then: what is shaken is in that phase. Bodies stay where they are. */
void pcStageGoOnAt(pcStage* stage, double time);

/* How much is left, as the world stands, of the layer that is used up most: 1 all of it, 0 its core is met, less than 0 it is passed. From the
 * geometry alone, whatever the model; 1 where no layer has a core. */
double pcStageLayerLeft(const pcStage* stage);

void pcStageFree(pcStage* stage);

#endif
