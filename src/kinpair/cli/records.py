"""Contents of a mechanism as plain records: a dict a joint, a body, a frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kinpair import Mechanism, SingularError
from kinpair.constraints.rows.build import is_constrained
from kinpair.constraints.rows.mobility import Mobility, entries
from kinpair.description.parts import Joint
from kinpair.description.schema import SPRING_IN_FILE
from kinpair.friction.surfaces.table import surfaces_of
from kinpair.friction.surfaces.thread import Thread
from kinpair.model.model import FrictionData, Model, SurfaceData

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
