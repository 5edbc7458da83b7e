#include "test_worlds/soak/random_world.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/vec.h"

static int below(RandomWorld* w, int limit) { return (int)(pcRandomBits(&w->random) % (uint64_t)limit); }
static double between(RandomWorld* w, double low, double high) { return low + (high - low) * pcRandomUnit(&w->random); }

/* ---- geoms ---- */

static dGeomID makeConvex(RandomWorld* w)
{
    static const dReal planes[] = {1, 0, 0, 0.2, -1, 0, 0, 0.2, 0, 1, 0, 0.3, 0, -1, 0, 0.3, 0, 0, 1, 0.1, 0, 0, -1, 0.1};
    static const dReal points[] = {-0.2, -0.3, -0.1, 0.2, -0.3, -0.1, -0.2, 0.3, -0.1, 0.2, 0.3, -0.1,
                                   -0.2, -0.3, 0.1,  0.2, -0.3, 0.1,  -0.2, 0.3, 0.1,  0.2, 0.3, 0.1};
    static const unsigned polygons[] = {4, 1, 3, 7, 5, 4, 0, 4, 6, 2, 4, 2, 6, 7, 3, 4, 0, 1, 5, 4, 4, 4, 5, 7, 6, 4, 0, 2, 3, 1};
    return dCreateConvex(w->space, planes, 6, points, 8, polygons);
}

static dGeomID makeGeom(RandomWorld* w)
{
    double a = between(w, 0.1, 0.5), b = between(w, 0.1, 0.5), c = between(w, 0.1, 0.5);
    switch (below(w, 6)) {
    case 0: return dCreateSphere(w->space, 0.5 * a);
    case 1: return dCreateCapsule(w->space, 0.5 * a, b);
    case 2: return dCreateCylinder(w->space, 0.5 * a, b);
    case 3: return makeConvex(w);
    default: return dCreateBox(w->space, a, b, c);
    }
}

static void addGeom(RandomWorld* w, dBodyID body)
{
    int place = below(w, RANDOM_GEOMS);
    if (w->geom[place]) return;
    dGeomID geom = w->geom[place] = makeGeom(w);
    w->made++;
    if (body) dGeomSetBody(geom, body);
    if (body && below(w, 3) == 0) dGeomSetOffsetPosition(geom, between(w, -0.2, 0.2), 0, between(w, -0.2, 0.2));
    if (!body) dGeomSetPosition(geom, between(w, -1, 1), between(w, -1, 1), between(w, 0, 0.5));
}

static void dropGeom(RandomWorld* w)
{
    int place = below(w, RANDOM_GEOMS);
    if (!w->geom[place]) return;
    dGeomDestroy(w->geom[place]);
    w->geom[place] = NULL, w->destroyed++;
}

/* ---- bodies ---- */

static void addBody(RandomWorld* w)
{
    int place = below(w, RANDOM_BODIES);
    if (w->body[place]) return;
    dBodyID body = w->body[place] = dBodyCreate(w->world);
    dMass mass;
    dMassSetBoxTotal(&mass, pow(10.0, between(w, -1, 2)), between(w, 0.1, 0.5), between(w, 0.1, 0.5), between(w, 0.1, 0.5));
    dBodySetMass(body, &mass);
    dBodySetPosition(body, between(w, -1, 1), between(w, -1, 1), between(w, 0.3, 2));
    dQuaternion turn = {between(w, -1, 1), between(w, -1, 1), between(w, -1, 1), between(w, 0.1, 1)};
    dBodySetQuaternion(body, turn);
    if (below(w, 12) == 0) dBodySetKinematic(body);
    if (below(w, 4) == 0) dBodySetAutoDisableFlag(body, 1);
    if (below(w, 6) == 0) dBodySetFiniteRotationMode(body, 1);
    w->made++;
    addGeom(w, body);
}

/* Its geoms stay: ODE takes them off. */
static void dropBody(RandomWorld* w, int place)
{
    if (!w->body[place]) return;
    dBodyDestroy(w->body[place]);
    w->body[place] = NULL, w->destroyed++;
}

static void kick(RandomWorld* w)
{
    dBodyID body = w->body[below(w, RANDOM_BODIES)];
    if (!body) return;
    switch (below(w, 4)) {
    case 0: dBodySetLinearVel(body, between(w, -3, 3), between(w, -3, 3), between(w, -3, 3)); break;
    case 1: dBodyAddForce(body, between(w, -50, 50), between(w, -50, 50), between(w, -50, 50)); break;
    case 2: dBodyAddTorque(body, between(w, -5, 5), between(w, -5, 5), between(w, -5, 5)); break;
    default: (dBodyIsEnabled(body) ? dBodyDisable : dBodyEnable)(body);
    }
}

