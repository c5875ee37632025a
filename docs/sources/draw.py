"""Draws the figures of the sources anew: `python docs/sources/draw.py [FOLDER] [NAME …]`.

Labels are symbols only, so that both languages share the pictures. The schemes are drawings of our own after what the
captions and the text of the sources say; the curves are computed here.
"""

from __future__ import annotations

import sys
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from matplotlib import rc_context, style
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyArrowPatch, FancyBboxPatch, Polygon

import kinpair as kp

HERE = Path(__file__).parent
INK, PALE, BLUE, RED, GREEN = "#222222", "#dfe6ee", "#2a6fbb", "#d1571b", "#1b7a4b"
METHODS = ("rosenberg-extended", "udwadia-kalaba")
ODE45 = {"integrator": "dopri5", "rtol": 1e-3, "atol": 1e-6}  # defaults of MATLAB's ODE45
EXACT = {"rtol": 1e-13, "atol": 1e-15}


def scheme(
    width: float, height: float, x: tuple[float, float], y: tuple[float, float]
) -> tuple[Figure, Axes]:
    """An empty drawing without axes."""
    figure = Figure(figsize=(width, height))
    axes = figure.subplots()
    axes.set(xlim=x, ylim=y, aspect="equal")
    axes.axis("off")
    return figure, axes


def arrow(
    axes: Axes, start: Any, end: Any, label: str = "", at: Any = (0, 0), colour: str = BLUE, **look: Any
) -> None:
    """A vector; its label stands at its middle, moved by `at`."""
    axes.add_patch(
        FancyArrowPatch(
            start,
            end,
            arrowstyle="-|>",
            mutation_scale=11,
            shrinkA=0,
            shrinkB=0,
            color=colour,
            lw=1.4,
            **look,
        )
    )
    if label:
        axes.text(*(np.add(start, end) / 2 + at), label, color=colour, ha="center", va="center", fontsize=11)


def joint(axes: Axes, at: Any, label: str = "", place: Any = (0, -0.28)) -> None:
    axes.plot(*at, "o", color=INK, markerfacecolor="white", markersize=9, zorder=5)
    if label:
        axes.text(*np.add(at, place), label, ha="center", va="center", fontsize=10)


def centre(axes: Axes, at: Any, label: str = "", place: Any = (0.14, 0.16)) -> None:
    axes.plot(*at, "o", color=INK, markersize=4, zorder=5)
    if label:
        axes.text(*np.add(at, place), label, fontsize=10.5)


def body(axes: Axes, start: Any, end: Any, wide: float = 0.42, **look: Any) -> None:
    """A link as an ellipse from joint to joint."""
    d = np.subtract(end, start)
    long = float(np.hypot(*d)) + 0.45
    turn = np.degrees(np.arctan2(d[1], d[0]))
    look = {"facecolor": PALE, "edgecolor": INK, "lw": 1.1} | look
    axes.add_patch(Ellipse(np.add(start, end) / 2, long, 2 * wide, angle=turn, **look))


def ground(axes: Axes, at: Any, width: float = 0.8) -> None:
    x, y = at
    axes.plot([x - width / 2, x + width / 2], [y, y], color=INK, lw=1.4)
    for k in np.linspace(x - width / 2, x + width / 2, 7):
        axes.plot([k, k - 0.13], [y, y - 0.15], color=INK, lw=0.8)


def box(axes: Axes, at: Any, text: str, width: float = 2.2, height: float = 0.62, **look: Any) -> None:
    x, y = at
    look = {"facecolor": PALE, "edgecolor": INK, "lw": 1.0} | look
    axes.add_patch(FancyBboxPatch((x - width / 2, y - height / 2), width, height, "round,pad=0.03", **look))
    axes.text(x, y, text, ha="center", va="center", fontsize=10)


