"""Efforts of chosen actuators that make a motion under constraints, by the rates that an embedding leaves free.

    B = ZᵀS,   τ = Bᵀ (B Bᵀ)⁻¹ Zᵀ r                    r = M q̈ − F; the least of (CI2)             (CE1)

Z is that of (CS7). The efforts do not depend on which rates it calls independent. With friction from load the motion
requires r + Σ D_l N_l, and the loads N depend on the multipliers that go with it:

    A₁ᵀ λ = (r + Σ D_l N_l − Sτ)₁                       of the dependent rates; affine in N, so (FS3) holds   (CE2)
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import mul
from typing import NamedTuple

import numpy as np

from kinpair.algebra import ldl, lu
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, symmetric
from kinpair.algebra.choice import less, where
from kinpair.constraints.quantities.equations import Equations, equations, largest
from kinpair.constraints.quantities.friction import of_driven_motion
from kinpair.constraints.rounding import EMBEDDED_SOUND, EMPTY, HOLDS, REACHED, WIDE_OPEN
from kinpair.constraints.rows import stacked as all_rows
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.solvers.embedding import Parts, parts, virtual
from kinpair.constraints.solvers.problem import Problem, soundest
from kinpair.evaluation.quantities.request import External, Request
from kinpair.model.model import Model
from kinpair.model.state import State


class Balance(NamedTuple):
    """Solver that balances generalised forces r (n) at one position: efforts of the actuated rates, and multipliers."""

    problem: Problem
    embedded: Parts
    actuated: Sequence[int]
    Z: Matrix
    B: Matrix
    weights: Matrix  # B Bᵀ
    factors: ldl.Factors

    @staticmethod
    def of(problem: Problem, actuated: Sequence[int]) -> Balance:
        """Return that of a problem, in the order of its embedding."""
        embedded = parts(problem)
        Z = virtual(problem, embedded)
        B = Z[list(actuated)].T
        weights = symmetric(B @ B.T)
        return Balance(problem, embedded, actuated, Z, B, weights, ldl.factor(weights))

    def efforts(self, r: Vector) -> Vector:
        """τ (n), zero for rates that are not actuated.    (CE1)"""
        own = self.B.T @ ldl.solve_factored(self.factors, self.Z.T @ r)
        by_rate = dict(zip(self.actuated, own, strict=True))
        return array([by_rate.get(k, 0.0) for k in range(len(r))])

    def multipliers(self, r: Vector) -> Vector:
        """λ of the rows.    (CE2)"""
        own = lu.solve_transposed(self.embedded.A1, (r - self.efforts(r))[self.embedded.one])
        by_row = dict(zip(self.problem.rows, own, strict=True))
        return array([by_row[k] for k in range(len(self.problem.b))])

    def measures(self) -> list[tuple[Scalar, Scalar]]:
        """Return what must be less than what for a sound solve."""
        A, diagonal = self.problem.A[list(self.problem.rows)], np.diag(self.weights)
        of_rows = soundest([np.abs(d) for d in self.embedded.A1.D], [np.sqrt(row @ row) for row in A])
        return [(EMBEDDED_SOUND, of_rows), (REACHED, soundest(self.factors.D, list(diagonal)))]


def actuator_efforts(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, time: Vector, loads: External
) -> tuple[Vector, Scalar]:
    """τ of the rates `request.actuated`, zero elsewhere; and one where nothing needs a closer look, else zero."""
    x = equations(model, request, _moving(model, q, qd, time), loads)
    balance = Balance.of(x.problem(request), request.actuated)
    tau = balance.efforts(x.M @ qdd - x.F)
    return tau, _soundness(x, balance, qdd, tau)


def efforts_under_load(
    model: Model, request: Request, q: Vector, qd: Vector, qdd: Vector, time: Vector, loads: External
) -> tuple[Vector, Scalar]:
    """Return τ as `actuator_efforts` does, with friction from load; zero for soundness where a surface rests."""
    state = _moving(model, q, qd, time)
    x = equations(model, request, state, loads)
    balance = Balance.of(x.problem(request), request.actuated)
    r = x.M @ qdd - x.F
    friction = of_driven_motion(model, request, state, loads, qdd, r, balance.multipliers)
    tau = balance.efforts(r - friction.efforts)
    return tau, _soundness(x, balance, qdd, tau) * friction.sound


def _moving(model: Model, q: Vector, qd: Vector, time: Vector) -> State:
    return State(q, qd, tau=np.zeros(model.nv), time=time[0])


def _soundness(x: Equations, balance: Balance, qdd: Vector, tau: Vector) -> Scalar:
    measures = [*balance.measures(), *_obeyed(x, qdd), (largest(list(tau)), np.inf)]
    return reduce(mul, [where(less(low, high), 1.0, 0.0) for low, high in measures])


def _obeyed(x: Equations, qdd: Vector) -> list[tuple[Scalar, Scalar]]:
    """Pairs of numbers of which the first must be less: how far the loops are open, and by how much the
    accelerations break each row."""
    model = x.at.model
    gap = largest(list(x.phi / all_rows.scales(model, constraints_of(model))))
    size = HOLDS * (1.0 + largest(list(qdd)))
    rows = zip(x.every.A, x.every.b, strict=True)
    return [(gap, WIDE_OPEN), *((np.abs(A @ qdd - b), size * (np.sqrt(A @ A) + EMPTY)) for A, b in rows)]
