"""The parts of a mechanism as plain data: tuples of numbers and names, compared by value.

Nothing is checked here beyond its type; `kinpair.model.build` numbers, checks and freezes.
Every part knows where it was written (`where`, "file:line"), for messages only: two parts that differ
in nothing else are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np

from kinpair.description.actuator_parts import Actuator
from kinpair.spatial.inertia import Inertia, tensor
from kinpair.spatial.pose import Pose
from kinpair.spatial.rotation import (
    IDENTITY,
    ROUNDING,
    clean,
    from_quaternion,
    from_rpy,
    nearest_rotation,
)

Three: TypeAlias = tuple[float, float, float]
Numbers: TypeAlias = tuple[float, ...]
Two: TypeAlias = tuple[str, str]
ByJoint: TypeAlias = tuple[tuple[str, Numbers], ...]  # name of a joint: a number for each coordinate or rate

GROUND = "ground"
GRAVITY: Three = (0.0, 0.0, -9.81)
X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


def _nearest(R: np.ndarray) -> np.ndarray:
    """A rotation matrix as it stands if it is one to rounding, else the nearest one."""
    return R if np.abs(R @ R.T - IDENTITY).max() <= ROUNDING else nearest_rotation(R)


_TURNS: dict[int, Callable[[Numbers], np.ndarray]] = {
    0: lambda turn: IDENTITY,
    3: lambda turn: from_rpy(*turn),
    4: lambda turn: from_quaternion(np.array(turn)),
    9: lambda turn: _nearest(np.array(turn).reshape(3, 3)),
}


@dataclass(frozen=True, slots=True)
class Origin:
    """Place of a frame in another, as it was written.

    `turn` has 0 numbers (not turned), 3 (roll, pitch, yaw about fixed axes), 4 (quaternion x y z w)
    or 9 (rotation matrix by rows).
    """

    xyz: Three = (0.0, 0.0, 0.0)
    turn: Numbers = ()

    def pose(self) -> Pose:
        """Place as matrix and vector; entries off 0 or ±1 by rounding alone are made exact."""
        return Pose(clean(_TURNS[len(self.turn)](self.turn)), np.array(self.xyz))


def three(numbers: Iterable[float]) -> Three:
    """Return three numbers as plain data, without a minus before zero."""
    x, y, z = (float(x) + 0.0 for x in numbers)
    return x, y, z


def origin(pose: Pose) -> Origin:
    """Return a pose as plain data."""
    still = (np.eye(3) == pose.R).all()
    return Origin(three(pose.a), () if still else tuple((pose.R + 0.0).ravel().tolist()))


HERE = Origin()


SIZES = {  # shape: what its size is called, and how many numbers each has
    "box": {"size": 3},
    "sphere": {"radius": 1},
    "cylinder": {"radius": 1, "length": 1},
    "capsule": {"radius": 1, "length": 1},
}


@dataclass(frozen=True, slots=True)
class Shape:
    """Shape of a link: a kind of `SIZES` or "mesh", placed in the link.

    `size` has the numbers in `SIZES`, or is the scale (x, y, z) of the mesh.
    `colour` is red, green, blue and opacity between 0 and 1; empty where none is given.
    """

    kind: str
    size: Numbers
    origin: Origin = Origin()
    mesh: str = ""
    where: str = field(default="", compare=False)
    colour: Numbers = ()


@dataclass(frozen=True, slots=True)
class Link:
    """A rigid body: mass [kg], mass centre [m] in the link frame, inertia [kg m²] about the mass centre.

    `inertia` is (xx, yy, zz, xy, xz, yz), tensor entries (products with their sign as in the matrix),
    in axes of the link.
    """

    name: str
    mass: float = 0.0
    com: Three = (0.0, 0.0, 0.0)
    inertia: tuple[float, float, float, float, float, float] = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    shapes: tuple[Shape, ...] = ()
    where: str = field(default="", compare=False)

    def tensor(self) -> np.ndarray:
        """Inertia tensor (3, 3) about the mass centre [kg m²]."""
        return tensor(self.inertia)

    @classmethod
    def of(cls, name: str, body: Inertia, shapes: Iterable[Shape | None], where: str) -> Link:
        """Return a link with the mass of a body and with shapes; those that are None are left out."""
        x, y, z = np.asarray(body.d, dtype=float).tolist()
        (xx, xy, xz), (_, yy, yz), (*_, zz) = np.asarray(body.I, dtype=float).tolist()
        drawn = tuple(shape for shape in shapes if shape is not None)
        return cls(name, float(body.m), (x, y, z), (xx, yy, zz, xy, xz, yz), drawn, where)


@dataclass(frozen=True, slots=True)
class Mimic:
    """q of this joint = multiplier · q of `joint` + offset, as written in the file."""

    joint: str
    multiplier: float = 1.0
    offset: float = 0.0


@dataclass(frozen=True, slots=True)
class Level:
    """A level of friction that changes [N m] or [N]: `scale` times a formula of t, or times the input of that name."""

    formula: str | Callable[..., Any] = ""
    input: str = ""
    scale: float = 1.0


@dataclass(frozen=True, slots=True)
class Friction:
    """A law of friction in a joint, see `friction_laws.py`: its numbers by key, one for all rates or one a rate; of a
    level that changes a `Level` in the place of the number. A brake has a name of its own."""

    law: str
    numbers: tuple[tuple[str, tuple[float | Level, ...]], ...] = ()
    name: str = ""

    @property
    def fixed(self) -> dict[str, Numbers]:
        """The numbers by key, without levels that change."""
        return {key: tuple(x for x in values if not isinstance(x, Level)) for key, values in self.numbers}


@dataclass(frozen=True, slots=True)
class Joint:
    """A pair that moves link `child` in link `parent`.

    The joint frame sits at `origin` in the parent; the pair moves it; the child link sits at
    `child_origin` in the moved frame (URDF: always there where the moved frame is).
    Tuples of numbers have one entry a degree of freedom, or one for all, or are empty for none.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Origin = Origin()
    child_origin: Origin = Origin()
    axis: Three = Z_AXIS
    axis2: Three | None = None  # second axis of a universal joint; default: perpendicular, see pairs
    pitch: float = 0.0  # helical: advance per radian [m/rad]
    lower: Numbers = ()
    upper: Numbers = ()
    velocity: Numbers = ()  # largest rate
    acceleration: Numbers = ()  # largest derivative of it
    jerk: Numbers = ()  # largest derivative of that
    effort: Numbers = ()  # largest torque or force
    damping: Numbers = ()  # [N m s/rad] or [N s/m]
    friction: Numbers | tuple[Friction, ...] = ()  # Coulomb levels [N m], [N], or laws that add up
    stiffness: Numbers = ()  # [N m/rad] or [N/m]
    rest: Numbers = ()  # coordinate where the spring is slack
    rotor_inertia: float = 0.0  # of the motor, about its own axis [kg m²]
    gear_ratio: float = 1.0  # turns of the motor per turn of the joint
    actuated: bool | None = None  # False: nothing drives it, and it has no input; None: not specified
    start: Numbers = ()  # coordinates at which the mechanism is assembled
    mimic: Mimic | None = None
    compliance: Numbers = ()  # three [rad/(N m)], three [m/N] in joint axes, or one for all; none: it does not yield
    where: str = field(default="", compare=False)
    restitution: float | None = None  # at the limits; None: not specified


