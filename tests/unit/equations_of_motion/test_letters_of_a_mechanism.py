"""Which constants become letters, what they are called, and which angles add."""

from __future__ import annotations

import io

import pytest

import kinpair as kp
from kinpair.equations_of_motion import reporting
from kinpair.equations_of_motion.parallel import groups
from kinpair.equations_of_motion.reporting import Report


def together(m: kp.Mechanism) -> list[set[str]]:
    """Names of the joints whose angles add."""
    found = groups(m.model, m.q_names)
    return [{name for name in found if found[name] == k} for k in sorted(set(found.values()))]


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
    found = kp.equations(kp.example("double-pendulum")).parameters
    assert {name: x.value for name, x in found.items()} == {
        "m1": 1.0,
        "m2": 1.0,
        "I1": pytest.approx(1 / 12),
        "I2": pytest.approx(1 / 12),
        "g": 9.81,
        "l1": 1.0,
        "r1": 0.5,
        "r2": 0.5,
    }
    assert found["m2"].meaning == "mass of 'lower' [kg]"
    assert found["r1"].meaning == "mass centre of 'upper', along its −z [m]"
    assert found["l1"].meaning == "place of joint 'elbow' on 'upper', along its −z [m]"
    assert found["I1"].meaning == "inertia of 'upper' about its mass centre, yy [kg m²]"


def test_components_are_named_where_several_are_in_the_equations():
    found = kp.equations(kp.example("three-cylinders")).parameters
    assert {"I1", "I2xx", "I2yy", "I2zz"} <= set(found)


def test_what_branches_has_lengths_of_its_own():
    names = set(kp.equations(kp.example("two-handed-arm")).parameters)
    assert any(name.startswith("a") for name in names)


def test_numbers_leave_no_letters():
    assert kp.equations(kp.example("scara"), "numbers").parameters == {}


def test_h_is_c_times_the_rates_and_gravity():
    found = kp.equations(kp.example("cart-pole"))
    assert [found.text(x) for x in found.h] == ["-m2*r2*s2*qd2*qd2", "-m2*g*r2*s2"]


def test_a_mechanism_that_cannot_move_has_empty_equations():
    m = kp.build(
        kp.Builder("stone").link("rock", mass=1.0).joint("weld", "fixed", "ground", "rock").description()
    )
    assert kp.equations(m).H.shape == (0, 0)


def test_quaternions_are_said_to_lead_to_body_rates():
    found = kp.equations(kp.example("floating-arm"))
    assert found.form == "terms"
    assert "the equations are in body rates" in str(found)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: kp.equations(m, "letters"), "parameters='letters'; give one of symbols, numbers"),
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
    with pytest.raises(kp.InputError) as found:
        call(kp.example("double-pendulum"))
    assert str(found.value) == message


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_long_work_says_on_a_terminal_what_it_does(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(reporting, "PATIENCE", 0.0)
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
