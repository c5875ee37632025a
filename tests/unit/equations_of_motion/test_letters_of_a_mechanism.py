"""Which constants become letters, what they are called, and which angles add."""

from __future__ import annotations

import io

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler import patience
from kinpair.compiler.patience import Report
from kinpair.printed_equations.closed_form.formula import Trig, atoms
from kinpair.printed_equations.subject import groups


def together(m: kp.Mechanism) -> list[set[str]]:
    """Names of the joints whose angles add."""
    result = groups(m.model, m.q_names)
    return [{name for name in result if result[name] == k} for k in sorted(set(result.values()))]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("planar-3r", [{"joint1", "joint2", "joint3"}]),
        ("scara", [{"shoulder", "elbow", "turn"}, {"lift"}]),
        ("kr5", [{"joint1"}, {"joint2", "joint3"}, {"joint4"}, {"joint5"}, {"joint6"}]),
        ("cart-pole", [{"slide"}, {"swing"}]),
    ],
)
def test_angles_about_parallel_axes_add(name, expected):
    assert together(kp.example(name)) == expected


def test_a_universal_joint_parts_the_angles_before_and_behind_it():
    m = kp.build(
        kp.Builder("parted")
        .link("a", mass=1.0)
        .link("b", mass=1.0)
        .link("c", mass=1.0, com=[0.1, 0, 0])
        .joint("first", "revolute", "ground", "a", axis="z")
        .joint("middle", "universal", "a", "b", axis="x", axis2="y")
        .joint("last", "revolute", "b", "c", axis="z")
    )
    assert len(together(m)) == 4


def test_letters_have_a_meaning_and_the_value_of_the_description():
    result = kp.equations(kp.example("double-pendulum")).parameters
    assert {name: x.value for name, x in result.items()} == {
        "m1": 1.0,
        "m2": 1.0,
        "I1": pytest.approx(1 / 12),
        "I2": pytest.approx(1 / 12),
        "g": 9.81,
        "l1": 1.0,
        "r1": 0.5,
        "r2": 0.5,
    }
    assert result["m2"].meaning == "mass of 'lower' [kg]"
    assert result["r1"].meaning == "mass centre of 'upper', along its −z [m]"
    assert result["l1"].meaning == "place of joint 'elbow' on 'upper', along its −z [m]"
    assert result["I1"].meaning == "inertia of 'upper' about its mass centre, xx and yy [kg m²]"


def test_components_are_named_where_several_are_in_the_equations():
    result = kp.equations(kp.example("three-cylinders")).parameters
    assert {"I1", "I2xx", "I2yy"} <= set(result)


def test_equal_principal_moments_of_a_body_are_one_letter():
    result = kp.equations(kp.example("three-cylinders")).parameters
    assert "I2zz" not in result
    assert result["I2yy"].meaning == "inertia of 'cylinder2' about its mass centre, yy and zz [kg m²]"


def test_the_mass_matrix_does_not_depend_on_the_angle_of_a_round_wheel():
    result = kp.equations(kp.example("diff-drive"))
    inside = set().union(*(atoms(x) for x in result.H.flat))
    turning = {name for x in inside if isinstance(x, Trig) for name, _ in x.angle}
    assert turning == {"q[2]", "q[5]"}


def test_a_body_that_is_turned_in_its_link_has_letters_of_its_own():
    m = kp.build(
        kp.Builder("tilted")
        .link("a", mass=1.0, inertia=[[2.0, 0.5, 0], [0.5, 2.0, 0], [0, 0, 2.0]])
        .joint("free", "spherical", "ground", "a")
    )
    assert {"I1xx", "I1yy", "I1zz", "I1xy"} <= set(kp.equations(m).parameters)


def test_a_place_in_a_known_direction_is_one_distance():
    result = kp.equations(kp.example("omni-robot"))
    assert result.parameters["a2"].value == pytest.approx(0.04, rel=1e-12)
    assert result.parameters["a2"].meaning == "distance of joint 'psi1' on 'body' from its origin [m]"
    assert dict(result.sheet.definitions).keys() == {"alpha1"}
    assert "alpha1 = pi/3" in str(result)
    assert result.text(result.H[3, 5]) == "-m2*a2*sin(q6 + alpha1) + m3*a3*s6 - m4*a4*sin(q6 - alpha1)"


