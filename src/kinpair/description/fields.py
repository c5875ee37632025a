"""Values as a person writes them, checked one by one: a number, an angle, three numbers, an axis.

A reader takes a value and its `Place` and gives plain data, or an error that names the place.
TOML files, DH tables and the `Builder` all read through these, so each thing is checked by one function.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from reprlib import repr as shown
from typing import Any

import numpy as np

from kinpair.description.parts import X_AXIS, Y_AXIS, Z_AXIS, Numbers, Origin, Three
from kinpair.description.place import Key, Place, Read, items
from kinpair.errors import listed, nearest
from kinpair.spatial.inertia import Six

ORTHOGONAL = 1e-6  # rows of a rotation matrix may be off by this much
UNIT = 1e-3  # a quaternion off unit length by more than this looks like a slip
SYMMETRIC = 1e-9  # entries of an inertia matrix may differ across the diagonal by this much, relatively


def text(value: object, place: Place) -> str:
    """Check that it is text."""
    if not isinstance(value, str):
        raise place.error(f"is {shown(value)}; give a text in quotes")
    return value


def name(value: object, place: Place) -> str:
    """A text that is not empty."""
    if not text(value, place):
        raise place.error("is empty; give a name")
    return str(value)


def choice(*words: str) -> Read:
    """Check that it is one of the words."""

    def check(value: object, place: Place) -> str:
        if isinstance(value, str) and value in words:
            return value
        hint = nearest(str(value), words)
        raise place.error(f"is {shown(value)}; {hint}give {' or '.join(map(repr, words))}")

    return check


def _real(value: object, place: Place, wanted: str) -> float:
    plain = value.item() if isinstance(value, np.generic) else value
    if isinstance(plain, bool) or not isinstance(plain, (int, float)):
        raise place.error(f"is {shown(value)}; give {wanted}")
    try:
        return float(plain)
    except OverflowError:
        return math.inf if plain > 0 else -math.inf


def number(value: object, place: Place) -> float:
    """A finite number."""
    return _finite(_real(value, place, "a number"), place)


def _finite(x: float, place: Place) -> float:
    if not math.isfinite(x):
        raise place.error(f"is {x}; give a finite number")
    return x


def zero_or_more(value: object, place: Place) -> float:
    """A number that is not negative."""
    if (x := number(value, place)) < 0.0:
        raise place.error(f"is {x:g}; give zero or more")
    return x


def part(value: object, place: Place) -> float:
    """A number from 0 to 1."""
    if not 0.0 <= (x := number(value, place)) <= 1.0:
        raise place.error(f"is {x:g}; give a number from 0 to 1")
    return x


def flag(value: object, place: Place) -> bool:
    """True or false."""
    if not isinstance(value, bool):
        raise place.error(f"is {shown(value)}; give true or false")
    return value


def function(value: object, place: Place) -> Callable[..., Any]:
    """A Python function."""
    if not callable(value):
        raise place.error(f"is {shown(value)}; give a Python function")
    return value


_PI = re.compile(r"\s*([+-]?)\s*(?:(\d+\.?\d*)\s*\*\s*)?(?:pi|π)\s*(?:/\s*(\d+\.?\d*))?\s*")
ANGLE = 'a number of radians, or a fraction of pi such as "pi/2", "-pi" or "2*pi/3"'


def _angle_or_infinity(value: object, place: Place) -> float:
    if not isinstance(value, str):
        return _real(value, place, ANGLE)
    match = _PI.fullmatch(value)
    if match is None or not float(match[3] or 1):
        raise place.error(f"is {shown(value)}; give {ANGLE}")
    return (-1.0 if match[1] == "-" else 1.0) * float(match[2] or 1) * math.pi / float(match[3] or 1)


def angle(value: object, place: Place) -> float:
    """Radians: a finite number, or [-][k*]pi[/m] as text."""
    return _finite(_angle_or_infinity(value, place), place)


def turn_angle(value: object, place: Place) -> float:
    """An angle that places a frame; more than a full turn is probably meant in degrees."""
    x = angle(value, place)
    if abs(x) > 2 * math.pi + 1e-6:
        place.warn(f"is {x:g} rad, more than a full turn; angles are in radians, not degrees")
    return x


def limit(value: object, place: Place) -> float:
    """An angle or a number; inf and -inf mean no limit."""
    x = _angle_or_infinity(value, place)
    if math.isnan(x):
        raise place.error("is nan; give a number, or inf for no limit")
    return x


def counted(count: int, word: str = "number") -> str:
    """`1 number`, `2 numbers`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def several(read: Read, count: int, form: str, word: str = "number") -> Read:
    """A list of exactly `count` entries."""

    def check(value: object, place: Place) -> tuple[Any, ...]:
        entries = items(value)
        if entries is None:
            raise place.error(f"is {shown(value)}; give {form}")
        if len(entries) != count:
            raise place.error(f"has {counted(len(entries), word)}; give {form}")
        return tuple(read(x, place.entry(i)) for i, x in enumerate(entries))

    return check


def one_or_more(read: Read) -> Read:
    """One entry for all degrees of freedom, or a list with one for each."""

    def check(value: object, place: Place) -> tuple[Any, ...]:
        entries = items(value)
        if entries is None:
            return (read(value, place),)
        if not entries:
            raise place.error("is empty; give a number, or a list with one for each degree of freedom")
        return tuple(read(x, place.entry(i)) for i, x in enumerate(entries))

    return check


