/*
 * A world file as plain data: the bodies, shapes, joints and physics of an SDF file (versions 1.3 to 1.7; others are read as the nearest of
 * these), with every pose worked out. Nothing here knows ODE; stage.h makes a live world of it.
 *
 * Where SDF has a default that the file does not mention, the default of the specification is taken, with these exceptions:
 *
 *   - the surface layer (0.001) counts only where the file says it, because nobody who leaves it out means bodies that sink a millimetre;
 *   - so does the largest correcting velocity of a surface (max_vel, 0.01) where the settings name gamma, which is the finer way to say it;
 *   - mu2 is mu where the file says only mu: who gives one coefficient means all directions, as in a contact of ODE itself (Gazebo takes
 *     the specification's 1);
 *   - soft_erp (0.2) counts only where the file says it: else kp and kd say how soft a contact is (surfaces.c), or the
 *     world's erp where the settings name gamma and the file neither;
 *   - the cfm of the world is at least 1e-10, also where the file says 0: without any, ODE's solvers fail at redundant contacts (more only
 *     where that drowns in rounding: balance.c).
 *
 * Numbers beyond 1e30 are refused, those below 1e-30 are 0. Infinite (inf, or 1e15 and more) can be the limits of a joint, mu and mu2,
 * max_force, max_vel, contact_max_correcting_vel and the threshold of a bounce.
 *
 * <physics> may have an element <pcontact>: its children are named like settings (<gamma>1</gamma>), besides <planar>xz</planar> (or xy, yz:
 * every body stays in that plane), <time>SECONDS</time> (how long the story of the world takes), <frames>0 2 12</frames> (when it is
 * worth a look), <seed>1</seed> (for what a <population> leaves to chance) and <shake>AMPLITUDE FREQUENCY</shake>: everything that is fixed
 * is shaken up and down along gravity g, its height being A sin(2 pi f t). The world is described in the frame of what is fixed, where
 * gravity is then  g (1 - A (2 pi f)^2 sin(2 pi f t) / |g|): bodies are thrown up while the fixed ones slow down on their way up.
 * <state> gives links the velocities that they start with. <sweep> holds options of `pcontact sweep`, as <trials>24</trials>.
 *
 * <collision> may have an element <pcontact> beside its <surface>, with a compliant layer over its rigid core (pcontact/implicit.h):
 * <layer><stiffness>1000</stiffness><damping>0</damping><deepest>0.05</deepest></layer>. The geometry is the outer surface of the layer.
 * <stiffness> and <damping> have one number, along the normal, or nine: rows of a matrix over the normal and two tangents. Without
 * <damping> there is none, without <deepest> no core. model=implicit has it; for the other models kp and kd are those of the
 * layer, a spring without an end, unless <surface> says its own.
 *
 * A <mesh> is the convex hull of its points. With <pcontact><pieces>1</pieces></pcontact> inside it, each object or group of an OBJ file
 * (o, g) or each solid of an ASCII STL file is a convex piece of its own.
 */
#ifndef PC_SDF_SCENE_H
#define PC_SDF_SCENE_H

#include <stdbool.h>
#include <stddef.h>

#include "pcontact/implicit.h"
#include "pcontact/settings.h"
#include "pcontact/types.h"

#define PC_SCENE_WORLD (-1) /* as a link of a joint: the fixed world */

typedef enum pcSceneKind {
    PC_SCENE_BOX,       /* size: edges */
    PC_SCENE_SPHERE,    /* size: radius */
    PC_SCENE_CYLINDER,  /* size: radius, length along z */
    PC_SCENE_CAPSULE,   /* size: radius, length along z between the centres of its caps */
    PC_SCENE_ELLIPSOID, /* size: semi-axes */
    PC_SCENE_PLANE,     /* normal; infinite, and fixed in the world also where its link moves */
    PC_SCENE_HULLS      /* convex pieces */
} pcSceneKind;

typedef struct pcScenePoints {
    int count;
    double* xyz;
} pcScenePoints;

typedef struct pcSceneShape {
    pcSceneKind kind;
    double size[3], normal[3];
    int pieces;
    pcScenePoints* piece; /* each the points of a convex hull */
} pcSceneShape;

/* NaN: the file does not say. */
typedef struct pcSceneSurface {
    double mu, mu2, fdir1[3]; /* fdir1 in the axes of the link; 0 0 0: none */
    double slip1, slip2;
    double bounce, threshold; /* threshold: approach velocity */
    double kp, kd, softCfm, softErp;
    double fastest, minDepth; /* max_vel, min_depth */
    double torsion, patchRadius;
    bool passive; /* collide_without_contact: felt, but not pushed */
} pcSceneSurface;

