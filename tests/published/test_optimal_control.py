"""Problems of optimal control with published or closed optima, each from the straight line and zero inputs.

COPS: E. D. Dolan, J. J. Moré, T. S. Munson, Benchmarking optimization software with COPS 3.0 (2004). Betts: J. T.
Betts, Practical methods for optimal control (2010). Bryson: A. E. Bryson, Y.-C. Ho, Applied optimal control (1975).
"""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

DEGREE = np.pi / 180


def hager():
    """ẋ = x/2 + u, least ½∫ 5x²/4 + xu + u²: e² sinh 2/(1 + e²)² (W. W. Hager, 2000)."""
    goal = {"start": [1.0], "duration": 1.0}
    cost = {lambda p: 1.25 * p["x"] ** 2 + p["x"] * p["u"] + p["u"] ** 2: 0.5}
    optimum = np.exp(2) * np.sinh(2) / (1 + np.exp(2)) ** 2
    return lambda x, u: np.array([0.5 * x[0] + u[0]]), ("x",), ("u",), goal | {"cost": cost}, optimum


def limited_block():
    """Bryson and Denham: x ≤ 1/9 on the way from (0, 1) to (0, −1): 4/(9 · 1/9)."""
    goal = {"start": [0, 1], "end": [0, -1], "duration": 1.0, "limits": {"x": (None, 1 / 9)}}
    return (
        lambda x, u: np.array([x[1], u[0]]),
        ("x", "v"),
        ("u",),
        goal | {"cost": {lambda p: p.u[0] ** 2: 0.5}},
        4.0,
    )


def brachistochrone():
    """A bead falls 2 m and moves 2 m: the cycloid takes 0.824338669 s."""
    f = lambda x, u: np.array([x[2] * np.sin(u[0]), x[2] * np.cos(u[0]), 9.81 * np.cos(u[0])])  # noqa: E731
    return (
        f,
        ("x", "y", "v"),
        ("a",),
        {"start": [0, 0, 0], "end": {"x": 2, "y": 2}, "cost": "time"},
        0.824338669,
    )


def zermelo():
    """A boat in a current −y (Bryson, section 2.7): 5.46 s."""
    f = lambda x, u: np.array([np.cos(u[0]) - x[1], np.sin(u[0])])  # noqa: E731
    return f, ("x", "y"), ("a",), {"start": [3.66, -1.86], "end": [0, 0], "cost": "time"}, 5.4578653


def orbit():
    """Transfer to the largest orbit in 3.32 (Bryson, section 2.5): 1.525."""

    def f(x, u, t):
        r, radial, around = x
        a = 0.1405 / (1 - 0.0749 * t)
        return np.array(
            [radial, around**2 / r - 1 / r**2 + a * np.sin(u[0]), -radial * around / r + a * np.cos(u[0])]
        )

    goal = {"start": [1, 0, 1], "end": {"vr": 0}, "duration": 3.32, "cost": None}
    goal |= {"boundary": {"circle": lambda a, b: b["vt"] - 1 / np.sqrt(b["r"])}}
    return f, ("r", "vr", "vt"), ("angle",), goal | {"terminal": lambda a, b: -b["r"]}, -1.52527


def rocket():
    """COPS, Goddard rocket: 1.01283, with a singular arc."""

    def f(x, u):
        h, v, m = x
        drag = 310 * v * v * np.exp(-500 * (h - 1))
        return np.array([v, (u[0] - drag) / m - 1 / h**2, -2 * u[0]])

    goal = {"start": [1, 0, 1], "end": {"m": 0.6}, "duration": (0.01, 1), "cost": None}
    goal |= {"limits": {"T": (0, 3.5), "v": (0, None), "h": (1, None), "m": (0.6, 1)}}
    return f, ("h", "v", "m"), ("T",), goal | {"terminal": lambda a, b: -b["h"]}, -1.01283


def particle():
    """COPS, steering of a particle: 0.554570."""
    f = lambda x, u: np.array([x[2], x[3], 100 * np.cos(u[0]), 100 * np.sin(u[0])])  # noqa: E731
    goal = {"start": [0, 0, 0, 0], "end": {"y": 5, "vx": 45, "vy": 0}, "cost": "time"}
    return f, ("x", "y", "vx", "vy"), ("a",), goal | {"limits": {"a": np.pi / 2}}, 0.554570


def mixing():
    """COPS, mixing of catalysts: −0.0480556."""
    f = lambda x, u: np.array(  # noqa: E731
        [u[0] * (10 * x[1] - x[0]), u[0] * (x[0] - 10 * x[1]) - (1 - u[0]) * x[1]]
    )
    goal = {"start": [1, 0], "duration": 1.0, "limits": {"u": (0, 1)}, "cost": None}
    return f, ("a", "b"), ("u",), goal | {"terminal": lambda a, b: b["a"] + b["b"] - 1}, -0.0480556


def chain():
    """COPS, hanging chain: 5.0685. Without smooth inputs the collocated chain has no least energy."""
    f = lambda x, u: np.array([u[0], np.sqrt(1 + u[0] ** 2)])  # noqa: E731
    goal = {"start": [1, 0], "end": [3, 4], "duration": 1.0}
    return f, ("x", "l"), ("u",), goal | {"cost": lambda p: p["x"] * np.sqrt(1 + p["u"] ** 2)}, 5.06848


