/*
 * Perfect Contact: types that every other header builds on.
 *
 * Conventions, said once and for all headers:
 *   - world axes; the unit of length is the caller's;
 *   - quaternions are w, x, y, z; they need not be unit (they are normalised), but their length must not be 0 or astronomical;
 *   - normals are unit vectors and point from body 1 to body 2;
 *   - a gap is > 0 apart, 0 touching, < 0 penetrating;
 *   - gradients and wrenches are about `pose.position`;
 *   - outputs are written only when a function returns PC_OK.
 */
#ifndef PCONTACT_TYPES_H
#define PCONTACT_TYPES_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(_WIN32)
#define PC_API
#else
#define PC_API __attribute__((visibility("default")))
#endif

#define PC_VERSION_MAJOR 0
#define PC_VERSION_MINOR 1
#define PC_VERSION_PATCH 0
#define PC_VERSION_TEXT "0.1.0"

/* Every status with the sentence that pcStatusText gives for it: one table, so that they cannot drift apart. */
#define PC_STATUS_TABLE(X)                                                                       \
    X(PC_OK, "ok")                                                                               \
    X(PC_ERROR_ARGUMENT, "an argument is missing or out of its range")                           \
    X(PC_ERROR_NOT_FINITE, "a number is NaN or infinite")                                        \
    X(PC_ERROR_FLAT, "the points do not span a volume")                                          \
    X(PC_ERROR_EMPTY, "the half-spaces have no common interior")                                 \
    X(PC_ERROR_UNBOUNDED, "the half-spaces do not bound a volume")                               \
    X(PC_ERROR_CENTRE, "the centre is not strictly inside the shape")                            \
    X(PC_ERROR_COINCIDENT, "the centres of the two shapes coincide, so no direction is defined") \
    X(PC_ERROR_UNSUPPORTED, "this pair of shapes is not supported")                              \
    X(PC_ERROR_MEMORY, "out of memory")                                                          \
    X(PC_ERROR_INTERNAL, "an internal check failed")

#define PC_STATUS_NAME_(name, text) name,
typedef enum pcStatus { PC_STATUS_TABLE(PC_STATUS_NAME_) PC_STATUS_COUNT } pcStatus;
#undef PC_STATUS_NAME_

/* The general sentence of a status; never NULL, also for values that are no status. */
PC_API const char* pcStatusText(pcStatus status);

/* One sentence about the last call on this thread that failed; "" if none has. Valid until the next failure on this thread. */
PC_API const char* pcLastError(void);

/* The version of the library that is running: "0.1.0". */
PC_API const char* pcVersion(void);

/* How a solver ended: mathematics, not misuse. A solution that is not PC_SOLVED says how good it is by its residual. */
typedef enum pcOutcome {
    PC_SOLVED = 0,
    PC_INACCURATE, /* usable, but the tolerance was missed */
    PC_RAY,        /* unbounded or infeasible, with a ray as proof */
    PC_LIMIT,      /* out of iterations */
    PC_BAD_INPUT   /* nothing was solved */
} pcOutcome;

typedef struct pcSolveInfo {
    pcOutcome outcome;
    int iterations;
    double residual; /* always filled; what it measures is said where the solver is declared */
    int fallbacks;   /* how often another method had to take over */
    int products, restarts; /* minmap: matrix products of its inner linear solver, and how often that one began; else 0 */
} pcSolveInfo;

typedef struct pcPose {
    double position[3];
    double quaternion[4]; /* w, x, y, z */
} pcPose;

#ifdef __cplusplus
}
#endif
#endif
