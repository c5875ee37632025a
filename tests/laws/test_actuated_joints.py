"""Inverse dynamics of closed mechanisms acts on the actuated joints, and on no other."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import closed
import kinpair as kp
import zoo
from families import family

USUAL = {"stewart", "delta", "four-bar", "diff-drive", "gripper"}
BUNDLED = [x for x in kp.examples(systems=False) if getattr(kp.example(x), "closure", None) is not None]
FEW = {str(seed) for seed in range(10)}
ALIKE = "closed mechanisms whose joints and constraints are those of others"


@cache
def random_closed(seed: int) -> tuple[kp.Mechanism, np.ndarray]:
    return closed.random_closed(seed)


def check_actuated_joints_make_the_motion(m: kp.Mechanism, q: np.ndarray, seed: int) -> None:
    rng = np.random.default_rng(seed)
    qd = m.velocities(q, guess=rng.normal(size=m.nv))
    qdd = m.accelerations(q, qd, guess=rng.normal(size=m.nv))
    tau = m.inverse_dynamics(q, qd, qdd)
    others = [k for k, name in enumerate(m.v_names) if name not in m.actuated()]
    assert (tau[others] == 0.0).all()
    assert zoo.relative_error(m.forward_dynamics(q, qd, tau), qdd) < 1e-9


@pytest.mark.parametrize("name", family(BUNDLED, USUAL, ALIKE))
def test_efforts_on_the_actuated_joints_of_an_example_make_its_motion(name):
    m = kp.example(name)
    for seed in range(3):
        near = m.start() + 0.05 * np.random.default_rng(seed).normal(size=m.nq)
        check_actuated_joints_make_the_motion(m, m.assemble(near), seed)


@pytest.mark.parametrize("seed", family(range(200), FEW, ALIKE))
def test_efforts_on_the_actuated_joints_of_a_random_mechanism_make_its_motion(seed):
    m, q = random_closed(seed)
    check_actuated_joints_make_the_motion(m, q, seed)
