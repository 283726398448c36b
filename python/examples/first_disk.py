"""The first disk: it falls from half a metre onto a floor and lies there.

The contact force at the end is its weight: Contact Dynamics gives it as the force that keeps the
disk from going through the floor, without any stiffness.
"""
import talus

world = talus.World(dim=2, gravity=[0, -9.81])
world.add_wall("floor", "plane", normal=[0, 1])
world.add_grain(radius=0.01, density=2500, position=[0, 0.5])
world.run(steps=1000, h=1e-3)

weight = world.grains.mass[0] * 9.81
print(f"height {world.grains.position[0, 1]:.4f} m, force {world.contacts.force[0, 1]:.4f} N")
assert abs(world.contacts.force[0, 1] / weight - 1) < 1e-9
