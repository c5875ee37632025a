"""Bundled examples with contact against what their sources and statics say."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinpair as kp


def run(name, qd=None, **options):
    m = kp.example(name)
    return kp.simulate(m, m.start(), np.zeros(m.nv) if qd is None else np.array(qd, dtype=float), **options)


SPUN = [-24.96, 0, 248.75, 0, 0, 0]  # 250 rad/s about the vertical


@pytest.mark.parametrize("options", [{"dt": 1e-4}, {"integrator": "dop853"}], ids=["steps", "events"])
def test_a_tippe_top_turns_over(options):
    result = run("tippe-top", SPUN, duration=3.0, output=0.5, **options)
    assert_allclose(result.q[0, 2], 0.016, atol=1e-4)
    assert_allclose(result.q[-1, 2], 0.024, atol=1e-4)  # the mass centre rises by 2 a = 8 mm


def test_a_table_carries_its_weight_with_forces_that_are_not_unique():
    result = run("table", duration=1.0, output=0.5)
    forces = np.array([x.force[-1] for x in result.contacts.points.values()])
    assert_allclose(forces.sum(axis=0), [0, 0, 20 * 9.81], atol=1e-9)
    assert_allclose(forces[:, 2], 49.05, atol=1e-2)  # near the least sum of squares
    assert not result.contacts.unique[-1]


@pytest.mark.parametrize("name", ["wood-block-tower", "block-on-incline"])
def test_what_rests_stays_where_it_is(name):
    result = run(name, duration=2.0, output=1.0)
    assert np.abs(result.q - result.q[0]).max() < 1e-12


@pytest.mark.long("a minute of motion of ten blocks")
def test_a_tower_stands_for_a_minute():
    result = run("wood-block-tower", duration=60.0, output=1.0)
    assert np.abs(result.q - result.q[0]).max() < 1e-11


def test_a_pinched_capsule_does_not_sink():
    m = kp.example("pinch")
    options = {"input": {"left": 12.0, "right": -12.0}, "duration": 10.0, "output": 1.0}
    result = kp.simulate(m, m.start(), np.zeros(m.nv), **options)
    assert np.abs(result.q[1:] - result.q[1]).max() < 1e-9


def test_a_quadruped_on_servos_comes_to_rest():
    m = kp.example("quadruped")
    result = kp.simulate(m, m.start(), np.zeros(m.nv), input=m.start()[7:], duration=6.0, output=1.0)
    assert np.abs(result.qd[-1]).max() < 1e-8
    assert_allclose(sum(x.normal[-1] for x in result.contacts.pairs.values()), weight(m), rtol=1e-9)


def weight(m):
    return 9.81 * sum(x.mass for x in m.model.description.links)


def test_a_rocking_block_loses_what_housner_says_at_its_first_impact():
    result = run("rocking-block", integrator="dop853", duration=1.0, output=0.1)
    landing = next(x for x in result.events if x.name.endswith("lands"))
    b, h = 0.1, 0.4
    r = 1 - 1.5 * np.sin(np.arctan(b / h)) ** 2
    assert_allclose(abs(landing.qd[1] / landing.qd_before[1]), r, rtol=1e-6)
