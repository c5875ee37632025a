"""`kinpair identify`: a description and logs in, a summary and files out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import identification_logs as logs
import kinpair as kp
from kinpair.cli.main import main

URDF = """<?xml version="1.0"?>
<robot name="pendulum">
  <!-- a comment that stays -->
  <link name="base"/>
  <link name="rod">
    <visual><geometry><box size="0.1 0.1 0.4"/></geometry></visual>
    <inertial><origin xyz="0 0 -0.1"/><mass value="2"/>
      <inertia ixx="0.05" iyy="0.05" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="tip"><inertial><mass value="0.1"/>
    <inertia ixx="1e-4" iyy="1e-4" izz="1e-4" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="rod"/><axis xyz="0 1 0"/>
    <limit lower="-3" upper="3" effort="50" velocity="10"/></joint>
  <joint name="weld" type="fixed"><parent link="rod"/><child link="tip"/><origin xyz="0 0 -0.4"/></joint>
</robot>
"""


@pytest.fixture
def files(tmp_path):
    robot = tmp_path / "pendulum.urdf"
    robot.write_text(URDF)
    m = kp.load(robot)
    x = logs.log(m, duration=10.0, noise=0.01)
    x["tau_hinge"] = x["tau_hinge"] + 0.8 * np.sign(np.gradient(x["q_hinge"]))
    log = tmp_path / "log.csv"
    log.write_text(
        ",".join(x)
        + "\n"
        + "\n".join(",".join(f"{v:.8g}" for v in row) for row in zip(*x.values(), strict=True))
    )
    return robot, log


def test_summary_and_files(files, tmp_path, capsys):
    robot, log = files
    out = {x: tmp_path / f"new.{x}" for x in ("html", "png", "toml", "urdf")}
    words = ["identify", str(robot), str(log), "--validate", "0.3", "--friction", "viscous,coulomb"]
    words += [
        "--report",
        str(out["html"]),
        "--plot",
        str(out["png"]),
        "--toml",
        str(out["toml"]),
        "--urdf",
        str(out["urdf"]),
    ]
    assert main(words) == 0
    shown = capsys.readouterr().out
    assert "validation" in shown
    assert "hinge" in shown
    for path in out.values():
        assert path.stat().st_size > 0
    assert kp.load(out["toml"]).nv == 1


def test_urdf_keeps_everything_but_inertial_and_dynamics(files, tmp_path):
    robot, log = files
    new = tmp_path / "new.urdf"
    assert main(["identify", str(robot), str(log), "--friction", "viscous,coulomb", "--urdf", str(new)]) == 0
    text = new.read_text("utf-8")
    assert "<!-- a comment that stays -->" in text
    assert '<box size="0.1 0.1 0.4"/>' in text
    assert '<origin xyz="0 0 -0.4"/>' in text
    m, old = kp.load(new), kp.load(robot)
    joint = m.model.description.joints[0]
    assert joint.friction[0] == pytest.approx(0.8, abs=0.05)
    q = np.array([0.7])
    np.testing.assert_allclose(m.gravity_forces(q), old.gravity_forces(q), rtol=0.02)


def test_json(files, capsys):
    robot, log = files
    assert main(["identify", str(robot), str(log), "--friction", "viscous,coulomb", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["consistent"] is True
    assert found["parameters"]["hinge: coulomb"] == pytest.approx(0.8, abs=0.05)


def test_mistakes_have_one_line(files, capsys):
    robot, log = files
    for words, part in (
        (["identify", str(robot)], "no log"),
        (["identify", str(robot), str(log) + "x"], "not read"),
        (["identify", str(robot), str(log), "--gear", "a"], "--gear is 'a'"),
    ):
        assert main(words) == 2
        assert part in capsys.readouterr().err
