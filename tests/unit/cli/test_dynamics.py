"""`kinpair dynamics`."""

from __future__ import annotations

import json

import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.main import main

STATE = {
    "q": [0.3, -0.4, 0.1, 1.0],
    "qd": [1, -2, 0.5, 0.2],
    "qdd": [0.1, 0.2, 0.3, 0.4],
    "tau": [1, 2, 3, 4],
}
MASSLESS = """
[[link]]
name = "arm"
mass = 1
inertia = [1, 1, 1]
[[link]]
name = "tip"
[[joint]]
name = "a"
kind = "revolute"
parent = "ground"
child = "arm"
[[joint]]
name = "b"
kind = "revolute"
parent = "arm"
child = "tip"
"""


def shown(capsys, *words):
    assert main(["dynamics", *map(str, words)]) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


def told(capsys, *words):
    return json.loads(shown(capsys, *words, "--json"))


def options(state):
    return [word for key, values in state.items() for word in (f"--{key}", ",".join(map(str, values)))]


@pytest.fixture
def massless(tmp_path):
    file = tmp_path / "massless.toml"
    file.write_text(MASSLESS)
    return file


@pytest.mark.parametrize("method", [None, "denoc", "newton-euler"])
@pytest.mark.parametrize("passive", [True, False])
def test_every_quantity_is_that_of_the_mechanism(capsys, method, passive):
    arm = kp.example("scara")
    chosen = ["--method", method] if method else []
    acting = [] if passive else ["--no-passive"]
    found = told(capsys, "scara", *options(STATE), *chosen, *acting, "--frame", "tool")
    q, qd, qdd, tau = STATE.values()
    loads = {"method": method, "passive": passive}
    assert found["state"] == STATE
    assert found["inverse_dynamics"] == arm.inverse_dynamics(q, qd, qdd, **loads).tolist()
    assert found["forward_dynamics"] == arm.forward_dynamics(q, qd, tau, **loads).tolist()
    assert found["bias_forces"] == arm.bias_forces(q, qd, **loads).tolist()
    assert found["gravity_forces"] == arm.gravity_forces(q, method=method).tolist()
    assert found["mass_matrix"] == arm.mass_matrix(q, method=method).tolist()
    assert found["coriolis_matrix"] == arm.coriolis_matrix(q, qd).tolist()
    assert found["energy"] == {key: float(x) for key, x in arm.energy(q, qd)._asdict().items()}
    assert found["centre_of_mass"] == arm.centre_of_mass(q).tolist()
    assert found["reactions"]["lift"] == arm.reactions(q, qd, qdd, method=method)["lift"].tolist()
    assert found["frames"]["tool"]["position"] == arm.pose(q, "tool").position.tolist()
    assert found["frames"]["tool"]["rotation"] == arm.pose(q, "tool").rotation.tolist()
    assert found["frames"]["tool"]["jacobian"] == arm.jacobian(q, "tool").tolist()


def test_the_method_of_every_quantity_is_told(capsys):
    methods = told(capsys, "scara", "--method", "newton-euler")["methods"]
    assert methods.pop("coriolis_matrix") == "denoc"
    assert set(methods.values()) == {"newton-euler"}


def test_the_default_state_is_neutral_and_at_rest(capsys):
    state = told(capsys, "floating-arm")["state"]
    assert state["q"] == [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]
    assert not np.any([state["qd"], state["qdd"], state["tau"]])


def test_numbers_may_be_negative_wherever_they_stand(capsys):
    words = ("--q", "-0.3,0.5", "-.1", "-pi/2", "--qd", "-1", "2", "3", "-4")
    state = told(capsys, "scara", *words)["state"]
    assert state["q"] == [-0.3, 0.5, -0.1, -np.pi / 2]
    assert state["qd"] == [-1, 2, 3, -4]


def test_entries_are_set_by_name(capsys):
    state = told(capsys, "scara", "--q", "elbow=1,turn=-2", "--tau", "lift=3")["state"]
    assert state["q"] == [0, 1, 0, -2]
    assert state["tau"] == [0, 0, 3, 0]


def test_several_frames_are_given(capsys):
    assert list(told(capsys, "scara", "--frame", "tool", "quill")["frames"]) == ["tool", "quill"]
    assert list(told(capsys, "scara", "--frame", "tool", "--frame", "quill")["frames"]) == ["tool", "quill"]


def test_a_singular_forward_dynamics_leaves_the_rest(capsys, massless):
    found = told(capsys, massless)
    assert found["forward_dynamics"] is None
    assert "singular at joint 'b'" in found["reasons"]["forward_dynamics"]
    assert found["inverse_dynamics"] == [0, 0]
    text = shown(capsys, massless)
    assert f"none: {found['reasons']['forward_dynamics']}\n" in text
    assert "Mass matrix H" in text
    assert text.endswith(f"1 warning about the description: kinpair info {massless}\n")


def test_what_does_not_move_has_no_centre_of_mass(capsys, tmp_path):
    file = tmp_path / "welded.toml"
    file.write_text(
        '[[link]]\nname = "a"\n[[joint]]\nname = "j"\nkind = "fixed"\nparent = "ground"\nchild = "a"\n'
    )
    found = told(capsys, file)
    assert found["centre_of_mass"] is None
    assert found["reasons"]["centre_of_mass"].endswith("so there is no centre of mass")
    assert found["mass_matrix"] == []
    assert "Energy" in shown(capsys, file)


def test_names_stand_beside_the_numbers(capsys):
    text = shown(capsys, "scara", "--frame", "tool")
    rows = [line.split() for line in text.splitlines()]
    assert ["lift", "0", "0", "12.753", "12.753", "12.753"] in rows
    assert ["lift", "0", "-9.81"] in rows
    assert ["2", "lift", "0", "0", "1.3", "0"] in rows
    for heading in ("Inverse dynamics", "Forward dynamics", "Energy", "Mass matrix", "Coriolis", "Reactions"):
        assert heading in text
    assert "Frame tool: position" in text
    assert "Frame tool: Jacobian" in text
    assert "left out" not in text
    assert "springs, dampers and friction left out" in shown(capsys, "scara", "--no-passive")


@pytest.mark.parametrize("name", list(kp.examples()))
def test_both_outputs_work_for_every_example(capsys, name):
    assert shown(capsys, name).startswith(f"{name}\n")
    assert told(capsys, name)["name"] == name


def test_no_number_of_json_is_anything_but_finite_or_null(capsys):
    text = shown(capsys, "scara", "--qd", "1e200,1e200,1,1", "--json")
    found = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert None in np.ravel(found["inverse_dynamics"]).tolist()
