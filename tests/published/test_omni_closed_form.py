"""Closed forms of the omni and the space robot: Zhao et al. 2023, eqs 48, 49 and 53 to 56, corrected (E9, E10)."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import sympy as sp

import kinpair as kp
from kinpair.printed_equations.closed_form.formula import Symbol

AZIMUTHS = np.radians([60, 180, -60])
VALUES = {"m1": 0.2, "m2": 2.0, "I1": 80.0, "I2": 2080.0, "r": 20.0, "L": 40.0}  # kg, mm, s
NAMES = ["psi1", "psi2", "psi3", "x", "y", "theta"]
TOLERANCE = 1e-12


def kinetic(q, qd, t, p):
    turning = p.I1 * (qd[0] ** 2 + qd[1] ** 2 + qd[2] ** 2) + (p.I2 + 3 * p.m1 * p.L**2) * qd[5] ** 2
    return 0.5 * turning + 0.5 * (3 * p.m1 + p.m2) * (qd[3] ** 2 + qd[4] ** 2)


def rolling(q, qd, t, p):
    along = [np.sin(q[5] + a) * qd[3] - np.cos(q[5] + a) * qd[4] for a in AZIMUTHS]
    return [v - p.L * qd[5] - p.r * qd[k] for k, v in enumerate(along)]


def system(**parameters: float) -> kp.System:
    rows = [{"name": "rolling", "psi": rolling}]
    return kp.System(NAMES, kinetic, constraints=rows, parameters=VALUES | parameters, name="omni")


@pytest.fixture(scope="module")
def omni() -> kp.System:
    return system().reference


@pytest.fixture(scope="module")
def printed(omni) -> kp.ConstrainedEquations:
    return kp.equations(omni, solver="rosenberg-extended")


def exact(meaning: sp.Expr) -> sp.Expr:
    """A named term, an azimuth as a fraction of π."""
    if not meaning.is_Float:
        return meaning
    thirds = round(3 * float(meaning) / np.pi)
    assert float(meaning) == pytest.approx(thirds * np.pi / 3, rel=1e-15)
    return sp.pi * sp.Rational(thirds, 3)


def source() -> dict[str, sp.Matrix]:
    """R₁ ... R₄ of the source, the factor 1/(Y₁Y₂) of R₁ and R₂ in them."""
    m1, m2, I1, I2, r, L, theta = sp.symbols("m1 m2 I1 I2 r L q6", real=True)
    Y1 = 3 * I1 + (6 * m1 + 2 * m2) * r**2
    Y2 = I2 * r**2 + 3 * m1 * L**2 * r**2 + 3 * I1 * L**2
    Y3 = (3 * m1 + 2 * m2) * L**2 - I2
    Y4 = -r * ((6 * m1 + 2 * m2) * Y2 - I1 * Y3)
    angle = [theta + a for a in (sp.pi / 3, sp.pi, -sp.pi / 3)]
    s, c = [sp.sin(a) for a in angle], [sp.cos(a) for a in angle]

    def one(i: int, j: int) -> sp.Expr:
        own = 2 * Y2 + L**2 * Y1 if i == j else r**2 * Y3
        return own if j < 3 else (2 * r * Y2 * s[i], -2 * r * Y2 * c[i], -r * L * Y1)[j - 3]

    left = sp.Matrix(3, 3, lambda k, i: (2 * r * s[i] / Y1, -2 * r * c[i] / Y1, -r * L / Y2)[k])
    return {
        "R1": sp.Matrix(3, 6, one) / (Y1 * Y2),
        "R2": sp.Matrix(3, 3, lambda i, j: Y4 if i == j else r * I1 * Y3) / (Y1 * Y2),
        "R3": left.row_join(sp.diag(2 * r**2 / Y1, 2 * r**2 / Y1, r**2 / Y2)),
        "R4": I1 / r * left,
    }


def test_the_wheels_are_dependent_and_the_common_denominator_stands_outside(printed):
    assert printed.form == "closed"
    assert printed.dependent == ("psi1", "psi2", "psi3")
    assert printed.independent == ("x", "y", "theta")
    assert printed.row_names == ("rolling.1", "rolling.2", "rolling.3")
    assert printed.text(printed["D1"][()]) == "Y1*Y2"
    assert printed.text(printed["R1"][0, 0]) == "Y1*L^2 + 2*Y2"
    assert printed.text(printed["R1"][0, 1]) == "Y3*r^2"
    assert printed.text(printed["R3"][0, 0]) == "2*r*sin(q6 + alpha1)/Y1"


@pytest.mark.parametrize("what", ["R1", "R2", "R3", "R4"])
def test_every_entry_is_that_of_the_source(printed, what):
    result = printed.sympy()
    under = result.results["D1"].item() if what in ("R1", "R2") else 1
    expected = source()[what]
    for place, entry in np.ndenumerate(result.results[what]):
        whole = entry / under
        for name, meaning in reversed(result.parts):
            whole = sp.sympify(whole).subs(name, exact(meaning))
        assert sp.simplify(sp.expand_trig(whole - expected[place])) == 0, (what, place)


@pytest.fixture(scope="module")
def built() -> kp.ConstrainedEquations:
    """The robot as a mechanism of bodies, like wheels with like letters."""
    return kp.equations(kp.example("omni-robot"), "shared", solver="rosenberg-extended")


def test_the_mechanism_with_shared_letters_is_as_short_as_the_source(built):
    assert built.form == "closed"
    assert built.dependent == ("psi1", "psi2", "psi3")
    assert built.text(built["D1"][()]) == "Y1*Y2"
    assert built.text(built["R1"][0, 0]) == "Y1*a^2 + 2*Y2"
    assert built.text(built["R1"][0, 1]) == "Y3*r^2"
    assert built.text(built["R3"][2, 5]) == "r^2/Y2"
    assert built.terms <= 110


@pytest.mark.parametrize("what", ["R1", "R2", "R3", "R4"])
def test_every_entry_of_the_mechanism_is_that_of_the_source(built, what):
    """Wheels: m2, I2xx about the axle, I2yy across it, r, at the distance a. What turns beside their mass is I2."""
    result = built.sympy()
    under = result.results["D1"].item() if what in ("R1", "R2") else 1
    m1, m2, I1, I2xx, I2yy, r, a = sp.symbols("m1 m2 I1 I2xx I2yy r a", real=True)
    ours = {"m1": m2, "m2": m1, "I1": I2xx, "I2": I1 + 3 * I2yy, "r": r, "L": a}
    named = {sp.Symbol(name, real=True): value for name, value in ours.items()}
    expected = source()[what].subs(named, simultaneous=True)
    for place, entry in np.ndenumerate(result.results[what]):
        whole = entry / under
        for name, meaning in reversed(result.parts):
            whole = sp.sympify(whole).subs(name, exact(meaning))
        assert sp.simplify(sp.expand_trig(whole - expected[place])) == 0, (what, place)


@pytest.mark.parametrize("solver", ["rosenberg-extended", "udwadia-kalaba", "multipliers"])
def test_accelerations_are_those_of_the_system(omni, solver):
    printed = kp.equations(omni, solver=solver)
    for q, qd, tau in np.random.default_rng(10).normal(size=(5, 3, 6)):
        qdd = printed.evaluate(q, qd, tau)["qdd"]
        assert qdd == pytest.approx(omni.forward_dynamics(q, qd, tau), rel=TOLERANCE, abs=TOLERANCE)


def test_letters_take_other_values(printed):
    q, qd, tau = np.random.default_rng(11).normal(size=(3, 6))
    heavier = system(m2=5.0, L=31.0).reference.forward_dynamics(q, qd, tau)
    results = printed.evaluate(q, qd, tau, values={"m2": 5.0, "L": 31.0})["qdd"]
    assert results == pytest.approx(heavier, rel=TOLERANCE, abs=TOLERANCE)


def test_initial_accelerations_of_the_source(printed):
    rates = [1, 1, 2, -20 / 3, -20 / np.sqrt(3), -2 / 3]
    qdd = printed.evaluate([1, 1, 1, 1, 1, np.pi / 6], rates, [0.25, 0, 0, 0, 0, 0])["qdd"]
    expected = (
        *(0.34554843675702, -0.34494067813633, 1.4224137931e-4),
        *(-0.79203485405466, 0.45977011494253, -1.25e-4),
    )
    assert qdd == pytest.approx(expected, abs=1e-13, rel=0)


@pytest.mark.parametrize("solver", ["rosenberg-extended", "rosenberg"])
def test_other_coordinates_may_be_dependent(omni, solver):
    printed = kp.equations(omni, solver=solver, dependent=("x", "y", "theta"))
    assert printed.dependent == ("x", "y", "theta")
    q, qd, tau = np.random.default_rng(12).normal(size=(3, 6))
    result, qdd = printed.evaluate(q, qd, tau), omni.forward_dynamics(q, qd, tau)
    if solver == "rosenberg":
        assert result["E"] @ qdd == pytest.approx(result["Z"].T @ result["F"], rel=1e-10, abs=1e-10)
    else:
        assert result["qdd"] == pytest.approx(qdd, rel=TOLERANCE, abs=TOLERANCE)


def test_space_robot_needs_no_force_beyond_its_own():
    """Its row is the first of M: b₁ stands over M₁₁ alone (eqs 48, 49), and the arms do not feel it."""
    robot = kp.example("space-robot").reference
    printed = kp.equations(robot, solver="rosenberg-extended")
    assert printed.form == "closed"
    assert printed.dependent == ("theta",)
    assert printed.text(printed["D1"][()]) == "Y1*Y2"
    assert printed.text(printed["R2"][0, 0]) == "Y2"
    assert printed["M"][0, 0] == Symbol("Y1")
    for q, qd, tau in np.random.default_rng(9).normal(size=(5, 3, 3)):
        result = printed.evaluate(q, qd, tau)
        assert not result["R4"].any()
        assert result["qdd"] == pytest.approx(
            robot.forward_dynamics(q, qd, tau), rel=TOLERANCE, abs=TOLERANCE
        )


def test_the_bundled_system_is_that_of_the_source_in_metres_and_prints_what_the_page_shows(omni):
    bundled = kp.example("omni-robot-system").reference
    metres = np.array([1, 1, 1, 1e-3, 1e-3, 1])
    q, qd, tau = np.random.default_rng(13).normal(size=(3, 6))
    efforts = np.where(metres == 1, 1e-6, 1e-3)  # N mm to N m, kg mm/s² to N
    result = bundled.forward_dynamics(metres * q, metres * qd, efforts * tau)
    expected = metres * omni.forward_dynamics(q, qd, tau)
    assert result == pytest.approx(expected, rel=1e-11, abs=1e-11)
    page = (Path(__file__).parents[2] / "docs" / "printed_equations.md").read_text("utf-8")
    shown = page.partition("```text\n")[2].partition("```")[0].splitlines()
    assert len(shown) > 5
    assert set(shown) <= set(str(kp.equations(bundled)).splitlines())


def test_the_page_shows_the_steps_of_a_slider_crank_as_they_are_printed():
    page = (Path(__file__).parents[2] / "docs" / "printed_equations.md").read_text("utf-8")
    shown = page.split("```text\n")[2].partition("```")[0].splitlines()
    assert len(shown) > 15
    printed = kp.equations(kp.example("slider-crank"), solver="rosenberg-extended")
    assert set(shown) <= set(str(printed).splitlines())
