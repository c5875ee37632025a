"""A row of four-bars that share cranks, each crank on the ground: the cost of N loops."""

from __future__ import annotations

import numpy as np

from kinpair import Builder, Mechanism, build

CRANK, SPACING = 0.3, 0.5  # [m]: length of the cranks, and from one to the next


def row(n: int) -> Mechanism:
    """n parallelograms side by side in a vertical plane; every crank but the last carries a coupler to the next."""
    made = Builder(f"row of {n}", gravity=(0.0, -9.81, 0.0))
    for k in range(n + 1):
        made.link(f"crank{k}", mass=1.0, com=[CRANK / 2, 0, 0], inertia=[0.0001, 0.0075, 0.0075])
        made.joint(f"crank{k}", "revolute", "ground", f"crank{k}", xyz=[k * SPACING, 0, 0], axis="z")
    for k in range(n):
        made.link(f"coupler{k}", mass=1.5, com=[SPACING / 2, 0, 0], inertia=[0.0001, 0.03, 0.03])
        made.joint(f"coupler{k}", "revolute", f"crank{k}", f"coupler{k}", xyz=[CRANK, 0, 0], axis="z")
        made.loop(
            f"pin{k}",
            "spherical",
            f"crank{k + 1}",
            f"coupler{k}",
            xyz=[CRANK, 0, 0],
            child_xyz=[SPACING, 0, 0],
        )
    return build(made.description())


def state(n: int, angle: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q and q̇ of the row with its cranks at this angle and rate; it is closed, the couplers stay level."""
    turned = np.concatenate([np.ones(n + 1), -np.ones(n)])
    return angle * turned, rate * turned
