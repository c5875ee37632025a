"""Rows that have no actuator, and the coordinates that are free to obey them.

    q = q_p(t) + S c                                     given coordinates, and free ones c                  (GS1)
    F_i = τ_i(q, q̇, q̈)                                   the row of a joint                                  (GS2)
    F_i = e·(n − z × f) − r(t)                           a moment about the point z(t), r = 0 or given       (GS3)
    F_i = e·f                                            a force                                             (GS4)

τ = H q̈ + h are the efforts of the mechanism, [n; f] the resultant about the world's origin, see (GZ1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, TypeAlias, final

import numpy as np

from kinpair.algebra.arrays import Vector, array
from kinpair.compiler.cache import Store
from kinpair.compiler.derivative import jacobian
from kinpair.compiler.kernel import Kernel
from kinpair.compiler.trace import trace
from kinpair.errors import InputError, listed, nearest
from kinpair.evaluation.quantities.dynamics import inverse_dynamics
from kinpair.evaluation.quantities.request import request_of
from kinpair.evaluation.quantities.wrenches import resultant
from kinpair.mechanism import Mechanism
from kinpair.model.digest import digest, has_functions
from kinpair.motion.trajectory import Trajectory
from kinpair.spatial.rotation import cross

AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
Share: TypeAlias = Mapping[str, float]


@final
@dataclass(frozen=True, eq=False)
class Resultant:
    """A component of what the ground hands to the mechanism, which is to vanish: a moment about a point, or a force."""

    part: str
    axis: tuple[float, ...]
    about: Trajectory | np.ndarray
    name: str
    value: Callable[[np.ndarray], np.ndarray] | None = None

    def values(self, time: np.ndarray) -> np.ndarray:
        """Values of the target at times (n,)."""
        return np.zeros(len(time)) if self.value is None else self.value(time)

    def point(self, time: np.ndarray, side: str) -> np.ndarray:
        """Point of the moment, at times (n,): (n, 3)."""
        if isinstance(self.about, Trajectory):
            return self.about.at(time, side=side).q
        return np.broadcast_to(self.about, (len(time), 3))


def moment(
    axis: Any, about: Any = (0.0, 0.0, 0.0), value: Callable[[np.ndarray], np.ndarray] | None = None
) -> Resultant:
    """The row of a moment about a point of the world, or one that moves (a motion of three numbers), along an axis:
    "x", "y", "z" or a vector. The ground hands no such moment to the mechanism, or the `value`, a function of times."""
    if isinstance(about, Trajectory):
        if about.shape != (3,):
            raise InputError(f"moment: about is a motion of shape {about.shape}; give one of three numbers")
        return Resultant("moment", _axis("moment", axis), about, f"moment {axis}", value)
    point = np.asarray(about, dtype=float)
    if point.shape != (3,) or not np.isfinite(point).all():
        raise InputError(f"moment: about is {about!r}; give a point (3,), or a motion of three numbers")
    return Resultant("moment", _axis("moment", axis), point, f"moment {axis}", value)


def force(axis: Any) -> Resultant:
    """The row of a force along an axis of the world: the ground hands no such force to the mechanism."""
    return Resultant("force", _axis("force", axis), np.zeros(3), f"force {axis}")


def _axis(owner: str, axis: Any) -> tuple[float, ...]:
    if isinstance(axis, str) and axis in AXES:
        return AXES[axis]
    try:
        e = np.asarray(axis, dtype=float)
    except (TypeError, ValueError):
        e = np.zeros(0)
    if e.shape != (3,) or not np.isfinite(e).all() or not e.any():
        raise InputError(f"{owner}: axis is {axis!r}; give 'x', 'y', 'z' or three numbers")
    return tuple((e / np.sqrt(e @ e)).tolist())


class Terms(NamedTuple):
    """F (n, rows) of the rows at n times, and its derivatives by c, ċ and c̈ (n, rows, free)."""

    F: np.ndarray
    by_c: np.ndarray
    by_cd: np.ndarray
    by_cdd: np.ndarray


class GivenMotion(NamedTuple):
    """Motion given at n times: q (n, nq), q̇ and q̈ (n, nv), points of the rows (n, rows, 3) and their values r."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    points: np.ndarray
    values: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class FreeRows:
    """Rows without actuator of a mechanism, and its free coordinates by name: S_q (nq, free) and S_v (nv, free)."""

    mechanism: Mechanism
    names: tuple[str, ...]
    S_q: np.ndarray
    S_v: np.ndarray
    rows: tuple[str | Resultant, ...]

    @property
    def row_names(self) -> tuple[str, ...]:
        """Names of the rows."""
        return tuple(row if isinstance(row, str) else row.name for row in self.rows)

    def given(self, motion: Trajectory, time: np.ndarray, side: str = "") -> GivenMotion:
        """The given motion of all coordinates at times (n,)."""
        x = motion.at(time, side=side)
        return GivenMotion(x.q, x.qd, x.qdd, *self.courses(time, side))

    def courses(self, time: np.ndarray, side: str = "") -> tuple[np.ndarray, np.ndarray]:
        """Points of the rows (n, rows, 3) and what they are to be (n, rows), at times (n,)."""
        still = np.zeros((len(time), 3))
        points = [still if isinstance(row, str) else row.point(time, side) for row in self.rows]
        values = [still[:, 0] if isinstance(row, str) else row.values(time) for row in self.rows]
        return np.stack(points, axis=1), np.stack(values, axis=1)

    def terms(self, given: GivenMotion, c: np.ndarray, cd: np.ndarray, cdd: np.ndarray) -> Terms:
        """F and its derivatives at n times; c, ċ and c̈ are (n, free)."""
        return Terms(*self._kernel(*given, c, cd, cdd))

    @cached_property
    def _kernel(self) -> Kernel:
        m, n = self.mechanism, len(self.names)
        shapes = {"q": (m.nq,), "qd": (m.nv,), "qdd": (m.nv,), "points": (len(self.rows), 3)}
        shapes |= {"values": (len(self.rows),)}
        shapes |= {"c": (n,), "cd": (n,), "cdd": (n,)}
        rows = [row if isinstance(row, str) else (row.part, row.axis) for row in self.rows]
        return Kernel(
            lambda: trace(self._traced, shapes, name="free_rows"),
            key=repr((digest(m.model), "free rows", rows, self.S_q.tolist(), self.S_v.tolist())),
            store=None if has_functions(m.model) else Store(),
        )

    def _traced(
        self, q: Vector, qd: Vector, qdd: Vector, points: Any, values: Any, c: Vector, cd: Vector, cdd: Vector
    ) -> tuple[Any, ...]:
        state = q + self.S_q @ c, qd + self.S_v @ cd, qdd + self.S_v @ cdd  # (GS1)
        F = self._rows(state, points) - values
        return F, jacobian(F, c), jacobian(F, cd), jacobian(F, cdd)

    def _rows(self, state: tuple[Vector, Vector, Vector], points: Any) -> Vector:
        model, v_names = self.mechanism.model, self.mechanism.v_names
        tau = inverse_dynamics(model, request_of("inverse_dynamics"), *state, {})
        w = resultant(model, request_of("resultant"), *state, {})
        n, f = w[:3], w[3:]
        found: list[Any] = []
        for k, row in enumerate(self.rows):
            if isinstance(row, str):
                found.append(tau[v_names.index(row)])  # (GS2)
            elif row.part == "moment":
                found.append(np.array(row.axis) @ (n - cross(points[k], f)))  # (GS3)
            else:
                found.append(np.array(row.axis) @ f)  # (GS4)
        return array(found)


