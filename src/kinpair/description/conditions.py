"""What the motion must obey beyond the joints, as plain data: loops, couplings, rolling, prescribed motion.

Like the other parts, these are compared by value and checked later; `kinpair.constraints` turns them into rows.
A `Mark` is a frame given by the link or frame it sits on.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from kinpair.description.parts import Numbers, Origin, Three, Z_AXIS


@dataclass(frozen=True, slots=True)
class Loop:
    """A pair that closes a loop: link `child` moves in link `parent` as this kind of joint allows.

    The joint frame sits at `origin` in the parent and, at the pair's neutral position, at `child_origin` in the
    child; it has no coordinate of its own.
    """

    name: str
    kind: str
    parent: str
    child: str
    origin: Origin = Origin()
    child_origin: Origin = Origin()
    axis: Three = Z_AXIS
    axis2: Three | None = None
    pitch: float = 0.0
    where: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Coupling:
    """A coordinate that follows others: q = offset + Σ_j (c_j1 y_j + c_j2 y_j² + ...), gears, racks, mimic.

    `joint` and the names in `terms` are coordinates (a joint of one degree by its own name, else `joint.part`);
    each term is a name and its coefficients (c_1, c_2, ...).
    """

    name: str
    joint: str
    terms: tuple[tuple[str, Numbers], ...]
    offset: float = 0.0
    where: str = field(default="", compare=False)


Condition: TypeAlias = Loop | Coupling
