"""Groups at rest and limits without gap and rate: which stick, and in which direction the others slide."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from kinpair.constraints.rounding import ASKED, HIDDEN, STILL
from kinpair.constraints.solve.stick import CARRIED, HELD, SLIDES, can_move, held_first
from kinpair.errors import FrictionWarning, caller_level
from kinpair.friction.phases import classes, resting
from kinpair.friction.phases.resting import Found, Resting
from kinpair.friction.phases.states import Several
from kinpair.simulation.driver.ongoing import EndError
from kinpair.simulation.driver.standing import AtRest, Standing
from kinpair.simulation.driver.taking_over import held_on
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.modes.modes import equations_of
from kinpair.simulation.rounding import PULL, TINY
from kinpair.simulation.status import Status


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
        if self.joined and (same := held_on(x, self.affine.P)) is not None:
            return same
        loose = self._unloaded() if x.released else ()
        if loose:
            self.system = self._with(tuple(k for k in self.limits if k not in loose))
        elif x.released:
            leaving = []  # other limits carry what those would have to pull
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
        margin = self._margins(found, free, forces)
        pushes = dict(zip(self.limits, found.f[self.system.of_limits], strict=True))
        most = 1.0 + max((pushes[limit] for limit in shut), default=0.0)
        of_limits = [1.0 + pushes[limit] / most for limit in shut]
        every = [*([limit.v] for limit in shut), *([*self.d.groups[j].rates] for j in free)]
        phases = held_first(self.affine.P, every, np.array([*of_limits, *margin]))
        by_rate = {limit.v: phase for limit, phase in zip(shut, phases, strict=False)}
        held = dict(zip(free, phases[len(shut) :], strict=True))
        held |= {j: by_rate[self.d.groups[j].rates[0]] for j in still if j not in free}
        return held, [limit for limit in shut if by_rate[limit.v] == HELD]

    def _margins(self, found: Found, groups: Sequence[int], forces: Sequence[np.ndarray]) -> np.ndarray:
        """Return what each group can still hold, in the units of (NS3), as a part of the largest level; −∞ of none."""
        level = np.array([self._level(found, j, static=True) for j in groups])
        left = level - np.array([np.linalg.norm(forces[j]) for j in groups])
        P, own = np.diag(self.affine.P), [(self.d.arms[j], list(self.d.groups[j].rates)) for j in groups]
        size = np.array([np.sqrt((arms * arms * P[rates]).max()) for arms, rates in own])
        return np.where(level > 0.0, size * left / (size * level).max(initial=TINY), -np.inf)
