"""A fingerprint of a model: two models with the same one have the same equations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from typing import Any, cast

import numpy as np

from kinpair.algebra.arrays import same_objects
from kinpair.description.parts import Friction, Link
from kinpair.model.model import Model


def digest(model: Model) -> str:
    """Hexadecimal digest of everything the equations depend on, numbers to the last bit."""
    checksum = hashlib.sha256()
    for part in _facts(model):
        checksum.update(part + b"\0")
    return checksum.hexdigest()


def has_functions(model: Model) -> bool:
    """True if it contains a Python function, which no fingerprint distinguishes from another."""
    description = model.description
    rubbing = description.joints_with("friction")
    joints = [law for joint in rubbing for law in joint.friction if isinstance(law, Friction)]
    parts = [astuple(part) for part in (*description.constraints, *description.springs, *joints)]
    return model.terms is not None or any(callable(x) for part in parts for x in _leaves(part))


def _leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, tuple):
        for part in cast("tuple[Any, ...]", x):
            yield from _leaves(part)
    else:
        yield x


def _facts(model: Model) -> Iterator[bytes]:
    x = model.numbering
    yield from map(_numbers, (x.q_start, x.v_start, x.parent, x.which, x.place_body, x.pose_which))
    yield from _names(model)
    yield model.gravity.tobytes()
    for body in (model.body[i] for i in x.chosen):
        yield repr((body.pair.kind, [getattr(body.pair, f.name) for f in fields(body.pair)])).encode()  # type: ignore[arg-type]
        yield from (_bytes(getattr(body, f.name)) for f in fields(body) if f.name != "pair")
    yield from (_numbers(getattr(model.joints, f.name)) for f in fields(model.joints))
    yield from _shared(model.R_joint, _bytes)
    yield from (_bytes(pose.R) + _bytes(pose.a) for pose in x.poses)
    yield repr([(x.v, x.law, sorted(x.numbers.items())) for x in model.frictions]).encode()
    both = (*model.frictions, *model.surfaces)
    if changing := [(x.name, k, s.text) for x in both for k, s in sorted(x.signals.items())]:
        yield repr(("levels that change", changing)).encode()
    yield repr([(x.body, x.law, sorted(x.numbers.items())) for x in model.surfaces]).encode()
    yield repr(model.slip).encode()
    for pad in model.pads:
        numbers = (
            pad.radius,
            pad.other_radius,
            pad.stiffness,
            pad.exponent,
            pad.dissipation,
            pad.mu,
            pad.slip_speed,
        )
        yield repr((pad.name, pad.a.body, pad.b.body, numbers)).encode()
        yield from (_bytes(x) for place in (pad.a, pad.b) for x in (place.pose.R, place.pose.a))
    for parts in (model.description.constraints, model.description.springs, model.description.actuators):
        yield repr([replace(part, where="") for part in parts]).encode()
    yield repr(model.added).encode()
    written = model.description.joints_with
    yield repr([(joint.name, joint.mimic) for joint in written("mimic")]).encode()
    yield repr([(joint.name, joint.compliance) for joint in written("compliance")]).encode()
    if idle := [joint.name for joint in written("actuated") if joint.actuated is False]:
        yield repr(("joints without an input", idle)).encode()
    if welded := _welded_links(model):
        yield repr([(x.name, x.mass, x.com, x.tensor().tolist()) for x in welded]).encode()
    if model.singular_mass:
        yield b"singular mass"


def _shared(values: Sequence[Any], content: Callable[[Any], bytes]) -> Iterator[bytes]:
    """Contents of the different objects among the values, and which value is which of them."""
    which, chosen = same_objects(values)
    yield _numbers(which)
    yield from (content(values[i]) for i in chosen)


def _welded_links(model: Model) -> list[Link]:
    """Return the links that are part of a body with another name: each may have parameters of its own."""
    bodies, names = model.numbering.place_body, list(model.places)
    several = np.flatnonzero(np.bincount(bodies)[bodies] > 1).tolist()
    welded = {names[k] for k in several if names[k] != model.names[bodies[k]]}
    welded -= {frame.name for frame in model.description.frames}
    return [x for x in model.description.links if x.name in welded] if welded else []


def _names(model: Model) -> Iterator[bytes]:
    """Names of bodies, joints and places; those of the joints where they differ from those of the bodies."""
    yield "\0".join(model.names).encode()
    yield b"" if model.joint_names[1:] == model.names[1:] else "\0".join(model.joint_names).encode()
    yield "\0".join(model.places).encode()


def _numbers(x: np.ndarray) -> bytes:
    """The bits of an array of 8-byte numbers; first, step and length where they grow by equal steps."""
    bits = np.ascontiguousarray(x).view(np.int64)
    if len(bits) > 2 and (np.diff(bits) == bits[1] - bits[0]).all():
        return repr((int(bits[0]), int(bits[1]), len(bits))).encode()
    return bits.tobytes()


def _bytes(x: object) -> bytes:
    return np.ascontiguousarray(x, dtype=float).tobytes()
