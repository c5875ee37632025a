"""Dry friction that really sticks: a mass on a rough floor against its exact motion, by every integrator."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest

import kinpair as kp
from families import family

MASS, SPRING, LEVEL, DURATION = 2.0, 150.0, 4.0, 5.0
STARTS = np.linspace(0.06, 0.30, 31)


@cache
def floor() -> kp.Mechanism:
    builder = kp.Builder("floor").link("block", mass=MASS, inertia=[0.1, 0.1, 0.1])
    return kp.build(
        builder.joint("x", "prismatic", "ground", "block", axis="x", friction=LEVEL, stiffness=SPRING)
    )


def stop(x0: float) -> tuple[float, float]:
    """Where and when it stops: half a swing about ±F/k after the other."""
    offset, x, time = LEVEL / SPRING, x0, 0.0
    while abs(x) > offset:
        x, time = 2.0 * np.sign(x) * offset - x, time + np.pi * np.sqrt(MASS / SPRING)
    return x, time


METHODS = {  # what positions and times may be off by: 1e-7 of order 4 and above, else their order
    "dop853": (1e-7, 1e-7, {}),
    "dopri5": (1e-7, 1e-7, {}),
    "rk4": (1e-7, 1e-7, {"dt": 1e-3}),
    "cvode": (1e-7, 1e-7, {}),
    "ida": (1e-7, 1e-7, {}),
    "taylor": (1e-14, 1e-14, {}),
    "implicit-midpoint": (2e-5, 2e-5, {"dt": 1e-3}),
    "variational": (2e-5, 2e-5, {"dt": 1e-3}),
    "semi-implicit-euler": (2e-5, 2e-5, {"dt": 1e-3}),
}
ALL_STARTS = ("dop853", "dopri5", "rk4")  # the others by some of them, which take long


@pytest.mark.parametrize(
    "name", family(METHODS, ["dop853", "rk4", "ida", "variational"], "the same law by other integrators")
)
def test_a_mass_stops_where_and_when_it_should_and_does_not_creep(name):
    within, in_time, options = METHODS[name]
    for x0 in STARTS if name in ALL_STARTS else STARTS[::6]:
        run = kp.simulate(floor(), [x0], [0.0], duration=DURATION, integrator=name, **options)
        x, time = stop(x0)
        assert run.status.ok, (x0, run.status)
        assert run.q[-1, 0] == pytest.approx(x, abs=within)
        assert run.events[-1].name == "x sticks"
        assert run.events[-1].time == pytest.approx(time, abs=in_time)
        rest = run.time >= run.events[-1].time
        assert np.abs(run.q[rest] - run.q[-1]).max() == 0.0
        assert not run.qd[rest].any()


ROUNDING = 1e-14


@pytest.mark.parametrize(
    "name", ["rk4", "semi-implicit-euler", "implicit-midpoint", "variational", "generalised-alpha"]
)
def test_a_batch_sticks_and_does_not_creep(name):
    exact = np.array([stop(x)[0] for x in STARTS])
    errors = []
    for dt in (4e-3, 1e-3):
        run = kp.simulate(
            floor(), STARTS[:, None], np.zeros((31, 1)), duration=DURATION, integrator=name, dt=dt
        )
        assert run.status.ok
        late = run.time > 3.0
        assert not run.qd[:, late].any()
        assert not np.ptp(run.q[:, late], axis=1).any()
        errors.append(np.abs(run.q[:, -1, 0] - exact).max())
    assert errors[1] < 2.5e-5
    assert errors[1] < max(errors[0] / 2.0, ROUNDING)
    if name in ("rk4", "implicit-midpoint", "variational"):  # phases change within steps
        assert errors[1] < 1e-12


def test_a_stepper_sticks_and_lets_go():
    s = kp.stepper(floor(), dt=1e-3, batch=3)
    s.reset(np.array([[0.02], [0.1], [0.3]]))
    s.step(steps=4000)
    assert not s.qd.any()
    before = s.q.copy()
    s.step([3.9 - LEVEL], steps=100)  # the spring pulls with less than the level, and this with a little
    assert (s.q[1] == before[1]).all()
    s.step([30.0], steps=20)
    assert (s.qd > 0.0).all()


@pytest.mark.parametrize("name", ["dop853", "rk4"])
def test_work_of_friction_is_the_energy_lost(name):
    options = {"dt": 1e-3} if name == "rk4" else {}
    run = kp.simulate(floor(), [0.3], [0.0], duration=DURATION, integrator=name, **options)
    x = stop(0.3)[0]
    lost = 0.5 * SPRING * (0.3**2 - x**2)
    assert run.loss[-1] == pytest.approx(lost, rel=1e-8)
    turns = [0.3, *(e.q[0] for e in run.events)]
    way = sum(abs(b - a) for a, b in pairwise(turns))
    assert run.loss[-1] == pytest.approx(LEVEL * way, rel=1e-8)


def test_every_start_of_the_rail_within_the_level_stays():
    run = kp.simulate(floor(), [LEVEL / SPRING * (1 - 1e-9)], [0.0], duration=1.0)
    assert not run.events
    assert np.ptp(run.q) == 0.0