def saha_1() -> Figure:
    figure, axes = scheme(7.2, 2.9, (-0.6, 8.4), (-0.7, 2.8))
    points = np.array([(0, 0), (1.2, 1.0), (2.9, 1.6), (4.6, 1.3), (6.2, 1.9), (7.7, 1.5)])
    names = ("#1", "#2", "#i", "#i+1", "#n")
    for k, (a, b) in enumerate(pairwise(points)):
        body(axes, a, b, 0.33)
        axes.text(*((a + b) / 2), names[k], ha="center", va="center", fontsize=10)
    for k, label in enumerate(("1", "2", "i", "i+1", "n")):
        joint(axes, points[k], label, (0.05, -0.5) if k else (-0.35, 0.0))
    ground(axes, (0, -0.12))
    axes.add_patch(
        FancyBboxPatch(
            (2.62, 0.72), 5.55, 1.72, "round,pad=0.05", fill=False, edgecolor=RED, ls=(0, (5, 3)), lw=1.4
        )
    )
    axes.text(5.4, 2.62, r"$\tilde{M}_i$", color=RED, ha="center", fontsize=13)
    return figure


def saha_2() -> Figure:
    figure, axes = scheme(4.4, 3.2, (-1.7, 3.3), (-1.4, 2.2))
    axes.add_patch(Ellipse((0.5, 0.2), 3.0, 1.7, angle=18, facecolor=PALE, edgecolor=INK))
    centre(axes, (0.5, 0.2), "$C_i$", (-0.34, -0.3))
    arrow(axes, (0.5, 0.2), (1.9, 1.1), "$v_i$", (0.1, 0.28))
    arrow(axes, (0.5, 0.2), (0.2, 1.7), r"$\omega_i$", (-0.28, 0.3))
    arrow(axes, (0.5, 0.2), (2.6, 0.1), "$f_i$", (0.55, 0.22), RED)
    arrow(axes, (0.5, 0.2), (-1.0, 1.0), "$n_i$", (-0.3, 0.3), RED)
    axes.text(1.1, -0.55, "#i", fontsize=11)
    return figure


def saha_3() -> Figure:
    figure, axes = scheme(6.0, 3.4, (-0.7, 6.2), (-0.8, 3.1))
    O_j, C_j, O_i, C_i, tip = ((0.2, 0.2), (1.6, 0.75), (3.0, 1.0), (4.2, 1.9), (5.5, 2.5))
    body(axes, O_j, O_i, 0.55)
    body(axes, O_i, tip, 0.55)
    joint(axes, O_j, "$O_j$", (-0.3, -0.3))
    joint(axes, O_i, "$O_i$", (0.15, -0.4))
    centre(axes, C_j, "$C_j$", (-0.25, 0.16))
    centre(axes, C_i, "$C_i$", (0.1, -0.4))
    arrow(axes, O_i, (2.65, 2.3), "$e_i$", (-0.3, 0.4))
    arrow(axes, O_j, C_j, "$d_j$", (0.12, -0.3))
    arrow(axes, C_j, O_i, "$r_j$", (0.0, -0.32))
    arrow(axes, O_i, C_i, "$d_i$", (0.3, -0.22))
    arrow(axes, C_i, C_j, "$c_{ij}$", (-0.45, 0.28), RED)
    axes.text(0.75, 0.95, "#j", fontsize=11)
    axes.text(5.2, 1.75, "#i", fontsize=11)
    return figure


