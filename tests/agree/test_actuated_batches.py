"""Mechanisms with actuators, many at once and a step at a time: each is the motion that it is alone."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import ended
from motors import AMPLITUDE, swing

CASES = ("dc-motor", "servo", "affine filtered")
STEP = 1 / 1024


def start(case: str, rows: int):
    rng = np.random.default_rng(8)
    q, qd = rng.uniform(-0.3, 0.3, (rows, 2)), rng.normal(size=(rows, 2))
    return q, qd, AMPLITUDE.get(case, 20.0) * rng.normal(size=(rows, 1))


@pytest.mark.parametrize("case", CASES)
def test_a_batch_is_its_motions_side_by_side(case):
    m, (q, qd, u) = swing(case), start(case, 5)
    how = {"duration": 32 * STEP, "integrator": "rk4", "dt": STEP}
    batch = ended(m, q, qd, input=u, **how)
    assert batch.x.shape == (5, len(batch.time), m.nx)
    for k in (0, 4):
        alone = ended(m, q[k : k + 1], qd[k : k + 1], input=u[k], **how)
        for name in ("q", "qd", "x", "u", "tau"):
            assert np.array_equal(getattr(batch, name)[k], getattr(alone, name)[0]), name
        assert batch.losses.keys() == alone.losses.keys()


@pytest.mark.parametrize("case", CASES)
def test_steps_with_inputs_are_those_of_a_run(case):
    m, (q, qd, u) = swing(case), start(case, 3)
    s = kp.stepper(m, STEP, batch=3)
    s.reset(q, qd)
    for half in (u, -u):
        for _ in range(8):
            s.step(half)
    first = ended(m, q, qd, input=u, duration=8 * STEP, integrator="rk4", dt=STEP)
    ends = {"x": first.x[:, -1], "input": -u, "integrator": "rk4", "dt": STEP}
    second = ended(m, first.q[:, -1], first.qd[:, -1], duration=8 * STEP, **ends)
    for name in ("q", "qd", "x"):
        assert np.array_equal(getattr(s, name), getattr(second, name)[:, -1]), name


def test_a_stepper_refuses_inputs_of_the_wrong_size():
    s = kp.stepper(swing("dc-motor"), STEP)
    with pytest.raises(kp.InputError) as problem:
        s.step([1.0, 2.0])
    assert str(problem.value) == "dc-motor: u is [1.0, 2.0]; expected numbers of shape (1,): motor"
