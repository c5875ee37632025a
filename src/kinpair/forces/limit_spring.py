"""A spring and damper at the limit of a joint: it pushes while a coordinate is beyond its limit, and never pulls.

    F = max(0, k d − c ġ)  where d = −g > 0, else 0       g: the distance left to the limit       (BU1)

Stored ½ k d²; dissipated at the rate (k d − F) ġ ≥ 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

from kinpair.algebra.arrays import Scalar
from kinpair.algebra.choice import less, maximum, where
from kinpair.forces.element import Element, Instant


@final
@dataclass(frozen=True, slots=True)
class LimitSpring(Element):
    """One end of coordinate `q` with rate `v`: `side` is +1 at the lower limit, −1 at the upper one."""

    name: str
    bodies: tuple[int, ...]
    v: int
    q: int
    side: float
    limit: float
    stiffness: float
    damping: float
    dissipates = True

    @property
    def jumps(self) -> bool:
        """True where the limit is passed."""
        return True

    def _depth(self, at: Instant) -> Scalar:
        """d, zero within the limit."""
        return maximum(0.0, self.side * (self.limit - at.state.q[self.q]))

    def _push(self, at: Instant) -> tuple[Scalar, Scalar, Scalar]:
        """Force F, elastic force k d, and ġ."""
        depth, rate = self._depth(at), self.side * at.state.qd[self.v]
        elastic = self.stiffness * depth
        pushing = maximum(0.0, elastic - self.damping * rate)
        return where(less(0.0, depth), pushing, 0.0), elastic, rate  # (BU1)

    def efforts(self, at: Instant) -> Mapping[int, Scalar]:
        """Effort ±F on the rate."""
        return {self.v: self.side * self._push(at)[0]}

    def energy(self, at: Instant) -> Scalar:
        """½ k d²."""
        depth = self._depth(at)
        return 0.5 * self.stiffness * depth * depth

    def losses(self, at: Instant) -> Mapping[str, Scalar]:
        """(k d − F) ġ."""
        force, elastic, rate = self._push(at)
        return {self.name: (elastic - force) * rate}

    def switches(self, at: Instant) -> Mapping[str, Scalar]:
        """The distance left to the limit, and what the push would be if it could pull."""
        gap, rate = self.side * (at.state.q[self.q] - self.limit), self.side * at.state.qd[self.v]
        return {self.name: gap, f"{self.name}: lets go": -self.stiffness * gap - self.damping * rate}
