"""Draws the pictures of docs/long_chains.md: `python docs/pictures/long_chains.py`.

Its functions are also those of tests/laws/test_long_chains.py, with fewer links.
"""

from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq
from scipy.special import jn_zeros

import kinpair as kp
from kinpair.formulations import articulated, composite, denoc, newton_euler
from kinpair.formulations.kinematics import no_wrenches

LONG = np.longdouble
G = 9.81  # m/s²
ANGLES = (0.31, -0.17)  # rad, of every joint of the coiled rope


def chain(n, joint, length=1.0, mass=1.0):
    return kp.build(kp.Builder("chain").chain("chain", n=n, length=length, mass=mass, joint=joint)).reference


# Rotations along a chain.


def coil(n, length=1.0):
    """Axes (3, 3) and end (3,) of a coiled rope in long double: R = R_y(a) R_x(b) for each link, and its n-th power.

    Rⁿ turns by n φ about the axis u of R; positions are the sum of a geometric series of rotations.
    """
    a, b = (LONG(x) for x in ANGLES)
    one, zero = LONG(1), LONG(0)
    about_y = np.array([[np.cos(a), zero, np.sin(a)], [zero, one, zero], [-np.sin(a), zero, np.cos(a)]])
    about_x = np.array([[one, zero, zero], [zero, np.cos(b), -np.sin(b)], [zero, np.sin(b), np.cos(b)]])
    R = about_y @ about_x
    v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / 2
    sine = np.sqrt(v @ v)
    phi, u = np.arctan2(sine, (np.trace(R) - 1) / 2), v / sine
    cross = np.array([[zero, -u[2], u[1]], [u[2], zero, -u[0]], [-u[1], u[0], zero]])
    power = np.eye(3, dtype=LONG) + np.sin(n * phi) * cross + (1 - np.cos(n * phi)) * cross @ cross
    e = np.array([zero, zero, -one]) * LONG(length) / n
    along, across = (u @ e) * u, e - (u @ e) * u
    middle = (n + 1) * phi / 2
    series = np.sin(n * phi / 2) / np.sin(phi / 2)
    end = n * along + series * (np.cos(middle) * across + np.sin(middle) * np.cross(u, across))
    return power, end


def drift(n):
    """Errors of the last link of a coiled rope: of its rotation, of its position as a part of the length, and of
    RᵀR = 1."""
    rope = chain(n, "universal")
    pose = rope.pose(np.tile(ANGLES, n), "chain_end")
    R, end = coil(n)
    rotation, position = np.abs(pose.rotation - R).max(), np.abs(pose.position - end).max()
    return float(rotation), float(position), float(np.abs(pose.rotation.T @ pose.rotation - np.eye(3)).max())


# Forward dynamics with O(n) and O(n³) operations.


def solve_errors(n, seed=0):
    """Relative errors of q̈ of a chain of n links of one metre in a random state, compared with long double.

    The reference is the UDUᵀ form in long double; "check" is what articulated bodies in long double differ from it.
    """
    rope = chain(n, "revolute", length=float(n), mass=float(n))
    model = replace(
        rope.model, lean_body=lambda: rope.model.body
    )  # regrouped constants are rounded to double
    w = no_wrenches(model)
    state = np.random.default_rng(seed).uniform(-1.0, 1.0, (3, n))
    exact = denoc.forward_dynamics(model, *state.astype(LONG), w).qdd

    def error(qdd):
        return float(np.linalg.norm(qdd - exact) / np.linalg.norm(exact))

    q, qd, tau = state
    H = composite.mass_matrix(model, q)
    h = newton_euler.inverse_dynamics(model, q, qd, np.zeros(n), w)
    return {
        "articulated bodies, O(n)": error(articulated.forward_dynamics(model, *state, w).qdd),
        "DeNOC UDUᵀ, O(n)": error(denoc.forward_dynamics(model, *state, w).qdd),
        "mass matrix and LDLᵀ, O(n³)": error(composite.forward_dynamics(model, *state, w).qdd),
        "mass matrix and LAPACK, O(n³)": error(np.linalg.solve(H, tau - h)),
        "condition": float(np.linalg.cond(H)),
        "check": error(articulated.forward_dynamics(model, *state.astype(LONG), w).qdd),
    }


# A chain with both ends fixed.


def catenary(n, length=1.0, span=0.6, mass=1.0):
    """Slopes α (n,) of the links of a chain between two points of equal height, and the horizontal force H [N].

    Moments about the start of link k: tan α_k = (V − (k − ½) m g / n) / H, V = m g / 2; Σ cos α_k = n span / length.
    """
    below = mass * G * (0.5 - (np.arange(n) + 0.5) / n)

    def gap(H):
        return length / n * np.sum(1.0 / np.hypot(1.0, below / H)) - span

    H = brentq(gap, 1e-3 * mass * G, 1e3 * mass * G, xtol=1e-15, rtol=1e-15)
    return np.arctan2(below, H), H


def catenary_residual(n):
    """Largest effort in the joints of a chain in the shape of `catenary`, as a part of its weight times its length."""
    alpha, H = catenary(n)
    theta = alpha - np.pi / 2
    q = np.diff(theta, prepend=0.0)
    end = np.array([0.0, 0.0, 0.0, H, 0.0, G / 2])
    tau = chain(n, "revolute").inverse_dynamics(q, np.zeros(n), np.zeros(n), external={"chain_end": end})
    return float(np.abs(tau).max() / G)


