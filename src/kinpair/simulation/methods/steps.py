"""Steps that are no explicit Runge–Kutta method. v̄ is the mean rate over a step, q̄ the state half-way.

Semi-implicit Euler    q̇₁ = q̇ + dt q̈(q, q̇),  q₁ = q + dt q̇₁
Implicit midpoint      H(q̄) 2 (v̄ − q̇)/dt + h(q̄, v̄) = τ,   q̄ = q + dt/2 v̄;  q₁ = q + dt v̄,  q̇₁ = 2 v̄ − q̇
Variational            H(q̄) v̄ = p + dt/2 (∂L/∂q + F)(q̄, v̄);   q₁ = q + dt v̄,  p₁ = 2 H(q̄) v̄ − p,   p = H q̇

The last is the midpoint rule in q and p: symplectic, where the same rule in q and q̇ is not when H varies (Marsden &
West 2001, 2.6.2). Where q holds a quaternion, the sums are Cayley's: q₁ = q (1, a)² / (1 + a·a), a = dt ω / 4.

v̄ is found by Newton's method with H, dampers and springs in the matrix: linear convergence whose factor goes with dt.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any

import numpy as np

from kinpair import quantities
from kinpair.algebra import tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import maximum
from kinpair.compiler.derivative import jacobian
from kinpair.formulations import composite, kinematics
from kinpair.formulations.newton_euler import inverse_dynamics
from kinpair.model.recursion import rate_tree
from kinpair.simulation.dynamics import Dynamics, Loads, on_the_sphere, with_quaternion

TOLERANCE = 1e-13  # of v̄, against the largest rate or 1


def semi_implicit_euler(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
    """y₁."""
    q, qd, rest = d.parts(y)
    tau, loads = d.efforts(time, q, qd, u), d.loads(time, q, qd, u)
    qdd, of_constraints = d.accelerations(time, q, qd, tau, loads)
    rate = qd + dt * qdd
    powers = d.powers(q, rate, tau, loads)
    if d.constraints_work:
        powers[0] = powers[0] + of_constraints
    return _joined(ahead(d, q, dt, rate), rate, rest, dt, powers)


def _joined(q: Vector, qd: Vector, rest: Vector, dt: Scalar, powers: list[Scalar]) -> Vector:
    n = len(powers)
    return array([*q, *qd, *(x + dt * power for x, power in zip(rest[:n], powers, strict=True)), *rest[n:]])


def halfway(d: Dynamics, q: Vector, dt: Scalar, v: Vector) -> Vector:
    """q̄, half a step on at the rates v."""
    turned = on_the_sphere(d.model, 0.0, q + 0.5 * dt * kinematics.dq_dt(d.model, q, v), v)[0]
    moved = q + 0.5 * dt * kinematics.dq_dt(d.model, turned, v)
    return _with_quaternions_of(d, moved, lambda k: turned[k])


def ahead(d: Dynamics, q: Vector, dt: Scalar, v: Vector) -> Vector:
    """q₁, a step on at the rates v."""
    half = q + 0.5 * dt * kinematics.dq_dt(d.model, q, v)
    moved = q + dt * kinematics.dq_dt(d.model, halfway(d, q, dt, v), v)
    return _with_quaternions_of(d, moved, lambda k: 2.0 * half[k] / (half[k] @ half[k]) - q[k])


def _with_quaternions_of(d: Dynamics, q: Vector, other: Callable[[slice], Vector]) -> Vector:
    made: list[Any] = list(q)
    for i in with_quaternion(d.model):
        stop = d.model.q_span[i].stop
        made[stop - 4 : stop] = list(other(slice(stop - 4, stop)))
    return array(made)


class Midpoint:
    """Implicit midpoint in q and q̇; z = v̄."""

    @staticmethod
    def size(d: Dynamics) -> int:
        """Unknowns."""
        return d.model.nv

    @staticmethod
    def start(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
        """v̄ = q̇."""
        return d.parts(y)[1]

    @staticmethod
    def improve(
        d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector
    ) -> tuple[Vector, Scalar]:
        """A better v̄, and how far it was, in units of the tolerance."""
        q, qd, _ = d.parts(y)
        middle = halfway(d, q, dt, z)
        half = time + 0.5 * dt
        tau, loads = d.efforts(half, middle, z, u), d.loads(half, middle, z, u)
        qdd = (2.0 / dt) * (z - qd)
        residual = quantities.inverse_dynamics(d.model, d.inverse, middle, z, qdd, loads) - tau
        step = _solved(d, (2.0 / dt) * composite.mass_matrix(d.model, middle), residual, 1.0, 0.5 * dt)
        return z - step, _distance(step, z)

    @staticmethod
    def finish(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
        """y₁."""
        q, qd, rest = d.parts(y)
        middle, half = halfway(d, q, dt, z), time + 0.5 * dt
        powers = d.powers(middle, z, d.efforts(half, middle, z, u), d.loads(half, middle, z, u))
        return _joined(ahead(d, q, dt, z), 2.0 * z - qd, rest, dt, powers)


class Variational:
    """Midpoint in q and p; z = [v̄, p]."""

    @staticmethod
    def size(d: Dynamics) -> int:
        """Unknowns, and what is kept beside them."""
        return 2 * d.model.nv

    @staticmethod
    def start(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector) -> Vector:
        """v̄ = q̇, p = H q̇."""
        q, qd, _ = d.parts(y)
        return array([*qd, *(composite.mass_matrix(d.model, q) @ qd)])

    @staticmethod
    def improve(
        d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector
    ) -> tuple[Vector, Scalar]:
        """A better v̄, and how far it was, in units of the tolerance."""
        n = d.model.nv
        v, p = z[:n], z[n:]
        middle, half = d.parts(y)[0] + 0.5 * dt * v, time + 0.5 * dt
        force = _slope_of_lagrangian(d, middle, v) + d.drag(v) + _driving(d, half, middle, v, u)
        H = composite.mass_matrix(d.model, middle)
        step = _solved(d, H, H @ v - p - 0.5 * dt * force, 0.5 * dt, 0.25 * dt * dt)
        return array([*(v - step), *p]), _distance(step, v)

    @staticmethod
    def finish(d: Dynamics, time: Scalar, dt: Scalar, y: Vector, u: Vector, z: Vector) -> Vector:
        """y₁."""
        n = d.model.nv
        q, _, rest = d.parts(y)
        v, p = z[:n], z[n:]
        middle, half = q + 0.5 * dt * v, time + 0.5 * dt
        end = q + dt * v
        factors = tree_ldl.factor(composite.mass_matrix(d.model, end), *rate_tree(d.model))
        qd = tree_ldl.solve(factors, 2.0 * (composite.mass_matrix(d.model, middle) @ v) - p)
        powers = d.powers(middle, v, d.efforts(half, middle, v, u), d.loads(half, middle, v, u))
        return _joined(end, qd, rest, dt, powers)


def _slope_of_lagrangian(d: Dynamics, q: Vector, qd: Vector) -> Vector:
    """∂(T − V)/∂q by one sweep back through the recorded energies."""
    V = kinematics.potential_energy(d.model, q)
    if d.passive:
        V = V + quantities.spring_energy(d.model, q)
    return jacobian(array([kinematics.kinetic_energy(d.model, q, qd) - V]), q)[0]


def _driving(d: Dynamics, time: Scalar, q: Vector, qd: Vector, u: Vector) -> Vector:
    """Efforts of drives, and of applied wrenches as efforts."""
    tau, loads = d.efforts(time, q, qd, u), d.loads(time, q, qd, u)
    return tau + _as_efforts(d, q, qd, loads) if loads else tau


def _as_efforts(d: Dynamics, q: Vector, qd: Vector, loads: Loads) -> Vector:
    nothing = np.zeros(d.model.nv)
    without = inverse_dynamics(d.model, q, qd, nothing, kinematics.no_wrenches(d.model))
    return without - inverse_dynamics(d.model, q, qd, nothing, quantities.applied_wrenches(d.model, q, loads))


def _solved(d: Dynamics, H: Matrix, b: Vector, dampers: Scalar, springs: Scalar) -> Vector:
    """x of (H + dampers C + springs K) x = b, C and K those of the joints."""
    joints = d.model.joints
    if d.passive:
        extra: list[Any] = [
            dampers * c + springs * k for c, k in zip(joints.damping, joints.stiffness, strict=True)
        ]
        H = H + np.diag(array(extra))
    return tree_ldl.solve(tree_ldl.factor(H, *rate_tree(d.model)), b)


def _distance(step: Vector, v: Vector) -> Scalar:
    """max|step| in units of the tolerance."""
    largest = reduce(maximum, [np.abs(x) for x in v], 1.0)
    return reduce(maximum, [np.abs(x) for x in step]) / (TOLERANCE * largest)