def moon_lander():
    """ḧ = −1.5 + u, 0 ≤ u ≤ 3, least ∫u from 10 m and −2 m/s: falls, then brakes in full (Bryson)."""
    # −2 − 1.5 s at the switch s, then v + 1.5 (T − s) = 0 and 10 − 2 s − 0.75 s² − (2 + 1.5 s)²/3 = 0
    s = (-4 + np.sqrt(16 + 4 * 1.5 * 26 / 3)) / 3
    goal = {"start": [10, -2], "end": [0, 0], "limits": {"u": (0, 3)}, "cost": lambda p: p["u"]}
    return lambda x, u: np.array([x[1], -1.5 + u[0]]), ("h", "v"), ("u",), goal, 3 * (2 + 1.5 * s) / 1.5


def two_arcs():
    """G. M. Aly (1978): |u| ≤ 1, least ½∫ x² + v² over 5 s from (0, 1), a singular arc: 0.376992."""
    goal = {"start": [0, 1], "duration": 5.0, "limits": {"u": 1.0}}
    f = lambda x, u: np.array([x[1], u[0]])  # noqa: E731
    return f, ("x", "v"), ("u",), goal | {"cost": {lambda p: p["x"] ** 2 + p["v"] ** 2: 0.5}}, 0.376992


def hypersensitive():
    """ẋ = −x³ + u over 10 000 s: two boundary layers, of ∫ λ dx with λ = ∓x³ + √(x⁶ + x²)."""

    def layer(x, sign):
        return sign * x**4 / 4 + (x**2 * np.sqrt(1 + x**4) + np.arcsinh(x**2)) / 4

    goal = {"start": [1.0], "end": [1.5], "duration": 1e4, "cost": {lambda p: p["x"] ** 2 + p["u"] ** 2: 0.5}}
    optimum = layer(1.0, -1) + layer(1.5, 1)
    return lambda x, u: np.array([-(x[0] ** 3) + u[0]]), ("x",), ("u",), goal, optimum


def entry():
    """Betts, section 6.1: re-entry of a shuttle with the largest cross range, 34.1412 degrees."""

    def f(x, u):
        h, _, latitude, v, gamma, psi = x[0] * 1e5, *x[1:3], x[3] * 1e4, *x[4:]
        alpha, r = u[0] / DEGREE, 20902900.0 + h
        q = 0.5 * 0.002378 * np.exp(-h / 23800) * v * v * 2690 / (203000 / 32.174)
        drag = q * (0.07854 - 0.61592e-2 * alpha + 0.621408e-3 * alpha**2)
        lift, g = q * (-0.20704 + 0.029244 * alpha), 0.14076539e17 / r**2
        sin, cos = np.sin, np.cos
        east, north = v / r * cos(gamma) * sin(psi) / cos(latitude), v / r * cos(gamma) * cos(psi)
        turn = lift * sin(u[1]) / (v * cos(gamma)) + east * sin(latitude)
        climb = lift / v * cos(u[1]) + cos(gamma) * (v / r - g / v)
        return np.array([v * sin(gamma) / 1e5, east, north, (-drag - g * sin(gamma)) / 1e4, climb, turn])

    goal = {
        "start": [2.6, 0, 0, 2.56, -DEGREE, 90 * DEGREE],
        "end": {"h": 0.8, "v": 0.25, "gamma": -5 * DEGREE},
    }
    limits = {"alpha": np.pi / 2, "beta": (-89 * DEGREE, DEGREE), "latitude": 1.5, "gamma": 1.5}
    goal |= {"limits": limits | {"v": (1e-4, None), "h": (0, None)}, "duration": (1000, 3000), "cost": None}
    names = ("h", "longitude", "latitude", "v", "gamma", "psi")
    return f, names, ("alpha", "beta"), goal | {"terminal": lambda a, b: -b["latitude"]}, -34.1412 * DEGREE


def free_flyer():
    """Betts, section 6.13: a robot with four jets, least ∫ Σ u: 7.9101."""

    def f(x, u):
        left, right = u[0] - u[1], u[2] - u[3]
        push = left + right
        return np.array([*x[3:], push * np.cos(x[2]), push * np.sin(x[2]), 0.2 * (left - right)])

    goal = {
        "start": [-10, -10, np.pi / 2, 0, 0, 0],
        "end": [0] * 6,
        "duration": 12.0,
        "limits": {"u": (0, 1)},
    }
    goal |= {
        "path": {"left": (None, lambda p: p.u[0] + p.u[1], 1), "right": (None, lambda p: p.u[2] + p.u[3], 1)}
    }
    names = ("x", "y", "angle", "vx", "vy", "w")
    return (
        f,
        names,
        ("a", "b", "c", "d"),
        goal | {"cost": lambda p: p.u[0] + p.u[1] + p.u[2] + p.u[3]},
        7.9101,
    )


PROBLEMS = {
    hager: 1e-7,
    limited_block: 1e-6,
    brachistochrone: 1e-7,
    zermelo: 1e-7,
    orbit: 1e-5,
    rocket: 1e-5,
    particle: 2e-6,
    mixing: 2e-6,
    chain: 1e-5,
    moon_lander: 1e-6,
    two_arcs: 5e-6,
    hypersensitive: 2e-4,
    entry: 1e-6,
    free_flyer: 2e-4,
}


@pytest.mark.parametrize("problem", PROBLEMS, ids=lambda f: f.__name__)
def test_the_optimum_is_the_published_one(problem):
    f, states, inputs, goal, optimum = problem()
    x = kp.optimise(kp.dynamics(f, states, inputs), **goal)
    assert x.cost == pytest.approx(optimum, rel=PROBLEMS[problem])
    assert x.error <= 1e-4
    assert x.solved