/* Out of sight it is too far for ODE's spaces, which end the program. */
static void dropGeomsOf(RandomWorld* w, dBodyID body)
{
    for (int i = 0; i < RANDOM_GEOMS; i++)
        if (w->geom[i] && dGeomGetBody(w->geom[i]) == body) dGeomDestroy(w->geom[i]), w->geom[i] = NULL, w->destroyed++;
}

/* What fell or was thrown out of sight is of no use any more. */
static void dropTheLost(RandomWorld* w)
{
    pcStepReport report;
    pcWorldReportExtra extra;
    bool native = pcWorldReportMore(w->world, &extra) != PC_OK || extra.native;
    bool missed = pcWorldReport(w->world, &report) == PC_OK && report.outcome != PC_SOLVED;
    for (int i = 0; i < RANDOM_BODIES; i++) {
        if (!w->body[i]) continue;
        v3 x = v3Load(dBodyGetPosition(w->body[i])), v = v3Load(dBodyGetLinearVel(w->body[i])), s = v3Load(dBodyGetAngularVel(w->body[i]));
        bool slow = v3Norm(v) < 100.0 && v3Norm(s) < 200.0; /* nothing falls that fast */
        if (slow && v3Norm(x) < 20.0) continue;
        if (!slow) *(native ? &w->thrownNatively : &w->thrown) += 1;
        w->flown += !native && v3Norm(v) > (missed ? 1e3 : 1e8);
        dropGeomsOf(w, w->body[i]), dropBody(w, i);
    }
}

/* ---- joints ---- */

static dJointID makeJoint(RandomWorld* w, dBodyID one, dBodyID other)
{
    const dReal* x = dBodyGetPosition(one);
    dJointID joint;
    switch (below(w, 7)) {
    case 0: joint = dJointCreateHinge(w->world, NULL); break;
    case 1: joint = dJointCreateSlider(w->world, NULL); break;
    case 2: joint = dJointCreateUniversal(w->world, NULL); break;
    case 3: joint = dJointCreateFixed(w->world, NULL); break;
    case 4: joint = dJointCreateLMotor(w->world, NULL); break;
    default: joint = dJointCreateBall(w->world, NULL);
    }
    dJointAttach(joint, one, other);
    switch (dJointGetType(joint)) {
    case dJointTypeHinge: dJointSetHingeAnchor(joint, x[0], x[1], x[2] + 0.3), dJointSetHingeParam(joint, dParamFMax, 0.5); break;
    case dJointTypeSlider: dJointSetSliderAxis(joint, 0, 0.6, 0.8), dJointSetSliderParam(joint, dParamLoStop, -0.2); break;
    case dJointTypeUniversal: dJointSetUniversalAnchor(joint, x[0], x[1] + 0.3, x[2]); break;
    case dJointTypeFixed: dJointSetFixed(joint); break;
    case dJointTypeLMotor: dJointSetLMotorNumAxes(joint, 1), dJointSetLMotorAxis(joint, 0, 0, 1, 0, 0); break;
    default: dJointSetBallAnchor(joint, x[0] + 0.2, x[1], x[2]);
    }
    return joint;
}

static void addJoint(RandomWorld* w)
{
    int place = below(w, RANDOM_JOINTS);
    dBodyID one = w->body[below(w, RANDOM_BODIES)], other = below(w, 3) ? w->body[below(w, RANDOM_BODIES)] : NULL;
    if (w->joint[place] || !one || one == other) return;
    w->joint[place] = makeJoint(w, one, other), w->made++;
    if (below(w, 2)) dJointSetFeedback(w->joint[place], w->feedback + place);
    if (below(w, 8) == 0) dJointDisable(w->joint[place]);
}

static void dropJoint(RandomWorld* w)
{
    int place = below(w, RANDOM_JOINTS);
    if (!w->joint[place]) return;
    dJointDestroy(w->joint[place]);
    w->joint[place] = NULL, w->destroyed++;
}

/* ---- contacts ---- */

enum { BY_SPACE, BY_COLLECTING, BY_JOINTS, WAYS };

