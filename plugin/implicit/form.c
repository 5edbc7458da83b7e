/* Making forms: every number is looked at, and what cannot be a body is refused with a sentence. */
#include "implicit/form.h"

#include <stdlib.h>
#include <string.h>

#include "base/pose.h"
#include "base/status.h"
#include "shape/shape.h"

static const pcPose ORIGIN = {{0, 0, 0}, {1, 0, 0, 0}};

/* ---- memory ---- */

static void freePieces(pcForm* form)
{
    for (int i = 0; i < form->pieces; i++) {
        free(form->piece[i].function);
        pcShapeFree(form->piece[i].shape);
    }
    free(form->piece);
    pcShapeFree(form->bound);
    free(form);
}

static pcForm* newForm(int pieces)
{
    pcForm* form = calloc(1, sizeof *form);
    if (!form) return NULL;
    atomic_init(&form->owners, 1);
    form->piece = calloc((size_t)pieces, sizeof *form->piece);
    form->pieces = form->piece ? pieces : 0;
    if (form->piece) return form;
    free(form);
    return NULL;
}

static bool addFunctions(pcPiece* piece, int count)
{
    piece->function = calloc((size_t)count, sizeof *piece->function);
    if (!piece->function) return false;
    piece->count = count;
    return true;
}

static pcStatus outOfMemory(pcForm* form)
{
    if (form) freePieces(form);
    return pcFail(PC_ERROR_MEMORY, "out of memory for a form");
}

pcForm* pcFormShare(const pcForm* form)
{
    pcForm* shared = (pcForm*)(uintptr_t)form;
    if (shared) atomic_fetch_add(&shared->owners, 1);
    return shared;
}

void pcFormFree(pcForm* form)
{
    if (form && atomic_fetch_sub(&form->owners, 1) == 1) freePieces(form);
}

/* ---- the whole ---- */

/* The balls at the ends of a capsule are no pieces of their own. */
static bool isConvex(const pcForm* form)
{
    return form->pieces == 1 || (form->pieces == 3 && form->piece->shape && form->piece->shape->kind == PC_SHAPE_CAPSULE);
}

/* A ball around all pieces, and what the broadphase sees. */
static pcStatus finish(pcForm* form, pcForm** out)
{
    const pcPiece* first = form->piece;
    form->centre = first->centre, form->radius = first->radius;
    for (int i = 1; i < form->pieces && !isConvex(form); i++)
        form->radius = larger(form->radius, v3Norm(v3Sub(form->piece[i].centre, form->centre)) + form->piece[i].radius);
    form->boundPose = ORIGIN;
    pcStatus status = PC_OK;
    if (first->shape && isConvex(form)) {
        form->bound = pcShapeShare(first->shape), form->boundPose = first->pose;
    } else if (form->radius < HUGE_VAL) {
        status = pcShapeSphere(form->radius, &form->bound);
        v3Store(form->boundPose.position, form->centre);
    }
    if (status != PC_OK) {
        freePieces(form);
        return status;
    }
    *out = form;
    return PC_OK;
}

/* One piece of `count` functions, which are still empty. */
static pcForm* onePiece(int count, double radius)
{
    pcForm* form = newForm(1);
    if (!form || (count > 0 && !addFunctions(form->piece, count))) {
        if (form) freePieces(form);
        return NULL;
    }
    form->piece->radius = radius, form->piece->pose = ORIGIN;
    return form;
}

/* ---- simple forms ---- */

static pcFunction planeOf(v3 a, double d) { return (pcFunction){.kind = PC_FUNCTION_PLANE, .a = a, .d = d}; }

static pcFunction roundOf(const pcShapeInfo* info)
{
    if (info->kind == PC_SHAPE_SPHERE) return (pcFunction){.kind = PC_FUNCTION_SPHERE, .d = info->semi[0]};
    if (info->kind == PC_SHAPE_CAPSULE) return (pcFunction){.kind = PC_FUNCTION_CAPSULE, .a.z = 0.5 * info->length, .d = info->semi[0]};
    if (info->kind == PC_SHAPE_CYLINDER) return (pcFunction){.kind = PC_FUNCTION_ROD, .d = info->semi[0]};
    v3 a = v3Load(info->semi);
    return (pcFunction){.kind = PC_FUNCTION_QUADRIC, .a = a, .d = smaller(a.x, smaller(a.y, a.z))};
}

