"""Runs of long mechanisms: files with thousands of coordinates."""

from __future__ import annotations

import numpy as np

import kinpair as kp


def test_a_run_of_thousands_of_coordinates_is_saved_and_read_again(tmp_path):
    n = 800
    rope = kp.build(kp.Builder("rope").chain("rope", n=n, length=8.0, mass=8.0, joint="revolute"))
    run = kp.simulate(rope, np.full(n, 1e-4), np.zeros(n), duration=1e-3, integrator="rk4", dt=1e-4)
    run.save(tmp_path / "run.h5")
    again = kp.load_run(tmp_path / "run.h5")
    assert (again.q == run.q).all()
    assert again.mechanism.q_names == rope.q_names
    assert kp.simulate(rope, run.q[-1], run.qd[-1], duration=1e-3, integrator="rk4", dt=1e-4).status.ok