def zhao_gu_1() -> Figure:
    figure, axes = scheme(6.6, 3.0, (-0.9, 7.0), (-0.6, 3.1))
    points = np.array([(0.0, 0.2), (1.5, 1.4), (3.4, 1.1), (5.0, 2.0), (6.4, 1.6)])
    for k, (a, b) in enumerate(pairwise(points)):
        d = (b - a) / np.hypot(*(b - a))
        n = np.array([-d[1], d[0]])
        corners = [
            a + 0.25 * d + 0.12 * n,
            b - 0.28 * d + 0.12 * n,
            b - 0.28 * d - 0.12 * n,
            a + 0.25 * d - 0.12 * n,
        ]
        axes.add_patch(Polygon(corners, facecolor=PALE, edgecolor=INK))
        axes.text(*((a + b) / 2 + 0.36 * n), ("1", "2", "i", "P")[k], ha="center", va="center", fontsize=11)
    for k, p in enumerate(points[:-1]):
        axes.add_patch(
            FancyBboxPatch(p - (0.16, 0.24), 0.32, 0.48, "round,pad=0.02", facecolor="white", edgecolor=INK)
        )
        axes.plot([p[0], p[0]], [p[1] - 0.45, p[1] + 0.45], color=BLUE, lw=1, ls=(0, (6, 2, 1, 2)))
        axes.text(p[0] + 0.2, p[1] - 0.5, ("$O_1$", "$O_2$", "$O_i$", "$O_P$")[k], fontsize=10)
    ground(axes, (0.0, -0.1))
    arrow(axes, (-0.6, 1.6), (-0.6, 2.4), "$z_0$", (-0.22, 0.3))
    arrow(axes, (-0.6, 1.6), (0.2, 1.6), "$x_0$", (0.5, -0.18))
    return figure


def zhao_gu_flow(coupled: bool) -> Figure:
    figure, axes = scheme(6.6, 2.6, (-3.6, 3.9), (-1.5, 1.5))
    box(
        axes,
        (0, 0.8),
        r"$M\,\ddot Y + K = q$   (6.4)" if coupled else r"$M\,\ddot Y + K = q(Y, t)$   (6.7)",
        3.4,
    )
    box(
        axes,
        (0, -0.8),
        r"$N\,g + \hat q = \hat K$   (6.5)" if coupled else r"$N\,g + \hat q = \hat K$   (6.8)",
        3.4,
    )
    arrow(axes, (-3.4, 0.8), (-1.8, 0.8), "$q_G + q_S$", (0, 0.25), INK)
    arrow(axes, (1.8, 0.8), (3.6, 0.8), r"$Y,\ \dot Y$", (0, 0.25), INK)
    arrow(axes, (1.8, -0.8), (3.6, -0.8), "$g$", (0, 0.25), INK)
    arrow(axes, (0.8, 0.42), (0.8, -0.42), r"$Y,\ \dot Y$", (0.6, 0), BLUE)
    if coupled:
        arrow(axes, (-0.8, -0.42), (-0.8, 0.42), r"$q_R(\dot Y, g)$", (-0.85, 0), RED)
    return figure


def vukobratovic_1_1() -> Figure:
    figure, (left, right) = Figure(figsize=(7.4, 3.0)), (None, None)
    left, right = figure.subplots(1, 2)
    places = {1: (0, 0), 2: (-1.2, 1.2), 3: (1.3, 0.9), 4: (2.4, 2.1), 5: (2.7, 0.1)}
    beside = {1: (0.22, -0.2), 2: (-0.15, 0.35), 3: (-0.5, 0.3), 4: (0.22, 0.0), 5: (0.22, 0.0)}
    arcs = {
        (0, 1): (-0.3, 0.0),
        (2, 1): (-0.3, -0.2),
        (1, 3): (0.2, -0.2),
        (3, 4): (0.22, -0.2),
        (5, 3): (0.1, 0.25),
    }
    for axes in (left, right):
        axes.set(xlim=(-2.1, 3.6), ylim=(-1.5, 2.9), aspect="equal")
        axes.axis("off")
    for k, (x, y) in places.items():
        left.add_patch(Ellipse((x, y), 1.3, 0.75, angle=25 * k, facecolor=PALE, edgecolor=INK))
        left.text(x, y, f"{k}", ha="center", va="center", fontsize=10)
        right.plot(x, y, "o", color=INK, markersize=6)
        right.text(x + beside[k][0], y + beside[k][1], f"$x_{k}$", fontsize=11, va="center")
    ground(left, (0, -1.15))
    right.plot(0, -1.15, "s", color=INK, markersize=6)
    right.text(0.16, -1.3, "$x_0$", fontsize=11)
    everywhere = places | {0: (0, -1.15)}
    for a, ((i, j), shift) in enumerate(arcs.items(), start=1):
        start, end = np.array(everywhere[i]), np.array(everywhere[j])
        joint(left, (start + end) / 2)
        gap = 0.12 * (end - start) / np.hypot(*(end - start))
        arrow(right, start + gap, end - gap, f"$u_{a}$", shift, RED)
    return figure


