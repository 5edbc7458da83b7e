/*
 * Products of a column-major panel H (m rows, n columns, H[row + column * ld]) with vectors, in vector lanes. Same input, same bits, on
 * every machine (unlike a BLAS). Zero coefficients cost nothing: that is how sparsity is used.
 */
#ifndef PC_LINALG_PANEL_H
#define PC_LINALG_PANEL_H

typedef struct pcPanel {
    int m, n, ld;
    double* H;
} pcPanel;

/* y += H c */
void pcPanelTimes(const pcPanel* panel, const double* c, double* y);
/* v = H'g */
void pcPanelTransposedTimes(const pcPanel* panel, const double* g, double* v);
/* H += u f' */
void pcPanelRankOne(const pcPanel* panel, const double* u, const double* f);

/* x'y;  y += a x */
double pcDot(int n, const double* x, const double* y);
void pcAddScaled(int n, double a, const double* x, double* y);
/* max |x_i|, 0 for none */
double pcLargest(int n, const double* x);

#endif
