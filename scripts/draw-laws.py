#!/usr/bin/env python3
"""Draws the graphs of the contact laws, docs/laws/*.svg.

    scripts/draw-laws.py [DIRECTORY]     default: docs/laws

tests/law/test_laws_doc.py checks that the committed ones are what this writes. Coordinates inside a
picture are in units of the graph (y upwards); `Panel` turns them into pixels.
"""
import math
import sys
from pathlib import Path

from svg import INK, LAW, PALE, SECOND, Picture


class Panel:
    """One graph in a picture: axes through an origin, x to the right, y upwards."""

    def __init__(self, picture, origin, scale, x_range, y_range, labels, heading):
        self.p, self.origin, self.scale = picture, origin, scale
        (x0, x1), (y0, y1) = x_range, y_range
        picture.arrow(*self.at(x0, 0), *self.at(x1, 0))
        picture.arrow(*self.at(0, y0), *self.at(0, y1))
        x, y = self.at(x1, 0)
        picture.text(x + 6, y + 5, labels[0], "start")
        x, y = self.at(0, y1)
        picture.text(x, y - 8, labels[1])
        middle = (self.at(x0, 0)[0] + self.at(x1, 0)[0]) / 2
        picture.text(middle, 24, heading, size=16)

    def at(self, x, y):
        return self.origin[0] + self.scale[0] * x, self.origin[1] - self.scale[1] * y

    def curve(self, points, color=LAW, width=3.5, dash=None):
        self.p.line([self.at(*q) for q in points], color, width, dash)

    def area(self, points):
        self.p.line([self.at(*q) for q in points], "none", 0, close=True, fill=PALE)

    def tick(self, x, y, text, dx=0, dy=0, anchor="middle", color=INK, size=15):
        px, py = self.at(x, y)
        self.p.text(px + dx, py + dy, text, anchor, color, size)

    def dot(self, x, y, color=LAW):
        px, py = self.at(x, y)
        self.p.add(f"<circle cx='{px:.1f}' cy='{py:.1f}' r='4.5' fill='{color}'/>")


# ---- the pictures ------------------------------------------------------------------------------

def signorini_coulomb():
    p = Picture(920, 320, "Signorini's and Coulomb's graphs")
    a = Panel(p, (80, 250), (150, 170), (-0.3, 1.2), (-0.2, 1.15), ("g", "R_n"), "positions")
    a.curve([(0, 1.0), (0, 0), (1.1, 0)])
    a.tick(0, 0.55, "touching", 10, 0, "start", LAW)
    a.tick(0.6, 0, "apart: no force", 0, -10, color=LAW)

    b = Panel(p, (430, 250), (110, 170), (-1.1, 1.25), (-0.2, 1.15), ("V_n", "R_n"), "one step")
    b.curve([(-0.6, 1.0), (-0.6, 0), (1.1, 0)])
    b.tick(-0.6, 0, "−g^+/h", 0, 22)
    b.tick(-0.6, 0.75, "closes", 10, 0, "start", LAW)
    b.tick(0.9, 0, "stays open", 0, 20, color=LAW)
    b.curve([(-1.0, 0.95), (0.5, -0.16)], SECOND, 1.8, "6 4")
    b.tick(0.02, 0.33, "equation of motion", 8, 0, "start", SECOND, 13)

    c = Panel(p, (745, 160), (110, 85), (-1.1, 1.2), (-1.25, 1.25), ("V_t", "R_t"), "friction")
    c.curve([(-1.0, 0.9), (0, 0.9), (0, -0.9), (1.0, -0.9)])
    c.tick(0, 0.9, "μR_n", 10, 2, "start")
    c.tick(0, -0.9, "−μR_n", -8, 10, "end")
    c.tick(0, 0.3, "sticks", 10, 0, "start", LAW)
    c.tick(0.55, -0.9, "slides", 0, -9, color=LAW)
    c.tick(-0.55, 0.9, "slides", 0, -9, color=LAW)
    return p


