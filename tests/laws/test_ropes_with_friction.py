"""Dry friction in the joints of a rope: a joint at its level leaves rest, whatever the others do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from kinpair.constraints.rounding import ASKED, HIDDEN
from kinpair.friction.phases import resting
from kinpair.friction.phases.states import Numbers, RestingStates


@pytest.mark.parametrize("joint", [0, 3, 12, 19])
def test_a_joint_of_a_rope_that_reaches_its_level_leaves_rest(joint):
    n = 20
    rope = kp.build(kp.Builder("rope").chain("rope", n=n, length=2.0, mass=1.0, joint="revolute"))
    q, nothing = np.full(n, 0.02), np.zeros(n)
    M, load = rope.mass_matrix(q), rope.gravity_forces(q)
    level = 2.0 * np.abs(load) + 1e-3
    level[joint] = np.abs(load[joint])  # exactly what holds it
    joints = rope.model.description.joints
    rough = replace(
        rope.model.description,
        joints=tuple(replace(x, friction=(float(own),)) for x, own in zip(joints, level, strict=True)),
    )
    states = RestingStates(kp.build(rough).model, None, still=0.0)
    empty = np.zeros((0, n)), np.zeros(0), np.zeros(0), np.zeros((0, n)), np.zeros((0, 0))
    x, carried = states.affine_of(Numbers(M, -load, *empty, nothing), q, nothing, nothing)
    system = states.system_of(x, carried, nothing)
    found = resting.solve(resting.breaking_away(system, [joint]))
    found = resting.leaving_rest(system, [joint], found, (ASKED, *HIDDEN))
    assert resting.moving(system, found, range(n)) == [joint]
    assert np.sign(found.a[joint]) == -np.sign(load[joint])
