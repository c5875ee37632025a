"""Linear models of small mechanisms against matrices derived by hand."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

g = 9.81
EXACT = 1e-10


def second_order(M: np.ndarray, K: np.ndarray) -> np.ndarray:
    """A of M q̈ + K q = 0."""
    n = len(M)
    return np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), np.zeros((n, n))]])


def test_double_pendulum_hanging_and_standing():
    """Two slender rods of length one and mass one; the second angle is relative.

    Of the absolute angles: M = [4/3 1/2; 1/2 1/3], V'' = diag(3/2, 1/2) g.
    """
    absolute = np.array([[1.0, 0.0], [1.0, 1.0]])  # of the relative angles
    M = absolute.T @ np.array([[4 / 3, 1 / 2], [1 / 2, 1 / 3]]) @ absolute
    K = absolute.T @ np.diag([1.5 * g, 0.5 * g]) @ absolute
    m = kp.example("double-pendulum")
    for q, sign in (([0.0, 0.0], 1.0), ([np.pi, 0.0], -1.0)):
        model = kp.linearise(m, q)
        assert pytest.approx(second_order(M, sign * K), abs=EXACT) == model.A
        assert model.B[2:] == pytest.approx(np.linalg.inv(M), abs=EXACT)
        assert model.steady


@pytest.mark.parametrize(("angle", "sign"), [(0.0, 1.0), (np.pi, -1.0)])
def test_cart_pole(angle, sign):
    """Cart M = 1, pole m = 0.1, its centre at l = 0.5, I about it; a positive angle leans the pole forward."""
    M, m, l, I = 1.0, 0.1, 0.5, 0.008343333333333333
    H = np.array([[M + m, sign * m * l], [sign * m * l, I + m * l**2]])
    K = np.array([[0.0, 0.0], [0.0, -sign * m * g * l]])
    model = kp.linearise(kp.example("cart-pole"), [0.3, angle], inputs=["slide"], outputs=["tip.x"])
    assert pytest.approx(second_order(H, K), abs=EXACT) == model.A
    assert model.B[2:, 0] == pytest.approx(np.linalg.inv(H)[:, 0], abs=EXACT)
    assert pytest.approx(np.array([[1.0, sign, 0.0, 0.0]]), abs=EXACT) == model.C
    assert set(model.ignorable) == {"q.slide", "qd.slide"}


def four_bar(crank: complex) -> tuple[complex, complex]:
    """Output and absolute coupler angle of the linkage of E13, from the triangle that the loop makes."""
    a, b, c, d = 0.05, 0.13, 0.1, 0.15
    x, y = a * np.cos(crank) - d, a * np.sin(crank)  # tip of the crank from the hinge of the output
    far = np.sqrt(x * x + y * y)
    bend = np.arccos((b * b + far * far - c * c) / (2 * b * far))
    # arctan2 for a complex step: the angle at the point itself, and its change
    turn = np.arctan2(y.real, x.real) + 1j * (x.real * y.imag - y.real * x.imag) / abs(far.real) ** 2
    output = turn - bend  # the branch of the start: the output leans towards the crank
    u, v = x - b * np.cos(output), y - b * np.sin(output)
    coupler = np.arctan2(v.real, u.real) + 1j * (u.real * v.imag - v.real * u.imag) / (u.real**2 + v.real**2)
    return output, coupler


def test_four_bar_under_gravity():
    """One freedom: λ² = −V''(α)/m(α) at the bottom of V(α), with the angles and their ratios in closed form."""
    step, h = 1e-200, 1e-3
    masses, lengths = (1.5, 5.0, 3.0), (0.05, 0.13, 0.1)

    def slopes(alpha: float) -> tuple[float, float, float, float]:
        both = [complex(x) for x in four_bar(alpha + 1j * step)]
        return both[0].real, both[1].real, both[0].imag / step, both[1].imag / step

    def slope(alpha: float) -> float:
        """V'."""
        b, c, db, dc = slopes(alpha)
        heights = (
            masses[0] * lengths[0] / 2 * np.cos(alpha),
            masses[1] * lengths[1] / 2 * np.cos(b) * db,
            masses[2] * (lengths[1] * np.cos(b) * db + lengths[2] / 2 * np.cos(c) * dc),
        )
        return g * sum(heights)

    def inertia(alpha: float) -> float:
        """m of ½ m α̇²."""
        b, c, db, dc = slopes(alpha)
        rods = masses[0] * lengths[0] ** 2 / 3 + masses[1] * lengths[1] ** 2 / 3 * db**2
        x = -lengths[1] * np.sin(b) * db - lengths[2] / 2 * np.sin(c) * dc
        y = lengths[1] * np.cos(b) * db + lengths[2] / 2 * np.cos(c) * dc
        return rods + masses[2] * (x * x + y * y) + masses[2] * lengths[2] ** 2 / 12 * dc**2

    m = kp.example("four-bar")
    found = kp.equilibrium(m)
    alpha = found.q[0]
    assert np.cos(found.q[1] - slopes(alpha)[0]) == pytest.approx(1.0, abs=1e-15)
    assert abs(slope(alpha)) < 1e-9 * g
    # V'' by differences of sixth order: error h⁶ beside eps/h
    weights = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    bent = sum(w * (slope(alpha + k * h) - slope(alpha - k * h)) for k, w in weights.items()) / h
    expected = np.sqrt(bent / inertia(alpha))
    (mode,) = found.linearise().modes
    assert mode.eigenvalue == pytest.approx(1j * expected, abs=EXACT)
    assert found.stability == "stable to first order"


