"""Printed equations are those of the mechanism: every form and language gives the numbers of the formulations."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import warnings
from functools import cache

import numpy as np
import pytest
import sympy

import kinpair as kp
import zoo
from c_compiler import STRICT
from families import ALIKE, LARGE_EXAMPLES, example, family, has_closed_form
from kinpair.printed_equations.closed_form.formula import Formula, Number, parts
from kinpair.spatial.inertia import rod
from robots import urdf

TOLERANCE = 1e-12
EXAMPLES = tuple(filter(has_closed_form, kp.examples(systems=False)))
ONE_PIECE = ("planar-3r", "double-pendulum", "cart-pole", "scara", "three-cylinders", "stanford-arm", "kr5")
EVERY_KIND = [
    pytest.param(kinds, id=" ".join(kinds))
    for kinds in (
        ("revolute",),
        ("prismatic", "helical"),
        ("cylindrical", "planar"),
        ("universal", "revolute"),
        ("free", "spherical"),
    )
]


def trees() -> dict[str, kp.Mechanism]:
    """The bundled mechanisms that are trees."""
    results = {name: example(name).reference for name in EXAMPLES}
    return {name: m for name, m in results.items() if not m.model.description.constraints}


TREES = trees()


@cache
def printed(name: str, parameters: str = "symbols", form: str = "auto") -> kp.Equations:
    """The equations of a bundled tree, made once for all tests that read them."""
    return kp.equations(TREES[name], parameters, form=form)


SOME_TREES = family(TREES, set(TREES) - LARGE_EXAMPLES, ALIKE)


def two_link() -> kp.Mechanism:
    return kp.build(
        kp.Builder("two-link", gravity=[0, -9.81, 0])
        .link("upper", mass=1.0, com=[0.5, 0, 0], inertia=rod(1.0, 1.0, "x"))
        .link("lower", mass=0.8, com=[0.4, 0, 0], inertia=rod(0.8, 0.8, "x"))
        .joint("shoulder", "revolute", "ground", "upper", axis="z")
        .joint("elbow", "revolute", "upper", "lower", xyz=[1.0, 0, 0], axis="z")
    )


def agree(m: kp.Mechanism, found: dict[str, np.ndarray], s: zoo.Motion) -> None:
    h = found["C"] @ s.qd + found["g"] + found.get("d", 0.0)
    assert zoo.relative_error(found["H"], m.mass_matrix(s.q)) <= TOLERANCE
    assert zoo.relative_error(found["g"], m.gravity_forces(s.q)) <= TOLERANCE
    assert zoo.relative_error(h, m.bias_forces(s.q, s.qd)) <= TOLERANCE


@pytest.mark.parametrize("form", ["auto", "terms"])
@pytest.mark.parametrize("parameters", ["symbols", "numbers"])
@pytest.mark.parametrize("name", SOME_TREES)
def test_bundled_mechanisms(name, parameters, form):
    m, s = TREES[name], zoo.motion(TREES[name], 1)
    agree(m, printed(name, parameters, form).evaluate(s.q, s.qd), s)


@pytest.mark.parametrize("name", SOME_TREES)
def test_bundled_mechanisms_with_shared_letters(name):
    m, s = TREES[name], zoo.motion(TREES[name], 1)
    agree(m, printed(name, "shared").evaluate(s.q, s.qd), s)


@pytest.mark.parametrize("parameters", ["symbols", "shared", "numbers"])
@pytest.mark.parametrize("kinds", EVERY_KIND)
def test_random_trees_of_every_pair(kinds, parameters):
    m = zoo.tree(11, 3, kinds)
    s = zoo.motion(m, 2)
    agree(m, kp.equations(m, parameters, limit=300).evaluate(s.q, s.qd), s)


@pytest.mark.parametrize("name", ["ur5_robot", "panda"])
def test_robots(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        m = kp.load(urdf(name)).reference
    s = zoo.motion(m, 3)
    agree(m, kp.equations(m).evaluate(s.q, s.qd), s)


def test_springs_dampers_friction_and_rotors():
    m = kp.build(
        kp.Builder("sprung")
        .link("cart", mass=2.0)
        .link("arm", mass=1.0, com=[0, 0, 0.3], inertia=rod(1.0, 0.6, "z"))
        .joint("rail", "prismatic", "ground", "cart", axis="x", stiffness=3.0, rest=0.2, friction=0.4)
        .joint("hinge", "revolute", "cart", "arm", axis="y", damping=0.1, rotor_inertia=1e-3, gear_ratio=50.0)
    ).reference
    s = zoo.motion(m, 4)
    result = kp.equations(m)
    agree(m, result.evaluate(s.q, s.qd), s)
    assert {"k1", "q0_1", "f1", "b2", "J2"} <= set(result.parameters)
    without = kp.equations(m, passive=False).evaluate(s.q, s.qd)
    assert set(without) == {"H", "C", "g"}
    h = without["C"] @ s.qd + without["g"]
    assert zoo.relative_error(h, m.bias_forces(s.q, s.qd, passive=False)) <= TOLERANCE


@pytest.mark.parametrize("name", ONE_PIECE)
def test_rate_of_the_mass_matrix_less_twice_c_is_skew(name):
    s, step = zoo.motion(TREES[name], 5), 1e-6
    result = printed(name)
    assert result.form == "closed"
    ahead, behind = (result.evaluate(s.q + sign * step * s.qd, s.qd)["H"] for sign in (1, -1))
    N = (ahead - behind) / (2 * step) - 2 * result.evaluate(s.q, s.qd)["C"]
    size = max(1.0, np.abs(ahead).max()) * max(1.0, np.abs(s.qd).max()) ** 3
    assert np.abs(N + N.T).max() <= 100 * size * (step**2 + 1e-16 / step)


def test_other_values_of_the_parameters_are_another_mechanism():
    m, s = two_link(), zoo.motion(two_link(), 6)
    other = kp.equations(m).evaluate(s.q, s.qd, {"m2": 3.0, "l1": 0.7, "r2": 0.2})
    kernel = m.kernel("mass_matrix", parameters=("lower.mass", "elbow.x", "lower.com.x"))
    assert zoo.relative_error(other["H"], kernel(s.q, 3.0, 0.7, 0.2)) <= TOLERANCE


def numbers_in(x: Formula) -> set[float]:
    return {x.value} if isinstance(x, Number) else set().union(*map(numbers_in, parts(x)))


@pytest.mark.parametrize("name", ONE_PIECE)
def test_with_letters_no_number_of_the_description_is_left(name):
    """Halves of halves from products of sines and cosines, and nothing else."""
    result = printed(name)
    formulas = [x for _, x in result.sheet.definitions] + [
        x for a in result.sheet.results.values() for x in a.flat
    ]
    numbers = set().union(*map(numbers_in, formulas))
    assert all(64 * x == int(64 * x) for x in numbers)


# As short as in a textbook.

TEXTBOOK_TWO = """
h1  = m2 l1 r2 s2
H11 = m1 r1^2 + m2 (l1^2 + r2^2 + 2 l1 r2 c2) + I1 + I2
H12 = m2 (r2^2 + l1 r2 c2) + I2
H22 = m2 r2^2 + I2
C11 = -h1 qd2
C12 = -h1 (qd1 + qd2)
C21 = h1 qd1
G1  = (m1 r1 + m2 l1) g c1 + m2 r2 g c12
G2  = m2 r2 g c12
"""  # M. W. Spong, S. Hutchinson, M. Vidyasagar, Robot Modeling and Control, two-link elbow manipulator
TEXTBOOK_THREE = """
h1  = m2 l1 r2 s2 + m3 l1 l2 s2 + m3 l1 r3 s23
h2  = m3 l1 r3 s23 + m3 l2 r3 s3
h3  = m3 l2 r3 s3
H11 = m1 r1^2 + I1 + I2 + I3 + m2 (l1^2 + r2^2 + 2 l1 r2 c2) + m3 (l1^2 + l2^2 + r3^2 + 2 l1 l2 c2 + 2 l1 r3 c23 \
 + 2 l2 r3 c3)