static int functionsOf(const pcShapeInfo* info)
{
    switch (info->kind) {
    case PC_SHAPE_POLYHEDRON:
    case PC_SHAPE_BOX: return info->facets;
    case PC_SHAPE_CYLINDER: return 3;
    case PC_SHAPE_CONTAINER:
    case PC_SHAPE_SUPPORT: return 0;
    default: return 1;
    }
}

static void fillFunctions(const pcShape* shape, const pcShapeInfo* info, pcPiece* piece)
{
    pcFacet facet;
    if (info->kind == PC_SHAPE_HALFSPACE) {
        piece->function[0] = planeOf(shape->planeNormal, shape->planeOffset);
    } else if (info->kind == PC_SHAPE_POLYHEDRON || info->kind == PC_SHAPE_BOX) {
        for (int i = 0; i < piece->count; i++)
            if (pcShapeFacet(shape, i, &facet) == PC_OK) piece->function[i] = planeOf(v3Load(facet.plane), facet.plane[3]);
    } else if (piece->count > 0) {
        piece->function[0] = roundOf(info);
    }
    if (info->kind == PC_SHAPE_CYLINDER)
        for (int i = 0; i < 2; i++) piece->function[1 + i] = planeOf(v3Make(0, 0, i ? -1.0 : 1.0), 0.5 * info->length);
}

static void place(pcFunction* f, const m3* R, v3 at)
{
    if (f->kind == PC_FUNCTION_PLANE && !f->placed) {
        f->a = m3Mul(R, f->a), f->d += v3Dot(f->a, at);
        return;
    }
    pcFunction old = *f;
    f->placed = true, f->R = *R, f->at = at;
    if (!old.placed) return;
    f->at = v3Add(at, m3Mul(R, old.at));
    for (int k = 0; k < 3; k++) f->R.column[k] = v3ToLanes(m3Mul(R, v3OfLanes(old.R.column[k])));
    for (int k = 0; k < 3; k++) f->R.row[k] = (v4d){f->R.column[0][k], f->R.column[1][k], f->R.column[2][k], 0.0};
}

/* A capsule is the union of itself and of the balls at its ends: lying on a face it touches along a line, whose ends they are. */
static bool addEnds(pcForm* form, const pcShapeInfo* info)
{
    pcPiece* wider = realloc(form->piece, 3 * sizeof *wider);
    if (!wider) return false;
    form->piece = wider;
    for (int i = 0; i < 2; i++) {
        pcPiece* end = form->piece + form->pieces;
        *end = (pcPiece){.pose = ORIGIN, .radius = info->semi[0], .round = true, .centre = {0, 0, (i ? -0.5 : 0.5) * info->length}};
        if (!addFunctions(end, 1)) return false;
        form->pieces++;
        end->function[0] = (pcFunction){.kind = PC_FUNCTION_SPHERE, .d = info->semi[0]};
        m3 still;
        m3FromQuaternion(v4Load(ORIGIN.quaternion), &still);
        place(end->function, &still, end->centre);
    }
    return true;
}

pcStatus pcFormOfShape(const pcShape* shape, pcForm** out)
{
    pcShapeInfo info;
    if (!shape || !out) return pcFail(PC_ERROR_ARGUMENT, "the shape or where its form goes is NULL");
    pcStatus status = pcShapeDescribe(shape, &info);
    if (status != PC_OK) return status;
    bool unbounded = info.kind == PC_SHAPE_HALFSPACE || info.kind == PC_SHAPE_CONTAINER;
    pcForm* form = onePiece(functionsOf(&info), unbounded ? HUGE_VAL : info.outradius);
    if (!form) return outOfMemory(NULL);
    pcPiece* piece = form->piece;
    piece->shape = pcShapeShare(shape);
    fillFunctions(shape, &info, piece);
    if (info.kind == PC_SHAPE_HALFSPACE)
        piece->centre = v3Scale(shape->planeOffset - 1.0, shape->planeNormal);
    else
        piece->centre = v3Load(info.centre);
    piece->round = info.kind == PC_SHAPE_SPHERE || info.kind == PC_SHAPE_ELLIPSOID;
    piece->flat = !piece->round && info.kind != PC_SHAPE_CAPSULE;
    if (info.kind == PC_SHAPE_CAPSULE && !addEnds(form, &info)) return outOfMemory(form);
    return finish(form, out);
}

