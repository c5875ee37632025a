"""Wrenches of each pair: constraint and drive (Pan, lecture 4; every kind of pair).

In the seat of the pair, marker z the axis of a pair that has one; wrenches (f; n), see `screw_algebra`. Columns are
counted from 1, as in the source. f degrees; p is the motion of the pair, linear half first.

    C_0 (6, 6−f)   unit wrenches the pair holds, fixed on the inner body:   C_0ᵀ p = 0            (SP1)
                   revolute: columns 1 2 3 4 5 of 1₆;   prismatic: 1 2 4 5 6
    D_0 (6, f)     wrenches of the drives, fixed on the outer body:   D_0ᵀ p = 1                  (SP2)
                   revolute: column 6;   prismatic: column 3
    M_0 (6, 6−f)   motions that C_0 denies one by one:   C_0ᵀ M_0 = 1                             (SP3)

A Hooke joint holds a moment across both its axes, which turns with its first angle; all others are constant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from kinpair.algebra.arrays import Matrix, Vector, array
from kinpair.errors import InputError, listed
from kinpair.formulations.screw_algebra import swapped
from kinpair.pairs import Closing

OfPair: TypeAlias = Callable[[Any, Vector], Matrix]


def columns(*numbers: int) -> Matrix:
    """Columns of the unit matrix 1₆, counted from 1."""
    return np.eye(6)[:, [k - 1 for k in numbers]]


@dataclass(frozen=True, slots=True)
class Wrenches:
    """Wrenches of one kind of pair: C_0, its rate on the inner body, M_0, D_0; functions of the pair and its q (and
    q̇)."""

    wrenches: OfPair  # (SP1)
    denied: OfPair  # (SP3)
    drive: OfPair = lambda pair, q: swapped(pair.p(q))  # (SP2)
    wrench_rates: Callable[[Any, Vector, Vector], Matrix] | None = None  # None: zero

    def rates(self, pair: Any, q: Vector, qd: Vector) -> Matrix:
        """The rates of C_0 on the inner body."""
        if self.wrench_rates is None:
            return np.zeros(self.wrenches(pair, q).shape)
        return self.wrench_rates(pair, q, qd)


def _holding(*numbers: int) -> Wrenches:
    return Wrenches(lambda pair, q: columns(*numbers), lambda pair, q: columns(*numbers))


def _screw_wrenches(pair: Any, q: Vector) -> Matrix:
    """Wrenches as of a hinge, but a force along the axis comes with the moment −pitch · force: no work on the screw."""
    nut = array([[0.0], [0.0], [1.0], [0.0], [0.0], [-pair.pitch]])
    return np.concatenate([columns(1, 2), nut, columns(4, 5)], axis=1)


def _hooke_wrenches(pair: Any, q: Vector) -> Matrix:
    c, s = np.cos(q[0]), np.sin(q[0])
    return np.concatenate([columns(1, 2, 3), array([[0.0], [0.0], [0.0], [0.0], [-s], [c]])], axis=1)


def _hooke_wrench_rates(pair: Any, q: Vector, qd: Vector) -> Matrix:
    c, s = np.cos(q[0]) * qd[0], np.sin(q[0]) * qd[0]
    return np.concatenate([np.zeros((6, 3)), array([[0.0], [0.0], [0.0], [0.0], [-c], [-s]])], axis=1)


WRENCHES: Mapping[str, Wrenches] = {
    "revolute": _holding(1, 2, 3, 4, 5),
    "prismatic": _holding(1, 2, 4, 5, 6),
    "helical": Wrenches(_screw_wrenches, lambda pair, q: columns(1, 2, 3, 4, 5), lambda pair, q: columns(6)),
    "cylindrical": _holding(1, 2, 4, 5),
    "universal": Wrenches(_hooke_wrenches, _hooke_wrenches, wrench_rates=_hooke_wrench_rates),
    "spherical": _holding(1, 2, 3),
    "planar": _holding(3, 4, 5),
    "free": _holding(),
    "fixed": _holding(1, 2, 3, 4, 5, 6),
    "pin": _holding(1, 2),
    "plane-weld": _holding(1, 2, 6),
    "turn": _holding(6),
    "face": _holding(3),
}


def wrenches_of(pair: Closing) -> Wrenches:
    """The row of the table for a pair."""
    if pair.kind in WRENCHES:
        return WRENCHES[pair.kind]
    raise InputError(
        f"pair {pair.kind!r} has no constraint wrenches in formulations/screw_pairs.py; add its row to WRENCHES. "
        f"Pairs: {listed(WRENCHES)}",
        pair=pair.kind,
    )
