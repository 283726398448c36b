"""A function called every hundred steps: the height of a bouncing ball, until it rests.

The function sees the world between two steps and may change it; returning True ends the run. An
exception in it, or Ctrl-C, ends the run too and arrives where run() was called.
"""
import talus

world = talus.World(gravity=[0, 0, -9.81])
steel = world.add_material("steel", restitution=0.7)
world.add_wall("floor", "plane", normal=[0, 0, 1], material=steel)
world.add_grain(radius=0.01, position=[0, 0, 0.2], material=steel)


def watch(world):
    height = world.grains.position[0, 2]
    print(f"t = {world.time:.1f} s: {height * 1000:.1f} mm {'*' * int(height * 200)}")
    return world.last.kinetic_energy < 1e-7


world.run(steps=5000, h=1e-3, every=100, callback=watch)
assert abs(world.grains.position[0, 2] - 0.01) < 1e-4
