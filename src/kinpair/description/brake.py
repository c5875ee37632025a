"""Brakes: dry friction on a joint under a name of its own, one more law of the joint's friction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from kinpair.description import fields as f
from kinpair.description.friction_laws import friction_from, laws_of
from kinpair.description.level import levels_from
from kinpair.description.parts import Friction, Joint
from kinpair.description.place import Key, Place, checked
from kinpair.errors import listed, nearest
from kinpair.pairs import PAIRS


class Brake(NamedTuple):
    """A law of friction and the coordinate that it acts on."""

    name: str
    joint: str
    law: Friction
    place: Place

    @property
    def where(self) -> str:
        """File and line."""
        return self.place.where


def brake_from(keys: Mapping[str, object], place: Place) -> Brake:
    """A brake from its keys."""
    values = checked(keys, BRAKE, place)
    numbers = {key: keys[key] for key in keys if key not in ("name", "joint")}
    (law,) = friction_from({"law": "coulomb", **numbers}, place)
    assert isinstance(law, Friction)
    return Brake(values["name"], values["joint"], replace(law, name=values["name"]), place)


def with_brakes(joints: Sequence[Joint], brakes: Iterable[Brake]) -> tuple[Joint, ...]:
    """The joints, with brakes as laws of their friction."""
    by_name = {joint.name: joint for joint in joints}
    for brake in brakes:
        name, _, part = (brake.joint, "", "") if brake.joint in by_name else brake.joint.rpartition(".")
        joint = by_name.get(name)
        parts = PAIRS[joint.kind].v_parts if joint is not None and joint.kind in PAIRS else ()
        if joint is None or (part and part not in parts):
            known = [*by_name, *(f"{x.name}.{part}" for x in joints for part in _parts(x))]
            raise brake.place.at("joint").error(
                f"is {brake.joint!r}, which does not exist; {nearest(brake.joint, known)}Joints: {listed(known)}"
            )
        law = _of_part(brake.law, part, parts) if part else brake.law
        by_name[name] = replace(joint, friction=(*laws_of(joint.friction), law))
    return tuple(by_name.values())


def _parts(joint: Joint) -> tuple[str, ...]:
    parts = PAIRS[joint.kind].v_parts if joint.kind in PAIRS else ()
    return parts if len(parts) > 1 else ()


def _of_part(law: Friction, part: str, parts: Sequence[str]) -> Friction:
    """The law on one rate of a joint alone."""
    return replace(
        law,
        numbers=tuple((key, tuple(x[0] if own == part else 0.0 for own in parts)) for key, x in law.numbers),
    )


BRAKE: dict[str, Key] = {
    "name": Key(f.name, needs="a name for the brake"),
    "joint": Key(f.name, needs="the joint that it brakes, or joint.part"),
    "level": Key(levels_from, "N m or N", needs="a number, a formula of t, or an input with its scale"),
    "level_static": Key(levels_from, "N m or N"),
    "level_negative": Key(levels_from, "N m or N"),
    "viscous": Key(f.numbers, "N m s/rad or N s/m"),
}