def azimuth(degrees: float, turned: float) -> kp.Mechanism:
    """A wheel at an azimuth on a turning plate, its own frame turned too."""
    away = 0.3 * np.array([np.cos(np.radians(degrees)), np.sin(np.radians(degrees)), 0.0])
    return kp.build(
        kp.Builder("plate")
        .link("plate", mass=1.0, inertia=[1, 1, 1])
        .link("wheel", mass=1.0, com=[0.2, 0, 0], inertia=[0.2, 0.1, 0.1])
        .joint("turn", "revolute", "ground", "plate", axis="z")
        .joint("spin", "revolute", "plate", "wheel", xyz=away, rpy=[0, 0, np.radians(turned)], axis="z")
    )


@pytest.mark.parametrize(
    ("degrees", "turned", "expected"),
    [(60, 0, {"l1"}), (37, 37, {"l1"}), (37, -53, {"l1"}), (37, 0, {"l1x", "l1y"}), (45, 0, {"l1x", "l1y"})],
)
def test_a_direction_is_known_where_it_is_simple_or_that_of_the_joint(degrees, turned, expected):
    m = azimuth(degrees, turned).reference
    result = kp.equations(m)
    assert {name for name in result.parameters if name.startswith("l")} == expected
    q, qd = [0.3, -0.8], [1.1, 0.4]
    assert result.evaluate(q, qd)["H"] == pytest.approx(m.mass_matrix(q), rel=1e-13)


def test_shared_letters_are_those_of_equal_numbers_of_one_kind():
    result = kp.equations(kp.example("omni-robot"), "shared", solver="multipliers").parameters
    assert list(result) == ["m1", "m2", "I1", "I2xx", "I2yy", "a", "r"]
    assert result["m2"].meaning == "mass of 'wheel1' [kg]; also of 'wheel2', 'wheel3'"
    assert result["a"].meaning.endswith("from its origin [m]; also of 'psi2', 'psi3'")
    assert result["r"].meaning == "radius of 'wheel1' where it rolls [m]; also of 'wheel2', 'wheel3'"
    assert result["r"].value == 0.02


def test_letters_are_not_shared_unless_that_is_asked_for():
    apart = kp.equations(kp.example("omni-robot"), solver="multipliers").parameters
    assert {"m2", "m3", "m4", "a2", "a3", "a4", "r2", "r3", "r4"} <= set(apart)
    assert kp.equations(kp.example("scara"), "shared").parameters.keys() >= {"b1", "b2", "b3", "b4"}


def test_springs_and_dampers_share_letters_too():
    m = kp.build(
        kp.Builder("row")
        .link("a", mass=1.0)
        .link("b", mass=1.0)
        .joint("x", "prismatic", "ground", "a", axis="x", stiffness=3.0, damping=0.2, rest=0.1)
        .joint("y", "prismatic", "ground", "b", axis="x", stiffness=3.0, damping=0.3, rest=0.1)
    ).reference
    result = kp.equations(m, "shared")
    assert set(result.parameters) == {"m", "k", "q0_1", "q0_2", "b1", "b2"}
    numbers = result.evaluate([0.3, 0.7], [1.0, -1.0])
    assert numbers["C"] @ [1.0, -1.0] + numbers["g"] + numbers["d"] == pytest.approx(
        m.bias_forces([0.3, 0.7], [1.0, -1.0]), rel=1e-14
    )


def test_numbers_of_loops_and_wheels_are_letters():
    loop = kp.equations(kp.example("four-bar"), solver="multipliers").parameters
    assert loop["l3"].value == 0.1
    assert loop["l3"].meaning == "place of 'pin' on 'coupler', along its x [m]"
    wheels = kp.equations(kp.example("diff-drive"), solver="multipliers").parameters
    assert [wheels[name].value for name in ("rho2", "rho3", "rho5")] == [0.08, 0.08, 0.03]


