/*
 * Box pairs four at a time: the 15 axes of boxes.c with one pair in each lane. A batch says only r, so it needs no common point where no
 * axis is in doubt: it is in doubt where two edges are nearly parallel (their axis is rounding) or the pair is thin, and those pairs,
 * few in random scenes, are solved one by one as pcMetricPair solves them. */
#include "base/status.h"
#include "metric/metric.h"

/* Sine squared of two edges below which their axis is in doubt: its relative error grows as 1 / sine. */
static const double DOUBT = 0.01;

/* Four pairs, lane by lane. */
typedef struct Lanes {
    v4d a[3], b[3], c[3], R[3][3];
    v4d inner; /* radius of a ball in the Minkowski difference */
    v4d error; /* of a length, in units of PC_ROUND */
} Lanes;

PC_INLINE void challenge(v4d* numerator, v4d* denominator, v4d distance, v4d width)
{
    v4i wins = distance * *denominator > *numerator * width;
    *numerator = v4Select(wins, distance, *numerator);
    *denominator = v4Select(wins, width, *denominator);
}

/* r of four pairs; lanes of `doubt` that are set must be solved again. */
PC_INLINE v4d ratios(const Lanes* L, v4i* doubt)
{
    v4d Q[3][3], numerator = v4Splat(0.0), denominator = v4Splat(1.0);
    *doubt = (v4i){0, 0, 0, 0};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) Q[i][j] = v4Abs(L->R[i][j]);
    for (int i = 0; i < 3; i++)
        challenge(&numerator, &denominator, v4Abs(L->c[i]), L->a[i] + L->b[0] * Q[i][0] + L->b[1] * Q[i][1] + L->b[2] * Q[i][2]);
    for (int j = 0; j < 3; j++)
        challenge(&numerator, &denominator, v4Abs(L->c[0] * L->R[0][j] + L->c[1] * L->R[1][j] + L->c[2] * L->R[2][j]),
                  L->b[j] + L->a[0] * Q[0][j] + L->a[1] * Q[1][j] + L->a[2] * Q[2][j]);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            int i1 = (i + 1) % 3, i2 = (i + 2) % 3, j1 = (j + 1) % 3, j2 = (j + 2) % 3;
            v4d square = Q[i1][j] * Q[i1][j] + Q[i2][j] * Q[i2][j];
            *doubt |= square <= DOUBT;
            challenge(&numerator, &denominator, v4Abs(L->c[i2] * L->R[i1][j] - L->c[i1] * L->R[i2][j]),
                      L->a[i1] * Q[i2][j] + L->a[i2] * Q[i1][j] + L->b[j1] * Q[i][j2] + L->b[j2] * Q[i][j1]);
        }
    v4d r = numerator / denominator;
    /* h_W(n) >= inner along every unit n, and 0.1 of it along an edge axis that is not in doubt: that bounds every axis' error */
    *doubt |= PC_ROUND * L->error > 0.1 * PC_METRIC_TOLERANCE * L->inner * v4Select(r < 1.0, r, v4Splat(1.0));
    return r;
}

PC_INLINE void loadLane(Lanes* L, int lane, const double* size1, const pcPose* pose1, const double* size2, const pcPose* pose2)
{
    m3 R1, R;
    m3FromQuaternion(v4Load(pose1->quaternion), &R1);
    m3FromQuaternion(quaternionBetween(pose1->quaternion, pose2->quaternion), &R);
    v3 c = m3TMul(&R1, v3Sub(v3Load(pose2->position), v3Load(pose1->position)));
    double at[3] = {c.x, c.y, c.z};
    for (int i = 0; i < 3; i++) {
        L->a[i][lane] = 0.5 * size1[i], L->b[i][lane] = 0.5 * size2[i], L->c[i][lane] = at[i];
        L->R[i][0][lane] = R.row[i][0], L->R[i][1][lane] = R.row[i][1], L->R[i][2][lane] = R.row[i][2];
    }
    L->inner[lane] = 0.5 * (smaller(smaller(size1[0], size1[1]), size1[2]) + smaller(smaller(size2[0], size2[1]), size2[2]));
    L->error[lane] = 1.5 * v3Norm(v3Load(size1)) + 5.0 * v3Norm(v3Load(size2)) + 14.0 * v3Norm(c);
}

/* Enough of a box for the closed form, without memory of its own. */
static pcShape boxOnStack(const double* size)
{
    pcShape s = {.kind = PC_SHAPE_BOX, .half = v3Scale(0.5, v3Load(size))};
    s.inradius = smaller(s.half.x, smaller(s.half.y, s.half.z)), s.outradius = v3Norm(s.half);
    return s;
}

