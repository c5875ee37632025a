"""A fingerprint of a model: two models with the same one have the same equations."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, fields, replace
from typing import Any

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
    """Does it hold a Python function, which no fingerprint can tell from another?"""
    description = model.description
    joints = [law for joint in description.joints for law in joint.friction if isinstance(law, Friction)]
    parts = [astuple(part) for part in (*description.constraints, *description.springs, *joints)]
    return model.terms is not None or any(callable(x) for part in parts for x in _leaves(part))


def _leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, tuple):
        for part in x:
            yield from _leaves(part)
    else:
        yield x


def _facts(model: Model) -> Iterator[bytes]:
    for spans in (model.q_span, model.v_span):
        yield np.fromiter((x.start for x in spans), dtype=np.int64, count=len(spans)).tobytes()
    yield np.array(model.parent).tobytes()
    yield from ("\0".join(names).encode() for names in (model.joint_names, model.names))
    yield model.gravity.tobytes()
    which, chosen = model.different
    yield which.tobytes()
    for body in (model.body[i] for i in chosen):
        yield repr((body.pair.kind, [getattr(body.pair, f.name) for f in fields(body.pair)])).encode()  # type: ignore[arg-type]
        yield from (_bytes(getattr(body, f.name)) for f in fields(body) if f.name != "pair")
    yield from (_bytes(getattr(model.joints, f.name)) for f in fields(model.joints))
    yield from _shared(model.R_joint, _bytes)
    places = list(model.places.values())
    yield "\0".join(model.places).encode()
    yield np.fromiter((place.body for place in places), dtype=np.int64, count=len(places)).tobytes()
    yield from _shared([place.pose for place in places], lambda pose: _bytes(pose.R) + _bytes(pose.a))
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
    yield repr([(joint.name, joint.mimic) for joint in model.description.joints if joint.mimic]).encode()
    yield repr([(x.name, x.compliance) for x in model.description.joints if x.compliance]).encode()
    if idle := [x.name for x in model.description.joints if x.actuated is False]:
        yield repr(("joints without an input", idle)).encode()
    if welded := _welded_links(model):
        yield repr([(x.name, x.mass, x.com, x.tensor().tolist()) for x in welded]).encode()
    if model.singular_mass:
        yield b"singular mass"


def _shared(values: Sequence[Any], content: Callable[[Any], bytes]) -> Iterator[bytes]:
    """Contents of the different objects among the values, and which value is which of them."""
    which, chosen = same_objects(values)
    yield which.tobytes()
    yield from (content(values[i]) for i in chosen)


def _welded_links(model: Model) -> list[Link]:
    """Return the links that are part of a body with another name: each may have parameters of its own."""
    return [x for x in model.description.links if x.name != model.names[model.places[x.name].body]]


def _bytes(x: object) -> bytes:
    return np.ascontiguousarray(x, dtype=float).tobytes()