vector = several(number, 3, "[x, y, z]")
gravity = several(number, 3, "[x, y, z] in m/s², [0, 0, 0] for none")
rpy = several(turn_angle, 3, "[roll, pitch, yaw]")
numbers = one_or_more(number)
positions = one_or_more(angle)
limits = one_or_more(limit)
COMPLIANCE = "six numbers, zero or more: three [rad/(N m)], then three [m/N]; or one for all"


def compliance(value: object, place: Place) -> Numbers:
    """Check how much a part yields to each component of its wrench."""
    x = numbers(value, place)
    if len(x) not in (1, 6) or min(x) < 0.0:
        raise place.error(f"is {shown(value)}; give {COMPLIANCE}")
    if not any(x):
        raise place.error("is zero: a part that does not yield needs no compliance; leave it out")
    return x


_four = several(number, 4, "[x, y, z, w]")
_three_rows = several(several(number, 3, "a row of 3 numbers"), 3, "3 rows of 3 numbers", "row")


def quaternion(value: object, place: Place) -> Numbers:
    """(x, y, z, w), scalar last, of any sensible length."""
    k = _four(value, place)
    length = math.hypot(*k)
    if not 1e-6 < length < 1e6:
        raise place.error(f"has length {length:g}; give [x, y, z, w] of length 1")
    if abs(length - 1.0) > UNIT:
        place.warn(f"has length {length:g}; it was scaled to length 1")
    return k


def rotation_matrix(value: object, place: Place) -> Numbers:
    """Nine numbers by rows, from three rows of three."""
    rows = np.array(_three_rows(value, place))
    with np.errstate(all="ignore"):
        off = float(np.abs(rows @ rows.T - np.eye(3)).max())
    if not off <= ORTHOGONAL:
        raise place.error(
            f"is not a rotation: its rows differ from perpendicular unit vectors by {off:.2g}; "
            f"at most {ORTHOGONAL:g} will do"
        )
    if np.linalg.det(rows) < 0:
        raise place.error("is a reflection, not a rotation; change the sign of one row")
    return tuple(rows.ravel().tolist())


INERTIA = "3 numbers (xx, yy, zz), 6 (xx, yy, zz, xy, xz, yz) or 3 rows of 3"


def inertia(value: object, place: Place) -> Six:
    """(xx, yy, zz, xy, xz, yz), from these six, the first three, or the whole matrix."""
    entries = items(value)
    if entries is None:
        raise place.error(f"is {shown(value)}; give {INERTIA}")
    if len(entries) == 3 and all(items(row) is not None for row in entries):
        return _symmetric(np.array(_three_rows(value, place)), place)
    if len(entries) not in (3, 6):
        raise place.error(f"has {counted(len(entries))}; give {INERTIA}")
    numbers = [number(x, place.entry(i)) for i, x in enumerate(entries)]
    xx, yy, zz, xy, xz, yz = (*numbers, 0.0, 0.0, 0.0)[:6]
    return (xx, yy, zz, xy, xz, yz)


def _symmetric(rows: np.ndarray, place: Place) -> Six:
    for i, j in ((0, 1), (0, 2), (1, 2)):
        if abs(rows[i, j] - rows[j, i]) > SYMMETRIC * np.abs(rows).max():
            raise place.error(
                f"is not symmetric: {rows[i, j]:g} in row {i + 1}, column {j + 1} and "
                f"{rows[j, i]:g} across the diagonal; give the same number twice"
            )
    xx, yy, zz = rows.diagonal().tolist()
    return (xx, yy, zz, float(rows[0, 1]), float(rows[0, 2]), float(rows[1, 2]))


_HALF_AXES = {"x": X_AXIS, "y": Y_AXIS, "z": Z_AXIS}
AXES: dict[str, Three] = {
    **_HALF_AXES,
    **{f"-{word}": (0.0 - x, 0.0 - y, 0.0 - z) for word, (x, y, z) in _HALF_AXES.items()},
}


def axis(value: object, place: Place) -> Three:
    """A direction: "x", "-y" and so on, or three numbers."""
    if items(value) is not None:
        return vector(value, place)
    if isinstance(value, str) and value in AXES:
        return AXES[value]
    raise place.error(f"is {shown(value)}; give {listed(map(repr, AXES))} or [x, y, z]")


TURNS: dict[str, Read] = {"rpy": rpy, "quaternion": quaternion, "matrix": rotation_matrix}
_TURN_NOTES = {"rpy": "rad, about fixed x, y, z", "quaternion": "x, y, z, w", "matrix": "rows"}


def origin_keys(prefix: str = "", note: str = "m") -> dict[str, Key]:
    """The keys that place a frame: xyz and one of rpy, quaternion, matrix, each with the prefix."""
    turns = {prefix + word: Key(read, _TURN_NOTES[word]) for word, read in TURNS.items()}
    return {prefix + "xyz": Key(vector, note), **turns}


def take_origin(values: dict[str, Any], place: Place, prefix: str = "") -> Origin:
    """The frame that checked values place, which are taken out of them."""
    named = [prefix + word for word in TURNS if prefix + word in values]
    if len(named) > 1:
        raise place.error(f"{' and '.join(named)} both turn the same frame; keep one of them")
    xyz: Three = values.pop(prefix + "xyz", (0.0, 0.0, 0.0))
    return Origin(xyz, values.pop(named[0]) if named else ())
