"""`kinpair info`: what a description contains, as plain records (a dict a joint, a body, a frame) and as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from rich.table import Table

from kinpair import Mechanism, SingularError
from kinpair.cli import arguments
from kinpair.cli.arguments import Described, Flag, Root, Snap
from kinpair.cli.output import print_json, table, texts
from kinpair.cli.screen import Screen
from kinpair.constraints.rows.build import is_constrained
from kinpair.constraints.rows.mobility import HEADINGS, Entry, Mobility, entries
from kinpair.description.fields import AXES
from kinpair.description.parts import Joint, Spring
from kinpair.description.schema import SPRING_IN_FILE
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.friction.surfaces.thread import Thread
from kinpair.model.model import FrictionData, Model, SurfaceData
from kinpair.model.table import SPRING_HEADINGS, shortened, spring_cells

BY_COORDINATE = ("lower", "upper")
BY_RATE = ("damping", "friction", "stiffness", "effort", "velocity", "acceleration", "jerk")


def summary(mechanism: Mechanism) -> dict[str, Any]:
    """Sizes and totals."""
    return {
        "name": mechanism.name,
        "nq": mechanism.nq,
        "nv": mechanism.nv,
        "mass": mechanism.mass,
        "gravity": mechanism.model.gravity,
        "q_names": mechanism.q_names,
        "v_names": mechanism.v_names,
    }


def constraints(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Constraints of the motion beyond the joints, in the order of the rows; mimic joints are among them."""
    return [entry._asdict() for entry in entries(mechanism.model)]


LATER = ("contradicting", "open", "not_unique", "compliant")


def freedom(mobility: Mobility) -> dict[str, Any]:
    """Freedoms by rank and by Grübler's count, and what the rows say twice."""
    keys = ("freedom", "counted", "rates", "rows", "rank", "redundant", "singular", *LATER)
    return {key: getattr(mobility, key) for key in keys}


def sentences(facts: dict[str, Any]) -> list[str]:
    """Write records for a person, a line each."""
    keys = ("rates", "rows", "rank", "redundant", "singular", *LATER)
    return str(Mobility(**{key: facts[key] for key in keys})).splitlines()


def at_start(mechanism: Mechanism) -> dict[str, Any]:
    """Coordinates of the start and freedoms there; None with the reason where it cannot be assembled.

    The mobility of an open tree is its number of rates.
    """
    if not is_constrained(mechanism.model.description):
        tree = Mobility(mechanism.nv, 0, 0, (), False)
        return {"start": mechanism.start(), "mobility": freedom(tree), "reason": None}
    try:
        q = mechanism.start()
        return {"start": q, "mobility": freedom(mechanism.mobility(q)), "reason": None}
    except SingularError as reason:
        return {"start": None, "mobility": None, "reason": str(reason)}


def joints(mechanism: Mechanism) -> list[dict[str, Any]]:
    """The joints that move, in the order of the coordinates."""
    model = mechanism.model
    parts = {joint.name: joint for joint in model.description.joints}
    frictions: dict[int, list[FrictionData | SurfaceData]] = {}
    for x in (*model.frictions, *model.surfaces):
        frictions.setdefault(x.body, []).append(x)
    locked = {x.body for x in surfaces_of(model) if isinstance(x, Thread) and x.locks}
    return [
        _joint(model, i, parts[model.joint_names[i]], frictions.get(i, ()), i in locked)
        for i in _order(mechanism)
    ]


def bodies(mechanism: Mechanism) -> list[dict[str, Any]]:
    """The moving bodies in the same order: what moves them, on which body, and their mass [kg]."""
    model = mechanism.model
    return [
        {
            "name": model.names[i],
            "parent": model.names[model.parent[i]],
            "joint": model.joint_names[i],
            "mass": float(model.body[i].m),
        }
        for i in _order(mechanism)
    ]


