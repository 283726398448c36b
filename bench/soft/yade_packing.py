"""A settled packing in YADE, timed or followed: see compare.py, which calls

    yade -n -x -jTHREADS yade_packing.py SETTINGS.json

and reads the line that this prints. The law is YADE's viscoelastic one, the nearest it has to
LAMMPS's gran/hooke/history: the same spring, dashpot and shear elongation, but friction bounds the
elastic part of the tangential force alone, and the dashpot acts only where nothing slides.
"""
import json
import sys
import time

import numpy

settings = json.load(open(sys.argv[-1]))


def partner(own, wanted):
    """What the floor needs to have so that YADE's a b / (a + b) is what is wanted."""
    return own * wanted / (own - wanted)


def material(normal_damping):
    return ViscElMat(kn=2 * settings["kn"], ks=2 * settings["kt"], cn=normal_damping,
                     cs=settings["damping_ratio"] * normal_damping,
                     frictionAngle=numpy.arctan(settings["mu"]), density=settings["density"])


O.periodic = True
O.cell.setBox(*settings["cell"])
grain = O.materials.append(material(2 * settings["cn"]))
ground = O.materials.append(material(partner(2 * settings["cn"], settings["floor_cn"])))
table = numpy.loadtxt(settings["packing"], delimiter=",", skiprows=1)
for row in table:
    body = O.bodies.append(sphere(row[:3], row[3], material=grain))
    O.bodies[body].state.vel, O.bodies[body].state.angVel = row[4:7], row[7:10]
O.bodies.append(wall(0, axis=2, sense=1, material=ground))

O.dt = settings["dt"]
O.engines = [
    ForceResetter(),
    # Each box is enlarged by verletDist, so two have a skin of twice that. The skin has to last for
    # the whole run: longer ones, with a second search, did not end (periodic cell, endless wall).
    InsertionSortCollider([Bo1_Sphere_Aabb(), Bo1_Wall_Aabb()], verletDist=settings["skin"] / 2,
                          allowBiggerThanPeriod=True),
    InteractionLoop([Ig2_Sphere_Sphere_ScGeom(), Ig2_Wall_Sphere_ScGeom()],
                    [Ip2_ViscElMat_ViscElMat_ViscElPhys()], [Law2_ScGeom_ViscElPhys_Basic()]),
    NewtonIntegrator(damping=0, gravity=settings["gravity"]),
]
O.run(max(settings["warm"], 1), True)
wall_before, cpu_before = time.perf_counter(), time.process_time()
O.run(settings["steps"], True)
wall_after, cpu_after = time.perf_counter(), time.process_time()

if settings["out"]:
    numpy.savetxt(settings["out"], [O.bodies[i].state.pos for i in range(len(table))], fmt="%.17g")
for contact in O.interactions:
    on_floor = max(contact.id1, contact.id2) == len(table)
    wanted = settings["kn"], settings["floor_cn" if on_floor else "cn"]
    assert numpy.allclose((contact.phys.kn, contact.phys.cn), wanted, rtol=1e-12), "not the law"
print("RESULT", json.dumps({"wall": wall_after - wall_before, "cpu": cpu_after - cpu_before}))
