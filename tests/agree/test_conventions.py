"""Converted states, efforts, Jacobians and mass matrices are what the engines themselves compute.

Relative error: max|Δ| / max(1, max|reference|). Both sides round some hundred operations on numbers of size
one: 1e-12 is a thousand times that.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import kinpair as kp
import zoo
from engines import ENGINES, bare_urdf, disagreement
from families import family
from kinpair import conventions
from kinpair.description.parts import Description, Link
from robots import urdf

TOLERANCE = 1e-12
ROBOTS = ("panda", "ur5_robot", "solo12", "go2", "talos_left_arm", "g1_29dof_rev_1_0")
UNBOUNDED = ("kinova", "double_pendulum_continuous")  # continuous joints: cosine and sine in Pinocchio
REORDERED = ("baxter", "centauro")  # documents that no engine takes in their own order
EVERY = [(r, b, e) for r in (*ROBOTS, *UNBOUNDED, *REORDERED) for b in ("fixed", "free") for e in ENGINES]
USUAL = {"-".join(x) for x in EVERY if x[0] not in ("go2", "talos_left_arm", "g1_29dof_rev_1_0", "centauro")}
CASES = family(EVERY, USUAL, reason="further quadrupeds, arms and humanoids", name="-".join)


def load(robot: str, base: str) -> kp.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf(robot), base=base, constraints=False)


@dataclass(frozen=True, eq=False)
class Both:
    """A robot, the same in an engine, and the map between them."""

    ours: kp.Mechanism
    theirs: Any
    convention: conventions.Convention


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def both(request) -> Both:
    robot, base, engine = request.param
    ours, theirs = load(robot, base), ENGINES[engine].read(bare_urdf(urdf(robot)), base == "free")
    return Both(ours, theirs, theirs.convention(ours))


def assert_returns(c: conventions.Convention, m: zoo.Motion, tau: np.ndarray) -> None:
    """There and back is where it was."""
    back = c.from_state(*c.state(m.q, m.qd, m.qdd, tau))
    for result, arguments in zip(back, (m.q, m.qd, m.qdd, tau), strict=True):
        assert zoo.relative_error(result, arguments) <= TOLERANCE


def test_the_engine_computes_what_is_converted(both):
    errors = disagreement(both.ours, both.theirs, both.convention, zoo.motion(both.ours))
    assert max(errors.values()) <= TOLERANCE, errors


def test_from_undoes_to(both):
    m = zoo.motion(both.ours, seed=1)
    tau = np.random.default_rng(1).normal(size=both.ours.nv)
    assert_returns(both.convention, m, tau)


def test_matrices_return(both):
    q = zoo.motion(both.ours, seed=2).q
    c, J, H = both.convention, both.ours.jacobian(q, both.ours.model.names[-1]), both.ours.mass_matrix(q)
    assert zoo.relative_error(c.from_jacobian(q, c.jacobian(q, J)), J) <= TOLERANCE
    assert zoo.relative_error(c.from_mass_matrix(q, c.mass_matrix(q, H)), H) <= TOLERANCE


def test_a_batch_is_its_rows(both):
    c, m = both.convention, zoo.motions(both.ours, 3)
    whole = c.state(m.q, m.qd, m.qdd, m.qdd)
    rows = [c.state(*row) for row in zip(m.q, m.qd, m.qdd, m.qdd, strict=True)]
    for k, result in enumerate(whole):
        assert zoo.relative_error(result, np.array([row[k] for row in rows])) <= TOLERANCE
    assert_returns(c, m, m.qdd)
    H = both.ours.mass_matrix(m.q)
    one_by_one = np.array([c.mass_matrix(*row) for row in zip(m.q, H, strict=True)])
    assert zoo.relative_error(c.mass_matrix(m.q, H), one_by_one) <= TOLERANCE


@pytest.mark.parametrize("robot", REORDERED)
@pytest.mark.parametrize("engine", ENGINES)
def test_the_reordered_robots_are_reordered(robot, engine):
    joints = ENGINES[engine].read(bare_urdf(urdf(robot)), True).convention(load(robot, "free")).joints
    starts = [joint.v.start for joint in joints]
    assert starts != sorted(starts)


# The face.

TO = {
    "pinocchio": (conventions.to_pinocchio, conventions.from_pinocchio, conventions.pinocchio),
    "mujoco": (conventions.to_mujoco, conventions.from_mujoco, conventions.mujoco),
    "drake": (conventions.to_drake, conventions.from_drake, conventions.drake),
}


@pytest.mark.parametrize("engine", TO)
def test_one_call_there_and_one_back(engine):
    to, back, convention = TO[engine]
    ours = load("go2", "free")
    m = zoo.motion(ours)
    there = to(ours, m.q, m.qd, m.qdd, m.qdd)
    for result, expected in zip(there, convention(ours).state(m.q, m.qd, m.qdd, m.qdd), strict=True):
        assert np.array_equal(result, expected)
    again = back(ours, *there)
    assert zoo.relative_error(again.qdd, m.qdd) <= TOLERANCE
    assert to(ours, m.q)[1:] == (None, None, None)


FREE_BASE = {  # q of position 1 2 3 turned a right angle about z; rates ω = (4, 5, 6), v = (7, 8, 9)
    "pinocchio": ((1, 2, 3, 0, 0, 0.5**0.5, 0.5**0.5), (7, 8, 9, 4, 5, 6)),
    "mujoco": ((1, 2, 3, 0.5**0.5, 0, 0, 0.5**0.5), (-8, 7, 9, 4, 5, 6)),
    "drake": ((0.5**0.5, 0, 0, 0.5**0.5, 1, 2, 3), (-5, 4, 6, -8, 7, 9)),
}


@pytest.mark.parametrize("engine", FREE_BASE)
def test_the_table_of_free_bases(engine):
    ours = kp.build(Description("brick", (Link("brick", 1.0),), ()), base="free")
    result = TO[engine][0](ours, [1, 2, 3, 0, 0, 2, 2], [4, 5, 6, 7, 8, 9])
    assert result.q == pytest.approx(np.array(FREE_BASE[engine][0]))
    assert result.v == pytest.approx(np.array(FREE_BASE[engine][1]))


def test_nothing_moves():
    ours = kp.build(Description("rock", (Link("rock"),), ()))
    assert conventions.to_drake(ours, []).q.shape == (0,)
    assert conventions.to_drake(ours, np.zeros((3, 0)), np.zeros((3, 0))).v.shape == (3, 0)