def vukobratovic_1_2() -> Figure:
    figure = Figure(figsize=(7.0, 2.5))
    for axes, turns in zip(figure.subplots(1, 2), (True, False), strict=True):
        axes.set(xlim=(-1.9, 3.0), ylim=(-0.9, 1.9), aspect="equal")
        axes.axis("off")
        body(axes, (-1.4, 0), (0.2, 0), 0.4)
        axes.text(-0.8, 0, "$a(i)$", ha="center", va="center", fontsize=10.5)
        if turns:
            body(axes, (0.2, 0), (2.2, 0.9), 0.4)
            joint(axes, (0.2, 0))
            arrow(axes, (0.2, 0), (0.2, 1.5), r"$g^i$", (0.3, 0.45))
            axes.text(1.3, 0.5, "$i$", fontsize=11)
            axes.text(0.9, -0.5, r"$\sigma_i = 0,\ q_i = \omega_i$", fontsize=10.5)
        else:
            body(axes, (0.9, 0), (2.3, 0), 0.4)
            axes.plot([0.35, 0.75], [0, 0], color=INK, lw=4)
            arrow(axes, (0.2, 0.75), (2.0, 0.75), r"$g^i$", (0, 0.28))
            axes.text(1.5, -0.06, "$i$", fontsize=11)
            axes.text(0.9, -0.7, r"$\sigma_i = 1,\ q_i = \tau_i$", fontsize=10.5)
    return figure


def vukobratovic_1_3() -> Figure:
    figure, axes = scheme(5.2, 3.2, (-1.2, 5.0), (-0.9, 2.9))
    for at, turn, names in (
        ((0, 0), 0.0, ("x^{a(i)}", "y^{a(i)}", "z^{a(i)}")),
        ((3.0, 1.2), 0.5, ("x^i", "y^i", "z^i = g^i")),
    ):
        for angle, name in zip((-0.25, 0.6, 1.57), names, strict=True):
            end = np.add(at, 1.1 * np.array([np.cos(angle + turn), np.sin(angle + turn)]))
            arrow(axes, at, end)
            axes.text(*(end + 0.1), f"${name}$", fontsize=10, color=BLUE)
    centre(axes, (0, 0), "$O_{a(i)}$", (-0.5, -0.4))
    centre(axes, (3.0, 1.2), "$O_i$", (-0.1, -0.45))
    arrow(axes, (0, 0), (3.0, 1.2), r"$\alpha_i,\ \beta_i,\ \gamma_i$", (0.3, -0.35), RED, ls="--")
    return figure


def vukobratovic_1_4() -> Figure:
    figure, axes = scheme(6.4, 3.6, (-0.6, 7.0), (-0.7, 3.6))
    points = np.array([(0.0, 0.0), (1.3, 1.1), (3.1, 1.5), (4.8, 2.3)])
    for k, (a, b) in enumerate(zip(points, [*points[1:], (6.5, 2.2)], strict=True)):
        body(axes, a, b, 0.3)
        arrow(axes, a, np.add(a, (-0.25, 0.8)), f"$e_{'12li'[k]}$", (-0.25, 0.25))
        joint(axes, a, "$O_{}$".format("12li"[k]), (0.25, -0.4))
    X = np.array((5.65, 2.25))
    centre(axes, X, "$C_i$", (0.12, 0.12))
    arrow(axes, points[2], X, "$r_{li}$", (0.1, -0.3), RED)
    arrow(axes, (0, 0), X, "$X_i$", (0.5, -0.35), GREEN, ls="--")
    arrow(axes, X, np.add(X, (0.85, -0.03)), "$q_{1i}$", (0.2, 0.28))
    ground(axes, (0, -0.15))
    return figure


