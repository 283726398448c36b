#!/usr/bin/env python3
"""What a step costs in Python beside the C function that makes it.

    PYTHONPATH=build/release/python /usr/bin/python3 bench/python_step.py [GRAINS ...]

Disks side by side on a floor, stepped by World.step() and by the bare function of the library in
turn. Printed are microseconds of processor time for a step: the median of twenty-one turns.
"""
import statistics
import sys
import time

import talus
from talus._library import ffi, lib

TURNS, STEP = 21, 1e-4


def seconds(step, count):
    began = time.process_time()
    for _ in range(count):
        step()
    return (time.process_time() - began) / count


def measure(grains):
    world = talus.World(dim=2, threads=1)
    world.add_material("glass")
    world.add_wall("floor", "plane", normal=[0, 1])
    world.add_grains([[0.25 * i, 0.1] for i in range(grains)], radius=0.1, material="glass")
    result, error = ffi.new("talus_step_result*"), ffi.new("talus_error*")

    def bare():
        lib.talus_world_steps(world._pointer, STEP, 1, result, error)

    count = 1 + 10000 // (10 + grains)
    turns = [(seconds(lambda: world.step(STEP), count), seconds(bare, count))
             for _ in range(TURNS)]
    python, c = (1e6 * statistics.median(column) for column in zip(*turns))
    more = 1e6 * statistics.median(p - b for p, b in turns)
    print(f"{grains:7d} {python:12.1f} {c:8.1f} {more:9.1f}")


print(" grains World.step()   bare C      more   (us)")
for number in [int(a) for a in sys.argv[1:]] or [1, 10, 100, 1000]:
    measure(number)
