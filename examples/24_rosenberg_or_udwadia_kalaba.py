"""Run times of Udwadia–Kalaba and of the extended Rosenberg embedding, beside those of Zhao et al. 2023; a picture."""

import sys
from pathlib import Path
from time import perf_counter

import numpy as np
from matplotlib import style
from matplotlib.figure import Figure

import kinpair as kp

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else "build/figures")
METHODS = ("udwadia-kalaba", "rosenberg-extended")
SOURCE = {"space-robot": (12.899, 1.721), "omni-robot": (45.111, 10.037)}  # run times there, s
STARTS = {
    "space-robot": (0.1, -0.1, -0.1),
    "omni-robot": (1, 1, 2, -0.02 / 3, -0.02 / np.sqrt(3), -2 / 3),
}


def udwadia_kalaba(M, F, A, b):
    """q̈ = a + M^(−½) (A M^(−½))⁺ (b − A a) to the letter: a root by eigenvalues, an inverse by singular values."""
    values, vectors = np.linalg.eigh(M)
    root = (vectors / np.sqrt(values)) @ vectors.T
    a = root @ (root @ F)
    return a + root @ (np.linalg.pinv(A @ root) @ (b - A @ a))


def rosenberg(M, F, A, b):
    """q̈₂ and q̈₁ of eqs 33 and 34 of the source: two calls of `solve`."""
    l = len(b)
    found = np.linalg.solve(A[:, :l], np.column_stack([A[:, l:], b]))
    K, c = found[:, :-1], found[:, -1]
    W = K.T @ M[:l, :l] - M[l:, :l]
    after = np.linalg.solve(W @ K - K.T @ M[:l, l:] + M[l:, l:], F[l:] - K.T @ F[:l] + W @ c)
    return np.concatenate([c - K @ after, after])


def ratio(first, second, repeats=7):
    """Time of the first over that of the second, each at its best, taken in turns."""
    times = np.full((repeats, 2), np.inf)
    for k in range(repeats):
        for j, f in enumerate((first, second)):
            began = perf_counter()
            f()
            times[k, j] = perf_counter() - began
    return times.min(axis=0) @ [1, 0] / times.min(axis=0)[1]


def literal(robot, q, qd):
    """The solve alone in NumPy, M, F, A and b given."""
    H, h = robot.mass_matrix(q), robot.bias_forces(q, qd)
    A, b = (
        robot.constraint_matrix(q),
        robot.constraint_matrix(q) @ robot.forward_dynamics(q, qd, np.zeros(robot.nv)),
    )
    roads = [lambda f=f: [f(H, -h, A, b) for _ in range(200)] for f in (udwadia_kalaba, rosenberg)]
    assert np.allclose(roads[0]()[0], roads[1]()[0], rtol=1e-9, atol=1e-12)
    return ratio(*roads)


def simulated(robot, q, qd):
    """The motion of the source, compiled: 60 s by Runge–Kutta 4 in steps of 1 ms."""
    options = {"duration": 60.0, "integrator": "rk4", "dt": 1e-3, "output": 60.0, "hold": "none"}
    return ratio(*(lambda s=s: kp.simulate(robot, q, qd, solver=s, **options) for s in METHODS))


def bars():
    figure = Figure(figsize=(8, 3.0))
    axis = figure.subplots()
    names = ("the source", "the solve alone, in NumPy to the letter", "the whole simulation, compiled")
    looks = ({"color": "#333333"}, {"color": "#8ab6e8"}, {"color": "#2a6fbb"})
    for k, (name, look) in enumerate(zip(names, looks, strict=True)):
        y = np.arange(len(found)) + 0.27 * (k - 1)
        lengths = [x[k] for x in found.values()]
        axis.barh(y, lengths, height=0.25, label=name, **look)
        for at, length in zip(y, lengths, strict=True):
            axis.annotate(
                f"{length:.1f}", (max(length, 1.0), at), (5, 0), textcoords="offset points", va="center"
            )
    axis.axvline(1.0, color="#d1571b", linewidth=1.4, linestyle=(0, (5, 1.6)))
    axis.set(yticks=range(len(found)), yticklabels=[x.replace("-", " ") for x in found], xlim=(0, 8.2))
    axis.invert_yaxis()
    axis.grid(axis="y", visible=False)
    axis.set_xlabel("time of Udwadia–Kalaba / time of Rosenberg; at the dashed line both take the same")
    figure.suptitle("Run times: how much longer Udwadia–Kalaba takes than the extended Rosenberg embedding")
    figure.legend(loc="outside lower center", ncols=3)
    return figure


found = {}
for name, rates in STARTS.items():
    robot = kp.example(name)
    q, qd = robot.start(), np.array(rates)
    found[name] = (SOURCE[name][0] / SOURCE[name][1], literal(robot, q, qd), simulated(robot, q, qd))
    print(
        "{}: source {:.1f}, solve in NumPy {:.1f}, whole simulation compiled {:.1f}".format(
            name, *found[name]
        )
    )

FOLDER.mkdir(parents=True, exist_ok=True)
with style.context(Path(__file__).with_name("figures.mplstyle")):
    bars().savefig(FOLDER / "run-times.png")
