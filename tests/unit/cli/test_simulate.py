"""`kinpair simulate` and `kinpair resume`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.main import main


def answer(capsys, *words: str) -> dict:
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_command_gives_what_the_call_gives(capsys):
    result = answer(
        capsys, "simulate", "double-pendulum", "--q", "0.3,0.2", "--duration", "1", "--tau", "elbow=0.1"
    )
    run = kp.simulate(kp.example("double-pendulum"), [0.3, 0.2], [0, 0], duration=1.0, torque=[0.0, 0.1])
    assert result["samples"]["q"] == run.q.tolist()
    assert result["end"]["kinetic"] == run.energy.kinetic[-1]
    assert result["status"] == {"name": "done", "time": 1.0, "message": "Reached t = 1 s"}


def test_a_tree_starts_where_its_description_says(capsys, tmp_path):
    file = tmp_path / "arm.toml"
    file.write_text(
        """
[[link]]
name = "upper"
mass = 1
inertia = [0.1, 0.1, 0.1]
[[link]]
name = "lower"
mass = 1
inertia = [0.1, 0.1, 0.1]
[[joint]]
name = "shoulder"
kind = "revolute"
parent = "ground"
child = "upper"
start = 0.4
[[joint]]
name = "elbow"
kind = "revolute"
parent = "upper"
child = "lower"
start = -0.7
"""
    )
    words = "simulate", str(file), "--duration", "0.1"
    assert answer(capsys, *words)["samples"]["q"][0] == [0.4, -0.7]
    assert answer(capsys, *words, "--q", "elbow=0.2")["samples"]["q"][0] == [0.4, 0.2]


def test_advice_of_a_summary_is_written_as_options(capsys, tmp_path):
    file = tmp_path / "arm.urdf"
    file.write_text(
        """<robot name="arm"><link name="base"/><link name="bob"><inertial><mass value="1"/>
        <inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
        <joint name="hinge" type="revolute"><parent link="base"/><child link="bob"/><axis xyz="0 0 1"/>
        <limit lower="-1" upper="1" effort="2" velocity="9"/></joint></robot>"""
    )
    assert main(["simulate", str(file), "--tau", "3", "--duration", "1"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "beyond its upper limit; --limits stop would hold them." in text
    assert "at most 3 N m at t = 0 s; --limits saturate clips them." in text


def test_inputs_of_actuators(capsys):
    result = answer(capsys, "simulate", "dc-actuator", "--duration", "0.1", "--input", "motor=12")
    run = kp.simulate(kp.example("dc-actuator"), [0.0], [0.0], duration=0.1, input={"motor": 12.0})
    assert result["samples"]["q"] == run.q.tolist()


def test_tables_pictures_pages_and_files(capsys, tmp_path):
    files = [tmp_path / name for name in ("run.png", "run.html", "run.h5")]
    words = [str(x) for pair in zip(("--plot", "--report", "--save"), files, strict=True) for x in pair]
    assert (
        main(["simulate", "cart-pole", "--q", "0,0.1", "--duration", "1", "--integrator", "rk4", *words]) == 0
    )
    out = capsys.readouterr().out
    assert out.startswith("cart-pole: motion over 1 s\ncart-pole: 1001 samples from t = 0 s to 1 s.")
    assert all(str(file) in out and file.stat().st_size > 1000 for file in files)
    assert main(["resume", str(files[2])]) == 0
    assert "this run is already complete" in capsys.readouterr().out


def test_what_is_not_simulated_is_said_with_the_run(capsys, tmp_path):
    file = tmp_path / "scene.xml"
    file.write_text(
        '<mujoco><asset><hfield name="hills" nrow="2" ncol="2" size="1 1 1 1"/></asset><worldbody>'
        '<geom name="land" type="hfield" hfield="hills"/><body name="ball" gravcomp="1"><freejoint/>'
        '<geom name="shell" size=".1"/></body></worldbody></mujoco>'
    )
    assert answer(capsys, "simulate", str(file), "--duration", "0.1")["notes"] == [
        f"warning: {file}:1: not simulated, although the motion depends on it: contact of 1 geom ('land' (hfield))",
        f"1 more warning about the description: kinpair check {file}",
    ]


def test_a_closed_mechanism_is_assembled_first(capsys):
    result = answer(capsys, "simulate", "four-bar", "--duration", "0.5", "--qd", "crank=1", "--output", "0.1")
    assert result["notes"] == ["q: the start", "qd: crank given, other entries computed, of least norm"]
    four_bar = kp.example("four-bar")
    assert np.abs(four_bar.constraint_residual(np.array(result["end"]["q"]))).max() < 1e-10


def test_an_interrupted_run_goes_on(capsys, tmp_path):
    path = tmp_path / "run.h5"

    def interrupt(part: float) -> None:
        raise KeyboardInterrupt

    arm = kp.example("double-pendulum")
    options = {"duration": 1.0, "integrator": "rk4", "dt": 1e-3}
    kp.simulate(arm, [0.3, 0.2], [0, 0], save=path, progress=interrupt, **options)
    result = answer(capsys, "resume", str(path))
    assert result["samples"] == 1001
    assert np.array_equal(kp.load_run(path).q, kp.simulate(arm, [0.3, 0.2], [0, 0], **options).q)


SWING = """
name = "swing"
[[link]]
name = "bob"
mass = 1.0
com = [0, 0, -1]
[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "bob"
axis = "y"
lower = -0.2
"""


def test_limits_that_stop_are_saved_and_go_on(capsys, tmp_path):
    (tmp_path / "swing.toml").write_text(SWING)
    swing, path = kp.load(tmp_path / "swing.toml"), tmp_path / "run.h5"
    words = ["--q", "1", "--duration", "2", "--integrator", "rk4", "--limits", "stop", "--save", str(path)]
    result = answer(capsys, "simulate", str(tmp_path / "swing.toml"), *words)
    assert "'pin at its lower limit'" in result["summary"]
    options = {"duration": 2.0, "integrator": "rk4", "limits": "stop"}
    whole = kp.simulate(swing, [1.0], [0.0], **options)
    assert np.array_equal(kp.load_run(path).q, whole.q)

    def interrupt(part: float) -> None:
        if part > 0.4:
            raise KeyboardInterrupt

    kp.simulate(swing, [1.0], [0.0], save=path, progress=interrupt, **options)
    assert answer(capsys, "resume", str(path))["status"]["name"] == "done"
    assert np.array_equal(kp.load_run(path).q, whole.q)
    path = tmp_path / "watched.h5"
    low = kp.Event("low", lambda time, q, qd: q[0])
    kp.simulate(swing, [1.0], [0.0], save=path, progress=interrupt, events=[low], **options)
    assert main(["resume", str(path)]) == 2
    assert "the run has events (low), whose functions the file does not hold" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["simulate", "double-pendulum", "--limits", "bump"], "limits is 'bump'; it is one of ignore, stop,"),
        (["simulate", "double-pendulum", "--integrator", "rk5"], "no integrator 'rk5'; did you mean 'rk4'?"),
        (["simulate", "double-pendulum", "--q", "1"], "--q has 1 number; expected 2: shoulder, elbow"),
        (
            ["simulate", "double-pendulum", "--duration", "-1"],
            "duration is -1.0; it must be a number above zero",
        ),
        (["simulate", "double-pendulum", "--save", "/dev/null/x.h5"], "cannot be written (Not a directory)"),
        (["resume", "nothing.h5"], "nothing.h5: no such file"),
    ],
)
def test_mistakes_are_told(capsys, words, message):
    assert main(words) == 2
    assert message in capsys.readouterr().err


def test_a_run_that_breaks_off_is_told_and_kept(capsys, tmp_path):
    words = ["simulate", "double-pendulum", "--qd", "9e7,9e7", "--integrator", "rk4", "--duration", "1"]
    assert main([*words, "--save", str(tmp_path / "run.h5")]) == 2
    out, err = capsys.readouterr()
    assert "double-pendulum: 2 samples from" in out
    assert "the state is no longer finite" in err
    assert kp.load_run(tmp_path / "run.h5").status.name == "not finite"


def test_how_constraints_are_held_and_what_is_damped(capsys):
    start = ["simulate", "four-bar", "--duration", "0.2", "--output", "0.1"]
    four_bar = kp.example("four-bar")
    at_rest = np.zeros(four_bar.nv)
    result = answer(capsys, *start, "--hold", "baumgarte", "--alpha", "5")
    q = np.array(result["samples"]["q"][0])
    run = kp.simulate(four_bar, q, at_rest, duration=0.2, output=0.1, hold="baumgarte", alpha=5.0)
    assert result["samples"]["q"] == run.q.tolist()
    damped = {"integrator": "generalised-alpha", "dt": 0.01}
    result = answer(capsys, *start, "--integrator", "generalised-alpha", "--dt", "0.01", "--rho-inf", "0.5")
    run = kp.simulate(four_bar, q, at_rest, duration=0.2, output=0.1, rho_inf=0.5, **damped)
    assert result["samples"]["q"] == run.q.tolist()


def test_rotations_are_made_exact(capsys, tmp_path):
    text = """<robot name="r"><link name="a"/><link name="b"><inertial><origin xyz="0.3 0 0"/><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous">
    <parent link="a"/><child link="b"/><origin rpy="1.5708 0 0"/><axis xyz="0 0 1"/></joint></robot>"""
    (tmp_path / "r.urdf").write_text(text)
    words = ["simulate", str(tmp_path / "r.urdf"), "--duration", "0.1"]
    with pytest.warns(kp.DescriptionWarning, match="rotation changed by"):
        snapped = kp.load(tmp_path / "r.urdf", snap=1e-4)
    exact = kp.simulate(snapped, [0.0], [0.0], duration=0.1)
    assert answer(capsys, *words, "--snap", "1e-4")["end"]["q"] == exact.q[-1].tolist()
    assert answer(capsys, *words)["end"]["q"] != exact.q[-1].tolist()
