"""A bar that shows how far something has come, in a terminal or in a notebook."""
import sys
import time


def _duration(seconds):
    """As the program writes it: 12s, 1m20s, 2h05m."""
    whole = int(round(seconds))
    if whole < 60:
        return f"{whole}s"
    if whole < 3600:
        return f"{whole // 60}m{whole % 60:02d}s"
    return f"{whole // 3600}h{whole % 3600 // 60:02d}m"


def _notebook():
    """What shows things in a notebook, None outside of one."""
    shell = sys.modules.get("IPython")
    shell = shell.get_ipython() if shell else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import HTML, display  # there is one only where there is a notebook
    return HTML, display


class Bar:
    """Drawn anew at most five times a second; gone from a terminal when it ends."""

    def __init__(self, width=30, file=None):
        self._file, self._width = file or sys.stderr, width
        self._notebook, self._handle = _notebook(), None
        self._drawn, self._shown = 0.0, False

    def show(self, part, words="", seconds_left=None, always=False):
        """`part` from 0 to 1, or None where the end is not known."""
        now = time.monotonic()
        if not always and now - self._drawn < 0.2:
            return
        self._drawn = now
        left = "" if seconds_left is None or seconds_left < 0 else f"  ETA {_duration(seconds_left)}"
        if self._notebook:
            self._show_html(part, words + left)
        elif self._file.isatty():
            full = 0 if part is None else int(self._width * min(max(part, 0), 1))
            bar = "" if part is None else f"[{'#' * full}{' ' * (self._width - full)}] " \
                f"{100 * part:3.0f} %  "
            self._file.write(f"\r{bar}{words}{left}\033[K")
            self._file.flush()
            self._shown = True

    def _show_html(self, part, words):
        html, display = self._notebook
        value = "" if part is None else f' value="{part:.4f}"'
        page = html(f'<progress max="1"{value} style="width:20em"></progress> {words}')
        if self._handle is None:
            self._handle = display(page, display_id=True)
        else:
            self._handle.update(page)

    def end(self, words=""):
        if self._notebook:
            self._show_html(1.0, words)
        elif self._shown:
            self._file.write("\r\033[K" + (words + "\n" if words else ""))
            self._file.flush()


def of_run(bar):
    """A function for `progress` of runs that draws this bar."""
    def show(p):
        part = p.last.time / p.end_time if p.end_time > 0 else None
        unit = "" if p.reduced_units else " s"
        words = f"{p.phase}  step {p.last.step}  t {p.last.time:.4g}{unit}"
        if p.at_most and p.eta_seconds >= 0:
            words += "  at most"
        bar.show(part, words, p.eta_seconds)
    return show
