"""Bounds of an MJCF actuator, and what is raised about one that has no counterpart here."""

from __future__ import annotations

from typing import NamedTuple


class NotTaken(Exception):  # noqa: N818
    """Why an actuator has no counterpart here; caught where it is read."""


class Range(NamedTuple):
    """Bounds of an input, an activation or a force."""

    lower: float
    upper: float

    @property
    def even(self) -> bool:
        """As far up as down?"""
        return self.lower == -self.upper
