"""Steps that are no explicit Runge–Kutta method. v̄ is the mean rate over a step, q̄ the state half-way.

Semi-implicit Euler    q̇₁ = q̇ + dt q̈(q, q̇),  q₁ = q + dt q̇₁
Implicit midpoint      H(q̄) 2 (v̄ − q̇)/dt + h(q̄, v̄) = τ,   q̄ = q + dt/2 v̄;  q₁ = q + dt v̄,  q̇₁ = 2 v̄ − q̇
Variational            H(q̄) v̄ = p + dt/2 (∂L/∂q + F)(q̄, v̄);   q₁ = q + dt v̄,  p₁ = 2 H(q̄) v̄ − p,   p = H q̇

The last is the midpoint rule in q and p: symplectic, where the same rule in q and q̇ is not when H varies (Marsden &
West 2001, 2.6.2). Where q holds a quaternion, the sums are Cayley's: q₁ = q (1, a)² / (1 + a·a), a = dt ω / 4.

v̄ is found by Newton's method with H and the derivatives of what elements do in the matrix: linear convergence whose
factor goes with dt.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, symmetric
from kinpair.algebra.choice import maximum
from kinpair.compiler.derivative import jacobian
from kinpair.constraints import quantities as constrained
from kinpair.constraints.solvers.problem import full, masked
from kinpair.evaluation import quantities
from kinpair.forces.elements import couples_branches, efforts_of
from kinpair.formulations import composite, kinematics
from kinpair.model.recursion import coordinates, each, joined_coordinates, rate_tree, rates
from kinpair.model.state import State
from kinpair.simulation.rounding import SOLVED

if TYPE_CHECKING:
    from kinpair.model.model import Body, Model
    from kinpair.simulation.dynamics import Dynamics


def semi_implicit_euler(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
    """Compute the state y₁."""
    state = d.state(time, y, u)
    q, qd = state.q, state.qd
    loads = d.loads(time, q, qd, u)
    qdd, of_constraints = d.accelerations(state, loads)
    rate = qd + dt * qdd
    later = replace(state, qd=rate)
    powers = d.powers(later, loads)
    if d.constraints_work:
        powers[0] = powers[0] + of_constraints
    return d.stepped(y, ahead(d, q, dt, rate), rate, dt, powers, d.x_rates(later))


def halfway(d: Dynamics, q: Vector, dt: Scalar, v: Vector) -> Vector:
    """q̄, half a step on at the rates v."""
    return _moved(d.model, body_halfway, q, dt, v)


def ahead(d: Dynamics, q: Vector, dt: Scalar, v: Vector) -> Vector:
    """q₁, a step on at the rates v."""
    return _moved(d.model, body_ahead, q, dt, v)


def _moved(model: Model, step: Callable[..., Vector], q: Vector, dt: Scalar, v: Vector) -> Vector:
    lengths = [dt] * len(model.parent)
    return joined_coordinates(model, each(model, step, coordinates(model, q), lengths, rates(model, v)))


def body_halfway(body: Body, q: Vector, dt: Scalar, v: Vector) -> Vector:
    """Return the coordinates of a body half a step on at its rates v."""
    turned = kinematics.unit(body, q + 0.5 * dt * body.pair.dq_dt(q, v))
    return _with_quaternion(body, q + 0.5 * dt * body.pair.dq_dt(turned, v), turned[-4:])


def body_ahead(body: Body, q: Vector, dt: Scalar, v: Vector) -> Vector:
    """Return the coordinates of a body a step on at its rates v."""
    half = (q + 0.5 * dt * body.pair.dq_dt(q, v))[-4:]
    moved = q + dt * body.pair.dq_dt(body_halfway(body, q, dt, v), v)
    return _with_quaternion(body, moved, 2.0 * half / (half @ half) - q[-4:] if len(half) == 4 else half)


def _with_quaternion(body: Body, q: Vector, other: Vector) -> Vector:
    """The coordinates with another quaternion, if they have one."""
    return q if body.pair.nq == body.pair.nv else array([*q[:-4], *other])


class Midpoint:
    """Implicit midpoint in q and q̇; z = v̄."""

    @staticmethod
    def size(d: Dynamics) -> int:
        """Number of unknowns."""
        return d.model.nv

    @staticmethod
    def start(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
        """v̄ = q̇."""
        return d.motion(y)[1]

    @staticmethod
    def improve(
        d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector
    ) -> tuple[Vector, Scalar]:
        """A better v̄, and how far it was, in units of the tolerance."""
        q, qd = d.motion(y)
        middle = halfway(d, q, dt, z)
        half = time + 0.5 * dt
        state, loads = d.at(half, middle, z, u), d.loads(half, middle, z, u)
        qdd = (2.0 / dt) * (z - qd)
        residual = quantities.inverse_dynamics(d.model, d.inverse, middle, z, qdd, loads) - state.tau
        matrix = newton_matrix(d, (2.0 / dt) * composite.mass_matrix(d.model, middle), State(middle, z), z)
        step = _solved(d, *without_held(d, matrix, residual, z))
        return z - step, _distance(step, z)

    @staticmethod
    def finish(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
        """Compute the state y₁."""
        q, qd = d.motion(y)
        middle, half = halfway(d, q, dt, z), time + 0.5 * dt
        powers = d.powers(d.at(half, middle, z, u), d.loads(half, middle, z, u))
        return d.stepped(y, ahead(d, q, dt, z), 2.0 * z - qd, dt, powers)


class Variational:
    """Midpoint in q and p; z = [v̄, p]."""

    @staticmethod
    def size(d: Dynamics) -> int:
        """Unknowns, and what is kept next to them."""
        return 2 * d.model.nv

    @staticmethod
    def start(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
        """v̄ = q̇, p = H q̇."""
        q, qd = d.motion(y)
        return array([*qd, *(composite.mass_matrix(d.model, q) @ qd)])

    @staticmethod
    def improve(
        d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector
    ) -> tuple[Vector, Scalar]:
        """A better v̄, and how far it was, in units of the tolerance."""
        n = d.model.nv
        v, p = z[:n], z[n:]
        middle, half = d.motion(y)[0] + 0.5 * dt * v, time + 0.5 * dt
        state, loads = d.at(half, middle, v, u), d.loads(half, middle, v, u)
        acting = efforts_of(d.model, state, loads, passive=d.passive)
        force = _slope_of_lagrangian(d, middle, v) + state.tau + acting
        H = composite.mass_matrix(d.model, middle)
        matrix = newton_matrix(d, H, State(middle, v), v, 0.5 * dt)
        step = _solved(d, *without_held(d, matrix, H @ v - p - 0.5 * dt * force, v))
        return array([*(v - step), *p]), _distance(step, v)

    @staticmethod
    def finish(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
        """Compute the state y₁."""
        n = d.model.nv
        q, _ = d.motion(y)
        v, p = z[:n], z[n:]
        middle, half = q + 0.5 * dt * v, time + 0.5 * dt
        end = q + dt * v
        momentum = 2.0 * (composite.mass_matrix(d.model, middle) @ v) - p
        H, momentum = without_held(d, composite.mass_matrix(d.model, end), momentum, np.zeros(n))
        qd = tree_ldl.solve(tree_ldl.factor(H, *rate_tree(d.model)), momentum)
        powers = d.powers(d.at(half, middle, v, u), d.loads(half, middle, v, u))
        return d.stepped(y, end, qd, dt, powers)


def _slope_of_lagrangian(d: Dynamics, q: Vector, qd: Vector) -> Vector:
    """∂(T − V)/∂q, V of gravity, by one sweep back through the recorded energies."""
    V = kinematics.potential_energy(d.model, q)
    return jacobian(array([kinematics.kinetic_energy(d.model, q, qd) - V]), q)[0]


def newton_matrix(d: Dynamics, M: Matrix, state: State, unknown: Vector, share: Scalar = 1.0) -> Matrix:
    """M − share ∂(efforts of the elements)/∂(unknown rates or accelerations), by their recording.

    What dampers add by the change of their direction is not symmetric and is left out: Newton's method bears it.
    """
    if not d.elements:
        return M
    passive = efforts_of(d.model, state, passive=d.passive)
    return M - share * symmetric(jacobian(passive, unknown, mode="forward"))


def without_held(d: Dynamics, matrix: Matrix, residual: Vector, unknown: Vector) -> tuple[Matrix, Vector]:
    """Matrix and residual of Newton's method where rates are locked: their unknowns go to zero."""
    held = None if d.model.slip is None else d.model.slip.held
    if held is None:
        return matrix, residual
    rows = enumerate(zip(held, residual, unknown, strict=True))
    return masked(matrix, held), array([(1.0 - h) * r + h * matrix[k, k] * z for k, (h, r, z) in rows])


def newton_tree(d: Dynamics) -> tuple[Sequence[int], Sequence[int]]:
    """Nonzero entries of that matrix, see `algebra.tree_ldl`."""
    between = couples_branches(d.model, passive=d.passive)
    return full(d.model.nv) if between else constrained.mass_tree(d.model)


def _solved(d: Dynamics, matrix: Matrix, b: Vector) -> Vector:
    return tree_ldl.solve(tree_ldl.factor(matrix, *newton_tree(d)), b)


def _distance(step: Vector, v: Vector) -> Scalar:
    """max|step| in units of the tolerance."""
    largest = reduce(maximum, [np.abs(x) for x in v], 1.0)
    return reduce(maximum, [np.abs(x) for x in step]) / (SOLVED * largest)
