"""How unequal contact forces are: their histogram in a settled packing, and the picture of it.

Forces of several times the mean are common, as in every granular packing.
"""
import numpy
import talus

rng = numpy.random.default_rng(1)
world = talus.World(dim=2, gravity=[0, -9.81])
world.add_material("glass", friction=0.3)
world.add_wall("box", "box", half_size=[0.1, 0.2], position=[0, 0.2], inside=True)
x, y = numpy.meshgrid(numpy.arange(-0.09, 0.095, 0.02), numpy.arange(0.01, 0.39, 0.02))
grid = numpy.column_stack([x.ravel(), y.ravel()]) + rng.uniform(-5e-4, 5e-4, (x.size, 2))
world.add_grains(grid, radius=rng.uniform(0.006, 0.0095, len(grid)))
world.run(steps=400, h=2e-3)

forces = talus.measure.forces(world, bins=12, force_most=4)
figure = talus.Figure(columns=2)
figure.axes(0, x_label="f_{n}/⟨f_{n}⟩", y_label="P(f_{n})")
figure.curve(forces.normal.edge[:-1], forces.normal.density, style="steps")
figure.world(world, panel=1, forces=True).write("forces.png")
print(f"{forces.contacts} contacts, the largest force is "
      f"{forces.largest_normal / forces.mean_normal:.1f} times the mean")
assert 2 < forces.largest_normal / forces.mean_normal < 20
