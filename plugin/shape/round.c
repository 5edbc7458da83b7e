/* Round shapes: a core of one point or a segment and a ball, disc or ellipsoid around it; the container; support functions. */
#include "base/status.h"
#include "shape/shape.h"

static const double PI = 3.14159265358979323846;

/* Semi-axes further apart than this lose more digits of the metric than are left. */
static const double RATIO = 1e7;

/* Core points at -half and half along z, or one at the origin. */
static void setRound(pcShape* s, v3 semi, double half)
{
    s->semi = semi, s->coreCount = half > 0.0 ? 2 : 1;
    s->end[0][2] = -half, s->end[1][2] = half;
    s->k = s->end[0];
    s->centred = true;
    pcPlaceInnerPoints(s);
}

pcStatus pcShapeSphere(double radius, pcShape** out)
{
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeSphere needs a place for the shape");
    pcStatus status = pcCheckLength("the sphere radius", radius);
    if (status != PC_OK) return status;
    pcShape* s = pcShapeNew(PC_SHAPE_SPHERE);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for a sphere");
    s->radius = s->inradius = s->outradius = radius;
    s->volume = 4.0 / 3.0 * PI * radius * radius * radius;
    setRound(s, v3Make(radius, radius, radius), 0.0);
    *out = s;
    return PC_OK;
}

