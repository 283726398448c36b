#!/usr/bin/python3
"""Spheres settling in a box with Siconos's mechanics, for bench/settle.

Reads `radius,x,y,z` a line, runs Siconos's own runner (mechanics_run: Bullet finds the contacts,
Moreau-Jean steps, NSGS solves), writes `cpu,wall` seconds of the steps and then `x,y,z` a line.
Needs Debian's python3-siconos.
"""
import argparse
import math
import os
import tempfile
import time

import numpy
import siconos.kernel as sk
import siconos.numerics as sn
from siconos.io.mechanics_run import MechanicsHdf5Runner
from siconos.mechanics.collision.bullet import SiconosBulletOptions
from siconos.mechanics.collision.tools import Contactor


def read_options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("start")
    parser.add_argument("end")
    parser.add_argument("--half-width", type=float, required=True)
    parser.add_argument("--friction", type=float, required=True)
    parser.add_argument("--density", type=float, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--rate", type=float, required=True, help="steps a second")
    parser.add_argument("--tolerance", type=float, required=True)
    parser.add_argument("--iterations", type=int, required=True, help="NSGS gives up after so many")
    return parser.parse_args()


def add_container(io, half_width, height):
    """A floor and four walls, 5 m thick, as in bench/bullet."""
    thick, wide = 5.0, 2.0 * half_width + 10.0
    boxes = {
        "floor": ([wide, wide, thick], [0, 0, -thick / 2]),
        "west": ([thick, wide, height], [-half_width - thick / 2, 0, height / 2]),
        "east": ([thick, wide, height], [half_width + thick / 2, 0, height / 2]),
        "south": ([wide, thick, height], [0, -half_width - thick / 2, height / 2]),
        "north": ([wide, thick, height], [0, half_width + thick / 2, height / 2]),
    }
    for name, (size, place) in boxes.items():
        # A margin inside the box: its faces stay where they are.
        io.add_primitive_shape(name + "-shape", "Box", size, insideMargin=0.04, outsideMargin=0.0)
        io.add_object(name, [Contactor(name + "-shape")], translation=place)


def write_scene(path, balls, options):
    height = 2.0 * balls[:, 3].max()
    with MechanicsHdf5Runner(io_filename=path, mode="w") as io:
        io.add_Newton_impact_friction_nsl("contact", mu=options.friction, e=0.0)
        add_container(io, options.half_width, height)
        for i, (radius, x, y, z) in enumerate(balls):
            mass = options.density * 4.0 / 3.0 * math.pi * radius**3
            inertia = 0.4 * mass * radius**2
            io.add_primitive_shape(f"ball-{i}", "Sphere", [radius], insideMargin=0.0,
                                   outsideMargin=0.0)
            io.add_object(f"grain-{i}", [Contactor(f"ball-{i}")], translation=[x, y, z],
                          mass=mass, inertia=[inertia] * 3)


class Clock:
    """Starts when the first step does; the scene is read before that."""

    def __init__(self):
        self.cpu = self.wall = None

    def initialize(self, runner):
        self.cpu, self.wall = time.process_time(), time.perf_counter()

    def step(self):
        pass


def run_scene(path, options, clock):
    solver = sk.solver_options_create(sn.SICONOS_FRICTION_3D_NSGS)
    solver.iparam[sn.SICONOS_IPARAM_MAX_ITER] = options.iterations
    solver.dparam[sn.SICONOS_DPARAM_TOL] = options.tolerance
    bullet = SiconosBulletOptions()
    bullet.perturbationIterations = 0  # balls touch at one point
    bullet.minimumPointsPerturbationThreshold = 0
    with MechanicsHdf5Runner(io_filename=path, mode="r+") as io:
        io.run(T=options.seconds, h=1.0 / options.rate, theta=1.0, Newton_max_iter=1,
               Newton_options=sk.SICONOS_TS_LINEAR, solver_options=solver, bullet_options=bullet,
               controller=clock, verbose=False, verbose_progress=False,
               output_frequency=10**9, gravity_scale=1.0)
        seconds = time.process_time() - clock.cpu, time.perf_counter() - clock.wall
        rows = numpy.array(io._io.positions(io._nsds))  # number, x, y, z, quaternion
    return seconds, rows[numpy.argsort(rows[:, 0]), 1:4]


def main():
    options = read_options()
    balls = numpy.loadtxt(options.start, delimiter=",")
    clock = Clock()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scene.hdf5")
        write_scene(path, balls, options)
        seconds, places = run_scene(path, options, clock)
    if len(places) != len(balls):
        raise SystemExit(f"{len(places)} bodies came back, {len(balls)} went in")
    with open(options.end, "w", encoding="ascii") as file:
        file.write("%.6f,%.6f\n" % seconds)
        numpy.savetxt(file, places, delimiter=",")


if __name__ == "__main__":
    main()
