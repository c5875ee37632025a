"""Constraints written in the coordinates themselves: couplings, drives, momentum, and functions a user gives.

Of φ(q, t), with D = derivative along the motion q̇ and time:

    A = columns of Dφ for unit rates,   ψ = Dφ,   b = −DDφ at q̈ = 0                              (CO18)

Of ψ(q, q̇, t):

    A = ∂ψ/∂q̇,   b = −Dψ at q̈ = 0                                                                (CO19)

Rows that a user writes are functions of q, q̇ and t, or formulas. In a formula a coordinate goes by its name, its
rate by that name with `_rate` behind it; what is neither a letter of the alphabet nor a digit becomes `_`:
"left-wheel" is left_wheel, "base.x" is base_x, the rate of the latter base_x_rate.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.jet import jacobian, rate
from kinpair.constraints.rows.constraint import Configuration, Constraint, Motion, Rows
from kinpair.description import constraint_parts as d
from kinpair.description.formula import RATE, function_of, identifier, numbers, with_error
from kinpair.description.place import Place
from kinpair.formulations import kinematics
from kinpair.model.model import Model


def as_vector(value: Any) -> Vector:
    """Return one number or a sequence of them as a vector."""
    return array(list(np.ravel(np.asarray(value, dtype=object))))


@dataclass(frozen=True, eq=False)
class OfPositions(Constraint):
    """φ(q, t) = 0; `rates` lists the rates that move what φ looks at, None for all."""

    name: str
    function: Callable[[Vector, Scalar], Any]
    count: int
    rates: tuple[int, ...] | None = None
    word: str = "function"
    where: str = ""

    @property
    def kind(self) -> str:
        return self.word

    @property
    def labels(self) -> tuple[str, ...]:
        return ("",) if self.count == 1 else tuple(str(k + 1) for k in range(self.count))

    def positions(self, at: Configuration) -> Vector:
        return as_vector(self.function(at.q, at.time))

    def matrix(self, at: Configuration) -> Matrix:
        model = at.model
        A = np.zeros((self.count, model.nv), dtype=object)
        for k in range(model.nv) if self.rates is None else self.rates:
            unit = np.eye(model.nv)[k]
            along = (kinematics.dq_dt(model, at.q, unit), 0.0)
            A[:, k] = rate(lambda q, t: as_vector(self.function(q, t)), (at.q, at.time), along)
        return plain(A)

    def rows(self, at: Motion) -> Rows:
        def psi(q: Vector, time: Any) -> Vector:
            along = (kinematics.dq_dt(at.model, q, at.qd), 1.0)
            return rate(lambda q, t: as_vector(self.function(q, t)), (q, time), along)

        here, along = (at.q, at.time), (kinematics.dq_dt(at.model, at.q, at.qd), 1.0)
        return Rows(self.matrix(at), psi(*here), -rate(psi, here, along))  # (CO18)


@dataclass(frozen=True, eq=False)
class OfRates(Constraint):
    """ψ(q, q̇, t) = 0."""

    name: str
    function: Callable[[Model, Vector, Vector, Scalar], Any]
    count: int
    word: str = "function"
    where: str = ""
    offset: bool = True  # False: only changes of ψ are known, not its value

    @property
    def kind(self) -> str:
        return self.word

    @property
    def labels(self) -> tuple[str, ...]:
        return ("",) if self.count == 1 else tuple(str(k + 1) for k in range(self.count))

    @property
    def holonomic(self) -> int:
        return 0

    def positions(self, at: Configuration) -> Vector:
        return np.zeros(0)

    def psi(self, at: Motion) -> Vector:
        return as_vector(self.function(at.model, at.q, at.qd, at.time))

    def rows(self, at: Motion) -> Rows:
        def psi(q: Vector, qd: Vector, time: Any) -> Vector:
            return as_vector(self.function(at.model, q, qd, time))

        A = jacobian(lambda qd: psi(at.q, qd, at.time), at.qd, self.count)
        along = (kinematics.dq_dt(at.model, at.q, at.qd), np.zeros(at.model.nv), 1.0)
        here = (at.q, at.qd, at.time)
        value = psi(*here) if self.offset else np.zeros(self.count)
        return Rows(A, value, -rate(psi, here, along))  # (CO19)


def plain(A: np.ndarray) -> np.ndarray:
    """Return the vector with entries of floats where they all are floats."""
    return A.astype(float) if all(isinstance(x, (float, int)) for x in A.ravel()) else A


def coupling(
    name: str, follower: int, terms: Sequence[tuple[int, Sequence[float]]], offset: float
) -> Callable[[Vector, Scalar], Scalar]:
    """φ = q_i − offset − Σ_j c_j1 y_j + c_j2 y_j² + ..."""

    def phi(q: Vector, time: Scalar) -> Scalar:
        gap = q[follower] - offset
        for j, coefficients in terms:
            for n, c in enumerate(coefficients):
                gap = gap - c * q[j] ** (n + 1)
        return gap

    return phi


def momentum(part: str, axis: Vector, value: float) -> Callable[..., Scalar]:
    """ψ = axis · momentum − value."""
    half = slice(0, 3) if part == "angular" else slice(3, 6)
    return lambda model, q, qd, time: axis @ kinematics.momentum(model, q, qd)[half] - value


def rows_of(model: Model, part: d.Custom, place: Place) -> Constraint:
    """φ(q, t), ψ(q, q̇, t), or A(q, t) q̇ + a(q, t)."""
    ways = [name for name in ("phi", "psi", "A") if getattr(part, name) is not None]
    if len(ways) != 1:
        raise place.error(f"has {' and '.join(ways) or 'no function'}; give one of phi, psi, or A (with a)")
    q, qd = model.neutral(), np.zeros(model.nv)
    with np.errstate(all="ignore"):
        if part.phi is not None:
            phi = _function(model, part.phi, place.at("phi"), rates=False)
            phi = numbers(phi, "phi(q, t)", place.error)
            return OfPositions(part.name, phi, len(phi(q, 0.0)), None, "function", part.where)
        if part.psi is not None:
            psi = _function(model, part.psi, place.at("psi"), rates=True)
            psi = numbers(psi, "psi(q, qd, t)", place.error)
        else:
            assert part.A is not None
            entries = with_error(part.A, "A(q, t)", place.error)
            A = with_error(lambda q, t: np.atleast_2d(np.asarray(entries(q, t))), "A(q, t)", place.error)
            a = part.a and numbers(part.a, "a(q, t)", place.error)
            _check_rows(A(q, 0.0), a and a(q, 0.0), model, place)
            psi = _from_rows(A, a)
        count = len(psi(q, qd, 0.0))
    return OfRates(part.name, lambda model, q, qd, t: psi(q, qd, t), count, "function", part.where)


def _function(model: Model, rows: d.Formulas, place: Place, *, rates: bool) -> Callable[..., Any]:
    """A Python function as it is; formulas as a function of the same arguments."""
    if not isinstance(rows, tuple):
        return rows
    names = [
        *map(identifier, model.q_names),
        *(f"{identifier(x)}{RATE}" for x in model.v_names if rates),
        "t",
    ]
    if twice := [name for name, n in Counter(names).items() if n > 1]:
        raise place.error(f"has no meaning: {twice[0]!r} is two things in a formula; give joints other names")
    every = [function_of(x, tuple(names), place) for x in rows]
    return lambda *state: [f(*(x for part in state[:-1] for x in part), state[-1]) for f in every]


def _check_rows(A: Any, a: Any, model: Model, place: Place) -> None:
    """A has a column for each rate, a an entry for each row."""
    if A.ndim != 2 or A.shape[1] != model.nv:
        shape = " x ".join(str(n) for n in A.shape)
        raise place.error(f"has an A of {shape} entries; give {model.nv} in a row, one for each rate")
    if a is not None and len(a) != len(A):
        raise place.error(f"has {len(A)} rows in A and {len(a)} entries in a; give as many of both")


def _from_rows(A: Callable[..., Any], a: Callable[..., Any] | None) -> Callable[..., Any]:
    """ψ = A(q, t) q̇ + a(q, t)."""
    return lambda q, qd, t: A(q, t) @ qd if a is None else A(q, t) @ qd + a(q, t)