@dataclass(frozen=True, slots=True)
class Frame:
    """A named place on a link: tool centre point, sensor, marker."""

    name: str
    link: str
    origin: Origin = Origin()
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Spring:
    """A spring and damper between a point of `parent` and a point of `child`, which are links or frames.

    Tension = stiffness · (length − rest_length) + damping · rate of the length + preload. With `tension_only` it is a
    rope: it never pushes. A `law` (length, rate) → tension takes the place of these numbers; `energy` (length) →
    stored energy says what of its work comes back.
    """

    name: str
    parent: str
    child: str
    xyz: Three = (0.0, 0.0, 0.0)  # in axes of the parent
    child_xyz: Three = (0.0, 0.0, 0.0)  # in axes of the child
    stiffness: float = 0.0  # [N/m]
    damping: float = 0.0  # [N s/m]
    rest_length: float | None = None  # [m]
    preload: float = 0.0  # tension at the rest length [N]
    tension_only: bool = False
    law: Callable[..., Any] | None = None
    energy: Callable[..., Any] | None = None
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Surface:
    """Properties of a contact in addition to geometry; None: not specified.

    Of two geoms the larger number counts; a pair of its own counts before both.
    """

    mu: float | None = None  # sliding friction; 0 where no geom has it
    mu_static: float | None = None  # at rest; that of sliding where it is not specified
    restitution: float | None = None  # normal velocity after an impact by that before it
    torsional: float | None = None  # friction moment about the normal by normal force [m]
    rolling: float | None = None  # friction moment about the tangents by normal force [m]
    stiffness: float | None = None  # of a compliant contact [N/m], [N/m^1.5]; none: rigid
    exponent: float | None = None  # of the overlap: 1 or 1.5
    dissipation: float | None = None  # of Hunt and Crossley [s/m]
    slip_speed: float | None = None  # at which friction of a compliant contact is complete [m/s]


