"""A row of four-bars that share cranks, each crank on the ground: the cost of N loops."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from benchmarks.timing import race, repeated
from kinpair import Builder, Mechanism, build
from kinpair.compiler.kernel import Kernel
from kinpair.constraints.assembly.closure import Closure
from kinpair.evaluation.calls import Calls

CRANK, SPACING = 0.3, 0.5  # [m]: length of the cranks, and from one to the next
ANGLE, RATE = 0.7, 1.3  # of the cranks [rad], [rad/s]

SIZES = (
    1,
    5,
    10,
    20,
    50,
)  # longer ones are solved along the tree, which takes no redundant rows as these have
QUICK = (1, 5, 10, 20)
SOLVER = "multipliers"
BATCH = 256


def row(n: int) -> Mechanism:
    """n parallelograms side by side in a vertical plane; every crank but the last carries a coupler to the next."""
    builder = Builder(f"row of {n}", gravity=(0.0, -9.81, 0.0))
    for k in range(n + 1):
        builder.link(f"crank{k}", mass=1.0, com=[CRANK / 2, 0, 0], inertia=[0.0001, 0.0075, 0.0075])
        builder.joint(f"crank{k}", "revolute", "ground", f"crank{k}", xyz=[k * SPACING, 0, 0], axis="z")
    for k in range(n):
        builder.link(f"coupler{k}", mass=1.5, com=[SPACING / 2, 0, 0], inertia=[0.0001, 0.03, 0.03])
        builder.joint(f"coupler{k}", "revolute", f"crank{k}", f"coupler{k}", xyz=[CRANK, 0, 0], axis="z")
        builder.loop(
            f"pin{k}",
            "spherical",
            f"crank{k + 1}",
            f"coupler{k}",
            xyz=[CRANK, 0, 0],
            child_xyz=[SPACING, 0, 0],
        )
    return build(builder.description())


def state(n: int, angle: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """q and q̇ of the row with its cranks at this angle and rate; it is closed, the couplers stay level."""
    turned = np.concatenate([np.ones(n + 1), -np.ones(n)])
    return angle * turned, rate * turned


def kernel(n: int) -> Kernel:
    """The forward dynamics of the row, traced and not yet compiled."""
    mechanism = row(n)
    calls = Calls(mechanism.model, compiled=True)
    q, _ = state(n, ANGLE, RATE)
    return calls.kernels.get(
        Closure(mechanism.model, calls).requests.choose("accelerations", q, 0.0, SOLVER, {})
    )


@dataclass(frozen=True, slots=True)
class Growth:
    """By number of loops: operations, nanoseconds a state in a batch, seconds of the first use."""

    loops: tuple[int, ...]
    operations: tuple[int, ...]
    time: tuple[float, ...]
    first: tuple[float, ...]

    def exponent(self, of: str) -> float:
        """x of cost = c Nˣ, fitted to all but a single four-bar, which has one crank more for its loop."""
        cost = np.log(getattr(self, of)[1:])
        return float(np.polyfit(np.log(self.loops[1:]), cost, 1)[0])


def growth(sizes: tuple[int, ...], turns: int) -> Growth:
    """Rows of growing length; first uses with whatever is cached."""
    counts = tuple(kernel(n).count["total"] for n in sizes)
    calls: dict[int, Callable[[], None]] = {}
    first: list[float] = []
    for n in sizes:
        mechanism, (q, qd) = row(n), state(n, ANGLE, RATE)
        tau = np.zeros(mechanism.nv)
        start = time.process_time()
        mechanism.forward_dynamics(q, qd, tau)
        first.append(time.process_time() - start)
        many = [np.repeat(x[None], BATCH, axis=0) for x in (q, qd, tau)]
        mechanism.forward_dynamics(*many)
        calls[n] = repeated(mechanism.forward_dynamics, *many, times=1)
    best = race(calls, turns)
    return Growth(sizes, counts, tuple(best[n] / BATCH * 1e9 for n in sizes), tuple(first))