H12 = I2 + I3 + m2 (r2^2 + l1 r2 c2) + m3 (l2^2 + r3^2 + l1 l2 c2 + l1 r3 c23 + 2 l2 r3 c3)
H13 = I3 + m3 (r3^2 + l1 r3 c23 + l2 r3 c3)
H22 = I2 + I3 + m2 r2^2 + m3 (l2^2 + r3^2 + 2 l2 r3 c3)
H23 = I3 + m3 (r3^2 + l2 r3 c3)
H33 = I3 + m3 r3^2
C11 = -h1 qd2 - h2 qd3
C12 = -h1 (qd1 + qd2) - h2 qd3
C13 = -h2 (qd1 + qd2 + qd3)
C21 = h1 qd1 - h3 qd3
C22 = -h3 qd3
C23 = -h3 (qd1 + qd2 + qd3)
C31 = h2 qd1 + h3 qd2
C32 = h3 (qd1 + qd2)
G1  = m1 r1 g c1 + m2 g (l1 c1 + r2 c12) + m3 g (l1 c1 + l2 c12 + r3 c123)
G2  = m2 r2 g c12 + m3 g (l2 c12 + r3 c123)
G3  = m3 r3 g c123
"""  # the same by hand for three links


def terms_in(right: str) -> int:
    """Summands written: one more than the signs between two of them, inside brackets too."""
    return 1 + len(re.findall(r" [+-] ", right))


def by_hand(text: str) -> dict[str, int]:
    sides = [line.split("=") for line in text.strip().splitlines()]
    return {left.strip(): terms_in(right.strip()) for left, right in sides}


@pytest.mark.parametrize(
    ("m", "textbook"),
    [(two_link(), TEXTBOOK_TWO), (TREES["planar-3r"], TEXTBOOK_THREE)],
    ids=["two", "three"],
)
def test_planar_arms_have_no_more_terms_than_the_textbook(m, textbook):
    expected = by_hand(textbook)
    result = kp.equations(m)
    rows = {re.sub(r"[_{}]", "", left): " ".join(right) for left, right in result.rows()}
    counted = {left: terms_in(right) for left, right in rows.items() if left[0] not in "cs"}
    assert set(counted) == set(expected)
    assert all(counted[left] <= expected[left] for left in expected)
    assert result.terms == sum(counted.values())


# Languages.

ROWS = 30  # of long equations, enough to meet everything that is written


@pytest.mark.parametrize("name", ["planar-3r", "scara", "stanford-arm", "floating-arm"])
def test_sympy(name):
    m, s = TREES[name], zoo.motion(TREES[name], 7)
    equations = printed(name)
    result = equations.sympy()
    arguments = (s.q, s.qd, [x.value for x in equations.parameters.values()])
    entries = zip(result.inputs.values(), arguments, strict=True)
    point = {x: value for symbols, values in entries for x, value in zip(symbols, values, strict=True)}

    def value(x) -> float:
        used = sorted(x.free_symbols, key=str)
        return float(sympy.lambdify(used, x, "math")(*[point[each] for each in used]))

    for part, meaning in result.parts:
        point[part] = value(meaning)
    agree(m, {what: np.vectorize(value)(x) for what, x in result.results.items()}, s)


@pytest.mark.parametrize("name", ["planar-3r", "scara", "kr5"])
def test_c_compiles_and_says_right(name, tmp_path):
    source = printed(name).c(tmp_path / "arm.c")
    test = tmp_path / "arm_test.c"
    subprocess.run([*STRICT, source, test, "-o", tmp_path / "arm", "-lm"], check=True)
    assert subprocess.run([tmp_path / "arm"], check=True, capture_output=True).stdout == b"right\n"
    assert " * parameters[0]  m1: mass of " in (tmp_path / "arm.h").read_text("utf-8")


def test_casadi():
    m, s = TREES["scara"], zoo.motion(TREES["scara"], 8)
    equations = printed("scara")
    values = [x.value for x in equations.parameters.values()]
    H, C, g, d = (np.array(x) for x in equations.casadi()(s.q, s.qd, values))
    agree(m, {"H": H, "C": C, "g": g[:, 0], "d": d[:, 0]}, s)


@pytest.mark.parametrize("name", [*ONE_PIECE, "floating-arm"])
def test_every_row_of_the_latex_is_set_by_a_typesetter(name):
    """matplotlib's, which knows a part of TeX; and braces and brackets close."""
    from matplotlib.mathtext import MathTextParser

    equations, parser = printed(name), MathTextParser("path")
    for _, right in equations.rows():
        for line in right:
            assert line.count("{") == line.count("}")
            assert line.count("\\left(") == line.count("\\right)")
    for left, right in equations.rows()[:ROWS]:
        parser.parse(f"${left} = {right[0]}$")
    document = equations.latex(document=True)
    begun, ended = (re.findall(rf"\\{word}{{(.*?)}}", document) for word in ("begin", "end"))
    assert begun == ["document", "longtable", "align*"]
    assert ended == ["longtable", "align*", "document"]


