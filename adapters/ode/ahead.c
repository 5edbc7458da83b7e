#include "adapters/ode/ahead.h"

#include <math.h>

#include "adapters/ode/native.h"
#include "base/vec.h"

/* From a place to the farthest corner of the geom's box. */
static double reachOf(dGeomID geom, const double* place, double* size)
{
    dReal box[6];
    double square = 0.0, diagonal = 0.0;
    dGeomGetAABB(geom, box);
    for (int k = 0; k < 3; k++) {
        double low = fabs(box[2 * k] - place[k]), high = fabs(box[2 * k + 1] - place[k]), far = larger(low, high);
        square += far * far, diagonal += (box[2 * k + 1] - box[2 * k]) * (box[2 * k + 1] - box[2 * k]);
    }
    *size = 0.5 * sqrt(diagonal);
    return sqrt(square);
}

double pcAheadMargin(const pcGathered* g, dGeomID geom, const double gravity[3], const pcSettings* settings, double h)
{
    int i = pcGatheredIndex(g, dGeomGetBody(geom));
    double size;
    if (settings->margin > 0.0 || i < 0) return settings->margin;
    const pcBody* body = g->state + i;
    double reach = reachOf(geom, body->pose.position, &size);
    double push = body->mass > 0.0 ? v3Norm(v3Load(g->force + 6 * (size_t)i)) / body->mass : 0.0;
    double speed = v3Norm(v3Load(body->velocity)) + h * (v3Norm(v3Load(gravity)) + push);
    return h * (speed + v3Norm(v3Load(body->velocity + 3)) * reach) + 0.001 * size;
}

int pcAheadCollide(dGeomID geom, dGeomID plane, dGeomID raised, double margin, dContactGeom* contacts, int most)
{
    dVector4 p;
    dGeomPlaneGetParams(plane, p);
    dGeomPlaneSetParams(raised, p[0], p[1], p[2], p[3] + margin);
    int count = pcNativeOde()->collide(geom, raised, most, contacts, sizeof *contacts);
    for (int i = 0; i < count; i++) {
        contacts[i].depth -= margin;
        if (contacts[i].g1 == raised) contacts[i].g1 = plane;
        if (contacts[i].g2 == raised) contacts[i].g2 = plane;
    }
    return count;
}
