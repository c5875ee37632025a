"""A piece of a run: some samples, and how the run stands behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

GOOD = ("more", "done")
NO_TIMES = np.zeros(0)


@dataclass(frozen=True, slots=True, eq=False)
class Piece:
    """Samples: times (n,), states (..., n, ny), watched (..., n, nw), in the layouts of the run.

    `why` is `more` while all is well, `done` at the end, else what ended it, and `trouble` the time of that; of a
    batch, both have an entry for each motion. `steps` and `rejected` count from the beginning. `memory` is all that is
    needed to go on from here; None where the run cannot be cut. `mode` is the number of the mode of these samples; of a
    batch with guards (rows, n), a number for each motion and sample.
    """

    times: np.ndarray
    Y: np.ndarray
    W: np.ndarray
    why: Any
    trouble: Any
    reached: float
    steps: int
    rejected: int
    dt: float
    memory: np.ndarray | None = None
    mode: Any = 0

    @property
    def good(self) -> bool:
        """Has nothing ended it? A batch goes on without the motions that ended."""
        return not isinstance(self.why, str) or self.why in GOOD

    def first(self, n: int) -> Piece:
        """The same with its first n samples only."""
        return replace(self, times=self.times[:n], Y=self.Y[..., :n, :], W=self.W[..., :n, :])