def free_rows(m: Mechanism, free: Sequence[str | Share], rows: Sequence[str | Resultant] | None) -> FreeRows:
    """Checked: as many rows as free coordinates, all of them known; without rows those of the free joints."""
    shares = [_share(m, x) for x in free]
    if not shares:
        raise InputError("synergy: no coordinate is free; name one at least")
    S_v = np.array([[share.get(name, 0.0) for share in shares] for name in m.v_names])
    S_q = np.array([[share.get(name, 0.0) for share in shares] for name in m.q_names])
    names = tuple(x if isinstance(x, str) else " ".join(x) for x in free)
    chosen = tuple(rows) if rows is not None else names
    for row in chosen:
        if isinstance(row, str) and row not in m.v_names:
            raise InputError(
                f"synergy: {m.name} has no row {row!r}; {nearest(row, m.v_names)}Rows: {listed(m.v_names)}; "
                "others are kp.motion.moment and kp.motion.force"
            )
    if len(chosen) != len(names):
        raise InputError(
            f"synergy: {len(chosen)} rows without actuator ({listed(_named(chosen))}) and {len(names)} free "
            f"coordinates ({listed(names)}); give as many of one as of the other"
        )
    return FreeRows(m, names, S_q, S_v, chosen)


def _named(rows: Sequence[str | Resultant]) -> list[str]:
    return [row if isinstance(row, str) else row.name for row in rows]


def _share(m: Mechanism, free: str | Share) -> dict[str, float]:
    """Share of a free coordinate in each coordinate."""
    share = {free: 1.0} if isinstance(free, str) else {name: float(x) for name, x in free.items()}
    able = [name for name in m.q_names if name in m.v_names]
    for name in share:
        if name not in able:
            raise InputError(
                f"synergy: {m.name} has no coordinate {name!r} with a rate of its own that can be free; "
                f"{nearest(name, able)}Coordinates: {listed(able)}"
            )
    return share
