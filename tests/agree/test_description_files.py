"""Every description file of five packages is read, or rejected in one sentence with file and line."""

from __future__ import annotations

import re
import warnings

import pytest

import kinpair as kp
import robots
from families import family

FILES = robots.description_files()
USUAL = (
    "example-robot-data/panda_description/urdf/panda.urdf",
    "example-robot-data/solo_description/robots/solo12.urdf",
    "example-robot-data/ur_description/urdf/ur3.urdf",
    "example-robot-data/cassie_description/robots/cassie.sdf",
    "example-robot-data/hector_description/robots/quadrotor_base.xacro",
    "gymnasium/mujoco/assets/ant.xml",
    "gymnasium/mujoco/assets/humanoid.xml",
    "gymnasium-robotics/assets/hand/reach.xml",
    "gymnasium-robotics/assets/hand/shared.xml",
    "gymnasium-robotics/assets/fetch/robot.xml",
    "gymnasium-robotics/assets/adroit_hand/adroit_door.xml",
    "gymnasium-robotics/kitchen_franka/franka_assets/chain.xml",
    "mujoco-core/mujoco/testdata/model.xml",
    "mujoco-core/mujoco/testdata/msh.xml",
    "mujoco-core/mujoco/testdata/usd_golden.usda",
    "drake/examples/acrobot/Acrobot.urdf",
    "drake/examples/acrobot/Acrobot.sdf",
    "drake/examples/planar_gripper/planar_gripper.sdf",
    "drake/examples/quadrotor/warehouse.sdf",
    "drake/share/drake/package.xml",
)
CASES = family(list(FILES), list(USUAL), "further files of the same packages", str)


@pytest.mark.parametrize("name", CASES)
def test_a_file_is_read_or_rejected_in_one_sentence(name):
    file = FILES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        try:
            m = kp.load(file)
        except kp.DescriptionError as reason:
            message = str(reason)
            assert "\n" not in message
            # without a line: the format is not read, an included file is missing, macros that nobody calls
            other = ".usd" in file.suffix or "no such file" in message or "(expanded)" in message
            assert other or re.search(rf"\.{file.suffix[1:]}( \(expanded\))?:\d+: ", message), message
        else:
            assert len(m.model.names) >= 1


def test_there_are_as_many_files_as_documented():
    assert 170 <= len(FILES) <= 190  # docs/formats.md
