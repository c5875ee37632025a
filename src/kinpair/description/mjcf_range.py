"""Bounds of an MJCF actuator."""

from __future__ import annotations

from typing import NamedTuple


class Range(NamedTuple):
    """Bounds of an input, an activation or a force."""

    lower: float
    upper: float

    @property
    def even(self) -> bool:
        """True if the range is symmetric."""
        return self.lower == -self.upper