@dataclass(frozen=True, slots=True)
class Contact:
    """A geom: a shape on a link or frame that touches other geoms.

    `shape`: point (), sphere (radius,), capsule and cylinder (radius, length) along z, box (x, y, z) edges, ellipsoid
    (x, y, z) semi-axes, plane (), solid below z = 0, mesh (x, y, z) scale: the convex hull of its vertices, hull (x, y,
    z, x, y, z, ...) of points.
    Two geoms touch if `contype` of one has a bit of `conaffinity` of the other. `dimensions`: 1 without friction, 3
    sliding, 4 and torsional, 6 and rolling; of two geoms the larger counts. A geom of higher `priority` decides alone.
    """

    name: str
    link: str
    shape: str
    size: Numbers = ()
    origin: Origin = HERE
    mesh: str = ""
    surface: Surface = Surface()
    contype: int = 1
    conaffinity: int = 1
    dimensions: int = 6
    priority: int = 0
    convex: bool = field(default=False, compare=False)  # the hull of its mesh is meant, and not reported
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ContactPair:
    """The surface of a pair of geoms, which touch whatever their groups and links are."""

    geoms: Two
    surface: Surface = Surface()
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class ContactExclusion:
    """Two links whose geoms do not touch each other."""

    links: Two
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Contacts:
    """All about contact in a description; `max_contacts` None: four for each geom."""

    geoms: tuple[Contact, ...] = ()
    pairs: tuple[ContactPair, ...] = ()
    exclusions: tuple[ContactExclusion, ...] = ()
    max_contacts: int | None = None


@dataclass(frozen=True, slots=True)
class Keyframe:
    """A state by name: coordinates and rates by joint. A joint that is not named is at its start, and at rest."""

    name: str
    q: ByJoint = ()
    qd: ByJoint = ()
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Description:
    """A whole mechanism as written. `warnings` are sentences about parts that were accepted with a warning."""

    name: str
    links: tuple[Link, ...]
    joints: tuple[Joint, ...]
    frames: tuple[Frame, ...] = ()
    gravity: Three = GRAVITY
    constraints: tuple[Any, ...] = ()  # loops, couplings, ...: the dataclasses of `constraints.py`
    keyframes: tuple[Keyframe, ...] = ()
    springs: tuple[Spring, ...] = ()
    actuators: tuple[Actuator, ...] = ()
    limits: str = ""  # what runs do at the limits of joints, see docs/events.md; "": not specified
    source: str = field(default="", compare=False)
    warnings: tuple[str, ...] = field(default=(), compare=False)
    contacts: Contacts = Contacts()
    gait: tuple[tuple[str, str], ...] = ()  # joint by role, see `gait_roles.py`
    _joints_with: dict[str, tuple[Joint, ...]] = field(
        default_factory=dict[str, tuple[Joint, ...]], init=False, repr=False, compare=False
    )

    def joints_with(self, key: str) -> tuple[Joint, ...]:
        """Joints whose entry `key` is given, found once: most joints of a long chain have none."""
        if key not in self._joints_with:
            self._joints_with[key] = tuple(
                x for x in self.joints if (entry := getattr(x, key)) or entry is False
            )
        return self._joints_with[key]

    def with_gravity(self, gravity: Three) -> Description:
        """Return the mechanism with another gravity.

        Units: gravity [m/s²].
        """
        return replace(self, gravity=gravity)


def without_actuators(description: Description) -> Description:
    """Replace actuators by efforts on the joints; rotors behind rigid gears stay, as parts of the joints.

    The joints stay actuated: what drives a closed mechanism does not change.
    """
    rigid = {x.joint: x for x in description.actuators if "stiffness" not in dict(x.gear)}
    driven = {x.joint for x in description.actuators}
    joints = [_with_rotor(joint, rigid.get(joint.name)) for joint in description.joints]
    marked = (replace(x, actuated=True) if x.name in driven and x.actuated is None else x for x in joints)
    return replace(description, joints=tuple(marked), actuators=())


def _with_rotor(joint: Joint, of: Actuator | None) -> Joint:
    numbers, gear = (dict(of.numbers), dict(of.gear)) if of else ({}, {})
    inertia = numbers.get("rotor_inertia", 0.0) + gear.get("inertia", 0.0)
    if not inertia:
        return joint
    ratio = gear.get("ratio", 1.0) / joint.gear_ratio
    return replace(joint, rotor_inertia=joint.rotor_inertia + ratio * ratio * inertia)


def without_constraints(description: Description) -> Description:
    """The joints alone: no loops, no couplings, no mimic, and no compliance, which only loops need."""
    free = tuple(replace(joint, mimic=None, compliance=()) for joint in description.joints)
    return replace(description, joints=free, constraints=())
