"""The laws of friction in a joint, as a person writes them: a row a law, with the keys that it takes.

`friction` of a joint is a number, numbers (one a rate), a table with a `law`, or a list of such tables, which add up. A
number is a Coulomb level. What acts by a law is in `kinpair.friction.laws.laws`, whose table has the same names.

A level is a number, a formula of t, or `scale` times an input: `level = 20`, `level = "20*(1 + sin(3*t))"`,
`level = {input = "pedal", scale = 160}`; in Python also a function of t.

A brake is dry friction on a joint under a name of its own, one more law of the joint's friction.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from reprlib import repr as shown
from typing import NamedTuple

from kinpair.description import fields as f
from kinpair.description.formula import formula, function_of
from kinpair.description.parts import Friction, Joint, Level, Numbers
from kinpair.description.place import Key, Place, checked, items, known
from kinpair.errors import listed, nearest
from kinpair.pairs import PAIRS

INPUT: dict[str, Key] = {
    "input": Key(f.name, needs="the name of the input that operates it"),
    "scale": Key(f.zero_or_more, "N m or N per unit of the input"),
}


def level_from(value: object, place: Place) -> float | Level:
    """Read a level: a number as it is, everything else as a `Level`."""
    if isinstance(value, Mapping):
        return Level(**checked(value, INPUT, place.inside()))
    if callable(value) or isinstance(value, str):
        level = Level(formula=formula(value, place))
        function_of(level.formula, ("t",), place)
        return level
    if value is None or isinstance(value, bool):
        raise place.error(f"is {shown(value)}; give {FORMS}")
    return f.number(value, place)


FORMS = 'a number, a formula of t as a text, or {input = "name", scale = 100}'
levels_from = f.one_or_more(level_from)


@dataclass(frozen=True, slots=True)
class LawKeys:
    """Keys of a law: those that it needs, those that it may have, and those of which one must not be zero for it to
    act at all."""

    needs: tuple[str, ...]
    takes: tuple[str, ...]
    strength: tuple[str, ...]

    @property
    def keys(self) -> tuple[str, ...]:
        """Names of all keys."""
        return (*self.needs, *self.takes)


KEYS: dict[str, str] = {  # meaning and unit
    "level": "friction while sliding, N m or N",
    "level_static": "friction that must be overcome from rest, N m or N",
    "level_negative": "friction while sliding in the negative direction, N m or N",
    "viscous": "friction per speed, N m s/rad or N s/m",
    "stribeck_speed": "speed at which the static surplus has faded, rad/s or m/s",
    "exponent": "of the fading, such as 2 or 1; of a viscous law: power of the speed, such as 2/3",
    "sigma0": "stiffness of the bristles, N m/rad or N/m",
    "sigma1": "damping of the bristles, N m s/rad or N s/m",
    "mu": "friction per load while sliding",
    "mu_static": "friction per load that must be overcome from rest",
    "radius": "at which parts slide on each other, m",
    "thrust_radius": "of the collar that takes the force along the axis, m; 0 for one without friction",
    "length": "between the supports, m",
    "width": "between the rails, m",
    "preload": "load that is there without any other, N, of a gear N m",
    "efficiency": "of a gear where the motor drives",
    "efficiency_back": "of a gear where the load drives; 0 or less: it locks",
    "motor_share": "friction per effort of the motor",
    "load_share": "friction per effort of the load",
    "motor_share_static": "friction per effort of the motor that is added near rest",
    "load_share_static": "friction per effort of the load that is added near rest",
    "motor_square": "friction per square of the motor's effort that is added near rest, 1/(N m) or 1/N",
    "load_square": "friction per square of the load's effort that is added near rest, 1/(N m) or 1/N",
}
_STRIBECK = ("level", "level_static", "stribeck_speed", "exponent")
_GRIP = ("preload", "mu_static", "stribeck_speed", "exponent", "viscous")
_LOADED: dict[str, tuple[str, ...]] = {  # which of these keys a pair needs is in `kinpair.model.surface_data`
    "bearing": ("radius", "length", "thrust_radius"),
    "guide": ("length", "width"),
    "thread": ("radius",),
    "gear": (),
}
EFFICIENCIES = ("efficiency", "efficiency_back")  # instead of mu
_SERVO = (
    *_STRIBECK,
    "motor_share",
    "load_share",
    "motor_share_static",
    "load_share_static",
    "motor_square",
    "load_square",
)
LAWS: dict[str, LawKeys] = {
    "viscous": LawKeys(("viscous",), ("exponent",), ("viscous",)),
    "coulomb": LawKeys(
        ("level",), ("level_static", "level_negative", "viscous"), ("level", "level_static", "viscous")
    ),
    "stribeck": LawKeys(_STRIBECK, ("level_negative", "viscous"), ("level_static", "viscous")),
    "lugre": LawKeys((*_STRIBECK, "sigma0", "sigma1"), ("viscous",), ("level_static", "viscous")),
    **{law: LawKeys(("mu",), (*own, *_GRIP), ("mu", "mu_static")) for law, own in _LOADED.items()},
    "gear": LawKeys((), ("mu", *EFFICIENCIES, *_GRIP), ("mu", "mu_static", *EFFICIENCIES)),
    "servo": LawKeys(_SERVO, ("viscous",), ("level", "level_static", *_SERVO[4:])),
}
FROM_LOAD = (*_LOADED, "servo")  # laws whose friction grows with what the joint carries
LEVELS = ("level", "level_static", "level_negative")
CHANGING: dict[str, tuple[str, ...]] = {  # by law: numbers that may change in time, levels with an input too
    **dict.fromkeys(("coulomb", "stribeck"), LEVELS),
    **dict.fromkeys(_LOADED, ("mu", "mu_static")),
}
FRICTION: dict[str, Key] = {
    "law": Key(f.name),
    "name": Key(f.name),
    **{
        key: Key(levels_from if key in (*LEVELS, "mu", "mu_static") else f.numbers, note)
        for key, note in KEYS.items()
    },
}


def friction_from(value: object, place: Place) -> Numbers | tuple[Friction, ...]:
    """Coulomb levels, or laws."""
    if isinstance(value, Mapping):
        return (_law(value, place.inside()),)
    entries = items(value) or ()
    if not any(isinstance(x, Mapping) for x in entries):
        return f.numbers(value, place)
    tables: list[Friction] = []
    for i, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise place.entry(i).error(f"is {entry!r}; give tables with a law, or numbers alone")
        tables.append(_law(entry, place.entry(i).inside()))
    return tuple(tables)


def _law(keys: Mapping[str, object], place: Place) -> Friction:
    """Read one law: no key that it does not take, none missing."""
    known(keys, FRICTION, place)
    if "law" not in keys:
        raise place.at("law").error(f"is missing; give {listed(map(repr, LAWS), 20)}")
    name = f.choice(*LAWS)(keys["law"], place.at("law"))
    law = LAWS[name]
    for key in keys:
        if key not in ("law", "name") and key not in law.keys:
            raise place.error(f"law {name!r} takes no {key}; it takes {listed(law.keys, 20)}")
    for key in law.needs:
        if key not in keys:
            raise place.at(key).error(f"is missing; law {name!r} needs it ({KEYS[key]})")
    values = checked({key: x for key, x in keys.items() if key != "law"}, FRICTION, place)
    own = values.pop("name", "")
    return Friction(name, tuple(values.items()), own)


def laws_of(friction: Numbers | tuple[Friction, ...]) -> tuple[Friction, ...]:
    """The laws of a joint; numbers are Coulomb levels."""
    levels = tuple(x for x in friction if not isinstance(x, Friction))
    laws = tuple(x for x in friction if isinstance(x, Friction))
    return ((Friction("coulomb", (("level", levels),)), *laws)) if levels else laws


def numbered(laws: Sequence[Friction]) -> list[tuple[str, Friction]]:
    """The laws of a joint, each with the number behind its name, such as ".2"; none for a brake or a single law."""
    several, n, pairs = sum(not law.name for law in laws) > 1, 0, list[tuple[str, Friction]]()
    for law in laws:
        n += not law.name
        pairs.append((f".{n}" if several and not law.name else "", law))
    return pairs


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