def frames(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Links and frames that are no bodies of their own, with the body that carries them."""
    model = mechanism.model
    own = set(model.names)
    return [
        {"name": name, "body": model.names[place.body]}
        for name, place in model.places.items()
        if name not in own
    ]


def springs(mechanism: Mechanism) -> list[dict[str, Any]]:
    """Springs between points, by the keys of the file."""
    return [
        {key: getattr(spring, key) for key in SPRING_IN_FILE}
        for spring in mechanism.model.description.springs
    ]


def _order(mechanism: Mechanism) -> list[int]:
    model = mechanism.model
    return sorted(model.moving, key=lambda i: (model.v_span[i].start, i))


def _joint(
    model: Model, i: int, written: Joint, frictions: Iterable[FrictionData | SurfaceData], locks: bool
) -> dict[str, Any]:
    pair, q, v = model.body[i].pair, model.q_span[i], model.v_span[i]
    directions = [axis for axis in (written.axis, written.axis2) if axis is not None]
    return {
        "name": written.name,
        "kind": pair.kind,
        "parent": model.names[model.parent[i]],
        "child": model.names[i],
        "axes": directions[: pair.axes],
        "q": list(range(q.start, q.stop)),
        "v": list(range(v.start, v.stop)),
        **{key: getattr(model.joints, key)[q] for key in BY_COORDINATE},
        **{key: getattr(model.joints, key)[v] for key in BY_RATE},
        "friction_laws": [{"name": x.name, "law": x.law, **x.numbers} for x in frictions],
        "locks_itself": locks,
        "rotor": model.body[i].rotor,
        "mimics": written.mimic.joint if written.mimic else None,
    }


Cell: TypeAlias = Callable[[dict[str, Any]], str]


def info(
    file: Described, /, *, base: Root = "fixed", strict: Flag = False, snap: Snap = 0.0, json: Flag = False
) -> None:
    """Print bodies, joints, frames, totals and warnings of a mechanism.

    Parameters
    ----------
    strict
        Reject the file if it causes a warning.
    json
        Print one JSON document instead of tables.
    """
    mechanism = arguments.mechanism(file, base=base, strict=strict, snap=snap)
    (print_json if json else _show)(_document(mechanism))


def _document(mechanism: Mechanism) -> dict[str, Any]:
    return {
        **summary(mechanism),
        **at_start(mechanism),
        "constraints": constraints(mechanism),
        "joints": joints(mechanism),
        "bodies": bodies(mechanism),
        "frames": frames(mechanism),
        "springs": springs(mechanism),
        "warnings": mechanism.warnings,
    }


def _show(facts: dict[str, Any]) -> None:
    screen = Screen()
    screen.heading(facts["name"])
    screen.say(f"bodies {len(facts['bodies'])}, mass {facts['mass']:.6g} kg, coordinates {facts['nq']}")
    for line in _freedom(facts):
        screen.say(line)
    screen.say(f"gravity {' '.join(texts(facts['gravity']))} m/s²\n")
    if facts["joints"]:
        screen.print(_joint_table(facts["joints"], MOTION | _start_column(facts)))
        screen.say()
        _show_loads(screen, facts["joints"])
        screen.print(_body_table(facts["bodies"]))
        screen.say()
    _show_constraints(screen, facts["constraints"])
    _show_springs(screen, facts["springs"])
    _show_frames(screen, facts["frames"])
    _show_warnings(screen, facts["warnings"])


def _freedom(facts: dict[str, Any]) -> list[str]:
    """Freedoms of a tree, or at the start under constraints."""
    mobility = facts["mobility"]
    if not facts["constraints"]:
        return [f"degrees of freedom {facts['nv']}, mobility {mobility['freedom']} (an open tree)"]
    if mobility is None:
        return [f"degrees of freedom without constraints {facts['nv']}, mobility unknown: {facts['reason']}"]
    return [
        f"degrees of freedom without constraints {facts['nv']}, at the start:",
        *sentences(mobility),
    ]


def _show_constraints(screen: Screen, constraints: Sequence[dict[str, Any]]) -> None:
    if constraints:
        screen.print(table(HEADINGS, shortened(constraints, lambda x: Entry(**x).cells), names=3))
        screen.say()


def _show_springs(screen: Screen, springs: Sequence[dict[str, Any]]) -> None:
    if springs:
        rows = shortened(springs, lambda x: spring_cells(Spring(**x)))
        screen.print(table(SPRING_HEADINGS, rows, names=4))
        screen.say()


def _start_column(facts: dict[str, Any]) -> dict[str, Cell]:
    """Start of each joint, under constraints."""
    start = facts["start"] if facts["constraints"] else None
    if start is None:
        return {}
    return {"start": lambda joint: ", ".join(texts(start[joint["q"]], 5))}


def _axes(joint: dict[str, Any]) -> str:
    short = {axis: name for name, axis in AXES.items()}
    return ", ".join(short.get(axis, " ".join(texts(axis, 3))) for axis in joint["axes"])


def _span(joint: dict[str, Any]) -> str:
    first, last = joint["q"][0], joint["q"][-1]
    return str(first) if first == last else f"{first}-{last}"


def _limits(joint: dict[str, Any]) -> str:
    low, high = joint["lower"], joint["upper"]
    if not np.isfinite([*low, *high]).any():
        return ""
    return ", ".join(f"{a:.4g} to {b:.4g}" for a, b in zip(low, high, strict=True))


def _per_rate(key: str) -> Cell:
    def cell(joint: dict[str, Any]) -> str:
        values = joint[key]
        return ", ".join(texts(values, 4)) if np.any(values) else ""

    return cell


def _friction(joint: dict[str, Any]) -> str:
    """Coulomb levels; of other laws their names too, from load with the coefficient, and threads that lock."""
    told = [x for x in joint["friction_laws"] if set(x) != {"name", "law", "level"}]
    laws = dict.fromkeys(f"{x['law']} mu {x['mu']:.4g}" if "mu" in x else x["law"] for x in told)
    locks = "self-locking" if joint["locks_itself"] else ""
    return ", ".join(filter(None, (_per_rate("friction")(joint), *laws, locks)))


MOTION: dict[str, Cell] = {
    "q": _span,
    "joint": lambda joint: joint["name"],
    "kind": lambda joint: joint["kind"],
    "axis": _axes,
    "limits": _limits,
}
LOADS: dict[str, Cell] = {
    "damping": _per_rate("damping"),
    "friction": _friction,
    "spring": _per_rate("stiffness"),
    "rotor": _per_rate("rotor"),
    "mimics": lambda joint: joint["mimics"] or "",
}


def _show_loads(screen: Screen, joints: Sequence[dict[str, Any]]) -> None:
    """Springs, dampers, friction, rotors and mimics, of the joints that have any."""
    loaded = [joint for joint in joints if any(cell(joint) for cell in LOADS.values())]
    if loaded:
        screen.print(_joint_table(loaded, {"joint": MOTION["joint"], **LOADS}))
        screen.say()


def _joint_table(joints: Sequence[dict[str, Any]], cells: Mapping[str, Cell]) -> Table:
    """A row a joint; a column that is empty for all is left out."""
    used = {heading: cell for heading, cell in cells.items() if any(map(cell, joints))}
    rows = shortened(joints, lambda joint: tuple(cell(joint) for cell in used.values()))
    return table(tuple(used), rows, names=len(used))


def _body_table(bodies: Sequence[dict[str, Any]]) -> Table:
    rows = shortened(bodies, lambda body: (body["name"], body["parent"], f"{body['mass']:.6g}"))
    return table(("body", "on", "mass [kg]"), rows, names=2)


def _show_frames(screen: Screen, frames: Sequence[dict[str, Any]]) -> None:
    if frames:
        rows = shortened(frames, lambda frame: (frame["name"], frame["body"]))
        screen.print(table(("frame", "on"), rows, names=2))
        screen.say()


def _show_warnings(screen: Screen, warnings: Sequence[str]) -> None:
    screen.heading(f"warnings: {len(warnings) or 'none'}")
    for sentence in warnings:
        screen.say(f"- {sentence}")
