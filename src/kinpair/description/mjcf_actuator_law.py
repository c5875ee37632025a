"""The law of an MJCF actuator: the elements of its classes and its own, one after another, set the same few numbers.

<motor>, <position> and the others are short forms of <general>, and a class has one law for all of them: an element
sets what it means, and what it does not mention stays as the class has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import pi
from typing import TypeAlias

from kinpair.description.mjcf_xml import Tag
from kinpair.description.parts import Numbers, Three

ZERO: Three = (0.0, 0.0, 0.0)
DYNAMICS = {"none": "", "integrator": "integrator", "filter": "filter", "filterexact": "filter"}
GAINS = {"fixed": False, "affine": True}
MOTOR_KEYS = {  # numbers of <dcmotor>: how many
    "motorconst": 2,
    "resistance": 1,
    "nominal": 3,
    "saturation": 3,
    "inductance": 2,
    "cogging": 3,
    "controller": 6,
    "thermal": 6,
    "lugre": 5,
}
NOT_NEGATIVE = {  # what MuJoCo refuses below zero
    "position": ("kv", "dampratio", "timeconst"),
    "intvelocity": ("kv", "dampratio"),
    "damper": ("kv", "ctrlrange"),
    "dcmotor": ("motorconst", "resistance"),
}


@dataclass(frozen=True, slots=True)
class Law:
    """force = (g₀ + g₁ l + g₂ l̇) a + b₀ + b₁ l + b₂ l̇, with the activation a; or a motor with its own numbers.

    `strange` says what of it is not taken. `inherits` is the part of the joint's range that bounds the input, or the
    activation of an integrator.
    """

    gain: Three = (1.0, 0.0, 0.0)
    bias: Three = ZERO
    sloped: bool = False  # do g₁ and g₂ count?
    biased: bool = False
    dynamics: str = ""  # "", "filter", "integrator"
    time: float = 1.0  # of the filter [s]
    inherits: float = 0.0
    motor: tuple[tuple[str, Numbers], ...] | None = None
    strange: str = ""

    @property
    def damping_ratio(self) -> float:
        """Damping ratio of a position servo that gives it in the place of its damping; zero where it does not."""
        g, b = self.gain[0], self.bias
        return b[2] if self.biased and not self.sloped and g == -b[1] and b[2] > 0.0 else 0.0


def law_of(tags: Sequence[Tag]) -> Law:
    """The law after all these elements."""
    law = Law()
    for tag in tags:
        _check(tag)
        law = FORMS.get(tag.name, _strange)(law, tag)
    return law


def _check(tag: Tag) -> None:
    """Refuse what would feed energy in, or says a thing twice."""
    for key in NOT_NEGATIVE.get(tag.name, ()):
        if any(x < 0.0 for x in tag.values(key)):
            raise tag.error(f'has <{tag.name} {key}="{tag.text(key)}">; give none below zero')
    if "dampratio" in NOT_NEGATIVE.get(tag.name, ()) and tag.has("kv") and tag.has("dampratio"):
        raise tag.error(f"has <{tag.name}> with kv and dampratio; give one of them")


def _strange(law: Law, tag: Tag) -> Law:
    return Law(strange=f"it is a <{tag.name}>")


def _three(tag: Tag, attribute: str, default: Three) -> Three:
    """The first three numbers of as many as there are."""
    values = tag.values(attribute)[:3] if tag.has(attribute) else ()
    x, y, z = (*values, *default[len(values) :])
    return x, y, z


def _general(law: Law, tag: Tag) -> Law:
    law = replace(
        law, gain=_three(tag, "gainprm", law.gain), bias=_three(tag, "biasprm", law.bias), motor=None
    )
    if tag.has("dynprm"):
        law = replace(law, time=tag.values("dynprm")[0])
    for attribute, meanings in (
        ("dyntype", DYNAMICS),
        ("gaintype", GAINS),
        ("biastype", {"none": False, "affine": True}),
    ):
        word = tag.text(attribute)
        if word and word not in meanings:
            return replace(law, strange=f'it has {attribute}="{word}"')
    return replace(
        law,
        dynamics=DYNAMICS[tag.text("dyntype")] if tag.has("dyntype") else law.dynamics,
        sloped=GAINS[tag.text("gaintype")] if tag.has("gaintype") else law.sloped,
        biased=tag.text("biastype") == "affine" if tag.has("biastype") else law.biased,
        inherits=tag.number("inheritrange", law.inherits),
        strange="" if tag.has("dyntype") and tag.has("gaintype") else law.strange,
    )


def _motor(law: Law, tag: Tag) -> Law:
    return Law(time=law.time)


def _position(law: Law, tag: Tag) -> Law:
    kp, last = tag.number("kp", law.gain[0]), law.bias[2]
    if tag.has("kv"):
        last = -tag.number("kv", 0.0)
    elif tag.has("dampratio"):
        last = tag.number("dampratio", 0.0)
    time = tag.number("timeconst", law.time)
    filtered = time > 0.0 if tag.has("timeconst") else law.dynamics == "filter"
    bias = (0.0, -kp, last)
    inherits = tag.number("inheritrange", law.inherits)
    return Law((kp, 0.0, 0.0), bias, biased=True, dynamics="filter" * filtered, time=time, inherits=inherits)


def _integrated_position(law: Law, tag: Tag) -> Law:
    return replace(_position(law, tag), dynamics="integrator")


def _velocity(law: Law, tag: Tag) -> Law:
    kv = tag.number("kv", law.gain[0])
    return Law((kv, 0.0, 0.0), (0.0, 0.0, -kv), biased=True, time=law.time)


def _damper(law: Law, tag: Tag) -> Law:
    return Law((0.0, 0.0, -tag.number("kv", 0.0)), sloped=True, time=law.time)


def _cylinder(law: Law, tag: Tag) -> Law:
    area = (
        0.25 * pi * tag.number("diameter", 0.0) ** 2
        if tag.has("diameter")
        else tag.number("area", law.gain[0])
    )
    time = tag.number("timeconst", law.time)
    return Law((area, 0.0, 0.0), _three(tag, "bias", law.bias), biased=True, dynamics="filter", time=time)


def _dc_motor(law: Law, tag: Tag) -> Law:
    known = dict(law.motor or ())
    own = {key: tag.numbers(key, 1, count) for key, count in MOTOR_KEYS.items() if tag.has(key)}
    strange = (
        f'it has input="{tag.text("input")}"' if tag.text("input", "voltage") != "voltage" else law.strange
    )
    return Law(motor=tuple({**known, **own}.items()), strange=strange)


Form: TypeAlias = Callable[[Law, Tag], Law]
FORMS: dict[str, Form] = {
    "general": _general,
    "motor": _motor,
    "position": _position,
    "velocity": _velocity,
    "intvelocity": _integrated_position,
    "damper": _damper,
    "cylinder": _cylinder,
    "dcmotor": _dc_motor,
}
