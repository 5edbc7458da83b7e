/* The smallest program outside the tree: one metric through the installed headers and library. */
#include <pcontact/metric.h>
#include <pcontact/shape.h>
#include <stdio.h>

int main(void)
{
    const double size[3] = {1, 1, 1};
    const pcPose here = {{0, 0, 0}, {1, 0, 0, 0}};
    const pcPose beside = {{2, 0, 0}, {1, 0, 0, 0}};
    pcShape* cube = NULL;
    pcMetric metric = {0};
    pcStatus status = pcShapeBox(size, &cube);
    if (status == PC_OK) {
        status = pcMetricPair(cube, &here, cube, &beside, 0, NULL, &metric);
    }
    pcShapeFree(cube);
    if (status != PC_OK) {
        fprintf(stderr, "%s: %s\n", pcStatusText(status), pcLastError());
        return 1;
    }
    printf("pcontact %s: r = %g\n", pcVersion(), metric.r);
    return metric.r == 2.0 ? 0 : 1;
}
