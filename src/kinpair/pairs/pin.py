"""A pin of a plane linkage, which closes a loop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

from kinpair.pairs.pair import Closing


@final
@dataclass(frozen=True, slots=True, eq=False)
class Pin(Closing):
    """Holds a point on the axis z of the seat; slide along z and all turns are free."""

    kind = "pin"
    closure = (("point", 0), ("point", 1))
