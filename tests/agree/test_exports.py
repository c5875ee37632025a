"""What is exported computes the same: C99 compiled strictly, CasADi, SymPy; and LaTeX has the letters."""

from __future__ import annotations

import subprocess
import warnings
from functools import cache

import numpy as np
import pytest

import kinpair as kp
import zoo
from c_compiler import STRICT
from exported_code import called, exported, library
from families import ALIKE, LARGE_EXAMPLES, family
from kinpair.compiler.program import flatten
from kinpair.evaluation.quantities.table import QUANTITIES
from load_friction_family import mechanism, states
from robots import urdf

TOLERANCE = 1e-12
EPS = np.finfo(float).eps
EXAMPLES = list(kp.examples(systems=False))
DYNAMICS = ("inverse_dynamics", "forward_dynamics", "mass_matrix")
MORE = "z1 kinova ur3_gripper finger_edu double_pendulum bolt solo go1 go2 a1 b1 laikago human hyq_no_sensors".split()
ROBOTS = {
    "ur5_robot": "fixed",
    "panda": "fixed",
    "xarm7": "fixed",
    "allegro_left_hand": "fixed",
    "iris": "free",
    "solo12": "free",
}


def robot(name: str) -> kp.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", kp.DescriptionWarning)
        return kp.load(urdf(name), base=ROBOTS.get(name, "fixed"), constraints=False)


def leaves(result) -> list[np.ndarray]:
    return [np.asarray(x, dtype=float) for _, x in flatten(result)[1]]


def arguments(m: kp.Mechanism, quantity: str) -> list[np.ndarray]:
    s = zoo.motion(m, 2)
    options = {"q": s.q, "qd": s.qd, "qdd": s.qdd, "tau": s.qdd, "time": np.zeros(1)}
    options |= {"x": m.x_start, "u": np.ones(m.nu)}
    return [options[name] for name in QUANTITIES[quantity].state]


def bound(m: kp.Mechanism, quantity: str) -> float:
    if not quantity.startswith("forward"):
        return TOLERANCE
    return max(TOLERANCE, 100 * EPS * np.linalg.cond(m.reference.mass_matrix(zoo.motion(m, 2).q)))


def agree(found, expected, tolerance) -> None:
    for a, b in zip(found, expected, strict=True):
        assert zoo.relative_error(a.reshape(b.shape), b) <= tolerance


def by_c(kernel: kp.Kernel, folder, given) -> list[np.ndarray]:
    return called(library(kernel, folder), kernel, given)


def check_c(m: kp.Mechanism, quantity: str, folder) -> None:
    kernel, inputs = m.kernel(quantity), arguments(m, quantity)
    agree(by_c(kernel, folder, inputs), leaves(kernel.interpret(*inputs)), bound(m, quantity))


@pytest.mark.parametrize("quantity", DYNAMICS)
@pytest.mark.parametrize("name", family(EXAMPLES, set(EXAMPLES) - LARGE_EXAMPLES, ALIKE))
def test_c_of_the_examples(name, quantity, tmp_path):
    check_c(kp.example(name).without_constraints(), quantity, tmp_path)


@pytest.mark.parametrize("name", MORE)
def test_c_of_more_robots(name, tmp_path):
    """With those below, twenty robots."""
    assert len({*MORE, *ROBOTS}) == 20
    check_c(robot(name), "inverse_dynamics", tmp_path)


@pytest.mark.parametrize("quantity", DYNAMICS)
@pytest.mark.parametrize("name", ROBOTS)
def test_c_of_robots(name, quantity, tmp_path):
    check_c(robot(name), quantity, tmp_path)


OTHERS = [name for name in QUANTITIES if name not in DYNAMICS]


@pytest.mark.parametrize("quantity", OTHERS)
def test_c_of_every_quantity(quantity, tmp_path):
    m = kp.example("scara")
    frame = "tool" if quantity in ("pose", "jacobian", "jacobian_rate") else ""
    kernel, inputs = m.kernel(quantity, frame=frame), arguments(m, quantity)
    agree(by_c(kernel, tmp_path, inputs), leaves(kernel.interpret(*inputs)), bound(m, quantity))


@pytest.mark.parametrize("quantity", DYNAMICS)
@pytest.mark.parametrize("name", ["double-pendulum", "floating-arm"])
def test_the_self_test_of_an_export_says_right(name, quantity, tmp_path):
    source = kp.example(name).kernel(quantity).c(tmp_path / "arm.c")
    subprocess.run([*STRICT, source, tmp_path / "arm_test.c", "-o", tmp_path / "test", "-lm"], check=True)
    assert subprocess.run([tmp_path / "test"], check=True, capture_output=True).stdout == b"right\n"


