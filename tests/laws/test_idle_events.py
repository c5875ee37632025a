"""An event that never happens changes no bit of a run: samples, status, steps."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
from endings import ended, stopped
from families import example, family
from kinpair.errors import InputError
from kinpair.simulation.methods.integrators import INTEGRATORS

CLOSED = [name for name in kp.examples(systems=False) if example(name).constraints]
TAKE_EVENTS = [x for x in INTEGRATORS if x != "generalised-alpha"]
UNDER_CONSTRAINTS = [x for x in TAKE_EVENTS if x not in ("implicit-midpoint", "variational")]
WITH_ALL = (
    "four-bar",
    "rolling-disk",
)  # a loop and a rolling contact; each other example has one integrator in turn
NUMBERED = [(i, j) for i in range(len(CLOSED)) for j in range(len(UNDER_CONSTRAINTS))]
PAIRS = family(
    [(CLOSED[i], UNDER_CONSTRAINTS[j]) for i, j in NUMBERED],
    [
        f"{CLOSED[i]}-{UNDER_CONSTRAINTS[j]}"
        for i, j in NUMBERED
        if CLOSED[i] in WITH_ALL or (i - j) % len(UNDER_CONSTRAINTS) == 0
    ],
    "every integrator on every closed example",
    "-".join,
)


def never(time, q, qd):
    return 1e9 + q[0]


def never_called(time, q, qd):
    return float(1e9 + q[0])


def change(time, q, qd):
    return kp.Change(qd=0.0 * qd)


IDLE = [
    kp.Event("recorded", never),
    kp.Event("stops", never, action="stop"),
    kp.Event("changes", never, action=change),
]
never_called.traceable = False


def assert_same(one, other):
    assert other.status == one.status
    assert (other.steps, other.rejected, other.dt) == (one.steps, one.rejected, one.dt)
    for name in ("time", "q", "qd", "tau", "work", "loss"):
        assert np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True), name
    assert np.array_equal(one.energy, other.energy, equal_nan=True)
    assert (one.residual is None) == (other.residual is None)
    if one.residual is not None:
        assert np.array_equal(one.residual, other.residual)
    assert one.singular == other.singular


def options_of(method: str, duration: float) -> dict:
    fixed = not INTEGRATORS[method].adaptive
    return {"integrator": method, "duration": duration, **({"dt": 1 / 256} if fixed else {})}


@pytest.mark.parametrize("pair", PAIRS, ids="-".join)
def test_an_idle_event_changes_nothing_of_a_closed_mechanism(pair):
    name, method = pair
    mechanism = kp.example(name)
    q = mechanism.start()
    qd = mechanism.velocities(q)
    options = options_of(method, 0.125)
    try:
        plain = kp.simulate(mechanism, q, qd, **options)
    except InputError as refused:  # ida needs rows of which the same ones are independent throughout
        with pytest.raises(InputError, match=re.escape(str(refused))):
            kp.simulate(mechanism, q, qd, events=IDLE, **options)
        return
    assert_same(plain, kp.simulate(mechanism, q, qd, events=IDLE, **options))


@pytest.mark.parametrize("method", TAKE_EVENTS)
def test_an_idle_event_changes_nothing_of_a_tree(method):
    arm = kp.example("double-pendulum")
    start, options = ([0.3, 0.2], [0.1, 0.0]), options_of(method, 0.5)
    plain = kp.simulate(arm, *start, **options)
    for events in (IDLE, [kp.Event("called", never_called)]):
        assert_same(plain, kp.simulate(arm, *start, events=events, **options))


@pytest.mark.parametrize("torque", ["constant", "table", "recorded", "called", "sampled"])
@pytest.mark.parametrize("method", ["rk4", "dop853"])
def test_an_idle_event_changes_nothing_under_any_torque(method, torque):
    class Sampled:
        sample_time = 1 / 64

        def __call__(self, time, q, qd):
            return -0.5 * qd

    arguments = {
        "constant": [0.1, -0.2],
        "table": ([0.0, 0.1, 0.5], np.array([[0.1, 0.2], [0.3, -0.1], [0.0, 0.0]])),
        "recorded": lambda time, q, qd: -0.3 * q,
        "called": kp_called,
        "sampled": Sampled(),
    }[torque]
    arm = kp.example("double-pendulum")
    options = {"torque": arguments, **options_of(method, 0.5)}
    plain = kp.simulate(arm, [0.3, 0.2], [0.1, 0.0], **options)
    assert_same(plain, kp.simulate(arm, [0.3, 0.2], [0.1, 0.0], events=IDLE, **options))


def kp_called(time, q, qd):
    return -0.3 * q


kp_called.traceable = False


class Counts:
    """A torque with a memory: it grows with every call."""

    def __init__(self):
        self.calls = 0

    def __call__(self, time, q, qd):
        self.calls += 1
        return -0.3 * q + 1e-9 * self.calls


@pytest.mark.parametrize("method", ["rk4", "dop853", "cvode", "ida"])
def test_an_idle_event_calls_nobody_once_more(method):
    arm, torques = kp.example("double-pendulum"), [Counts(), Counts()]
    runs = [
        ended(arm, [0.3, 0.2], [0.1, 0.0], torque=torque, events=events, **options_of(method, 0.25))
        for torque, events in zip(torques, (None, IDLE), strict=True)
    ]
    assert torques[0].calls == torques[1].calls
    assert_same(*runs)


def test_an_idle_event_leaves_a_singular_position_crossed():
    """A Stewart platform passes one near 0.39 s, where no error estimate holds."""
    stewart = kp.example("stewart")
    q, qd = stewart.start(), np.zeros(stewart.nv)
    plain = kp.simulate(stewart, q, qd, duration=0.6)
    assert plain.status.ok
    assert_same(plain, kp.simulate(stewart, q, qd, duration=0.6, events=IDLE))


def test_an_idle_event_leaves_a_singular_end_as_clean():
    rod = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    builder = kp.Builder("parallelogram", gravity=(0, 0, 0)).link("crank", com=[0.5, 0, 0], **rod)
    builder = builder.link("coupler", com=[1, 0, 0], **rod).link("rocker", com=[0.5, 0, 0], **rod)
    builder = builder.joint("a", "revolute", "ground", "crank", axis="z")
    builder = builder.joint("b", "revolute", "crank", "coupler", axis="z", xyz=[1, 0, 0])
    builder = builder.joint("c", "revolute", "ground", "rocker", axis="z", xyz=[2, 0, 0])
    flat = kp.build(builder.loop("d", "revolute", "coupler", "rocker", xyz=[2, 0, 0], child_xyz=[1, 0, 0]))
    q = np.array([-0.5, 0.5, -0.5])
    qd = flat.velocities(q, {"a": 1.0})
    options = {"duration": 1.0, "integrator": "rk4", "dt": 1 / 64}
    plain = stopped(flat, q, qd, **options)
    assert max(plain.residual.worst) < 1e-12
    assert_same(plain, stopped(flat, q, qd, events=IDLE, **options))
