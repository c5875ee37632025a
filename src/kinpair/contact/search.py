"""The contact points of a state of a mechanism, by name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from kinpair.compiler.cache import Store
from kinpair.compiler.loops.functions import LoopFunction, compiled
from kinpair.contact.find import find_contacts
from kinpair.contact.records import SLOTS, Found, geometry_of, room
from kinpair.model.model import Model


@cache
def compiled_search() -> LoopFunction:
    """Return the machine code of `find_contacts`: one function for all mechanisms."""
    return compiled(find_contacts, store=Store())


@dataclass(frozen=True, slots=True, eq=False)
class ContactPoint:
    """A point where geom a is next to geom b, in the world.

    `normal` points from b to a; `tangents` (2, 3) are perpendicular to it. `gap` [m] is negative where the geoms
    overlap. `feature` numbers the points of a pair.
    """

    a: str
    b: str
    feature: int
    point: np.ndarray
    normal: np.ndarray
    tangents: np.ndarray
    gap: float
    mu: float
    mu_static: float
    restitution: float

    @property
    def name(self) -> str:
        """Name of the point: those of the geoms, and its number in the pair where that is not 0."""
        number = f" {self.feature}" if self.feature else ""
        return f"{self.a} on {self.b}{number}"


class Search:
    """The search for contact points of a model; its memory grows with the number of points."""

    def __init__(self, model: Model) -> None:
        assert model.contacts is not None
        self.model, self.data = model, model.contacts
        self.geometry, self.found = geometry_of(self.data), room(self.data)

    def __call__(self, R: np.ndarray, p: np.ndarray, margin: float) -> tuple[int, Found]:
        """Return the number of points of bodies at R (bodies, 9), p (bodies, 3), and the points."""
        count = compiled_search()(R, p, self.geometry, self.found, float(margin))
        if count > len(self.found.gap):
            self.found = room(self.data, 2 * count)
            return self(R, p, margin)
        return count, self.found

    def points(self, poses: Any, margin: float) -> tuple[ContactPoint, ...]:
        """Return the points of links at `poses`, by name of the link."""
        count, found = self(*body_poses(self.model, poses), margin)
        return tuple(self._point(found, k) for k in range(count))

    def _point(self, found: Found, k: int) -> ContactPoint:
        pair, data = int(found.pair[k]), self.data
        frame = found.frame[k].copy().reshape(3, 3)
        return ContactPoint(
            data.names[data.first[pair]],
            data.names[data.second[pair]],
            int(found.slot[k]) % SLOTS,
            found.point[k].copy(),
            frame[0],
            frame[1:],
            float(found.gap[k]),
            float(data.mu[pair]),
            float(data.mu_static[pair]),
            float(data.restitution[pair]),
        )


def body_poses(model: Model, poses: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return axes (bodies, 9) and origins (bodies, 3) of the bodies of a model from poses of its links."""
    R, p = np.zeros((len(model.names), 9)), np.zeros((len(model.names), 3))
    R[0] = np.eye(3).ravel()
    for i in model.moving:
        name = model.names[i]
        seat, (turn, at) = model.places[name].pose, poses[name]
        axes = np.asarray(turn, dtype=float) @ np.asarray(seat.R, dtype=float).T
        R[i], p[i] = axes.ravel(), at - axes @ np.asarray(seat.a, dtype=float)
    return R, p


def deepest(points: Sequence[ContactPoint]) -> ContactPoint | None:
    """Return the point with the smallest gap."""
    return min(points, key=lambda x: x.gap, default=None)
