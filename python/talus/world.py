"""The world: grains, walls, materials and the step."""
import difflib
import logging
import time

import numpy

from . import errors
from ._call import FUNCTIONS, add_methods
from ._callbacks import raise_problems
from ._fill import (AXIAL, check_plane, id_of, new_options, number_of, real_array, shape_words,
                    text_of, unknown_option)
from ._library import doc, ffi, is_id, lib
from ._memory import Turn, Windows, look_at, numpy_type
from ._records import wrap
from ._threads import allowed
from ._types import fields, options_doc, options_head, settable, size_of
from .progress import Bar


def write_log(level, text):
    """Where messages of the library go unless another function is given: logging, as "talus"."""
    logging.getLogger("talus").log(logging.WARNING if level else logging.INFO, "%s", text)


def says_stop(answer):
    """Whether a callback has returned True; what else it may return is ignored."""
    return isinstance(answer, (bool, numpy.bool_)) and bool(answer)


def whole(value, where):
    """A whole number, also given as 1e3."""
    return number_of(ffi.typeof("int64_t"), value, where)


class Table:
    """Grains or contacts as arrays that look at the world's memory."""

    def __init__(self, view, table):
        vars(self).update(_view=view, _table=table)

    @property
    def _editable(self):
        """The columns that can be written."""
        return fields("talus_editable_grains") if self._table == "grains" else ()

    def _now(self, pointer):
        return getattr(lib, "talus_world_" + self._table)(pointer)

    def __getattr__(self, name):
        known = fields("talus_" + self._table)
        if name not in known:
            hint = {"force": "external_force or contact_force", "torque": "external_torque"}
            words = f"did you mean {hint[name]}?" if self._table == "grains" and name in hint else \
                f"known are {', '.join(self.__dir__())}"
            raise AttributeError(f"{self._table} have no '{name}'; {words}")
        field, view = known[name], self._view
        with view._turn.lock():
            now = self._now(view._ready())
            value = getattr(now, name)
            if field.type.kind != "pointer":
                return value
            sizes = {n: getattr(now, n) for n, f in known.items() if f.type.kind == "primitive"}
            shape = [size_of(said, sizes) for said in field.shape]
            shape = shape[:1] if shape[1:] == [1] else shape
            writable = view._writable and name in self._editable
            if writable:
                value = getattr(view._edit(), name)
            array = look_at(value, shape, view._owner(), writable)
            return view._windows().hand_out(self._table, array)

    def __setattr__(self, name, value):
        array = getattr(self, name)
        if isinstance(getattr(type(self), name, None), property):
            raise AttributeError(f"{name} is measured and cannot be set")
        array[...] = value

    def __len__(self):
        return self.count

    def __dir__(self):
        return [*fields("talus_" + self._table),
                *(name for name, held in vars(type(self)).items() if isinstance(held, property)
                  and not name.startswith("_"))]

    def __repr__(self):
        return f"<{self.count} {self._table}: {', '.join(self.__dir__())}>"


class Grains(Table):
    @property
    def contact_force(self):
        view = self._view
        with view._turn.lock():
            pointer = view._ready()
            now = self._now(pointer)
            force = numpy.empty((now.count, now.dim))
            lib.talus_measure_contact_force(pointer, ffi.from_buffer("double[]", force))
        return force


Grains.contact_force.__doc__ = doc("talus_measure_contact_force")


def _table_doc(name, words):
    return f"{doc('talus_' + name)}\n\n{words}\n\n{options_doc('talus_' + name)}"


class WorldView:
    """A world to look at: its grains, contacts and walls, live or recorded. Everything that
    measures or draws takes one."""

    _kind, _keep, _threads, _writable = "talus_world", (), 1, False

    @property
    def grains(self):
        return Grains(self, "grains")

    @property
    def contacts(self):
        return Table(self, "contacts")

    @property
    def dim(self):
        """2 or 3."""
        return self.grains.dim

    @property
    def time(self):
        """Simulated time, s."""
        return FUNCTIONS["talus_world_time"](self)

    @property
    def last(self):
        """Result of the last step; all zero before the first."""
        return FUNCTIONS["talus_world_last"](self)

    @property
    def walls(self):
        """All walls that are there, by name."""
        states = [self.wall(i) for i in range(self.wall_count())]
        return {state.name: state for state in states if state.present}

    def _repr_png_(self):
        """What a notebook shows: a picture."""
        from .figure import Figure  # it draws worlds, and so comes after them
        figure = Figure()
        figure.axes(title=f"t = {self.time:.4g} s")
        return figure.world(self)._repr_png_()

    def _number(self, kind, name):
        """The number of a material, solid or wall that may be given by name."""
        return id_of(ffi.typeof(f"talus_{kind}_id"), name, kind, self._ready()).index


