/* Forms from the inside: convex functions with value, gradient and Hessian, pieces (their intersections), and unions of pieces. */
#ifndef PC_IMPLICIT_FORM_H
#define PC_IMPLICIT_FORM_H

#include <stdatomic.h>

#include "base/rotation.h"
#include "pcontact/implicit.h"

typedef enum pcFunctionKind {
    PC_FUNCTION_PLANE,   /* a.x - d, a unit */
    PC_FUNCTION_SPHERE,  /* (|x|^2 / d - d) / 2 */
    PC_FUNCTION_ROD,     /* the same of (x, y): a cylinder without ends */
    PC_FUNCTION_CAPSULE, /* the same of x less the nearest point of the segment |z| <= a.z */
    PC_FUNCTION_QUADRIC, /* d (sum (x_k / a_k)^2 - 1) / 2 */
    PC_FUNCTION_SUPER,   /* d (N(x)^2 - 1) / 2, N = ((|x/a|^p + |y/b|^p)^(q/p) + |z/c|^q)^(1/q): a norm, so that it grows like a sphere's */
    PC_FUNCTION_USER
} pcFunctionKind;

/* All of ours have gradients of about 1 on the surface, so that their values there are about lengths. */
typedef struct pcFunction {
    pcFunctionKind kind;
    v3 a;
    double d, p, q;
    pcConvexDef user;
    bool placed; /* in the axes (R, at) of its own; else in those of the piece */
    m3 R;
    v3 at;
} pcFunction;

/* Value, gradient, Hessian. */
typedef struct pcJet {
    double f;
    v3 g;
    double H[9];
    bool curved; /* H is not 0 */
    bool even;   /* H is a multiple of the identity: turning it changes nothing */
} pcJet;

pcJet pcFunctionAt(const pcFunction* function, v3 x);
double pcFunctionValue(const pcFunction* function, v3 x); /* f alone */
void pcHessianTurn(const m3* R, double H[9]);             /* R H R' */

typedef struct pcPiece {
    int count; /* 0: described by its shape alone */
    pcFunction* function;
    v3 centre;      /* strictly inside */
    double radius;  /* about the centre; infinite if unbounded */
    bool round;     /* one function, strictly convex: closest points to anything convex are unique */
    bool flat;      /* has faces: two such pieces touch in regions */
    pcShape* shape; /* the same body as a shape, or NULL; placed at `pose` */
    pcPose pose;
} pcPiece;

struct pcForm {
    _Atomic int owners;
    int pieces;
    pcPiece* piece;
    v3 centre;
    double radius;
    pcShape* bound; /* what the broadphase sees: the shape itself, a ball around it, or a half-space */
    pcPose boundPose;
};

#endif
