"""A run without q or qd starts where the description says, at rest but for prescribed motions."""

import numpy as np
import pytest

import kinpair as kp


def same(a, b):
    assert np.array_equal(a.q, b.q)
    assert np.array_equal(a.qd, b.qd)


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "floating-arm"])
def test_without_a_state_the_description_gives_it(name):
    m = kp.example(name)
    given = kp.simulate(m, m.start(), np.zeros(m.nv), duration=0.05)
    same(kp.simulate(m, duration=0.05), given)
    same(kp.simulate(m, m.start(), duration=0.05), given)


def test_prescribed_motions_have_their_rates_at_the_time_of_the_start():
    m = kp.example("four-bar").with_constraints(kp.constraint.drive("motor", "crank", "0.3 + 2*t"))
    run = kp.simulate(m, duration=0.05, time=0.1)
    assert run.q[0, 0] == pytest.approx(0.5, abs=1e-12)
    assert run.qd[0, 0] == pytest.approx(2.0, abs=1e-12)
    assert run.status.ok


def test_rows_of_a_batch_start_at_rest():
    m = kp.example("double-pendulum")
    q = np.array([[0.1, 0.2], [0.3, -0.4]])
    same(
        kp.simulate(m, q, duration=0.02, integrator="rk4", dt=1e-3),
        kp.simulate(m, q, np.zeros_like(q), duration=0.02, integrator="rk4", dt=1e-3),
    )


def test_a_system_has_no_start():
    with pytest.raises(kp.InputError, match="a system without bodies has no start; give q and qd"):
        kp.simulate(kp.example("space-robot-printed"), duration=1.0)
