"""Constraints as they are written in Python: the words and keys of a TOML file, as functions.

Each function only says what was given. `kinpair.constraint` makes a part of it, the `Builder` collects it. Both read it
by the tables of `constraint_schema`, as a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias, Unpack

from kinpair.description.builder_keys import (
    CouplingKeys,
    DistanceKeys,
    GuideKeys,
    KnifeEdgeKeys,
    LoopKeys,
    MomentumKeys,
    RollingKeys,
    SurfaceKeys,
    Text,
)
from kinpair.description.constraint_parts import Formula

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
