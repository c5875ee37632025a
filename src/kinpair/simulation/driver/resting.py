"""Groups at rest: which stick, and in which direction the others slide; by constant levels, or under load."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solve.stick import (
    ASKED,
    CARRIED,
    HELD,
    SLIDES,
    STILL,
    Levels,
    at_rest,
    can_move,
    held_first,
    moving_among,
    response,
)
from kinpair.errors import FrictionWarning, caller_level
from kinpair.friction.loads.dynamics import is_loaded
from kinpair.friction.phases import classes, resting
from kinpair.friction.phases.resting import Affine, Found, Resting
from kinpair.friction.phases.states import LoadedStates, Several
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

    def loaded_states(self, y: np.ndarray) -> LoadedStates:
        """Return the solves in floats for friction at the time and the inputs."""
        d = self.own
        inputs = np.asarray(d.state(self.time, y, self.u).u, dtype=float) if d.actuated else None
        return LoadedStates(d.model, None, still=0.0).at(self.time, inputs)

    def rough_surfaces(self, y: np.ndarray, psi: np.ndarray | None = None) -> RoughSurfaces | None:
        """Return the surfaces under load that an impact at a state acts on; None where there is none.

        psi: residual of all rows, where constraints begin.
        """
        d = self.own
        if not is_loaded(d.model, passive=d.passive):
            return None
        *numbers, tau = self.numbers(_load_terms, y)
        H, F, A, b, c, Q, L, others = numbers
        kept = [] if d.enforcement is None else list(d.enforcement.request.kept)
        jump = 0.0 * b.reshape(-1) if psi is None else -psi[kept]
        impulsive = (H, 0.0 * F, A.reshape(-1, len(F)), jump, 0.0 * c, Q, L, 0.0 * others)
        states = self.loaded_states(y)
        return rough_surfaces(*states.system_of(_independent(impulsive), *d.motion(y), 0.0 * tau), states.G)

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
        if self.d.enforcement is None:
            qd[rates] = 0.0
            return qd
        M, _, A, psi, *_ = self.numbers(equations_of, y)
        rows = np.zeros((len(rates), len(qd)))
        rows[np.arange(len(rates)), rates] = 1.0
        stopped = begun(M, np.concatenate([A, rows]), np.concatenate([psi, qd[rates]]), qd)
        stopped[rates] = 0.0
        return stopped


def by_levels(x: Standing, y: np.ndarray) -> AtRest:
    """Solve friction of constant level and limits at rest, see `constraints/solve/stick.py`.

    Where others can carry the load of a limit that would have to pull, it stays; else all limits without load open.
    """
    numbers = x.numbers(equations_of, y)
    try:
        if not (len(numbers[2]) or np.diag(numbers[0]).all()):
            raise np.linalg.LinAlgError
        return _by_levels(x, numbers)
    except np.linalg.LinAlgError:
        raise EndError(_massless(x, numbers[0])) from None


def _massless(x: Standing, M: np.ndarray) -> Status:
    """Return the end of a run in which friction or limits push what has no inertia."""
    k = int(np.abs(np.linalg.svd(M)[2][-1]).argmax())
    reason = (
        f"joint {x.d.model.v_names[k]!r} moves nothing that has inertia, and friction or a limit acts on it"
    )
    message = f"Stopped at t = {x.time:.9g} s: {reason}; give it mass, or leave friction and limits out"
    return Status("singular", x.time, message)


def _by_levels(x: Standing, numbers: Sequence[np.ndarray]) -> AtRest:
    """Solve from the equations of the state."""
    every = replace(x, closed=(*x.closed, *x.released)) if x.released else x
    loose = _unloaded(every, numbers) if x.released else ()
    here = (
        replace(every, closed=tuple(limit for limit in every.closed if limit not in loose))
        if loose
        else every
    )
    if loose and not (len(x.resting) or len(numbers[4])):  # what the others carry is known from all of them
        return AtRest([], [], here.closed, loose)
    result, place = _at_rest(here, numbers)
    shares = [np.array([share]) for share in result.share[: len(x.resting)]]
    closed = tuple(limit for limit in here.closed if result.phase[place[limit.v]] == HELD)
    fixed, G = here.rates[result.phase == HELD].tolist(), response(numbers[0], numbers[2]) if loose else None
    moves = [limit for limit in loose if G is not None and can_move(G, fixed, [limit.v])]
    return AtRest(result.phase[: len(x.resting)].tolist(), shares, closed, tuple(moves))


def _unloaded(x: Standing, numbers: Sequence[np.ndarray]) -> tuple[Limit, ...]:
    """Return the closed limits that carry no load, if a released one is among them."""
    result, place = _at_rest(replace(x, leaving=()) if x.leaving else x, numbers)
    pushes = np.array([limit.side * result.effort[place[limit.v]] for limit in x.closed])
    margin = pushes + [_level(x, limit, numbers) for limit in x.closed]
    small = ASKED * max(np.abs(pushes).max(), np.abs(numbers[5:7]).max(initial=0.0)) + 10.0 * PULL
    weak = tuple(limit for limit, left in zip(x.closed, margin, strict=True) if left <= small)
    return weak if set(weak) & set(x.released) else ()


def _level(x: Standing, limit: Limit, numbers: Sequence[np.ndarray]) -> float:
    """Return the friction at rest of a rate at its limit, against opening."""
    j = next((j for j in x.resting if x.d.groups[j].rates == (limit.v,)), None)
    return 0.0 if j is None else float(-numbers[5][j] if limit.side > 0.0 else numbers[6][j])


def _at_rest(x: Standing, numbers: Sequence[np.ndarray]) -> tuple[Any, dict[int, int]]:
    """Solve for the rates at rest with the limits of x closed; return the solution, and the place of each rate."""
    M, F, A, _, b, *bounds = numbers
    more = np.zeros(len(x.rates) - len(x.resting))
    own = Levels(*(np.concatenate([bound[list(x.resting)], more]) for bound in bounds))
    place = {int(v): n for n, v in enumerate(x.rates)}
    for limit in x.closed:  # it pushes without bound
        lo_or_hi = (own.rest_hi, own.slide_hi) if limit.side > 0.0 else (own.rest_lo, own.slide_lo)
        for bound in lo_or_hi:
            bound[place[limit.v]] = limit.side * np.inf
    leaving = np.array([float(x.ways[j][0]) if j in x.leaving else 0.0 for j in x.resting])
    return _shared_out(M, F, A, b, x.rates, own, np.concatenate([leaving, more])), place


def _shared_out(M: Any, F: Any, A: Any, b: Any, rates: np.ndarray, own: Levels, leaving: np.ndarray) -> Any:
    """Solve as `at_rest`; where constraints join rates, the others may take over from one that reaches its level,
    and hold a little more than they have to."""
    if len(A) and leaving.any():
        full = leaving != 0.0
        at = (1.0 - ASKED) * np.where(leaving > 0.0, own.rest_lo, own.rest_hi)
        bound = own._replace(rest_lo=np.where(full, at, own.rest_lo), rest_hi=np.where(full, at, own.rest_hi))
        result = at_rest(M, F, A, b, rates, bound, np.zeros(len(rates)))
        if not (result.phase == SLIDES).any():
            return result
    return at_rest(M, F, A, b, rates, own, leaving)


def under_load(x: Standing, y: np.ndarray) -> AtRest:
    """Solve friction from load, of constant level and limits at rest (`friction/phases/resting.py`). SingularError: no
    solution."""
    return _Loaded(x, y).result()


class _Loaded:
    """Groups at rest and limits without gap and rate, and the surfaces of which groups are made."""

    def __init__(self, x: Standing, y: np.ndarray) -> None:
        self.x, self.d = x, x.own
        *numbers, self.tau = x.numbers(_load_terms, y)
        self.F, self.joined = numbers[1], len(numbers[3]) > 0
        self.numbers, self.motion = _independent(numbers), self.d.motion(y)
        self.states = x.loaded_states(y)
        self.affine, self.system = self._with((*x.closed, *x.released))
        self.surfaces = [
            [k for k, G in enumerate(self.states.G) if G[:, list(group.rates)].any()]
            for group in self.d.groups
        ]

    def _with(self, limits: tuple[Limit, ...]) -> tuple[Affine, Resting]:
        """Return the response, and the system with these limits."""
        self.limits, nv = limits, len(self.F)
        rows = {x.label: x.side * np.eye(nv)[x.v] for x in limits}
        return self.states.system_of(self.numbers, *self.motion, self.tau, rows)

    def result(self) -> AtRest:
        """Return the phases that follow."""
        x, leaving = self.x, [k for j in self.x.leaving for k in self.surfaces[j]]
        loose = self._unloaded() if x.released else ()
        if loose:
            self.affine, self.system = self._with(tuple(k for k in self.limits if k not in loose))
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
            ahead = resting.solve(resting.breaking_away(self.system, leaving, 1.0 - ASKED), found.x)
            if ahead.met:
                found, moving = found._replace(a=ahead.a), self._moving(ahead)
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
        a, reach = self._accelerations(found), self._reach(found)
        sizes = np.array([np.linalg.norm(a[j]) for j in self.x.resting])
        scale = np.array([reach[list(self.d.groups[j].rates)].max() for j in self.x.resting])
        moving = moving_among(sizes, STILL * scale)
        return [j for j, moves in zip(self.x.resting, moving, strict=True) if moves]

    def _reach(self, found: Found) -> np.ndarray:
        """Compute accelerations (nv,) that the single forces cause: the scale of rounding.    (ST4)"""
        forces = np.abs(self.F)
        for G, own, load in zip(self.states.G, self.system.where, found.N, strict=True):
            forces = forces + np.abs(G).T @ (np.abs(found.f[own]) + abs(float(load)))
        for limit, force in zip(self.limits, found.f[self.system.of_limits], strict=True):
            forces[limit.v] += force
        return np.abs(self.affine.P) @ forces

    def _clearly(self, found: Found, groups: Sequence[int]) -> bool:
        """True if these accelerate by more than a trace."""
        a, reach = self._accelerations(found), self._reach(found)
        return all(
            float(np.linalg.norm(a[j])) > ASKED * reach[list(self.d.groups[j].rates)].max() for j in groups
        )

    def _efforts(self, found: Found) -> Any:
        """Compute the efforts of friction (nv,)."""
        pairs = zip(self.states.G, self.system.where, strict=True)
        return sum((G.T @ found.f[own] for G, own in pairs), 0.0)

    def _phases(self, found: Found, moving: Sequence[int], loose: tuple[Limit, ...]) -> AtRest:
        x, a, reach = self.x, self._accelerations(found), self._reach(found)
        forces = self.d.forces(self._efforts(found))
        gaps = dict(zip(self.limits, found.a[self.system.of_limits], strict=True))
        shut = [limit for limit in self.limits if gaps[limit] <= STILL * reach[limit.v]]
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
        return AtRest(phase, share, tuple(closed), loose)

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


def _independent(numbers: Sequence[np.ndarray]) -> tuple[np.ndarray, ...]:
    """The terms with rows that do not imply each other."""
    H, F, A, b, c, Q, L, beside = numbers
    if not len(b):
        return tuple(numbers)
    rows = list(independent_rows(A))
    return H, F, A[rows], b[rows], c, Q, L[:, rows], beside


def _holding(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> Vector:
    """Efforts (nv,) that hold rates at rest."""
    return d.holding(time, y, u)


def _load_terms(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Any, ...]:
    """Terms of the solves under load, and the efforts of motors."""
    state = d.state(time, y, u)
    return *d.load_terms(state, d.loads(time, state.q, state.qd, u)), d.efforts(state)
