"""The numbered mechanism.

Body 0 is the ground; every other body i is moved in its parent by pair i, and parent[i] < i. The frame of
a body is the moved frame of its pair, so the joint point is its origin O_i and the pair's axis is a
standard one. Links and frames of the description are places on these bodies. Coordinates follow the
order of the joints in the description, whatever the numbers of the bodies.

The tuples of a model as arrays, for code that reads all bodies of a long mechanism at once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, same_objects
from kinpair.errors import InputError, listed, nearest

if TYPE_CHECKING:
    from kinpair.description.parts import Description
    from kinpair.model.actuator_data import ActuatorData
    from kinpair.pairs import Pair
    from kinpair.spatial.pose import Pose


@dataclass(frozen=True, slots=True)
class Signal:
    """Factor of a number of the description: `function` of t [s], or the input named; `text` identifies it."""

    text: str
    function: Callable[[Any], Any] | None = None
    input: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Numbering:
    """Numbers by body, index 0 the ground's, and by place; `which` numbers objects as `same_objects` does."""

    parent: np.ndarray
    q_start: np.ndarray
    v_start: np.ndarray
    which: np.ndarray
    chosen: tuple[int, ...]
    place_body: np.ndarray
    pose_which: np.ndarray
    poses: tuple[Any, ...]


def numbering(
    parent: Sequence[int],
    q_span: Sequence[slice],
    v_span: Sequence[slice],
    body: Sequence[Any],
    places: Mapping[str, Any],
) -> Numbering:
    """Read the tuples of a model once."""
    which, chosen = same_objects(body)
    poses = [place.pose for place in places.values()]
    pose_which, first = same_objects(poses)
    return Numbering(
        np.array(parent, dtype=np.int64),
        _numbers([span.start for span in q_span]),
        _numbers([span.start for span in v_span]),
        which,
        tuple(chosen),
        _numbers([place.body for place in places.values()]),
        pose_which,
        tuple(poses[i] for i in first),
    )


def _numbers(x: list[int]) -> np.ndarray:
    return np.array(x, dtype=np.int64)


