"""General serial chains for counting and timing."""

from __future__ import annotations

import numpy as np

from kinpair import DHRow, Mechanism, build, dh_description


def dh_chain(n: int, seed: int = 0) -> Mechanism:
    """n equal links on revolute joints, general modified DH parameters and full inertia tensors."""
    rng = np.random.default_rng(seed)
    row = DHRow(
        alpha=float(rng.uniform(0.3, 1.2)),
        a=float(rng.uniform(0.1, 0.5)),
        d=float(rng.uniform(0.1, 0.5)),
        theta=0.0,
        mass=float(rng.uniform(1, 5)),
        com=tuple(rng.uniform(0.05, 0.2, 3).tolist()),
        inertia=(0.05, 0.06, 0.07, 0.003, 0.002, 0.001),
    )
    return build(dh_description([row] * n, convention="modified", name=f"chain of {n}"))
