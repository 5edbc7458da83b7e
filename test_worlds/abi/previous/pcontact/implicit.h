/*
 * The geometrically implicit step (G): bodies are given by convex functions, and contact, friction and motion are solved together at the
 * END of the step, where the bodies will be. Nothing is linearised, so nothing penetrates at the end of a step whatever its length, a round
 * body rolls without loss, and a body that only passes by is not touched.
 *
 *     M (v - v*) = sum W(q') p,    q' = q moved by h v,    0 <= p_n _|_ gap(q') >= 0,    friction G 5 at q'            (G 21-22, 28-32)
 *
 * Conventions as in pcontact/types.h and pcontact/system.h, whose bodies, rows, surfaces and report are used here.
 */
#ifndef PCONTACT_IMPLICIT_H
#define PCONTACT_IMPLICIT_H

#include "pcontact/settings.h"
#include "pcontact/shape.h"
#include "pcontact/system.h"
#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Forms: geometry by functions ---- */

/* A form is a union of convex pieces; a piece is { x : f_i(x) <= 0 for all i } with convex functions f_i. Immutable; any number of threads
 * may use one. Its own axes; a pose places it. */
typedef struct pcForm pcForm;

/* A convex function of yours: returns f(x) and writes its gradient and its Hessian (row-major, symmetric, positive semidefinite). Twice
 * continuously differentiable, with a gradient that is not 0 where f = 0. Called from many threads at once. */
typedef struct pcConvexDef {
    double (*value)(const void* context, const double x[3], double gradient[3], double hessian[9]);
    const void* context; /* must live as long as the form */
} pcConvexDef;

PC_API pcStatus pcFormHalfSpace(const double abcd[4], pcForm** out); /* a.x <= d */
PC_API pcStatus pcFormSphere(double radius, pcForm** out);
PC_API pcStatus pcFormEllipsoid(const double semiAxes[3], pcForm** out);
/* ((|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q) <= 1, p and q from 2 to 64. */
PC_API pcStatus pcFormSuperellipsoid(const double semiAxes[3], double p, double q, pcForm** out);
PC_API pcStatus pcFormCylinder(double radius, double length, pcForm** out); /* axis z, about the origin; so is the capsule's */
/* Its function has a jump in the second derivative where the cylinder meets the caps. */
PC_API pcStatus pcFormCapsule(double radius, double length, pcForm** out);
/* The bounded intersection of half-spaces a.x <= d, rows of four. */
PC_API pcStatus pcFormPolyhedron(const double abcd[], int count, pcForm** out);
/* The intersection of functions of yours. `inside` is a point where all are < 0; all of it lies within `radius` of that point (infinite:
 * unbounded). Both are believed, but for f(inside). */
PC_API pcStatus pcFormFunctions(const pcConvexDef* functions, int count, const double inside[3], double radius, pcForm** out);
/* Of placed convex forms (one piece each). `inside` is a point strictly inside all of them. */
PC_API pcStatus pcFormIntersection(const pcForm* const* forms, const pcPose* poses, int count, const double inside[3], pcForm** out);
/* Of placed forms: for bodies that are not convex. */
PC_API pcStatus pcFormUnion(const pcForm* const* forms, const pcPose* poses, int count, pcForm** out);
/* The form of a shape. Support functions and containers have no functions: their contacts come from pcEventsOfPair alone, so that they may
 * touch forms of shapes only. */
PC_API pcStatus pcFormOfShape(const pcShape* shape, pcForm** out);
PC_API pcForm* pcFormShare(const pcForm* form);
PC_API void pcFormFree(pcForm* form);

typedef struct pcFormInfo {
    int pieces, functions; /* a capsule has three of each: itself and the balls at its ends, where it touches a face */
    double centre[3], radius; /* of a ball around it; infinite if unbounded */
} pcFormInfo;
PC_API pcStatus pcFormDescribe(const pcForm* form, pcFormInfo* out);

/* The largest f_i(x) of the piece where that is smallest: < 0 inside, 0 on the surface; NaN of a form without functions. */
PC_API double pcFormValue(const pcForm* form, const double x[3]);

/* ---- Compliant layers ---- */

/* A layer around a rigid core (G 33-40): within it a contact is a spring and a damper, at `deepest` the core is met and nothing gives way.
 * Matrices over (normal, tangent 1, tangent 2), row-major. The tangential deflection goes with the surfaces while they stick and is held by
 * the friction cone; slip is the motion beyond it. (G 37 takes all of the sliding velocity for slip, which leaves a tangential spring
 * without effect.) A layer that is not in contact has no deflection. */
typedef struct pcLayer {
    double stiffness[9]; /* force per length; its [0] > 0 */
    double damping[9];   /* force per velocity; the layer never pulls */
    double deepest;      /* largest normal deflection > 0; may be infinite */
    int tangential;      /* 0: along the plane friction is rigid, and only stiffness[0] and damping[0] count */
} pcLayer;

/* ---- The step ---- */