# How much memory it takes, and what is left when it is stopped.

COST = """
import resource
import kinpair as kp
found = kp.equations(kp.example("kr5"), form="closed")
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, len(found.parameters))
"""


def test_six_joints_with_symbolic_masses_and_lengths_in_two_gigabytes():
    done = subprocess.run([sys.executable, "-c", COST], capture_output=True, text=True, check=True)
    kilobytes, parameters = map(float, done.stdout.split())
    assert kilobytes * (1 if sys.platform != "darwin" else 1 / 1024) < 2 * 1024**2
    assert parameters > 30


def stopped(*_):
    raise KeyboardInterrupt


def test_when_stopped_it_returns_what_is_finished(monkeypatch):
    from kinpair.printed_equations import closed

    m, s = TREES["planar-3r"], zoo.motion(TREES["planar-3r"], 9)
    monkeypatch.setattr(closed, "christoffel", stopped)
    result = kp.equations(m)
    assert not result.complete
    assert result.status == "stopped at C"
    assert "Stopped at C." in str(result)
    assert all(x is None for x in result.C.flat)
    numbers = result.evaluate(s.q, s.qd)
    assert set(numbers) == {"H", "g"}
    assert zoo.relative_error(numbers["H"], m.mass_matrix(s.q)) <= TOLERANCE