/* Takes over what the maker of a shape says. */
static pcStatus ofShape(pcStatus status, pcShape* shape, pcForm** out)
{
    if (status != PC_OK) return status;
    status = pcFormOfShape(shape, out);
    pcShapeFree(shape);
    return status;
}

#define FORM_OF(...)                      \
    do {                                  \
        pcShape* shape = NULL;            \
        pcStatus made = __VA_ARGS__;      \
        return ofShape(made, shape, out); \
    } while (0)

pcStatus pcFormHalfSpace(const double abcd[4], pcForm** out) { FORM_OF(pcShapeHalfSpace(abcd, &shape)); }
pcStatus pcFormSphere(double radius, pcForm** out) { FORM_OF(pcShapeSphere(radius, &shape)); }
pcStatus pcFormEllipsoid(const double semiAxes[3], pcForm** out) { FORM_OF(pcShapeEllipsoid(semiAxes, &shape)); }
pcStatus pcFormCylinder(double radius, double length, pcForm** out) { FORM_OF(pcShapeCylinder(radius, length, &shape)); }
pcStatus pcFormCapsule(double radius, double length, pcForm** out) { FORM_OF(pcShapeCapsule(radius, length, &shape)); }
pcStatus pcFormPolyhedron(const double abcd[], int count, pcForm** out) { FORM_OF(pcShapeFromPlanes(abcd, count, NULL, &shape)); }

pcStatus pcFormSuperellipsoid(const double semiAxes[3], double p, double q, pcForm** out)
{
    if (!semiAxes || !out) return pcFail(PC_ERROR_ARGUMENT, "the semi-axes or where the form goes are NULL");
    for (int i = 0; i < 3; i++) {
        pcStatus status = pcCheckLength("semi-axis of a superellipsoid", semiAxes[i]);
        if (status != PC_OK) return status;
    }
    if (!(p >= 2.0 && p <= 64.0 && q >= 2.0 && q <= 64.0))
        return pcFail(PC_ERROR_ARGUMENT, "the exponents of a superellipsoid are %g and %g; from 2 to 64 it is convex and smooth", p, q);
    v3 a = v3Load(semiAxes);
    pcForm* form = onePiece(1, v3Norm(a));
    if (!form) return outOfMemory(NULL);
    form->piece->function[0] = (pcFunction){.kind = PC_FUNCTION_SUPER, .a = a, .d = smaller(a.x, smaller(a.y, a.z)), .p = p, .q = q};
    form->piece->round = true;
    return finish(form, out);
}

/* ---- functions of the caller ---- */

static pcStatus checkInside(const pcPiece* piece)
{
    for (int i = 0; i < piece->count; i++) {
        double f = pcFunctionValue(piece->function + i, piece->centre);
        if (!(f < 0.0)) return pcFail(PC_ERROR_CENTRE, "function %d is %g at the point that should be inside; it must be < 0", i, f);
    }
    return PC_OK;
}

pcStatus pcFormFunctions(const pcConvexDef* functions, int count, const double inside[3], double radius, pcForm** out)
{
    if (!functions || !inside || !out || count < 1 || count > 4096)
        return pcFail(PC_ERROR_ARGUMENT, "%d functions, or one of the arguments is NULL", count);
    if (!v3Finite(v3Load(inside))) return pcFail(PC_ERROR_NOT_FINITE, "the inner point of a form is not finite");
    if (!(radius > 0.0)) return pcFail(PC_ERROR_ARGUMENT, "the radius of a form is %g; it must be > 0", radius);
    pcForm* form = onePiece(count, radius);
    if (!form) return outOfMemory(NULL);
    form->piece->centre = v3Load(inside), form->piece->round = count == 1;
    for (int i = 0; i < count; i++) {
        if (!functions[i].value) {
            freePieces(form);
            return pcFail(PC_ERROR_ARGUMENT, "function %d is NULL", i);
        }
        form->piece->function[i] = (pcFunction){.kind = PC_FUNCTION_USER, .user = functions[i]};
    }
    pcStatus status = checkInside(form->piece);
    if (status == PC_OK) return finish(form, out);
    freePieces(form);
    return status;
}

/* ---- placed parts ---- */

