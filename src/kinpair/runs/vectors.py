"""The vectors of a sample: which there are, and the name and unit of each entry."""

from __future__ import annotations

from collections.abc import Sequence

from kinpair.forces.states import account_names, has_actuators, ports_of
from kinpair.mechanism import Mechanism
from kinpair.model.units import units

KINDS = ("supply", "loss")  # of an account
ACCOUNT = "account"


def vectors_of(mechanism: Mechanism, *, passive: bool = True) -> dict[str, dict[str, str]]:
    """Entries with their units, by vector; without those that have no entries, and inputs that are the efforts."""
    m, unit = mechanism, units(mechanism.model)
    ports = ports_of(m.model)
    account = zip(KINDS, account_names(m.model, passive=passive), strict=True)
    every: dict[str, tuple[Sequence[str], Sequence[str]]] = {
        "q": (m.q_names, unit["q"]),
        "qd": (m.v_names, unit["qd"]),
        "tau": (m.v_names, unit["tau"]),
        "x": (ports.x_names, ports.x_units),
        "u": (ports.u_names, ports.u_units) if has_actuators(m.model) else ((), ()),
    }
    vectors = {name: dict(zip(*columns, strict=True)) for name, columns in every.items()}
    vectors[ACCOUNT] = {f"{kind} {name}": "J" for kind, names in account for name in names}
    return {name: entries for name, entries in vectors.items() if entries}
