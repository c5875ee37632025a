"""What a run has prepared serves those like it, and changes nothing of them."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.errors import InputError

STILL = np.zeros(2)


def assert_same(one: kp.Result, other: kp.Result) -> None:
    for name in ("time", "q", "qd", "tau", "work", "loss"):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert one.status == other.status


@pytest.mark.parametrize(
    "options", [{"integrator": "rk4", "dt": 1 / 64}, {"rtol": 1e-6}], ids=["fixed", "adaptive"]
)
def test_from_another_start_it_is_the_run_of_a_fresh_mechanism(options):
    known, fresh = kp.example("double-pendulum"), kp.example("double-pendulum")
    kp.simulate(known, np.array([0.3, 0.2]), STILL, duration=0.5, **options)
    start = np.array([-0.4, 0.7]), np.array([0.1, -0.2])
    again, first = (kp.simulate(m, *start, duration=0.5, **options) for m in (known, fresh))
    assert_same(again, first)
    assert np.array_equal(again.options["q"], start[0])


@pytest.mark.parametrize(
    "torque",
    [np.array([0.5, -0.2]), [1, 2.0], np.array([[0.5, -0.2], [0.0, 0.1]])],
    ids=["array", "list", "batch"],
)
def test_with_other_efforts_and_times_of_samples_it_is_the_run_of_a_fresh_mechanism(torque):
    known, fresh = kp.example("double-pendulum"), kp.example("double-pendulum")
    options = {"duration": 0.25, "integrator": "rk4", "dt": 1 / 64}
    for earlier in ({"torque": np.array([3.0, 1.0])}, {"torque": [3.0, 1.0], "output": [0.125]}, {}):
        kp.simulate(known, [0.3, 0.2], STILL, **options, **earlier)
    for output in (None, [0.125], [0.25], np.array([0.0, 0.25])):
        again, first = (
            kp.simulate(m, [0.3, 0.2], STILL, **options, torque=torque, output=output) for m in (known, fresh)
        )
        assert_same(again, first)
        assert again.options["torque"] is torque
        assert np.array_equal(again.tau[..., 0, :], torque)


def test_efforts_that_are_wrong_are_refused_as_the_first_time():
    m, options = kp.example("double-pendulum"), {"duration": 0.25, "integrator": "rk4", "dt": 1 / 64}
    kp.simulate(m, [0.3, 0.2], STILL, **options)
    kp.simulate(m, [0.3, 0.2], STILL, torque=[1.0, 2.0], **options)
    for wrong in ([], [1.0], np.array(1.0), [np.nan, 0.0], [[1.0, 2.0], [1.0]]):
        with pytest.raises(InputError, match="torque"):
            kp.simulate(m, [0.3, 0.2], STILL, torque=wrong, **options)


def test_a_batch_is_not_taken_for_one_motion():
    m = kp.example("double-pendulum")
    starts = np.array([[0.3, 0.2], [0.1, 0.0]])
    options = {"duration": 0.25, "integrator": "rk4", "dt": 1 / 64}
    one, both = kp.simulate(m, starts[0], STILL, **options), kp.simulate(m, starts, STILL, **options)
    assert both.q.shape == (2, *one.q.shape)
    assert both.q[0] == pytest.approx(one.q, abs=1e-14)


def test_loops_are_prepared_for_their_own_start():
    known, fresh = kp.example("four-bar"), kp.example("four-bar")
    for crank in (0.3, 0.9):
        q = known.assemble([crank, 2.0, 2.0], fixed=["crank"])
        again, first = (kp.simulate(m, q, np.zeros(3), duration=0.1) for m in (known, fresh))
        assert_same(again, first)


def test_energies_at_the_start_are_those_of_the_own_start():
    m = kp.example("four-bar")
    for crank in (0.3, 0.9, 0.3):
        q = m.assemble([crank, 2.0, 2.0], fixed=["crank"])
        qd = m.velocities(q, {"crank": 1.0})
        late = kp.simulate(m, q, qd, duration=0.1, output=[0.1])
        assert late.start == pytest.approx(np.array([[*m.energy(q, qd)]]), rel=1e-12)
        late.start[:] = np.nan  # a copy


def test_what_is_wrong_is_refused_as_the_first_time():
    m = kp.example("double-pendulum")
    options = {"duration": 0.25, "integrator": "rk4", "dt": 1 / 64}
    kp.simulate(m, np.array([0.3, 0.2]), STILL, **options)
    for wrong in [{"q": np.array([np.nan, 0.0])}, {"q": np.zeros(3)}, {"threads": True}, {"dt": -1.0}]:
        arguments = {"q": np.array([0.3, 0.2]), "qd": STILL, **options, **wrong}
        with pytest.raises(InputError) as before:
            kp.simulate(kp.example("double-pendulum"), **arguments)
        with pytest.raises(InputError) as now:
            kp.simulate(m, **arguments)
        assert str(now.value) == str(before.value)
