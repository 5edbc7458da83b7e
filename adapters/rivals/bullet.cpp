/* Bullet: its discrete world with sequential impulses, ten iterations, as it comes, in double precision; nothing falls asleep. Friction of a
 * pair is the product of two there, so each body has the root. */
#include <btBulletDynamicsCommon.h>

#include <cmath>
#include <vector>

#include "adapters/rivals/rival.h"

struct Rival {
    btDefaultCollisionConfiguration configuration;
    btCollisionDispatcher dispatcher{&configuration};
    btDbvtBroadphase broadphase;
    btSequentialImpulseConstraintSolver solver;
    btDiscreteDynamicsWorld world{&dispatcher, &broadphase, &solver, &configuration};
    std::vector<btRigidBody*> body; /* per link */
    double h;
};

static btVector3 vectorOf(const double* x) { return btVector3(x[0], x[1], x[2]); }
static btQuaternion quaternionOf(const double* q) { return btQuaternion(q[1], q[2], q[3], q[0]); }
static btTransform transformOf(const pcPose& pose) { return btTransform(quaternionOf(pose.quaternion), vectorOf(pose.position)); }

static btCollisionShape* shapeOf(const pcSceneShape& shape)
{
    if (shape.kind == PC_SCENE_BOX) return new btBoxShape(0.5 * vectorOf(shape.size));
    if (shape.kind == PC_SCENE_SPHERE) return new btSphereShape(shape.size[0]);
    if (shape.kind == PC_SCENE_PLANE) return new btStaticPlaneShape(vectorOf(shape.normal), 0);
    if (shape.kind != PC_SCENE_HULLS || shape.pieces != 1) return nullptr;
    auto* hull = new btConvexHullShape;
    for (int i = 0; i < shape.piece[0].count; i++) hull->addPoint(vectorOf(shape.piece[0].xyz + 3 * i), false);
    hull->recalcLocalAabb();
    hull->setMargin(1e-3);
    return hull;
}

/* Shapes about the centre of mass. */
static bool addShapes(const pcScene* scene, int link, btCompoundShape* out, double* mu)
{
    for (int i = 0; i < scene->collisions; i++) {
        const pcSceneCollision& c = scene->collision[i];
        if (c.link != link) continue;
        btCollisionShape* shape = shapeOf(c.shape);
        if (!shape) return false;
        btTransform place = transformOf(c.pose);
        place.setOrigin(place.getOrigin() - vectorOf(scene->link[link].centre));
        out->addChildShape(place, shape);
        *mu = std::isnan(c.surface.mu) ? 1.0 : c.surface.mu;
    }
    return true;
}

static btRigidBody* addLink(Rival* rival, const pcScene* scene, int index)
{
    const pcSceneLink& link = scene->link[index];
    auto* shape = new btCompoundShape;
    double mu = 1.0;
    if (!addShapes(scene, index, shape, &mu)) return nullptr;
    btTransform place = transformOf(link.pose);
    place.setOrigin(place * vectorOf(link.centre));
    btVector3 inertia(link.inertia[0], link.inertia[4], link.inertia[8]);
    btRigidBody::btRigidBodyConstructionInfo info(link.fixed ? 0.0 : link.mass, nullptr, shape, link.fixed ? btVector3(0, 0, 0) : inertia);
    info.m_startWorldTransform = place;
    info.m_friction = std::sqrt(mu);
    auto* body = new btRigidBody(info);
    body->setActivationState(DISABLE_DEACTIVATION);
    body->setLinearVelocity(vectorOf(link.velocity)), body->setAngularVelocity(vectorOf(link.velocity + 3));
    rival->world.addRigidBody(body);
    return body;
}

static bool addJoint(Rival* rival, const pcSceneJoint& joint)
{
    btRigidBody* child = joint.child >= 0 ? rival->body[(size_t)joint.child] : nullptr;
    btRigidBody* parent = joint.parent >= 0 ? rival->body[(size_t)joint.parent] : nullptr;
    if (joint.kind != PC_SCENE_BALL || !child) return false;
    btVector3 anchor = vectorOf(joint.anchor), inChild = child->getWorldTransform().invXform(anchor);
    btTypedConstraint* made = parent ? new btPoint2PointConstraint(*child, *parent, inChild, parent->getWorldTransform().invXform(anchor))
                                     : new btPoint2PointConstraint(*child, inChild);
    rival->world.addConstraint(made, true);
    return true;
}

/* Links of one model pass through each other. */
static void part(Rival* rival, const pcScene* scene)
{
    for (int i = 0; i < scene->links; i++)
        for (int k = i + 1; k < scene->links && scene->link[k].model == scene->link[i].model; k++)
            if (!scene->link[i].selfCollide && !scene->link[k].selfCollide)
                rival->body[(size_t)i]->setIgnoreCollisionCheck(rival->body[(size_t)k], true);
}

Rival* rivalMake(const pcScene* scene, double h)
{
    auto* rival = new Rival;
    rival->h = h;
    for (int i = 0; i < scene->links; i++) {
        rival->body.push_back(addLink(rival, scene, i));
        if (!rival->body.back()) return nullptr;
    }
    part(rival, scene);
    for (int i = 0; i < scene->joints; i++)
        if (!addJoint(rival, scene->joint[i])) return nullptr;
    return rival;
}

void rivalStep(Rival* rival, const double gravity[3])
{
    rival->world.setGravity(vectorOf(gravity));
    rival->world.stepSimulation(rival->h, 0, rival->h);
}

void rivalState(const Rival* rival, int link, double out[PC_RIVAL_STATE])
{
    const btRigidBody* body = rival->body[(size_t)link];
    btVector3 x = body->getWorldTransform().getOrigin(), v = body->getLinearVelocity();
    btQuaternion q = body->getWorldTransform().getRotation();
    const double state[PC_RIVAL_STATE] = {x.x(), x.y(), x.z(), q.w(), q.x(), q.y(), q.z(), v.x(), v.y(), v.z()};
    for (int i = 0; i < PC_RIVAL_STATE; i++) out[i] = state[i];
}
