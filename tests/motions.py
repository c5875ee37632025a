"""Trajectories of every kind, for laws that all of them obey."""

from __future__ import annotations

import numpy as np

from kinpair import FramePose, motion
from kinpair.spatial.rotation import about

START, END = np.array([0.3, -1.0, 2.0]), np.array([1.0, 0.5, 2.0])
POINTS = [[0.0, 0.0], [1.0, 2.0], [3.0, 1.0], [2.0, -1.0]]
LIMITS = {"velocity": 1.0, "acceleration": 2.0}
# name: the motion, and how many of its derivatives are continuous
JOINTS = {
    "cycloid": (motion.cycloid(START, END, 4.0), 2),
    "linear": (motion.polynomial(START, END, 4.0, order=1), 0),
    "cubic": (motion.polynomial(START, END, 4.0, order=3), 1),
    "quintic": (motion.polynomial(START, END, 4.0), 2),
    "septic": (motion.polynomial(START, END, 4.0, order=7), 3),
    "nonic": (motion.polynomial(START, END, 4.0, order=9), 4),
    "trapezoid": (motion.trapezoid(START, END, **LIMITS), 1),
    "triangle": (motion.trapezoid(START, END, velocity=9.0, acceleration=2.0), 1),
    "scurve": (motion.scurve(START, END, jerk=10.0, **LIMITS), 2),
    "scurve without cruising": (motion.scurve(START, END, velocity=9.0, acceleration=2.0, jerk=10.0), 2),
    "scurve of jerk alone": (motion.scurve(START, END, velocity=9.0, acceleration=90.0, jerk=10.0), 2),
    "scurve below its acceleration": (motion.scurve(START, END, velocity=0.1, acceleration=9.0, jerk=1.0), 2),
    "stretched scurve": (motion.scurve(START, END, 7.0, jerk=10.0, **LIMITS), 2),
    "cubic spline": (motion.spline(POINTS, 3.0, order=3), 1),
    "quintic spline": (motion.spline(POINTS, times=[0.0, 0.5, 2.0, 3.0]), 2),
    "septic spline": (motion.spline(POINTS, 3.0, order=7), 3),
    "periodic spline": (motion.spline([*POINTS, POINTS[0]], 3.0, ends="periodic"), 0),
    "free spline": (motion.spline([*POINTS, *POINTS], times=np.arange(8.0), ends="free"), 0),
    "fourier": (
        motion.fourier([0.0, 1.0], [[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.5, 0.0]], 2.0, periods=2),
        0,
    ),
}


def random_pose(rng: np.random.Generator) -> FramePose:
    """A turn of 0.2 to 2.5 rad about any axis, somewhere within a metre."""
    axis = rng.normal(size=3)
    return FramePose(
        about(axis / np.linalg.norm(axis), rng.uniform(0.2, 2.5)), rng.uniform(-1.0, 1.0, size=3)
    )


_RNG = np.random.default_rng(4)
A, B, C = (random_pose(_RNG) for _ in range(3))
VIA = np.array([0.4, -0.3, 0.9])
FRAMES = {
    "line": (motion.line(A, B, 2.0), 3),
    "arc": (motion.arc(A, VIA, B, 2.0, law="nonic"), 4),
    "screw": (motion.screw(A, [1.0, 2.0, 3.0], 2.5, 2.0, point=[0.1, 0.2, 0.3], pitch=0.1, law="cycloid"), 2),
    "blended": (
        motion.blended(motion.line(A, B, 1.0), motion.arc(B, VIA, C, 1.0), radius=0.1, duration=3.0),
        2,
    ),
}
