"""Kernels of mechanisms under constraints: the same numbers as the methods, and nothing of the tree by mistake."""

from __future__ import annotations

import subprocess

import numpy as np
import pytest

import closed
import kinpair as kp
from c_compiler import STRICT
from kinpair.errors import InputError

TIME = np.zeros(1)
NAMES = ("four-bar", "slider-crank")


def state(name: str) -> tuple[kp.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    m = kp.example(name)
    q = closed.start(name)
    qd = m.velocities(q, guess=np.cos(np.arange(m.nv)))
    return m, q, qd, np.sin(1.0 + np.arange(m.nv))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", [None, "maggi"])
def test_the_kernel_of_forward_dynamics_has_the_constraints_in_force(name, solver):
    m, q, qd, tau = state(name)
    kernel = m.kernel("forward_dynamics", solver=solver)
    assert kernel.signature.name == "forward_dynamics"
    assert list(kernel.signature.inputs) == ["q", "qd", "tau", "time"]
    qdd, soundness, sound = kernel(q, qd, tau, TIME)
    assert (soundness.shape, sound) == ((4,), 1.0)
    assert qdd == pytest.approx(m.forward_dynamics(q, qd, tau, solver=solver), rel=1e-12)
    assert kernel.interpret(q, qd, tau, TIME)[0] == pytest.approx(qdd, rel=1e-9)
    assert np.abs(qdd - m.without_constraints().forward_dynamics(q, qd, tau)).max() > 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_single_precision_agrees_to_its_rounding(name):
    m, q, qd, tau = state(name)
    result = m.kernel("forward_dynamics", dtype="float32")(*(x.astype("float32") for x in (q, qd, tau, TIME)))
    expected = m.forward_dynamics(q, qd, tau)
    assert np.abs(result[0] - expected).max() <= 1e-3 * np.abs(expected).max()


def test_the_other_quantities_by_name():
    m, q, qd, tau = state("four-bar")
    assert m.kernel("constraint_matrix")(q, TIME) == pytest.approx(m.constraint_matrix(q), abs=1e-15)
    assert m.kernel("constraint_positions")(q, TIME) == pytest.approx(m.constraint_residual(q), abs=1e-15)
    A, psi, b = m.kernel("constraint_rows")(q, qd, TIME)
    assert pytest.approx(m.constraint_matrix(q), abs=1e-15) == A
    assert psi == pytest.approx(A @ qd, abs=1e-12)
    M, F, A, b = m.kernel("terms")(q, qd, tau, TIME)
    assert pytest.approx(m.mass_matrix(q), rel=1e-13) == M
    assert A @ m.forward_dynamics(q, qd, tau) == pytest.approx(b, abs=1e-9)
    assert pytest.approx(tau - m.bias_forces(q, qd), rel=1e-12) == F


def test_rows_have_a_kernel_where_nothing_can_be_assembled():
    far = kp.constraint.guide("far", "coupler", xyz=("5", "", ""))
    m = kp.example("four-bar").with_constraints(far)
    assert m.kernel("constraint_positions")(closed.start("four-bar"), TIME)[-1] < -4.0
    with pytest.raises(kp.SingularError, match="cannot be assembled"):
        m.kernel("forward_dynamics")


def test_constants_may_stay_symbols():
    m, q, qd, tau = state("four-bar")
    kernel = m.kernel("forward_dynamics", parameters=("crank.mass",))
    mass = next(link.mass for link in m.model.description.links if link.name == "crank")
    assert kernel(q, qd, tau, TIME, mass)[0] == pytest.approx(m.forward_dynamics(q, qd, tau), rel=1e-11)
    assert np.abs(kernel(q, qd, tau, TIME, 3.0 * mass)[0] - m.forward_dynamics(q, qd, tau)).max() > 1e-3


def test_the_exported_c_passes_its_own_test(tmp_path):
    kernel = kp.example("four-bar").kernel("forward_dynamics")
    source = kernel.c(tmp_path / "linkage.c")
    subprocess.run([*STRICT, source, tmp_path / "linkage_test.c", "-o", tmp_path / "test", "-lm"], check=True)
    assert subprocess.run([tmp_path / "test"], check=True, capture_output=True).stdout == b"right\n"


@pytest.mark.parametrize("quantity", ["inverse_dynamics", "forward_dynamics_derivatives", "reactions"])
def test_what_is_solved_outside_of_kernels_is_refused(quantity):
    m = kp.example("four-bar")
    with pytest.raises(InputError) as caught:
        m.kernel(quantity)
    assert str(caught.value) == (
        f"four-bar: {quantity} under constraints is solved outside of kernels: call {quantity}(...); "
        f"without_constraints().kernel('{quantity}') is that of the tree"
    )
    assert m.without_constraints().kernel(quantity).signature.name == quantity


def test_kernels_of_constraints_want_constraints_and_solvers_their_quantity():
    with pytest.raises(InputError, match="kr5 has no constraints, so there is no terms"):
        kp.example("kr5").kernel("terms")
    with pytest.raises(InputError, match="terms takes no solver"):
        kp.example("four-bar").kernel("terms", solver="maggi")
    with pytest.raises(InputError, match="no solver 'magi'; did you mean 'maggi'"):
        kp.example("four-bar").kernel("forward_dynamics", solver="magi")
    with pytest.raises(InputError, match="no solver ''; Solvers: "):
        kp.example("four-bar").kernel("forward_dynamics", solver="")


def test_a_closed_mechanism_is_compiled_ahead():
    m = kp.example("four-bar")
    assert m.compile() is m
    assert m.compile("forward_dynamics", solver="partition", batch=False) is m


def test_a_system_has_kernels_too():
    skate = kp.System(
        ["x", "y", "angle"],
        T=lambda q, qd, t: 0.5 * (qd[0] ** 2 + qd[1] ** 2 + 0.1 * qd[2] ** 2),
        Q=lambda q, qd, t: [0.0, -1.0, 0.0],
        constraints=[{"name": "edge", "A": lambda q, t: [[np.sin(q[2]), -np.cos(q[2]), 0.0]]}],
        name="skate",
    )
    q, tau = np.array([0.0, 0.0, 0.4]), np.zeros(3)
    qd = skate.velocities(q, {"angle": 2.0}, guess=[1.0, 0.0, 0.0])
    for solver in (None, "maggi"):
        qdd, _, sound = skate.kernel("forward_dynamics", solver=solver)(q, qd, tau, TIME)
        assert sound == 1.0
        assert qdd == pytest.approx(skate.forward_dynamics(q, qd, solver=solver), rel=1e-12, abs=1e-14)
    for result, expected in zip(skate.kernel("terms")(q, qd, tau, TIME), skate.terms(q, qd), strict=True):
        assert result == pytest.approx(expected, abs=1e-14)
    assert skate.kernel("constraint_matrix")(q, TIME).shape == (1, 3)
    assert skate.compile("forward_dynamics", batch=False) is skate
    with pytest.raises(InputError, match="skate: no quantity 'mass'; Quantities: forward_dynamics, terms, "):
        skate.kernel("mass")
    with pytest.raises(InputError, match="skate: solver 'screw' works on bodies"):
        skate.kernel("forward_dynamics", solver="screw")
