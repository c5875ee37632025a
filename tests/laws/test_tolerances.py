"""Runs keep their tolerances: every adaptive integrator on every bundled mechanism, against tight references."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinpair as kp
from families import family
from kinpair.constraints.rank_revealing import null_space
from kinpair.errors import InputError
from kinpair.forces.states import ports_of
from kinpair.formulations import kinematics
from kinpair.simulation.methods.integrators import INTEGRATORS

RTOL, ATOL = 1e-9, 1e-10
TIGHT: dict[str, dict[str, Any]] = {  # references
    "dop853": {"rtol": 1e-12, "atol": 1e-13},
    "taylor": {},
}
ALLOWED = 100.0  # errors as a multiple of the tolerance and of the sensitivity to the start
DURATION, SAMPLES, RATE = 1.0, 51, 0.5
SEED, RUNS, PERTURBED = (
    5,
    3,
    100.0,
)  # perturbed runs, and their distance at the start in units of the tolerance
ADAPTIVE = [x.name for x in INTEGRATORS.values() if x.adaptive]
CASES = [f"{name}-{integrator}" for name in kp.examples(systems=False) for integrator in ADAPTIVE]
USUAL = {
    *("bennett-dop853", "bennett-dopri5", "bennett-cvode", "vessel-arm-dop853", "rolling-disk-dop853"),
    *(
        "redundant-arm-dop853",
        "four-bar-ida",
        "double-pendulum-cvode",
        "double-pendulum-taylor",
        "incline-dop853",
    ),
}
AGREEING = {"bennett", "rolling-disk", "double-pendulum"}


class Motion:
    """A mechanism in motion from its start: runs, the reference, and the sensitivity to the start."""

    def __init__(self, name: str) -> None:
        self.mechanism = m = kp.example(name)
        rates = np.random.default_rng(SEED).uniform(-RATE, RATE, m.nv)
        self.x = np.asarray(m.x_start, dtype=float)
        self.q, self.qd = self.consistent(m.start(), rates)
        self.reference = self.run(**TIGHT["dop853"])
        others = [self.perturbed(seed) for seed in range(RUNS)]
        self.sensitivity = max(1.0, *(self.distance(x) / PERTURBED for x in others))
        moved = [np.abs(times(x) - times(self.reference)) / PERTURBED for x in others]
        at = times(self.reference)
        self.allowed_times = ALLOWED * np.max([ATOL + RTOL * at, *moved], axis=0)

    def run(self, **options: Any) -> kp.Result:
        """A run over the same samples; another start is among the options."""
        own: dict[str, Any] = {"q": self.q, "qd": self.qd, "duration": DURATION, **options}
        internal = {"x": self.x} if self.mechanism.nx else {}
        run = kp.simulate(self.mechanism, output=np.linspace(0.0, DURATION, SAMPLES), **{**internal, **own})
        assert run.status.ok
        return run

    def consistent(self, q: np.ndarray, qd: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The nearest coordinates and rates that satisfy the constraints."""
        m = self.mechanism
        q = np.asarray(kinematics.normalised(m.model, q), dtype=float)
        if m.closure is None:
            return q, qd
        q = m.assemble(q)
        Z = null_space(m.closure.matrix(q, 0.0))
        return q, Z @ (Z.T @ qd)

    def perturbed(self, seed: int) -> kp.Result:
        """A reference from a start that is off by a multiple of the tolerances."""
        rng = np.random.default_rng(seed)
        starts = {
            "q": (self.q, 1.0),
            "qd": (self.qd, 1.0),
            "x": (self.x, ports_of(self.mechanism.model).x_scale),
        }
        moved = {
            name: value
            + PERTURBED * rng.choice([-1.0, 1.0], value.shape) * (ATOL * unit + RTOL * np.abs(value))
            for name, (value, unit) in starts.items()
        }
        moved["q"], moved["qd"] = self.consistent(moved["q"], moved["qd"])
        return self.run(**{k: v for k, v in moved.items() if v.size}, **TIGHT["dop853"])

    def distance(self, run: kp.Result) -> float:
        """The largest difference from the reference in units of the tolerance."""
        pairs = ((run.q, self.reference.q), (run.qd, self.reference.qd))
        return float(max((np.abs(x - y) / (ATOL + RTOL * np.abs(y))).max() for x, y in pairs))


@cache
def motion(name: str) -> Motion:
    return Motion(name)


def times(run: kp.Result) -> np.ndarray:
    """Times of all switches [s]."""
    return np.array([x.time for x in run.events])


def check(name: str, allowed: float, **options: Any) -> None:
    own = motion(name)
    try:
        run = own.run(**options)
    except (
        InputError
    ) as refused:  # an integrator that does not take this mechanism says so, and which ones do
        assert options["integrator"] in str(refused)
        return
    assert [x.name for x in run.events] == [x.name for x in own.reference.events]
    assert (np.abs(times(run) - times(own.reference)) <= allowed * own.allowed_times).all()
    assert own.distance(run) <= allowed * ALLOWED * own.sensitivity


@pytest.mark.parametrize("case", family(CASES, USUAL, reason="a further mechanism or integrator"))
def test_errors_stay_within_the_tolerances_and_what_the_motion_makes_of_them(case):
    name, integrator = case.rsplit("-", 1)
    check(name, 1.0, integrator=integrator, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize(
    "name", family(kp.examples(systems=False), AGREEING, reason="a further mechanism of the same test")
)
def test_two_references_agree_to_a_tenth_of_that(name):
    check(name, 0.1, integrator="taylor", **TIGHT["taylor"])
