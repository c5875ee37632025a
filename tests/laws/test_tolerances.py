"""Runs keep their tolerances: every adaptive integrator on every bundled mechanism, against tight references.

The error of a run is at most 100 times the tolerance atol + rtol |x| of each entry x of the state, times the
sensitivity of the motion. An error of one tolerance may be made at any time. The sensitivity is what becomes of it, by
reference runs whose start is off by a multiple of the tolerances, from several moments of the motion.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

import kinpair as kp
from families import family
from kinpair.constraints.solvers.rank_revealing import null_space
from kinpair.errors import InputError
from kinpair.forces.states import ports_of
from kinpair.formulations import kinematics
from kinpair.simulation.methods.integrators import INTEGRATORS

# arms fall freely beyond the limits of their joints, and runs start there too
pytestmark = pytest.mark.filterwarnings("ignore:.*the start is outside the limits:kinpair.LimitWarning")

RTOL, ATOL, ALLOWED = 1e-9, 1e-10, 100.0
TIGHT = {"rtol": 1e-12, "atol": 1e-13}
DURATION, SAMPLES, RATE, SEED = 1.0, 41, 0.5, 5
DURATIONS = {"delta": 0.4}  # [s]; later it falls into a singular position
PERTURBED = 100.0  # distance in units of the tolerance
STARTS = (0, 10, 20, 30)  # samples where perturbed runs start
ADAPTIVE = [x.name for x in INTEGRATORS.values() if x.adaptive]
EXAMPLES = list(kp.examples(systems=False))
CASES = [f"{name}-{integrator}" for name in EXAMPLES for integrator in ADAPTIVE]
USUAL = {  # none of these is rejected
    "bennett-dop853",
    "bennett-dopri5",
    "bennett-cvode",
    "vessel-arm-dop853",
    "rolling-disk-dop853",
    "redundant-arm-dop853",
    "four-bar-ida",
    "double-pendulum-cvode",
    "double-pendulum-taylor",
    "incline-dop853",
}
AGREEING = {"bennett", "double-pendulum"}
FURTHER = "a further mechanism or integrator"


class Motion:
    """A mechanism in motion from its start: the reference run, and its sensitivity."""

    def __init__(self, name: str) -> None:
        self.mechanism = m = kp.example(name)
        self.output = np.linspace(0.0, DURATIONS.get(name, DURATION), SAMPLES)
        q, qd = self.consistent(m.start(), np.random.default_rng(SEED).uniform(-RATE, RATE, m.nv))
        self.start = {"q": q, "qd": qd, "x": np.asarray(m.x_start, dtype=float)}
        self.reference = self.run(self.start, **TIGHT)
        others = [self.perturbed(k) for k in STARTS]
        self.sensitivity = max(1.0, *(self.distance(x) / PERTURBED for x in others))
        moved = [self.switched(x) / PERTURBED for x in others if names(x) == self.switches(x)]
        self.allowed = np.max([ATOL + RTOL * times(self.reference), *moved], axis=0)  # of switching times [s]

    def run(self, start: dict[str, np.ndarray], first: int = 0, **options: Any) -> kp.Result:
        """Simulate from a sample on."""
        known = {name: value for name, value in start.items() if value.size}
        output = self.output[first:]
        span = {"time": output[0], "duration": output[-1] - output[0], "output": output}
        run = kp.simulate(self.mechanism, **known, **span, **options)
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

    def perturbed(self, first: int) -> kp.Result:
        """Simulate from a state of the reference that is off by a multiple of the tolerances."""
        here, rng = self.reference, np.random.default_rng(first)
        units = {"q": 1.0, "qd": 1.0, "x": ports_of(self.mechanism.model).x_scale}
        states = {name: getattr(here, name)[first] for name in units if self.start[name].size}
        moved = {
            name: x + PERTURBED * rng.choice([-1.0, 1.0], x.shape) * (ATOL * units[name] + RTOL * np.abs(x))
            for name, x in states.items()
        }
        moved["q"], moved["qd"] = self.consistent(moved["q"], moved["qd"])
        return self.run(moved, first, **TIGHT)

    def distance(self, run: kp.Result) -> float:
        """The largest difference from the reference in units of the tolerance."""
        last = slice(SAMPLES - len(run.time), None)
        pairs = ((run.q, self.reference.q[last]), (run.qd, self.reference.qd[last]))
        return float(max((np.abs(x - y) / (ATOL + RTOL * np.abs(y))).max() for x, y in pairs))

    def switches(self, run: kp.Result) -> list[str]:
        """Names of the switches of the reference after the start of a run."""
        return [x.name for x in self.reference.events if x.time >= run.time[0]]

    def switched(self, run: kp.Result) -> np.ndarray:
        """By how much each switching time of the reference is missed [s]; zero before the start of the run."""
        own, every = times(run), times(self.reference)
        return np.abs(np.concatenate([every[: len(every) - len(own)], own]) - every)


@cache
def motion(name: str) -> Motion:
    return Motion(name)


def times(run: kp.Result) -> np.ndarray:
    """Times of all switches [s]."""
    return np.array([x.time for x in run.events])


def names(run: kp.Result) -> list[str]:
    """Names of all switches."""
    return [x.name for x in run.events]


def check(name: str, part: float, integrator: str, **options: Any) -> None:
    """Compare a run with the reference, or see that the integrator is named as one that does not take the mechanism."""
    own, rejected = motion(name), ""
    try:
        run = own.run(own.start, integrator=integrator, **options)
    except InputError as error:
        run, rejected = own.reference, str(error)
    assert not rejected or (repr(integrator) in rejected and f"{name}-{integrator}" not in USUAL)
    assert names(run) == names(own.reference)
    assert (own.switched(run) <= part * ALLOWED * own.allowed).all()
    assert own.distance(run) <= part * ALLOWED * own.sensitivity


@pytest.mark.parametrize("case", family(CASES, USUAL, reason=FURTHER))
def test_errors_stay_within_the_tolerances_and_what_the_motion_makes_of_them(case):
    name, integrator = case.rsplit("-", 1)
    check(name, 1.0, integrator, rtol=RTOL, atol=ATOL)


@pytest.mark.parametrize("name", family(EXAMPLES, AGREEING, reason=FURTHER))
def test_references_by_two_methods_agree_to_a_tenth_of_that(name):
    check(name, 0.1, "taylor")
