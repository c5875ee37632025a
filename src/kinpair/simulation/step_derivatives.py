"""Derivatives of a time step with contact, by the implicit function theorem on its active set.

With the impulses Λ of a step, c(y, Λ) = u⁺ + bias of their rows and y₁ = F(y, Λ),

    dΛ = S ∂c/∂y,   S = ∂Λ/∂c of (NS16),      dy₁ = ∂F/∂y + ∂F/∂Λ dΛ                                     (CN17)

c and F are smooth: no set is searched in them. Their partial derivatives are central differences. Positions are in the
tangent space. A set is degenerate where a group is between two phases, a closed point has no gap and no overlap,
restitution was reduced, or an overlap is beyond `DEEP`; there the derivatives are those of one side, without the
displacement that reduces an overlap. No entry is ever NaN.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.loops.functions import LoopFunction, compiled
from kinpair.constraints.solve.derivatives import slopes
from kinpair.constraints.solve.problem import Disc, Group, Interval, described, empty_like, memory
from kinpair.contact.records import INTEGERS, MEMORY, OF_GEOM, OF_POINT, WORK
from kinpair.formulations import kinematics
from kinpair.model.model import Model
from kinpair.simulation.contact.closing import CLOSED, FROZEN, OPENED, REBOUNDS
from kinpair.simulation.contact.prediction import CURVED
from kinpair.simulation.contact.rows import ROWS
from kinpair.simulation.contact.separation import DEEP
from kinpair.simulation.contact.step import BARE, DEPTH, KEPT, KNOWN, LEDGER, RESULTS, TOUCHING
from kinpair.simulation.loops import KERNELS, kernel_of
from kinpair.simulation.methods.time_stepping import TimeStepping, sizes_of
from kinpair.simulation.run import Run

SMALL = 1e-6  # of differences, against 1 or the size of an entry


class StepDerivatives(NamedTuple):
    """Derivatives of q⁺ (tangent) and q̇⁺ after a step: A (..., 2 nv, 2 nv) by q and q̇, B (..., 2 nv, nu) by the inputs,
    and whether the active set is degenerate (...)."""

    A: np.ndarray
    B: np.ndarray
    degenerate: np.ndarray


class Frozen(NamedTuple):
    """The active set of a step: rows of `closing.frozen_step`, groups, D (n, n) and c (n,) of its problem."""

    items: np.ndarray
    counts: list[int]
    groups: list[Group]
    D: np.ndarray
    g: np.ndarray
    x: np.ndarray
    degenerate: bool


class Steps:
    """A time step with contact that is called from Python."""

    def __init__(self, run: Run) -> None:
        self.run, self.d, self.method = run, run.d, run.integrator.solution
        assert isinstance(self.method, TimeStepping)
        assert run.plan is not None
        self.dt, self.sizes, self.solve = run.plan.dt, sizes_of(run.d), self.method.solve(run.d)
        self._memory, self._places = np.zeros(self.solve.memory), np.zeros(self.solve.places, dtype=np.int64)
        d = self.d
        shapes = {"time": (), "dt": (), "y": (d.ny,), "u": (d.nu,)}
        self._start = kernel_of(d, self.method.start, **shapes)
        self._finish = kernel_of(d, self.method.finish, **shapes, z=(self.method.size(d),))

    def _begin(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return z before a step, with the forces of the last one."""
        z = np.array(self._start(time, self.dt, y, u, *((p,) if self.d.parameters else ())))
        in_y, in_z, size = self.solve.carried
        z[in_z : in_z + size] = y[in_y : in_y + size]
        return z

    def _call(self, z: np.ndarray) -> float:
        own = self.solve
        return own.function(self.dt, z, own.numbers, own.whole, self._memory, self._places)

    @property
    def _frozen(self) -> np.ndarray:
        """The rows of known impulses in the working memory."""
        s = self.sizes
        n = s.points + s.joints
        return self._memory[len(self._memory) - FROZEN * n :].reshape(n, FROZEN)

    def active(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> Frozen | None:
        """Take a step and return its active set; None where it has none."""
        z = self._begin(p, time, y, u)
        z[-1] = BARE
        if self._call(z) != 0.0:
            return None
        s, places, store = self.sizes, self._places, self._memory
        n, points = s.points + s.joints, s.points
        e, w = (
            2 * points + s.geoms + s.pairs + INTEGERS,
            OF_POINT * points + OF_GEOM * s.geoms + 3 * WORK + MEMORY,
        )
        first, rows = places[e : e + n], places[e + n : e + 2 * n]
        flags = places[e + 6 * n + n * s.rates : e + 7 * n + n * s.rates]
        impulse = store[w + 18 * n : w + 24 * n].reshape(n, ROWS)
        gap, mu = store[w + 24 * n :], store[w + 27 * n :]
        items, counts, groups = np.zeros((n, FROZEN)), list[int](), list[Group]()
        degenerate = bool(z[len(z) - 1 - LEDGER + DEPTH] > DEEP)
        row = 0
        for i in range(n):
            if first[i] < 0:
                continue
            key = float(places[points + i] + 1) if i < points else -float(i - points + 1)
            kind = CLOSED
            if i < points + s.limits:
                kind = REBOUNDS if flags[i] else OPENED if gap[i] > 0.0 else CLOSED
                degenerate |= bool(abs(gap[i]) <= TOUCHING and impulse[i, 0] > 0.0)
            count = int(rows[i])
            items[len(counts), :9] = key, kind, mu[i], *impulse[i]
            counts.append(count)
            groups += self._groups(row, count, i, float(mu[i]), z)
            row += count
        order = [int(first[i]) + r for i in range(n) if first[i] >= 0 for r in range(int(rows[i]))]
        start = w + 31 * n + 14 * s.rates + CURVED
        Y = store[start : start + row * s.rates].reshape(row, s.rates)
        x = np.concatenate([np.zeros(0), *(items[k, 3 : 3 + m] for k, m in enumerate(counts))])
        return Frozen(items, counts, groups, Y[order] @ Y[order].T, np.zeros(row), x, degenerate)

    def _groups(self, row: int, count: int, item: int, mu: float, z: np.ndarray) -> list[Group]:
        """Return the groups of an item whose rows begin at `row`."""
        s, data = self.sizes, self.d.contact
        assert data is not None
        if item >= s.points + s.limits:
            first = len(z) - 1 - LEDGER - RESULTS * s.rates - KEPT * s.points - 2 * s.frictions
            k = item - s.points - s.limits
            return [Interval(row, float(z[first + k]), float(z[first + s.frictions + k]))]
        own: list[Group] = [Interval(row)]
        if count >= 3:
            own.append(Disc((row + 1, row + 2), mu=mu, normal=row))
        pair = int(self._places[item]) if item < s.points else 0
        if count >= 5:
            own.append(Disc((row + 3, row + 4), mu=float(data.data.rolling[pair]), normal=row))
        if count in (4, 6):
            own.append(Disc((row + count - 1,), mu=float(data.data.torsional[pair]), normal=row))
        return own

    def known(
        self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray, frozen: Frozen, x: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the state after a step with impulses x, and c of their rows."""
        own = (p,) if self.d.parameters else ()
        z = self._begin(p, time, y, u)
        z[-1] = KNOWN
        table, at = self._frozen, 0
        table[:] = frozen.items
        for k, count in enumerate(frozen.counts):
            table[k, 3 : 3 + count] = x[at : at + count]
            at += count
        if self._call(z) != 0.0:
            return np.full(self.d.ny, np.nan), np.full(len(x), np.nan)
        c = np.concatenate([np.zeros(0), *(table[k, 9 : 9 + m] for k, m in enumerate(frozen.counts))])
        return np.array(self._finish(time, self.dt, y, u, z, *own)), c


def derivatives(run: Run, time: float, y: np.ndarray, u: np.ndarray, p: np.ndarray) -> StepDerivatives:
    """Return the derivatives of a step from one state (ny,) with inputs (nu,).    (CN17)"""
    d = run.d
    nv, nu = d.model.nv, d.input_layout.control.stop - d.input_layout.control.start
    steps: Steps = KERNELS.get(
        ("step derivatives", d.key, run.integrator, run.plan and run.plan.dt), lambda: Steps(run)
    )
    nothing = StepDerivatives(np.zeros((2 * nv, 2 * nv)), np.zeros((2 * nv, nu)), np.array(True))
    if not (np.isfinite(y).all() and np.isfinite(u).all()):
        return nothing
    frozen = steps.active(p, time, y, u)
    if frozen is None:
        return nothing
    q, qd = y[d.layout.q], y[d.layout.qd]
    base, c0 = steps.known(p, time, y, u, frozen, frozen.x)
    if not np.isfinite(base).all():
        return nothing
    tangent = _tangent(d.model, base[d.layout.q])

    def moved(k: int, h: float) -> tuple[np.ndarray, np.ndarray]:
        there, inputs = y.copy(), u.copy()
        if k < nv:
            there[d.layout.q] = kinematics.nudged(d.model, q, h * np.eye(nv)[k])
        elif k < 2 * nv:
            there[d.layout.qd] = qd + h * np.eye(nv)[k - nv]
        else:
            inputs[d.input_layout.control.start + k - 2 * nv] += h
        return there, inputs

    def outcome(state: np.ndarray) -> np.ndarray:
        change = state[d.layout.q] - base[d.layout.q]
        return np.concatenate([tangent @ change, state[d.layout.qd] - base[d.layout.qd]])

    F, C = np.zeros((2 * nv, 2 * nv + nu)), np.zeros((len(frozen.x), 2 * nv + nu))
    for k in range(2 * nv + nu):
        size = SMALL * max(1.0, abs(float(qd[k - nv])) if nv <= k < 2 * nv else 1.0)
        (up, above), (down, below) = (
            steps.known(p, time, *moved(k, h), frozen, frozen.x) for h in (size, -size)
        )
        F[:, k], C[:, k] = (outcome(up) - outcome(down)) / (2 * size), (above - below) / (2 * size)
    degenerate = frozen.degenerate
    if len(frozen.x):
        S, edge = _slopes(frozen._replace(g=c0 - frozen.D @ frozen.x))
        degenerate |= edge
        by_x = np.zeros((2 * nv, len(frozen.x)))
        for k in range(len(frozen.x)):
            size = SMALL * max(1.0, float(np.abs(frozen.x).max()))
            (up, _), (down, _) = (
                steps.known(p, time, y, u, frozen, frozen.x + h * np.eye(len(frozen.x))[k])
                for h in (size, -size)
            )
            by_x[:, k] = (outcome(up) - outcome(down)) / (2 * size)
        F = F + by_x @ S @ C
    if not np.isfinite(F).all():
        return nothing
    return StepDerivatives(F[:, : 2 * nv], F[:, 2 * nv :], np.array(degenerate))


def _tangent(model: Model, q: np.ndarray) -> np.ndarray:
    """Return the matrix (nv, nq) from changes of the coordinates to displacements in the directions of the rates."""
    columns = [np.asarray(kinematics.dq_dt(model, q, x), dtype=float) for x in np.eye(model.nv)]
    return np.linalg.pinv(np.array(columns).T)


def _slopes(frozen: Frozen) -> tuple[np.ndarray, bool]:
    """Return S = ∂Λ/∂c (n, n), and whether the set is degenerate."""
    p = described(frozen.D, frozen.g, frozen.groups)
    S = np.zeros_like(frozen.D)
    edge, solved = _code()(p, empty_like(p), frozen.x.copy(), memory(len(frozen.x)), S)
    return S, bool(edge or not solved)


def _code() -> LoopFunction:
    """Return the slopes as machine code."""
    return KERNELS.get("slopes", lambda: compiled(slopes, store=Store()))
