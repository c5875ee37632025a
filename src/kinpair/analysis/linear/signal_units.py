"""Units of the inputs and outputs of a linear model, by their names."""

from __future__ import annotations

from kinpair.model.model import Model
from kinpair.model.units import units

SQUARED = {"rad/s": "rad/s²", "m/s": "m/s²"}
ENDINGS = {
    **dict.fromkeys(("x", "y", "z"), "m"),
    **dict.fromkeys(("vx", "vy", "vz"), "m/s"),
    **dict.fromkeys(("wx", "wy", "wz"), "rad/s"),
    "energy": "J",
}


def unit_of(model: Model, name: str) -> str:
    """Return the unit of a signal such as "q.elbow", "tau.elbow" or "hand.x"; empty where it is not known."""
    kind, _, entry = name.partition(".")
    known = units(model)
    if entry in model.v_names:
        k = model.v_names.index(entry)
        rate = known["qd"][k]
        by_kind = {
            "q": rate.removesuffix("/s"),
            "qd": rate,
            "qdd": SQUARED.get(rate, ""),
            "tau": known["tau"][k],
        }
        if kind in by_kind:
            return by_kind[kind]
    if kind == "q" and entry in model.q_names:
        return known["q"][model.q_names.index(entry)]
    return ENDINGS.get(name.rpartition(".")[2], "")


def ratio(above: str, below: str) -> str:
    """Return the unit of an output by an input, in brackets; empty where one of them is not known.

    >>> ratio("rad", "N m")
    ' [rad/(N m)]'
    """
    if not (above and below):
        return ""
    top, bottom = (f"({x})" if " " in x or "/" in x else x for x in (above, below))
    return f" [{top}/{bottom}]"
