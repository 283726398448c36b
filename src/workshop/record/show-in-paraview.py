"""Show the run of this folder in ParaView: grains as spheres or in their shapes, walls, and the
contact forces as tubes, as wide as they are large. A run writes it, and `talus export`.

    paraview --script=show-in-paraview.py       or in ParaView: File, Load State...
"""
import os

from paraview import simple

WIDEST_TUBE = 0.4  # mean radii, the tube of the largest force


def load(folder, name):
    """A table of the run over time, as the run or an export wrote it; None if it has no such table."""
    path = os.path.join(folder, name)
    if os.path.exists(path + ".xdmf2"):
        return simple.XDMFReader(registrationName=name, FileNames=[path + ".xdmf2"])
    if os.path.exists(path + ".pvd"):
        return simple.PVDReader(registrationName=name, FileName=path + ".pvd")
    return None


def ends(source, place, name):
    """Smallest and largest value of a field at the time shown; of a vector, of its size."""
    data = getattr(source, place)
    array = data[name] if name in data.keys() else None
    if array is None:
        return 0.0, 0.0
    return array.GetRange(-1 if array.GetNumberOfComponents() > 1 else 0)


def colour(display, view, plane, place):
    """In the plane all grains alike, so that the forces on them are seen; in space by their speed."""
    if plane:
        display.ColorArrayName = [None, ""]
        display.DiffuseColor = display.AmbientColor = [0.78, 0.82, 0.88]
        return
    simple.ColorBy(display, (place, "velocity", "Magnitude"))
    colours = simple.GetColorTransferFunction("velocity")
    colours.ApplyPreset("Viridis (matplotlib)", True)
    colours.RescaleTransferFunction(0.0, colours.RGBPoints[-4])  # from rest, not from the slowest
    bar = simple.GetScalarBar(colours, view)
    bar.Title, bar.ComponentTitle = "speed", ""
    bar.TitleFontSize, bar.LabelFontSize = 12, 10
    bar.LabelFormat = bar.RangeLabelFormat = "%.2g"
    display.SetScalarBarVisibility(view, True)


def show_grains(grains, view, plane):
    """Spheres. The radius of a solid is 0 here: it is shown in its shape."""
    display = simple.Show(grains, view)
    display.SetRepresentationType("3D Glyphs")
    display.GlyphType = "Sphere"
    display.GlyphType.Radius = 1.0
    display.GlyphType.ThetaResolution = 24
    display.GlyphType.PhiResolution = 24
    display.Scaling = 1
    display.ScaleMode = "Magnitude"
    display.SelectScaleArray = "radius"
    display.ScaleFactor = 1.0
    colour(display, view, plane, "POINTS")


def show_solids(solids, view, plane):
    display = simple.Show(solids, view)
    display.SetRepresentationType("Surface With Edges" if plane else "Surface")
    display.EdgeColor = [0.45, 0.5, 0.6]
    colour(display, view, plane, "CELLS")


def show_walls(walls, view, plane):
    display = simple.Show(walls, view)
    display.SetRepresentationType("Surface")
    display.ColorArrayName = [None, ""]
    display.DiffuseColor = display.AmbientColor = [0.2, 0.2, 0.25] if plane else [0.6, 0.62, 0.7]
    display.LineWidth = 3.0
    display.Opacity = 1.0 if plane else 0.25


def force_tubes(contacts, radius):
    """Tubes along the contacts. Their radius is in the calculator "tube radius": make it larger
    there to see weak forces. Tension counts as pressure does."""
    sizes = simple.Calculator(registrationName="tube radius", Input=contacts)
    sizes.AttributeType = "Cell Data"
    sizes.ResultArrayName = "tube_radius"
    sizes.Function = "abs(dot(force, normal))"
    sizes.UpdatePipeline(simple.GetTimeKeeper().Time)
    largest = ends(sizes, "CellData", "tube_radius")[1]
    sizes.Function = "%.6g * %s" % (WIDEST_TUBE * radius / (largest or 1.0), sizes.Function)
    lines = simple.ExtractSurface(registrationName="lines", Input=sizes)  # tubes are made of these only
    at_points = simple.CellDatatoPointData(registrationName="at the ends", Input=lines)
    tubes = simple.Tube(registrationName="forces", Input=at_points)
    tubes.Scalars = ["POINTS", "tube_radius"]
    tubes.VaryRadius = "By Absolute Scalar"
    return tubes


def show_forces(contacts, view, plane, radius):
    """In 3D the tubes are inside of the grains: there they are made, and shown by a click on their
    eye (and on that of the grains, to hide these)."""
    tubes = force_tubes(contacts, radius)
    display = simple.Show(tubes, view)
    display.ColorArrayName = [None, ""]
    display.DiffuseColor = display.AmbientColor = [0.85, 0.25, 0.1]
    if plane:
        display.Position = [0.0, 0.0, 4.0 * radius]  # before the grains
    else:
        simple.Hide(tubes, view)


def main(folder):
    """`folder` is where the files were exported to; they may have been moved since, together with
    this script, but not every way to run it tells where it is."""
    folder = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else folder
    simple._DisableFirstRenderCameraReset()
    simple.LoadPalette("WhiteBackground")
    view = simple.GetActiveViewOrCreate("RenderView")
    tables = ("grains", "solids", "walls", "contacts")
    grains, solids, walls, contacts = (load(folder, table) for table in tables)
    simple.GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
    simple.GetAnimationScene().GoToLast()
    grains.UpdatePipeline(simple.GetTimeKeeper().Time)
    low, high = grains.GetDataInformation().GetBounds()[4:]
    plane = low == high
    radius = 0.5 * sum(ends(grains, "PointData", "radius"))
    show_grains(grains, view, plane)
    if solids:
        show_solids(solids, view, plane)
        radius = (radius or ends(grains, "PointData", "bounding_radius")[1]
                  or ends(solids, "CellData", "bounding_radius")[1])
    if walls:
        show_walls(walls, view, plane)
    if contacts and radius > 0:
        show_forces(contacts, view, plane, radius)
    if plane:
        view.InteractionMode = "2D"
        simple.ResetCamera(view)
    else:
        view.ResetActiveCameraToPositiveY()
        camera = simple.GetActiveCamera()
        camera.SetViewUp(0.0, 0.0, 1.0)
        camera.Azimuth(30.0)
        camera.Elevation(20.0)
        simple.ResetCamera(view)
    simple.Render(view)
