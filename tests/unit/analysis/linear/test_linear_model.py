"""Eigenvalues, modes, responses and sample times of linear models."""

from __future__ import annotations

import control
import numpy as np
import pytest
from scipy.linalg import expm

import kinpair as kp
from kinpair.analysis.linear.bode import transfer
from kinpair.analysis.linear.modes import core_of


def spring(damping: float = 0.4) -> kp.Mechanism:
    """Two masses in a row, springs to the wall and between them, on a cart that rolls freely."""
    b = kp.Builder("row")
    b.link("cart", mass=3.0)
    b.joint("cart", "prismatic", "ground", "cart", axis="x")
    b.link("one", mass=1.0)
    b.joint("one", "prismatic", "cart", "one", axis="x", stiffness=20.0, damping=damping)
    b.link("two", mass=2.0)
    b.joint("two", "prismatic", "one", "two", axis="x", stiffness=30.0)
    return kp.build(b)


@pytest.fixture(scope="module")
def model() -> kp.LinearModel:
    return kp.linearise(
        spring(), [0, 0, 0], inputs=["one"], outputs=["two.x", "qdd.one"], disturbances=["two"]
    )


def test_eigenvalues_are_those_of_the_whole_matrix(model):
    """Found in the core, with exact zeros for what is ignorable; a solver blurs the double zero of the whole matrix."""
    assert model.ignorable == ("q.cart", "qd.cart")
    blurred = np.linalg.eigvals(model.A)
    assert np.sort_complex(model.eigenvalues) == pytest.approx(np.sort_complex(blurred), abs=1e-7)
    assert np.count_nonzero(model.eigenvalues) == 4
    assert model.core.eigenvalues == pytest.approx(model.eigenvalues[:4])


def test_modes_are_eigenvectors(model):
    for mode in model.modes:
        v = np.array(list(mode.shape.values()))
        assert np.abs(model.A @ v - mode.eigenvalue * v).max() < 1e-12 * mode.frequency**2
        assert np.abs(v[:3]).max() == pytest.approx(1.0)
        assert mode.displacement == pytest.approx(v[:3])
        assert sum(mode.participation.values()) == pytest.approx(1.0)
        assert mode.damping == pytest.approx(-mode.eigenvalue.real / abs(mode.eigenvalue))


def test_momentum_is_at_rest_in_every_mode(model):
    """No mode moves the mass centre: the row of the cart of H is the momentum of all."""
    whole = spring().mass_matrix([0, 0, 0])[0]
    for mode in model.modes:
        assert abs(whole @ mode.displacement) < 1e-12


def test_frequency_response_is_the_transfer_function(model):
    omega = np.array([0.3, 2.0, 5.0, 40.0])
    G = model.frequency_response(omega)
    for i, output in enumerate(model.outputs):
        f = model.transfer_function(output, "tau.one")
        assert f(1j * omega) == pytest.approx(G[:, i, 0], rel=1e-9)
        ratio = np.polyval(f.numerator, 1j * omega) / np.polyval(f.denominator, 1j * omega)
        assert ratio == pytest.approx(G[:, i, 0], rel=1e-9)


def test_python_control_agrees(model):
    theirs = model.to_control()
    assert list(theirs.state_labels)[:2] == ["q_cart", "q_one"]
    assert theirs.ninputs == 7
    omega = np.array([0.3, 2.0, 40.0])
    found = theirs(1j * omega)
    assert found[:, 0] == pytest.approx(model.frequency_response(omega)[:, :, 0].T, rel=1e-9)
    sampled = model.discrete(0.01).to_control()
    expected = control.c2d(theirs, 0.01)
    assert pytest.approx(expected.A, abs=1e-12) == sampled.A
    assert pytest.approx(expected.B, abs=1e-12) == sampled.B
    assert sampled.dt == 0.01


def test_a_sample_is_the_solution_with_inputs_held(model):
    d = model.discrete(0.02)
    assert pytest.approx(expm(0.02 * model.A), abs=1e-13) == d.A
    x, fine = np.zeros(6), model.discrete(0.02 / 16)
    for _ in range(16):
        x = fine.A @ x + fine.B[:, 0]
    assert d.B[:, 0] == pytest.approx(x, abs=1e-13)
    stable = np.sort_complex(np.exp(0.02 * model.eigenvalues))
    assert np.sort_complex(d.eigenvalues) == pytest.approx(stable, abs=1e-12)


def test_zeros_of_a_cart_and_pole_are_those_of_the_pole_alone():
    """The force sees the cart stand still where the pole swings about a cart that does."""
    m = kp.example("cart-pole")
    f = kp.linearise(m, [0, 0]).transfer_function("q.slide", "tau.slide")
    own = np.sqrt(m.gravity_forces([0, -1e-6])[1] / m.mass_matrix([0, 0])[1, 1] * 1e6)
    assert np.sort(f.zeros.real) == pytest.approx([-own, own], rel=1e-6)
    assert len(f.poles) == 4


def test_a_transfer_function_without_states_on_the_way():
    zeros, poles, gain = transfer(np.zeros((2, 2)), np.array([1.0, 0.0]), np.array([0.0, 1.0]), 3.0)
    assert (len(zeros), len(poles), gain) == (0, 0, 3.0)


def test_ignorable_directions_across_the_coordinates():
    """Two displacements that only matter by their difference: one combination is ignorable."""
    k = 7.0
    A = np.zeros((4, 4))
    A[:2, 2:] = np.eye(2)
    A[2:, :2] = [[-k, k], [k, -k]]
    core = core_of(A, 2)
    assert len(core.dropped) == 1
    assert np.abs(core.N[:, 0]) == pytest.approx([np.sqrt(0.5)] * 2)
    model_values = np.linalg.eigvals(core.A)
    assert np.abs(model_values).max() == pytest.approx(np.sqrt(2 * k))


def test_pictures(model, tmp_path):
    model.plot(tmp_path / "modes.png")
    model.plot_response(tmp_path / "response.png", output="two.x")
    model.discrete(0.01).plot_response(tmp_path / "sampled.svg")
    assert {x.name for x in tmp_path.iterdir()} == {"modes.png", "response.png", "sampled.svg"}


def test_words(model):
    text = str(model)
    assert text.splitlines()[0] == "row: 6 states: q.cart, q.one, q.two, qd.cart, qd.one, qd.two"
    assert "ignorable, eigenvalue 0: q.cart, qd.cart" in text
    assert "mode 1: " in text
    assert "<p>row: 6 states" in model._repr_html_()
    along = kp.linearise(spring(), np.zeros((3, 3)))
    assert repr(along) == "<LinearModel of 'row' along 3 states: 6 states, 3 inputs>"
    assert str(along).splitlines()[1] == "states: q.cart, q.one, q.two, qd.cart, qd.one, qd.two"
