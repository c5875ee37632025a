"""Time and accuracy of the nonsmooth solver: python -m benchmarks.contact_problems FOLDER of friction-contact problems.

Each `.npz` has W as CSC (`data`, `indices`, `indptr`, `shape`), `q`, `mu` (one per contact) and `d` (2 or 3), with the
normal first in each contact: u = W r + q. Where Pinocchio 4 is installed, its ADMM and PGS solve the problems with
d = 3 and up to 110 contacts too. They require a symmetric W: they get (W + Wᵀ)/2 and are measured with it, with
tolerances of 1e-12 and at most 4 000 iterations.
"""

from __future__ import annotations

import sys
import time
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix

from kinpair.constraints.solve.problem import Disc, Group, Interval, solve

MOST = 110  # contacts that Pinocchio is given: more take minutes


def error(W: np.ndarray, q: np.ndarray, mu: np.ndarray, d: int, r: np.ndarray) -> float:
    """E2 = maxᵢ ‖rᵢ − P_K(rᵢ − τᵢ ũᵢ)‖/τᵢ / ‖q‖∞ with ũ = u + μ‖u_T‖n and τᵢ = d/tr Wᵢᵢ."""
    u, largest = W @ r + q, 0.0
    for i, own in enumerate(mu):
        rows = slice(d * i, d * (i + 1))
        tau, velocity = d / np.trace(W[rows, rows]), u[rows].copy()
        velocity[0] += own * np.linalg.norm(velocity[1:])
        largest = max(largest, float(np.linalg.norm(r[rows] - _in_cone(r[rows] - tau * velocity, own))) / tau)
    return largest / float(np.abs(q).max())


def _in_cone(p: np.ndarray, mu: float) -> np.ndarray:
    """The nearest point of the friction cone."""
    size = float(np.linalg.norm(p[1:]))
    if mu * size <= -p[0]:
        return np.zeros_like(p)
    if size <= mu * p[0]:
        return p
    height = (mu * size + p[0]) / (1.0 + mu**2)
    return np.array([height, *(mu * height * p[1:] / size)])


def contacts(mu: np.ndarray, d: int) -> list[Group]:
    """A normal and a disc for each contact."""
    groups: list[Group] = []
    for i, own in enumerate(mu):
        groups += [Interval(d * i), Disc(tuple(range(d * i + 1, d * (i + 1))), mu=float(own), normal=d * i)]
    return groups


class Pinocchio:
    """The solver of Pinocchio for contacts; normals come last there."""

    methods = ("ADMM", "PGS")

    def __init__(self) -> None:
        self.pin: Any = None
        try:
            self.pin = import_module("pinocchio")
            self.pin.ADMMConstraintSolver  # noqa: B018, in version 4
        except (ImportError, AttributeError):
            self.pin = None

    def solve(self, method: str, W: np.ndarray, q: np.ndarray, mu: np.ndarray) -> tuple[np.ndarray, float]:
        """Return the forces, and the time [s] of the solve alone."""
        pin, n = self.pin, len(q)
        model = pin.Model()
        model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), "body")
        models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
        for own in mu:
            contact = pin.PointContactConstraintModel(model, 0, pin.SE3.Identity(), 1, pin.SE3.Identity())
            contact.setFriction(float(own))
            models.append(pin.ConstraintModel(contact))
            data.append(models[len(models) - 1].createData())
        order = np.arange(n).reshape(-1, 3)[:, [1, 2, 0]].ravel()
        ordered = np.ascontiguousarray(W[np.ix_(order, order)])
        settings, result = (getattr(pin, f"{method}Solver{x}")() for x in ("Settings", "Result"))
        settings.max_iterations = 4000
        for kind in ("absolute", "relative"):
            for what in ("complementarity", "feasibility"):
                setattr(settings, f"{kind}_{what}_tol", 1e-12)
        solver, delassus = getattr(pin, f"{method}ConstraintSolver")(n), pin.DelassusOperatorDense(ordered)
        begin = time.perf_counter()
        solver.solve(delassus, q[order], models, data, settings, result)
        seconds, r = time.perf_counter() - begin, np.empty(n)
        r[order] = result.retrieveConstraintImpulses()
        return r, seconds


def main(folder: str) -> None:
    """Print a line per problem, cold and warm."""
    solve(np.eye(2), -np.ones(2), contacts(np.ones(1), 2))  # compiles the solver
    pinocchio = Pinocchio()
    methods = pinocchio.methods if pinocchio.pin else ()
    heads = "".join(f" {f'{x} E2':>8} {f'{x} ms':>9}" for x in methods)
    print(f"{'problem':45} {'contacts':>8} {'E2':>8} {'cold ms':>9} {'warm ms':>9}{heads}")
    for path in sorted(Path(folder).glob("*.npz")):
        stored = np.load(path)
        W = csc_matrix((stored["data"], stored["indices"], stored["indptr"]), shape=stored["shape"]).toarray()
        q, mu, d = stored["q"], stored["mu"], int(stored["d"])
        groups = contacts(mu, d)
        begin = time.perf_counter()
        cold = solve(W, q, groups)
        middle = time.perf_counter()
        solve(W, q, groups, start=cold.x)
        end = time.perf_counter()
        e2 = error(W, q, mu, d, cold.x)
        times = f"{1e3 * (middle - begin):9.2f} {1e3 * (end - middle):9.2f}"
        line = f"{path.stem:45} {len(mu):8} {e2:8.1e} {times}"
        for method in methods if d == 3 and len(mu) <= MOST else ():
            symmetric = 0.5 * (W + W.T)
            r, seconds = pinocchio.solve(method, symmetric, q, mu)
            line += f" {error(symmetric, q, mu, d, r):8.1e} {1e3 * seconds:9.2f}"
        print(line, flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
