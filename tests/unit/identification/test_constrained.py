"""Identification of a closed mechanism, and of one that floats."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

OPTIONS = {"friction": ["viscous", "coulomb"], "progress": False, "signals": {"delay": 0.0}, "validate": 0.3}


@pytest.fixture(scope="module")
def four_bar():
    """The bundled linkage, and a log of its crank with a friction of 0.3 N m."""
    m = kp.example("four-bar")
    time = np.arange(0.0, 12.0, 0.02)
    rate = 0.8 + 0.6 * np.sin(1.3 * time)
    q = np.tile(m.start(), (len(time), 1))
    q[:, 0] += 0.8 * time - 0.6 / 1.3 * (np.cos(1.3 * time) - 1.0)
    for k in range(len(time)):
        q[k] = m.assemble(np.append(q[k, :1], q[max(k - 1, 0), 1:]), fixed=["crank"])
    qd = m.velocities(q, {"crank": rate})
    qdd = m.accelerations(q, qd, {"crank": 0.78 * np.cos(1.3 * time)})
    tau = m.inverse_dynamics(q, qd, qdd, actuators=["crank"])[:, 0] + 0.3 * np.sign(rate)
    tau += 0.01 * np.random.default_rng(0).normal(size=len(time))
    return m, {"t": time, **{f"q_{x}": q[:, k] for k, x in enumerate(m.q_names)}, "tau_crank": tau}


@pytest.mark.parametrize("passive", [True, False], ids=["all joints logged", "crank alone"])
def test_a_closed_linkage_is_identified_from_its_crank(four_bar, passive):
    m, log = four_bar
    own = {k: x for k, x in log.items() if passive or k in ("t", "q_crank", "tau_crank")}
    result = kp.identify(m, own, **OPTIONS)
    assert result.validated.total < 0.02
    assert result.is_consistent
    assert result.parameters["crank: coulomb"] == pytest.approx(0.3, abs=0.03)


def test_a_floating_arm_is_identified_from_its_joint_efforts_and_the_motion_of_its_base():
    """No wrench acts on the base: its rows have zero efforts, and momenta determine parameters of the base."""
    m = kp.example("floating-arm")

    def torque(time, q, qd):
        tau = np.zeros(m.nv)
        tau[6:] = np.array([2.0, 1.5, 1.0]) * np.sin(np.array([1.1, 1.7, 2.3]) * time) - 0.3 * qd[6:]
        return tau

    run = kp.simulate(m, m.start(), np.zeros(m.nv), duration=12.0, torque=torque, output=0.01)
    log = {"t": run.time, **{f"q_{x}": run.q[:, k] for k, x in enumerate(m.q_names)}}
    log |= {f"tau_{x}": run.tau[:, k] for k, x in enumerate(m.v_names) if k >= 6}
    result = kp.identify(m, log, rotors=False, **OPTIONS)
    assert result.validated.total < 0.01
    true = np.zeros(len(result.layout.parameters))
    true[:40] = m.regressor_parameters()[:40]
    expected = result.base.matrix @ true
    np.testing.assert_allclose(result.estimate.beta, expected, atol=0.02, rtol=0.03)
