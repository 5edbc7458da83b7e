/* Flat shapes that need no hull: box and half-space. */
#include "base/status.h"
#include "shape/shape.h"

pcStatus pcCheckLength(const char* what, double length)
{
    if (!isfinite(length)) return pcFail(PC_ERROR_NOT_FINITE, "%s is %g: it must be a finite number", what, length);
    if (!(length > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "%s is %g: it must be positive", what, length);
    return PC_OK;
}

/* Corner i has the sign of bit 0 in x, bit 1 in y, bit 2 in z. Facet order: -x +x -y +y -z +z. */
pcStatus pcShapeBox(const double size[3], pcShape** out)
{
    static const char* const names[3] = {"the box size in x", "the box size in y", "the box size in z"};
    static int rings[24] = {0, 4, 6, 2, 1, 3, 7, 5, 0, 1, 5, 4, 2, 6, 7, 3, 0, 2, 3, 1, 4, 5, 7, 6};
    static int starts[7] = {0, 4, 8, 12, 16, 20, 24};
    if (!size || !out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeBox needs three sizes and a place for the shape");
    for (int i = 0; i < 3; i++) {
        pcStatus status = pcCheckLength(names[i], size[i]);
        if (status != PC_OK) return status;
    }
    double corner[24];
    for (int i = 0; i < 8; i++)
        for (int axis = 0; axis < 3; axis++) corner[3 * i + axis] = 0.5 * ((i >> axis & 1) ? size[axis] : -size[axis]);
    pcMesh mesh = {8, 6, corner, starts, rings};
    static const double origin[3] = {0.0, 0.0, 0.0};
    pcShape* s;
    pcStatus status = pcShapeFromMesh(&mesh, PC_SHAPE_BOX, origin, &s);
    if (status != PC_OK) return status;
    s->half = v3Make(0.5 * size[0], 0.5 * size[1], 0.5 * size[2]);
    s->centroid = v3Load(origin);
    s->volume = size[0] * size[1] * size[2];
    *out = s;
    return PC_OK;
}

bool pcUnitPlane(const double abcd[4], v3* normal, double* offset)
{
    int exponent;
    double scaled[4];
    frexp(v3Max(v3Load(abcd)), &exponent);
    for (int i = 0; i < 4; i++) scaled[i] = ldexp(abcd[i], -exponent);
    v3 a = v3Load(scaled);
    double largest = v3Max(a);
    if (!(largest > 0.0)) return false;
    a = v3Scale(1.0 / largest, a);
    double norm = v3Norm(a);
    *normal = v3Scale(1.0 / norm, a), *offset = scaled[3] / largest / norm;
    return isfinite(*offset);
}

pcStatus pcShapeHalfSpace(const double abcd[4], pcShape** out)
{
    if (!abcd || !out) return pcFail(PC_ERROR_ARGUMENT, "pcShapeHalfSpace needs a plane and a place for the shape");
    v3 a = v3Load(abcd);
    if (!v3Finite(a) || !isfinite(abcd[3])) return pcFail(PC_ERROR_NOT_FINITE, "the plane of a half-space has a number that is not finite");
    v3 normal;
    double offset;
    if (!pcUnitPlane(abcd, &normal, &offset))
        return pcFail(PC_ERROR_ARGUMENT, "the plane of a half-space has a zero normal, or is farther away than numbers go");
    pcShape* s = pcShapeNew(PC_SHAPE_HALFSPACE);
    if (!s) return pcFail(PC_ERROR_MEMORY, "no memory for a half-space");
    int exponent;
    frexp(v3Max(a), &exponent);
    for (int i = 0; i < 4; i++) s->plane[i] = ldexp(abcd[i], -exponent); /* the same plane, by numbers near 1 */
    s->planeNormal = normal, s->planeOffset = offset;
    s->volume = s->inradius = s->outradius = INFINITY;
    s->unbounded = true;
    s->centre = s->centroid = v3Scale(s->planeOffset, s->planeNormal);
    s->centreSize = v3Size(s->centre);
    *out = s;
    return PC_OK;
}
