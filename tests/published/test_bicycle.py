"""The benchmark bicycle of Meijaard, Papadopoulos, Ruina and Schwab (2007), Proc. Royal Society A 463, 1955–1982."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

M = np.array([[80.81722, 2.31941332208709], [2.31941332208709, 0.29784188199686]])
C1 = np.array([[0.0, 33.86641391492494], [-0.85035641456978, 1.68540397397560]])
K0 = np.array([[-80.95, -2.59951685249872], [-2.59951685249872, -0.80329488458618]])
K2 = np.array([[0.0, 76.59734589573222], [0.0, 2.65431523794604]])
AT_FIVE = (-14.07838969279822, -0.77534188219585 + 4.46486771378823j, -0.32286642900409)  # printed for 5 m/s
PRINTED = 1e-12  # the matrices have 14 decimals, the largest eigenvalue is 25


@pytest.fixture(scope="module")
def bicycle() -> kp.Mechanism:
    return kp.example("bicycle")


def rolling(bicycle: kp.Mechanism, speed: float) -> kp.LinearModel:
    """About upright rolling at a speed [m/s]."""
    q = bicycle.start()
    return kp.linearise(
        bicycle, q, bicycle.velocities(q, {"rear": speed / 0.3, "base.wx": 0.0, "steer": 0.0})
    )


def published(speed: float) -> np.ndarray:
    """M q̈ + v C₁ q̇ + (g K₀ + v² K₂) q = 0 of lean and steer, as ẋ = A x."""
    inverse = np.linalg.inv(M)
    stiff = inverse @ (9.81 * K0 + speed**2 * K2)
    return np.block([[np.zeros((2, 2)), np.eye(2)], [-stiff, -speed * inverse @ C1]])


@pytest.mark.parametrize("speed", [0.0, 1.0, 3.5, 5.0, 10.0])
def test_four_eigenvalues_and_no_more(bicycle, speed):
    """Seven coordinates and three rates: where it is, where it heads to, what its wheels turned by and its speed are
    ignorable, exactly, and the others are those of the source."""
    model = rolling(bicycle, speed)
    assert len(model.states) == 10
    assert model.steady
    found, expected = model.core.eigenvalues, np.linalg.eigvals(published(speed))
    assert len(found) == 4
    assert np.sort_complex(found) == pytest.approx(np.sort_complex(expected), abs=PRINTED)
    assert np.count_nonzero(model.eigenvalues) == 4
    assert set(model.ignorable) == {"q.base.wz", "q.base.vx", "q.base.vy", "q.rear", "q.front", "qd.rear"}


def test_printed_eigenvalues(bicycle):
    found = rolling(bicycle, 5.0).core.eigenvalues
    for value in AT_FIVE:
        assert np.abs(found - value).min() < 5e-13


def test_lean_and_steer_obey_the_printed_equations(bicycle):
    """The block of lean and steer is the matrix of the source; the axis of the fork points up here, and down there."""
    names, sign = ["q.base.wx", "q.steer", "qd.base.wx", "qd.steer"], np.diag([1.0, -1.0, 1.0, -1.0])
    found = rolling(bicycle, 5.0).part(names).A
    assert sign @ found @ sign == pytest.approx(published(5.0), abs=1e-11)


def test_it_stays_up_by_itself_between_two_speeds(bicycle):
    """Weave and capsize speeds of the source: 4.29238253634111 and 6.02426201538837 m/s."""
    for speed, stable in ((4.2923, False), (4.2925, True), (6.0242, True), (6.0244, False)):
        assert (np.real(rolling(bicycle, speed).core.eigenvalues).max() < 0.0) == stable
