"""Plain SVG, written by hand so that pictures are the same everywhere and small to review.

Used by scripts/draw-*.py; only the standard library is needed.
"""
import math
import re

INK, LAW, SECOND, PALE = "#222222", "#0b5fa5", "#c2541b", "#dce9f5"
FONT = "font-family='DejaVu Sans, Verdana, sans-serif'"


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def rich_text(text):
    """`_x` and `_{xyz}` become subscripts, `^` likewise superscripts."""
    out = ""
    shift = 0  # of the text written last, in pixels downwards
    for piece in re.findall(r"[_^](?:\{[^}]*\}|.)|[^_^]+", text):
        wanted = {"_": 4, "^": -5}.get(piece[0], 0)
        size = " font-size='75%'" if wanted else ""
        plain = piece[1:].strip("{}") if wanted else piece
        out += f"<tspan dy='{wanted - shift}'{size}>{escape(plain)}</tspan>"
        shift = wanted
    return out


class Picture:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [
            f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}'"
            f" width='{width}' height='{height}' role='img' {FONT} font-size='15'>",
            f"<title>{escape(title)}</title>",
            f"<rect width='{width}' height='{height}' fill='white'/>"]

    def add(self, part):
        self.parts.append(part)

    def line(self, points, color=INK, width=1.2, dash=None, close=False, fill="none"):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashes = f" stroke-dasharray='{dash}'" if dash else ""
        kind = "polygon" if close else "polyline"
        self.add(f"<{kind} points='{path}' fill='{fill}' stroke='{color}'"
                 f" stroke-width='{width}' stroke-linejoin='round'{dashes}/>")

    def arrow(self, x0, y0, x1, y1, color=INK, width=1.2):
        """A line with a filled head at its end."""
        a = math.atan2(y1 - y0, x1 - x0)
        head = [(x1, y1)] + [(x1 - 9 * math.cos(a + s), y1 - 9 * math.sin(a + s))
                             for s in (0.4, -0.4)]
        self.line([(x0, y0), (x1 - 6 * math.cos(a), y1 - 6 * math.sin(a))], color, width)
        self.line(head, color, 0.5, close=True, fill=color)

    def text(self, x, y, text, anchor="middle", color=INK, size=15):
        self.add(f"<text x='{x:.1f}' y='{y:.1f}' text-anchor='{anchor}' fill='{color}'"
                 f" font-size='{size}' xml:space='preserve'>{rich_text(text)}</text>")

    def circle(self, x, y, r, fill=PALE, color=INK):
        self.add(f"<circle cx='{x:.1f}' cy='{y:.1f}' r='{r:.1f}' fill='{fill}' stroke='{color}'"
                 " stroke-width='1.2'/>")

    def write(self, path):
        path.write_text("\n".join(self.parts) + "\n</svg>\n", encoding="utf-8")
