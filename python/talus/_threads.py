"""Threads of the library after a fork. The team of threads that stepped a world does not come along
into the child, but OpenMP would wait for it for ever: the child is held to one thread."""
import os

from .errors import StateError

_state = {"used": False, "lost": False}


def _forked():
    _state["lost"] = _state["used"]


os.register_at_fork(after_in_child=_forked)


def allowed(threads, given=True):
    """The number of threads to take for one that was asked for; 0 leaves it to the library. What is
    not `given` anew is that of a world that was made before."""
    if threads != 1:
        if _state["lost"] and (threads or not given):
            raise StateError(
                f"{threads or 'all'} threads in a process that was forked from one which had them "
                "in use: take threads=1, or let multiprocessing start its processes by 'spawn'")
        _state["used"] = True
    return 1 if _state["lost"] else threads
