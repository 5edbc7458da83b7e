/*
 * Settings of a step: one struct, and one spelling for code, tool, environment and world files: "model=lcp gamma=0.3".
 */
#ifndef PCONTACT_SETTINGS_H
#define PCONTACT_SETTINGS_H

#include "pcontact/metric.h"
#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pcModel {
    PC_MODEL_NATIVE = 0, /* the host's own exact solver */
    PC_MODEL_QUICK,      /* the host's own iterative solver */
    PC_MODEL_LCP,        /* T 5.1: Coulomb friction */
    PC_MODEL_CONVEX,     /* T 5.7: its convex relaxation, unique velocity */
    PC_MODEL_IMPLICIT    /* G */
} pcModel;

typedef enum pcSolver { PC_SOLVER_AUTO = 0, PC_SOLVER_LEMKE, PC_SOLVER_FIXEDPOINT, PC_SOLVER_MINMAP, PC_SOLVER_SPARSE } pcSolver;

typedef enum pcNarrowphase { PC_NARROW_RATIO = 0, PC_NARROW_NATIVE, PC_NARROW_EUCLID } pcNarrowphase;
typedef enum pcGammaGap {
    PC_GAMMA_TOUCH = 0, /* gamma multiplies negative gaps only: nothing brakes before it touches */
    PC_GAMMA_PAPER      /* gamma multiplies every gap (T 5.1) */
} pcGammaGap;
typedef enum pcRestitution { PC_RESTITUTION_NEWTON = 0, PC_RESTITUTION_POISSON } pcRestitution;
typedef enum pcFrictionLaw {
    PC_FRICTION_HOST = 0, /* as each contact says */
    PC_FRICTION_COULOMB   /* mu is always a coefficient */
} pcFrictionLaw;

typedef enum pcFlight {
    PC_FLIGHT_END = 0, /* every body moves by h v, v its velocity at the end of the step, as ODE moves it */
    PC_FLIGHT_MEAN     /* bodies that fly move by the mean of their old and new velocity, and bounce within the step: energy is kept */
} pcFlight;

#define PC_PATH_LENGTH 256 /* room for a file name in the settings */

/* Start from pcDefaultSettings(): a struct that did not is refused. In brackets: the name in a settings text where it differs. */
typedef struct pcSettings {
    pcModel model;             /* native quick lcp convex implicit; default lcp */
    int shadow;                /* model=shadow:lcp: step natively, solve beside it */
    pcSolver solver;           /* auto lemke fixedpoint minmap sparse; default auto */
    pcNarrowphase narrowphase; /* ratio native euclid; default ratio. euclid: rows carry the Euclidean distance whatever `gap` says */
    /* In islands of 100 bodies and more gamma removes no depth below 1e-5 of |g| h^2, and gaps below 1e-6 of it are none (gammaGap=touch). */
    double gamma;              /* part of a gap that one step removes, 0 .. 2; NaN (unset): the host's ERP, 0.2 without a host */
    pcGammaGap gammaGap;       /* touch paper; default touch */
    pcGapKind gap;             /* length ratio pair; default length */
    int coneEdges;             /* edges of the friction cone: even and >= 4, or 0 = circular; default 0 */
    int alignCone;             /* 1: turn the edges of a polyhedral cone to the sliding direction; default 1 */
    double margin;             /* length looked ahead for contacts; 0: from velocities, spins and h; default 0 */
    double layer;              /* length kept between bodies: gap - layer; default 0 */
    double epsX, epsT, eps0;   /* selection of events (T 3.14), dimensionless; defaults as pcDefaultEventSettings() */
    double mu, mu2;            /* friction where nothing else says; mu2 = NaN (unset): as mu; default 0.5 */
    double bounce;             /* restitution where nothing else says, 0 .. 1; default 0 */
    pcRestitution restitution; /* newton poisson; default newton */
    pcFrictionLaw friction;    /* host coulomb; default host */
    int adaptiveGamma;         /* 1: gamma chosen per row and step; default 0 */
    int implicitJoints;        /* 1: points that joints hold are held where the step ends, and heavy loads on light links do not tear
                                  them apart at large steps: no drift, at two to four times the cost of islands with joints; default 0 */
    int lookahead;    /* 1: interposed dCollide, one for the process, also returns contacts still apart, by margin, or without one by
                                  twice the way of the fastest body in the last step; for our models only; default 0 */
    pcFlight flight;  /* end mean; default end. mean is of models lcp and convex; bodies on joints, and what is pressed, move as by end */
    double tolerance; /* of the residual, dimensionless; default 1e-10 */
    int threads;      /* that look for contacts, solve islands and factor large ones; 0: one per core; default 1 */
    int islands;      /* 0: all bodies in one problem, as E solves them, and not one per group of bodies that touch; default 1 */
    int fixedPoint;   /* 1 2 3: chi_1, chi_2, chi_3 of T 5.17; default 1 */
    int reportAfter;  /* 1: the report also tells infeasibility after the step, for which contacts are looked for twice; default 0 */
    char report[PC_PATH_LENGTH]; /* file for one line per step; "" none. A second world of the process that names the same file, at the same
                                    time or later, writes steps.2.csv. Files are written by hosts and the tool: pcSystemStep writes none */
    char dump[PC_PATH_LENGTH];   /* folder for steps that missed their tolerance, made if it is not there; "" none. Likewise */
    unsigned cookie;             /* private */
} pcSettings;

PC_API pcSettings pcDefaultSettings(void);

/* Changes what `text` names: words "name=value", separated by blanks or commas. All or nothing: on an error the settings stay as they
 * were, and pcLastError() names the word, what is wrong with it and what could stand there. */
PC_API pcStatus pcSettingsParse(pcSettings* settings, const char* text);

/* The settings as a text that pcSettingsParse reads back to the same values; only what differs from the defaults. Returns the length it
 * needs without the final 0, as snprintf does. */
PC_API int pcSettingsPrint(const pcSettings* settings, char* text, int capacity);

#ifdef __cplusplus
}
#endif
#endif