def test_when_stopped_in_the_mass_matrix_the_last_entries_are_there(monkeypatch):
    """From the tip of the tree: these are the easy ones."""
    from kinpair.printed_equations.closed_form.polynomial import Expansion

    of, count = Expansion.of, iter(range(100))

    def thrice(self, x):
        if next(count) == 3:
            raise KeyboardInterrupt
        return of(self, x)

    monkeypatch.setattr(Expansion, "of", thrice)
    result = kp.equations(TREES["planar-3r"])
    assert result.status.startswith("stopped at H2,2 of 3,3")
    assert not result.complete
    assert result.stopped
    assert [x is None for x in result.H.flat] == [*[True] * 5, False, True, False, False]
    assert all(x is not None for x in result.g)
    assert all(x is None for x in result.h)
    assert "H23 = " in str(result)
    assert "H_{22}" not in result.latex()


def test_what_is_too_long_says_how_far_it_got():
    result = kp.equations(TREES["kr5"], limit=50)
    assert result.form == "terms"
    assert re.fullmatch(
        r"in named terms \(H\d,\d of 6,6 \(\d+ terms\): the expanded form has more than 50 terms\)",
        result.status,
    )
    assert result.complete


def test_when_stopped_while_looking_for_short_forms_all_is_there_at_length(monkeypatch):
    from kinpair.printed_equations.closed_form import reading

    formula, count = reading.formula, iter(range(100))

    def twice(*given):
        return formula(*given) if next(count) < 2 else stopped()

    monkeypatch.setattr(reading, "formula", twice)
    m, s = TREES["three-cylinders"], zoo.motion(TREES["three-cylinders"], 9)
    result = kp.equations(m)
    assert result.complete
    assert result.stopped
    expected = "every entry in one piece, some at length: stopped at looking for short forms (entry 3 of "
    assert result.status.startswith(expected)
    assert "not finished" not in str(result).lower()
    agree(m, result.evaluate(s.q, s.qd), s)


# One C, whatever the form.


@pytest.mark.parametrize(
    "name",
    family(
        [name for name in TREES if TREES[name].nq == TREES[name].nv],
        {name for name in TREES if TREES[name].nq == TREES[name].nv} - LARGE_EXAMPLES,
        "another arm with six joints",
    ),
)
def test_both_forms_have_the_same_c(name):
    s = zoo.motion(TREES[name], 10)
    closed, terms = (printed(name, form=form).evaluate(s.q, s.qd)["C"] for form in ("auto", "terms"))
    assert zoo.relative_error(terms, closed) <= TOLERANCE
    assert "DeNOC" not in str(printed(name, form="terms"))


def test_a_sheet_in_body_rates_says_that_its_c_is_another():
    result = printed("floating-arm")
    assert "C is that of the complement (DeNOC), not of Christoffel's symbols" in str(result)
    assert "C is that of the complement" in result.latex()


# Ctrl-C.


def general_arm(n: int) -> kp.Mechanism:
    """Hinges in general position, full inertias: what has the longest closed form."""
    rng, builder = np.random.default_rng(12), kp.Builder(f"general-{n}r")
    for k in range(n):
        spread = rng.normal(size=(3, 3))
        builder.link(
            f"l{k}", mass=1.0, com=rng.uniform(0.1, 0.3, 3), inertia=np.eye(3) + 0.02 * spread @ spread.T
        )
        before = f"l{k - 1}" if k else "ground"
        where = {"xyz": rng.uniform(0.1, 0.4, 3), "rpy": rng.uniform(0.3, 1.2, 3)}
        builder.joint(f"j{k}", "revolute", before, f"l{k}", axis="z", **where)
    return kp.build(builder).reference


def test_ctrl_c_in_a_long_multiplication_is_answered_with_the_entries_of_the_tip(monkeypatch):
    from kinpair.compiler.patience import Report

    begin = Report.begin

    def begun(self, stage: str) -> None:
        begin(self, stage)
        if stage.startswith("H2,2"):
            threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()

    monkeypatch.setattr(Report, "begin", begun)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
    try:
        result = kp.equations(general_arm(6), form="closed")
    finally:
        signal.signal(signal.SIGINT, before)
    assert result.stopped
    assert not result.complete
    assert all(x is not None for x in result.g)
    assert all(x is not None for x in result.H[3:, 3:].flat)
    assert result.H[0, 0] is None