def gap_laws():
    p = Picture(760, 330, "g against g+: what an overlap asks for")
    a = Panel(p, (330, 200), (170, 110), (-1.3, 1.3), (-1.0, 1.15), ("g", "least V_n"),
              "least separation velocity that the law asks for")
    a.curve([(-1.1, 0), (0, 0)])
    a.curve([(0, 0), (1.0, -0.8)])
    a.curve([(-1.1, 0.88), (0, 0)], SECOND, 3.5, "8 5")
    a.tick(-1.05, 0, "g^+: overlap is frozen", 0, 22, "start", LAW)
    a.tick(-0.08, 1.0, "g: pushed out at −g/h", 0, 0, "end", SECOND)
    a.tick(0.6, -0.45, "both: the gap may close, −g/h", 12, 0, "start", LAW)
    a.tick(-1.3, 0, "overlap", 0, -8, "end", size=13)
    a.tick(1.25, 0, "gap", 0, -8, "end", size=13)
    return p


def rolling_torsion():
    p = Picture(960, 320, "Rolling and torsion friction")
    for x, labels, bound, heading in ((150, ("Ω_t", "T_t"), "L_r", "rolling"),
                                      (450, ("Ω_n", "T_n"), "L_n", "torsion (3D)")):
        a = Panel(p, (x, 165), (100, 85), (-1.1, 1.15), (-1.25, 1.25), labels, heading)
        a.curve([(-1.0, 0.9), (0, 0.9), (0, -0.9), (1.0, -0.9)])
        a.tick(0, 0.9, bound, 10, 4, "start")
        a.tick(0, -0.9, "−" + bound, -8, 10, "end")
        a.tick(0, 0.3, "no relative spin", 10, 0, "start", LAW, 13)
    c = Panel(p, (660, 265), (210, 190), (-0.05, 1.1), (-0.08, 1.05), ("R_n", "L"),
              "the bound, three kinds")
    c.curve([(0, 0), (1.0, 0.5)])
    steps = [i / 40 for i in range(41)]
    c.curve([(s, 0.6 * s ** (4 / 3)) for s in steps], SECOND, 3, "9 4")
    c.curve([(s, 0.66 * s ** 1.5) for s in steps], INK, 2, "2 4")
    for y, color, width, dash, text in ((0.98, LAW, 3.5, None, "length, radius: R_n"),
                                        (0.88, SECOND, 3, "9 4", "hertz, 3D: R_n^{4/3}"),
                                        (0.78, INK, 2, "2 4", "hertz, 2D: R_n^{3/2}")):
        c.curve([(0.05, y), (0.2, y)], color, width, dash)
        c.tick(0.2, y, text, 8, 5, "start", color, 13)
    return p


def cohesion():
    p = Picture(920, 390, "Cohesion: strength F_C within the range d_C")
    a = Panel(p, (110, 205), (230, 130), (-0.25, 1.4), (-1.25, 1.1), ("g", "R_n"),
              "positions (BUW Fig. 1.9 b)")
    a.area([(0, 0), (1, 0), (1, -1), (0, -1)])
    a.curve([(0, 1.0), (0, -1), (1, -1), (1, 0), (1.32, 0)])
    a.tick(0, -1, "−F_C", -8, 5, "end")
    a.tick(1, 0, "d_C", 0, -9)
    a.tick(0.5, -0.40, "any pair of values", 0, 0, color=LAW)
    a.tick(0.5, -0.58, "area: E_C = F_C d_C", 0, 2, color=LAW)
    a.tick(1, -0.5, "broken", 10, 0, "start", LAW)
    a.tick(0, 0.6, "pressed", 10, 0, "start", LAW)

    b = Panel(p, (695, 205), (150, 130), (-1.1, 1.1), (-1.25, 1.1), ("V_n", "R_n"),
              "one step of a bond that holds, gap g")
    b.curve([(-0.8, 1.0), (-0.8, 0), (0, 0), (0, -1), (1.0, -1)])
    b.tick(-0.8, 0, "−g/h", 0, 22)
    b.tick(0, -1, "−F_C", -8, 5, "end")
    b.tick(-0.8, 0.6, "closed", 10, 0, "start", LAW)
    b.tick(-0.02, 0, "pushed together", 0, -10, "end", LAW, 13)
    b.tick(0, -0.5, "keeps its width", 10, 0, "start", LAW)
    b.tick(0.55, -1, "opens", 0, -10, color=LAW)
    return p


