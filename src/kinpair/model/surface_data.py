"""Friction from load as the model has it: which law belongs to which pair, with which numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from kinpair.description.formula import function_of
from kinpair.description.friction_laws import EFFICIENCIES, FROM_LOAD, KEYS, laws_of, numbered
from kinpair.description.parts import Friction, Joint, Level
from kinpair.description.place import Place
from kinpair.description.warning_list import WarningList
from kinpair.errors import listed
from kinpair.model.model import Signal, SurfaceData

if TYPE_CHECKING:
    from kinpair.pairs import Pair

Values: TypeAlias = Mapping[str, Sequence[float | Level]]

SIZES = ("radius", "thrust_radius", "length", "width")
WITHOUT_LOAD = (*SIZES, "exponent", "stribeck_speed", "viscous")  # these alone give no friction from load
DRIVEN = ("revolute", "prismatic", "helical")  # by one motor
NEEDS: dict[
    str, dict[str, tuple[str, ...]]
] = {  # law: pairs that it belongs to, and the sizes that it needs there
    "bearing": {
        "revolute": ("radius", "thrust_radius", "length"),
        "cylindrical": ("radius", "length"),
        "universal": ("radius", "thrust_radius", "length"),
        "spherical": ("radius",),
    },
    "guide": {"prismatic": ("length", "width")},
    "thread": {"helical": ("radius",)},
    "gear": dict.fromkeys(DRIVEN, ()),
    "servo": dict.fromkeys(DRIVEN, ()),
}
ABOVE_ZERO = ("radius", "length", "width")


def signal_of(level: float | Level, place: Place) -> tuple[float, Signal | None]:
    """Return the number that a level has in the model, and its signal; None of a level that does not change."""
    if not isinstance(level, Level):
        return float(level), None
    if level.input:
        return float(level.scale), Signal(f"input {level.input}", input=level.input)
    return float(level.scale), Signal(str(level.formula), function_of(level.formula, ("t",), place))


def troubles(law: Friction, joint: Joint) -> Iterator[str]:
    """Sentences about a wrong law of friction from load in this joint."""
    if law.law not in FROM_LOAD:
        return
    numbers, pairs = dict(law.numbers), NEEDS[law.law]
    if joint.kind not in pairs:
        own = [name for name, kinds in NEEDS.items() if joint.kind in kinds]
        instead = f"; laws from load for it: {listed(map(repr, own))}" if own else ""
        yield f"law {law.law!r} belongs to {listed(pairs)} joints, and this one is {joint.kind}{instead}"
        return
    needed = pairs[joint.kind]
    for key in needed:
        if key not in numbers:
            yield f"{key} is missing; law {law.law!r} of a {joint.kind} joint needs it ({KEYS[key]})"
    for key, values in numbers.items():
        if key in SIZES and key not in needed:
            yield f"law {law.law!r} of a {joint.kind} joint takes no {key}; it takes {listed(needed)}"
        if key in ABOVE_ZERO and 0.0 in values:
            reason = "a moment needs a distance to be carried over; " if key in ("length", "width") else ""
            yield f"{key} is 0; {reason}give a number above zero ({KEYS[key]})"
        if len(values) != 1:
            yield f"{key} has {len(values)} numbers; law {law.law!r} takes one"
    yield from _grip_troubles(law.law, numbers)
    if law.law == "gear":
        yield from _gear_troubles(numbers)


def _grip_troubles(law: str, numbers: Values) -> Iterator[str]:
    mu, static = (numbers.get(key, (0.0,))[0] for key in ("mu", "mu_static"))
    changing = [isinstance(x, Level) for x in (mu, static)]
    if "mu_static" in numbers and any(changing) != all(changing):
        yield "one of mu and mu_static changes; give both as formulas of t, or leave mu_static out"
    elif not (isinstance(mu, Level) or isinstance(static, Level)) and "mu_static" in numbers and static < mu:
        yield (
            f"mu_static {static:g} is below mu {mu:g}: leaving rest takes at least as much as sliding; "
            f"give {mu:g} or more, or leave mu_static out"
        )
    falls = [key for key in ("stribeck_speed", "exponent") if key in numbers]
    if law != "servo" and falls:
        for key in ("mu_static", "stribeck_speed", "exponent"):
            if key not in numbers:
                yield f"{key} is missing; {falls[0]} needs it too ({KEYS[key]})"


def _gear_troubles(numbers: Values) -> Iterator[str]:
    """A gear has mu, or efficiencies."""
    if "mu" not in numbers and "efficiency" not in numbers:
        if "efficiency_back" in numbers:
            yield f"efficiency is missing; efficiency_back needs it ({KEYS['efficiency']})"
        yield f"mu or efficiency is missing; law 'gear' needs one of them ({KEYS['mu']}; {KEYS['efficiency']})"
        return
    own = [key for key in EFFICIENCIES if key in numbers]
    if own and (more := [key for key in numbers if key not in (*EFFICIENCIES, "viscous")]):
        yield f"{own[0]} and {more[0]} do not go together; give efficiencies, or mu with what belongs to it"
    for key in own:
        value = numbers[key][0]
        if not isinstance(value, Level) and (trouble := efficiency_trouble(key, value)):
            yield f"{key} is {value:g}; {trouble}"


def efficiency_trouble(key: str, value: float) -> str:
    """Sentence about a wrong efficiency; an empty text if it is correct."""
    if value > 1.0:
        return f"give 1 or less ({KEYS[key]})"
    if key == "efficiency" and value <= 0.0:
        return f"give a number above 0, up to 1 ({KEYS[key]})"
    return ""


def joint_troubles(laws: Sequence[Friction]) -> Iterator[str]:
    """Sentences about laws that do not go together in one joint."""
    loaded = [x.law for x in laws if x.law in FROM_LOAD]
    if len(loaded) > 1:
        yield f"has {len(loaded)} laws of friction from load ({listed(loaded)}); a joint takes one"


def surface_data(joints: Sequence[tuple[Joint, Pair]], body_of: Mapping[str, int]) -> tuple[SurfaceData, ...]:
    """A record for each law from load that acts, in the order of the joints given."""
    records: list[SurfaceData] = []
    for joint, _ in joints:
        for number, law in numbered(laws_of(joint.friction) if joint.friction else ()):
            if law.law not in FROM_LOAD:
                continue
            place = Place(WarningList(), joint.where, f"joint {joint.name!r}, friction{number}")
            every = {key: signal_of(x[0], place.at(key)) for key, x in law.numbers if x}
            own = {key: pair for key, pair in every.items() if _is_of_load(law.law, key, pair[0])}
            numbers = {key: value for key, (value, _) in own.items()}
            signals = {key: signal for key, (_, signal) in own.items() if signal is not None}
            if any(x for key, x in numbers.items() if key not in WITHOUT_LOAD):
                name = f"{joint.name}.friction{number}"
                records.append(SurfaceData(name, body_of[joint.name], law.law, numbers, signals))
    return tuple(records)


def _is_of_load(law: str, key: str, value: float) -> bool:
    """True if the load of a law depends on a key; that of a servo depends on its viscous torque, see (FE4)."""
    return key != "viscous" or (law == "servo" and value != 0.0)
