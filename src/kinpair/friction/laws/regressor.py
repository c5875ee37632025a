"""Friction as a linear function of its levels: columns of the regressor beyond those of `formulations/regressor.py`.

There each rate has a damping, to which the viscous part of every law adds, and a friction, the Coulomb level that is
the same in both directions. Other laws are linear in their levels too, speeds and exponents given:

    F = s [([s > 0] − e) F_c + [s < 0] F_c⁻ + e F_s],   e = exp(−(|v|/v_s)ⁿ), zero of Coulomb's law       (FR5)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from kinpair.algebra.arrays import Matrix, Scalar, Vector, array
from kinpair.algebra.choice import less, where
from kinpair.friction.laws.laws import faded, powered
from kinpair.model.model import FrictionData, Model


class Column(NamedTuple):
    """A parameter: its name and value, the rate that it acts on, and the effort per unit of it."""

    name: str
    value: Scalar
    v: int
    slope: Scalar


def columns(model: Model, qd: Vector, share: Vector) -> list[Column]:
    """Columns of all laws beyond plain levels; `share`: signs of sliding."""
    return [
        Column(
            f"{model.v_names[x.v]}: {x.name.rpartition('.friction')[2].lstrip('.')}{key}", value, x.v, slope
        )
        for x in model.frictions
        if not any(signal.input for signal in x.signals.values())  # without inputs it does not act
        for key, value, slope in _of(x, qd[x.v], share[x.v], model.time)
    ]


def _of(x: FrictionData, rate: Scalar, s: Scalar, time: Scalar) -> Iterator[tuple[str, Scalar, Scalar]]:
    for key, value, slope in _numbers(x, rate, s):
        signal = x.signals.get(key)
        yield (
            key,
            value,
            slope if signal is None or signal.function is None else slope * signal.function(time),
        )


def _numbers(x: FrictionData, rate: Scalar, s: Scalar) -> Iterator[tuple[str, Scalar, Scalar]]:
    if x.is_power:
        yield "viscous", x.numbers["viscous"], powered(rate, x.numbers["exponent"])  # (FR6)
    plain = x.law == "coulomb" and "level_negative" not in x.numbers and not x.signals
    if x.law == "lugre" or "level" not in x.numbers or plain:
        return
    fades = "stribeck_speed" in x.numbers
    e = faded(s * rate, x.numbers["stribeck_speed"], x.numbers["exponent"]) if fades else 0.0
    forward = where(less(s, 0.0), 0.0, 1.0) if "level_negative" in x.numbers else 1.0
    yield "level", x.numbers["level"], s * (forward - e)  # (FR5)
    if "level_negative" in x.numbers:
        yield "level_negative", x.numbers["level_negative"], s * where(less(s, 0.0), 1.0, 0.0)
    if fades:
        yield "level_static", x.numbers["level_static"], s * e


def names(model: Model) -> tuple[str, ...]:
    """Names of the columns."""
    return tuple(x.name for x in _at_rest(model))


def values(model: Model) -> np.ndarray:
    """Values of the parameters."""
    return np.array([x.value for x in _at_rest(model)], dtype=float)


def _at_rest(model: Model) -> list[Column]:
    return columns(model, np.zeros(model.nv), np.zeros(model.nv))


def matrix(model: Model, qd: Vector, share: Vector) -> Matrix:
    """The columns (nv, n)."""
    every = columns(model, qd, share)
    if not every:
        return np.zeros((model.nv, 0))
    return array([[x.slope if x.v == v else 0.0 for x in every] for v in range(model.nv)])
