"""Friction of a joint as columns that are linear in their parameters, and as laws of the library.

    F = c v + F_c s + o + b v (v² + v₀²)^((n−1)/2) + d s e^{−|v|/v_s} + μ s |T|,     s = sign v            (ID7)

T is the effort on the link, Y π of the inertial columns: the external torque of the law `servo`, see (FE4). The term
from load is linear in μ with T from the parameters before it, and is iterated. While a joint slides, an offset o cannot
be told from levels that differ by direction: F_c ± o.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from kinpair.description.parts import Friction
from kinpair.errors import InputError, listed
from kinpair.friction.laws.laws import powered

POWER = 2.0 / 3.0  # n, see (FR6)
LEAST = 1e-9  # a smaller level of friction is none


@dataclass(frozen=True, slots=True)
class Term:
    """One term of (ID7): its name, with a speed where it has one, such as stribeck at 0.1 rad/s."""

    kind: str
    speed: float = 0.0

    @property
    def name(self) -> str:
        return f"{self.kind} {self.speed:g}" if self.speed else self.kind

    @property
    def positive(self) -> bool:
        """True if the parameter of a passive joint cannot be negative."""
        return self.kind != "offset"

    def column(self, v: np.ndarray, T: np.ndarray | None) -> np.ndarray:
        """Effort per unit of the parameter, of rates v and efforts T handed to the links (n, rows)."""
        s = np.sign(v)
        match self.kind:
            case "viscous":
                return v
            case "coulomb":
                return s
            case "offset":
                return np.ones_like(v)
            case "power":
                return powered(v, POWER)
            case "stribeck":
                return s * np.exp(-np.abs(v) / self.speed)
            case "load":
                return s * np.abs(np.zeros_like(v) if T is None else T)
            case _:
                raise AssertionError(self.kind)


VISCOUS, COULOMB, OFFSET = Term("viscous"), Term("coulomb"), Term("offset")
POWER_TERM, LOAD = Term("power"), Term("load")
PLAIN = (VISCOUS, COULOMB, OFFSET)
STRIBECK_SPEEDS = (0.03, 0.1, 0.3)  # [rad/s] or [m/s] that are tried
OPTIONAL = (POWER_TERM, LOAD, *(Term("stribeck", x) for x in STRIBECK_SPEEDS))


SERVO_ZEROS = ("motor_share", "motor_share_static", "load_share_static", "motor_square", "load_square")


def laws_of(values: Mapping[Term, float], *, offset_is_friction: bool) -> tuple[Friction, ...]:
    """Laws of the library for the terms of one joint.

    offset_is_friction: an offset becomes levels that differ by direction, if it is smaller than the level and there is
    no friction from load, whose law has one level.
    """
    numbers = {term.kind: max(value, 0.0) for term, value in values.items() if term.positive}
    offset = next((value for term, value in values.items() if term.kind == "offset"), 0.0)
    level, load, surplus = (numbers.get(x, 0.0) for x in ("coulomb", "load", "stribeck"))
    viscous = {"viscous": numbers["viscous"]} if numbers.get("viscous", 0.0) > LEAST else {}
    fading = {"level_static": level + surplus, "stribeck_speed": 1.0, "exponent": 1.0}
    if surplus > LEAST:
        fading["stribeck_speed"] = next(term.speed for term in values if term.kind == "stribeck")
    sliding = {"level": level}
    if offset_is_friction and 0.0 < abs(offset) < level and load <= LEAST:
        sliding = {"level": level + offset, "level_negative": level - offset}
        fading["level_static"] += offset
    laws: list[Friction] = []
    if load > LEAST:
        laws.append(
            _law("servo", sliding | fading | {"load_share": load} | dict.fromkeys(SERVO_ZEROS, 0.0) | viscous)
        )
    elif surplus > LEAST:
        laws.append(_law("stribeck", sliding | fading | viscous))
    elif level > LEAST:
        laws.append(_law("coulomb", sliding | viscous))
    elif viscous:
        laws.append(_law("viscous", viscous))
    if numbers.get("power", 0.0) > LEAST:
        laws.append(_law("viscous", {"viscous": numbers["power"], "exponent": POWER}))
    return tuple(laws)


def _law(name: str, keys: Mapping[str, float]) -> Friction:
    return Friction(name, tuple((key, (float(x),)) for key, x in keys.items()))


def terms_from(friction: Any) -> tuple[Term, ...] | None:
    """Terms of `friction=` of `identify`: None for "auto", else by name."""
    if friction == "auto":
        return None
    if friction is None or friction == "none":
        return ()
    words: Sequence[str] = [friction] if isinstance(friction, str) else list(friction)
    every = {x.kind for x in (*PLAIN, *OPTIONAL)}
    terms: list[Term] = []
    for word in words:
        kind, _, speed = str(word).partition(" ")
        if kind not in every:
            raise InputError(
                f"friction has {word!r}; give 'auto', 'none', or a list of {listed(sorted(every))}",
                argument="friction",
            )
        terms.append(Term(kind, float(speed or 0.1) if kind == "stribeck" else 0.0))
    return tuple(terms)
