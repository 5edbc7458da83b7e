/*
 * Versions of the public structs: a program says what it was compiled with, and the library whether it can serve it.
 *
 *     if (pcAbiCheck() != PC_OK) { puts(pcLastError()); … }        before anything else; of use where the library is loaded late
 *
 * The rules: functions carry the symbol version PCONTACT_0.1 for as long as every struct they take or fill is laid out as here. A struct that
 * must change gets a new number below, and the functions that use it a new symbol version, beside the old ones for old programs. Settings
 * have a cookie as well: one that does not come from the library's own defaults is refused.
 */
#ifndef PCONTACT_ABI_H
#define PCONTACT_ABI_H

#include "pcontact/implicit.h"
#include "pcontact/lcp.h"
#include "pcontact/metric.h"
#include "pcontact/settings.h"
#include "pcontact/shape.h"
#include "pcontact/system.h"
#include "pcontact/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Every public struct that needs no ODE, by a number that is never given again. Those of pcontact.h have theirs there. */
#define PC_ABI_STRUCTS(X)    \
    X(1, pcSolveInfo)        \
    X(2, pcPose)             \
    X(3, pcSupportDef)       \
    X(4, pcShapeInfo)        \
    X(5, pcFacet)            \
    X(6, pcPairCache)        \
    X(7, pcMetric)           \
    X(8, pcDistance)         \
    X(9, pcEventSettings)    \
    X(10, pcEvent)           \
    X(11, pcSolveSettings)   \
    X(12, pcLcp)             \
    X(13, pcDelassus)        \
    X(14, pcSettings)        \
    X(15, pcBody)            \
    X(16, pcSurface)         \
    X(17, pcPlacedShape)     \
    X(18, pcRow)             \
    X(19, pcContact)         \
    X(20, pcSystem)          \
    X(21, pcContactResult)   \
    X(22, pcStepReport)      \
    X(23, pcSystemResult)    \
    X(24, pcConvexDef)       \
    X(25, pcFormInfo)        \
    X(26, pcLayer)           \
    X(27, pcPlacedForm)      \
    X(28, pcImplicitSystem)  \
    X(29, pcImplicitContact) \
    X(30, pcImplicitReport)  \
    X(31, pcImplicitResult)

/* One struct as somebody knows it. This one never changes. */
typedef struct pcAbiSize {
    int number, bytes;
} pcAbiSize;
#define PC_ABI_SIZE_(number, type) {number, (int)sizeof(type)},

/* PC_ERROR_UNSUPPORTED, with a sentence that names it, if the library knows a struct by another size or not at all. */
PC_API pcStatus pcAbiCompare(const pcAbiSize* sizes, int count);

static inline pcStatus pcAbiCheck(void)
{
    static const pcAbiSize sizes[] = {PC_ABI_STRUCTS(PC_ABI_SIZE_)};
    return pcAbiCompare(sizes, (int)(sizeof sizes / sizeof *sizes));
}

#ifdef __cplusplus
}
#endif
#endif
