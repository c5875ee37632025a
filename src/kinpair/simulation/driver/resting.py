"""Groups at rest and limits without gap and rate: which stick, and in which direction the others slide."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.constraints.rounding import ASKED, HIDDEN, STILL
from kinpair.constraints.solve.stick import CARRIED, HELD, SLIDES, can_move, held_first
from kinpair.errors import FrictionWarning, caller_level
from kinpair.forces.elements import elements_of
from kinpair.friction.phases import classes, resting
from kinpair.friction.phases.resting import Found, Resting
from kinpair.friction.phases.states import Numbers, RestingStates, Several
from kinpair.simulation.driver.impacts import RoughSurfaces, begun, rough_surfaces
from kinpair.simulation.driver.ongoing import EndError
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.loops import kernel_of
from kinpair.simulation.modes.modes import equations_of
from kinpair.simulation.rounding import PULL
from kinpair.simulation.status import Status


class AtRest(NamedTuple):
    """State of each group at rest: its phase, and its share (rates,); the limits that stay closed, and those that
    open."""

    phase: list[float]
    share: list[np.ndarray]
    closed: tuple[Limit, ...] = ()
    opened: tuple[Limit, ...] = ()


@dataclass(frozen=True, eq=False)
class Standing:
    """State where phases have ended or rates jump: what moves, with its parameters p as arguments; time, state with the
    phases before, inputs; by place the groups at rest, and those of them that have reached their level; and the limits
    without gap and rate, those that would have to pull apart from the others."""

    d: Dynamics
    p: np.ndarray
    time: float
    before: np.ndarray
    u: np.ndarray
    resting: Sequence[int] = ()
    leaving: Sequence[int] = ()
    closed: tuple[Limit, ...] = ()
    released: tuple[Limit, ...] = ()

    @cached_property
    def own(self) -> Dynamics:
        """Dynamics with numbers for its parameters."""
        return self.d.concrete(self.p)

    def numbers(self, f: Any, y: np.ndarray) -> Any:
        """f(dynamics, time, y, u), compiled, at a state."""
        d = self.d
        kernel = kernel_of(d, f, time=(), y=(d.ny,), u=(d.nu,))
        return kernel(self.time, y, self.u, *((self.p,) if d.parameters else ()))

    def states(self, y: np.ndarray) -> RestingStates:
        """Return the solves in floats for friction at the time and the inputs."""
        d = self.own
        own = d.model.once(
            f"states {d.passive}", lambda: RestingStates(d.model, None, still=0.0, passive=d.passive)
        )
        operated = any(x.nu and x.sticks for x in elements_of(d.model, passive=d.passive, driven=True))
        inputs = np.asarray(d.state(self.time, y, self.u).u, dtype=float) if operated else None
        return own.at(self.time, inputs)

    def terms(self, numbers: Sequence[Any]) -> tuple[Numbers, np.ndarray]:
        """Return the terms of the solves in floats from `equations_of`, and the efforts of motors."""
        *terms, _, tau = numbers
        return Numbers(*terms)._replace(kept=self.d.kept), tau

    def rough_surfaces(self, y: np.ndarray, psi: np.ndarray | None = None) -> RoughSurfaces | None:
        """Return the surfaces under load that an impact at a state acts on; None where there is none.

        psi: residual of all rows, where constraints begin.
        """
        states = self.states(y)
        if all(x.kind == "level" for x in states.surfaces):
            return None
        x, tau = self.terms(self.numbers(equations_of, y))
        still = [0.0 * part for part in (x.F, x.b, x.c, x.beside)]
        jump = still[1] if psi is None else -psi
        impulsive = x._replace(F=still[0], b=jump, c=still[2], beside=still[3])
        q, qd = self.own.motion(y)
        response, joints = states.affine_of(impulsive, q, qd, 0.0 * tau)
        return rough_surfaces(response, states.system_of(response, joints, qd), states.G)

    @cached_property
    def rates(self) -> np.ndarray:
        """Numbers of the rates at rest: of groups, then of limits without a group."""
        own = [k for j in self.resting for k in self.d.groups[j].rates]
        return np.array([*own, *sorted({x.v for x in self.closed} - set(own))], dtype=int)

    @cached_property
    def ways(self) -> dict[int, np.ndarray]:
        """The directions in which groups that have reached their level would slide, by place."""
        if not self.leaving:
            return {}
        forces = self.own.forces(self.numbers(_holding, self.before))
        return {j: -forces[j] / np.linalg.norm(forces[j]) for j in self.leaving}

    def stopped(self, y: np.ndarray) -> np.ndarray:
        """Rates that obey the constraints with those at rest."""
        qd, rates = y[self.d.layout.qd].copy(), self.rates
        if not self.d.enforcement.joins:
            qd[rates] = 0.0
            return qd
        M, _, A, *_, psi, _ = self.numbers(equations_of, y)
        rows = np.zeros((len(rates), len(qd)))
        rows[np.arange(len(rates)), rates] = 1.0
        stopped = begun(M, np.concatenate([A, rows]), np.concatenate([psi, qd[rates]]), qd)
        stopped[rates] = 0.0
        return stopped


def at_rest(x: Standing, y: np.ndarray) -> AtRest:
    """Solve friction and limits at rest (`friction/phases/resting.py`). SingularError: no solution."""
    numbers = x.numbers(equations_of, y)
    M, A = numbers[0], numbers[2]
    try:
        if not (len(A) or np.diag(M).all()):
            raise np.linalg.LinAlgError
        return _AtRest(x, y, numbers).result()
    except np.linalg.LinAlgError:
        raise EndError(_massless(x, M)) from None


def _massless(x: Standing, M: np.ndarray) -> Status:
    """Return the end of a run in which friction or limits push what has no inertia."""
    k = int(np.abs(np.linalg.svd(M)[2][-1]).argmax())
    reason = (
        f"joint {x.d.model.v_names[k]!r} moves nothing that has inertia, and friction or a limit acts on it"
    )
    message = f"Stopped at t = {x.time:.9g} s: {reason}; give it mass, or leave friction and limits out"
    return Status("singular", x.time, message)


class _AtRest:
    """Groups at rest and limits without gap and rate, and the surfaces of which groups are made."""

    def __init__(self, x: Standing, y: np.ndarray, numbers: Sequence[np.ndarray]) -> None:
        self.x, self.d = x, x.own
        terms, tau = x.terms(numbers)
        self.joined, (q, self.qd) = len(terms.b) > 0, self.d.motion(y)
        self.states = x.states(y)
        self.affine, self.joints = self.states.affine_of(terms, q, self.qd, tau)
        self.system = self._with((*x.closed, *x.released))
        self.surfaces = [
            [k for k, G in enumerate(self.states.G) if G[:, list(group.rates)].any()]
            for group in self.d.groups
        ]

    def _with(self, limits: tuple[Limit, ...]) -> Resting:
        """Return the system with these limits."""
        self.limits, units = limits, np.eye(len(self.qd))
        rows = {x.label: x.side * units[x.v] for x in limits}
        return self.states.system_of(self.affine, self.joints, self.qd, rows)

    def result(self) -> AtRest:
        """Return the phases that follow."""
        x, leaving = self.x, [k for j in self.x.leaving for k in self.surfaces[j]]
        loose = self._unloaded() if x.released else ()
        if loose:
            self.system = self._with(tuple(k for k in self.limits if k not in loose))
        elif x.released:
            leaving = []  # other limits carry what those would have to pull
        if self.joined and leaving:  # the others may take over
            found = resting.solve(self._pushed(leaving))
            if found.met and not self._moving(found):
                return self._phases(found, [], loose)
        system = resting.breaking_away(self.system, leaving)
        verdict = classes.found_one(system)
        if not verdict.solutions:
            raise self.states.unsettled(self.system)
        found = resting.settled(system, verdict.solutions[0])
        if not found.met:
            raise self.states.unsettled(self.system)
        moving = self._moving(found)
        if leaving and not self._clearly(found, x.leaving):
            parts = (ASKED,) if self.joined else (ASKED, *HIDDEN)
            found = resting.leaving_rest(self.system, leaving, found, parts)
            moving = self._moving(found)
        if verdict.kind == classes.SEVERAL:
            told = self.states.told([(f" at t = {x.time:.9g} s", Several(system, verdict))])
            warnings.warn(told, FrictionWarning, stacklevel=caller_level())
        return self._phases(found, moving, loose)

    def _unloaded(self) -> tuple[Limit, ...]:
        """Return the limits that carry no load, if a released one is among them; without a solution, those released."""
        x, found = self.x, resting.solve(self.system)
        if not found.met:
            return x.released
        efforts, margin = self.d.forces(self._efforts(found)), found.f[self.system.of_limits].copy()
        for n, limit in enumerate(self.limits):
            j = next((j for j in x.resting if self.d.groups[j].rates == (limit.v,)), None)
            if j is not None:
                margin[n] += limit.side * float(efforts[j][0]) + self._level(found, j, static=True)
        small = ASKED * float(np.abs(found.f).max()) + 10.0 * PULL
        weak = tuple(limit for limit, left in zip(self.limits, margin, strict=True) if left <= small)
        return weak if set(weak) & set(x.released) else ()

    def _pushed(self, leaving: Sequence[int]) -> Resting:
        """The system where these surfaces slide with a little less than their static friction, whatever happens."""
        s, u, mu, surplus = (
            self.system,
            list(self.system.u),
            self.system.mu.copy(),
            self.system.surplus.copy(),
        )
        for j, way in self.x.ways.items():
            for k in self.surfaces[j]:
                u[k] = (
                    way * np.sign(self.states.G[k][:, list(self.d.groups[j].rates)].sum())
                    if len(way) == 1
                    else way
                )
                mu[k], surplus[k] = (1.0 - ASKED) * s.mu_static[k], (1.0 - ASKED) * s.surplus[k]
        at_rest = [still and k not in leaving for k, still in enumerate(s.at_rest)]
        return replace(s, at_rest=at_rest, u=u, mu=mu, surplus=surplus)

    def _accelerations(self, found: Found) -> list[np.ndarray]:
        """Accelerations of sliding, by group."""
        a = [np.zeros(len(x.rates)) for x in self.d.groups]
        for j in self.x.resting:
            k = self.surfaces[j][0]
            arm = 1.0 if len(a[j]) > 1 else float(np.abs(self.states.G[k]).max())
            a[j] = found.a[self.system.where[k]] / arm
        return a

    def _moving(self, found: Found) -> list[int]:
        """Return the groups at rest that accelerate."""
        first = [self.surfaces[j][0] for j in self.x.resting]
        moves = resting.moving(self.system, found, first)
        return [j for j, k in zip(self.x.resting, first, strict=True) if k in moves]

    def _clearly(self, found: Found, groups: Sequence[int]) -> bool:
        """True if these accelerate by more than a trace."""
        reach, where = resting.reach(self.system, found), self.system.where
        own = [where[self.surfaces[j][0]] for j in groups]
        return all(float(np.linalg.norm(found.a[k])) > ASKED * reach[k].max() for k in own)

    def _efforts(self, found: Found) -> Any:
        """Compute the efforts of friction (nv,)."""
        pairs = zip(self.states.G, self.system.where, strict=True)
        return sum((G.T @ found.f[own] for G, own in pairs), np.zeros(len(self.qd)))

    def _phases(self, found: Found, moving: Sequence[int], loose: tuple[Limit, ...]) -> AtRest:
        x, a, rows = self.x, self._accelerations(found), self.system.of_limits
        forces = self.d.forces(self._efforts(found))
        pairs = zip(self.limits, found.a[rows], resting.reach(self.system, found)[rows], strict=True)
        shut = [limit for limit, gap, reach in pairs if gap <= STILL * reach]
        still = [j for j in x.resting if j not in moving]
        held, closed = self._held(found, still, forces, shut)
        phase, share = list[float](), list[np.ndarray]()
        for j in x.resting:
            phase.append(SLIDES if j in moving else held[j])
            if j in moving:
                way = (
                    a[j] if len(a[j]) == 1 or not forces[j].any() else -forces[j]
                )  # the force has more digits
                share.append(way / np.linalg.norm(way))
            elif held[j] == CARRIED:
                level = self._level(found, j, static=False)
                share.append(-forces[j] / level if level > 0.0 else 0.0 * forces[j])
            else:
                share.append(0.0 * forces[j])
        fixed = [k for k, state in zip(x.resting, phase, strict=True) if state == HELD]
        rates = [v for j in fixed for v in self.d.groups[j].rates] + [limit.v for limit in closed]
        opens = tuple(limit for limit in loose if can_move(self.affine.P, sorted(set(rates)), [limit.v]))
        return AtRest(phase, share, tuple(closed), opens)

    def _level(self, found: Found, j: int, *, static: bool) -> float:
        """Level of friction in a group, at rest or as it begins to slide."""
        arms = [1.0 if len(G) > 1 else float(np.abs(G).max()) for G in self.states.G]
        s = self.system
        mu, surplus = (s.mu_static, s.surplus) if static else (s.mu, 0.0 * s.surplus)
        return sum(arms[k] * float(mu[k] * found.N[k] + surplus[k]) for k in self.surfaces[j])

    def _held(
        self, found: Found, still: Sequence[int], forces: Sequence[np.ndarray], shut: Sequence[Limit]
    ) -> tuple[dict[int, float], list[Limit]]:
        """Return the phases of groups that stay at rest, and the limits that hold. Without constraints each holds by
        itself; with them those that do not follow from others, limits first. A limit holds the group of its rate."""
        if not self.joined:
            return dict.fromkeys(still, HELD), list(shut)
        rates = {limit.v for limit in shut}
        free = [j for j in still if not rates & set(self.d.groups[j].rates)]
        levels = [self._level(found, j, static=True) for j in free]
        margin = [
            1.0 - float(np.linalg.norm(forces[j])) / level if level > 0.0 else -np.inf
            for j, level in zip(free, levels, strict=True)
        ]
        pushes = dict(zip(self.limits, found.f[self.system.of_limits], strict=True))
        most = 1.0 + max((pushes[limit] for limit in shut), default=0.0)
        margin = [*(1.0 + pushes[limit] / most for limit in shut), *margin]
        every = [*([limit.v] for limit in shut), *([*self.d.groups[j].rates] for j in free)]
        phases = held_first(self.affine.P, every, np.array(margin))
        by_rate = {limit.v: phase for limit, phase in zip(shut, phases, strict=False)}
        held = dict(zip(free, phases[len(shut) :], strict=True))
        held |= {j: by_rate[self.d.groups[j].rates[0]] for j in still if j not in free}
        return held, [limit for limit in shut if by_rate[limit.v] == HELD]


def _holding(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Vector:
    """Efforts (nv,) that hold rates at rest."""
    return d.holding(time, y, u)
