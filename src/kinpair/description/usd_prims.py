"""Prims of a USD stage: their place in the file, values, poses, shapes and masses in SI."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from kinpair.description.mjcf_solids import SOLIDS
from kinpair.description.warning_list import WarningList
from kinpair.errors import DescriptionError, listed
from kinpair.spatial.inertia import Inertia, joined
from kinpair.spatial.pose import HOME, Pose
from kinpair.spatial.rotation import ROUNDING, clean, from_quaternion, nearest_rotation

T = TypeVar("T")
DENSITY = 1000.0  # [kg/m³], where nothing is written
SHEAR = 1e-6
UNIFORM = 1e-6  # scales of round shapes that differ by less are the same
_TURNS = {  # axis of a shape: axes of a frame whose z is that axis
    "X": np.array([[0.0, 0.0, 1.0], [0.0, 1.0, 0.0], [-1.0, 0.0, 0.0]]),
    "Y": np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]),
    "Z": np.eye(3),
}


@dataclass(frozen=True, slots=True)
class Units:
    """Metres and kilograms of a unit of the stage."""

    length: float
    mass: float

    @property
    def inertia(self) -> float:
        """One unit of inertia [kg m²]."""
        return self.mass * self.length * self.length

    def effort(self, kind: str) -> float:
        """One unit of effort along a joint of this kind [N m], [N]."""
        return self.mass * self.length * (self.length if kind == "revolute" else 1.0)


@dataclass(frozen=True, slots=True)
class Prim:
    """A prim, and messages about it with file, line and path; `text` is that of the file, nothing if it has none."""

    prim: Any
    source: str
    text: str
    warnings: WarningList

    @property
    def path(self) -> str:
        """The path of the prim."""
        return str(self.prim.GetPath())

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.prim.GetName()

    @property
    def type(self) -> str:
        """The type of the prim."""
        return self.prim.GetTypeName()

    @property
    def where(self) -> str:
        """Return "file:line"; files that are not text, or that refer to the prim in another file, have no line."""
        line = line_of(self.text, self.path)
        return f"{self.source}:{line}" if line else self.source

    def applied(self, schema: str) -> bool:
        """True if an API schema is applied to the prim."""
        return schema in self.prim.GetAppliedSchemas()

    def value(self, name: str, default: T) -> T:
        """Return an attribute in the form of the default, or the default where nothing is written."""
        attribute = self.prim.GetAttribute(name)
        value = attribute.Get() if attribute else None
        if value is None:
            return default
        form, read = _FORMS[type(default)]
        try:
            result: Any = read(value)
            if not isinstance(default, tuple) or len(result) == len(default):
                return result
        except (TypeError, ValueError, AttributeError):
            pass
        form = form.format(len(default) if isinstance(default, tuple) else "")
        raise self.error(f"has {name} = {str(value)[:40]}; expected {form}", attribute=name)

    def axis(self, name: str, default: str) -> str:
        """Return an axis: X, Y or Z."""
        token = self.value(name, default)
        if token not in _TURNS:
            raise self.error(f"has {name} = {token!r}; axes: {listed(_TURNS)}", attribute=name)
        return token

    def quaternion(self, name: str) -> np.ndarray:
        """Return a quaternion x y z w; that of no turn where all is zero."""
        x = self.value(name, np.zeros(4))
        size = math.sqrt(x @ x)
        return x / size if size else np.array([0.0, 0.0, 0.0, 1.0])

    def targets(self, name: str) -> list[Any]:
        """Return the paths that a relationship names."""
        relationship = self.prim.GetRelationship(name)
        return list(relationship.GetTargets()) if relationship else []

    def limit(self, axis: str) -> tuple[float, float]:
        """Return the limits of an axis of a generic joint; low above high: locked."""
        if not self.applied(f"PhysicsLimitAPI:{axis}"):
            return -math.inf, math.inf
        low, high = (
            self.value(f"limit:{axis}:physics:{end}", x)
            for end, x in (("low", -math.inf), ("high", math.inf))
        )
        return float(low), float(high)

    def drive(self, key: str, default: float) -> float:
        """Return a number of the drive of a joint."""
        for schema in self.prim.GetAppliedSchemas():
            if schema.startswith("PhysicsDriveAPI:"):
                return self.value(f"drive:{schema.partition(':')[2]}:physics:{key}", default)
        return default

    def colour(self) -> tuple[float, ...]:
        """Return red, green, blue and opacity; nothing where none is written."""
        colours = self.value("primvars:displayColor", list[tuple[float, ...]]())
        return (*colours[0], 1.0) if colours and len(colours[0]) == 3 else ()

    def error(self, sentence: str, **parts: object) -> DescriptionError:
        """Return an error about this prim, to be raised."""
        return DescriptionError(f"{self.where}: <{self.path}> {sentence}", prim=self.path, **parts)

    def warn(self, sentence: str, **parts: object) -> None:
        """Warn about this prim."""
        self.warnings.add(f"{self.where}: <{self.path}> {sentence}", prim=self.path, **parts)


def _quaternion(value: Any) -> np.ndarray:
    return np.array([*value.GetImaginary(), value.GetReal()], dtype=float)


def _number(value: Any) -> float:
    if isinstance(value, str):
        raise TypeError
    return float(value)


_FORMS: dict[type, tuple[str, Any]] = {  # form of an attribute: its name in messages, and how it is read
    float: ("a number", _number),
    bool: ("true or false", operator.index),
    str: ("a word", lambda value: value if isinstance(value, str) else value.GetString()),
    tuple: ("{} numbers", lambda value: tuple(map(_number, value))),
    list: ("colours", lambda value: [tuple(map(_number, x)) for x in value]),
    np.ndarray: ("a quaternion", _quaternion),
}


def line_of(text: str, path: str) -> int:
    """Return the line in which a prim begins: each name of its path behind the one before; 0: not in this text."""
    place = 0
    for name in filter(None, path.split("/")):
        begins = re.compile(rf'^[ \t]*(def|over|class)\b[^"\n]*"{re.escape(name)}"', re.MULTILINE).search(
            text, place
        )
        if begins is None:
            return 0
        place = begins.end()
    return text[:place].count("\n") + 1 if text else 0


def placed_pose(prim: Prim, cache: Any, units: Units) -> tuple[Pose, np.ndarray]:
    """Return the pose of a prim in the world [m], and its scale (3,). USD multiplies rows by matrices."""
    matrix = np.array(cache.GetLocalToWorldTransform(prim.prim), dtype=float)
    rows, scale = matrix[:3, :3], np.sqrt((matrix[:3, :3] ** 2).sum(axis=1))
    if not scale.all():
        raise prim.error("has a scale of zero; give it a size")
    R = (rows / scale[:, None]).T
    skewed = np.abs(R.T @ R - np.eye(3)).max()
    if skewed > SHEAR or np.linalg.det(R) < 0.0:
        raise prim.error("is sheared or mirrored, which no rigid body is; apply the transform to its points")
    R = nearest_rotation(R) if skewed > ROUNDING else R
    return Pose(clean(R) + 0.0, units.length * matrix[3, :3] + 0.0), scale


def axis_turn(token: str) -> np.ndarray:
    """Return the axes of a frame whose z is the axis of a round shape."""
    return _TURNS[token]


def solid(prim: Prim, scale: Any, units: Units) -> tuple[str, tuple[float, ...], str] | None:
    """Return the kind of a shape, its size [m] as `Shape` has it, and its axis; None: no shape with a formula."""
    factors = np.ones(3) if scale is HOME else np.asarray(scale)
    along = prim.axis("axis", "Z")
    if prim.type == "Cube":
        x, y, z = (units.length * prim.value("size", 2.0) * factors).tolist()
        return "box", (x, y, z), "Z"
    if prim.type == "Sphere":
        return "sphere", (units.length * prim.value("radius", 1.0) * factors[0],), "Z"
    if prim.type in ("Cylinder", "Capsule"):
        k = "XYZ".index(along)
        radius = units.length * prim.value("radius", 0.5 if prim.type == "Capsule" else 1.0) * factors[k - 1]
        height = prim.value("height", 1.0 if prim.type == "Capsule" else 2.0)
        return prim.type.lower(), (radius, units.length * height * factors[k]), along
    return None


def mass_properties(
    body: Prim, colliders: Sequence[tuple[Prim, tuple[Pose, np.ndarray]]], scale: np.ndarray, units: Units
) -> Inertia:
    """Return the mass of a body: what is written, and the rest from the shapes of its colliders."""
    mass = units.mass * body.value("physics:mass", 0.0)
    diagonal = units.inertia * np.array(body.value("physics:diagonalInertia", (0.0, 0.0, 0.0)), dtype=float)
    centre = np.array(body.value("physics:centerOfMass", (-math.inf,) * 3), dtype=float)
    if mass and diagonal.any():
        R = from_quaternion(body.quaternion("physics:principalAxes"))
        d = units.length * scale * centre if np.isfinite(centre).all() else np.zeros(3)
        return Inertia(mass, d, R @ np.diag(diagonal) @ R.T)
    own = body.value("physics:density", 0.0) * units.mass / units.length**3
    parts = [_collider(x, *place, own, units) for x, place in colliders]
    if not parts:
        if not mass:
            raise body.error("has no mass and no collider; write physics:mass and physics:diagonalInertia")
        body.warn("has a mass, and neither an inertia nor a collider; taken as a point")
        return Inertia(mass, np.zeros(3), np.zeros((3, 3)))
    whole = joined(parts)
    factor = mass / whole.m if mass else 1.0
    return Inertia(factor * whole.m, whole.d, factor * whole.I)


def _collider(prim: Prim, pose: Pose, scale: np.ndarray, density: float, units: Units) -> Inertia:
    shape = solid(prim, scale, units)
    if shape is None:
        raise prim.error(
            f"is a collider of type {prim.type}, from which no mass is computed; write physics:mass and "
            "physics:diagonalInertia of its body"
        )
    kind, size, token = shape
    across = np.delete(scale, "XYZ".index(token)) if kind == "cylinder" else scale
    if kind != "box" and np.ptp(across) > UNIFORM * scale.max():
        raise prim.error("is round and scaled differently by axis; write its radius")
    written = prim.value("physics:density", 0.0) * units.mass / units.length**3
    halves = (
        size if kind == "sphere" else (size[0], size[1] / 2) if len(size) == 2 else tuple(x / 2 for x in size)
    )
    volume, moments = SOLIDS[kind][1](*halves)
    rho = written or density or DENSITY
    own = units.mass * prim.value("physics:mass", 0.0)
    factor = own / volume if own else rho
    return Inertia(factor * volume, np.zeros(3), factor * np.diag(moments)).moved(
        pose.R @ _TURNS[token], pose.a
    )
