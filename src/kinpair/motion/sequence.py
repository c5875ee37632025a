"""Motions one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, final

from kinpair.algebra.choice import less, maximum, minimum, where
from kinpair.motion.trajectory import Trajectory


class Part(NamedTuple):
    """A motion in a sequence: its own time is (time − origin) · scale."""

    motion: Trajectory
    origin: float
    scale: float = 1.0


@final
@dataclass(frozen=True, eq=False, repr=False)
class Sequence(Trajectory):
    """Parts between the `borders`, one more than there are parts."""

    parts: tuple[Part, ...]
    borders: tuple[float, ...]

    def within(self, time: Any, order: int, side: str) -> list[Any]:
        found = self._of(0, time, order, side)
        for k in range(1, len(self.parts)):
            border = self.borders[k]
            later = less(border, time) if side == "left" else less(time, border)
            own = self._of(k, time, order, side)
            pairs = zip(own, found, strict=True) if side == "left" else zip(found, own, strict=True)
            found = [where(later, a, b) for a, b in pairs]
        return found

    def _of(self, k: int, time: Any, order: int, side: str) -> list[Any]:
        motion, origin, scale = self.parts[k]
        own = minimum(maximum((time - origin) * scale, 0.0), motion.duration)
        found = motion.within(own, order, side)
        found += [0.0 * found[0]] * (order + 1 - len(found))
        return [x * scale**n for n, x in enumerate(found)]


def sequence(parts: tuple[Part, ...], borders: tuple[float, ...]) -> Sequence:
    """The parts one after the other; the borders start at 0."""
    return Sequence(borders[-1], parts[0].motion.shape, borders, parts, borders)
