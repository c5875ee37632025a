"""The search for an equilibrium or a steady motion from one guess.

Newton's method on (EQ1), the least step first in the efforts that are free, then in rates that are free, then in the
coordinates: what need not change does not. Where that leads nowhere the mechanism yields to its accelerations for a
while, as if it moved through honey. A coordinate that would pass a limit is stopped there and the limit pushes; a limit
that would have to pull lets go.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from kinpair.analysis.linear.independence import Independence, Variations, independence_of
from kinpair.analysis.linear.partials import ROUNDING, Partials, cleaned, partials
from kinpair.analysis.linear.point import Point, has_ports, point_of
from kinpair.analysis.linear.steady_state import Residual, rate_change, residual, turning_rates
from kinpair.errors import SingularError, listed
from kinpair.forces.elements import owners_of
from kinpair.forces.states import ports_of
from kinpair.formulations import kinematics
from kinpair.mechanism import Mechanism
from kinpair.system import System

STEPS = 300
STRIDE = 0.1  # [rad] or [m]: of a displacement along the accelerations
LONGEST = 0.3  # [rad] or [m]: of a displacement in one step
STILL = 1e-9  # of the accelerations that the forces would give one by one: what may be left
HALF = 0.5  # of that, once it is reached: as long as a step leaves less it goes on
HALVINGS = 12
SURELY = 0.3  # of the accelerations: a step that leaves less leads to an equilibrium
RANK = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class EquilibriumRequest:
    """Arguments of a search for an equilibrium, see `equilibrium`."""

    m: Mechanism | System
    free: tuple[str, ...]
    fixed: tuple[str, ...]
    rates: Mapping[str, float]
    turning: float | None
    spins: Mapping[str, np.ndarray]
    free_rates: tuple[str, ...]
    limits: bool
    passive: bool
    time: float

    def numbers(self, names: Sequence[str] | Mapping[str, Any]) -> list[int]:
        """Numbers of rates by name."""
        return [self.m.v_names.index(name) for name in names]

    @property
    def controls(self) -> tuple[str, ...]:
        """Names of what is controlled: inputs where there are actuators or internal states, else efforts."""
        return self.m.u_names if isinstance(self.m, Mechanism) and has_ports(self.m) else self.m.v_names


@dataclass(frozen=True, eq=False)
class Balance:
    """Result of a search, see `Equilibrium`."""

    mechanism: Mechanism | System
    q: np.ndarray
    qd: np.ndarray
    u: np.ndarray
    x: np.ndarray
    turning: float
    spins: Mapping[str, np.ndarray]
    pushed: Mapping[str, float]
    residual: float
    passive: bool
    time: float

    @property
    def parts(self) -> dict[str, Any]:
        """Parts of the residual by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


@dataclass(frozen=True, slots=True, eq=False)
class Inputs:
    """Unknowns next to the coordinates: efforts (nv,) or inputs (nu,), internal states x (nx,), constant rates,
    turning and spins."""

    u: np.ndarray
    x: np.ndarray
    rates: Mapping[str, float]
    c: float
    spins: Mapping[str, np.ndarray]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A state, and all that is known there."""

    at: Point
    inputs: Inputs
    given: list[int]  # numbers of the rates that are given
    f: Partials
    x: Independence
    v: Variations
    r: Residual


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A change of the inputs and of the independent coordinates."""

    u: np.ndarray
    x: np.ndarray
    rates: Mapping[str, float]
    c: float
    spins: Mapping[str, float]
    xi: np.ndarray

    def taken(self, x: Inputs, part: float) -> Inputs:
        """The inputs after a part of it."""
        rates = {name: value + part * self.rates.get(name, 0.0) for name, value in x.rates.items()}
        spins = {
            name: s * (1.0 + part * self.spins.get(name, 0.0) / float(np.linalg.norm(s)))
            for name, s in x.spins.items()
        }
        return Inputs(x.u + part * self.u, x.x + part * self.x, rates, x.c + part * self.c, spins)


