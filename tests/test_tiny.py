"""One of everything, in a few seconds; run it before each commit."""

from __future__ import annotations

import numpy as np

import kinpair as kp


def test_load_compute_and_agree(tmp_path):
    text = kp.example_text("stanford-arm")
    file = tmp_path / "arm.toml"
    file.write_text(text, encoding="utf-8")
    arm = kp.load(file)
    q, qd, qdd = np.full(6, 0.3), np.full(6, -0.2), np.full(6, 0.1)
    tau = arm.inverse_dynamics(q, qd, qdd)
    assert np.abs(tau - arm.inverse_dynamics(q, qd, qdd, method="denoc")).max() < 1e-12
    assert np.abs(arm.forward_dynamics(q, qd, tau) - qdd).max() < 1e-10
    assert np.abs(arm.mass_matrix(q) @ qdd + arm.bias_forces(q, qd) - tau).max() < 1e-12
    assert arm.inverse_dynamics(np.tile(q, (3, 1)), qd, qdd).shape == (3, 6)
    assert kp.read(file) == kp.read(file)
    assert "link6" in str(arm)


def test_every_bundled_example_inverts_its_dynamics():
    for name in kp.examples(systems=False):
        m = kp.example(name)
        q = m.start() if m.constraints else m.neutral() + 0.1
        qd = m.velocities(q, guess=np.full(m.nv, 0.2))
        qdd = m.accelerations(q, qd, guess=np.full(m.nv, -0.3))
        tau = m.inverse_dynamics(q, qd, qdd)
        assert np.abs(m.forward_dynamics(q, qd, tau) - qdd).max() < 1e-9, name
