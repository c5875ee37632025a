"""Serial arms from tables of Denavit and Hartenberg, see docs/dh.md.

    standard    T = Rot_z(θ) Trans_z(d) Trans_x(a) Rot_x(α)
    modified    T = Rot_x(α) Trans_x(a) Rot_z(θ) Trans_z(d)

q is added to θ of a revolute row and to d of a prismatic one.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from kinpair.description import fields as f
from kinpair.description.builder_keys import List, Rows
from kinpair.description.files import read_text
from kinpair.description.parts import GRAVITY, GROUND, Description, Joint, Link, Numbers, Origin
from kinpair.description.place import Key, Place, Schema, checked, known, numbered, tables
from kinpair.description.schema import JOINT, LINK, distinct, link_of
from kinpair.description.warning_list import WarningList

Chain: TypeAlias = tuple[list[Link], list[Joint]]

HERE = Origin()


@dataclass(frozen=True, slots=True)
class DHRow:
    """A joint and the link it moves: lengths [m], angles [rad], mass centre and inertia in frame i."""

    alpha: float | str = 0.0
    a: float = 0.0
    d: float = 0.0
    theta: float | str = 0.0
    kind: str = "revolute"
    mass: float = 0.0
    com: List = (0.0, 0.0, 0.0)
    inertia: List | Rows = (0.0, 0.0, 0.0)
    inertia_about: str = "com"
    name: str = ""  # of the joint; default joint1, joint2, ...
    link: str = ""  # default link1, link2, ...
    lower: float | str | None = None
    upper: float | str | None = None
    velocity: float | None = None
    effort: float | None = None
    damping: float | None = None
    friction: float | None = None
    rotor_inertia: float = 0.0
    gear_ratio: float = 1.0


def dh_description(
    rows: Sequence[DHRow],
    *,
    convention: str,
    name: str = "arm",
    gravity: List = GRAVITY,
    base: Origin = HERE,
) -> Description:
    """A serial arm; frame 0 sits at `base` in the world.

    Units: lengths [m], angles [rad], gravity [m/s²].
    """
    place = Place(WarningList())
    places = [Place(place.warnings, part=f"row {i + 1}") for i in range(len(rows))]
    values = [_row(_keys(row), there) for row, there in zip(rows, places, strict=True)]
    links, joints = _chain(values, places, _convention(convention, place.at("convention")), base)
    return Description(
        name,
        distinct("link", links),
        distinct("joint", joints),
        gravity=f.gravity(gravity, place.at("gravity")),
        warnings=tuple(place.warnings.sentences),
    )


def _keys(row: DHRow) -> dict[str, object]:
    values = {field: getattr(row, field.name) for field in fields(row)}
    return {field.name: value for field, value in values.items() if value is not field.default}


def dh_parts(keys: Mapping[str, object], lines: Sequence[int], place: Place) -> Chain:
    """Links and joints of the table [dh] of a TOML file, whose rows start at these lines."""
    there = Place(place.warnings, place.where, "dh")
    table = checked(keys, DH, there)
    base = f.take_origin(table, there, "base_")
    default = {key: table[key] for key in ("inertia_about",) if key in table}
    places = numbered("row", table["row"], lines, place)
    values = [default | _row(row, there) for row, there in zip(table["row"], places, strict=True)]
    return _chain(values, places, table["convention"], base)


def _degrees(value: object, place: Place) -> float:
    return math.radians(f.number(value, place))


def _row(keys: Mapping[str, object], place: Place, schema: Schema | None = None) -> dict[str, Any]:
    return _angles(checked(keys, schema or ROW, place), place)


def _angles(values: dict[str, Any], place: Place) -> dict[str, Any]:
    for key in ("alpha", "theta"):
        if key in values and f"{key}_deg" in values:
            raise place.error(f"{key} and {key}_deg are the same angle; keep one of them")
        values[key] = values.pop(f"{key}_deg", values.get(key, 0.0))
    return values


def _standard(alpha: float, a: float, d: float, theta: float) -> tuple[Origin, Origin]:
    return _placed(0.0, 0.0, yaw=theta), _placed(a, d, roll=alpha)


def _modified(alpha: float, a: float, d: float, theta: float) -> tuple[Origin, Origin]:
    return _placed(a, 0.0, roll=alpha), _placed(0.0, d, yaw=theta)


def _placed(x: float, z: float, *, roll: float = 0.0, yaw: float = 0.0) -> Origin:
    turn: Numbers = (roll, 0.0, yaw) if roll or yaw else ()
    return Origin((x, 0.0, z), turn)


Convention: TypeAlias = Callable[[float, float, float, float], tuple[Origin, Origin]]
CONVENTIONS: dict[str, Convention] = {"standard": _standard, "modified": _modified}


def _convention(value: object, place: Place) -> Convention:
    return CONVENTIONS[f.choice(*CONVENTIONS)(value, place)]


_OF_LINK = ("mass", "com", "inertia", "inertia_about")
_OF_JOINT = ("lower", "upper", "velocity", "effort", "damping", "friction", "rotor_inertia", "gear_ratio")

ROW: dict[str, Key] = {
    "alpha": Key(f.turn_angle, "rad"),
    "alpha_deg": Key(_degrees, "degrees"),
    "a": Key(f.number, "m"),
    "d": Key(f.number, "m"),
    "theta": Key(f.turn_angle, "rad"),
    "theta_deg": Key(_degrees, "degrees"),
    "kind": Key(f.choice("revolute", "prismatic")),
    "name": Key(f.name),
    "link": Key(f.name),
    **{key: LINK[key] for key in _OF_LINK},
    **{key: JOINT[key] for key in _OF_JOINT},
}

DH: dict[str, Key] = {
    "convention": Key(_convention, needs='"standard" or "modified"'),
    "inertia_about": LINK["inertia_about"],
    **f.origin_keys("base_", "m, frame 0 in the world"),
    "row": Key(
        lambda value, place: tables(value, place.at("dh.row")), needs="a table [[dh.row]] for each joint"
    ),
}


def _chain(
    rows: Sequence[dict[str, Any]], places: Sequence[Place], convention: Convention, base: Origin
) -> Chain:
    """The parts of a serial arm; the rows hang one on the other, the first on the ground."""
    links: list[Link] = []
    joints: list[Joint] = []
    for i, (row, place) in enumerate(zip(rows, places, strict=True)):
        outer, inner = convention(row["alpha"], row.get("a", 0.0), row.get("d", 0.0), row["theta"])
        link = {"name": row.get("link", f"link{i + 1}"), **_picked(row, _OF_LINK)}
        joint = Joint(
            row.get("name", f"joint{i + 1}"),
            row.get("kind", "revolute"),
            links[-1].name if links else GROUND,
            link["name"],
            outer if links else _on(base, outer),
            inner,
            **_picked(row, _OF_JOINT),
            where=place.where,
        )
        links.append(link_of(link, place))
        joints.append(joint)
    return links, joints


def _picked(row: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: row[key] for key in keys if key in row}


def _on(base: Origin, origin: Origin) -> Origin:
    """Place of what sits at `origin` in a frame that sits at `base`."""
    if base == HERE:
        return origin
    pose = base.pose() @ origin.pose()
    x, y, z = pose.a.tolist()
    return Origin((x, y, z), tuple(pose.R.ravel().tolist()))


# tables as CSV

_SPREAD = {"com": ("com_x", "com_y", "com_z"), "inertia": ("Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")}
_WORDS = ("name", "link", "kind", "inertia_about")
COLUMNS: dict[str, Key] = {
    **{key: rule for key, rule in ROW.items() if key not in _SPREAD},
    **{column: Key(f.number) for columns in _SPREAD.values() for column in columns},
}
_CONVENTION_LINE = re.compile(r"#\s*convention\s*[:=]\s*(.*)", re.IGNORECASE)
_PADDING = "\"',; \t"  # what spreadsheets put around a line of comment


def read_dh_csv(path: str | os.PathLike[str], *, warnings: WarningList) -> Description:
    """The arm in a CSV file with one row a joint."""
    return parse_dh_csv(read_text(path), source=str(path), warnings=warnings)


def parse_dh_csv(text: str, *, source: str, warnings: WarningList) -> Description:
    """The arm in a CSV text; `source` is its name in messages."""
    place = Place(warnings, source)
    lines = [(n, line.strip()) for n, line in enumerate(text.splitlines(), 1) if line.strip(_PADDING)]
    comments = [(n, line.strip(_PADDING)) for n, line in lines if line.lstrip(_PADDING).startswith("#")]
    skipped = {n for n, _ in comments}
    cells = [(n, _cells(line, n, place)) for n, line in lines if n not in skipped]
    if len(cells) < 2:
        raise place.error("has no rows; give a line of column names, then a line for each joint")
    convention = _csv_convention(comments, place)
    header = _header(cells[0][1], Place(warnings, f"{source}:{cells[0][0]}"))
    places = [Place(warnings, f"{source}:{n}", f"row {i + 1}") for i, (n, _) in enumerate(cells[1:])]
    rows = [_csv_row(header, row, there) for (_, row), there in zip(cells[1:], places, strict=True)]
    links, joints = _chain(rows, places, convention, HERE)
    return Description(
        Path(source).stem,
        distinct("link", links),
        distinct("joint", joints),
        source=source,
        warnings=tuple(warnings.sentences),
    )


def _cells(line: str, n: int, place: Place) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([line], skipinitialspace=True, strict=True))]
    except csv.Error as reason:
        raise Place(place.warnings, f"{place.where}:{n}").error(f"is not CSV: {reason}") from None


def _csv_convention(comments: Sequence[tuple[int, str]], place: Place) -> Convention:
    for n, line in comments:
        if match := _CONVENTION_LINE.fullmatch(line):
            word = match[1].strip()
            there = Place(place.warnings, f"{place.where}:{n}", key="convention")
            return _convention(word.lower() if word.lower() in CONVENTIONS else word, there)
    place.warn("does not say its convention; read as standard, write '# convention: standard' on top")
    return CONVENTIONS["standard"]


def _header(columns: list[str], place: Place) -> list[str]:
    while columns and not columns[-1]:
        columns = columns[:-1]
    known(columns, COLUMNS, place, "column")
    if twice := [column for i, column in enumerate(columns) if column in columns[:i]]:
        raise place.error(f"column {twice[0]!r} is there twice; keep one")
    return columns


def _csv_row(header: list[str], cells: list[str], place: Place) -> dict[str, Any]:
    while len(cells) > len(header) and not cells[-1]:
        cells = cells[:-1]
    if len(cells) != len(header):
        raise place.error(f"has {f.counted(len(cells), 'cell')}; give {len(header)}, one for each column")
    filled = {key: _value(key, cell) for key, cell in zip(header, cells, strict=True) if cell}
    values = _row(filled, place, COLUMNS)
    for key, columns in _SPREAD.items():
        values[key] = tuple(values.pop(column, 0.0) for column in columns)
    return values


def _value(key: str, cell: str) -> float | str:
    if key in _WORDS:
        return cell
    try:
        return float(cell)
    except ValueError:
        return cell