def test_c_with_wrenches_and_parameters(tmp_path):
    m = kp.example("double-pendulum")
    kernel = m.kernel("inverse_dynamics", external=("tip",), parameters=("upper.mass", "elbow.z"))
    inputs = [*arguments(m, "inverse_dynamics"), np.arange(6.0), np.array(1.5), np.array(-0.8)]
    agree(by_c(kernel, tmp_path, inputs), leaves(kernel.interpret(*inputs)), TOLERANCE)


@pytest.mark.parametrize("quantity", DYNAMICS)
@pytest.mark.parametrize("name", ["double-pendulum", "cart-pole", "stanford-arm", "floating-arm"])
def test_casadi(name, quantity):
    m = kp.example(name)
    kernel, inputs = m.kernel(quantity), arguments(m, quantity)
    result = kernel.casadi()(*inputs)
    results = [np.asarray(x) for x in (result if isinstance(result, tuple) else (result,))]
    agree(results, leaves(kernel.interpret(*inputs)), bound(m, quantity))


@pytest.mark.parametrize("quantity", DYNAMICS)
@pytest.mark.parametrize("name", ["double-pendulum", "cart-pole"])
def test_sympy(name, quantity):
    m = kp.example(name)
    kernel, given = m.kernel(quantity), arguments(m, quantity)
    symbolic = kernel.sympy()
    symbols = [s for array in symbolic.inputs.values() for s in array]
    values = dict(zip(symbols, np.concatenate(given), strict=True))
    results = [np.array([float(x.subs(values)) for x in A.flat]) for A in symbolic.expanded().values()]
    agree(results, leaves(kernel.interpret(*given)), bound(m, quantity))


def test_sympy_of_the_mass_matrix_is_the_textbook_formula():
    """H₂₂ = I + m c² of the lower rod about the elbow, with its mass and mass centre kept as letters."""
    import sympy

    kernel = kp.example("double-pendulum").kernel("mass_matrix", parameters=("lower.mass", "lower.com.z"))
    symbolic = kernel.sympy()
    m, c = symbolic.inputs["lower.mass"].item(), symbolic.inputs["lower.com.z"].item()
    H_22 = symbolic.expanded()["result"][1, 1]
    assert sympy.simplify(H_22 - (m * c**2 + 0.08333333333333333)) == 0


def test_latex_has_the_letters_of_the_parameters():
    names = ("upper.mass", "lower.mass", "upper.com.z", "lower.com.z", "elbow.z")
    text = kp.example("double-pendulum").kernel("mass_matrix", parameters=names).latex()
    assert text.startswith("\\begin{align*}\n")
    assert text.endswith("\n\\end{align*}")
    for letter in (*(rf"\mathrm{{{name}}}" for name in names), r"\cos q_{2}", r"\mathrm{result}_{2,2}"):
        assert letter in text
    assert "q_{1}" not in text  # H depends on the elbow alone


@cache
def sliding(name: str) -> tuple[kp.Mechanism, list[np.ndarray]]:
    """A mechanism with friction from load, and q, q̇, τ with all of its joints sliding."""
    if name == "four-bar":
        m = mechanism(name, 0)
        return m, [x[0] for x in states(m, name, 5, "sliding", 1)]
    m, rng = kp.example(name), np.random.default_rng(4)
    q, qd = 0.3 * rng.normal(size=m.nq), rng.normal(size=m.nv)
    return m, [q, qd, m.inverse_dynamics(q, qd, rng.normal(size=m.nv))]


@pytest.mark.parametrize("language", ["c", "casadi"])
@pytest.mark.parametrize("name", ["bearing-arm", "cylindrical-arm", "four-bar"])
def test_friction_from_load_while_joints_slide(name, language, tmp_path):
    """The exported sweeps against the methods of the mechanism; the last number says that they may be used."""
    m, (q, qd, tau) = sliding(name)
    time = [np.zeros(1)] if m.closure else []
    forward = exported(m.kernel("forward_dynamics"), language, tmp_path / "forward")
    qdd, *others = forward(q, qd, tau, *time)
    expected = m.forward_dynamics(q, qd, tau)
    assert zoo.relative_error(qdd, expected) <= TOLERANCE
    assert others[-1].flat[-1] == 1.0
    assert forward(q, 0.0 * qd, tau, *time)[-1].flat[-1] == 0.0  # at rest
    if name == "cylindrical-arm":
        inverse = exported(m.kernel("inverse_dynamics"), language, tmp_path / "inverse")
        assert zoo.relative_error(inverse(q, qd, expected)[0], tau) <= TOLERANCE


def test_the_header_says_what_code_with_friction_from_load_is_for(tmp_path):
    m = kp.example("cylindrical-arm")
    path = m.kernel("forward_dynamics").c(tmp_path / "arm.c")
    header = " ".join(path.with_suffix(".h").read_text().replace(" * ", " ").split())
    assert m.kernel("forward_dynamics").graph.note in header
    assert "always at rest, the accelerations are not those of the mechanism." in header
    assert kp.example("scara").kernel("forward_dynamics").graph.note == ""
