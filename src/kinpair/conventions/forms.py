"""Places of the joints in an engine's vectors, and their forms there: coordinates, and their rates as v = T(q) q̇."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array, assemble
from kinpair.errors import InputError, listed, nearest
from kinpair.pairs import PAIRS
from kinpair.spatial.rotation import cross, from_quaternion, quaternion_exp, quaternion_product

_WXYZ = [3, 0, 1, 2]  # from x y z w
_XYZW = [1, 2, 3, 0]  # from w x y z
_UPPER, _LOWER = slice(0, 3), slice(3, 6)
_SWAP = np.eye(6)[[3, 4, 5, 0, 1, 2]]
_MUJOCO_SIZES = {0: (7, 6), 1: (4, 3), 2: (1, 1), 3: (1, 1)}  # free, ball, slide, hinge: coordinates, rates


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


class Slot(NamedTuple):
    """Place where a joint starts among the coordinates and among the rates, and how many it has of each."""

    q: int
    nq: int
    v: int
    nv: int

    def before(self, other: Slot) -> bool:
        """True if the other starts where this one ends."""
        return (self.q + self.nq, self.v + self.nv) == (other.q, other.v)

    def joined(self, other: Slot) -> Slot:
        """Join this place and the next one."""
        return Slot(self.q, self.nq + other.nq, self.v, self.nv + other.nv)


@dataclass(frozen=True, slots=True)
class Layout:
    """The slots of an engine's moving joints, by name."""

    slots: Mapping[str, Slot]


def pinocchio_layout(model: Any, names: Mapping[str, str] | None = None) -> Layout:
    """The layout of a `pinocchio.Model`; `names` maps its joints to ours where they differ."""
    slots = map(Slot, model.idx_qs, model.nqs, model.idx_vs, model.nvs)
    return _layout("Pinocchio", zip(model.names, slots, strict=True), names or {})


def mujoco_layout(model: Any, names: Mapping[str, str] | None = None) -> Layout:
    """The layout of a `mujoco.MjModel`; its joint k goes by `joint k` if it has no name.

    Several joints side by side that are one of ours get the same name: names={"j_TX": "j", "j_TY": "j", ...}.
    """
    rows = (
        (model.joint(k).name or f"joint {k}", int(model.jnt_qposadr[k]), int(model.jnt_dofadr[k]), size)
        for k, size in enumerate(_MUJOCO_SIZES[int(kind)] for kind in model.jnt_type)
    )
    return _layout("MuJoCo", ((name, Slot(q, nq, v, nv)) for name, q, v, (nq, nv) in rows), names or {})


def drake_layout(plant: Any, names: Mapping[str, str] | None = None) -> Layout:
    """The layout of a finalized Drake `MultibodyPlant` that holds this one mechanism."""
    joints = [plant.get_joint(index) for index in plant.GetJointIndices()]
    slots = (
        Slot(j.position_start(), j.num_positions(), j.velocity_start(), j.num_velocities()) for j in joints
    )
    return _layout("Drake", zip((j.name() for j in joints), slots, strict=True), names or {})


def _layout(engine: str, rows: Iterable[tuple[str, Slot]], names: Mapping[str, str]) -> Layout:
    """Joints that move, by the names they have here."""
    moving = [(name, Slot(*map(int, slot))) for name, slot in rows if slot.nv]
    known = [name for name, _ in moving]
    for name in names:
        if name not in known:
            raise InputError(
                f"names: {engine} has no moving joint {name!r}; {nearest(name, known)}"
                f"Its joints: {listed(known)}",
                joint=name,
            )
    slots: dict[str, Slot] = {}
    for name, slot in moving:
        ours = names.get(name, name)
        if ours in slots and not (name in names and slots[ours].before(slot)):
            raise InputError(
                f"{engine} has more than one joint for {ours!r}, here {name!r}; give each a name of its own "
                "by names={theirs: ours}. Several make one if they stand side by side and names says so",
                joint=ours,
            )
        slots[ours] = slots[ours].joined(slot) if ours in slots else slot
    return Layout(MappingProxyType(slots))
