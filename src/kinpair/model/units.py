"""Units of coordinates, rates and efforts, entry by entry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinpair.model.model import Model

TURN, SHIFT = ("rad", "rad/s", "N m"), ("m", "m/s", "N")
PARTS = {  # part of a pair → units of coordinate, rate, effort
    **dict.fromkeys(("angle", "angle1", "angle2", "wx", "wy", "wz"), TURN),
    **dict.fromkeys(("slide", "x", "y", "z", "vx", "vy", "vz"), SHIFT),
    **dict.fromkeys(("qx", "qy", "qz", "qw"), ("1", "1/s", "")),
}
UNKNOWN = ("", "", "")


def units(model: Model) -> dict[str, list[str]]:
    """Return the units of every entry of q, qd and tau, made once."""
    return model.once("units", lambda: _units(model))


def _units(model: Model) -> dict[str, list[str]]:
    pairs = [model.body[i].pair for i in model.in_order]
    q = [part for pair in pairs for part in pair.q_parts]
    v = [part for pair in pairs for part in pair.v_parts]
    return {"q": _column(q, model.nq, 0), "qd": _column(v, model.nv, 1), "tau": _column(v, model.nv, 2)}


def _column(parts: Sequence[str], size: int, which: int) -> list[str]:
    """Return one unit for each part; none where a system has coordinates without joints."""
    column = [PARTS.get(part, UNKNOWN)[which] for part in parts]
    return column if len(column) == size else [""] * size
