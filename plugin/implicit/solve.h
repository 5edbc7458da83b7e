/*
 * The problem of one island at the end of the step, in the velocities alone:
 *
 *     M (v - v*) = sum over contacts W(q') p(v),      q' = q moved by h v
 *
 * Everything that belongs to one contact is eliminated in it: where it is (level.h), and what it pushes with. For given multipliers r of the
 * last round and weights e (velocity per impulse) its impulse is the law of G 3, 5 in projection form,
 *
 *     p_n = max(0, r_n - u_n / e_n),     p_f = projection of r_f - u_f / e_f on the ball |p_f| <= p_n in the norm of e_f,    u_n = gap(q') / h,
 *
 * friction rows being multiplied by mu e_t, mu e_o, mu e_r, so that the ellipsoid G 5 is a ball; nothing is divided by p_n, as G 7 does. A
 * round of Newton's method finds v; then r takes the value of p. At r = p this is G 21-22, whatever e was.
 */
#ifndef PC_IMPLICIT_SOLVE_H
#define PC_IMPLICIT_SOLVE_H

#include "constraint/constraint.h"
#include "implicit/level.h"
#include "linalg/blocks.h"
#include "pcontact/implicit.h"

/* ---- Bodies ---- */

/* A body at the end of the step, as the velocity at hand would have it. */
typedef struct pcPlace {
    pcPose pose;
    m3 R;
    v3 at;
    v3 v, w;     /* velocity at the end */
    double move; /* dx / dv */
    double T[9]; /* d theta / d omega, row-major */
} pcPlace;

/* How a velocity moves a body. */
typedef struct pcMove {
    double h;
    pcTurn turn;
    bool midpoint;
} pcMove;
pcPose pcMoveBody(const pcMove* move, const pcPose* start, const double before[6], const double velocity[6]);
void pcPlaceBody(const pcMove* move, const pcPose* start, const double before[6], const double velocity[6], pcPlace* out);
void pcPlaceStill(const pcPose* pose, const double velocity[6], pcPlace* out);

/* ---- Contacts ---- */

/* The pair of pieces that a contact belongs to. */
typedef struct pcNear {
    int form1, form2, piece1, piece2;
    int body1, body2; /* PC_WORLD: none */
    double margin;
    bool events;  /* faces, edges, lines: contacts by pcEventsOfPair, one per corner of the region; else one contact by the functions */
    bool faces;   /* … as it would have them; events may be left out for an attempt */
    bool simple;  /* one function each: the pair may have a closed form */
    bool checked; /* the surface is known */
    bool skipped; /* … and wants no contact */
    pcSurface surface;
    pcLayer layer;
    bool soft;
    double weight[2];
    pcLevel level;
    bool full;             /* it was an unknown of its own where the last answer was found */
    struct pcLoose* loose; /* or NULL: the level is solved wherever the bodies are put */
    pcPairCache cache;
    const struct pcKeptBond* kept; /* of the last step */
    int keptCount;
    struct pcBond* bond; /* of the list at hand */
    int bonds;
} pcNear;

/* A level whose x, t and l are unknowns of Newton's method beside the velocities (loose.c). */
typedef struct pcLoose {
    pcLevel base, step; /* where the step of Newton's method begins, and what it changes */
    pcLevel start;      /* of the round */
    pcLevelSlope slope;
    pcLevelRest rest;
} pcLoose;

/* What the next step begins with; vectors in world axes. */
typedef struct pcKeptBond {
    unsigned long long id;
    double normal, moment, core;
    v3 friction, deflection, tangent;
} pcKeptBond;

typedef struct pcBond {
    int near; /* -1: a contact that was given */
    int body1, body2;
    int kind; /* a pcEventKind; -1 of one that was given */
    unsigned long long id;
    bool frozen; /* by two features that go with their bodies, and a normal that goes with one of them; else the level problem of `near` */
    bool crossing; /* … or, of edges and rims that cross, its own one */
    pcLevel level;
    struct pcFeature {
        v3 k;          /* in body axes: a point, or the centre of a ball, or of the rim of a disc */
        double radius; /* 0: a point */
        bool rim;
        v3 axis; /* of the disc, in body axes */
    } feature[2];
    bool cut;  /* a point of the rim of a disc that all but lies flat: kept within the step, because the next one will be another */
    int owner; /* 0, 1: whose axes the normal k is in */
    v3 k;
    const pcLayer* layer;
    double limit[3]; /* mu e_t, mu e_o, mu e_r */
    v3 reference;    /* tangent 1 follows this */
    v3 belt;         /* surface velocity */
    double own[4];   /* own velocity per impulse of each row, friction as scaled */
    double e[4];
    double start;        /* gap before the step */
    double deflected[3]; /* deflection before the step: normal, tangents */

    double r[4], core;    /* multipliers; core: of the rigid core under a layer */
    double c[4], coreNow; /* impulses that the law makes of r and u, friction in scaled rows; what c[0] has from the core */
    double p[4],
        coreP; /* the answer: those at the end of the last step to first order. The law divides by e, they keep the balance to rounding */
    double deflection[2];
    double u[4]; /* gap / h, scaled velocities */
    double slip[3];
    double C[16];     /* dc/du */
    double U[4 * 12]; /* du over the velocities of body 1 and body 2 */
    double drift[4];  /* du of a loose level that settles */
    v3 x, n, t, o;
    double s;
} pcBond;

/* ---- The work ---- */