def zhao_1() -> Figure:
    figure, axes = scheme(5.6, 6.2, (-3.4, 3.4), (-7.4, 0.7))
    steps = (
        r"$T(q, \dot q, t),\ Q\ \to\ M\ddot q = F$   (1)–(4)",
        r"$A\dot q + a = 0,\quad A\,\delta q = 0$   (5), (6)",
        r"$\delta q_1 = -K\,\delta q_2,\quad K = A_1^{-1}A_2$   (8)–(10)",
        r"$(M\ddot q - F)\cdot\delta q = 0$   (11)–(13)",
        r"$M_{11},\ M_{12} = M_{21}^T,\ M_{22},\ A_1,\ A_2,\ F_1,\ F_2$",
        r"$-K^T(M_{11}\ddot q_1 + M_{12}\ddot q_2 - F_1) + \dots = 0$   (16)",
        r"$A\ddot q = b$   (18)",
        r"$\ddot q_2,\ \ddot q_1$   (33), (34)",
    )
    for k, step in enumerate(steps):
        box(axes, (0, -0.98 * k), step, 6.2, 0.55)
        if k:
            arrow(axes, (0, -0.98 * (k - 1) - 0.33), (0, -0.98 * k + 0.33), colour=INK)
    return figure


def zhao_2() -> Figure:
    figure, axes = scheme(6.4, 3.4, (-12.5, 12.8), (-7.2, 8.2))
    theta, psi = 0.25, (-0.6, -0.45)
    along = np.array([np.cos(theta), np.sin(theta)])
    axes.plot([-12, 12], [0, 0], color="#999999", lw=0.8, ls=(0, (6, 3)))
    axes.add_patch(
        Polygon(
            [
                along * x + np.array([-along[1], along[0]]) * y
                for x, y in ((-4, -1.2), (4, -1.2), (4, 1.2), (-4, 1.2))
            ],
            facecolor=PALE,
            edgecolor=INK,
        )
    )
    axes.plot(*np.transpose([-8 * along, 8 * along]), color="#999999", lw=0.8, ls=(0, (6, 3)))
    for side, angle, name in ((1, psi[0], "1"), (-1, psi[1], "2")):
        shoulder = 4 * side * along
        tip = shoulder + 8 * side * np.array([np.cos(theta - angle), np.sin(theta - angle)])
        axes.plot(*np.transpose([shoulder, tip]), color=INK, lw=2.4, ls="-")
        axes.plot(*tip, "o", color=INK, markersize=9, clip_on=False)
        axes.text(*np.add(tip, (0.5, -0.2 if side > 0 else -1.2)), "$m_2$", fontsize=11)
        axes.text(*((shoulder + tip) / 2 + (-0.5, 0.5)), "$L$", fontsize=11, ha="right")
        axes.text(
            *(shoulder + 3.6 * side * along + (0.3, 0.5 if side > 0 else 0.4)),
            rf"$\psi_{name}$",
            color=BLUE,
            fontsize=11,
        )
        joint(axes, shoulder)
    axes.text(*(1.7 * along + (-0.4, 0.25)), "$r$", fontsize=11)
    axes.text(-2.9, -0.75, "$m_1, I$", fontsize=10.5)
    axes.text(5.6, 0.35, r"$\theta$", color=BLUE, fontsize=11)
    joint(axes, (0, 0))
    return figure


