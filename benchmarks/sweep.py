"""What a sweep adds to the simulations in it: ten thousand short ones on two cores."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

import numpy as np

import kinpair as kp

CASES, WORKERS = 10_000, 2
DURATION = 0.05
LIMIT = 1e-3  # seconds a case
OVER = {"q.elbow": kp.Grid(0.0, 1.0, CASES)}
METHODS = {"RK4 at 1 kHz": {"integrator": "rk4", "dt": 1e-3}, "dop853": {"integrator": "dop853"}}


@dataclass(frozen=True, slots=True)
class Swept:
    """Seconds a case: the bare simulation on one core, the sweep by the clock, starting of processes included."""

    method: str
    bare: float
    clock: float

    @property
    def overhead(self) -> float:
        """Seconds of a core that a case costs beyond its simulation."""
        return WORKERS * self.clock - self.bare

    @property
    def met(self) -> bool:
        """Is it little enough?"""
        return self.overhead <= LIMIT


def rows() -> Iterator[Swept]:
    """Fixed steps, which a sweep hands over in batches, and adaptive ones, one by one."""
    for label, method in METHODS.items():
        study = kp.Study("double-pendulum", q={"shoulder": 0.3}, duration=DURATION, output=0.01, **method)
        yield Swept(label, _bare(study, batch="dt" in method) / CASES, _swept(study) / CASES)


def _bare(study: kp.Study, batch: bool) -> float:
    q = np.tile(study.q, (CASES, 1))
    q[:, 1] = OVER["q.elbow"].values()
    kp.simulate(study.mechanism, q[:2] if batch else q[0], study.qd, **study.options)
    start = perf_counter()
    for rows in [q] if batch else q:
        kp.simulate(study.mechanism, rows, study.qd, **study.options)
    return perf_counter() - start


def _swept(study: kp.Study) -> float:
    with tempfile.TemporaryDirectory() as folder:
        start = perf_counter()
        table = kp.sweep(study, OVER, out=folder, workers=WORKERS)
        took = perf_counter() - start
    assert len(table) == CASES
    assert not table.failed.any()
    return took