WorldView.grains.__doc__ = _table_doc(
    "grains", "Arrays are not copied. They follow the world from step to step; once grains come or "
    "go, arrays taken before keep what they showed and can no longer be written. Forces that you set "
    "are external_force, what contacts do is contact_force.")
WorldView.contacts.__doc__ = _table_doc(
    "contacts", "Arrays are not copied. They keep the contacts of their step when the world goes "
    "on: take them anew for those of the next.")


class World(WorldView):
    _writable = True
    _recorder = None  # of the recording that is open
    step_length = None  # of the scene that it was made from, s

    def __init__(self, **options):
        keep, out, error = [], ffi.new("talus_world**"), ffi.new("talus_error*")
        options.setdefault("log", write_log)
        definition = new_options("talus_world_def", options, keep, {"dim": options.get("dim", 3)})
        status = lib.talus_world_create(definition, out, error)
        if status < 0:
            raise errors.failure(status, error)
        self._own(out[0], keep)

    @classmethod
    def _from_pointer(cls, pointer, keep, step_length=None):
        world = cls.__new__(cls)
        world._own(pointer, keep)
        world.step_length = step_length
        return world

    @property
    def device(self):
        """What computed the last step: "cpu", or a graphics card such as "gpu:0 (NVIDIA H200)". Set it
        to "cpu", "gpu", "gpu:1" or "auto" for the steps to come, which have the same bits;
        device_reason says why it is so."""
        return FUNCTIONS["talus_world_device"](self)

    @device.setter
    def device(self, wanted):
        FUNCTIONS["talus_world_set_device"](self, wanted)

    @property
    def device_reason(self):
        """Why `device` is what it is."""
        return FUNCTIONS["talus_world_device_reason"](self)

    def _own(self, pointer, keep):
        self._pointer = ffi.gc(pointer, lib.talus_world_destroy)
        self._keep, self._open, self._turn = keep, Windows(), Turn("world")
        self._threads = lib.talus_world_options(pointer).threads

    @classmethod
    def load(cls, path, threads=0, log=write_log, device=None):
        keep, out, error = [], ffi.new("talus_world**"), ffi.new("talus_error*")
        options = new_options("talus_world_def",
                              {"log": log, "threads": threads, "device": device}, keep)
        status = lib.talus_world_load(text_of(path, keep, "path"), options, out, error)
        if status < 0:
            raise errors.failure(status, error)
        return World._from_pointer(out[0], keep)

    def record(self, directory, resume=False, **options):
        from .recorder import Recorder  # it records worlds, and so comes after them
        return Recorder(self, directory, resume, options)

    def copy(self):
        """A world to try things on: a copy of everything, the forces of its contacts and its
        counters included, that goes on with the same bits and knows nothing of this one. It has no
        log."""
        out, error = ffi.new("talus_world**"), ffi.new("talus_error*")
        with self._turn.lock():
            status = lib.talus_world_copy(self._ready(), out, error)
        if status < 0:
            raise errors.failure(status, error)
        return World._from_pointer(out[0], self._keep, self.step_length)

    def __setattr__(self, name, value):
        if type(self) is World and not name.startswith("_") and not hasattr(World, name):
            near = difflib.get_close_matches("set_" + name, dir(World), 1, 0.8)
            hint = f"; did you mean {near[0]}()?" if near else ""
            raise AttributeError(f"a world has no '{name}' to be set{hint}")
        super().__setattr__(name, value)

    def __repr__(self):
        grains, walls = (function(self._pointer) for function in
                         (lib.talus_world_grains, lib.talus_world_wall_count))
        return f"<World in {grains.dim}D: {grains.count} grains, {walls} walls, " \
            f"t = {lib.talus_world_time(self._pointer):.6g} s>"

    def _owner(self):
        return (self._pointer, self._keep)

    def _windows(self):
        return self._open

    def _ready(self, changes=False, moves=False):
        """The world for one call, which may change it or even move its tables."""
        if moves:
            self._open.cut_off(self._pointer, ("grains", "contacts"))
        return self._pointer

    # ---- filling ----

    def _repr_html_(self):
        """What a notebook shows: the viewer."""
        from .notebook import world_html
        return world_html(self)

    def add_wall(self, name, kind=None, **options):
        shape = dict(options.pop("shape", {}))
        if kind is not None:
            shape["kind"] = kind
        known = settable("talus_wall_def")
        for key in list(options):
            if key in settable("talus_shape_def") and key not in known:
                shape[key] = options.pop(key)
            elif key not in known:
                raise TypeError(unknown_option("wall", key,
                                               {**known, **settable("talus_shape_def")}))
        return FUNCTIONS["talus_world_add_wall"](self, name=name, shape=shape, **options)

    def add_solid(self, name, points, skin=0.0):
        """Add a shape for grains and walls: the convex hull of `points` [n][dim], or of each array
        in a list of such, rigidly joined. Returns its index."""
        parts = [real_array(p, float, "points") for p in points]
        if parts and parts[0].ndim == 1:
            parts = [real_array(points, float, "points")]
        if any(p.ndim != 2 or p.shape[1] != self.dim for p in parts) or not parts:
            raise ValueError(f"points of solid '{name}': expected [n][{self.dim}] numbers")
        flat = numpy.ascontiguousarray(numpy.concatenate(parts))
        sizes = numpy.array([len(p) for p in parts], "i4")
        return FUNCTIONS["talus_world_add_solid"](
            self, name=name, skin=skin, part_count=len(parts), point_count=len(flat),
            points=ffi.from_buffer("double[]", flat), part_sizes=sizes)

    def add_grain(self, **grain):
        return FUNCTIONS["talus_world_add_grain"](self, **grain)

    def add_grains(self, position, **columns):
        """Add many grains: `position` [n][dim], everything else as in add_grain(), either one value
        for all or an array with n rows. Returns their ids."""
        position = real_array(position, float, "position")
        if position.ndim != 2 or position.shape[1] != self.dim:
            raise ValueError(f"position: expected [n][{self.dim}] numbers, got an array of shape "
                             f"{list(position.shape)}")
        rows = _GrainRows(len(position), self.dim, self._named(dict(columns, position=position)))
        ids, done = numpy.empty(len(position), "i8"), 0
        out, error = ffi.new("int64_t*"), ffi.new("talus_error*")
        with self._turn.lock():
            pointer = self._ready(changes=True, moves=True)
            try:
                while done < len(ids):
                    status = lib.talus_world_add_grain(pointer, rows.row(done), out, error)
                    if status < 0:
                        raise errors.failure(status, error, where=f"grains[{done}]")
                    ids[done] = out[0]
                    done += 1
            except BaseException:  # all or none
                for known in ids[:done][::-1].tolist():
                    lib.talus_world_remove_grain(pointer, known, ffi.NULL)
                raise
        return ids

    def _named(self, grain):
        """Options of grains with the numbers of their materials, shapes and walls instead of
        names."""
        for key, kind in (("material", "material"), ("solid", "solid"), ("glued_to", "wall")):
            value = grain.get(key)
            if isinstance(value, str):
                grain[key] = self._number(kind, value)
            elif isinstance(value, (list, tuple, numpy.ndarray)):
                grain[key] = [self._number(kind, v) for v in value]
        return grain

    # ---- stepping ----

    def step(self, h=None):
        """Advance by one step of length h, s [default: that of the scene], or "auto": as long as
        step_advice() says now. Returns its result."""
        return self._steps(self._length(h), 1)

    def steps(self, h, count):
        """The same `count` times in one call, which no callback and no Ctrl-C ends early: run()."""
        return self._steps(float(h), whole(count, "count"))

    def _length(self, h):
        if h is None and self.step_length is None:
            raise TypeError("a step length h is needed: this world was not made from a scene")
        if h == "auto":
            advised = self.step_advice().length
            if not advised > 0:
                raise ValueError("h='auto' cannot be settled: no gravity, no force and no speed is "
                                 "known")
            return advised
        return self.step_length if h is None else float(h)

    def _edit(self):
        """The arrays of the grains to be written; the world knows that they change."""
        out, error = ffi.new("talus_editable_grains*"), ffi.new("talus_error*")
        status = lib.talus_world_edit_grains(self._pointer, out, error)
        if status < 0:
            raise errors.failure(status, error)
        return out

    def _steps(self, h, count):
        result, error = ffi.new("talus_step_result*"), ffi.new("talus_error*")
        allowed(self._threads, given=False)
        with self._turn.lock():
            pointer = self._pointer
            if self._open.writable():  # an array taken before may have been written since
                self._edit()
            # Steps move grains where they are; only the contacts are made anew. A policy that takes
            # grains out changes their rows too.
            removes = lib.talus_world_options(pointer).on_escape == lib.TALUS_POLICY_REMOVE
            self._open.cut_off(pointer, ("grains", "contacts") if removes else ("contacts",))
            if self._recorder is None:
                status = lib.talus_world_steps(pointer, h, count, result, error)
            else:
                status = lib.talus_record_steps(self._recorder._run, h, count, result, error)
        raise_problems(self._keep)  # of the log function
        if status < 0:
            raise errors.failure(status, error)
        return wrap(result)

    def run(self, steps, h=None, every=0, callback=None, progress=False):
        """Advance by many steps of length h. With `callback`, callback(world) is called after every
        `every` steps [default: every step]; if it returns True the run ends there. Ctrl-C ends it
        between two steps. With `progress` a bar shows how far it is, in a terminal or a notebook.
        Returns the result of the last step."""
        steps, every = whole(steps, "steps"), whole(every, "every")
        if steps < 1 or every < 0:
            raise ValueError("run: steps must be at least 1, every must not be negative")
        h, done, chunk, result = self._length(h), 0, 1, None
        period = (every or 1) if callback else steps
        bar, started = Bar() if progress else None, time.monotonic()
        while done < steps:
            count = min(chunk, period - done % period, steps - done)
            begun = time.monotonic()
            result = self._steps(h, count)
            seconds = time.monotonic() - begun
            done += count
            if bar:
                left = (time.monotonic() - started) / done * (steps - done)
                bar.show(done / steps, f"step {done} of {steps}  t {self.time:.4g}", left)
            # Signals are heard between calls: a tenth of a second each, no more.
            if count == chunk:
                chunk = 2 * chunk if seconds < 0.05 else max(1, chunk // 2) if seconds > 0.1 \
                    else chunk
            if callback and done % period == 0 and says_stop(callback(self)):
                break
        if bar:
            bar.end()
        return result


class RunWorld(World):
    """The world of a run, while the run hands it over: it can be looked at and changed, and the run
    steps it. Arrays keep what they show when the run goes on; take them anew each time."""

    @classmethod
    def _borrow(cls, pointer, keep):
        world = cls.__new__(cls)
        world._pointer, world._keep = pointer, keep
        world._open, world._turn = Windows(), Turn("world")
        world._threads = lib.talus_world_options(pointer).threads
        return world

    def _ready(self, changes=False, moves=False):
        if self._pointer is None:
            raise errors.StateError("the run of this world has ended: talus.load() or talus.open() "
                                    "show what it left")
        return super()._ready(changes, moves)

    def _let_go(self):
        """Before the run goes on: what was written into arrays counts, and they keep what they
        show."""
        if self._open.writable():
            self._edit()
        self._open.cut_off(self._pointer, ("grains", "contacts"))

    def _end(self):
        self._open.cut_off(self._pointer, ("grains", "contacts"))
        self._pointer = None

    def __repr__(self):
        return "<World of a run that has ended>" if self._pointer is None else super().__repr__()

    def _steps(self, h, count):
        raise errors.StateError("the run steps this world by itself; to try something, step a "
                                "copy: world.copy().step(h)")

    def record(self, directory, resume=False, **options):
        raise errors.StateError("the run records this world by itself")


def as_type(column, ctype, where):
    """A column of values that the C type can hold; the first row that it cannot is named."""
    wanted = numpy_type(ctype)
    if column.dtype.kind not in "biuf":
        raise TypeError(f"{where}: expected numbers, got {column.ravel()[0]!r}")
    wrong = ~numpy.isfinite(column) if column.dtype.kind == "f" else numpy.zeros(column.shape, bool)
    if not wrong.any() and wanted.kind != "f":
        with numpy.errstate(invalid="ignore"):
            wrong = column.astype(wanted) != column
    if wrong.any():
        row = int(numpy.argwhere(wrong)[0][0])
        kind = "finite" if wanted.kind == "f" else "whole"
        raise errors.ArgumentError(f"{where}[{row}]: expected {kind} numbers, got "
                                   f"{column[row].tolist()}")
    return column.astype(wanted)


class _GrainRows:
    """Rows of talus_grain_def from columns."""

    def __init__(self, count, dim, columns):
        self.keep, self.columns = [], []
        constant = {}
        for name, value in columns.items():
            field = fields("talus_grain_def").get(name)
            column = numpy.asarray(value) if field and not isinstance(value, str) else None
            if column is None or not self._is_column(field, column, count, dim):
                constant[name] = value
            else:
                self.columns.append((name, field, self._rows(field, column, count, dim)))
        self.definition = new_options("talus_grain_def", constant, self.keep, {"dim": dim},
                                      "grains")
        self.targets = [(n, f.type, getattr(self.definition, n) if f.type.kind == "array" else None,
                         rows) for n, f, rows in self.columns]

    @staticmethod
    def _is_column(field, column, count, dim):
        if field.type.kind != "array":
            return column.ndim > 0
        # One row is a vector for all grains; in 2D, where spins are numbers, it is one for each.
        return column.ndim > (0 if dim == 2 and field.name in AXIAL else 1)

    @staticmethod
    def _rows(field, column, count, dim):
        """A column as Python lists, vectors with all their components."""
        where, vectors = f"grains.{field.name}", field.type.kind == "array"
        axial = vectors and field.name in AXIAL
        sizes = [()] if not vectors else [(), (1,), (3,)] if axial and dim == 2 else [(dim,), (3,)]
        if column.shape not in [(count, *size) for size in sizes]:
            wanted = " by ".join(map(str, (count, *sizes[0])))
            raise ValueError(f"{where}: expected {wanted} numbers, got {shape_words(column)}")
        column = as_type(column, field.type.item if vectors else field.type, where)
        if axial and column.size == count:
            column = column.reshape(count, 1) * [0.0, 0.0, 1.0]
        elif vectors and column.shape[1] == 2:
            column = numpy.column_stack([column, 0 * column[:, :1]])
        if axial and dim == 2 and column[:, :2].any():
            raise ValueError(f"{where}: in 2D grains turn about z only")
        if vectors and dim == 2 and not axial and column.dtype.kind != "b":
            check_plane(column, field.name, where)
        return column.tolist()

    def row(self, i):
        for name, ctype, target, rows in self.targets:
            if is_id(ctype):
                setattr(self.definition, name, [rows[i]])
            elif target is None:
                setattr(self.definition, name, rows[i])
            else:
                target[0:len(rows[i])] = rows[i]
        return self.definition


World.__doc__ = f"""{doc('talus_world_create')}

{options_head('Options', 'talus_world_def')}
{options_doc('talus_world_def')}

`log` is called as log(level, text) [default: Python's logging, as "talus"]."""
World.load.__func__.__doc__ = f"""{doc('talus_world_load')} Steps need their length: step(h)."""
World.add_wall.__doc__ = f"""{doc('talus_world_add_wall')} Options of the shape may be given beside
the others: add_wall("floor", "plane", normal=[0, 1]).

{options_head('Options', 'talus_wall_def')}
{options_doc('talus_wall_def')}"""
World.add_grain.__doc__ = f"""{doc('talus_world_add_grain')}

{doc('talus_grain_def')}
{options_doc('talus_grain_def')}"""
add_methods(WorldView, "talus_world", lambda f: f.parameters[0].const)
add_methods(World, "talus_world", lambda f: not f.parameters[0].const)
