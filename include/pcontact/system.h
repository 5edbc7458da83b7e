/*
 * One step of a system of rigid bodies with joints, contacts and friction, without any physics engine: plain arrays in, velocities and
 * impulses out. The unknown is the new velocity v; the step solves the mixed complementarity problem T 5.1 (or its relaxation T 5.7)
 *
 *     M (v - v_free) = J' c,    each row's c and J v within its law (joint, bound, contact with friction),
 *
 * and moves every body by h v (settings: flight). Units are the caller's, but one system of them; world axes; six-vectors are linear part, angular part.
 */
#ifndef PCONTACT_SYSTEM_H
#define PCONTACT_SYSTEM_H

#include "pcontact/settings.h"
#include "pcontact/shape.h"
#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

#define PC_WORLD (-1) /* as the body of a shape, a row or a contact: the fixed world */

typedef enum pcBodyKind {
    PC_BODY_DYNAMIC = 0,
    PC_BODY_KINEMATIC, /* keeps its velocity whatever pushes it */
    PC_BODY_STATIC     /* does not move; its velocity is ignored */
} pcBodyKind;

typedef struct pcBody {
    pcBodyKind kind;
    pcPose pose;        /* position = centre of mass; wrenches are about it */
    double velocity[6]; /* v, omega in world axes */
    double force[6];    /* acting during the step besides gravity: force, torque; gyroscopic torque is added by the step */
    double mass;        /* > 0 for dynamic bodies; ignored for others, and for all where a mobility is given */
    double inertia[9];  /* about the centre of mass, body axes, row-major, symmetric positive definite */
} pcBody;

/* Which of a surface's numbers are largest forces or moments, not coefficients of the normal force. */
typedef enum pcForceLimit { PC_LIMIT_NONE = 0, PC_LIMIT_FRICTION, PC_LIMIT_FRICTION1, PC_LIMIT_FRICTION2 } pcForceLimit; /* both, mu, mu2 */
enum { PC_LIMIT_ROLLING1 = 1, PC_LIMIT_ROLLING2 = 2, PC_LIMIT_TORSION = 4 };

/* How two surfaces meet. Start from pcDefaultSurface(settings), which fills in what the settings say. */
typedef struct pcSurface {
    double mu;            /* >= 0; infinite: holds both ways along the plane in every step in which the motion without impulses would press
                               the contact (gap + h u_n <= 0); so do force limits act */
    double mu2;           /* across direction1; NaN: as mu (isotropic) */
    double direction1[3]; /* in which mu counts, world axes, any length; 0 0 0: anywhere in the plane (isotropic if mu2 = mu) */
    double torsion;       /* length >= 0: |spin moment| <= torsion * normal force; 0: none */
    double rolling;       /* length >= 0: |rolling moment| <= rolling * normal force; 0: none */
    double rolling2;      /* about the direction across direction1; NaN: as rolling */
    int forceLimit;       /* a pcForceLimit: mu, mu2 or both are largest forces, not coefficients */
    int momentLimit;      /* PC_LIMIT_ROLLING1 …: those are largest moments, and may be infinite, not lengths */
    double surfaceVelocity[3]; /* of body 2's surface relative to body 1's beyond their motion: a conveyor belt; world axes */
    double normalVelocity;     /* at which the surfaces are to part beyond what their gap asks for; a layer that grows; 0: none */
    double gamma;              /* part of a negative gap that one step removes, >= 0; NaN: the settings' */
    double fastest;            /* velocity >= 0 beyond which a negative gap is not repaired faster; infinite: no such limit */
    double sink;               /* depth >= 0 that is left as it is; 0: none */
    double bounce;         /* restitution 0 .. 1. The whole island bounces less where its energy would grow by it: with friction, Newton's
                               law alone can add some. Poisson gives back the normal impulse, and the friction, torsion and rolling
                               of contacts that slide (not a friction that is bounded by a force); only of impacts: faster than what
                               the forces of one step make of rest */
    double bounceVelocity; /* approach speed below which nothing bounces */
    double softness;       /* velocity per impulse >= 0 along the normal (ODE: cfm / h); 0: hard */
    double slip1, slip2;   /* velocity per impulse >= 0 along the friction directions */
} pcSurface;
PC_API pcSurface pcDefaultSurface(const pcSettings* settings);

/* A shape on a body. Pairs of one body, and of two bodies neither of which is dynamic, never collide. */
typedef struct pcPlacedShape {
    const pcShape* shape;
    int body;                   /* index, or PC_WORLD */
    pcPose pose;                /* in the body's frame (of its pose); of PC_WORLD: in world axes */
    unsigned category, collide; /* a pair is looked at if (category1 & collide2) || (category2 & collide1); both 0: with everything */
} pcPlacedShape;

/* Asked for every pair of shapes that has a contact: 0 skips the pair, 1 uses *surface, which comes filled with pcDefaultSurface. It is
 * also asked for near pairs that cannot be measured: 0 takes them out, 1 makes the step fail. */
typedef int pcPairSurface(void* context, int shape1, int shape2, pcSurface* surface);

/* A row of a joint, motor or stop: J v + softness * impulse = target, with lo <= impulse <= hi: held at a bound, the row may move on.
 * lo = -infinity and hi = +infinity: an equality. */
typedef struct pcRow {
    int body1, body2;    /* PC_WORLD: none; never the same body */
    double jacobian[12]; /* v1 omega1 v2 omega2 */
    double target;       /* velocity, with the stabilization already in it */
    double error;        /* position error Theta, for the report only */
    double lo, hi;       /* impulses over the step, not forces */
    double softness;     /* velocity per impulse >= 0 (ODE: cfm / h) */
} pcRow;

