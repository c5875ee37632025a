"""Humanoids and arms next to Pinocchio: one state, derivatives into prepared and fresh memory, poses of all links.

On both sides the clock stops when the numbers are in arrays of the caller. `python -m benchmarks.humanoids` prints the
rows; a word behind it selects those whose name has it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pinocchio as pin

import kinpair as kp
from benchmarks.batches import Row
from benchmarks.rival import relative_error
from benchmarks.robots import States, random_states, robot
from benchmarks.timing import race, repeated

BATCH, TIMES, SAME = 1024, 300, 1e-6
DROPPED = "Pinocchio, results dropped"
ONE, MANY = "one state, {}", "batch 1024, {}"
Call = Callable[..., Any]


@dataclass(frozen=True, slots=True)
class Case:
    """A method of ours and Pinocchio's function of model, data and a state that gives the same array.

    `one`, `fresh`: robots with the ratio that is wanted of one state, and of a batch whose results come in fresh
    memory; `benchmarks/batches.py` has prepared memory. `entry`: what of our result is compared; None where both
    differ by definition.
    """

    method: str
    takes: int
    theirs: Call
    one: dict[str, float]
    fresh: dict[str, float]
    entry: Callable[[Any], np.ndarray] | None = None
    dropped: Call | None = None  # their function alone, whose results stay in its data


def _derivatives(model: Any, data: Any, q: Any, v: Any, a: Any) -> np.ndarray:
    pin.computeRNEADerivatives(model, data, q, v, a)
    return np.stack([data.dtau_dq, data.dtau_dv])


def _accelerated(model: Any, data: Any, q: Any, v: Any, tau: Any) -> np.ndarray:
    pin.computeABADerivatives(model, data, q, v, tau)
    return np.stack([data.ddq_dq, data.ddq_dv])


def _poses(model: Any, data: Any, q: Any) -> list[np.ndarray]:
    pin.forwardKinematics(model, data, q)
    place = pin.updateFramePlacement
    return [place(model, data, frame).homogeneous for frame in range(model.nframes)]


CASES = {
    "inverse dynamics": Case(
        "inverse_dynamics", 3, pin.rnea, {"G1, free": 6.0, "Talos, free": 6.0}, {}, lambda x: x
    ),
    "∂q̈": Case(
        "forward_dynamics_derivatives",
        3,
        _accelerated,
        dict.fromkeys(("G1", "Panda"), 5.0),
        {},
        lambda x: np.stack(x[:2]),
    ),
    "coriolis": Case(
        "coriolis_matrix",
        2,
        lambda *x: pin.computeCoriolisMatrix(*x).copy(),
        dict.fromkeys(("G1", "Panda"), 5.0),
        {},
    ),
    "∂τ": Case(
        "inverse_dynamics_derivatives",
        3,
        _derivatives,
        {},
        {"G1": 9.0, "Talos": 9.0, "G1, free": 7.0, "Talos, free": 7.0},
        lambda x: np.stack(x[:2]),
    ),
    "poses": Case("poses", 1, _poses, {}, {"G1": 10.0}, dropped=pin.forwardKinematics),
}


def rows(turns: int, only: str = "") -> Iterator[Row]:
    """A row for each quantity, number of states, kind of memory and robot that has a demand."""
    for name, case in CASES.items():
        for label in dict.fromkeys((*case.one, *case.fresh)):
            if only in f"{name} {label}":
                yield from _of(name, case, label, turns)


def _of(name: str, case: Case, label: str, turns: int) -> Iterator[Row]:
    of = robot(label)
    m = of.load()
    root = (pin.JointModelFreeFlyer(),) if of.base == "free" else ()
    model = pin.buildModelFromXML(of.bare_urdf(), *root)
    data, convention = model.createData(), kp.conventions.pinocchio(m, kp.conventions.pinocchio_layout(model))
    ours = random_states(m, BATCH)
    state = (ours.q, ours.qd, ours.x)[: case.takes]
    s = convention.state(ours.q, ours.qd, *_third(case, ours))
    theirs = (s.q, s.v, s.a if case.method != "forward_dynamics_derivatives" else s.tau)[: case.takes]
    options: dict[str, Any] = {} if case.takes < 3 else {"passive": False}
    getattr(m, case.method)(*state, **options)
    for _ in range(2):
        getattr(m, case.method)(*(x[0] for x in state), **options)
    method = getattr(m, case.method)  # which machine code has replaced by now
    if case.entry is not None and np.array_equal(
        s.q, ours.q
    ):  # else results have other axes or another order
        found = case.theirs(model, data, *(x[0] for x in theirs))
        error = relative_error(np.asarray(case.entry(method(*(x[0] for x in state), **options))), found)
        assert error < SAME, f"{label}, {name}: Pinocchio finds other numbers, error {error:.1e}"
    if label in case.one:
        first, its = [x[0] for x in state], [x[0] for x in theirs]
        calls = {
            "kinpair": repeated(lambda *x: method(*x, **options), *first, times=TIMES),
            "Pinocchio": repeated(lambda *x: case.theirs(model, data, *x), *its, times=TIMES),
        }
        yield _row(ONE.format(name), label, m.nv, race(calls, turns), TIMES, case.one[label])
    loop = _loop(case.theirs, model, data, theirs)
    if label in case.fresh:
        calls = {"kinpair": lambda: method(*state, **options), "Pinocchio": loop}
        if case.dropped is not None:
            calls[DROPPED] = _loop(case.dropped, model, data, theirs)
        yield _row(
            MANY.format(f"{name}, as called"), label, m.nv, race(calls, turns), BATCH, case.fresh[label]
        )


def _third(case: Case, ours: States) -> tuple[Any, Any]:
    return (None, ours.x) if case.method == "forward_dynamics_derivatives" else (ours.x, None)


def _loop(function: Call, model: Any, data: Any, states: Any) -> Callable[[], None]:
    out: list[Any] = [None] * BATCH

    def call() -> None:
        for k, state in enumerate(zip(*states, strict=True)):
            out[k] = function(model, data, *state)

    return call


def _row(quantity: str, label: str, nv: int, best: dict[str, float], count: int, demanded: float) -> Row:
    found = {who: seconds / count * 1e9 for who, seconds in best.items()}
    return Row(quantity, label, nv, {"kinpair": found.pop("kinpair")}, {}, found, {"Pinocchio": demanded})


def main() -> None:
    """`python -m benchmarks.humanoids [word]`."""
    parser = argparse.ArgumentParser(prog="benchmarks.humanoids", description=__doc__)
    parser.add_argument("only", nargs="?", default="")
    for row in rows(10, parser.parse_args().only):
        ratio, demanded = row.ratio("Pinocchio", "kinpair"), row.targets["Pinocchio"]
        mark = "✓" if ratio >= demanded else "✗"
        others = {x: round(row.ratio(x, "kinpair"), 1) for x in row.peers if x != "Pinocchio"}
        ours = f"{row.quantity}, {row.robot}: {row.ours['kinpair']:.0f} ns"
        print(f"{ours}, {ratio:.1f} {mark} ≥ {demanded:g} {others or ''}", flush=True)


if __name__ == "__main__":
    main()