def zhao_8() -> Figure:
    figure, axes = scheme(4.6, 3.6, (-2.2, 3.6), (-1.5, 3.0))
    centre_, heading = np.array([1.0, 0.8]), 0.45
    arrow(axes, (-1.8, -1.2), (-0.9, -1.2), "$X$", (0.6, 0), INK)
    arrow(axes, (-1.8, -1.2), (-1.8, -0.3), "$Y$", (0, 0.6), INK)
    axes.add_patch(Ellipse(centre_, 1.7, 1.7, facecolor=PALE, edgecolor=INK))
    for name, azimuth in (("1", 60), ("2", 180), ("3", -60)):
        phi = heading + np.radians(azimuth)
        out = np.array([np.cos(phi), np.sin(phi)])
        wheel = centre_ + 1.25 * out
        across = np.array([-out[1], out[0]])
        axes.add_patch(
            Polygon(
                [wheel + s * 0.34 * across + t * 0.13 * out for s, t in ((-1, -1), (1, -1), (1, 1), (-1, 1))],
                facecolor="white",
                edgecolor=INK,
            )
        )
        axes.plot(*np.transpose([centre_, wheel]), color=INK, lw=0.9, ls="-")
        axes.text(
            *(centre_ + 1.72 * out), rf"$\psi_{name}$", ha="center", va="center", fontsize=11, color=BLUE
        )
    for turn, name in ((0.0, "X_R"), (np.pi / 2, "Y_R")):
        end = centre_ + 1.75 * np.array([np.cos(heading + turn), np.sin(heading + turn)])
        arrow(axes, centre_, end, colour=RED)
        axes.text(*(end + 0.08), f"${name}$", color=RED, fontsize=10.5)
    axes.plot([centre_[0], centre_[0] + 1.9], [centre_[1]] * 2, color="#999999", lw=0.8, ls=(0, (6, 3)))
    axes.text(centre_[0] + 1.35, centre_[1] + 0.17, r"$\theta$", fontsize=11)
    centre(axes, centre_, "$P(x, y)$", (-0.25, -0.35))
    return figure


class Runs:
    """Runs of both methods over 60 s, by robot: with tolerances at rounding, and with those of ODE45."""

    def __init__(self) -> None:
        s, sd = [np.pi / 36, -np.pi / 6, -np.pi / 6], [0.1, -0.1, -0.1]
        o = [1, 1, 1, 1e-3, 1e-3, np.pi / 6]
        od = [1, 1, 2, -0.02 / 3, -0.02 / np.sqrt(3), -2 / 3]
        self.cases: dict[str, tuple[Any, Any, Any, Any]] = {
            "space": (kp.example("space-robot"), s, sd, None),
            "printed": (kp.example("space-robot-printed"), s, sd, None),
            "omni": (kp.example("omni-robot-system"), o, od, [0.25e-6, 0, 0, 0, 0, 0]),
        }
        self.made: dict[tuple[str, str, bool], Any] = {}

    def __call__(self, name: str, solver: str = METHODS[0], coarse: bool = False) -> Any:
        if (name, solver, coarse) not in self.made:
            robot, q, qd, drive = self.cases[name]
            options = {"duration": 60.0, "hold": "none", "output": 0.3} | (ODE45 if coarse else EXACT)
            self.made[name, solver, coarse] = kp.simulate(
                robot, q, qd, torque=drive, solver=solver, **options
            )
        return self.made[name, solver, coarse]

    def accelerations(self, name: str) -> np.ndarray:
        robot, _, _, drive = self.cases[name]
        run = self(name)
        force = np.zeros(run.qd.shape[1]) if drive is None else np.array(drive)
        return np.array(
            [
                robot.forward_dynamics(q, qd, force, solver=METHODS[0])
                for q, qd in zip(run.q, run.qd, strict=True)
            ]
        )


RUNS = Runs()
MM = 1e3


def curves(
    rows: list[tuple[str, list[tuple[str, np.ndarray]]]], time: np.ndarray, width: float = 6.4
) -> Figure:
    """Panels one below the other: a label of the axis, and labelled curves over time."""
    figure = Figure(figsize=(width, 0.5 + 1.75 * len(rows)))
    for axes, (label, lines) in zip(
        np.atleast_1d(figure.subplots(len(rows), 1, sharex=True)), rows, strict=True
    ):
        for name, values in lines:
            axes.plot(time, values, label=name, linewidth=1.3)
        axes.set_ylabel(label)
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), labelspacing=0.9)
    axes.set_xlabel("$t$ [s]")
    return figure


def errors(
    name: str, part: str, columns: list[int], first: int, scale: float = 1.0
) -> list[tuple[str, np.ndarray]]:
    """e_k: Udwadia–Kalaba less Rosenberg at the tolerances of ODE45."""
    one, other = (getattr(RUNS(name, solver, coarse=True), part) for solver in METHODS)
    return [(f"$e_{{{first + k}}}$", scale * (other - one)[:, c]) for k, c in enumerate(columns)]


