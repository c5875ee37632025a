"""Summands of H, C q̇ and g: they add up to their entries, and those left out cost what is reported."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp


@pytest.fixture(params=["double-pendulum", "planar-3r", "three-cylinders", "cart-pole"])
def m(request) -> kp.Mechanism:
    return kp.example(request.param).reference


def states(m: kp.Mechanism, n: int = 20):
    rng = np.random.default_rng(12)
    return rng.uniform(-2, 2, (n, m.nq)), rng.uniform(-1, 1, (n, m.nv)), rng.uniform(-1, 1, (n, m.nv))


def test_summands_add_up_to_their_entries(m):
    printed, (q, qd, _) = kp.equations(m, passive=False, form="closed"), states(m)
    measured = printed.significance(q, qd)
    H, g = np.array([m.mass_matrix(x) for x in q]), np.array([m.gravity_forces(x) for x in q])
    bias = np.array([m.bias_forces(x, y, passive=False) for x, y in zip(q, qd, strict=True)])
    for entry, polynomial in measured._entries().items():
        total = measured._values(polynomial).sum(axis=0)
        i = int(entry[-1]) - 1
        expected = (
            g[:, i]
            if entry[0] == "g"
            else (bias - g)[:, i]
            if entry[0] == "C"
            else H[:, int(entry[1]) - 1, i]
        )
        assert np.abs(total - expected).max() < 1e-12 * max(1.0, np.abs(expected).max())


def test_nothing_below_zero_is_left_out(m):
    q, qd, qdd = states(m)
    simple = kp.equations(m, passive=False, form="closed").significance(q, qd, qdd).simplified(0.0)
    assert simple.omitted == 0
    assert simple.torque_error < 1e-14


@pytest.mark.parametrize("tolerance", [1e-2, 0.2])
def test_error_is_that_of_the_torques(m, tolerance):
    q, qd, qdd = states(m)
    measured = kp.equations(m, passive=False, form="closed").significance(q, qd, qdd)
    simple = measured.simplified(tolerance)
    assert simple.omitted == sum(x.significance < tolerance for x in measured.summands)
    worst = 0.0
    for state in zip(q, qd, qdd, strict=True):
        tau, values = m.inverse_dynamics(*state, passive=False), simple.equations.evaluate(*state[:2])
        found = values["H"] @ state[2] + values["C"] @ state[1] + values["g"]
        worst = max(worst, np.abs(found - tau).max() / np.abs(tau).max())
    assert simple.torque_error == pytest.approx(worst, rel=1e-9, abs=1e-13)


def test_significance_of_a_pendulum_is_a_ratio_of_its_parameters():
    """H11 = m r² + I of one rod: the shares are constant."""
    b = kp.Builder("rod").link("rod", mass=2.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.001))
    rod = kp.build(b.joint("pin", "revolute", "ground", "rod", axis="y")).reference
    printed = kp.equations(rod)
    shares = {
        x.text: x.significance for x in printed.significance([[0.3]], [[1.0]]).summands if x.entry == "H11"
    }
    assert shares == pytest.approx({"m1*r1^2": 0.5 / 0.6, "I1": 0.1 / 0.6}, rel=1e-12)
    assert "H11" in str(printed.significance([[0.3]], [[1.0]]))
    simple = printed.significance([[0.3]], [[1.0]]).simplified(0.2)
    assert simple.equations.text(simple.equations.H[0, 0]) == "m1*r1^2"
    assert simple.omitted == 1