/* Now and then dCollide returns none, of a convex geom that just touches another; a joint made of it becomes a NaN in dWorldStep, and an assertion. */
static bool hasNormal(const dContactGeom* g) { return fabs(v3Norm(v3Load(g->normal)) - 1.0) < 1e-6; }

static void makeContactJoints(void* data, dGeomID one, dGeomID other)
{
    RandomWorld* w = data;
    dContact contact[6];
    dBodyID body1 = dGeomGetBody(one), body2 = dGeomGetBody(other);
    if (body1 == body2) return; /* the world itself, or pieces of one body */
    int count = dCollide(one, other, 6, &contact[0].geom, sizeof *contact);
    for (int i = 0; i < count; i++) {
        if (!hasNormal(&contact[i].geom)) {
            w->normalless++;
            continue;
        }
        contact[i].surface = (dSurfaceParameters){.mode = dContactApprox1, .mu = 0.6};
        dJointAttach(dJointCreateContact(w->world, w->group, contact + i), body1, body2);
    }
}

static void attachAnew(RandomWorld* w)
{
    static const char* const models[] = {"model=lcp",    "model=lcp",           "model=lcp",       "model=convex",         "model=convex",
                                         "model=lcp",    "model=lcp bounce=.5", "model=lcp",       "model=lcp mu=0 mu2=0", "model=implicit",
                                         "model=native", "model=quick",         "model=shadow:lcp"};
    static const char* const solvers[] = {"", "", "", "solver=sparse", "solver=lemke coneEdges=8", "solver=fixedpoint", "threads=2"};
    pcSettings settings = pcDefaultSettings();
    const char* model = models[below(w, sizeof models / sizeof *models)];
    const char* solver = strcmp(model, "model=lcp") == 0 ? solvers[below(w, sizeof solvers / sizeof *solvers)] : "";
    snprintf(w->attached, sizeof w->attached, "%s %s %s", model, solver, w->settings);
    w->contacts = below(w, WAYS);
    if (below(w, 4) == 0) pcWorldDetach(w->world);
    if (pcSettingsParse(&settings, w->attached) != PC_OK ||
        pcWorldAttach(w->world, w->contacts == BY_SPACE ? w->space : NULL, &settings) != PC_OK)
        fprintf(stderr, "%s: %s\n", w->attached, pcLastError());
}

/* ---- the story ---- */

static void change(RandomWorld* w)
{
    switch (below(w, 7)) {
    case 0: addBody(w); break;
    case 1: dropBody(w, below(w, RANDOM_BODIES)); break;
    case 2: addGeom(w, below(w, 4) ? w->body[below(w, RANDOM_BODIES)] : NULL); break;
    case 3: dropGeom(w); break;
    case 4: addJoint(w); break;
    case 5: dropJoint(w); break;
    default: kick(w);
    }
}

void randomWorldBegin(RandomWorld* w, unsigned long long seed, const char* settings)
{
    *w = (RandomWorld){.random = {seed}, .settings = settings};
    w->world = dWorldCreate(), w->space = dHashSpaceCreate(NULL), w->group = dJointGroupCreate(0);
    dWorldSetGravity(w->world, 0, 0, -9.81);
    dCreatePlane(w->space, 0, 0, 1, 0);
    for (int i = 0; i < 2 * RANDOM_BODIES; i++) addBody(w);
    attachAnew(w);
}

pcStatus randomWorldStep(RandomWorld* w, double h)
{
    for (int changes = 1 + below(w, 4); changes > 0; changes--) change(w);
    if (below(w, 25) == 0) attachAnew(w);
    if (w->contacts == BY_COLLECTING) dSpaceCollide(w->space, w->world, pcNearCallback);
    if (w->contacts == BY_JOINTS) dSpaceCollide(w->space, w, makeContactJoints);
    if (below(w, 3) == 0) change(w); /* between collecting and the step */
    pcStatus status = pcWorldStep(w->world, h);
    dJointGroupEmpty(w->group);
    dropTheLost(w);
    return status;
}

bool randomWorldFinite(const RandomWorld* w)
{
    bool finite = true;
    for (int i = 0; i < RANDOM_BODIES; i++)
        for (int k = 0; w->body[i] && k < 3; k++)
            finite &= isfinite(dBodyGetPosition(w->body[i])[k]) && isfinite(dBodyGetLinearVel(w->body[i])[k]);
    return finite;
}

void randomWorldEnd(RandomWorld* w)
{
    pcWorldDetach(w->world);
    dJointGroupDestroy(w->group);
    dWorldDestroy(w->world);
    dSpaceDestroy(w->space);
}