def zhao_3() -> Figure:
    rows = []
    for name, word in (("space", r"$-\dot M\dot q$"), ("printed", "(43)")):
        a = RUNS.accelerations(name)
        rows.append(
            (
                f"{word}  [rad/s²]",
                [(r"$\ddot\theta$", a[:, 0]), (r"$\ddot\psi_1$", a[:, 1]), (r"$\ddot\psi_2$", a[:, 2])],
            )
        )
    return curves(rows, RUNS("space").time)


def zhao_4() -> Figure:
    """Momentum of the body, of the arms, and of both, for initial rates from 0 to 1.5 times the printed ones."""
    robot = kp.example("space-robot")
    figure = Figure(figsize=(5.2, 4.2))
    axes = figure.add_subplot(projection="3d")
    for scale in np.linspace(0.0, 1.5, 7):
        run = kp.simulate(
            robot,
            [np.pi / 36, -np.pi / 6, -np.pi / 6],
            scale * np.array([0.1, -0.1, -0.1]),
            duration=60.0,
            output=0.6,
            rtol=1e-9,
            atol=1e-12,
        )
        total = robot.momentum(run.q, run.qd)[:, 2]
        body_ = 260.42 * run.qd[:, 0]
        axes.plot(body_, total - body_, total, linewidth=1.2, linestyle="-")
    side = np.array([0.0, 100.0])
    X, Y = np.meshgrid(side, 3.0 * side)
    axes.plot_surface(X, Y, X + Y, color=BLUE, alpha=0.15)
    axes.set(xlabel=r"$I\dot\theta$", ylabel=r"$H - I\dot\theta$", zlabel="$H$  [kg m²/s]")
    axes.view_init(elev=22, azim=-58)
    return figure


def zhao_5() -> Figure:
    names = (r"$\theta$", r"$\psi_1$", r"$\psi_2$")
    q = RUNS("space").q
    rows = [("[rad]", [(n, q[:, k]) for k, n in enumerate(names)])]
    rows += [
        (f"{word} [rad]", errors(case, "q", [0, 1, 2], 1))
        for case, word in (("space", r"$-\dot M\dot q$"), ("printed", "(43)"))
    ]
    return curves(rows, RUNS("space").time)


def zhao_6() -> Figure:
    names = (r"$\dot\theta$", r"$\dot\psi_1$", r"$\dot\psi_2$")
    qd = RUNS("space").qd
    rows = [("[rad/s]", [(n, qd[:, k]) for k, n in enumerate(names)])]
    rows += [
        (f"{word} [rad/s]", errors(case, "qd", [0, 1, 2], 4))
        for case, word in (("space", r"$-\dot M\dot q$"), ("printed", "(43)"))
    ]
    return curves(rows, RUNS("space").time)


def timed(name: str) -> list[float]:
    """Seconds of one run of 60 s with the tolerances of ODE45, by method; the least of five."""
    robot, q, qd, drive = RUNS.cases[name]
    found = []
    for solver in METHODS:
        options = {"duration": 60.0, "hold": "none", "output": 0.3, "solver": solver} | ODE45
        times = []
        for _ in range(6):
            began = perf_counter()
            kp.simulate(robot, q, qd, torque=drive, **options)
            times.append(perf_counter() - began)
        found.append(min(times))
    return found


def run_times(name: str, source: tuple[float, float]) -> Figure:
    figure = Figure(figsize=(6.2, 1.9))
    axes = figure.subplots()
    for k, values in enumerate((source, timed(name))):
        for j, (value, colour) in enumerate(zip(values, (BLUE, RED), strict=True)):
            at = k + 0.2 * (2 * j - 1)
            axes.barh(at, value, height=0.36, color=colour)
            axes.text(value * 1.15, at, f"{value:.3g} s", va="center")
    axes.set(
        xscale="log",
        xlim=(1e-4, 400),
        yticks=(0, 1),
        yticklabels=("Zhao 2023", "kinpair"),
        xlabel="$t$ [s];  blue: Rosenberg, red: Udwadia–Kalaba",
    )
    axes.invert_yaxis()
    return figure


