"""Pairs of geoms in random poses, and what two other programs find of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import kinpair as kp
from kinpair.contact.find import find_contacts
from kinpair.contact.records import Found, geometry_of, room
from kinpair.contact.search import compiled_search
from kinpair.spatial.rotation import from_quaternion

SIZES = {
    "sphere": 0.3,
    "capsule": [0.2, 0.7],
    "box": [0.6, 0.4, 0.5],
    "cylinder": [0.25, 0.5],
    "ellipsoid": [0.3, 0.2, 0.4],
    "hull": [
        [0.3, 0, -0.2],
        [-0.2, 0.3, -0.2],
        [-0.2, -0.3, -0.2],
        [0.2, 0.1, 0.25],
        [-0.1, -0.2, 0.3],
        [-0.3, 0.1, 0.2],
    ],
    "plane": True,
}


def turn(rng: np.random.Generator) -> np.ndarray:
    """A random rotation."""
    q = rng.normal(size=4)
    return from_quaternion(q / np.linalg.norm(q))


@dataclass
class Pair:
    """Two geoms on two bodies, which are placed at will."""

    one: str
    other: str

    def __post_init__(self) -> None:
        builder = kp.Builder("pair")
        for k, kind in enumerate((self.one, self.other)):
            builder.link(f"body{k}", mass=1.0, inertia=[1, 1, 1])
            builder.joint(f"free{k}", "free", "ground", f"body{k}")
            builder.contact(f"geom{k}", f"body{k}", **{kind: SIZES[kind]})
        self.data = kp.build(builder).model.contacts
        self.geometry, self.room = geometry_of(self.data), room(self.data, 64)

    def points(self, R: np.ndarray, p: np.ndarray, margin: float = 10.0, *, reference: bool = False) -> Found:
        """Contact points with bodies at R (2, 3, 3), p (2, 3), as rows without the memory."""
        rows = np.vstack([np.eye(3).ravel(), R.reshape(2, 9)])
        origins = np.vstack([np.zeros(3), p])
        find = find_contacts if reference else compiled_search()
        count = find(rows, origins, self.geometry, self.room, margin)
        assert count <= len(self.room.gap)
        return Found(*(x[:count].copy() for x in self.room[:6]), *self.room[6:])

    def swapped(self) -> bool:
        """True if geom a is that of the second body."""
        return bool(self.data.first[0] == 1)
