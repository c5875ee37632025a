"""Printed equations under constraints are those of the mechanism: every solver, letters or numbers, any form."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest

import kinpair as kp
from c_compiler import CC
from families import family
from kinpair.errors import InputError
from kinpair.printed_equations import solver_forms
from kinpair.printed_equations.closed_form import reading
from kinpair.printed_equations.closed_form.polynomial import Expansion
from kinpair.printed_equations.closed_form.sheet import calculated

CLOSED = ("space-robot", "four-bar", "four-bar-3d", "slider-crank", "five-bar", "omni-robot", "rolling-disk")
SOLVERS = ("rosenberg-extended", "rosenberg", "maggi", "multipliers", "udwadia-kalaba")
TOLERANCE = 1e-10  # closed loops lose some digits beside a solve


def state(m: kp.Mechanism, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng, q = np.random.default_rng(seed), m.start()
    return q, m.velocities(q, guess=rng.normal(size=m.nv)), rng.normal(size=m.nv)


def agree(m: kp.Mechanism, printed: kp.ConstrainedEquations, seed: int) -> None:
    q, qd, tau = state(m, seed)
    result, qdd = printed.evaluate(q, qd, tau), m.forward_dynamics(q, qd, tau)
    assert result["A"] @ qdd == pytest.approx(result["b"], rel=TOLERANCE, abs=TOLERANCE)
    if printed.solver == "rosenberg":
        right = result["f"] if "f" in result else result["Z"].T @ result["F"]
        size = np.abs(result["E"]).max() * max(1.0, np.abs(qdd).max())
        assert np.abs(result["E"] @ qdd - right).max() <= TOLERANCE * size
    else:
        assert np.abs(result["qdd"] - qdd).max() <= TOLERANCE * max(1.0, np.abs(qdd).max())


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("parameters", ["symbols", "shared", "numbers"])
@pytest.mark.parametrize(
    "name", family(CLOSED, {*CLOSED} - {"four-bar-3d", "five-bar"}, reason="more linkages of revolute joints")
)
def test_bundled_mechanisms(name, parameters, solver):
    m = kp.example(name).reference
    agree(m, kp.equations(m, parameters, solver=solver), 3)


def values_of_named_terms(printed: kp.ConstrainedEquations, seed: int) -> dict[str, float]:
    """Every definition in numbers, anywhere: on the constraints or not."""
    rng, sheet = np.random.default_rng(seed), printed.sheet
    known = {name: rng.normal() for names in sheet.variables.values() for name in names}
    letters = [key for key, letter in sheet.alphabet.letters.items() if letter.value is not None]
    known |= {key: rng.uniform(0.5, 2.0) for key in letters}
    calls = {"sin": np.sin, "cos": np.cos, "sqrt": np.sqrt, "sign": np.sign}
    for name, x in sheet.definitions:
        known[name] = calculated(x, known, float, calls)
    return {name: known[name] for name, _ in sheet.definitions}


@pytest.mark.parametrize("name", [*CLOSED, "diff-drive", "three-rrr"])
def test_no_named_term_is_zero_one_or_another_one(name):
    m = kp.example(name).reference
    printed = kp.equations(m, solver="rosenberg-extended", form="terms")
    entries = ("M", "F", "A", "b", "alpha")  # these are what they are
    results = [values_of_named_terms(printed, seed) for seed in (1, 2)]
    steps = {x: np.array([values[x] for values in results]) for x in results[0] if not x.startswith(entries)}
    assert steps
    for x, values in steps.items():
        assert np.abs(values).max() > 1e-9, x
        assert np.abs(np.abs(values) - 1.0).max() > 1e-9, x
        same = [y for y, other in steps.items() if y < x and np.allclose(other, values, rtol=1e-9, atol=0.0)]
        assert not same, (x, same)


@pytest.mark.parametrize("form", ["closed", "terms"])
def test_both_forms_of_a_loop(form):
    m = kp.example("slider-crank").reference
    printed = kp.equations(m, solver="rosenberg-extended", form=form)
    assert printed.form == form
    agree(m, printed, 4)


def test_rows_that_others_imply_are_left_out_and_named():
    printed = kp.equations(kp.example("four-bar-3d").reference, solver="multipliers")
    assert len(printed.row_names) == 2
    assert "Left out, since the others imply them" in str(printed)


def sprung(damping: float = 0.5) -> kp.Mechanism:
    return kp.build(
        kp.Builder("sprung", gravity=[0, 0, 0])
        .link("cart", mass=1.0)
        .link("other", mass=2.0)
        .joint("x", "prismatic", "ground", "cart", axis="x", stiffness=3.0, damping=damping)
        .joint("y", "prismatic", "ground", "other", axis="x", friction=0.2)
        .gear("gear", "y", "x", 2.0)
    ).reference


@pytest.mark.parametrize("form", ["closed", "terms"])
@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
def test_springs_and_dampers_are_in_the_forces(parameters, form):
    m, inputs = sprung(), ([0.3, 0.6], [1.0, 2.0], [0.1, 0.2])
    printed = kp.equations(m, parameters, solver="rosenberg-extended", form=form)
    assert printed.evaluate(*inputs)["qdd"] == pytest.approx(m.forward_dynamics(*inputs), rel=1e-12)


@pytest.mark.parametrize("form", ["closed", "terms"])
def test_springs_and_dampers_have_letters_that_no_row_has(form):
    printed, inputs = kp.equations(sprung(), solver="rosenberg-extended", form=form), ([0.3, 0.6], [1.0, 2.0])
    assert set(printed.parameters) == {"m1", "m2", "k1", "beta1", "eta2"}
    other = printed.evaluate(*inputs, values={"beta1": 0.9})["qdd"]
    assert other == pytest.approx(sprung(0.9).forward_dynamics(*inputs, [0.0, 0.0]), rel=1e-12)


def test_a_system_that_depends_on_time():
    driven = kp.System(
        ["x", "y"],
        lambda q, qd, t, p: 0.5 * p.m * (qd[0] ** 2 + qd[1] ** 2),
        lambda q, qd, t, p: [0.0, -p.m * p.g],
        [{"name": "lift", "phi": lambda q, t, p: q[1] - p.a * np.sin(t) - q[0] ** 2}],
        parameters={"m": 2.0, "g": 9.81, "a": 0.3},
    ).reference
    printed = kp.equations(driven)
    assert printed.form == "closed"
    q, qd = [0.4, 0.3 * np.sin(0.7) + 0.16], [0.5, 0.3 * np.cos(0.7) + 0.4]
    result = printed.evaluate(q, qd, time=0.7)["qdd"]
    assert result == pytest.approx(driven.forward_dynamics(q, qd, time=0.7), rel=1e-12)


def test_a_singular_mass_is_embedded_and_not_inverted():
    M, F = np.array([[1.0, 0, 0], [0, 2, 2], [0, 2, 2]]), lambda q, qd, t: [-3 * q[0], 0.5, 1.7]
    split = kp.System(
        ["x", "s", "y"], M=lambda q, t: M, F=F, constraints=[{"A": lambda q, t: [[-1.0, 1.0, 0.0]]}]
    )
    result = kp.equations(split.reference, solver="rosenberg-extended").evaluate([0.2, 0.2, -0.3], [0, 0, 0])
    assert result["qdd"] == pytest.approx((-1.8, -1.8, 2.65), rel=1e-12)
    with pytest.raises(InputError, match="the mass matrix is singular"):
        kp.equations(split.reference, solver="udwadia-kalaba")


def test_what_cannot_be_is_refused_by_name():
    m = kp.example("space-robot").reference
    with pytest.raises(InputError, match="solver='maggy' has no printed form"):
        kp.equations(m, solver="maggy")
    with pytest.raises(InputError, match="no coordinate 'tetha' to be dependent; did you mean 'theta'"):
        kp.equations(m, solver="rosenberg", dependent=("tetha",))
    with pytest.raises(InputError, match="1 rows make 1 coordinates dependent"):
        kp.equations(m, solver="rosenberg", dependent=("theta", "psi1"))
    with pytest.raises(InputError, match="parameter 'q1' is what the printed equations call"):
        kp.equations(kp.System(["x"], lambda q, qd, t, p: p.q1 * qd[0] ** 2, parameters={"q1": 1.0}))
    with pytest.raises(InputError, match="parameter 'b1' is what the printed equations call"):
        kp.equations(kp.System(["x"], lambda q, qd, t, p: p.b1 * qd[0] ** 2, parameters={"b1": 1.0}))
    with pytest.raises(InputError, match="parameter 'm' is 'heavy'; give a finite number"):
        kp.System(["x"], lambda q, qd, t, p: p.m * qd[0] ** 2, parameters={"m": "heavy"})


def test_blocks_of_coordinates_are_called_by_what_they_are():
    """q1 is the first coordinate, and not the block of the dependent ones."""
    printed = kp.equations(kp.example("omni-robot-system"), dependent=("x", "y", "theta"))
    assert "q_d, dependent: x, y, theta; q_i, independent: psi1, psi2, psi3." in str(printed)
    assert "\\ddot{q}_d = " in printed.latex()
    assert "\\ddot{q}_i = " in printed.latex()
    assert "\\ddot{q}_1" not in printed.latex()


@pytest.mark.parametrize("name", ["gripper", "diff-drive", "three-rrr"])
def test_long_ones_come_back_and_say_how_far_they_got(name):
    m = kp.example(name).reference
    printed = kp.equations(m, "numbers", solver="rosenberg-extended", seconds=0.01)
    assert printed.form == "terms"
    assert "not finished after 0.01 s" in printed.status
    agree(m, printed, 5)


def stopped(*_: object) -> None:
    raise KeyboardInterrupt


def test_when_stopped_it_returns_what_is_finished(monkeypatch):
    m = kp.example("space-robot").reference
    monkeypatch.setitem(solver_forms.PRINTED, "rosenberg", stopped)
    printed = kp.equations(m, solver="rosenberg")
    assert not printed.complete
    assert printed.status.startswith("stopped at rosenberg")
    q, qd, tau = state(m, 6)
    result = printed.evaluate(q, qd, tau)
    assert set(result) == {"M", "F", "A", "b"}
    assert result["M"] == pytest.approx(m.mass_matrix(q), rel=TOLERANCE, abs=TOLERANCE)


def test_when_stopped_while_looking_for_short_forms_all_is_there(monkeypatch):
    m = kp.example("space-robot").reference
    monkeypatch.setattr(reading, "formula", stopped)
    printed = kp.equations(m, solver="maggi")
    assert printed.complete
    assert printed.stopped
    assert "some at length: stopped at looking for short forms" in printed.status
    agree(m, printed, 6)


def test_when_stopped_in_the_mass_matrix_the_last_entries_are_there(monkeypatch):
    of, count = Expansion.of, iter(range(100))

    def some(self, x):
        return of(self, x) if next(count) < 2 else stopped()

    monkeypatch.setattr(Expansion, "of", some)
    printed = kp.equations(kp.example("space-robot").reference, solver="multipliers")
    assert [x is not None for x in printed["M"].flat] == [False] * 7 + [True] * 2
    assert all(x is None for x in printed["F"])
    assert printed.evaluate([0, 0, 0], [0, 0, 0]) == {}
    assert "Not finished: M11, M12, M13, M22, M23, F" in str(printed)


@pytest.fixture(scope="module", params=["closed", "terms"])
def sheet(request) -> tuple[kp.Mechanism, kp.ConstrainedEquations]:
    m = kp.example("slider-crank").reference
    return m, kp.equations(m, solver="rosenberg-extended", form=request.param)


def arguments(m: kp.Mechanism, printed: kp.ConstrainedEquations) -> list[np.ndarray]:
    """q, q̇, τ and the values of the letters."""
    return [*state(m, 7), np.array([letter.value for letter in printed.parameters.values()])]


def test_compiled_c_gives_the_numbers_of_the_sheet(sheet, tmp_path):
    m, printed = sheet
    inputs, source = arguments(m, printed), printed.c(tmp_path / "crank.c")
    shared = tmp_path / "crank.so"
    subprocess.run([*CC, "-std=c99", "-O1", "-fPIC", "-shared", source, "-o", shared, "-lm"], check=True)
    expected = printed.sheet.evaluate(*inputs[:3])
    results = {what: np.zeros(x.shape) for what, x in expected.items()}
    function = getattr(ctypes.CDLL(str(shared)), printed.sheet.program.name.replace("-", "_"))
    function(*(ctypes.c_void_p(x.ctypes.data) for x in [*inputs, *results.values()]))
    for what, x in expected.items():
        assert results[what] == pytest.approx(x, rel=TOLERANCE, abs=TOLERANCE * max(1.0, np.abs(x).max())), (
            what
        )


def test_casadi_gives_the_numbers_of_the_sheet(sheet):
    m, printed = sheet
    inputs = arguments(m, printed)
    expected = printed.sheet.evaluate(*inputs[:3])
    for x, result in zip(expected.values(), printed.casadi()(*inputs), strict=True):
        size = max(1.0, np.abs(x).max())
        assert np.array(result).reshape(x.shape) == pytest.approx(x, rel=TOLERANCE, abs=TOLERANCE * size)


def test_markdown_has_the_statement_the_blocks_the_letters_and_every_row(sheet):
    _, printed = sheet
    page = printed.markdown()
    assert page.startswith("# slider-crank\n\n$$ M \\ddot{q} = F + A^T \\lambda")
    assert f"q_d, dependent: {', '.join(printed.dependent)}" in page
    assert all(f"| ${x.latex}$ |" in page for x in printed.parameters.values())
    assert page.count("\n\n$$ ") == 1 + len(printed.rows())
