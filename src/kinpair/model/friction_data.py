"""Friction of the joints as the model has it: checked, one record a law and rate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from kinpair.description.constraint_parts import Drive
from kinpair.description.friction_laws import (
    CHANGING,
    EFFICIENCIES,
    FROM_LOAD,
    KEYS,
    LAWS,
    LEVELS,
    laws_of,
    numbered,
)
from kinpair.description.parts import Description, Friction, Joint, Level
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList, at
from kinpair.errors import DescriptionError, listed, nearest
from kinpair.model import surface_data
from kinpair.model.model import FrictionData
from kinpair.pairs import PAIRS, Pair

POSITIVE = ("stribeck_speed", "exponent", "sigma0", *surface_data.ABOVE_ZERO)  # the others may be zero
TAKEN = ("joint", "actuator")  # parts that have an input of their own
SMOOTH = ("viscous", "lugre")  # laws that hold nothing at rest


def check_frictions(description: Description) -> None:
    """Refuse what has no meaning, and dry friction in a joint that a drive moves."""
    driven = {x.joint: x for x in description.constraints if isinstance(x, Drive)}
    brakes = dict[str, str]()
    for joint in description.joints_with("friction"):
        part = f"{at(joint.where)}joint {joint.name!r}"
        if joint.kind not in PAIRS:
            continue
        laws = laws_of(joint.friction)
        for number, law in numbered(laws):
            place = f"{part}: friction" + number.replace(".", " ")
            if law.name:
                place = f"{at(joint.where)}brake {law.name!r} of joint {joint.name!r}"
                _check_name(place, law.name, brakes)
                brakes[law.name] = joint.name
            for trouble in _troubles(law, joint):
                raise DescriptionError(f"{place}: {trouble}", joint=joint.name)
        for trouble in surface_data.joint_troubles(laws):
            raise DescriptionError(f"{part} {trouble}", joint=joint.name)
        _check_drive(part, joint, laws, driven)
        _check_changing(part, description, joint, laws)


def _check_name(place: str, name: str, brakes: Mapping[str, str]) -> None:
    if name in brakes:
        raise DescriptionError(
            f"{place}: joint {brakes[name]!r} has a brake of that name; give one of them another name",
            joint=brakes[name],
        )


def _check_changing(part: str, description: Description, joint: Joint, laws: Sequence[Friction]) -> None:
    """Refuse inputs with a name that another input has."""
    changing = [x for law in laws for _, values in law.numbers for x in values if isinstance(x, Level)]
    if not changing:
        return
    taken = {x.name: f"{word} {x.name!r}" for word in TAKEN for x in getattr(description, f"{word}s")}
    for level in changing:
        if other := taken.get(level.input.partition(".")[0]):
            raise DescriptionError(
                f"{part}: friction takes the input {level.input!r}, and {other} has an input of that name; give the "
                "input of the friction another name",
                joint=joint.name,
            )


def _troubles(law: Friction, joint: Joint) -> Iterator[str]:
    if law.law not in LAWS:
        yield f"law is {law.law!r}; {nearest(str(law.law), LAWS)}Laws: {listed(LAWS)}"
        return
    keys, size = LAWS[law.law], len(PAIRS[joint.kind].v_parts)
    numbers = dict(law.numbers)
    for key in keys.needs:
        if key not in numbers:
            yield f"{key} is missing; law {law.law!r} needs it ({KEYS[key]})"
    for key, values in numbers.items():
        if key not in keys.keys:
            yield f"law {law.law!r} takes no {key}; it takes {listed(keys.keys, 20)}"
        if len(values) not in (1, size) and law.law not in FROM_LOAD:
            yield (
                f"{key} has {len(values)} numbers; a {joint.kind} joint takes {size}"
                f"{', or one for all' if size > 1 else ''}"
            )
        for x in values:
            if isinstance(x, Level):
                yield from _signal_troubles(law, key, x)
            elif not np.isfinite(x):
                yield f"{key} is {x}; a finite number is needed"
            elif x < 0.0 and key in POSITIVE:
                yield f"{key} is {x:g}; give a number above zero ({KEYS[key]})"
            elif x < 0.0 and key not in EFFICIENCIES:
                yield f"{key} is {x:g}; friction resists motion, so give zero or more"
            elif x == 0.0 and key in POSITIVE and key not in surface_data.ABOVE_ZERO:
                yield f"{key} is 0; give a number above zero ({KEYS[key]})"
    levels = [x for values in numbers.values() for x in values if isinstance(x, Level)]
    if len(names := {x.input for x in levels if x.input}) > 1:
        yield f"inputs {listed(sorted(names))} both operate it; a law takes one input"
    yield from surface_data.troubles(law, joint)
    for k in range(size):
        level, static = (_of(numbers, key, k) for key in ("level", "level_static"))
        if _changes(numbers, k):
            continue
        if static is not None and level is not None and static < level:
            omit = "" if "level_static" in keys.needs else ", or leave level_static out"
            yield (
                f"level_static {static:g} is below level {level:g}: leaving rest takes at least as much as sliding; "
                f"give {level:g} or more{omit}"
            )


def _signal_troubles(law: Friction, key: str, level: Level) -> Iterator[str]:
    if key not in CHANGING.get(law.law, ()):
        yield f"{key} changes, and law {law.law!r} takes a number; laws {listed(CHANGING, 10)} take numbers that change"
    elif level.input and key not in LEVELS:
        yield f"{key} takes a number or a formula of t; an input operates levels alone"
    if bool(level.formula) == bool(level.input):
        yield f"{key} takes a formula of t or an input, one of them"
    if not level.scale >= 0.0 or not np.isfinite(level.scale):
        yield f"{key} has scale {level.scale:g}; friction resists motion, so give zero or more"


def _changes(numbers: Mapping[str, Sequence[float | Level]], k: int) -> bool:
    """True if a level of rate k changes."""
    return any(isinstance(values[min(k, len(values) - 1)], Level) for values in numbers.values() if values)


def _check_drive(part: str, joint: Joint, laws: Sequence[Friction], driven: Mapping[str, Drive]) -> None:
    dry = any(law.law not in SMOOTH and _acts(dict(law.numbers), law.law, 0) for law in laws)
    drives = [x for name, x in driven.items() if name.partition(".")[0] == joint.name or name == joint.name]
    if dry and drives:
        raise DescriptionError(
            f"{part} has dry friction, and drive {drives[0].name!r} moves it: a drive sets the motion whatever "
            "resists; leave friction out of this joint, or move it by efforts (torque=) instead of the drive",
            joint=joint.name,
            drive=drives[0].name,
        )


def friction_data(
    joints: Sequence[tuple[Joint, Pair]], v_names: Sequence[str], body_of: Mapping[str, int]
) -> tuple[FrictionData, ...]:
    """A record for each law and each rate on which it acts, in the order of the joints given."""
    records: list[FrictionData] = []
    v = 0
    for joint, pair in joints:
        laws = numbered(laws_of(joint.friction) if joint.friction else ())
        for k in range(pair.nv if laws else 0):
            for number, law in laws:
                numbers = dict(law.numbers)
                name_of_law = "viscous" if law.law in FROM_LOAD else law.law
                if law.law in FROM_LOAD:
                    numbers = {"viscous": numbers.get("viscous", ())}
                if not _acts(numbers, name_of_law, k):
                    continue
                alone = sum(_acts(numbers, name_of_law, n) for n in range(pair.nv)) == 1
                of_rate = "" if alone else v_names[v + k].removeprefix(joint.name)
                name = f"{law.name}{of_rate}" if law.name else f"{v_names[v + k]}.friction{number}"
                part = f"brake {law.name!r}" if law.name else f"joint {joint.name!r}, friction{number}"
                place = Place(WarningList(), joint.where, part)
                levels = {
                    key: surface_data.signal_of(x[min(k, len(x) - 1)], place.at(key))
                    for key, x in numbers.items()
                    if x
                }
                own = {key: number for key, (number, _) in levels.items()}
                signals = {key: signal for key, (_, signal) in levels.items() if signal is not None}
                records.append(FrictionData(name, v + k, body_of[joint.name], name_of_law, own, signals))
        v += pair.nv
    return tuple(records)


def plain_levels(frictions: Sequence[FrictionData], nv: int) -> np.ndarray:
    """Coulomb levels (nv,) that are the same in both directions."""
    levels = np.zeros(nv)
    for x in frictions:
        if x.law == "coulomb" and "level_negative" not in x.numbers and not x.signals:
            levels[x.v] += float(x.numbers["level"])
    levels.flags.writeable = False
    return levels


def _of(numbers: Mapping[str, Sequence[float | Level]], key: str, k: int) -> float | None:
    values = numbers.get(key)
    if not values:
        return None
    value = values[min(k, len(values) - 1)]
    return float(value.scale if isinstance(value, Level) else value)


def _acts(numbers: Mapping[str, Sequence[float | Level]], law: str, k: int) -> bool:
    return any(_of(numbers, key, k) for key in LAWS[law].strength)
