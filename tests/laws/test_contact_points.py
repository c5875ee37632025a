"""Where the wrench of a constraint is given, and where a rolling body touches."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp


@pytest.mark.parametrize("seed", range(3))
def test_a_rolling_body_is_pushed_where_it_touches(seed):
    m, rng = kp.example("rolling-disk"), np.random.default_rng(seed)
    q = m.assemble(m.start() + rng.uniform(-0.2, 0.2, m.nq))
    qd = m.velocities(q, guess=rng.uniform(-1.0, 1.0, m.nv))
    forces = m.constraint_forces(q, qd, rng.uniform(-0.1, 0.1, m.nv))
    for name, contact in forces.contacts.items():
        w, point = forces.wrenches[name], forces.points[name]
        assert contact[2] == pytest.approx(0.0, abs=1e-12)  # on the plane
        assert np.abs(w[:3] - np.cross(contact - point, w[3:])).max() < 1e-12 * max(1.0, np.abs(w).max())
    assert set(forces.contacts) == {"contact"}


def test_points_are_the_origins_of_the_marks():
    m = kp.example("four-bar")
    q = m.start()
    forces = m.constraint_forces(q, np.zeros(m.nv), np.zeros(m.nv))
    (loop,) = m.model.description.constraints
    pose = m.pose(q, loop.child)
    assert forces.points["pin"] == pytest.approx(
        pose.position + pose.rotation @ loop.child_origin.xyz, abs=1e-13
    )
    assert forces.contacts == {}
