"""Contact in a run: forces by point and by pair, slip, phases, centre of pressure, losses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinpair.contact.records import SLOTS
from kinpair.contact.search import Search, body_poses
from kinpair.mechanism import Mechanism
from kinpair.simulation.contact.numbers import (
    DEPTH,
    FRICTION,
    IMPACT,
    KEPT,
    LEDGER,
    POINTS,
    REDUCTION,
    RESIDUAL,
    SEPARATION,
    UNMET,
)

OPEN, RESTS, SLIDES = range(3)  # phases of a point
SLOW = 1e-6  # [m/s]: a point that slides slower rests
NEAR = 1e-2  # [m]: points this far apart still have a place, such as those that have just lifted
DEPENDENT = 1e-9  # singular values of rows below this part of the largest are zero


class PointHistory(NamedTuple):
    """A contact point at the samples of a motion (samples,): force on geom a [N] and place [m] in the world, normal,
    velocity of sliding of a over b [m/s], and phase (OPEN 0, RESTS 1, SLIDES 2). NaN where there is no point."""

    force: np.ndarray
    place: np.ndarray
    normal: np.ndarray
    slip: np.ndarray
    phase: np.ndarray


class PairHistory(NamedTuple):
    """A pair of geoms at the samples of a motion: force on geom a [N] (samples, 3), its normal part [N] (samples,), and
    the centre of pressure [m] (samples, 3), NaN where nothing pushes."""

    force: np.ndarray
    normal: np.ndarray
    centre: np.ndarray


def entries(mechanism: Mechanism) -> dict[str, str]:
    """Return names and units of the numbers of contact in a sample: sums, measures of a step, forces by slot."""
    data = mechanism.model.contacts
    capacity = 1 if data is None else data.max_contacts
    measures = {
        "impact loss": "J",
        "friction loss": "J",
        "separation loss": "J",
        "reduction": "m",
        "residual": "",
        "points": "",
        "depth": "m",
        "unmet": "",
    }
    forces = {f"{word} {k}": unit for k in range(capacity) for word, unit in FORCES.items()}
    return measures | forces


FORCES = {"slot": "", "force.x": "N", "force.y": "N", "force.z": "N"}


@dataclass(frozen=True, eq=False)
class Contacts:
    """Contact in one motion: samples of q (samples, nq), qd (samples, nv) and of the numbers of contact."""

    mechanism: Mechanism
    time: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    numbers: np.ndarray

    @property
    def impact_loss(self) -> np.ndarray:
        """Energy lost in impacts since the start (samples,) [J]."""
        return self.numbers[:, IMPACT]

    @property
    def friction_loss(self) -> np.ndarray:
        """Energy lost in sliding since the start (samples,) [J]; in time steps with dry friction of joints."""
        return self.numbers[:, FRICTION]

    @property
    def separation_loss(self) -> np.ndarray:
        """Energy taken out since the start (samples,) [J] by displacements that reduce overlaps."""
        return self.numbers[:, SEPARATION]

    @property
    def reduction(self) -> np.ndarray:
        """Sum since the start (samples,) [m] of what displacements have taken off the deepest overlap."""
        return self.numbers[:, REDUCTION]

    @property
    def residual(self) -> np.ndarray:
        """Residual of complementarity of the step before each sample (samples,), scaled, without unit."""
        return self.numbers[:, RESIDUAL]

    @property
    def solved(self) -> np.ndarray:
        """True at samples (samples,) whose step was solved to a residual of 1e-10, or to rounding."""
        return self.numbers[:, UNMET] == 0.0

    @property
    def count(self) -> np.ndarray:
        """Number of points that push (samples,)."""
        return self.numbers[:, POINTS].astype(int)

    @property
    def depth(self) -> np.ndarray:
        """Largest penetration at the start of the step before each sample (samples,) [m]."""
        return self.numbers[:, DEPTH]

    @cached_property
    def points(self) -> Mapping[str, PointHistory]:
        """Points that pushed at a sample, by name."""
        kept = self.numbers[:, LEDGER:].reshape(len(self.time), -1, KEPT)
        slots = sorted({int(x) - 1 for x in np.unique(kept[:, :, 0]) if x > 0.0})
        force = {slot: np.zeros((len(self.time), 3)) for slot in slots}
        for n, row in enumerate(kept):
            for entry in row[row[:, 0] > 0.0]:
                force[int(entry[0]) - 1][n] = entry[1:]
        places = self._places(slots)
        return {self.name(slot): self._point(slot, force[slot], *places[slot]) for slot in slots}

    @cached_property
    def pairs(self) -> Mapping[str, PairHistory]:
        """Pairs of geoms that pushed at a sample, by name."""
        by_pair: dict[str, list[PointHistory]] = {}
        for name, point in self.points.items():
            by_pair.setdefault(name.partition(" #")[0], []).append(point)
        return {name: _together(points) for name, points in by_pair.items()}

    @cached_property
    def unique(self) -> np.ndarray:
        """True at samples (samples,) at which the motion determines every force: rows of the points are independent."""
        return np.array([self._independent(n) for n in range(len(self.time))])

    def name(self, slot: int) -> str:
        """Return the name of a point: those of the geoms, and its number in the pair."""
        data = self.mechanism.model.contacts
        assert data is not None
        pair, feature = divmod(slot, SLOTS)
        return f"{data.names[data.first[pair]]} on {data.names[data.second[pair]]} #{feature}"

    def _places(self, slots: list[int]) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Return places and normals (samples, 3) of slots, from the geometry at the samples."""
        count, search = len(self.time), Search(self.mechanism.model)
        places = {slot: (np.full((count, 3), np.nan), np.full((count, 3), np.nan)) for slot in slots}
        for n in range(count if slots else 0):
            poses = self.mechanism.poses(self.q[n])
            number, found = search(*body_poses(self.mechanism.model, poses), NEAR)
            for k in range(number):
                if (slot := int(found.slot[k])) in places:
                    places[slot][0][n], places[slot][1][n] = found.point[k], found.frame[k, :3]
        return places

    def _point(self, slot: int, force: np.ndarray, place: np.ndarray, normal: np.ndarray) -> PointHistory:
        """Return a point with its slip and its phases."""
        data = self.mechanism.model.contacts
        assert data is not None
        pair = slot // SLOTS
        bodies = data.body[data.first[pair]], data.body[data.second[pair]]
        u = self._velocity(int(bodies[0]), place) - self._velocity(int(bodies[1]), place)
        slip = u - normal * (u * normal).sum(axis=1, keepdims=True)
        pushes, moves = np.abs(force).any(axis=1), np.sqrt((slip**2).sum(axis=1)) > SLOW
        return PointHistory(
            force, place, normal, slip, np.where(pushes, np.where(moves, SLIDES, RESTS), OPEN)
        )

    def _velocity(self, body: int, place: np.ndarray) -> np.ndarray:
        """Return the velocity (samples, 3) of a body at places (samples, 3) in the world."""
        if body == 0:
            return np.zeros_like(place)
        name = self.mechanism.model.names[body]
        twist, at = self.mechanism.twists(self.q, self.qd)[name], self.mechanism.poses(self.q)[name].position
        return twist[:, 3:] + np.cross(twist[:, :3], place - at)

    def _independent(self, n: int) -> bool:
        """True if the rows of the points that push at sample n are independent."""
        rows = list[np.ndarray]()
        data = self.mechanism.model.contacts
        assert data is not None
        slots = [int(x) - 1 for x in self.numbers[n, LEDGER::KEPT] if x > 0.0]
        for slot in slots:
            pair, place = slot // SLOTS, self.points[self.name(slot)].place[n]
            if not np.isfinite(place).all():
                return False
            a, b = int(data.body[data.first[pair]]), int(data.body[data.second[pair]])
            rows.append(self._jacobian(a, n, place) - self._jacobian(b, n, place))
        if not rows:
            return True
        sizes = np.linalg.svd(np.vstack(rows), compute_uv=False)
        rank = int((sizes > DEPENDENT * sizes[0]).sum())
        return rank == 3 * len(rows)

    def _jacobian(self, body: int, n: int, place: np.ndarray) -> np.ndarray:
        """Return J (3, nv) of the velocity of a body at a place."""
        m = self.mechanism
        if body == 0:
            return np.zeros((3, m.nv))
        name = m.model.names[body]
        J, r = m.jacobian(self.q[n], name), place - m.poses(self.q[n])[name].position
        return J[3:] - np.cross(np.broadcast_to(r[:, None], (3, m.nv)), J[:3], axis=0)


def _together(points: list[PointHistory]) -> PairHistory:
    """Return the sum of the points of a pair."""
    force = sum((x.force for x in points), np.zeros_like(points[0].force))
    parts = [np.nan_to_num((x.force * x.normal).sum(axis=1)) for x in points]
    normal = sum(parts, np.zeros(len(force)))
    weighted = sum(
        (part[:, None] * np.nan_to_num(x.place) for part, x in zip(parts, points, strict=True)),
        np.zeros_like(force),
    )
    with np.errstate(all="ignore"):
        centre = np.where(normal[:, None] > 0.0, weighted / normal[:, None], np.nan)
    return PairHistory(force, normal, centre)