def restitution():
    p = Picture(920, 330, "Restitution: one impact and a dropped ball")
    a = Panel(p, (180, 245), (120, 155), (-1.25, 1.65), (-0.25, 1.12), ("V_n", "R_n"),
              "the step of an impact")
    a.curve([(0.55, 1.0), (0.55, 0), (1.5, 0)])
    a.dot(-0.9, 0, SECOND)
    a.tick(-0.9, 0, "V_n before", 0, 24, color=SECOND)
    a.tick(0.55, 0, "−e V_n before", 0, 24)
    a.tick(0.55, 0.62, "impact", 10, 0, "start", LAW)
    a.tick(0.6, 0, "leaves faster", 6, -10, "start", LAW, 13)

    e, g, t, points, ends = 0.7, 9.81, 0.0, [], []
    fall = math.sqrt(2 / g)
    points += [(s / 30 * fall, 1 - g * (s / 30 * fall) ** 2 / 2) for s in range(31)]
    t, v = fall, math.sqrt(2 * g)
    for _ in range(25):
        v *= e
        flight = 2 * v / g
        n = max(4, int(30 * flight / fall))
        points += [(t + s / n * flight, v * s / n * flight - g * (s / n * flight) ** 2 / 2)
                   for s in range(1, n + 1)]
        ends.append((t + flight / 2, v * v / 2 / g))
        t += flight
    zeno = fall * (1 + e) / (1 - e)
    b = Panel(p, (500, 280), (122, 190), (-0.05, 3.15), (-0.1, 1.12), ("t", "height"),
              "a ball dropped from h_0, e = 0.7")
    b.curve(points + [(3.0, 0)], LAW, 2.5)
    b.tick(zeno, 0, "Zeno time", 0, 24)
    b.curve([(zeno, 0), (zeno, 0.3)], SECOND, 1.5, "4 3")
    b.tick(zeno, 0.3, "at rest from here", -20, -10, color=SECOND, size=13)
    for k, (x, y) in enumerate(ends[:2]):
        b.tick(x, y, ("e^2h_0", "e^4h_0")[k], 0, -10)
    return p


def static_dynamic():
    p = Picture(920, 350, "Static and dynamic friction, and the stick-slip it makes")
    a = Panel(p, (190, 198), (130, 105), (-1.1, 1.15), (-1.25, 1.25), ("V_t", "R_t"),
              "the law")
    a.curve([(0, 1.0), (0, -1.0)])
    a.curve([(-1.0, 0.6), (0, 0.6)])
    a.curve([(0, -0.6), (1.0, -0.6)])
    a.tick(0, 1.0, "μ_sR_n", 10, 8, "start")
    a.tick(0, -1.0, "−μ_sR_n", -10, 8, "end")
    a.tick(0, 0.6, "μ_dR_n", 10, 6, "start")
    a.tick(0, -0.6, "−μ_dR_n", -10, 6, "end")
    a.tick(-0.55, 0.6, "slides", 0, -9, color=LAW)
    a.tick(0.55, -0.6, "slides", 0, -9, color=LAW)
    a.tick(0, 0.25, "sticks", 10, 0, "start", LAW)

    b = Panel(p, (470, 290), (56, 7.0), (-0.15, 7.2), (-2, 31), ("t", "angle"),
              "slider in a turning drum (scene stick-slip)")
    top, low = 26.57, 7.0
    b.curve([(0, top), (7, top)], INK, 1, "4 3")
    b.curve([(0, low), (7, low)], INK, 1, "4 3")
    b.tick(7, top, "arctan μ_s", -40, -8)
    b.tick(7, low, "sticks again", -34, 22, "middle")
    points, t, angle = [(0, 0.0)], 0.0, 0.0
    while t < 6.6:
        rise = (top - angle) / 13.3
        t += rise
        points.append((t, top))
        points += [(t + 0.4 * s / 12, (top + low) / 2 + (top - low) / 2
                    * math.cos(math.pi * s / 12)) for s in range(1, 13)]
        t, angle = t + 0.4, low
    b.curve([q for q in points if q[0] < 6.9], LAW, 2.5)
    return p


