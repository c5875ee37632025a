"""`kinpair dynamics`."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import closed
import kinpair as kp
from families import ALIKE, LARGE_EXAMPLES, family
from kinpair.cli.main import main

EXAMPLES = list(kp.examples(systems=False))
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
    result = told(capsys, "scara", *options(STATE), *chosen, *acting, "--frame", "tool")
    q, qd, qdd, tau = STATE.values()
    loads = {"method": method, "passive": passive}
    assert result["state"] == STATE
    assert result["inverse_dynamics"] == arm.inverse_dynamics(q, qd, qdd, **loads).tolist()
    assert result["forward_dynamics"] == arm.forward_dynamics(q, qd, tau, **loads).tolist()
    assert result["bias_forces"] == arm.bias_forces(q, qd, **loads).tolist()
    assert result["gravity_forces"] == arm.gravity_forces(q, method=method).tolist()
    assert result["mass_matrix"] == arm.mass_matrix(q, method=method).tolist()
    assert result["coriolis_matrix"] == arm.coriolis_matrix(q, qd).tolist()
    assert result["energy"] == {key: float(x) for key, x in arm.energy(q, qd)._asdict().items()}
    assert result["centre_of_mass"] == arm.centre_of_mass(q).tolist()
    assert result["reactions"]["lift"] == arm.reactions(q, qd, qdd, method=method)["lift"].tolist()
    assert result["frames"]["tool"]["position"] == arm.pose(q, "tool").position.tolist()
    assert result["frames"]["tool"]["rotation"] == arm.pose(q, "tool").rotation.tolist()
    assert result["frames"]["tool"]["jacobian"] == arm.jacobian(q, "tool").tolist()


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
    result = told(capsys, massless)
    assert result["forward_dynamics"] is None
    assert "singular at joint 'b'" in result["reasons"]["forward_dynamics"]
    assert result["inverse_dynamics"] == [0, 0]
    text = shown(capsys, massless)
    assert f"none: {result['reasons']['forward_dynamics']}\n" in text
    assert "Mass matrix H" in text
    assert text.endswith(f"1 warning about the description: kinpair info {massless}\n")


def test_what_does_not_move_has_no_centre_of_mass(capsys, tmp_path):
    file = tmp_path / "welded.toml"
    file.write_text(
        '[[link]]\nname = "a"\n[[joint]]\nname = "j"\nkind = "fixed"\nparent = "ground"\nchild = "a"\n'
    )
    result = told(capsys, file)
    assert result["centre_of_mass"] is None
    assert result["reasons"]["centre_of_mass"].endswith("so there is no centre of mass")
    assert result["mass_matrix"] == []
    assert "Energy" in shown(capsys, file)


def test_a_linkage_is_led_through_limits_and_they_are_told_once(capsys, tmp_path):
    description = kp.example("four-bar").model.description
    joints = tuple(
        replace(j, lower=(-9.0,), upper=(2.3,)) if j.name == "output" else j for j in description.joints
    )
    file = str(tmp_path / "four-bar.toml")
    kp.write_toml(replace(description, joints=joints), file)
    free, result = (told(capsys, x, "--q", "crank=2.5") for x in ("four-bar", file))
    assert result["state"]["q"] == free["state"]["q"]
    assert result["notes"][0] == free["notes"][0]
    assert result["notes"][1] == (
        f"four-bar: closed beyond limits: 'output' is {free['state']['q'][1]:.4g} (-9 to 2.3); give a guess within the "
        "limits, or hold other coordinates"
    )


@pytest.mark.parametrize("name", closed.STARTS)
def test_the_default_state_of_a_closed_mechanism_obeys_its_constraints(capsys, name):
    m, result = kp.example(name), told(capsys, name)
    q, qd, qdd, tau = result["state"].values()
    A, psi, b = closed.constraints(m, np.array(q), np.array(qd))
    assert np.abs(closed.gap(m, np.array(q))).max(initial=0.0) < 1e-9
    assert psi == pytest.approx(0, abs=1e-12)
    assert A @ qdd == pytest.approx(b, abs=1e-12)
    assert result["notes"] == ["q: the start"]
    expected, _ = closed.motion(m, np.array(q), np.array(qd), np.array(tau))
    assert result["forward_dynamics"] == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_named_coordinates_are_held_and_the_rest_assembled(capsys):
    m = kp.example("four-bar")
    result = told(capsys, "four-bar", "--q", "crank=0.3", "--qd", "crank=2", "--qdd", "crank=-1")
    q, qd, qdd, _ = map(np.array, result["state"].values())
    A, psi, b = closed.constraints(m, q, qd)
    assert (q[0], qd[0], qdd[0]) == (0.3, 2, -1)
    assert q == pytest.approx(m.assemble([0.3, *m.start()[1:]], fixed=["crank"]), abs=1e-12)
    assert np.abs(closed.gap(m, q)).max() < 1e-9
    assert psi == pytest.approx(0, abs=1e-12)
    assert A @ qdd == pytest.approx(b, abs=1e-12)
    assert result["notes"] == [
        "q: assembled, crank fixed",
        "qd: crank given, other entries computed, of least norm",
        "qdd: crank given, other entries computed, of least norm",
    ]


@pytest.mark.parametrize("angle", [-2.5, 0.1, 2.0, 2.9])
def test_a_linkage_stays_in_the_branch_of_its_start(capsys, angle):
    """The two parallelograms of the gripper stay parallelograms, however far they are turned."""
    left = np.array([1, -1, 1]) * angle
    q = told(capsys, "gripper", "--q", f"left-driver={angle}")["state"]["q"]
    assert q == pytest.approx([*left, *-left], abs=1e-9)


def test_inputs_given_without_accelerations_move_steadily(capsys):
    result = told(capsys, "four-bar", "--qd", "crank=2")
    assert result["state"]["qdd"][0] == 0
    assert result["notes"][-1] == "qdd: 0 for crank, other accelerations computed"


def test_rounded_numbers_are_put_right_and_that_is_told(capsys):
    m = kp.example("four-bar")
    qd = m.velocities(m.start(), {"crank": 1.0})
    qdd = m.accelerations(m.start(), qd, {"crank": 0.0})
    rounded = {key: x.round(5).tolist() for key, x in (("q", m.start()), ("qd", qd), ("qdd", qdd))}
    result = told(capsys, "four-bar", *options(rounded))
    assert [note.split(":")[0] for note in result["notes"]] == ["q", "qd", "qdd"]
    for key, values in rounded.items():
        assert result["state"][key] == pytest.approx(values, abs=1e-3)
    exact = {"q": m.start(), "qd": qd, "qdd": qdd}
    again = told(capsys, "four-bar", *options({key: x.tolist() for key, x in exact.items()}))
    assert again["notes"] == []
    assert again["state"]["q"] == m.start().tolist()


@pytest.mark.parametrize(
    "solver", ["multipliers", "udwadia-kalaba", "rosenberg-extended", "maggi", "partition"]
)
def test_solvers_are_chosen_by_name_and_agree(capsys, solver):
    result = told(capsys, "gripper", "--tau", "left-driver=0.1", "--solver", solver)
    q, qd, _, tau = map(np.array, result["state"].values())
    expected, lam = closed.motion(kp.example("gripper"), q, qd, tau)
    assert result["solver"] == solver
    assert result["forward_dynamics"] == pytest.approx(expected, rel=1e-9)
    assert [*result["constraint_forces"]["multipliers"].values()] == pytest.approx(lam, rel=1e-9, abs=1e-10)
    assert not result["constraint_forces"]["unique"]


def test_actuators_alone_make_the_motion(capsys):
    m = kp.example("four-bar")
    result = told(capsys, "four-bar", "--qd", "crank=2", "--actuators", "crank")
    q, qd, qdd, _ = map(np.array, result["state"].values())
    tau = np.array(result["inverse_dynamics"])
    assert not tau[1:].any()
    assert m.forward_dynamics(q, qd, tau) == pytest.approx(qdd, abs=1e-9)
    reactions = m.reactions(q, qd, qdd, tau=tau)
    assert {key: pytest.approx(x, abs=1e-12) for key, x in reactions.items()} == result["reactions"]
    assert result["reactions"]["crank"][2] == pytest.approx(tau[0])
    assert result["reactions"]["pin"][:3] == pytest.approx([0, 0, 0])


def test_springs_left_out_are_left_out_of_the_loop_too(capsys, tmp_path):
    """A spring that is left out is as good as none."""
    text = kp.example_text("four-bar")
    (tmp_path / "plain.toml").write_text(text)
    sprung = text.replace(
        'child = "crank"\naxis = "z"', 'child = "crank"\naxis = "z"\nstiffness = 5\ndamping = 1'
    )
    (tmp_path / "sprung.toml").write_text(sprung)
    state = ("--q", "crank=0.3", "--qd", "crank=2")
    without = told(capsys, tmp_path / "sprung.toml", *state, "--no-passive")
    plain, acting = (
        told(capsys, tmp_path / "plain.toml", *state),
        told(capsys, tmp_path / "sprung.toml", *state),
    )
    for key in ("inverse_dynamics", "forward_dynamics"):
        assert without[key] == pytest.approx(plain[key], rel=1e-12)
        assert acting[key] != pytest.approx(plain[key], rel=1e-3)
    assert without["reactions"]["pin"] == pytest.approx(plain["reactions"]["pin"], rel=1e-9, abs=1e-9)


def test_a_motion_that_no_actuator_makes_leaves_the_rest(capsys):
    result = told(capsys, "stewart", "--actuators", "slide1")
    assert result["inverse_dynamics"] is result["reactions"] is None
    assert "no efforts of slide1 make this motion" in result["reasons"]["inverse_dynamics"]
    assert np.isfinite(result["forward_dynamics"]).all()
    text = shown(capsys, "stewart", "--actuators", "slide1")
    assert text.count(f"none: {result['reasons']['inverse_dynamics']}\n") == 2
    assert "Mass matrix H without constraints" in text


def test_drives_are_looked_at_in_their_time(capsys, tmp_path):
    file = tmp_path / "driven.toml"
    drive = '[[drive]]\nname = "motor"\njoint = "crank"\nmotion = "0.5*sin(2*t)"\n'
    file.write_text(f"{kp.example_text('four-bar')}\n{drive}")
    state = told(capsys, file, "--time", "0.7")["state"]
    sine, cosine = np.sin(1.4), np.cos(1.4)
    assert (state["q"][0], state["qd"][0]) == pytest.approx((0.5 * sine, cosine), abs=1e-9)
    assert state["qdd"][0] == pytest.approx(-2 * sine, abs=1e-9)


def test_the_constraints_of_a_closed_mechanism_are_shown(capsys):
    text = shown(capsys, "four-bar-3d", "--q", "crank=0.3", "--actuators", "crank")
    rows = [line.split() for line in text.splitlines()]
    assert "\nq: assembled, crank fixed\n" in text
    assert "freedom 1: 3 rates, 5 constraint rows of rank 2\n" in text
    assert "Inverse dynamics, the least efforts of crank: tau + Aᵀ lambda = H qdd + bias" in text
    assert ["pin.axis", "x", "z", "0"] in rows
    assert "not unique because of redundant rows; the solution of least norm is given" in text
    assert "not unique" not in shown(capsys, "delta")


def test_a_tree_has_nothing_about_constraints(capsys):
    result = told(capsys, "scara")
    assert (result["constraints"], result["notes"], result["solver"]) == ([], [], None)
    assert "constraint_forces" not in result


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


@pytest.mark.parametrize("name", family(EXAMPLES, set(EXAMPLES) - LARGE_EXAMPLES, ALIKE))
def test_both_outputs_work_for_every_example(capsys, name):
    assert shown(capsys, name).startswith(f"{name}\n")
    assert told(capsys, name)["name"] == name


def test_no_number_of_json_is_anything_but_finite_or_null(capsys):
    text = shown(capsys, "scara", "--qd", "1e200,1e200,1,1", "--json")
    result = json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))
    assert None in np.ravel(result["inverse_dynamics"]).tolist()
