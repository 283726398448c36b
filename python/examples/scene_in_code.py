"""A scene as a dict, with the keys of docs/scenes.md: a chain of disks on a floor.

What is wrong in it is told with the place, as of a scene file; here a key is misspelt on purpose.
"""
import talus

scene = {"dimension": 2, "step": 1e-3, "gravity": [0, -9.81], "until": {"time": 1},
         "materials": {"glass": {"density": 2500, "friction": 0.3}},
         "walls": [{"name": "floor", "type": "plane", "normal": [0, 1]}],
         "grains": [{"type": "chain", "start": [0, 0], "direction": [0, 1], "count": 5,
                     "radius": 0.01}]}
world = talus.Scene(scene).world()
world.run(steps=100)
print(f"{len(world.contacts)} contacts, largest force {world.contacts.force.max():.2f} N")
try:
    talus.Scene(scene, sets={"materials.glass.frictoin": 0.5})
except talus.SceneError as mistake:
    print(mistake)
