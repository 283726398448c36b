"""A recorded run with a force of your own: wind that blows in gusts over a pile of disks.

The function is called before every step and sees the world of the run. What it needs from step to
step is in the dict `keep`, which goes into the checkpoints: stop the run whenever you like and call
talus.resume() with the same function, and it ends with the same bits as if it had never stopped.
"""
import tempfile

import numpy
import talus

scene = {"dimension": 2, "step": 1e-3, "gravity": [0, -9.81], "until": {"time": 0.4},
         "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]},
                   {"name": "left", "type": "plane", "normal": [1, 0]}],
         "grains": [{"type": "fill", "region": {"low": [0, 0], "high": [0.2, 0.1]}, "count": 50,
                     "diameter": 0.015}], "output": {"frames": 0.02}}
keep: dict = {"work": 0.0, "gust": numpy.random.default_rng(1)}


def wind(world):
    if world.last.step % 50 == 0:
        keep["speed"] = keep["gust"].uniform(0, 20)
    drag = 0.02 * (keep["speed"] - world.grains.velocity[:, 0])
    world.grains.external_force[:, 0] = drag
    keep["work"] += world.step_length * float((drag * world.grains.velocity[:, 0]).sum())


with tempfile.TemporaryDirectory() as folder:
    first = talus.run(scene, folder, before_step=wind, keep=keep,
                      progress=lambda p: p.last.step == 150)     # stop after 150 steps
    summary = talus.resume(folder, before_step=wind, keep=keep)  # and go on
    print(f"{first.outcome}, then {summary.outcome}: the wind did {keep['work']:.3f} J of work")
    frames = talus.open(folder)
    print(f"{len(frames)} frames, the last one at t = {frames[-1].time:.2f} s")
assert keep["work"] > 0 and len(frames.times) == 21
