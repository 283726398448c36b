"""One point of the friction law μ(I): a layer of disks sheared between two bumpy walls.

The upper wall presses with 1000 N/m and moves freely up and down, the lower one moves sideways. The
ratio of the forces on the upper wall is the effective friction.
"""
import numpy
import talus

walls = [{"name": "bottom", "type": "plane", "normal": [0, 1],
          "motion": {"type": "velocity", "velocity": [1, 0]}},
         {"name": "top", "type": "plane", "point": [0, 0.12], "normal": [0, -1], "motion":
          {"type": "servo", "mass": 1, "axis": [0, -1], "stress": 1000, "area": 0.1, "damping": 50}}]
bumps = [{"type": "lattice", "low": [0, y], "counts": [7, 1], "spacing": 0.1 / 7, "radius": 0.005,
          "glue": wall} for wall, y in (("bottom", -0.005), ("top", 0.115))]
layer = {"type": "fill", "region": {"low": [0, 0.005], "high": [0.1, 0.115]}, "count": 100,
         "diameter": {"distribution": "uniform", "min": 0.008, "max": 0.012}}
world = talus.Scene({"dimension": 2, "step": 1e-3, "periodic": {"x": [0, 0.1]},
                     "solver": {"tolerance": 0.05}, "until": {"time": 1},
                     "materials": {"bead": {"density": 2500, "friction": 0.4}},
                     "walls": walls, "grains": bumps + [layer]}).world()
world.run(steps=400)
forces = []
world.run(steps=600, callback=lambda w: forces.append(w.wall("top").force))
shear, normal = numpy.mean(forces, axis=0)[:2]
rate = 1 / world.wall("top").position[1]
print(f"I = {rate * 0.01 * (2500 / 1000) ** 0.5:.3f}, μ = {shear / normal:.3f}")
assert 0.2 < shear / normal < 0.7
