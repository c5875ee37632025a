"""One state of a mechanism, as formulas see it."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinpair.algebra.arrays import Scalar, Vector

NOTHING = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """Coordinates q (nq,), rates qd (nv,), internal states x (nx,), inputs u (nu,), and the time [s].

    Entries are numbers, symbols, or columns of a batch. Without internal states, elements are in their start; without
    inputs, actuators do not act. `tau` (nv,) are efforts on the joints in addition to those of all elements.
    """

    q: Vector
    qd: Vector
    x: Vector = field(default_factory=lambda: NOTHING)
    u: Vector = field(default_factory=lambda: NOTHING)
    time: Scalar = 0.0
    tau: Vector = field(default_factory=lambda: NOTHING)