def test_marks_on_a_body_that_carries_more_and_rods_have_letters_of_the_constraint():
    m = kp.build(
        kp.Builder("held", gravity=[0, -9.81, 0])
        .link("a", mass=1.0, com=[0.1, 0, 0])
        .link("b", mass=1.0, com=[0.1, 0, 0])
        .joint("one", "revolute", "ground", "a", axis="z", start=0.4)
        .joint("two", "revolute", "a", "b", xyz=[0.3, 0, 0], axis="z", start=0.9)
        .distance("rod", "a", "ground", 0.5, xyz=[0.2, 0.1, 0], child_xyz=[0.4, -0.3, 0])
    ).reference
    result = kp.equations(m, solver="multipliers")
    assert {"u1x", "u1y", "w1x", "w1y", "L1"} <= set(result.parameters)
    q = m.assemble(m.start())
    qd, tau = m.velocities(q, guess=[1.0, 0.5]), [0.2, -0.1]
    assert result.evaluate(q, qd, tau)["qdd"] == pytest.approx(m.forward_dynamics(q, qd, tau), rel=1e-10)


def test_angles_of_branches_that_start_on_one_body_add():
    assert {"crank", "output", "coupler"} in together(kp.example("four-bar"))
    assert {"theta", "psi1", "psi2"} in together(kp.example("space-robot"))


def test_a_length_that_is_rounding_is_zero():
    result = kp.equations(kp.example("stanford-arm-saha"), form="terms").parameters
    lengths = [x.value for name, x in result.items() if name[0] in "lare"]
    assert min(lengths) > 1e-6 * max(lengths)


def test_what_branches_has_lengths_of_its_own():
    names = set(kp.equations(kp.example("two-handed-arm")).parameters)
    assert any(name.startswith("a") for name in names)


def test_numbers_leave_no_letters():
    assert kp.equations(kp.example("scara"), "numbers").parameters == {}


def test_h_is_c_times_the_rates_and_gravity():
    result = kp.equations(kp.example("cart-pole"))
    assert [result.text(x) for x in result.h] == ["-m2*r2*s2*qd2*qd2", "-m2*g*r2*s2"]


def test_a_mechanism_that_cannot_move_has_empty_equations():
    m = kp.build(
        kp.Builder("stone").link("rock", mass=1.0).joint("weld", "fixed", "ground", "rock").description()
    )
    assert kp.equations(m).H.shape == (0, 0)


def test_quaternions_are_said_to_lead_to_body_rates():
    result = kp.equations(kp.example("floating-arm"))
    assert result.form == "terms"
    assert "the equations are in body rates" in str(result)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: kp.equations(m, "letters"), "parameters='letters'; give one of symbols, shared, numbers"),
        (lambda m: kp.equations(m, form="long"), "form='long'; give one of auto, closed, terms"),
        (
            lambda m: kp.equations(m).evaluate([0, 0], [0, 0], {"m3": 1.0}),
            "double-pendulum: no parameter 'm3' in these equations; Parameters: m1, m2, I1, I2, g, l1, r1, r2",
        ),
        (
            lambda m: kp.equations(m).evaluate([0, 0, 0], [0, 0]),
            "double-pendulum: q has shape (3,); give (2,)",
        ),
        (
            lambda m: kp.equations(kp.example("floating-arm"), form="closed"),
            "floating-arm has no closed form (q̇ is not the derivative of q where there are quaternions: the "
            "equations are in body rates); form='terms' has none of its limits",
        ),
    ],
)
def test_messages(call, message):
    with pytest.raises(kp.InputError) as result:
        call(kp.example("double-pendulum"))
    assert str(result.value) == message


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_says_on_a_terminal_what_it_does(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(patience, "PATIENCE", 0.0)
    report = Report("equations of x")
    report.begin("H1,1 of 6,6")
    report("12 terms")
    report.end()
    assert "equations of x: H1,1 of 6,6 (12 terms); Ctrl-C keeps what is finished" in screen.getvalue()


def test_short_work_says_nothing(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    kp.equations(kp.example("cart-pole"))
    assert screen.getvalue() == ""