/* A contact found elsewhere. */
typedef struct pcContact {
    int body1, body2;      /* one may be PC_WORLD */
    unsigned long long id; /* the same contact has the same id in every step; 0: unknown, then its impulse is not carried over */
    double point[3];
    double normal[3]; /* unit, from body 1 to body 2 */
    double gap;       /* > 0 apart */
    pcSurface surface;
} pcContact;

/* What a sequence of steps keeps: candidate pairs, warm starts, impulses of the last step, buffers. Belongs to one system at a time. */
typedef struct pcMemory pcMemory;
PC_API pcStatus pcMemoryCreate(pcMemory** out);
PC_API void pcMemoryFree(pcMemory* memoryOrNull);

typedef struct pcSystem {
    int bodyCount;
    const pcBody* bodies;
    int shapeCount;
    const pcPlacedShape* shapes;
    int rowCount;
    const pcRow* rows;
    int contactCount;
    const pcContact* contacts;
    double gravity[3];
    const double* freeVelocity; /* 6 per body, or NULL: from velocity, gravity, force and gyroscopic torque */
    const double* mobility;     /* (6 bodies)^2 row-major, symmetric positive definite, dense across bodies; NULL: from masses (E 2).
                                   Then v_free = v + h (mobility force + gravity), without gyroscopic torque; the rows and columns of
                                   bodies that are not dynamic do not count */
    pcPairSurface* surface;     /* or NULL: the settings' friction for every pair */
    void* surfaceContext;
    pcMemory* memory; /* or NULL: every step starts cold */
} pcSystem;

/* One contact as it was solved; impulses over the step. */
typedef struct pcContactResult {
    int body1, body2;
    int shape1, shape2; /* -1 for given contacts */
    int kind;           /* a pcEventKind; -1 for given contacts */
    unsigned long long id;
    double point[3], normal[3], tangent1[3], tangent2[3]; /* contacts of two faces that are parallel but for 1e-5 have one normal */
    double gap;                                           /* before the step */
    double target;                 /* what the step asked of the bodies' normal velocity: at least this, or it pushes */
    double mu, mu2;                /* along the tangents, as in its surface */
    double softness, slip1, slip2; /* likewise */
    double impulse[6]; /* normal, friction along the tangents, torsion, rolling about the tangents; on body 2 (minus that on body 1) */
} pcContactResult;

typedef struct pcStepReport {
    int bodies, rows, pairs, events, contacts, islands; /* rows: scalar ones that were solved; contacts: events and given ones among them */
    int largestIsland;                                  /* scalar rows */
    const char* solver;                                 /* what solved the largest island; "none" if there was nothing to solve */
    pcOutcome outcome;                                  /* the worst of all islands */
    int iterations, fallbacks;
    int products, restarts;      /* minmap: of its inner linear solver, as in pcSolveInfo; else 0 */
    double residual;             /* natural residual, dimensionless (method: max |c - proj(c - u)| scaled) */
    double equality;             /* largest |J v - target| of equality rows, scaled like residual */
    double coneExcess;           /* largest friction beyond its cone, scaled */
    double energyError;          /* energy identity: |left - right| / scale */
    double contraction;          /* fixedpoint: measured rate of its last pass, else 0 */
    double infeasibilityContact; /* before the step: largest negative part of rho over pairs */
    double penetration;          /* before the step: largest negative gap, a length */
    double infeasibilityJoint;   /* before the step: largest |error| of equality rows */
    /* The same three after the step: only with reportAfter=1, and where they can be known; else NaN. */
    double infeasibilityContactAfter, penetrationAfter; /* of shapes; contacts that are given say nothing of the place after the step */
    double infeasibilityJointAfter;                     /* of worlds, where joints can be asked again; or if there are none */
    double kinetic;                                     /* after the step */
    double energy;                                      /* after the step: kinetic + potential in the gravity field */
    double milliseconds[6];                             /* pairs, events, assembly, solve, result, all */
} pcStepReport;

/* Where the answer goes: every pointer may be NULL, then that part is not wanted. */
typedef struct pcSystemResult {
    double* velocity;          /* 6 per body: v, omega */
    pcPose* pose;              /* per body: moved by h v (settings: flight), quaternion normalised */
    double* rowImpulse;        /* per row */
    pcContactResult* contacts; /* given contacts first, in their order, then events by pair of shapes and id; what
                                  two pieces of one body both find is there once */
    int contactCapacity;
    int contactCount; /* written: how many there are; may exceed the capacity */
    /* Asked for room for `count` contacts where the capacity is too small, with what is there kept or not; NULL: what fits is written. */
    pcContactResult* (*grow)(void* context, int count);
    void* growContext;
    pcStepReport report; /* written */
} pcSystemResult;

/* Bad input is refused before anything is written. A solution that missed its tolerance is still a PC_OK step: report.outcome says so. Where it would
 * throw a body, it is that of the same step without stabilization; if that would too, the status says so, and nothing is written. */
PC_API pcStatus pcSystemStep(const pcSystem* system, const pcSettings* settings, double h, pcSystemResult* result);

/* The system as it stands, by the same measure as in a step of h, whoever has moved it there: bodies, pairs, events, contacts, infeasibilities,
 * energies. Nothing is solved, so what tells of a solution is NaN or 0 and the solver is "none"; no memory is changed. With a mobility the
 * energies are NaN. */
PC_API pcStatus pcSystemMeasure(const pcSystem* system, const pcSettings* settings, double h, pcStepReport* report);

#ifdef __cplusplus
}
#endif
#endif