class Search:
    """Search from one guess."""

    def __init__(self, request: EquilibriumRequest, start: Point) -> None:
        self.request, self.m = request, request.m
        self.constrained = request.m.closure is not None and bool(request.m.closure.row_names)
        rates = {
            name: request.rates.get(name, 0.0)
            for name in (*request.rates, *request.free_rates)
            if name in request.m.v_names
        }
        self.ports = ports_of(request.m.model) if start.u.size or start.x.size else None
        self._scale: np.ndarray | None = None
        self._x_size: np.ndarray | None = None
        control = start.tau if self.ports is None else start.u
        self.start = start.q, Inputs(control, start.x, rates, request.turning or 0.0, request.spins)
        self.at_limit: dict[
            int, float
        ] = {}  # rates of coordinates that stand at a limit: +1 at the lower one

    def found(self) -> Balance:
        """The equilibrium, or an error that says what keeps accelerating."""
        trial, part = self._trial(*self.start), 1.0
        for _ in range(STEPS):
            size = self._size(trial)
            better = self._newton(trial, part) if size > 1.0 else self._newton(trial, HALF, halvings=1)
            if size <= 1.0 and better is None:
                if (released := self._pulling(trial)) is None:
                    return self._made(trial)
                del self.at_limit[released]
                continue
            if better is None:
                part, better = SURELY, self._yielding(trial)
            if better is None:
                break
            trial = better
        raise self._refused(trial)

    # a trial

    def _trial(self, q: np.ndarray, inputs: Inputs) -> Trial:
        """The state with the rates that are given, the others following, and what vanishes in an equilibrium."""
        m, w = self.m, self.request
        given = {**turning_rates(m.model, q, inputs.c, inputs.spins)}
        given |= {m.v_names.index(name): value for name, value in inputs.rates.items()}
        prefer = np.where(np.isin(np.arange(m.nv), list(given)), 0.0, 1.0)  # as if only these were constant
        qd = self._completed(q, given)
        at = self._point(q, qd, inputs)
        x, v = independence_of(m, at, prefer)
        whole = self._completed(q, {k: given.get(k, 0.0) for k in (*x.rates, *given)})
        if np.abs(whole - qd).max(initial=0.0) > 0.0:
            at = self._point(q, whole, inputs)
            x, v = independence_of(m, at, prefer)
        f = partials(m, at, w.passive)
        r = residual(m.model, at.qd, inputs.spins, f, x, v, self._sizes(at, f))
        return Trial(at, inputs, list(given), f, x, v, r)

    def _point(self, q: np.ndarray, qd: np.ndarray, inputs: Inputs) -> Point:
        """The state, with the efforts that actuators make."""
        if self.ports is None:
            return Point(q, qd, inputs.u, self.request.time)
        return point_of(self.m, q, qd, inputs.u, self.request.time, inputs.x)

    def _sizes(self, at: Point, f: Partials) -> np.ndarray | float:
        """Sizes of the summands of ẋ at the guess."""
        if self._x_size is None and self.ports is not None and f.ports is not None:
            *_, g_x, g_u = (np.abs(part) for part in f.ports.rate)
            own = g_x @ np.maximum(np.abs(at.x), self.ports.x_scale) + g_u @ np.maximum(np.abs(at.u), 1e-3)
            self._x_size = np.maximum(own, np.abs(f.ports.x_rate)) + 1e-300
        return 1.0 if self._x_size is None else self._x_size

    def _completed(self, q: np.ndarray, rates: Mapping[int, float]) -> np.ndarray:
        """All rates, with these."""
        if self.constrained:
            inputs = {self.m.v_names[k]: value for k, value in rates.items()}
            return self.m.velocities(q, inputs, time=self.request.time)
        qd = np.zeros(self.m.nv)
        qd[list(rates)] = list(rates.values())
        return qd

    def _pushes(self, s: Trial) -> np.ndarray:
        """Efforts of the limits that stand against the accelerations, those of least size."""
        columns = s.r.tau[:, list(self.at_limit)]
        return -np.linalg.lstsq(columns, s.r.r, rcond=RANK)[0] if self.at_limit else np.zeros(0)

    def _left(self, s: Trial) -> np.ndarray:
        """Accelerations that no limit takes."""
        return s.r.r + s.r.tau[:, list(self.at_limit)] @ self._pushes(s)

    def _size(self, s: Trial) -> float:
        """The largest of them, as a part of what may be left; judged by the forces at the guess."""
        if self._scale is None:
            self._scale = STILL / ROUNDING * s.f.rounding + 1e-13
        scale = np.concatenate([self._scale[list(s.x.rates)], np.full(len(s.at.x), STILL)])
        return float(np.abs(self._left(s) / scale).max(initial=0.0))

    # steps

    def _newton(self, s: Trial, part: float, halvings: int = HALVINGS) -> Trial | None:
        """The next trial, in which less than this part of the accelerations is left; None where there is none."""
        step = self._least_step(s)
        shrink = min(1.0, LONGEST / max(np.abs(step.xi).max(initial=0.0), 1e-300))
        before = self._size(s)
        for _ in range(halvings):
            trial = self._moved(s, step.taken(s.inputs, shrink), shrink * step.xi)
            if trial is not None and self._size(trial) < part * before:
                return trial
            shrink *= 0.5
        return None

    def _least_step(self, s: Trial) -> Step:
        w, r, J = self.request, s.r, list(s.x.coordinates)
        stay = {*w.numbers(w.fixed), *self.at_limit}
        move = [n for n, k in enumerate(J) if k not in stay]
        free = [w.controls.index(name) for name in w.free]
        efforts = np.hstack([r.tau[:, list(self.at_limit)], r.control[:, free]])
        sizes = np.zeros(0) if self.ports is None else self.ports.x_scale
        change = rate_change(self.m.model, s.at.q, s.inputs.c, s.inputs.spins, s.given)
        over = np.linalg.pinv(s.v.Z[s.given], rcond=RANK) if s.given else np.zeros((len(s.x.rates), 0))
        named = [name for name in w.free_rates if name in s.inputs.rates]
        spinning = [name for name in w.free_rates if name in s.inputs.spins]
        follow = r.eta @ over
        columns = [follow @ np.eye(self.m.nv)[s.given, self.m.v_names.index(name)] for name in named]
        columns += [follow @ change.spins[name] + r.spins[name] for name in spinning]
        columns += [follow @ change.c] if w.turning is None else []
        by_xi = r.xi + follow @ (change.q - (s.v.Y)[s.given]) @ s.v.Z_h
        rounding = np.concatenate([s.f.rounding[list(s.x.rates)], np.zeros(len(s.at.x))])
        by_xi = cleaned(by_xi, rounding[:, None])
        rates = np.stack(columns, axis=1) if columns else np.zeros((len(r.r), 0))
        d_u, d_rates, d_xi = least([efforts, rates, np.hstack([by_xi[:, move], r.x * sizes])], -r.r)
        u, xi = np.zeros(len(w.controls)), np.zeros(len(J))
        u[free] = d_u[len(self.at_limit) :]
        xi[move] = d_xi[: len(move)]
        of_named, of_spin = d_rates[: len(named)], d_rates[len(named) : len(named) + len(spinning)]
        return Step(
            u,
            sizes * d_xi[len(move) :],
            dict(zip(named, of_named.tolist(), strict=True)),
            float(d_rates[-1]) if w.turning is None else 0.0,
            dict(zip(spinning, of_spin.tolist(), strict=True)),
            xi,
        )

    def _yielding(self, s: Trial) -> Trial | None:
        """The trial a little along the accelerations; internal states go where they would settle."""
        stay = {*self.request.numbers(self.request.fixed), *self.at_limit}
        xi = np.array([0.0 if k in stay else s.f.qdd[k] for k in s.x.coordinates])
        most = np.abs(xi).max(initial=0.0)
        settled = s.inputs.x
        if self.ports is not None:
            rows, sizes = slice(len(s.x.rates), None), self.ports.x_scale
            (step,) = least([s.r.x[rows] * sizes], -s.r.r[rows])
            settled = settled + sizes * step
        return self._moved(s, replace(s.inputs, x=settled), STRIDE * xi / most) if most > 0.0 else None

    def _moved(self, s: Trial, inputs: Inputs, xi: np.ndarray) -> Trial | None:
        """The trial after a displacement, its loops closed and within limits."""
        m, model = self.m, self.m.model
        q = kinematics.normalised(model, kinematics.moved(model, s.at.q, s.v.Z_h @ xi))
        if self.request.limits:
            q = self._within(q)
        if self.constrained and m.closure is not None:
            stay = [m.v_names[k] for k in {*self.request.numbers(self.request.fixed), *self.at_limit}]
            closed = m.closure.assembly.assembled(q, stay, self.request.time)
            if not closed.closed:
                return None
            q = closed.q
        try:
            return self._trial(q, inputs)
        except SingularError:
            return None

    def _within(self, q: np.ndarray) -> np.ndarray:
        """Coordinates that pass a limit are put there, and stay."""
        joints = self.m.model.joints
        for k, n in enumerate(joints.spring_q.tolist()):
            if n < 0 or self.m.v_names[k] in self.request.fixed:
                continue
            for limit, side in ((joints.lower[n], 1.0), (joints.upper[n], -1.0)):
                if side * (q[n] - limit) < 0.0:
                    q[n] = limit
                    self.at_limit[k] = side
        return q

    def _pulling(self, s: Trial) -> int | None:
        """A limit that would have to pull."""
        pushes = zip(self.at_limit.items(), self._pushes(s), strict=True)
        return next((k for (k, side), push in pushes if side * push < 0.0), None)

    # what was found

    def _check_possible(self, s: Trial) -> None:
        """Refuse internal states beyond a limit: there their rates are cut off, and vanish whatever the state is."""
        if self.ports is None or s.f.ports is None:
            return
        lower = [x for owner in owners_of(self.m.model) for x in owner.element.x_lower]
        cut = ~np.any(np.hstack(s.f.ports.rate) != 0.0, axis=-1)
        beyond = cut | (s.at.x < np.array(lower, dtype=float))
        if dead := [name for name, is_beyond in zip(self.ports.x_names, beyond, strict=True) if is_beyond]:
            raise SingularError(
                f"{self.m.name}: what was found has {listed(map(repr, dead))} beyond a limit, where it cannot stand; "
                "give another guess of q or x, or other inputs",
                states=dead,
            )

    def _made(self, s: Trial) -> Balance:
        self._check_possible(s)
        names = [self.m.v_names[k] for k in self.at_limit]
        left = float(np.abs(self._left(s)).max(initial=0.0))
        pushed = dict(zip(names, self._pushes(s).tolist(), strict=True))
        x, w = s.inputs, self.request
        return Balance(self.m, s.at.q, s.at.qd, x.u, x.x, x.c, x.spins, pushed, left, w.passive, w.time)

    def _refused(self, s: Trial) -> SingularError:
        left = self._left(s)
        most = float(np.abs(left).max(initial=0.0))
        names = [*(self.m.v_names[k] for k in s.x.rates), *(self.ports.x_names if self.ports else ())]
        worst = [names[n] for n in np.argsort(-np.abs(left)) if abs(left[n]) > 0.1 * most]
        what, held = ("efforts", worst[0]) if self.ports is None else ("inputs", self.request.controls[0])
        return SingularError(
            f"{self.m.name}: no equilibrium found from this guess: {most:.3g} is left of the accelerations of "
            f"{listed(worst, 6)}; give another guess, or let {what} be found that hold it, free=({held!r},)",
            q=s.at.q,
            rates=worst,
            acceleration=most,
        )


def least(blocks: Sequence[np.ndarray], right: np.ndarray) -> list[np.ndarray]:
    """Steps x_k with Σ B_k x_k = right, each the least one: later blocks do only what the earlier ones cannot."""
    done, kept = np.zeros((len(right), 0)), list[tuple[np.ndarray, np.ndarray, np.ndarray]]()
    for B in blocks:
        U, sigma, Vt = np.linalg.svd(B - done @ (done.T @ B), full_matrices=False)
        rank = int((sigma > RANK * max(np.abs(B).max(initial=0.0), 1e-300)).sum())
        kept.append((U[:, :rank], sigma[:rank], Vt[:rank]))
        done = np.hstack([done, U[:, :rank]])
    steps: list[np.ndarray] = []
    for (U, sigma, Vt), B in zip(reversed(kept), reversed(blocks), strict=True):
        steps.insert(0, Vt.T @ ((U.T @ right) / sigma))
        right = right - B @ steps[0]
    return steps