def zhao_9() -> Figure:
    a = RUNS.accelerations("omni")
    return curves([("[rad/s²]", [(rf"$\ddot\psi_{k + 1}$", a[:, k]) for k in range(3)])], RUNS("omni").time)


def zhao_10() -> Figure:
    a = MM * RUNS.accelerations("omni")
    return curves([("[mm/s²]", [(r"$\ddot x$", a[:, 3]), (r"$\ddot y$", a[:, 4])])], RUNS("omni").time)


def zhao_11() -> Figure:
    a = RUNS.accelerations("omni")
    figure = curves([("[rad/s²]", [(r"$\ddot\theta$", a[:, 5])])], RUNS("omni").time)
    figure.axes[0].set_ylim(-2e-4, 0)
    return figure


def zhao_12() -> Figure:
    qd = MM * RUNS("omni").qd
    rows = [
        ("[mm/s]", [(r"$\dot x$", qd[:, 3]), (r"$\dot y$", qd[:, 4])]),
        ("[mm/s]", errors("omni", "qd", [3, 4], 7, MM)),
    ]
    return curves(rows, RUNS("omni").time)


def zhao_13() -> Figure:
    rows = [
        ("[rad/s]", [(r"$\dot\theta$", RUNS("omni").qd[:, 5])]),
        ("[rad/s]", errors("omni", "qd", [5], 9)),
    ]
    return curves(rows, RUNS("omni").time)


def zhao_14() -> Figure:
    run = RUNS("omni")
    figure = Figure(figsize=(7.4, 3.2))
    path, off = figure.subplots(1, 2, width_ratios=(1, 1.3))
    path.plot(*(MM * run.q[:, 3:5].T))
    path.set(xlabel="$x$ [mm]", ylabel="$y$ [mm]", aspect="equal")
    for name, values in errors("omni", "q", [3, 4], 10, MM):
        off.plot(run.time, values, label=name, linewidth=1.3)
    off.set(xlabel="$t$ [s]", ylabel="[mm]")
    off.legend()
    return figure


FIGURES = {
    "saha-1": saha_1,
    "saha-2": saha_2,
    "saha-3": saha_3,
    "zhao-gu-1": zhao_gu_1,
    "zhao-gu-2": lambda: zhao_gu_flow(True),
    "zhao-gu-3": lambda: zhao_gu_flow(False),
    "vukobratovic-1.1": vukobratovic_1_1,
    "vukobratovic-1.2": vukobratovic_1_2,
    "vukobratovic-1.3": vukobratovic_1_3,
    "vukobratovic-1.4": vukobratovic_1_4,
    "zhao-1": zhao_1,
    "zhao-2": zhao_2,
    "zhao-3": zhao_3,
    "zhao-4": zhao_4,
    "zhao-5": zhao_5,
    "zhao-6": zhao_6,
    "zhao-7": lambda: run_times("space", (1.721, 12.899)),
    "zhao-8": zhao_8,
    "zhao-9": zhao_9,
    "zhao-10": zhao_10,
    "zhao-11": zhao_11,
    "zhao-12": zhao_12,
    "zhao-13": zhao_13,
    "zhao-14": zhao_14,
    "zhao-15": lambda: run_times("omni", (10.037, 45.111)),
}


def main(folder: Path, names: list[str], suffix: str = "svg") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    look = {
        "svg.fonttype": "none",
        "svg.hashsalt": "kinpair",
        "path.simplify_threshold": 0.5,
        "axes.titlelocation": "center",
    }
    with style.context(HERE.parents[1] / "examples" / "figures.mplstyle"), rc_context(look):
        for name in names or FIGURES:
            FIGURES[name]().savefig(
                folder / f"{name}.{suffix}", metadata={"Date": None} if suffix == "svg" else None
            )
            print(name)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "figures", sys.argv[2:])