/* By the closed form with its confirmation; if that fails too, with real shapes by every means. */
static pcStatus solveAlone(const double* size1, const pcPose* pose1, const double* size2, const pcPose* pose2, double* r)
{
    pcShape light1 = boxOnStack(size1), light2 = boxOnStack(size2), *box1 = NULL, *box2 = NULL;
    pcFrame frame;
    pcFrameMetric quick;
    pcMetric metric = {0};
    bool sane = v3Finite(light1.half) && v3Finite(light2.half) && light1.inradius > 0.0 && light2.inradius > 0.0;
    sane = sane && pcFrameMake(&light1, pose1, &light2, pose2, 0, &frame) == PC_OK;
    if (sane && pcMetricBoxes(&frame, &quick)) {
        *r = quick.r;
        return PC_OK;
    }
    pcStatus status = pcShapeBox(size1, &box1);
    if (status == PC_OK) status = pcShapeBox(size2, &box2);
    if (status == PC_OK) status = pcMetricPair(box1, pose1, box2, pose2, 0, NULL, &metric);
    if (status == PC_OK) *r = metric.r;
    pcShapeFree(box1);
    pcShapeFree(box2);
    return status;
}

/* The lanes from `first` on, at most four, in-doubt ones marked by NaN. A short last batch repeats its last pair. */
PC_SIMD static void solveFour(int first, int count, const double* size1, const pcPose* pose1, const double* size2, const pcPose* pose2,
                              double out[4])
{
    Lanes L;
    v4i doubt;
    for (int lane = 0; lane < 4; lane++) {
        int i = first + lane < count ? first + lane : count - 1;
        loadLane(&L, lane, size1 + 3 * (size_t)i, pose1 + i, size2 + 3 * (size_t)i, pose2 + i);
    }
    v4d r = ratios(&L, &doubt);
    v4Store(out, v4Select(doubt, v4Splat((double)NAN), r));
}

/* Whether nothing about a pair can be refused; one pass over the numbers. */
PC_INLINE bool usablePair(const double* a, const pcPose* p, const double* b, const pcPose* q)
{
    const double *x = p->position, *y = q->position, *u = p->quaternion, *v = q->quaternion;
    double least = smaller(smaller(smaller(a[0], a[1]), a[2]), smaller(smaller(b[0], b[1]), b[2]));
    double square1 = u[0] * u[0] + u[1] * u[1] + u[2] * u[2] + u[3] * u[3], square2 = v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + v[3] * v[3];
    double nought = (a[0] + a[1] + a[2] + b[0] + b[1] + b[2] + x[0] + x[1] + x[2] + y[0] + y[1] + y[2] + square1 + square2) * 0.0;
    bool apart = (x[0] != y[0]) | (x[1] != y[1]) | (x[2] != y[2]);
    return (nought == 0.0) & (least > 0.0) & (smaller(square1, square2) >= 1e-120) & (larger(square1, square2) <= 1e120) & apart;
}

/* Before anything is written: what is not plainly usable is asked of pcMetricPair, whose status and sentence it then is. */
static pcStatus checkPairs(int count, const double* size1, const pcPose* pose1, const double* size2, const pcPose* pose2)
{
    for (int i = 0; i < count; i++) {
        const double *a = size1 + 3 * (size_t)i, *b = size2 + 3 * (size_t)i;
        double ignored;
        pcStatus status = usablePair(a, pose1 + i, b, pose2 + i) ? PC_OK : solveAlone(a, pose1 + i, b, pose2 + i, &ignored);
        if (status != PC_OK) return status;
    }
    return PC_OK;
}

pcStatus pcMetricBoxPairs(int count, const double* size1, const pcPose* pose1, const double* size2, const pcPose* pose2, double* r)
{
    if (count < 0 || (count > 0 && (!size1 || !pose1 || !size2 || !pose2 || !r)))
        return pcFail(PC_ERROR_ARGUMENT, "pcMetricBoxPairs needs sizes, poses and a place for every ratio");
    pcStatus checked = checkPairs(count, size1, pose1, size2, pose2);
    if (checked != PC_OK) return checked;
    for (int first = 0; first < count; first = first < count - 4 ? first + 4 : count) {
        double four[4];
        solveFour(first, count, size1, pose1, size2, pose2, four);
        for (int lane = 0; lane < 4 && first + lane < count; lane++) {
            int i = first + lane;
            bool sure = four[lane] - four[lane] == 0.0 && four[lane] > 0.0;
            pcStatus status = sure ? PC_OK : solveAlone(size1 + 3 * (size_t)i, pose1 + i, size2 + 3 * (size_t)i, pose2 + i, four + lane);
            if (status != PC_OK) return status;
            r[i] = four[lane];
        }
    }
    return PC_OK;
}
