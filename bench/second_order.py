#!/usr/bin/env python3
"""Ways to make a step follow a curve, on one ball that slides without friction in a drum.

    bench/second_order.py

A ball at the distance 1 from the axis moves with speed 1 for 10 s. Its normal velocity obeys
u_n >= -bias along a normal n. The ways differ in where n and the gap are taken and in the bias:

  plain       both at the start of the step                                  bias g+/h
  midpoint    both half a step ahead, x + h v/2 (Moreau)                     bias g+/h
  end         both at x + h v, where the ball would be, a few times over     bias g+/h
  curvature   at the start, with the second term of the gap's Taylor series  bias g+/h + h G''/2

The gap counts from the wall inwards, G'' = -v_t^2/rho. Printed are the depth after 10 s and the
energy that is lost, for steps of 0.04, 0.02 and 0.01 s: the figures in docs/decisions.md.
"""
import numpy


def plus(gap):
    return max(gap, 0.0)


def gap_normal(x):
    rho = numpy.linalg.norm(x)
    return 1.0 - rho, -x / rho


def project(v, n, bias):
    """The velocity after the contact: u_n >= -bias."""
    return v + max(-bias - v @ n, 0.0) * n


def step(way, x, v, h):
    if way == "midpoint":
        middle = x + 0.5 * h * v
        gap, n = gap_normal(middle)
        new = project(v, n, plus(gap) / h)
        return middle + 0.5 * h * new, new
    gap, n = gap_normal(x)
    if way == "end":
        new = project(v, n, plus(gap) / h)
        for _ in range(8):
            ahead, n = gap_normal(x + h * new)
            new = project(v, n, plus(ahead + h * (-(new @ n))) / h)
        return x + h * new, new
    second = 0.0
    if way == "curvature":
        along = v - (v @ n) * n
        second = -(along @ along) / numpy.linalg.norm(x)
    new = project(v, n, plus(gap) / h + 0.5 * h * second)
    return x + h * new, new


for way in ("plain", "midpoint", "end", "curvature"):
    told = []
    for h in (0.04, 0.02, 0.01):
        x, v = numpy.array([1.0, 0.0]), numpy.array([0.0, 1.0])
        for _ in range(round(10 / h)):
            x, v = step(way, x, v, h)
        told.append(f"h {h:<5} depth {numpy.linalg.norm(x) - 1:+.2e}, energy {v @ v - 1:+.2e}")
    print(f"{way:10}", "   ".join(told))
