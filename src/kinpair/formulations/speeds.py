"""Velocities chosen by the user, q̇ = W(q) u: quasi-velocities of Appell, generalised speeds of Kane.

W (nv, nu) and its rate in time Ẇ are given at the state. With fewer u than rates the motion is confined to the
directions of W, by constraints that do no work, and the equations are those of the confined motion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra import ldl
from kinpair.algebra.arrays import Matrix, Vector
from kinpair.errors import InputError, SingularError
from kinpair.formulations.arguments import array_of
from kinpair.model.model import Model

LOST = 1e-13  # a pivot this small against its entry of H is lost in rounding


class Speeds(NamedTuple):
    """u (nu,), W (nv, nu) and Ẇ (nv, nu), of the right shapes."""

    u: Vector
    W: Matrix
    Wd: Matrix


class Equations(NamedTuple):
    """H u̇ + h = Wᵀ τ."""

    H: Matrix  # (nu, nu)
    h: Vector  # (nu,)

    def accelerations(self, Q: Vector) -> Vector:
        """u̇ (nu,) that the forces Q = Wᵀ τ (nu,) produce: not the efforts τ (nv,) themselves, but `W.T @ tau`.

        Refused where floats show that W lacks rank.
        """
        Q = array_of("equations", "Q", Q)
        if Q.shape != self.h.shape:
            raise InputError(
                f"Q has shape {Q.shape}; expected {self.h.shape}: the forces along u, "
                "which are W.T @ tau of the efforts tau",
                Q=Q.shape,
            )
        with np.errstate(all="ignore"):
            ud, pivots = ldl.solve(self.H, Q - self.h)
        _check(pivots, np.diag(self.H))
        return ud


def _check(pivots: Vector, scales: Vector) -> None:
    """Symbols pass; they divide by zero where floats are refused."""
    if pivots.dtype == object:
        return
    lost = np.flatnonzero(~(pivots > LOST * scales))
    if lost.size:
        raise SingularError(
            f"entry {lost[0]} of u moves no inertia that the entries before it do not move too; the columns of W "
            "must be independent, and every one must move a body with mass",
            entry=int(lost[0]),
        )


def speeds(model: Model, u: Any, W: Any, Wd: Any) -> Speeds:
    """The arguments as arrays, or an error that says what would do."""
    u, W, Wd = (array_of(model.name, name, x) for name, x in (("u", u), ("W", W), ("Wd", Wd)))
    wanted = (model.nv, u.size)
    if u.ndim != 1:
        raise InputError(f"{model.name}: u has the shape {u.shape}; give a vector (nu,)", u=u.shape)
    if u.size > model.nv:
        raise InputError(
            f"{model.name}: u has {u.size} entries; the {model.nv} rates are described by as many or fewer",
            u=u.shape,
        )
    for name, x in (("W", W), ("Wd", Wd)):
        if x.shape != wanted:
            raise InputError(
                f"{model.name}: {name} has the shape {x.shape}; q̇ = W u needs {wanted}: a row for each of the "
                f"{model.nv} rates, a column for each of the {u.size} entries of u",
                **{name: x.shape},
            )
    return Speeds(u, W, Wd)
