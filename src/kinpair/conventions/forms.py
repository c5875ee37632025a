"""Forms of the joints of each engine: coordinates, and its rates as v = T(q) q̇.

Every T here is orthogonal, T⁻¹ = Tᵀ, so that efforts, which keep the power τᵀq̇, go by the same matrix as
rates: τ_engine = T⁻ᵀ τ = T τ. A form whose T is not orthogonal has no place in these tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array, assemble
from kinpair.pairs import PAIRS
from kinpair.spatial.rotation import cross, from_quaternion, quaternion_exp, quaternion_product

_WXYZ = [3, 0, 1, 2]  # from x y z w
_XYZW = [1, 2, 3, 0]  # from w x y z
_UPPER, _LOWER = slice(0, 3), slice(3, 6)
_SWAP = np.eye(6)[[3, 4, 5, 0, 1, 2]]


@dataclass(frozen=True, slots=True, eq=False)
class Form:
    """A joint as an engine writes it; `q`, `qd` are ours."""

    nq: int
    nv: int
    q: Callable[[Vector], Vector]
    from_q: Callable[[Vector], Vector]
    T: Callable[[Vector], Matrix]
    Td_qd: Callable[[Vector, Vector], Vector]  # Ṫ q̇
    unit: slice  # entries of the engine's coordinates that make a unit vector


@dataclass(frozen=True, slots=True, eq=False)
class Engine:
    """The forms an engine has for each kind of pair, its default first, and the order of its twists."""

    name: str
    forms: Mapping[str, tuple[Form, ...]]
    angular_first: bool
    free_in_world: bool  # a free joint is the pose of its link in the world, whatever frames it has here


def _same(q: Vector) -> Vector:
    return q


def _form(
    nq: int,
    nv: int,
    q: Callable[[Vector], Vector],
    from_q: Callable[[Vector], Vector],
    unit: slice = slice(0, 0),
    T: Callable[[Vector], Matrix] | None = None,
    Td_qd: Callable[[Vector, Vector], Vector] | None = None,
) -> Form:
    """A form whose rates are ours, unless T says otherwise."""
    own, still = np.eye(nv), np.zeros(nv)
    return Form(nq, nv, q, from_q, T or (lambda q: own), Td_qd or (lambda q, qd: still), unit)


def _plain(kind: str) -> Form:
    """Coordinates and rates as here."""
    size = len(PAIRS[kind].v_parts)
    return _form(size, size, _same, _same)


# A hinge without limits as a point on the unit circle.

_CIRCLE = _form(
    2,
    1,
    q=lambda q: array([np.cos(q[0]), np.sin(q[0])]),
    from_q=lambda k: array([np.arctan2(k[1], k[0])]),
    unit=slice(0, 2),
)

# Pinocchio's planar joint: rates along the axes of the child.


def _planar_T(q: Vector) -> Matrix:
    c, s = np.cos(q[2]), np.sin(q[2])
    return array([[c, s, 0.0], [-s, c, 0.0], [0.0, 0.0, 1.0]])


def _planar_Td_qd(q: Vector, qd: Vector) -> Vector:
    u, v, _ = _planar_T(q) @ qd
    return array([qd[2] * v, -qd[2] * u, 0.0])


_PLANAR_IN_BODY = _form(
    4,
    3,
    q=lambda q: array([q[0], q[1], np.cos(q[2]), np.sin(q[2])]),
    from_q=lambda k: array([k[0], k[1], np.arctan2(k[3], k[2])]),
    unit=slice(2, 4),
    T=_planar_T,
    Td_qd=_planar_Td_qd,
)

# Ball joints.

_BALL_XYZW = _form(4, 3, _same, _same, slice(0, 4))
_BALL_WXYZ = _form(4, 3, lambda q: q[_WXYZ], lambda k: k[_XYZW], slice(0, 4))


def rpy(k: Vector) -> Vector:
    """Roll, pitch, yaw of a quaternion, R = R_z R_y R_x; in gimbal lock one of the many that give R."""
    R = from_quaternion(k)
    yaw = np.arctan2(R[1, 0], R[0, 0])
    y = np.cos(yaw) * R[1] - np.sin(yaw) * R[0]
    pitch = np.arctan2(-R[2, 0], np.sqrt(R[0, 0] * R[0, 0] + R[1, 0] * R[1, 0]))
    return array([np.arctan2(-y[2], y[1]), pitch, yaw])


def quaternion(angles: Vector) -> Vector:
    """The quaternion (x, y, z, w) of roll, pitch, yaw."""
    x, y, z = (quaternion_exp(array(list(row))) for row in np.diag(np.ones(3)) * angles)
    return quaternion_product(quaternion_product(z, y), x)


_BALL_RPY = _form(3, 3, rpy, quaternion, T=from_quaternion)  # Ṫ q̇ = R (ω × ω) = 0

# Free bodies.


def _linear_in_world(q: Vector, qd: Vector) -> Vector:
    """R (ω × v): what turning adds to the acceleration along fixed axes."""
    return from_quaternion(q[3:]) @ cross(qd[:3], qd[3:])


def _mujoco_T(q: Vector) -> Matrix:
    return assemble((6, 6), [(_UPPER, _LOWER, from_quaternion(q[3:])), (_LOWER, _UPPER, np.eye(3))])


def _drake_T(q: Vector) -> Matrix:
    R = from_quaternion(q[3:])
    return assemble((6, 6), [(_UPPER, _UPPER, R), (_LOWER, _LOWER, R)])


def _drake_Td_qd(q: Vector, qd: Vector) -> Vector:
    return np.concatenate([np.zeros(3), _linear_in_world(q, qd)])


_FREE_IN_BODY = _form(7, 6, _same, _same, slice(3, 7), T=lambda q: _SWAP)
_FREE_MIXED = _form(
    7,
    6,
    q=lambda q: np.concatenate([q[:3], q[3:][_WXYZ]]),
    from_q=lambda k: np.concatenate([k[:3], k[3:][_XYZW]]),
    unit=slice(3, 7),
    T=_mujoco_T,
    Td_qd=lambda q, qd: np.concatenate([_linear_in_world(q, qd), np.zeros(3)]),
)
_FREE_IN_WORLD = _form(
    7,
    6,
    q=lambda q: np.concatenate([q[3:][_WXYZ], q[:3]]),
    from_q=lambda k: np.concatenate([k[4:], k[:4][_XYZW]]),
    unit=slice(0, 4),
    T=_drake_T,
    Td_qd=_drake_Td_qd,
)
_FREE_RPY = _form(
    6,
    6,
    q=lambda q: np.concatenate([rpy(q[3:]), q[:3]]),
    from_q=lambda k: np.concatenate([k[3:], quaternion(k[:3])]),
    T=_drake_T,
    Td_qd=_drake_Td_qd,
)

_PLAIN = {kind: (_plain(kind),) for kind in PAIRS if kind not in ("spherical", "free", "fixed")}

PINOCCHIO = Engine(
    "Pinocchio",
    {
        **_PLAIN,
        "revolute": (_plain("revolute"), _CIRCLE),
        "planar": (_PLANAR_IN_BODY,),
        "spherical": (_BALL_XYZW,),
        "free": (_FREE_IN_BODY,),
    },
    angular_first=False,
    free_in_world=False,
)
MUJOCO = Engine(
    "MuJoCo",
    {**_PLAIN, "spherical": (_BALL_WXYZ,), "free": (_FREE_MIXED,)},
    angular_first=False,
    free_in_world=True,
)
DRAKE = Engine(
    "Drake",
    {**_PLAIN, "spherical": (_BALL_RPY,), "free": (_FREE_IN_WORLD, _FREE_RPY)},
    angular_first=True,
    free_in_world=True,
)
