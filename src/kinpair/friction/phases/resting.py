"""Surfaces of which some are at rest, as groups of the problem of `kinpair.constraints.solve`; in floats, one state.

f are the friction forces of all surfaces, one number a direction of sliding. Accelerations of sliding and forms of the
wrenches are affine in them:

    a = a₀ + A f,     c_k = c_k0 + C_k f,     N_k = load_k(c_k, f_k)                                     (FH1)
    f_k in the interval, disc or ball of radius μ_s N_k, −a_k in its normal cone at f_k     at rest      (FH2)
    f_k = −μ_k N_k u_k                                                              sliding along u_k    (FH3)

(FH2) says both: inside a_k = 0, on the boundary f_k is against a_k. A load that jumps has a row of its own, see (NS11).
Limits of joints without gap and rate have rows behind those of the surfaces, by which they push and never pull:

    0 ≤ f_l  ⟂  a_l ≥ 0                                                                                (FH4)

The numbers of one state, from which every solve in floats is made:

H q̈ = F + Aᵀλ + e,   A q̈ = b                        e: efforts of friction                          (FA1)
c_k = c_k(0) + Q_k q̈ + L_k λ                                                                        (FA2)
q̈ = q̈₀ + P e,   c_k = c_k0 + E_k e                                                                  (FA3)

The chain of `kinpair.constraints.solve` solves (FH2) and (FH3) for all surfaces at once, from the
forces that keep all of them at rest. Where it fails, every choice of what sticks and what slides is tried.

The file is long because it is one problem with its solvers, from the groups to the choice of what sticks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from kinpair.constraints.rounding import CROSSED, PUSHED, STILL
from kinpair.constraints.rows.mobility import independent_rows
from kinpair.constraints.solve import problem, solutions
from kinpair.constraints.solve import residual as shapes
from kinpair.constraints.solve.problem import Disc, Group, Interval, Part
from kinpair.constraints.solve.stick import moving_among, response
from kinpair.constraints.solvers import rank_revealing
from kinpair.friction.loads.system import Response, Slip, System
from kinpair.friction.rounding import AT_BOUND, LEAST_LOAD, NO_EFFECT
from kinpair.friction.surfaces.surface import JUMP, LINEAR, NORM, SQUARE, Carried, LoadPart, Surface


class Terms(NamedTuple):
    """(FA1) and (FA2) in floats: H (nv, nv), F (nv,), rows A and b, and by surface c(0), Q and L; λ are the multipliers
    of the rows `kept`."""

    H: np.ndarray
    F: np.ndarray
    A: np.ndarray
    b: np.ndarray
    c: Sequence[np.ndarray]
    Q: Sequence[np.ndarray]
    L: Sequence[np.ndarray]
    kept: Sequence[int]


class Affine(NamedTuple):
    """(FA3): q̈₀, P, and by surface c₀ and E; and the efforts F without friction."""

    qdd: np.ndarray
    P: np.ndarray
    c: Sequence[np.ndarray]
    E: Sequence[np.ndarray]
    F: np.ndarray


def affine(x: Terms) -> Affine:
    """Compute the response to efforts of friction; rows may follow from each other, and H may be singular where they
    make up for it.    (FA3)"""
    P = response(x.H, x.A)
    qdd = rank_revealing.solve(x.H, x.F, x.A, x.b).qdd if len(x.b) else P @ x.F
    lam = np.zeros((len(x.kept), 1 + len(x.F)))
    if lam.size and any(map(len, x.c)):
        A = x.A[list(x.kept)]
        rows = list(independent_rows(A))
        beyond = np.concatenate([(x.H @ qdd - x.F)[:, None], x.H @ P - np.eye(len(x.F))], axis=1)
        lam[rows] = np.linalg.lstsq(A[rows].T, beyond, rcond=None)[0]  # (FA1)
    first = [c + Q @ qdd + L @ lam[:, 0] for c, Q, L in zip(x.c, x.Q, x.L, strict=True)]  # (FA2)
    return Affine(qdd, P, first, [Q @ P + L @ lam[:, 1:] for Q, L in zip(x.Q, x.L, strict=True)], x.F)


def sliding_system(
    x: Affine, surfaces: Sequence[Surface], slips: Sequence[Slip], joints: Sequence[Carried], D: np.ndarray
) -> System:
    """Return (FS3) with D (surfaces, nv)."""
    by_load = [-(x.P @ d) for d in D]
    by_forms = [[list(-(E @ d)) for d in D] for E in x.E]
    return System(surfaces, slips, joints, Response(x.qdd, by_load, [list(c) for c in x.c], by_forms))


NO_LIMITS: Mapping[str, np.ndarray] = MappingProxyType({})
SHAPES = {NORM: shapes.NORM, LINEAR: shapes.LINEAR, SQUARE: shapes.SQUARE, JUMP: shapes.LINEAR}


class Found(NamedTuple):
    """f, N, a, the largest |F| of the scaled problem, whether that is rounding, and f with what jumps."""

    f: np.ndarray
    N: np.ndarray
    a: np.ndarray
    residual: float
    met: bool
    x: np.ndarray


@dataclass(frozen=True, eq=False)
class Resting:
    """(FH1): what acts, where each surface has its numbers in f, and which are at rest; `u` and `mu` of the others.

    `surplus` is friction beyond μ N, of surfaces at rest. `limits` are the names of the limits, whose rows are behind
    those of the surfaces. `by_forces` are the accelerations that the single efforts without friction cause.
    """

    surfaces: Sequence[Surface]
    joints: Sequence[Carried]
    where: Sequence[slice]
    a: np.ndarray
    A: np.ndarray
    c: Sequence[np.ndarray]
    C: Sequence[np.ndarray]
    at_rest: Sequence[bool]
    u: Sequence[np.ndarray]
    mu: np.ndarray
    mu_static: np.ndarray
    surplus: np.ndarray
    by_forces: np.ndarray
    limits: tuple[str, ...] = ()

    @property
    def of_limits(self) -> range:
        """Numbers of the limits in f."""
        return range(len(self.a) - len(self.limits), len(self.a))

    @property
    def still(self) -> list[int]:
        """Numbers of the surfaces at rest."""
        return [k for k, rest in enumerate(self.at_rest) if rest]

    @cached_property
    def _parts(self) -> list[list[LoadPart]]:
        return [
            [part for part in x.parts(at) if part.weights != (0.0, 0.0)]
            for x, at in zip(self.surfaces, self.joints, strict=True)
        ]

    @cached_property
    def jumps(self) -> list[tuple[int, LoadPart]]:
        """Surfaces whose load jumps, and the part that does."""
        return [(k, part) for k, own in enumerate(self._parts) for part in own if part.shape == JUMP]

    def _forms(self, k: int, part: LoadPart) -> tuple[np.ndarray, np.ndarray]:
        """Return A (m, n) and b (m,) of y = A x + b of a part of surface k, with x = (f, θ)."""
        A = np.zeros((len(part.d), len(self.a) + len(self.jumps)))
        A[:, : len(self.a)] = part.C @ self.C[k]
        if part.E is not None:
            A[:, self.where[k]] += part.E
        return A, part.C @ self.c[k] + part.d

    @cached_property
    def problem(self) -> tuple[np.ndarray, np.ndarray]:
        """D and g of (NS1), with a row for each jump.    (NS11)"""
        n = len(self.a)
        D, g = np.zeros((n + len(self.jumps),) * 2), np.zeros(n + len(self.jumps))
        D[:n, :n], g[:n] = self.A, self.a
        for row, (k, part) in enumerate(self.jumps, n):
            A, b = self._forms(k, part)
            D[row], g[row] = -A[0], part.limit - b[0]
        return D, g

    @cached_property
    def load(self) -> list[tuple[Part, ...]]:
        """Parts of the load of each surface, over x = (f, θ)."""
        row, found = len(self.a), list[tuple[Part, ...]]()
        for k, own in enumerate(self._parts):
            parts = list[Part]()
            for part in own:
                A, b = self._forms(k, part)
                if part.shape == JUMP:
                    A, b, row = np.eye(A.shape[1])[row : row + 1], np.zeros(1), row + 1
                parts.append(Part(A, b, part.weights, SHAPES[part.shape], part.limit))
            found.append(tuple(parts))
        return found

    @cached_property
    def groups(self) -> list[Group]:
        """The surfaces as groups, and one for each limit and each jump.    (FH2), (FH3), (FH4)"""
        jumps = range(len(self.a), len(self.a) + len(self.jumps))
        pairs = zip(self.of_limits, self.limits, strict=True)
        return [
            *map(self._group, range(len(self.surfaces))),
            *(Interval(row, 0.0, np.inf, name) for row, name in pairs),
            *(Interval(row, 0.0, 1.0, jump=True) for row in jumps),
        ]

    def _group(self, k: int) -> Group:
        rows = tuple(range(self.where[k].start, self.where[k].stop))
        lower, upper = self.surfaces[k].constant(self.joints[k])
        name, load, more = self.surfaces[k].name, self.load[k], float(self.surplus[k])
        if self.at_rest[k] and len(rows) == 1:
            mu = float(self.mu_static[k])
            parts = tuple(_weighted(x, mu * x.weights[0], mu * x.weights[1]) for x in load)
            return Interval(rows[0], -(mu * lower + more), mu * upper + more, name, parts if mu else ())
        if self.at_rest[k]:
            mu = float(self.mu_static[k])
            return Disc(rows, mu * lower + more, mu, load=load if mu else (), name=name)
        mu, u = float(self.mu[k]), tuple(self.u[k].tolist())
        if len(rows) == 1 and u[0] < 0.0:
            lower, load = upper, tuple(_weighted(x, *x.weights[::-1]) for x in load)
        return Disc(rows, mu * lower + more, mu, load=load if mu and any(u) else (), direction=u, name=name)

    def loads(self, x: np.ndarray) -> np.ndarray:
        """N of each surface (surfaces,), of the direction in which it slides or f opposes sliding."""
        found = np.empty(len(self.surfaces))
        for k, own in enumerate(self.where):
            toward = -x[own] if self.at_rest[k] else self.u[k]
            found[k] = self.normal(x, k, 1 if len(toward) == 1 and toward[0] < 0.0 else 0)
        return found

    def normal(self, x: np.ndarray, k: int, end: int) -> float:
        """N of surface k while f opposes sliding forward (`end` 0) or backward (1)."""
        parts = (part.weights[end] * part.value(x) for part in self.load[k])
        return self.surfaces[k].constant(self.joints[k])[end] + sum(parts)

    def found(self, x: np.ndarray, residual: float, met: bool) -> Found:
        """Return what x = (f, θ) is."""
        n = len(self.a)
        return Found(x[:n], self.loads(x), self.a + self.A @ x[:n], residual, met, x)


def _weighted(x: Part, lower: float, upper: float) -> Part:
    return Part(x.A, x.b, (lower, upper), x.shape, x.limit)


def resting_system(
    x: Affine,
    surfaces: Sequence[Surface],
    joints: Sequence[Carried],
    G: Sequence[np.ndarray],
    at_rest: Sequence[bool],
    u: Sequence[np.ndarray],
    mu: Sequence[float],
    limits: Mapping[str, np.ndarray] = NO_LIMITS,
) -> Resting:
    """Return (FH1) with G (numbers, nv) of each surface in all rates; `u` and `mu` of those that slide; `limits`: the
    rates of gaps (nv,) by name.

    A surface at rest on which friction has no effect is moved by constraints alone: it slides in the direction of its
    acceleration, and has no friction where that is zero, since what it carries is not unique.
    """
    stops = np.cumsum([0, *(len(g) for g in G)]).tolist()
    where = [slice(a, b) for a, b in pairwise(stops)]
    every = np.concatenate([np.zeros((0, len(x.qdd))), *G, *(row[None] for row in limits.values())])
    by_effort = every @ x.P
    P = by_effort @ every.T
    size = [float(np.trace(P[k, k])) for k in where]
    moves = [a > NO_EFFECT * max(size) for a in size]
    a = every @ x.qdd
    least = NO_EFFECT * (1.0 + float(np.abs(a).max(initial=0.0)))
    u = [
        _unit(a[k], least) if still and not free else own
        for k, own, still, free in zip(where, u, at_rest, moves, strict=True)
    ]
    at_rest = [still and free for still, free in zip(at_rest, moves, strict=True)]
    return Resting(
        surfaces,
        joints,
        where,
        a,
        0.5 * (P + P.T),
        x.c,
        [_without_levels(k, E @ every.T, surfaces, where, at_rest) for k, E in enumerate(x.E)],
        at_rest,
        u,
        np.array(mu, dtype=float),
        np.array([float(s.grip.mu_static) for s in surfaces]),
        np.array([float(s.surplus) if still else 0.0 for s, still in zip(surfaces, at_rest, strict=True)]),
        np.abs(by_effort) @ np.abs(x.F),
        tuple(limits),
    )


def _without_levels(
    k: int, C: np.ndarray, surfaces: Sequence[Surface], where: Sequence[slice], at_rest: Sequence[bool]
) -> np.ndarray:
    """C of the forms of surface k, without what constant levels at rest take from its joint next to it; those that
    slide are among the efforts next to the motor already."""
    own = surfaces[k]
    if own.beside_levels:
        for x, at, still in zip(surfaces, where, at_rest, strict=True):
            if still and x.kind == "level" and x.body == own.body:
                C[0, at] -= 1.0
    return C


def _unit(a: np.ndarray, least: float) -> np.ndarray:
    """Return its direction, or zeros where it is shorter than `least`."""
    size = float(np.linalg.norm(a))
    return a / size if size > least else np.zeros(len(a))


def solve(x: Resting, start: np.ndarray | None = None) -> Found:
    """Return f of (FH2) and (FH3), from `start` or from the forces that keep all surfaces at rest."""
    found = from_start(x, still(x) if start is None else start)
    if found.met:
        return found
    return next(iter(every(x)), found)


def from_start(x: Resting, start: np.ndarray) -> Found:
    """Return f of (FH2) and (FH3) as the chain finds it."""
    D, g = x.problem
    solution = problem.solve(D, g, x.groups, start)
    return x.found(solution.x, solution.residual, solution.met)


def every(x: Resting) -> list[Found]:
    """Return all solutions that the choices of what sticks and what slides lead to."""
    return [x.found(own.x, own.residual, True) for own in solutions.every(*x.problem, x.groups)]


def still(x: Resting) -> np.ndarray:
    """Return the forces that keep all surfaces at rest, as a start; surfaces that slide have none here."""
    f = np.zeros(len(x.a))
    rows = [v for k in x.still for v in range(x.where[k].start, x.where[k].stop)]
    rows += x.of_limits
    f[rows] = np.linalg.lstsq(x.A[np.ix_(rows, rows)], -x.a[rows], rcond=None)[0]
    return with_jumps(x, f)


def with_jumps(x: Resting, f: np.ndarray) -> np.ndarray:
    """Return x = (f, θ) with θ of the side on which each load that jumps is at f."""
    D, g = x.problem
    n = len(f)
    return np.concatenate([f, (D[n:, :n] @ f + g[n:] < 0.0).astype(float)])


def others(x: Resting) -> Iterator[Found]:
    """Return solutions from other starts: no friction, and all surfaces at rest pushed forward or backward."""
    n = len(x.a)
    zero = np.zeros(n + len(x.jumps))
    yield from_start(x, zero)
    levels = np.zeros(len(zero))
    N = x.loads(zero)
    for k in x.still:
        levels[x.where[k]] = x.mu_static[k] * N[k] + x.surplus[k]
    for sign in (-4.0, 4.0):
        yield from_start(x, sign * levels)


def settled(x: Resting, first: Found) -> Found:
    """Return f with the friction of sliding, not that at rest, on the surfaces that begin to slide.

    Those that break away at their static level slide in the direction of their acceleration, then by μ; the others may
    break away too.
    """
    found = first
    while found.met:
        static = [k for k in x.still if x.mu[k] < x.mu_static[k] or x.surplus[k] > 0.0]
        moves = moving(x, found, x.still) if static else []
        leaving = [k for k in static if k in moves and _at_bound(x, found, k)]
        if not leaving:
            break
        x = breaking_away(x, leaving)
        found = solve(x, found.x)
    return found


def breaking_away(x: Resting, leaving: Sequence[int], part: float = 1.0) -> Resting:
    """Return the system where surfaces have broken away: `part` of the friction of sliding acts on them, against the
    direction in which they accelerate."""
    mu_static, surplus = x.mu_static.copy(), x.surplus.copy()
    mu_static[list(leaving)] = part * x.mu[list(leaving)]
    surplus[list(leaving)] = 0.0
    return replace(x, mu_static=mu_static, surplus=surplus)


def leaving_rest(x: Resting, leaving: Sequence[int], first: Found, parts: Sequence[float]) -> Found:
    """Find the accelerations just after surfaces that have reached their level leave rest: those with ε less of it.

    The least ε of `parts` counts by which one of them moves; where none does, as where a level is zero, those of a push
    by a part of the largest force.    (ST3)
    """
    found = first
    trials = [breaking_away(x, leaving, 1.0 - part) for part in parts]
    for trial in (*trials, *(_pushed(x, leaving, first, part) for part in PUSHED)):
        ahead = solve(trial, first.x)
        if ahead.met:
            found = first._replace(a=ahead.a)
            if moving(x, found, leaving):
                break
    return found


def _pushed(x: Resting, leaving: Sequence[int], first: Found, part: float) -> Resting:
    """Return the system in which surfaces are pushed in the direction in which they leave rest."""
    own, T, a = reach(x, first), _scales(x), x.a.copy()
    force = part * np.max(own / T, initial=0.0)
    for k in leaving:
        rows = x.where[k]
        way = -first.f[rows] if first.f[rows].any() else first.a[rows]
        if way.any():
            a += x.A[:, rows] @ (force / (float(T[rows].max()) * float(np.linalg.norm(way))) * way)
    return replace(x, a=a)


def _at_bound(x: Resting, found: Found, k: int) -> bool:
    """Return True if the friction force is at its bound."""
    force = float(np.linalg.norm(found.f[x.where[k]]))
    return force >= (1.0 - AT_BOUND) * float(x.mu_static[k] * found.N[k] + x.surplus[k])


def reach(x: Resting, found: Found) -> np.ndarray:
    """Compute the accelerations (n,) that the single forces cause: the scale of rounding, of which the response to
    efforts has a part from all rates.    (ST4)"""
    forces, T = np.abs(found.f), _scales(x)
    for k, rows in enumerate(x.where):
        if x.load[k]:
            forces[rows] += LEAST_LOAD * x.mu_static[k]
    own = x.by_forces + np.abs(x.A) @ forces
    return own + CROSSED * T * np.max(own / T, initial=0.0)


def _scales(x: Resting) -> np.ndarray:
    """Compute T (n,) of (NS3); that of the largest where forces have no effect."""
    d = np.abs(np.diag(x.A))
    most = d.max(initial=0.0)
    return np.sqrt(np.where(d > NO_EFFECT * most, d, most if most > 0.0 else 1.0))


def moving(x: Resting, found: Found, among: Sequence[int]) -> list[int]:
    """Return the surfaces of those at rest, by number, that accelerate."""
    scale = reach(x, found)
    sizes = np.array([np.linalg.norm(found.a[x.where[k]]) for k in among])
    small = np.array([STILL * scale[x.where[k]].max() for k in among])
    return [k for k, moves in zip(among, moving_among(sizes, small), strict=True) if moves]
