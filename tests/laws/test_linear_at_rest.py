"""Linear models where joints stick: phases stay, and the others move as differences of runs say."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp


def test_a_block_that_sticks_stays():
    m = kp.example("incline")
    model = kp.linearise(m, m.start(), np.zeros(1))
    assert model.sticking == m.v_names
    assert not model.at_boundary
    assert np.array_equal(model.A, [[0.0, 1.0], [0.0, 0.0]])
    assert not model.B.any()


def test_a_drawer_without_load_in_its_guides_is_free_and_at_the_boundary():
    m = kp.example("drawer")
    model = kp.linearise(m, m.start(), np.zeros(1))
    assert model.sticking == ()
    assert model.at_boundary
    assert pytest.approx(np.array([[0.0], [0.25]])) == model.B  # 1/4 kg


def arm(level: float) -> kp.Mechanism:
    b = kp.Builder("arm").link("upper", mass=2.0, com=(0.2, 0, 0), inertia=(0.02, 0.02, 0.02))
    b.link("fore", mass=1.0, com=(0.15, 0, 0), inertia=(0.01, 0.01, 0.01))
    b.joint("shoulder", "revolute", "ground", "upper", axis="y", damping=0.1)
    return kp.build(b.joint("elbow", "revolute", "upper", "fore", axis="y", xyz=(0.4, 0, 0), friction=level))


def test_the_free_joints_move_as_if_those_that_stick_were_welded():
    """∂q̈/∂q, ∂q̈/∂q̇ and ∂q̈/∂τ by differences of forward dynamics in the same phase."""
    m, q, qd, tau = arm(4.0), np.array([0.3, 0.5]), np.array([0.7, 0.0]), np.array([1.0, 0.2])
    model = kp.linearise(m, q, qd, u=tau)
    assert model.sticking == ("elbow",)
    step = 1e-6

    def rate(dq, dqd, du):
        return (
            m.forward_dynamics(q + dq, qd + dqd, tau + du) - m.forward_dynamics(q - dq, qd - dqd, tau - du)
        ) / (2 * step)

    none, units = np.zeros(2), step * np.eye(2)
    by_q = np.array([rate(e, none, none) for e in units]).T
    by_qd = rate(none, units[0], none)
    by_u = np.array([rate(none, none, e) for e in units]).T
    assert model.A[2:, :2] == pytest.approx(by_q, abs=1e-6)
    assert model.A[2:, 2] == pytest.approx(by_qd, abs=1e-6)
    assert model.B[2:] == pytest.approx(by_u, abs=1e-6)


def test_a_joint_at_its_level_is_at_the_boundary():
    """The elbow holds its own weight, m g c, and no more."""
    m = arm(1.0 * 9.81 * 0.15)
    q, qd = np.zeros(2), np.zeros(2)
    hold = m.gravity_forces(q) * [1.0, 0.0]
    assert kp.linearise(m, q, qd, u=hold).at_boundary
    assert not kp.linearise(arm(2.0), q, qd, u=hold).at_boundary
