#!/usr/bin/python3
"""Boxes fall and stack, in Python: a program of ODE that has never heard of pcontact. Prints where they end."""
import sys

import ode

STEP, STEPS, BOXES, HALF = 0.01, 300, 5, 0.5


def near(data, geom1, geom2):
    world, group = data
    for contact in ode.collide(geom1, geom2):
        contact.setMode(ode.ContactApprox1)
        contact.setMu(0.8)
        ode.ContactJoint(world, group, contact).attach(geom1.getBody(), geom2.getBody())


def main():
    world, space, group = ode.World(), ode.Space(), ode.JointGroup()
    world.setGravity((0, 0, -9.81))
    floor = ode.GeomPlane(space, (0, 0, 1), 0)
    bodies, geoms = [], [floor]
    for i in range(BOXES):
        body, mass = ode.Body(world), ode.Mass()
        mass.setBox(1000, 2 * HALF, 2 * HALF, 2 * HALF)
        body.setMass(mass)
        body.setPosition((0, 0, HALF + 1.2 * i))
        geom = ode.GeomBox(space, (2 * HALF, 2 * HALF, 2 * HALF))
        geom.setBody(body)
        bodies.append(body)
        geoms.append(geom)
    for _ in range(STEPS):
        space.collide((world, group), near)
        if "--quick" in sys.argv:
            world.quickStep(STEP)
        else:
            world.step(STEP)
        group.empty()
    heights = [body.getPosition()[2] for body in bodies]
    print("heights", " ".join("%.3f" % height for height in heights))
    stacked = all(abs(heights[i] - HALF * (2 * i + 1)) < 0.05 for i in range(BOXES))
    print("stacked" if stacked else "not stacked")
    return 0 if stacked else 1


if __name__ == "__main__":
    sys.exit(main())