def soft():
    p = Picture(960, 340, "Soft contacts: normal force, friction spring, bond")
    a = Panel(p, (60, 255), (210, 170), (-0.1, 1.15), (-0.3, 1.2), ("δ", "R_n"),
              "a collision, e = 0.5")
    decay = -math.log(0.5) / math.hypot(math.pi, math.log(0.5))
    bell = math.sqrt(1 - decay * decay)
    loop = []
    for s in range(61):
        t = s / 60 * math.pi / bell
        depth = math.exp(-decay * t) * math.sin(bell * t) / bell
        rate = math.exp(-decay * t) * (math.cos(bell * t) - decay / bell * math.sin(bell * t))
        loop.append((depth, depth + 2 * decay * rate))
    a.curve(loop)
    a.curve([(0, 0), (1.0, 1.0)], INK, 1, "4 3")
    a.tick(0.42, 0.83, "closing", -8, -4, "end", LAW, 13)
    a.tick(0.5, 0.13, "opening", 12, 16, "start", LAW, 13)
    a.tick(1.0, 1.0, "k_nδ", 4, -6, "start")

    b = Panel(p, (450, 165), (95, 95), (-1.15, 1.2), (-1.2, 1.2), ("path", "R_t"),
              "friction spring")
    b.curve([(0, 0), (-0.5, 0.75), (-1.0, 0.75)], LAW, 3.5)
    b.curve([(-1.0, 0.75), (0.0, -0.75), (1.0, -0.75)], LAW, 3.5)
    b.curve([(1.0, -0.75), (0.5, 0)], SECOND, 2.5, "6 4")
    b.tick(0, 0.75, "μk_nδ", 10, 4, "start")
    b.tick(0, -0.75, "−μk_nδ", -24, 18, "end")
    b.tick(0.5, -0.75, "slides", 8, 18, color=LAW, size=13)
    b.tick(-0.62, 0.1, "sticks", -14, 0, "end", LAW, 13)
    b.tick(0.5, 0, "turns back", -4, -10, "start", SECOND, 13)

    c = Panel(p, (780, 175), (120, 95), (-1.05, 1.15), (-1.25, 1.2), ("−δ", "R_n"), "bond")
    c.area([(0, 0), (0.8, 0), (0.8, -0.7), (0, -0.7)])
    c.curve([(-0.9, 1.1), (0, -0.7), (0.8, -0.7), (0.8, 0), (1.05, 0)])
    c.tick(0, -0.7, "−F_C", -8, 12, "end")
    c.tick(0.8, 0, "d_C", 0, -9)
    c.tick(0.4, -0.36, "E_C", 0, 5, color=LAW)
    c.dot(-0.35, 0)
    c.tick(-0.35, 0, "at rest", -8, 20, "end", LAW, 13)
    return p


PICTURES = {"signorini-coulomb": signorini_coulomb, "gap": gap_laws,
            "rolling-torsion": rolling_torsion, "cohesion": cohesion,
            "restitution": restitution, "static-dynamic-friction": static_dynamic,
            "soft": soft}


def main():
    default = Path(__file__).resolve().parent.parent / "docs" / "laws"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else default
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        draw().write(folder / f"{name}.svg")


if __name__ == "__main__":
    main()
