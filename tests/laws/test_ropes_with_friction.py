"""Dry friction in the joints of a rope: a joint at its level leaves rest, whatever the others do."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints.solve.stick import HELD, SLIDES, Levels, at_rest


@pytest.mark.parametrize("joint", [0, 3, 12, 19])
def test_a_joint_of_a_rope_that_reaches_its_level_leaves_rest(joint):
    n = 20
    rope = kp.build(kp.Builder("rope").chain("rope", n=n, length=2.0, mass=1.0, joint="revolute"))
    q = np.full(n, 0.02)
    M, load = rope.mass_matrix(q), rope.gravity_forces(q)
    level = 2.0 * np.abs(load) + 1e-3
    level[joint] = np.abs(load[joint])  # exactly what holds it
    levels = Levels(-level, level, -level, level)
    nothing = np.zeros((0, n)), np.zeros(0)
    leaving = np.zeros(n)
    leaving[joint] = -np.sign(load[joint])
    result = at_rest(M, -load, *nothing, np.arange(n), levels, leaving)
    assert result.phase[joint] == SLIDES
    assert result.share[joint] == leaving[joint]
    assert (np.delete(result.phase, joint) == HELD).all()
