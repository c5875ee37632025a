"""The ledger of energy begins with the run where the first sample comes later: batches of parameters, and systems."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

OPTIONS = {"duration": 1.0, "integrator": "rk4", "dt": 1e-3}
ROUNDING = 1e-9  # of energies of some 10 J over 1000 steps; the error of rk4 is far below


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.mark.parametrize("q", [[0.3, 0.2], np.linspace(0.1, 1.0, 16).reshape(8, 2)], ids=["one q", "eight"])
def test_a_batch_of_eight_masses_begins_where_each_of_them_does(arm, q):
    masses = np.linspace(1.0, 2.0, 8)
    late = kp.simulate(arm, q, [0.1, 0.0], parameters={"upper.mass": masses}, output=[1.0], **OPTIONS)
    whole = kp.simulate(arm, q, [0.1, 0.0], parameters={"upper.mass": masses}, output=0.5, **OPTIONS)
    assert late.status.ok
    assert np.abs(late.ledger.error).max() < ROUNDING
    assert late.ledger.stored == pytest.approx(whole.ledger.stored, abs=ROUNDING)


def test_a_saved_batch_of_eight_masses_has_the_same_ledger(arm, tmp_path):
    options = {"parameters": {"upper.mass": np.linspace(1.0, 2.0, 8)}, "output": [0.5, 1.0], **OPTIONS}
    plain = kp.simulate(arm, [0.3, 0.2], [0.1, 0.0], **options)
    saved = kp.simulate(arm, [0.3, 0.2], [0.1, 0.0], **options, save=tmp_path / "run.h5")
    assert saved.balance == plain.balance
    assert kp.load_run(tmp_path / "run.h5").balance == plain.balance


@pytest.mark.parametrize("opaque", [False, True], ids=["plain", "called"])
@pytest.mark.parametrize("options", [OPTIONS, {"duration": 1.0}, {"duration": 1.0, "integrator": "cvode"}])
def test_energies_at_a_start_that_is_no_sample_are_those_of_the_mechanism(arm, options, opaque):
    q, qd = [0.3, 0.2], [0.1, 0.4]
    torque = Opaque() if opaque else None
    run = kp.simulate(arm, q, qd, torque=torque, output=[1.0], **options)
    assert run.start == pytest.approx(np.array([[*arm.energy(q, qd)]]), rel=1e-13)
    assert run.status.ok


class Opaque:
    """A torque that is called, and only where steps need it."""

    def __call__(self, time, q, qd):
        return np.zeros(2)


BY_ENERGY = kp.System(
    ["a", "b"],
    lambda q, qd, t: (
        0.5 * (1 + q[0] ** 2) * qd[0] ** 2 + 0.5 * qd[1] ** 2 + 0.3 * qd[0] * qd[1] * np.cos(q[0])
    ),
    lambda q, qd, t: [-q[0], -2 * q[1]],
)
BY_TERMS = kp.System(
    ["a", "b"],
    M=lambda q, t: [[1 + q[0] ** 2, 0.1], [0.1, 1.0]],
    F=lambda q, qd, t: [-q[0] - q[0] * qd[0] ** 2, -q[1]],
)


@pytest.mark.parametrize("q", [[0.5, 0.1], [[0.5, 0.1], [0.2, 0.3], [0.0, -1.0]]], ids=["one", "batch"])
@pytest.mark.parametrize("system", [BY_ENERGY, BY_TERMS], ids=["T", "M and F"])
def test_a_system_whose_mass_depends_on_q_may_be_sampled_late_and_saved(system, q, tmp_path):
    qd = np.array([1.0, 0.2])
    late = kp.simulate(system, q, qd, output=[1.0], **OPTIONS)
    whole = kp.simulate(system, q, qd, **OPTIONS)
    saved = kp.simulate(system, q, qd, output=[1.0], save=tmp_path / "run.h5", **OPTIONS)
    assert late.status.ok
    assert saved.status.ok
    assert np.array_equal(late.q[..., -1, :], whole.q[..., -1, :])
    assert np.array_equal(saved.q, late.q)
