"""One step of the damped Newton iteration, over floats or symbols.

    δ = W⁻¹ J_fᵀ y + N z,   (J_f W⁻¹ J_fᵀ + λ 1) y = e − J_f z,   λ = ν V + ε                       (IK5)
    q ← q ⊕ δ min(1, δ_max/|δ|_∞), kept within the limits                                            (IK6)

J_f: without the columns of rates that are locked, and of those whose coordinate is at a limit that the step would pass.
The damping falls with the error V (Sugihara 2011), so that the iteration is bold near a solution and careful far from
it, and shrinks to ε where loops are redundant. W and z say what is preferred among many solutions: see `criteria`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl, tree_ldl
from kinpair.algebra.arrays import Matrix, Scalar, Vector, array, is_nothing
from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.formulations import composite, kinematics
from kinpair.inverse_kinematics.residual import Task
from kinpair.model.model import Model
from kinpair.model.recursion import rate_tree

LEAST = 1e-12  # ε
LONGEST = 1.0  # [rad] or [m]: δ_max
CLOSED = 1e-9  # |e|: one step more leaves rounding alone
STANDING = 1e-9  # [rad] or [m]: a step below this leads nowhere
EDGE = 1e-9  # [rad] or [m]: nearer to a limit than this is at it
TOWARDS = 0.5  # part of the way to the middle of the limits


class Preference(NamedTuple):
    """W (None: 1), the size of W⁻¹, and z, a step that is welcome (None: none)."""

    W: Matrix | None = None
    size: Scalar = 1.0
    z: Vector | None = None


def _least_rates(model: Model, q: Vector, free: Vector) -> Preference:
    """W = 1: the smallest step."""
    return Preference()


def _least_energy(model: Model, q: Vector, free: Vector) -> Preference:
    """W = H, of the free rates: the step with the least kinetic energy."""
    H = composite.mass_matrix(model, q)
    W = H * np.outer(free, free) + np.diag(1.0 - free)
    return Preference(W, np.divide(float(model.nv), sum(np.diag(H))))


def _middle(model: Model, q: Vector, free: Vector) -> Preference:
    """W = 1, z towards the middle of the limits, for coordinates that have both."""
    z: list[Scalar] = [0.0] * model.nv
    for k, i in enumerate(model.joints.spring_q):
        if i >= 0 and np.isfinite(model.joints.upper[i] - model.joints.lower[i]):
            middle = 0.5 * (model.joints.lower[i] + model.joints.upper[i])
            z[k] = TOWARDS * free[k] * (middle - q[i])
    return Preference(z=array(z))


CRITERIA: dict[str, Callable[[Model, Vector, Vector], Preference]] = {
    "rates": _least_rates,
    "energy": _least_energy,
    "limits": _middle,
}


def weighed(model: Model, W: Matrix | None, X: Matrix) -> Matrix:
    """W⁻¹ X of columns X (nv, m)."""
    if W is None:
        return X
    factors = tree_ldl.factor(W, *rate_tree(model))
    return array([list(tree_ldl.solve(factors, column)) for column in X.T]).T


def felt(J: Matrix) -> list[int]:
    """The rates on which some row depends."""
    return [k for k in range(J.shape[1]) if not all(map(is_nothing, J[:, k]))]


def improved(task: Task, criterion: str, q: Vector, u: Vector, p: Vector) -> tuple[Vector, Scalar]:
    """q after a step, and a number that is above 1 while more steps are needed.

    p: what of the rates may move (1 or 0), lower and upper limits of their coordinates, and ν.
    """
    model = task.model
    moving, lower, upper = (p[k * model.nv : (k + 1) * model.nv] for k in range(3))
    e, J, V = task.residual(q, u)
    some = felt(J)
    free = _free(model, q, J.T @ e, some, lower, upper, moving)
    prefer = CRITERIA[criterion](model, q, free)
    delta = _step(model, J * free, e, p[-1] * V + LEAST, prefer)  # (IK5)
    largest = reduce(maximum, [abs(x) for x in delta], 0.0)
    delta = delta * np.divide(LONGEST, maximum(largest, LONGEST))  # (IK6)
    there = list(kinematics.nudged(model, q, delta))
    for k in some:
        if (i := model.joints.spring_q[k]) >= 0:
            there[i] = minimum(maximum(there[i], lower[k]), upper[k])
    left = where(less(V, CLOSED**2), 0.0, 2.0) if prefer.z is None else 2.0
    return array(there), where(less(largest, STANDING), 0.0, left)


def _free(
    model: Model, q: Vector, g: Vector, some: list[int], lower: Vector, upper: Vector, moving: Vector
) -> Vector:
    """1 for each rate that may move, 0 for one that is locked or would take its coordinate beyond a limit."""
    free: list[Any] = list(moving)
    for k in some:
        if (i := model.joints.spring_q[k]) >= 0:
            down = where(less(q[i], lower[k] + EDGE), where(less(0.0, g[k]), 1.0, 0.0), 1.0)
            up = where(less(upper[k] - EDGE, q[i]), where(less(g[k], 0.0), 1.0, 0.0), 1.0)
            free[k] = free[k] * down * up
    return array(free)


def _step(model: Model, J: Matrix, e: Vector, damping: Scalar, prefer: Preference) -> Vector:
    X = weighed(model, prefer.W, J.T)
    S = J @ X + damping * prefer.size * np.eye(len(e))
    missing = e if prefer.z is None else e - J @ prefer.z
    delta = X @ ldl.solve(S, missing)[0]
    return delta if prefer.z is None else delta + prefer.z
