"""A run in a folder, as `talus run` makes it, and its frames and series as arrays.

The same folder can be looked at with every other tool: talus view, render, plot, export.
"""
import talus

summary = talus.run({
    "title": "a small heap", "dimension": 2, "step": 2e-3, "gravity": [0, -9.81],
    "materials": {"bead": {"friction": 0.5}},
    "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]}],
    "grains": [{"type": "fill", "region": {"low": [-0.1, 0], "high": [0.1, 0.3]}, "count": 100,
                "radius": 0.008}],
    "until": {"time": 1}, "output": {"frames": 0.1}}, "heap-run")
print(summary.verdict)

heap = talus.open("heap-run")
for frame in heap[::5]:
    print(f"t = {frame.time:.1f} s: top at {frame.grains.position[:, 1].max():.3f} m, "
          f"{len(frame.contacts)} contacts")
print("kinetic energy at the end:", heap.series["kinetic_energy"][-1], "J")
assert heap.stack("position").shape == (len(heap), 100, 2)
