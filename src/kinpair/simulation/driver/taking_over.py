"""Groups and limits that take over from one that has reached its bound, where constraints join rates at rest.

The forces that keep such a mechanism at rest are not unique: independent groups and closed limits S are `HELD`, the
others keep the force of now. One that has reached its bound keeps the force of its bound, if another one can hold in
its place. If it yielded, rates would move by z of (ST5). A group with the force f along its motion by z, and the level
L, has the room L + f; a limit that z closes has any. The one with the largest room times motion is locked. Each turn
leaves one more force at its bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector
from kinpair.constraints.rounding import NO_EFFECT, PARKED
from kinpair.constraints.solve.stick import CARRIED, HELD, SLIDES, can_move, motion_beside
from kinpair.simulation.driver.standing import AtRest, Standing
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.events.limits import Limit
from kinpair.simulation.phases import levels


class Forces(NamedTuple):
    """Efforts (nv,) by which rates are locked; by group the least and the greatest effort of friction, at rest and as
    it begins to slide."""

    efforts: np.ndarray
    lo: np.ndarray
    hi: np.ndarray
    slide_lo: np.ndarray
    slide_hi: np.ndarray


def forces_at_rest(d: Dynamics, time: Scalar, y: Vector, u: Vector) -> tuple[Vector, ...]:
    """Compute the numbers of `Forces` at a state."""
    here = d.in_phase(y)
    state = here.state(time, y, u)
    loads = here.loads(time, state.q, state.qd, u)
    return here.held_motion(state, loads)[1], *levels(here, state, loads)


class Holders:
    """Groups and limits that hold a mechanism at rest: P (nv, nv), phases and shares of groups, limits that are closed,
    and those that touch."""

    def __init__(
        self,
        d: Dynamics,
        P: np.ndarray,
        y: np.ndarray,
        forces: Forces,
        closed: Sequence[Limit],
        touching: Sequence[Limit],
    ) -> None:
        self.d, self.P, self.known = d, P, forces
        self.phase, self.share = y[d.layout.phase].copy(), d.by_group(y[d.layout.share])
        self.closed, self.touching = list(closed), touching
        self.asked = d.forces(forces.efforts)
        self.f = [self._force(j, own) for j, own in enumerate(self.asked)]

    def _force(self, j: int, effort: np.ndarray) -> np.ndarray:
        """Return the friction force of group j."""
        x = self.known
        if self.phase[j] == HELD:
            return np.clip(effort, x.lo[j], x.hi[j]) if len(effort) == 1 else effort
        return -self.share[j] * np.where(self.share[j] > 0.0, -x.slide_lo[j], x.slide_hi[j])

    def replaced(self, limits: Sequence[Limit], groups: Sequence[int]) -> bool:
        """Let others hold what these closed limits and locked groups cannot hold beyond their bounds; False where
        nothing can, or sliding friction has no such force."""
        ended = {limit.v for limit in limits}
        parked = {*groups, *(j for j, x in enumerate(self.d.groups) if ended & set(x.rates))}
        if any(self.phase[j] != SLIDES and not self._park(j) for j in parked):
            return False
        self.closed = [x for x in self.closed if x not in limits]
        ways = [self._along(limit.v, limit.side) for limit in limits]
        ways += [self._way(j) for j in groups if not ended & set(self.d.groups[j].rates)]
        return all(self._take_over(g) for g in ways)

    def _park(self, j: int) -> bool:
        """Keep the force of a group; False where no share of its sliding friction is that force."""
        x, f = self.known, self.f[j]
        level = np.where(f > 0.0, x.slide_hi[j], -x.slide_lo[j])
        if (level[f != 0.0] == 0.0).any():
            return False
        self.phase[j] = CARRIED
        self.share[j] = -f / np.where(f == 0.0, 1.0, level)
        return True

    def _along(self, v: int, size: float) -> np.ndarray:
        g = np.zeros(len(self.P))
        g[v] = size
        return g

    def _way(self, j: int) -> np.ndarray:
        """Return the efforts (nv,) of a unit force along the motion of a group: against what holds it, which is not
        zero where its level is."""
        g, rates, f = np.zeros(len(self.P)), list(self.d.groups[j].rates), self.asked[j]
        g[rates] = -self.d.arms[j] * f / max(float(np.linalg.norm(f)), np.finfo(float).tiny)
        return g

    @property
    def rates(self) -> list[int]:
        """Numbers of the rates that are locked."""
        held = {
            v for x, phase in zip(self.d.groups, self.phase, strict=True) if phase == HELD for v in x.rates
        }
        return sorted(held | {x.v for x in self.closed})

    def _take_over(self, g: np.ndarray) -> bool:
        """Lock what has the most room to hold against efforts g (nv,); False where nothing has."""
        if not g.any():
            return False
        S = self.rates
        z = motion_beside(self.P, S, g)
        least = NO_EFFECT * float(np.abs(self.P @ g).max())
        if np.abs(z).max() <= least:
            return True  # the others hold it already
        shuts = [x for x in self.touching if x not in self.closed and x.side * z[x.v] < -least]
        shuts = [x for x in shuts if can_move(self.P, S, [x.v])]
        if shuts:
            limit = max(shuts, key=lambda x: abs(z[x.v]))
            self.closed.append(limit)
            for j, group in enumerate(self.d.groups):
                if limit.v in group.rates:
                    self._lock(j)
            return True
        rooms = {
            j: self._room(j, z, least) for j, phase in enumerate(self.phase) if phase not in (SLIDES, HELD)
        }
        j = max(rooms, key=rooms.__getitem__, default=-1)
        if j < 0 or not rooms[j] > 0.0:
            return False
        self._lock(j)
        return True

    def _lock(self, j: int) -> None:
        self.phase[j], self.share[j] = HELD, 0.0 * self.share[j]

    def _room(self, j: int, z: np.ndarray, least: float) -> float:
        """Return what group j can hold beyond its force against the motion z (nv,), times its part of that motion."""
        x, s, rates = self.known, self.d.sliding(z)[j], list(self.d.groups[j].rates)
        size = float(np.linalg.norm(s))
        if size <= least or not can_move(self.P, self.rates, rates):
            return 0.0
        level = x.hi[j] if len(s) > 1 or s[0] < 0.0 else -x.lo[j]
        room = float(level + self.f[j] @ s / size)
        return room * size if room > PARKED * (x.hi[j] - x.lo[j]) else 0.0


def _is_within(at: Standing, x: Holders) -> bool:
    """True if what is locked now stays within its bounds: loads, and with them the forces of others, depend on it."""
    d = at.d
    y = d.with_phases(at.before, list(at.before[d.layout.qd]), x.share, x.phase.tolist()).astype(float)
    if d.stops:
        y[d.layout.closed] = [limit in x.closed for limit in d.stops]
    elif x.closed:
        return True  # the first limit that closes has a loop of its own
    efforts, lo, hi, *_ = (np.asarray(k, dtype=float) for k in at.numbers(forces_at_rest, y))
    held = [j for j, phase in enumerate(x.phase) if phase == HELD]
    locked = {limit.v for limit in x.closed}
    own = [
        (j, f) for j, f in enumerate(d.forces(efforts)) if j in held and not locked & set(d.groups[j].rates)
    ]
    amounts = [(j, f[0] if len(f) == 1 else np.linalg.norm(f)) for j, f in own]
    return bool(np.isfinite(efforts).all() and all(lo[j] <= f <= hi[j] for j, f in amounts))


def held_on(x: Standing, P: np.ndarray) -> AtRest | None:
    """Return who holds on where groups or limits have reached their bounds and nothing else has ended; None where
    nobody can."""
    at, ended = x.working, x.leaving or x.released
    if at is None or not ended or not set(x.released) <= set(at.closed):
        return None
    y = at.before
    if any(y[at.d.layout.phase][j] == SLIDES for j in x.resting):
        return None
    forces = Forces(*(np.asarray(k, dtype=float) for k in at.numbers(forces_at_rest, y)))
    holders = Holders(at.own, P, y, forces, at.closed, x.closed)
    if not (holders.replaced(x.released, x.leaving) and _is_within(at, holders)):
        return None
    closed = tuple(limit for limit in x.closed if limit in holders.closed)
    return AtRest([holders.phase[j] for j in x.resting], [holders.share[j] for j in x.resting], closed)