pcStatus pcShapeEllipsoid(const double semiAxes[3], pcShape** out)
{
    static const char* const names[3] = {"the semi-axis of the ellipsoid along x", "the semi-axis of the ellipsoid along y",
                                         "the semi-axis of the ellipsoid along z"};
    if (!semiAxes || !out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeEllipsoid needs three semi-axes and a place for the shape");
    for (int i = 0; i < 3; i++) {
        pcStatus status = pcCheckLength(names[i], semiAxes[i]);
        if (status != PC_OK) return status;
    }
    v3 a = v3Load(semiAxes);
    double least = smaller(a.x, smaller(a.y, a.z)), largest = v3Max(a);
    if (!(largest <= RATIO * least))
        return pcFail(PC_ERROR_ARGUMENT, "the semi-axes of the ellipsoid are %g to 1: at most %g to 1 can be measured", largest / least,
                      RATIO);
    pcShape* s = pcShapeNew(PC_SHAPE_ELLIPSOID);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for an ellipsoid");
    s->inradius = least, s->outradius = largest;
    s->volume = 4.0 / 3.0 * PI * a.x * a.y * a.z;
    setRound(s, a, 0.0);
    *out = s;
    return PC_OK;
}

pcStatus pcShapeCapsule(double radius, double length, pcShape** out)
{
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeCapsule needs a place for the shape");
    pcStatus status = pcCheckLength("the capsule radius", radius);
    if (status == PC_OK) status = pcCheckLength("the capsule length", length);
    if (status != PC_OK) return status;
    pcShape* s = pcShapeNew(PC_SHAPE_CAPSULE);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for a capsule");
    s->radius = s->inradius = radius, s->outradius = radius + 0.5 * length;
    s->volume = PI * radius * radius * (length + 4.0 / 3.0 * radius);
    setRound(s, v3Make(radius, radius, radius), 0.5 * length);
    *out = s;
    return PC_OK;
}

pcStatus pcShapeCylinder(double radius, double length, pcShape** out)
{
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeCylinder needs a place for the shape");
    pcStatus status = pcCheckLength("the cylinder radius", radius);
    if (status == PC_OK) status = pcCheckLength("the cylinder length", length);
    if (status != PC_OK) return status;
    pcShape* s = pcShapeNew(PC_SHAPE_CYLINDER);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for a cylinder");
    s->radius = radius, s->inradius = smaller(radius, 0.5 * length), s->outradius = hypot(radius, 0.5 * length);
    s->volume = PI * radius * radius * length;
    setRound(s, v3Make(radius, radius, 0.0), 0.5 * length);
    *out = s;
    return PC_OK;
}

pcStatus pcShapeContainer(double radius, pcShape** out)
{
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeContainer needs a place for the shape");
    pcStatus status = pcCheckLength("the container radius", radius);
    if (status != PC_OK) return status;
    pcShape* s = pcShapeNew(PC_SHAPE_CONTAINER);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for a container");
    s->radius = radius, s->unbounded = true, s->centred = true;
    s->volume = s->inradius = s->outradius = INFINITY;
    *out = s;
    return PC_OK;
}

/* ---- support functions ---- */

/* Directions that a support function is tried in: the axes, the diagonals of their planes and of space. */
#define TRIALS 26
/* What rounding may do to the radii that the caller gives, relative to the outer one. */
static const double RADIUS_SLOP = 1e-9;

pcTip pcTipAsked(const pcShape* s, v3 d)
{
    double direction[3], point[3] = {0.0, 0.0, 0.0}, size = v3Norm(d);
    v3Store(direction, v3Scale(1.0 / size, d));
    s->def.support(s->def.context, direction, point);
    v3 k = v3Sub(v3Load(point), s->centre);
    return (pcTip){k, v3Dot(d, k), 0};
}

static v3 trialDirection(int i)
{
    int cell = i < TRIALS / 2 ? i : i + 1; /* the middle of the 27 cells has no direction */
    v3 d = v3Make(cell % 3 - 1, cell / 3 % 3 - 1, cell / 9 - 1);
    return v3Scale(1.0 / v3Norm(d), d);
}

static pcStatus trySupport(const pcShape* s)
{
    for (int i = 0; i < TRIALS; i++) {
        v3 d = trialDirection(i);
        pcTip tip = pcTipAsked(s, d);
        double far = hypot(hypot(tip.k.x, tip.k.y), tip.k.z);                     /* also where squares are too small for numbers */
        double slop = RADIUS_SLOP * (smaller(far, s->outradius) + s->centreSize); /* what rounding does to the point */
        if (!v3Finite(tip.k))
            return pcFail(PC_ERROR_NOT_FINITE, "the support function gives no finite point along (%g, %g, %g)", d.x, d.y, d.z);
        if (!(tip.value >= s->inradius - slop))
            return pcFail(PC_ERROR_ARGUMENT, "the support function reaches %g along (%g, %g, %g): less than the inradius %g", tip.value,
                          d.x, d.y, d.z, s->inradius);
        if (!(far <= s->outradius + slop))
            return pcFail(PC_ERROR_ARGUMENT,
                          "the support function gives a point %g from the centre along (%g, %g, %g): the outradius is %g", far, d.x, d.y,
                          d.z, s->outradius);
    }
    return PC_OK;
}

static pcStatus checkDef(const pcSupportDef* def)
{
    if (!v3Finite(v3Load(def->centre))) return pcFail(PC_ERROR_NOT_FINITE, "the centre of a support function is not finite");
    pcStatus status = pcCheckLength("the inradius of a support function", def->inradius);
    if (status == PC_OK) status = pcCheckLength("the outradius of a support function", def->outradius);
    if (status == PC_OK && !(def->outradius >= def->inradius))
        status =
            pcFail(PC_ERROR_ARGUMENT, "the outradius %g of a support function is less than its inradius %g", def->outradius, def->inradius);
    return status;
}

pcStatus pcShapeSupport(const pcSupportDef* def, pcShape** out)
{
    if (!def || !def->support || !out)
        return pcFail(PC_ERROR_ARGUMENT, "pcShapeSupport needs a support function and a place for the shape");
    pcStatus status = checkDef(def);
    if (status != PC_OK) return status;
    pcShape* s = pcShapeNew(PC_SHAPE_SUPPORT);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for a support function");
    s->def = *def;
    s->centre = s->centroid = v3Load(def->centre);
    s->centreSize = v3Size(s->centre), s->centred = s->centreSize == 0.0;
    s->inradius = def->inradius, s->outradius = def->outradius, s->volume = NAN;
    s->coreCount = 1, s->k = s->end[0];
    pcPlaceInnerPoints(s);
    status = trySupport(s);
    if (status == PC_OK)
        *out = s;
    else
        pcShapeFree(s);
    return status;
}