typedef struct pcWork {
    pcArena* arena;
    const pcImplicitSystem* system;
    const pcSettings* settings;
    const pcMotion* motion;
    pcMove move;
    const int* local; /* per body: its block in the island; -1: it does not move */
    pcPlace* place;   /* per body, and at the end the world */
    pcNear* near;

    int bodies;
    const int* body;
    int bonds, room;
    pcBond* bond;
    int rows;
    const int* row;
    double *rowR, *rowC, *rowP, *rowE, *rowOwn;

    int nears;
    const int* nearOf; /* of the island, ascending */
    int givens;
    const int* givenOf;      /* contacts that were given */
    const pcKeptBond* given; /* of all of them, from the last step; id 0: unknown */

    bool single;  /* pairs with faces have one contact as well */
    bool brief;   /* Newton's method is to give up where its first attempt fails */
    bool full;    /* levels are to be unknowns of their own … */
    bool loose;   /* … and are, just now */
    bool exact;   /* bonds of functions are where they will be; else frozen as well */
    double flat;  /* tilt of a disc below which the farthest point of its rim jumps about, so that points are kept */
    bool lost;    /* a level problem was not solved with the bodies at hand: one may lie in another beyond its middle */
    double ahead; /* part of the step after which the geometry is taken; beyond it, it goes on along straight lines. 1: the implicit step */
    double scale; /* what counts as one unit of velocity */
    double arm;   /* and of length, for spins */
    double *v, *R, *Q, *step, *trial, *start, *first; /* R: balance of the law's impulses; Q: of the answer's */
    double* D;                                        /* what becomes of R as loose levels settle */
    pcBlocks matrix;
    int newton;
} pcWork;

/* geometry.c: where the bond is with the places at hand; with derivatives over x1, theta1, x2, theta2. */
typedef struct pcGeometry {
    v3 x, n;
    double s;
    double ds[PC_COLUMNS];
    v3 dx[PC_COLUMNS], dn[PC_COLUMNS];
} pcGeometry;
bool pcBondGeometry(pcWork* work, pcBond* bond, bool slopes, pcGeometry* out);
pcColumns pcBondColumns(const pcWork* work, const pcBond* bond); /* of its bodies that move */
void pcPlacePiece(const pcWork* work, int form, int piece, const pcPlace* body, pcPlacedPiece* out);
const pcPlace* pcPlaceOf(const pcWork* work, int body);

/* law.c: c and C of the bond's u, r, e. */
void pcBondLaw(const pcMove* move, pcBond* bond, bool slopes);

/* evaluate.c: the island at work->v: places, bonds, R = M (v - v*) - sum W p, and the matrix dR/dv. False: a level problem was not solved. */
bool pcWorkEvaluate(pcWork* work, const double* v, bool slopes);
void pcWorkPredict(pcWork* work, const double* step); /* p = c + dc/dv step */
void pcWorkWeigh(pcWork* work);                       /* own, of all bonds and rows, at the places at hand */
double pcWorkMerit(const pcWork* work);               /* R' M^-1 R */
double pcWorkImbalance(pcWork* work);                 /* of p at work->v: largest |M^-1 Q|, by scale */
double pcWorkDisagreement(const pcWork* work);        /* largest e |p - c|, by scale: 0 unless a step crossed a kink or bends */
double pcWorkResidual(const pcWork* work);            /* natural residual of p and u, by scale */

/* loose.c: levels as unknowns. */
void pcLooseBegin(pcWork* work); /* those that are known where the bodies are, from now on; the arena remembers failures */
void pcLooseEnd(pcWork* work);
void pcLooseKeep(pcWork*work), pcLooseReturn(pcWork*work); /* at the start of a round, and back to there */
void pcLoosePredict(pcWork* work, const double* step);     /* what a step of the velocities changes in them */
void pcLooseMove(pcWork* work, double part);               /* by part of that */
double pcLooseMerit(const pcWork* work);                   /* beside pcWorkMerit, in its unit */
double pcLooseRest(const pcWork* work);                    /* relative: 1e-14 is rounding */
bool pcLooseIsRight(const pcWork* work);                   /* the active functions are */
void pcPlacePair(const pcWork* work, const pcNear* near, pcPlacedPiece side[2], pcLevelPair* out);

/* newton.c: rounds of Newton's method from work->v and r, until the residual is `goal`, or at most `tolerance` and no longer shrinks. */
bool pcWorkSolve(pcWork* work, double tolerance, double goal);
void pcWorkGuess(pcWork* work);   /* v that the multipliers r alone make with the bodies as they stand */
double pcWorkJudge(pcWork* work); /* residual of r at v */

/* bonds.c: the contacts of the island's pairs with the bodies at hand, in place of those before, whose impulses they take over. False: out of
 * memory, or a refused surface (with its sentence). work->lost tells of a level that was not solved. */
pcStatus pcBondsFind(pcWork* work, bool exact);
/* What is kept of a bond whose impulses are p. */
pcKeptBond pcBondKeep(const pcBond* bond, const double p[4], double core, const double deflection[2]);
pcStatus pcNearSurface(pcWork* work, pcNear* near);

/* island.c: the whole of one island. `solved` tells whether it met the tolerance; `rounds` how often features were looked for. */
typedef struct pcIslandEnd {
    bool solved;
    int rounds;
    double residual;
} pcIslandEnd;
typedef enum pcStart {
    PC_START_LAST,   /* from the last step's impulses if they nearly are the answer, else from the linearised step */
    PC_START_LINEAR, /* from the linearised step */
    PC_START_CREEP,  /* from there in small parts, the geometry taken ever later in the step */
    PC_START_LCP     /* from LCP steps with contacts at the end of the step (fallback.c) */
} pcStart;
pcStatus pcIslandImplicit(pcWork* work, pcStart from, pcIslandEnd* out);
pcStatus pcIslandFrom(pcWork* work, pcIslandEnd* out); /* … from work->v and p of the bonds at hand, without much patience */
pcStatus pcIslandFind(pcWork* work, bool* known); /* the bonds where work->v puts the bodies; known: there were no others that are not */

#endif