typedef struct pcPlacedForm {
    const pcForm* form;
    int body;                   /* index, or PC_WORLD */
    pcPose pose;                /* in the body's frame; of PC_WORLD: in world axes */
    unsigned category, collide; /* as in pcPlacedShape */
    const pcLayer* layer;       /* or NULL: rigid. Where both have one, they act in series */
} pcPlacedForm;

typedef enum pcTurn {
    PC_TURN_EXPONENTIAL = 0, /* by exp(h omega) */
    PC_TURN_TANGENT          /* quaternion + h/2 omega quaternion, normalised: as ODE does */
} pcTurn;

typedef enum pcScheme {
    PC_SCHEME_EULER = 0, /* G: q' = q + h v' */
    PC_SCHEME_MIDPOINT /* q' = q + h (v + v')/2, and springs by the difference of their energies: keeps the energy of undamped layers. Steps
                            in which a rigid contact or a joint acts are Euler's */
} pcScheme;

/* What a sequence of steps keeps: impulses, points, deflections of layers. Belongs to one system at a time. */
typedef struct pcImplicitMemory pcImplicitMemory;
PC_API pcStatus pcImplicitMemoryCreate(pcImplicitMemory** out);
PC_API void pcImplicitMemoryFree(pcImplicitMemory* memoryOrNull);

typedef struct pcImplicitSystem {
    int bodyCount;
    const pcBody* bodies;
    int formCount;
    const pcPlacedForm* forms;
    int rowCount;
    const pcRow* rows; /* equalities, motors, stops: linear in the velocity, as in pcSystem */
    int contactCount;
    const pcContact* contacts; /* found elsewhere, before the step; they go with their bodies during it */
    double gravity[3];
    const double* freeVelocity; /* 6 per body, or NULL */
    /* Of a surface count mu (G: mu e_t), mu2 (mu e_o), direction1, torsion (mu e_r, a length) and surfaceVelocity. The three make ONE ellipsoid
     * G 5. An infinite mu counts as 1000. Nothing bounces. Indices are those of forms. */
    pcPairSurface* surface;
    void* surfaceContext;
    pcImplicitMemory* memory; /* or NULL: every step starts cold, and layers forget their tangential deflection and their damping */
    pcTurn turn;
    pcScheme scheme;
} pcImplicitSystem;

/* A contact at the end of the step. The closest points a1, a2 and the multipliers are those of G 15-18 and G 28-31 where functions describe
 * the pair. */
typedef struct pcImplicitContact {
    int body1, body2, form1, form2; /* forms -1: a contact that was given */
    unsigned long long id;
    double point1[3], point2[3]; /* on form 1 and on form 2; equal to rounding where it pushes */
    double normal[3], tangent1[3], tangent2[3];
    double before;        /* gap before the step */
    double gap;           /* at the end of the step; with a layer, minus its deflection */
    double impulse[4];    /* G: p_n, p_t, p_o, p_r, on body 2 */
    double core;          /* part of p_n that comes from the rigid core (all of it without a layer) */
    double slip[3];       /* velocity of body 2 relative to body 1 along the tangents and about the normal, beyond a layer's deflection */
    double deflection[2]; /* of a layer along the tangents */
    double limit[3];      /* mu e_t, mu e_o, mu e_r */
} pcImplicitContact;

typedef struct pcImplicitReport {
    pcStepReport step;  /* residual: of the full system at the end of the step; fallbacks: islands that took the LCP step instead */
    int newton;         /* linear systems solved */
    int rounds;         /* how often closest features were looked for anew, in the island that took most */
    double penetration; /* after the step: largest negative gap, beyond what layers take */
    double coreImpulse; /* sum of what rigid cores and rigid contacts gave */
} pcImplicitReport;

typedef struct pcImplicitResult {
    double* velocity;            /* 6 per body, or NULL; so are the others */
    pcPose* pose;                /* exactly the poses that the contacts were solved at */
    double* rowImpulse;          /* per row */
    pcImplicitContact* contacts; /* pairs in order, within a pair by id */
    int contactCapacity;
    int contactCount; /* written: how many there are; may exceed the capacity */
    pcImplicitReport report;
} pcImplicitResult;

/* Of the settings count mu, mu2, margin, tolerance, and what the LCP step of a fall-back needs. Bad input is refused before anything is
 * written. An island whose solution misses the tolerance takes the LCP step (model=lcp, contacts as they are before the step), and
 * report.step.fallbacks counts it. */
PC_API pcStatus pcImplicitStep(const pcImplicitSystem* system, const pcSettings* settings, double h, pcImplicitResult* result);

/* The same for a pcSystem, whose shapes become forms: what pcSystemStep does for model=lcp. Without a mobility. `memory` stands for
 * system->memory, which is not used. */
PC_API pcStatus pcImplicitSystemStep(const pcSystem* system, pcImplicitMemory* memory, pcTurn turn, const pcSettings* settings, double h,
                                     pcSystemResult* result);

#ifdef __cplusplus
}
#endif
#endif
