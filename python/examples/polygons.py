"""Grains that are not round: a brick slides down a slope if the slope is steeper than friction.

On 30 degrees with friction 0.4 its acceleration is g (sin 30° - 0.4 cos 30°).
"""
from math import cos, radians, sin

import talus

world = talus.World(dim=2, gravity=[9.81 * sin(radians(30)), -9.81 * cos(radians(30))])
world.add_material("stone", friction=0.4)
brick = world.add_solid("brick", [[0, 0], [0.2, 0], [0.2, 0.1], [0, 0.1]])
world.add_wall("slope", "plane", normal=[0, 1])
world.add_grain(solid=brick, position=[0, 0.05])
world.run(steps=500, h=1e-3)

expected = 9.81 * (sin(radians(30)) - 0.4 * cos(radians(30))) * world.time
print(f"velocity {world.grains.velocity[0, 0]:.4f} m/s, expected {expected:.4f} m/s")
assert abs(world.grains.velocity[0, 0] / expected - 1) < 1e-3