def points_of(alpha, length=1.0):
    """Joints (n + 1, 2) of a chain with these slopes."""
    steps = length / len(alpha) * np.stack([np.cos(alpha), -np.sin(alpha)], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def sag(length=1.0, span=0.6):
    """Sag of the continuous catenary [m]: span = 2 a asinh(length / (2 a)), sag = a (cosh(span / (2 a)) − 1)."""
    a = brentq(lambda a: 2 * a * np.arcsinh(length / (2 * a)) - span, 1e-3 * length, 1e3 * length, xtol=1e-15)
    return a * (np.cosh(span / (2 * a)) - 1.0), a


# Waves on a hanging chain.


def hanging(n, step=1e-5):
    """Mass matrix and stiffness (n, n) of a chain of one metre that hangs straight down."""
    rope = chain(n, "revolute")
    moved = step * np.eye(n)
    forward, back = (rope.bias_forces(q, np.zeros(n)) for q in (moved, -moved))
    K = (forward - back) / (2 * step)
    return rope.mass_matrix(np.zeros(n)), (K + K.T) / 2


def frequencies(n, count=3):
    """The lowest natural frequencies of a hanging chain [rad/s]."""
    H, K = hanging(n)
    return np.sqrt(eigh(K, H, eigvals_only=True)[:count])


def exact_frequencies(count=3):
    """Those of the continuous chain of one metre: j₀ₖ/2 · √(g/L), j₀ₖ the zeros of the Bessel function J₀."""
    return jn_zeros(0, count) / 2 * np.sqrt(G)


def wave(n, times, start=0.75, width=0.03):
    """Displacements (times, n + 1) of the joints of a hanging chain of one metre after a pulse at height `start` above
    the free end, which runs downwards; and the heights of the joints (n + 1,)."""
    height = 1.0 - np.arange(n + 1) / n
    bump = np.exp(-0.5 * ((height - start) / width) ** 2)
    slope = -(height - start) / width**2 * bump
    rate = np.sqrt(G * height) * slope  # ∂u/∂t = c ∂u/∂x: towards the free end
    to_q = [np.diff(-np.diff(x - x[0]) * n, prepend=0.0) for x in (bump, rate)]
    H, K = hanging(n)
    squares, modes = eigh(K, H)
    omega = np.sqrt(squares)
    y, yd = (modes.T @ H @ q for q in to_q)
    phase = np.outer(times, omega)
    q = (y * np.cos(phase) + yd / omega * np.sin(phase)) @ modes.T
    theta = np.cumsum(q, axis=1)
    return np.concatenate([np.zeros((len(times), 1)), -np.cumsum(theta, axis=1) / n], axis=1), height


def ray(times, start=0.75):
    """Height of a pulse that runs down with the speed √(g x): √x = √start − √g t / 2."""
    return (np.sqrt(start) - np.sqrt(G) * np.asarray(times) / 2) ** 2


def draw_rope(n, path):
    """A rope of n links and 10 m that winds through space."""
    s, q = np.arange(n) / n, np.zeros(2 * n)
    q[0::2], q[1::2] = 40 / n * np.cos(14 * s) * s, 30 / n * np.sin(9 * s)
    chain(n, "universal", length=10.0).picture(path, q)


def main():
    from matplotlib.figure import Figure

    folder = Path(__file__).parent
    draw_rope(10_000, folder / "long-chains-rope.png")
    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    sizes = [10, 30, 100, 300, 1000, 3000, 10_000]
    errors = np.array([drift(n) for n in sizes])
    for k, label in enumerate(("rotation of the last link", "position of the end / length", "RᵀR − 1")):
        left.loglog(sizes, np.maximum(errors[:, k], 1e-17), "o-", label=label)
    left.loglog(sizes, 2.2e-16 * np.array(sizes), "k--", lw=1, label="n ε")
    left.set(xlabel="links", ylabel="error", title="Coiled rope, compared with its closed form")
    sizes = [3, 5, 10, 20, 40, 80, 160, 300]
    rows = [[solve_errors(n, seed) for seed in range(3 if n < 100 else 1)] for n in sizes]
    for label in list(rows[0][0])[:4]:
        right.loglog(sizes, [np.median([x[label] for x in row]) for row in rows], "o-", label=label)
    bound = [1.1e-16 * np.median([x["condition"] for x in row]) for row in rows]
    right.loglog(sizes, bound, "k--", lw=1, label="ε · condition number of H")
    right.set(
        xlabel="links", ylabel="relative error of q̈", title="Forward dynamics, compared with long double"
    )
    for axis in (left, right):
        axis.legend(fontsize=8)
        axis.grid(alpha=0.3)
    figure.savefig(folder / "long-chains-accuracy.png", dpi=110)

    figure = Figure(figsize=(11, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    _, a = sag()
    x = np.linspace(0.0, 0.6, 300)
    left.plot(
        x, a * (np.cosh((x - 0.3) / a) - np.cosh(0.3 / a)), "k-", lw=3, alpha=0.3, label="a cosh(x / a)"
    )
    for n in (5, 10, 1000):
        left.plot(*points_of(catenary(n)[0]).T, "o-" if n < 100 else "-", ms=4, lw=1, label=f"{n} links")
    left.set(xlabel="x [m]", ylabel="z [m]", title="Chain with both ends fixed", aspect="equal")
    left.legend(fontsize=8)
    n = 300
    times = np.linspace(0.0, 0.45, 181)
    u, height = wave(n, times)
    limit = np.abs(u).max() / 2
    right.pcolormesh(
        times, height, u.T, cmap="RdBu_r", vmin=-limit, vmax=limit, shading="auto", rasterized=True
    )
    right.plot(times, ray(times), "k--", lw=1, label="dx/dt = −√(g x)")
    right.set(
        xlabel="time [s]",
        ylabel="height above the free end [m]",
        title=f"Pulse on a hanging chain of {n} links",
    )
    right.legend(fontsize=8)
    figure.savefig(folder / "long-chains-shapes.png", dpi=110)


if __name__ == "__main__":
    main()
