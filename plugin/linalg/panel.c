#include "linalg/panel.h"

#include <stddef.h>

#include "base/simd.h"

PC_INLINE void addScaled(int m, double a, const double* x, double* y)
{
    int i = 0;
    v4d a4 = v4Splat(a);
    for (; i + 8 <= m; i += 8) {
        v4d y0 = v4Load(y + i) + a4 * v4Load(x + i), y1 = v4Load(y + i + 4) + a4 * v4Load(x + i + 4);
        v4Store(y + i, y0), v4Store(y + i + 4, y1);
    }
    if (i + 4 <= m) v4Store(y + i, v4Load(y + i) + a4 * v4Load(x + i)), i += 4;
    for (; i < m; i++) y[i] += a * x[i];
}

PC_INLINE double dot(int m, const double* x, const double* y)
{
    v4d s0 = v4Splat(0.0), s1 = s0, s2 = s0, s3 = s0;
    int i = 0;
    for (; i + 16 <= m; i += 16) {
        s0 += v4Load(x + i) * v4Load(y + i), s1 += v4Load(x + i + 4) * v4Load(y + i + 4);
        s2 += v4Load(x + i + 8) * v4Load(y + i + 8), s3 += v4Load(x + i + 12) * v4Load(y + i + 12);
    }
    for (; i + 4 <= m; i += 4) s0 += v4Load(x + i) * v4Load(y + i);
    s0 = (s0 + s1) + (s2 + s3);
    double sum = (s0[0] + s0[1]) + (s0[2] + s0[3]);
    for (; i < m; i++) sum += x[i] * y[i];
    return sum;
}

PC_SIMD double pcDot(int n, const double* x, const double* y) { return dot(n, x, y); }

PC_SIMD void pcAddScaled(int n, double a, const double* x, double* y) { addScaled(n, a, x, y); }

PC_SIMD void pcPanelTimes(const pcPanel* panel, const double* c, double* y)
{
    for (int j = 0; j < panel->n; j++)
        if (c[j] != 0.0) addScaled(panel->m, c[j], panel->H + (size_t)j * (size_t)panel->ld, y);
}

PC_SIMD void pcPanelTransposedTimes(const pcPanel* panel, const double* g, double* v)
{
    for (int j = 0; j < panel->n; j++) v[j] = dot(panel->m, g, panel->H + (size_t)j * (size_t)panel->ld);
}

PC_SIMD void pcPanelRankOne(const pcPanel* panel, const double* u, const double* f)
{
    for (int j = 0; j < panel->n; j++)
        if (f[j] != 0.0) addScaled(panel->m, f[j], u, panel->H + (size_t)j * (size_t)panel->ld);
}

PC_SIMD double pcLargest(int n, const double* x)
{
    v4d most = v4Splat(0.0);
    int i = 0;
    for (; i + 4 <= n; i += 4) most = v4Max(v4Abs(v4Load(x + i)), most);
    double all = larger(larger(most[0], most[1]), larger(most[2], most[3]));
    for (; i < n; i++) all = larger(fabs(x[i]), all);
    return all;
}
