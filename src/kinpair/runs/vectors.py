"""The vectors of a sample: which there are, and the name and unit of each entry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kinpair.forces.states import account_names, has_actuators, ports_of, sticking_names
from kinpair.mechanism import Mechanism
from kinpair.model.units import units


def by_inputs(mechanism: Mechanism, options: Mapping[str, Any]) -> bool:
    """Was a run with these options driven by inputs, not by joint efforts?"""
    other = mechanism.u_names != mechanism.v_names and options.get("input") is not None
    return other or has_actuators(mechanism.model)


KINDS = ("supply", "loss")  # of an account
ACCOUNT = "account"


def vectors_of(
    mechanism: Mechanism, options: Mapping[str, Any], *, passive: bool = True
) -> dict[str, dict[str, str]]:
    """Entries with their units, by vector; without those that have no entries, and inputs that are the efforts."""
    from kinpair.runs.contacts import entries

    m, unit = mechanism, units(mechanism.model)
    ports = ports_of(m.model)
    driven = by_inputs(m, options)
    account = zip(KINDS, account_names(m.model, driven, passive=passive), strict=True)
    every: dict[str, tuple[Sequence[str], Sequence[str]]] = {
        "q": (m.q_names, unit["q"]),
        "qd": (m.v_names, unit["qd"]),
        "tau": (m.v_names, unit["tau"]),
        "x": (ports.x_names, ports.x_units),
        "u": (ports.u_names, ports.u_units) if driven else ((), ()),
    }
    vectors = {name: dict(zip(*columns, strict=True)) for name, columns in every.items()}
    steps = options.get("integrator") == "time-stepping"
    rough = () if steps else sticking_names(m.model, passive=passive)
    unit_of = dict(zip(m.v_names, unit["qd"], strict=True))
    vectors["slid"] = {name: unit_of.get(name, "m/s").removesuffix("/s") for name in rough}
    vectors["phase"] = dict.fromkeys(rough, "")
    touches = m.model.contacts is not None and len(m.model.contacts.first) > 0
    vectors["touching"] = entries(m) if steps or touches else {}
    vectors[ACCOUNT] = {f"{kind} {name}": "J" for kind, names in account for name in names}
    return {name: names for name, names in vectors.items() if names}
