"""Units of what varies and of what is recorded."""

from __future__ import annotations

from kinpair.mechanism import Mechanism
from kinpair.model.units import units

CONSTANTS = {"mass": "kg", "com": "m", "inertia": "kg m²"}
OPTIONS = {"duration": "s", "dt": "s", "time": "s", "output": "s", "alpha": "1/s"}


def entry_units(mechanism: Mechanism) -> dict[str, dict[str, str]]:
    """Of every entry of q, qd and tau, by name."""
    names = {"q": mechanism.q_names, "qd": mechanism.v_names, "tau": mechanism.v_names}
    return {
        group: dict(zip(names[group], column, strict=True))
        for group, column in units(mechanism.model).items()
    }


def constant_unit(name: str) -> str:
    """Of a constant of the mechanism, such as upper.mass or elbow.x."""
    return next((CONSTANTS[part] for part in name.split(".")[-2:] if part in CONSTANTS), "m")
