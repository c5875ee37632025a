"""Gaits of real machines: roles of joints, balance, limits, and the machine that walks by them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from tests.robots import urdf

import kinpair as kp
from kinpair.motion.roles import ROLES, roles_of

SMALL_STEPS = {  # knee and ankle of its right leg bend one way only, so its feet stay in front of the hips
    "posture": {"WAIST_P": 1.02, "pelvis pitch": -0.08, "RARM_SHOULDER_P": -0.6, "LARM_SHOULDER_P": -0.6},
    "soles": (0.08, ((-0.1, 0.1), (-0.05, 0.05))),
    "step": 0.015,
    "speed": 0.015,
    "lift": 0.006,
    "extension": 0.968,
}
MACHINES = {"talos_reduced": {}, "g1_29dof_rev_1_0": {}, "simple_humanoid": SMALL_STEPS}
LEGS = {
    "talos_reduced": [f"leg_{side}_{k}_joint" for side in ("left", "right") for k in range(1, 7)],
    "g1_29dof_rev_1_0": [f"{role}_joint" for role in ROLES],
    "simple_humanoid": [
        f"{side}LEG_{part}"
        for side in "LR"
        for part in ("HIP_Y", "HIP_R", "HIP_P", "KNEE", "ANKLE_P", "ANKLE_R")
    ],
}


def machine(name):
    if name == "biped":
        return kp.example(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf(name), base="free", constraints=False)


@pytest.mark.parametrize("name", LEGS)
def test_roles_are_guessed_from_names_or_from_geometry(name):
    found = roles_of(machine(name))
    assert list(found.joints) == list(ROLES)
    assert list(found.joints.values()) == LEGS[name]
    assert len(found.notes) == len(ROLES)


def check(gait):
    """Margin, friction, unactuated rows, limits, both over two steps."""
    time = np.linspace(0.0, 2 * gait.step_time, 401)
    support = gait.support_at(time)
    assert support.margin.min() >= 5e-3
    assert support.friction.max() <= 0.6
    assert np.abs(gait.efforts(time)[:, :6]).max() <= 1e-6
    x, joints = gait.motion(2).at(time), gait.mechanism.model.joints
    assert (x.q[:, 7:] >= joints.lower[7:] - 1e-6).all()
    assert (x.q[:, 7:] <= joints.upper[7:] + 1e-6).all()
    assert gait.repeats <= 1e-6


def test_a_machine_walks_and_its_feet_stay_where_they_stand():
    gait = kp.motion.gait(machine("g1_29dof_rev_1_0"))
    check(gait)
    time = np.linspace(0.0, gait.step_time, 57)
    foot = gait.mechanism.pose(gait.motion(1).at(time).q, "right-sole")
    assert foot.position == pytest.approx(np.tile([0.0, -gait.numbers.track, 0.0], (57, 1)), abs=2e-6)
    assert foot.rotation == pytest.approx(np.tile(np.eye(3), (57, 1, 1)), abs=1e-5)


@pytest.mark.long("large machines")
@pytest.mark.parametrize("name", ["biped", "talos_reduced", "simple_humanoid"])
def test_other_machines_walk(name):
    check(kp.motion.gait(machine(name), roles={}, **MACHINES.get(name, {})))


@pytest.mark.long("18 rates under 12 rows of constraints take half a minute to compile")
@pytest.mark.parametrize("name", ["biped", "talos_reduced", "g1_29dof_rev_1_0", "simple_humanoid"])
def test_the_free_machine_with_its_feet_held_walks_by_the_efforts_of_the_gait(name):
    replay = kp.walking.replay(kp.motion.gait(machine(name), roles={}, **MACHINES.get(name, {})))
    assert max(replay.distances) <= 1e-4


def test_joints_beyond_their_limits_are_reported_with_their_excess():
    with pytest.raises(kp.SingularError, match=r"RLEG_ANKLE_P by \d+\.\d degrees"):
        kp.motion.gait(machine("simple_humanoid"))


def test_wrong_roles_are_named():
    m = kp.example("biped")
    with pytest.raises(kp.InputError, match="role 'left_hip' is not known"):
        kp.motion.gait(m, roles={"left_hip": "left-hip"})
    with pytest.raises(kp.InputError, match="no hinge 'knee' for role 'left_knee'"):
        kp.motion.gait(m, roles={"left_knee": "knee"})
    with pytest.raises(kp.InputError, match="posture names 'nose'"):
        kp.motion.gait(m, roles={}, posture={"nose": 1.0})


def test_an_ambiguous_name_is_rejected_with_the_candidates():
    b = kp.Builder("two knees")
    parent = "ground"
    for k, name in enumerate(("left_knee_a", "left_knee_b")):
        b.link(f"link{k}", mass=1.0, inertia=[0.1, 0.1, 0.1])
        b.joint(name, "revolute", parent, f"link{k}", axis="y", xyz=[0, 0.1, -0.3])
        parent = f"link{k}"
    with pytest.raises(kp.InputError, match="left_knee may be left_knee_a, left_knee_b"):
        kp.motion.gait(kp.build(b))


def test_rates_of_a_motion_are_in_the_order_of_the_rates():
    """Bodies of this file are numbered in another order than its joints."""
    m = machine("simple_humanoid")
    start, end = m.neutral(), m.neutral()
    end[7:] += np.linspace(0.1, 0.5, m.nq - 7)
    x = kp.motion.nominal(m, kp.motion.cycloid(start, end, 1.0), actuators="all").motion.at(0.4)
    slope = kp.motion.cycloid(0.0, 1.0, 1.0).at(0.4).qd
    assert x.qd[6:] == pytest.approx(slope * (end - start)[7:])


ROLES_IN_FILE = """
[gait]
left_knee = "left-knee"
right_knee = "right-knee"
"""


def test_roles_of_a_file_count_before_guesses_and_given_ones_before_them(tmp_path):
    file = tmp_path / "biped.toml"
    file.write_text(kp.to_toml(kp.example("biped").model.description) + ROLES_IN_FILE)
    m = kp.load(file)
    assert dict(m.model.description.gait) == {"left_knee": "left-knee", "right_knee": "right-knee"}
    found = roles_of(m)
    assert found.joints["left_knee"] == "left-knee"
    assert not any(note.startswith("left_knee") for note in found.notes)  # not guessed
    other = roles_of(m, {"left_knee": "right-knee", "right_knee": "left-knee"})
    assert other.joints["left_knee"] == "right-knee"
    again = tmp_path / "again.toml"
    again.write_text(kp.to_toml(m.model.description))
    assert kp.load(again).model.description == m.model.description


def test_a_file_of_roles_names_the_joints_of_another_description(tmp_path):
    roles = tmp_path / "roles.toml"
    roles.write_text('[gait]\nleft_hip_pitch = "leg_left_3_joint"\n')
    m = kp.example("biped")
    with pytest.raises(kp.InputError, match="no hinge 'leg_left_3_joint' for role 'left_hip_pitch'"):
        kp.motion.gait(m, roles=roles)
    roles.write_text("[joints]\n")
    with pytest.raises(kp.InputError, match=r"roles.toml: has no table \[gait\]"):
        kp.motion.gait(m, roles=roles)
    roles.write_text('[gait]\nleft_hip = "left-hip"\n')
    with pytest.raises(kp.DescriptionError, match="unknown key 'left_hip'; did you mean 'left_hip_"):
        kp.motion.gait(m, roles=roles)


def test_a_role_of_a_joint_that_does_not_exist_is_rejected(tmp_path):
    file = tmp_path / "biped.toml"
    file.write_text(kp.to_toml(kp.example("biped").model.description) + '\n[gait]\nleft_knee = "left-kene"\n')
    with pytest.raises(
        kp.DescriptionError, match=r"left_knee is joint 'left-kene'.*did you mean 'left-knee'"
    ):
        kp.load(file)