def space_robot(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Accelerations of E9 from its corrected equations."""
    m2, inertia, r, L = 5.0, 260.42, 4.0, 8.0
    k, e = m2 * r * L, m2 * L**2
    (_, p1, p2), (w, v1, v2) = q, qd
    c1, c2, s1, s2 = np.cos(p1), np.cos(p2), np.sin(p1), np.sin(p2)
    whole = inertia + 2 * e + 2 * m2 * r**2 + 2 * k * (c1 + c2)
    M = np.array([[whole, -e - k * c1, -e - k * c2], [-e - k * c1, e, 0], [-e - k * c2, 0, e]])
    F = np.array(
        [2 * k * w * (v1 * s1 + v2 * s2) - k * (v1**2 * s1 + v2**2 * s2), -k * s1 * w**2, -k * s2 * w**2]
    )
    return np.linalg.solve(M, F)


def test_space_robot():
    """About its start, which turns: the whole model, and the one on states of the same momentum."""
    m, q, qd = (
        kp.example("space-robot"),
        np.array([np.pi / 36, -np.pi / 6, -np.pi / 6]),
        np.array([0.1, -0.1, -0.1]),
    )
    step = 1e-200

    def column(dq: np.ndarray, dv: np.ndarray) -> np.ndarray:
        return np.imag(space_robot(q + 1j * step * dq, qd + 1j * step * dv)) / step

    unit, none = np.eye(3), np.zeros(3)
    by_q = np.array([column(x, none) for x in unit]).T
    by_qd = np.array([column(none, x) for x in unit]).T
    whole = kp.linearise(m.without_constraints(), q, qd)
    assert pytest.approx(np.block([[np.zeros((3, 3)), unit], [by_q, by_qd]]), abs=EXACT) == whole.A
    assert whole.ignorable == ("q.theta",)

    model = kp.linearise(m, q, qd, independent=["psi1", "psi2"])
    (_, p1, p2), (w, v1, v2) = q, qd
    H = m.mass_matrix(q)[0]  # the momentum H q̇ stays
    change = 160.0 * np.array(
        [np.sin(p1) * (v1 - 2 * w), np.sin(p2) * (v2 - 2 * w)]
    )  # of H q̇ with ψ; m₂ r L = 160
    places = np.vstack([-change / H[0], np.zeros((2, 2))])
    rates = np.vstack([-H[1:] / H[0], np.eye(2)])
    expected = np.zeros((5, 5))
    expected[:3, 1:3], expected[:3, 3:] = places, rates
    expected[3:, 1:3] = (by_q[:, 1:] + by_qd @ places)[1:]
    expected[3:, 3:] = (by_qd @ rates)[1:]
    assert pytest.approx(expected, abs=EXACT) == model.A
