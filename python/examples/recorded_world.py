"""A world built in Python, with a drive of your own, recorded, saved and gone on with.

Whatever steps the world records it: the folder can be opened by talus.open(), `talus view`, ParaView
and everything else that opens a run. A world that is saved is a file; loaded, it goes on with the
same bits.
"""
import numpy
import talus

world = talus.World(dim=2, gravity=[0, -9.81])
world.add_material("glass", friction=0.4)
world.add_wall("floor", "plane", normal=[0, 1])
world.add_wall("left", "plane", normal=[1, 0])
world.add_wall("right", "plane", normal=[-1, 0], position=[0.1, 0])
rows, columns = numpy.mgrid[0:8, 0:4]
world.add_grains(numpy.c_[0.015 + 0.021 * columns.ravel(), 0.011 + 0.021 * rows.ravel()], radius=0.01)

with world.record("shaken", frame_interval=0.02, title="shaken from Python") as record:
    while world.time < 0.3:
        world.set_gravity([3 * numpy.sin(40 * world.time), -9.81])  # a drive that no scene knows
        world.step(1e-3)
print(record.summary.outcome, len(talus.open("shaken")), "frames")

world.save("packing.h5")
again = talus.World.load("packing.h5")
again.steps(1e-3, 50)
world.steps(1e-3, 50)
assert again.hash() == world.hash() and record.summary.steps == 300
