"""Times a state, against Pinocchio's own calls from Python, in one process run."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import files
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from rich.console import Console

import kinpair as kp

BATCH = 4096
REPEATS = 5
ROBOTS = ("ur5_robot", "panda", "solo12", "g1_29dof_rev_1_0")


class Row(NamedTuple):
    """Microseconds a state."""

    robot: str
    quantity: str
    ours: float
    theirs: float


def best(f: Callable[[], Any], states: int) -> float:
    """Best of several repeats, in microseconds a state."""
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times) / states * 1e6


def urdf(name: str) -> Path:
    """A robot of example-robot-data."""
    found = next(f for f in files("example-robot-data") or () if f.name == f"{name}.urdf")
    return Path(str(found.locate()))


def rows(console: Console) -> Iterator[Row]:
    """A row a robot and quantity."""
    for name in ROBOTS:
        with console.status(f"timing {name}"):
            yield from measured(name)


def measured(name: str) -> Iterator[Row]:
    """Inverse and forward dynamics of one robot in both engines."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        ours = kp.load(urdf(name))
    theirs = pin.buildModelFromUrdf(str(urdf(name)))
    assert theirs.nq == ours.nq, f"{name} has unbounded joints; take another"
    data = theirs.createData()
    q, qd, x = np.random.default_rng(0).uniform(-1, 1, (3, BATCH, ours.nv))
    for quantity, f, peer in (
        ("inverse dynamics", ours.inverse_dynamics, pin.rnea),
        ("forward dynamics", ours.forward_dynamics, pin.aba),
    ):
        mine = best(partial(f, q, qd, x, passive=False), BATCH)
        yield Row(name, quantity, mine, best(partial(_loop, peer, theirs, data, q, qd, x), BATCH))


def _loop(f: Callable[..., Any], model: Any, data: Any, *state: np.ndarray) -> None:
    for row in zip(*state, strict=True):
        f(model, data, *row)