Terms: TypeAlias = Callable[[Vector, Vector, Scalar], tuple[Matrix, Vector]]
T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Body:
    """The constants of a moving body, as a step of a recursion sees them: nothing says which body it is."""

    pair: Pair
    R_seat: Matrix  # axes of the pair's seat, in axes of the parent
    a_seat: Vector  # O_parent → seat, in axes of the parent
    r_seat: Vector  # C_parent → seat, in axes of the parent
    m: Scalar
    d: Vector  # O_i → C_i
    I: Matrix  # about C_i, in axes of the body
    s: Vector  # first moment m d
    J: Matrix  # about O_i, in axes of the body
    rotor: Vector  # rotor inertia as felt at the joint: (gear ratio)² · rotor inertia, one a degree


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A frame fixed on a body."""

    body: int
    pose: Pose


@dataclass(frozen=True, slots=True, eq=False)
class JointData:
    """Data of the joints, forces and limits: arrays over the rates (nv) or coordinates (nq)."""

    damping: np.ndarray  # (nv)
    friction: np.ndarray  # (nv) Coulomb levels that are the same in both directions
    stiffness: np.ndarray  # (nv)
    rest: np.ndarray  # (nv)
    spring_q: np.ndarray  # (nv) index of the coordinate a spring acts on, where stiffness is not zero
    effort: np.ndarray  # (nv) inf where none is given
    velocity: np.ndarray  # (nv)
    acceleration: np.ndarray  # (nv)
    jerk: np.ndarray  # (nv)
    lower: np.ndarray  # (nq) −inf where none is given
    upper: np.ndarray  # (nq)


@dataclass(frozen=True, slots=True, eq=False)
class SpringData:
    """A spring and damper between two points, which are the origins of two places; or a law of length and rate."""

    name: str
    parent: Place
    child: Place
    stiffness: Scalar
    damping: Scalar
    rest_length: Scalar
    preload: Scalar
    tension_only: bool
    law: Callable[..., Any] | None
    energy: Callable[..., Any] | None


@dataclass(frozen=True, slots=True, eq=False)
class FrictionData:
    """A law of friction on one rate, see `kinpair.description.friction_laws`: its numbers by key."""

    name: str
    v: int
    body: int
    law: str
    numbers: Mapping[str, Scalar]
    signals: Mapping[str, Signal] = field(default_factory=dict[str, Signal])  # of levels that change, by key

    @property
    def is_power(self) -> bool:
        """True if viscous friction grows with a power of the speed."""
        return self.law == "viscous" and "exponent" in self.numbers


@dataclass(frozen=True, slots=True, eq=False)
class SurfaceData:
    """A law of friction from load in the joint of a body, see `kinpair.friction.surfaces`: its numbers by key."""

    name: str
    body: int
    law: str
    numbers: Mapping[str, Scalar]
    signals: Mapping[str, Signal] = field(
        default_factory=dict[str, Signal]
    )  # of coefficients that change, by key


@dataclass(frozen=True, slots=True)
class Options:
    """Options by which a description became a model."""

    snap: float = 0.0
    merge_fixed: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Model:
    """A numbered mechanism; see the head of this file. Index 0 of every tuple belongs to the ground."""

    name: str
    names: tuple[str, ...]  # of the bodies: the link each joint moves
    joint_names: tuple[str, ...]  # of the pair that moves the body
    parent: tuple[int, ...]
    body: tuple[Body, ...]
    q_span: tuple[slice, ...]
    v_span: tuple[slice, ...]
    R_joint: tuple[Matrix, ...]  # axes of the joint frame as described, in axes of the seat
    places: Mapping[str, Place]  # links and frames by name
    gravity: Vector
    lean_body: Callable[
        [], tuple[Body, ...]
    ]  # bodies with fewer numbers, for efforts and accelerations alone
    joints: JointData
    q_names: tuple[str, ...]
    v_names: tuple[str, ...]
    description: Description
    warnings: tuple[str, ...]
    options: Options
    springs: tuple[SpringData, ...] = ()  # between points
    frictions: tuple[FrictionData, ...] = ()  # in joints
    surfaces: tuple[SurfaceData, ...] = ()  # in joints, with friction from load
    slip: Any = None  # how each rate slides, see `kinpair.model.slip`; None: as its sign says
    actuators: tuple[ActuatorData, ...] = ()
    pads: tuple[Any, ...] = ()  # compliant contacts, see `contact_pads.py`
    contacts: Any = None  # geoms and pairs, see `contact_data.py`; None: nothing touches
    added: tuple[Any, ...] = ()  # elements that act beside those of the description, see `kinpair.forces`
    time: Any = 0.0  # [s] at which functions of time are evaluated, where a quantity takes it, see `Quantity`
    walker: Any = None  # who takes the steps of a recursion; None: one body after the other
    terms: Terms | None = None  # M and F of a system given by its energy; None: they come from the bodies
    singular_mass: bool = False  # M has no inverse: the constraints lend it one, see `constrained.free_terms`
    _cache: dict[str, Any] = field(default_factory=dict[str, Any], init=False, repr=False)

    def once(self, name: str, make: Callable[[], T]) -> T:
        """Value that packages further on make of this model, made when first asked for and kept with it."""
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.q_names)

    @property
    def nv(self) -> int:
        """Number of rates: degrees of freedom of the tree."""
        return len(self.v_names)

    @property
    def moving(self) -> range:
        """Numbers of the moving bodies, parents before children."""
        return range(1, len(self.names))

    @property
    def lean(self) -> Model:
        """Return a model of equal motion with fewer numbers, see `lean.py`; its reactions, energies and mass centres
        are not.

        With a walker it is the model itself: along a chain the regrouped masses add up, so that equal links would have
        different numbers, and large ones.
        """
        return self if self.walker else replace(self, body=self.lean_body())

    @property
    def numbering(self) -> Numbering:
        """Parents, spans and places as arrays, and which bodies are one object, as equal links of a chain are."""
        return self.once(
            "numbering", lambda: numbering(self.parent, self.q_span, self.v_span, self.body, self.places)
        )

    @property
    def different(self) -> tuple[np.ndarray, tuple[int, ...]]:
        """Number of each body by the object it is (n + 1,), and the first body of each, see `same_objects`."""
        return self.numbering.which, self.numbering.chosen

    def walked_by(self, walker: Any) -> Model:
        """Return the model whose recursions `walker` takes."""
        walked = replace(self, walker=walker)
        walked.once("numbering", lambda: self.numbering)
        return walked

    @property
    def carried(self) -> list[int]:
        """Numbers of the bodies that some joint can move: not those welded to the ground, were they kept apart."""
        if all(self.body[i].pair.nv for i in self.numbering.chosen if i):
            return list(self.moving)
        moves = [False] * len(self.parent)
        for i in self.moving:
            moves[i] = moves[self.parent[i]] or self.body[i].pair.nv > 0
        return [i for i in self.moving if moves[i]]

    @property
    def in_order(self) -> list[int]:
        """Numbers of the bodies whose pair moves, in the order of the coordinates."""
        x = self.numbering
        moves = np.array([i > 0 and self.body[i].pair.nv > 0 for i in x.chosen])[x.which]
        numbers = np.flatnonzero(moves)
        return numbers[np.argsort(x.v_start[numbers], kind="stable")].tolist()

    def __reduce__(self) -> Any:
        """A model travels as its description, with the elements that were added."""
        from kinpair.model.build import rebuilt

        return rebuilt, (self.description, self.options, self.added)

    def path_to_ground(self, i: int) -> list[int]:
        """i, its parent, ... down to the body on the ground."""
        path: list[int] = []
        while i:
            path.append(i)
            i = self.parent[i]
        return path

    def place(self, name: str) -> Place:
        """The link or frame of that name."""
        if isinstance(name, str) and name in self.places:  # type: ignore[redundant-expr]
            return self.places[name]
        raise InputError(
            f"{self.name}: no link or frame {name!r}; {nearest(str(name), self.places)}"
            f"Links and frames: {listed(self.places)}",
            frame=name,
        )

    def neutral(self) -> np.ndarray:
        """The coordinates at which every pair sits in its seat: zeros and unit quaternions."""
        q = np.zeros(self.nq)
        for i in self.moving:
            q[self.q_span[i]] = self.body[i].pair.neutral()
        return q