typedef struct pcSceneCollision {
    const char* name; /* "model::link::collision" */
    int link;
    pcPose pose; /* in the link */
    pcSceneShape shape;
    pcSceneSurface surface;
    bool soft; /* it has a layer */
    pcLayer layer;
    unsigned bits;   /* collide_bitmask: a pair meets if they have a bit in common */
    int maxContacts; /* 0: none at all; other numbers do not limit what is found */
} pcSceneCollision;

typedef struct pcSceneLink {
    const char* name; /* "model::link", "model::inner::link" */
    int model;        /* links of one model do not collide, unless one of the two has selfCollide */
    pcPose pose;      /* in the world */
    bool fixed;       /* its model is static */
    bool kinematic, gravity, selfCollide;
    double mass, centre[3]; /* centre of mass, in the link */
    double inertia[9];      /* about it, in the link's axes, row-major */
    double linearDecay, angularDecay;
    double velocity[6]; /* at the start: of its centre of mass, and its spin; world axes */
} pcSceneLink;

typedef enum pcSceneJointKind {
    PC_SCENE_FIXED,
    PC_SCENE_REVOLUTE,
    PC_SCENE_PRISMATIC,
    PC_SCENE_BALL,
    PC_SCENE_UNIVERSAL,
    PC_SCENE_REVOLUTE2,
    PC_SCENE_SCREW,
    PC_SCENE_GEARBOX
} pcSceneJointKind;

typedef struct pcSceneAxis {
    double xyz[3];       /* unit, in the world, where the bodies start */
    double lower, upper; /* infinite: no limit */
    double effort, velocity;
    double damping, friction, stiffness, reference;
} pcSceneAxis;

typedef struct pcSceneJoint {
    const char* name; /* "model::joint" */
    pcSceneJointKind kind;
    int parent, child; /* links, or PC_SCENE_WORLD; a positive angle turns the child about the axis, seen from the parent */
    int reference;     /* of a gearbox */
    double anchor[3];  /* in the world, where the bodies start */
    pcSceneAxis axis[2];
    double pitch;                                  /* screw: metres along the axis per radian about it */
    double ratio;                                  /* gearbox: angle of the child = - ratio * angle of the parent */
    double cfm, erp, stopCfm, stopErp;             /* of ODE; NaN: the world's */
    double bounce, fudge, maxForce, motorVelocity; /* likewise; NaN: not said */
    double suspensionCfm, suspensionErp;
} pcSceneJoint;

/* A child of <sweep>: an option of the command that makes many runs of the world (adapters/sweep). */
typedef struct pcSceneOption {
    const char *name, *value;
    int line;
} pcSceneOption;

typedef struct pcScenePhysics {
    double gravity[3], step;
    double cfm, erp;
    double fastest, layer; /* NaN: not said */
    bool quick;
    int iterations;
    double relaxation; /* sor */
    int maxContacts;   /* 0: none at all */
    int planar;        /* 0 none; else 1 + the axis across the plane: 1 yz, 2 xz, 3 xy */
    double time;       /* 0: not said */
    int frames;
    double* frame;                         /* the times of the story's pictures, ascending */
    unsigned seed;                         /* of what <population> leaves to chance */
    double shakeAmplitude, shakeFrequency; /* 0: at rest */
    int options;
    pcSceneOption* option; /* of <sweep>, in their order */
    pcSettings settings;
} pcScenePhysics;

/* A model as a whole: what a pose given to it would move. */
typedef struct pcSceneModel {
    const char* name; /* "model", "model::inner" */
    pcPose pose;      /* of its frame, in the world */
} pcSceneModel;

typedef struct pcScene {
    int links, collisions, joints, models;
    pcSceneModel* model;
    pcSceneLink* link;
    pcSceneCollision* collision;
    pcSceneJoint* joint;
    pcScenePhysics physics;
    const char* skipped;                    /* what the file has and nobody reads, one line; "" nothing */
    int linkRoom, collisionRoom, jointRoom; /* private, as the next */
    int owners;
    struct pcSceneMemory* memory;
} pcScene;

/* One sentence that begins with FILE:LINE: if it fails. PC_ERROR_ARGUMENT: there is no such file, or something in it is wrong. */
pcStatus pcSceneRead(const char* file, pcScene** out);
/* With another seed than the file's for what it leaves to chance; 0: the file's. */
pcStatus pcSceneReadSeeded(const char* file, unsigned seed, pcScene** out);
void pcSceneFree(pcScene* scene);            /* stages that were made of it keep what they need */
pcScene* pcSceneShare(const pcScene* scene); /* one more owner, who calls pcSceneFree; not from several threads at once */

/* Poses as the file writes them: x y z roll pitch yaw. */
pcPose pcScenePose(const double numbers[6]);
void pcScenePoseNumbers(const pcPose* pose, double numbers[6]); /* roll and yaw within pi, pitch within pi / 2 */
pcPose pcScenePoseInverse(const pcPose* pose);

#endif
