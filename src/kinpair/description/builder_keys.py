"""The keys that the `Builder` and `kinpair.constraint` take, with their types; their meaning is in docs/toml.md.

Constraints as they are written in Python: the words and keys of a TOML file, as functions. Each function only says what
was given. `kinpair.constraint` makes a part of it, the `Builder` collects it. Both read it by the tables of
`constraint_schema`, as a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, TypedDict, Unpack

import numpy as np

from kinpair.description.constraint_parts import Formula

List: TypeAlias = Sequence[float] | np.ndarray
Matrix: TypeAlias = Sequence[Sequence[float]] | np.ndarray
Angles: TypeAlias = Sequence[float | str] | np.ndarray
Each: TypeAlias = float | List
EachAngle: TypeAlias = float | str | Angles
Text: TypeAlias = Formula | float


class Turned(TypedDict, total=False):
    """Keys that place a frame."""

    xyz: List
    rpy: Angles
    quaternion: List
    matrix: Matrix


class TurnedInChild(TypedDict, total=False):
    """Keys that place a frame in the child."""

    child_xyz: List
    child_rpy: Angles
    child_quaternion: List
    child_matrix: Matrix


class TurnedInBoth(Turned, TurnedInChild, total=False):
    """Keys that place a frame in the parent, and one in the child."""


class LinkKeys(TypedDict, total=False):
    """Keys of a link other than its name."""

    mass: float
    com: List
    inertia: List | Matrix
    inertia_about: str
    visual: Sequence[Mapping[str, object]]


class JointNumbers(TypedDict, total=False):
    """Keys of a joint other than names and places."""

    axis: str | List
    axis2: str | List
    pitch: float
    lower: EachAngle
    upper: EachAngle
    restitution: float
    velocity: Each
    acceleration: Each
    jerk: Each
    effort: Each
    damping: Each
    friction: Each | Mapping[str, object] | Sequence[Mapping[str, object]]
    stiffness: Each
    rest: EachAngle
    compliance: Each
    rotor_inertia: float
    gear_ratio: float
    actuated: bool
    start: EachAngle


class JointKeys(JointNumbers, TurnedInBoth, total=False):
    """Keys of a joint other than name, kind, parent and child."""

    mimic: Mapping[str, object]


class ChainKeys(JointNumbers, Turned, total=False):
    """Keys of a chain other than name, n, length and mass."""

    joint: str
    parent: str
    direction: str
    radius: float


class CopyKeys(Turned, total=False):
    """Keys of copies other than the part and their number."""

    onto: str


class SpringKeys(TypedDict, total=False):
    """Keys of a spring other than name, parent and child."""

    xyz: List
    child_xyz: List
    stiffness: float
    damping: float
    rest_length: float
    preload: float
    tension_only: bool
    law: Callable[[Any, Any], Any]
    energy: Callable[[Any], Any]


class KeyframeKeys(TypedDict, total=False):
    """Keys of a keyframe other than its name: numbers by the names of joints."""

    q: Mapping[str, EachAngle]
    qd: Mapping[str, Each]


class LoopKeys(TurnedInBoth, total=False):
    """Keys of a loop other than name, kind, parent and child."""

    axis: str | List
    axis2: str | List
    pitch: float
    compliance: Each
    friction: Each | Mapping[str, object] | Sequence[Mapping[str, object]]
    damping: Each
    stiffness: Each
    rest: Each
    lower: Each
    upper: Each
    start: Each


class ClutchKeys(TurnedInBoth, total=False):
    """Keys of a clutch next to its name."""

    joints: Sequence[str]
    ratio: float
    slides: bool
    links: Sequence[str]
    axis: str | List
    level: object
    level_static: object
    level_negative: object
    viscous: float


class BrakeKeys(TypedDict, total=False):
    """Keys of a brake next to its name, joint and level."""

    level_static: object
    level_negative: object
    viscous: float


class StopKeys(TurnedInBoth, total=False):
    """Keys of a stop next to its name."""

    joint: str
    slides: bool
    links: Sequence[str]
    axis: str | List
    lower: float
    upper: float
    start: float
    restitution: float
    mu: float
    mu_static: float


class DistanceKeys(TurnedInBoth, total=False):
    """Keys of a rod other than name, parent, child and length."""

    compliance: Each


class CouplingKeys(TypedDict, total=False):
    """Keys of a coupling other than its name and the coordinate that follows."""

    follows: str
    ratio: float
    terms: Sequence[Mapping[str, object]]
    offset: float | str


class SurfaceKeys(TurnedInBoth, total=False):
    """Keys of a point on a surface or curve other than its name and child; one of the six says which."""

    parent: str
    formula: Text
    formulas: Sequence[Text]
    plane: bool
    sphere: float
    cylinder: float
    circle: float


class RollingKeys(TurnedInBoth, total=False):
    """Keys of rolling other than name, child and shape."""

    parent: str
    radius: float
    size: Each
    axis: str | List
    rollers: float | str
    normal: bool


class KnifeEdgeKeys(TurnedInChild, total=False):
    """Keys of a knife edge other than its name and child."""

    parent: str
    axis: str | List


class GuideKeys(TurnedInChild, total=False):
    """Keys of a guided frame other than its name and child."""

    parent: str
    xyz: Sequence[Text]
    rpy: Sequence[Text]


class MomentumKeys(TypedDict, total=False):
    """Keys of a momentum other than its name and part."""

    axis: str | List
    value: float


class MaterialKeys(TypedDict, total=False):
    """Keys of the surface of a geom or of a pair of geoms."""

    mu: float
    mu_static: float
    restitution: float
    torsional: float
    rolling: float
    stiffness: float
    exponent: float
    dissipation: float
    slip_speed: float


class ContactKeys(Turned, MaterialKeys, total=False):
    """Keys of a geom other than its name and link."""

    point: bool
    sphere: float
    capsule: List
    box: List
    cylinder: List
    ellipsoid: List
    plane: bool
    mesh: str
    hull: Matrix
    scale: List
    contype: int
    conaffinity: int
    dimensions: int
    priority: int


Rows: TypeAlias = Formula | Sequence[str]


class Call(NamedTuple):
    """A kind of constraint by its word in a file, and the keys given."""

    word: str
    keys: Mapping[str, object]


def stated_keys(keys: Mapping[str, object], **first: object) -> dict[str, object]:
    """The keys without those that are None."""
    return {key: value for key, value in {**first, **keys}.items() if value is not None}


def loop(name: str, kind: str, parent: str, child: str, **keys: Unpack[LoopKeys]) -> Call:
    """Return a pair that closes a loop: `child` moves in `parent` as this kind of joint allows.

    Kind "pin" holds a point of the child on the axis: two rows, the pin of a plane linkage. With `friction` or another
    key of a joint, a loop of a file or a Builder has a coordinate of its own, under its name.
    """
    return Call("loop", stated_keys(keys, name=name, kind=kind, parent=parent, child=child))


def coupling(name: str, joint: str, **keys: Unpack[CouplingKeys]) -> Call:
    """A coordinate that follows another one, or several."""
    return Call("coupling", stated_keys(keys, name=name, joint=joint))


def distance(name: str, parent: str, child: str, length: Text, **keys: Unpack[DistanceKeys]) -> Call:
    """A massless rod of this length [m], a number or a formula in t, between two points."""
    return Call("distance", stated_keys(keys, name=name, parent=parent, child=child, length=length))


def surface(name: str, child: str, **keys: Unpack[SurfaceKeys]) -> Call:
    """A point of `child` stays on a surface or curve that is fixed in `parent`, the ground by default."""
    return Call("surface", stated_keys(keys, name=name, child=child))


def rolling(name: str, child: str, shape: Formula, **keys: Unpack[RollingKeys]) -> Call:
    """A surface of `child` rolls without slipping on a plane of `parent`, the ground by default."""
    return Call("rolling", stated_keys(keys, name=name, child=child, shape=shape))


def knife_edge(name: str, child: str, **keys: Unpack[KnifeEdgeKeys]) -> Call:
    """A point of `child` does not move along `axis`, which is fixed in `child`."""
    return Call("knife_edge", stated_keys(keys, name=name, child=child))


def drive(name: str, joint: str, motion: Text) -> Call:
    """A coordinate is a given function of time."""
    return Call("drive", stated_keys({}, name=name, joint=joint, motion=motion))


def guide(name: str, child: str, **keys: Unpack[GuideKeys]) -> Call:
    """A frame on `child` is moved in `parent`, the ground by default, by given functions of time."""
    return Call("guide", stated_keys(keys, name=name, child=child))


def momentum(name: str, part: str, **keys: Unpack[MomentumKeys]) -> Call:
    """The `angular` or `linear` momentum along `axis` keeps its value."""
    return Call("momentum", stated_keys(keys, name=name, part=part))


def custom(
    name: str,
    *,
    phi: Rows | None = None,
    psi: Rows | None = None,
    A: Callable[..., Any] | None = None,
    a: Callable[..., Any] | None = None,
) -> Call:
    """Rows by functions: phi(q, t) = 0, psi(q, qd, t) = 0, or A(q, t) q̇ + a(q, t) = 0; phi and psi also by formulas."""
    return Call("custom", stated_keys({}, name=name, phi=phi, psi=psi, A=A, a=a))