static pcStatus checkParts(const pcForm* const* forms, const pcPose* poses, int count, bool convex)
{
    if (!forms || !poses || count < 1) return pcFail(PC_ERROR_ARGUMENT, "%d parts of a form, or one of the arguments is NULL", count);
    for (int i = 0; i < count; i++) {
        double square = quaternionSquare(poses[i].quaternion);
        if (!forms[i]) return pcFail(PC_ERROR_ARGUMENT, "part %d of a form is NULL", i);
        if (convex && (!isConvex(forms[i]) || forms[i]->piece->count == 0))
            return pcFail(PC_ERROR_ARGUMENT, "part %d of an intersection is not one piece given by functions", i);
        if (!v3Finite(v3Load(poses[i].position)) || !(square > 1e-200 && square < 1e200))
            return pcFail(PC_ERROR_ARGUMENT, "part %d of a form: its pose is not finite, or its quaternion has no length", i);
    }
    return PC_OK;
}

static void copyFunctions(const pcPiece* from, const pcPose* pose, pcFunction* to)
{
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    for (int i = 0; i < from->count; i++) {
        to[i] = from->function[i];
        place(to + i, &R, v3Load(pose->position));
    }
}

static v3 placedPoint(const pcPose* pose, v3 x)
{
    m3 R;
    m3FromQuaternion(v4Load(pose->quaternion), &R);
    return v3Add(v3Load(pose->position), m3Mul(&R, x));
}

pcStatus pcFormIntersection(const pcForm* const* forms, const pcPose* poses, int count, const double inside[3], pcForm** out)
{
    pcStatus status = checkParts(forms, poses, count, true);
    if (status != PC_OK) return status;
    if (!inside || !out || !v3Finite(v3Load(inside))) return pcFail(PC_ERROR_ARGUMENT, "the inner point of a form is not a point");
    int functions = 0;
    for (int i = 0; i < count; i++) functions += forms[i]->piece->count;
    pcForm* form = onePiece(functions, HUGE_VAL);
    if (!form) return outOfMemory(NULL);
    pcPiece* piece = form->piece;
    piece->centre = v3Load(inside), piece->round = functions == 1 && forms[0]->piece->round;
    int at = 0;
    for (int i = 0; i < count; i++) {
        const pcPiece* part = forms[i]->piece;
        copyFunctions(part, poses + i, piece->function + at), at += part->count;
        piece->radius = smaller(piece->radius, v3Norm(v3Sub(placedPoint(poses + i, part->centre), piece->centre)) + part->radius);
    }
    status = checkInside(piece);
    if (status == PC_OK) return finish(form, out);
    freePieces(form);
    return status;
}

pcStatus pcFormUnion(const pcForm* const* forms, const pcPose* poses, int count, pcForm** out)
{
    pcStatus status = checkParts(forms, poses, count, false);
    if (status != PC_OK) return status;
    if (!out) return pcFail(PC_ERROR_ARGUMENT, "where the union goes is NULL");
    int pieces = 0, at = 0;
    for (int i = 0; i < count; i++) pieces += forms[i]->pieces;
    pcForm* form = newForm(pieces);
    if (!form) return outOfMemory(NULL);
    for (int i = 0; i < count; i++)
        for (int k = 0; k < forms[i]->pieces; k++) {
            const pcPiece* part = forms[i]->piece + k;
            pcPiece* piece = form->piece + at++;
            *piece = *part, piece->function = NULL, piece->shape = NULL, piece->count = 0;
            if (part->count > 0 && !addFunctions(piece, part->count)) return outOfMemory(form);
            copyFunctions(part, poses + i, piece->function);
            piece->shape = pcShapeShare(part->shape), piece->pose = pcPoseCompose(poses + i, &part->pose);
            piece->centre = placedPoint(poses + i, part->centre);
        }
    return finish(form, out);
}

/* ---- what a form says of itself ---- */

pcStatus pcFormDescribe(const pcForm* form, pcFormInfo* out)
{
    if (!form || !out) return pcFail(PC_ERROR_ARGUMENT, "the form or where its description goes is NULL");
    *out = (pcFormInfo){.pieces = form->pieces, .radius = form->radius};
    for (int i = 0; i < form->pieces; i++) out->functions += form->piece[i].count;
    v3Store(out->centre, form->centre);
    return PC_OK;
}

double pcFormValue(const pcForm* form, const double x[3])
{
    double least = (double)NAN;
    for (int i = 0; form && i < form->pieces; i++) {
        const pcPiece* piece = form->piece + i;
        double f = piece->count > 0 ? -HUGE_VAL : (double)NAN;
        for (int k = 0; k < piece->count; k++) f = larger(f, pcFunctionValue(piece->function + k, v3Load(x)));
        least = i > 0 && least <= f ? least : f;
    }
    return least;
}
