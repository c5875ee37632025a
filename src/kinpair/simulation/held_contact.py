"""Contact between events of what moves, evaluated at a state from Python."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinpair.contact.records import Found
from kinpair.simulation.contact.between import point_bias
from kinpair.simulation.contact.prediction import CURVED
from kinpair.simulation.contact.rows import twists
from kinpair.simulation.contact.tree import Tree
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.loops import KERNELS, kernel_of
from kinpair.simulation.methods import contact_between


class ContactTerms(NamedTuple):
    """Terms of contact at a state: poses R (bodies, 9), P (bodies, 3), bias accelerations (bodies, 6), screws
    (nv, 6), M (nv, nv), rates, q̈ without contact, rows A of constraints; the last rate of each body; gaps of limits;
    least and greatest efforts of dry friction at rest and of sliding (4, frictions)."""

    R: np.ndarray
    P: np.ndarray
    accelerations: np.ndarray
    screws: np.ndarray
    M: np.ndarray
    qd: np.ndarray
    free: np.ndarray
    A: np.ndarray
    tree: Tree
    body: np.ndarray
    first: np.ndarray
    second: np.ndarray
    gaps: np.ndarray
    efforts: np.ndarray

    def jacobian(self, body: int, point: np.ndarray) -> np.ndarray:
        """Return J (3, nv) of the velocity of a body at a point of the world."""
        J = np.zeros((3, len(self.qd)))
        k = int(self.tree.last[body])
        while k >= 0:
            J[:, k] = self.screws[k, 3:] + np.cross(self.screws[k, :3], point)
            k = int(self.tree.parent[k])
        return J

    def bias(self, found: Found, k: int) -> np.ndarray:
        """Return J̇q̇ (3,) of the rows of a point."""
        W, out = np.zeros((len(self.qd), 6)), np.zeros(3)
        twists(self.screws, self.tree, self.qd, W)
        a, b = (int(self.body[x[found.pair[k]]]) for x in (self.first, self.second))
        point_bias(found, k, W, self.accelerations, self.P, a, b, self.tree, np.zeros(CURVED), out)
        return out


class HeldContact:
    """Contact between events of what moves, evaluated at a state from Python."""

    def __init__(self, d: Dynamics) -> None:
        self.d, self.solve = d, contact_between.solve(d)
        self._memory, self._places = np.zeros(self.solve.memory), np.zeros(self.solve.places, dtype=np.int64)

    def start(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return z before the loop function."""
        kernel = kernel_of(self.d, contact_between.start, time=(), y=(self.d.ny,), u=(self.d.nu,))
        return np.array(kernel(time, y, u, *((p,) if self.d.parameters else ())))

    def solved(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> np.ndarray:
        """Return z with forces, accelerations and guards."""
        z = self.start(p, time, y, u)
        self.solve.function(0.0, z, self.solve.numbers, self.solve.whole, self._memory, self._places)
        return z

    def terms(self, p: np.ndarray, time: float, y: np.ndarray, u: np.ndarray) -> ContactTerms:
        """Return what contact at a state is made of."""
        z, nv, nb = self.start(p, time, y, u), self.d.model.nv, len(self.d.model.parent)
        touching = self.d.touching
        assert touching is not None
        data = touching.data
        rows = contact_between.row_count(self.d)
        limits, frictions = len(touching.limits), len(self.d.rough_rates)
        sizes = [9 * nb, 3 * nb, 6 * nb, 6 * nv, nv * nv, nv, nv, rows * nv, limits, 4 * frictions]
        R, P, bias, screws, M, qd, free, A, gaps, efforts, _ = np.split(z, np.cumsum(sizes))
        bodies = R.reshape(nb, 9), P.reshape(nb, 3), bias.reshape(nb, 6)
        motion = screws.reshape(nv, 6), M.reshape(nv, nv), qd, free, A.reshape(rows, nv)
        whole = np.array(contact_between.tree_of(self.d), dtype=np.int64)
        parent, inward, place, root, last, *_ = np.split(whole, [nv, 2 * nv, 3 * nv, 4 * nv])
        tree = Tree(parent, inward, place, last, root)
        joints = gaps, efforts.reshape(4, frictions)
        return ContactTerms(*bodies, *motion, tree, data.body, data.first, data.second, *joints)


def held_contact(d: Dynamics) -> HeldContact:
    """Return contact between events of what moves; kept for the next call."""
    return KERNELS.get(("HeldContact", d.key), lambda: HeldContact(d))
