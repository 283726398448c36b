"""A sphere that is thrown along a plane: it slides, its spin grows, and then it rolls.

Whatever the friction, it loses 2/7 of its velocity until it rolls: angular momentum about a point of
the plane is conserved.
"""
import talus

world = talus.World(gravity=[0, 0, -9.81])
rubber = world.add_material("rubber", friction=0.3)
world.add_wall("table", "plane", normal=[0, 0, 1], material=rubber)
world.add_grain(radius=0.02, position=[0, 0, 0.02], velocity=[1, 0, 0], material=rubber)
world.run(steps=500, h=1e-3)

velocity, spin = world.grains.velocity[0], world.grains.spin[0]
print(f"velocity {velocity[0]:.4f} m/s (5/7 = {5 / 7:.4f}), surface {spin[1] * 0.02:.4f} m/s")
assert abs(velocity[0] - 5 / 7) < 1e-3 and abs(spin[1] * 0.02 - velocity[0]) < 1e-6
