"""Linear models with internal states and inputs: motors with currents, bristles."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from motors import driven

STEP = 1e-6


def differences(m, q, qd, x, u):
    """A and B of [q, q̇, x] by central differences of `state_derivative`."""

    def rate(z, u):
        qdd, x_rate = m.state_derivative(z[: m.nv], z[m.nv : 2 * m.nv], z[2 * m.nv :], u)
        return np.concatenate([z[m.nv : 2 * m.nv], qdd, x_rate])

    z = np.concatenate([q, qd, x])
    A = [(rate(z + STEP * e, u) - rate(z - STEP * e, u)) / (2 * STEP) for e in np.eye(len(z))]
    B = [(rate(z, u + STEP * e) - rate(z, u - STEP * e)) / (2 * STEP) for e in np.eye(m.nu)]
    return np.array(A).T, np.array(B).T


@pytest.mark.parametrize("rubbed", ["", "elbow"])
def test_matrices_are_differences_of_the_state_derivative(rubbed):
    m = driven(rubbed=rubbed)
    q, qd, x, u = [0.3, 0.2], [0.5, 0.4], [0.7, 0.01][: m.nx], [0.9, -0.2]
    model = kp.linearise(m, q, qd, x=x, u=u)
    A, B = differences(m, *(np.array(a) for a in (q, qd, x, u)))
    assert pytest.approx(A, abs=1e-7) == model.A  # eps / STEP of terms of 400
    assert pytest.approx(B, abs=1e-7) == model.B
    assert model.states[4:] == tuple(f"x.{name}" for name in m.x_names)
    assert model.inputs == ("u.motor", "u.elbow")


def test_along_a_motion_and_with_some_inputs():
    m = driven()
    one = kp.linearise(m, [0.3, 0.2], [0.5, 0.4], x=[0.7], u={"motor": 0.9})
    many = kp.linearise(
        m, np.tile([0.3, 0.2], (3, 1)), [0.5, 0.4], x=[0.7], u={"motor": 0.9}, inputs=["motor"]
    )
    assert np.array_equal(many.A[2], one.A)
    assert np.array_equal(many[1].B[:, 0], one.B[:, 0])
    assert many[1].at.x == pytest.approx([0.7])


def test_outputs_feel_currents():
    """The effort of the motor is k times its current, k = 8; no input reaches it at once."""
    m = driven()
    model = kp.linearise(m, [0.3, 0.2], x=[0.7], outputs=["tau.shoulder", "qdd.shoulder"])
    assert model.C[0] == pytest.approx([0, 0, 0, 0, 8.0])
    assert model.D[0] == pytest.approx([0, 0])
    assert model.C[1, 4] == pytest.approx(kp.linearise(m, [0.3, 0.2], x=[0.7]).A[2, 4])


def test_a_regulator_by_voltage_holds_an_arm_up():
    """About the balanced state: voltage R I and current I whose effort is gravity's; currents are fed back, too."""
    m, at = driven(), np.array([0.4, -0.4])
    gravity = m.gravity_forces(at)
    current = gravity[0] / 8.0
    x, u = [current], [1.6 * current, gravity[1]]
    model = kp.linearise(m, at, x=x, u=u)
    assert model.steady
    regulator = kp.regulator.lqr(model, degree=1.0)
    assert np.real(np.linalg.eigvals(regulator.design.closed.A)).max() < -1.0
    run = kp.simulate(
        m, at + 0.1, [0, 0], x=x, input=regulator, duration=6.0, integrator="rk4", dt=1e-3, output=1.0
    )
    assert run.q[-1] == pytest.approx(at, abs=1e-3)
    assert run.x[-1] == pytest.approx(x, abs=1e-2)
