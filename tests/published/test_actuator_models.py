"""Linear models of actuators against the closed forms of M. Vukobratović, chapter 4.

Motor: J θ̈ + B θ̇ = k i, L i̇ + R i + k θ̇ = u.
Cylinder: m ÿ + B ẏ = A p, (V/4β) ṗ = −A ẏ − K p + K_q x, τ ẋ = −x + u, with
ω_h = √(4βA²/(Vm)) and ζ_h = (K/A)√(βm/V) + (B/4A)√(V/(βm)).
"""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp


def test_a_motor_behind_a_gear():
    """λ = 0 and the roots of JL λ² + (JR + BL) λ + BR + k² = 0."""
    m = kp.example("dc-actuator")
    R, L, k, J, B, N = 1.6, 2.2e-3, 0.26, 1.4e-3, 1e-3, 31.17
    model = kp.linearise(m, [0.0], [3.0], x=[0.4], u=[5.0])
    expected = np.array([[0, 1, 0], [0, -B / J, k / (J * N)], [0, -k * N / L, -R / L]])
    assert pytest.approx(expected, rel=1e-12) == model.A
    assert model.B[:, 0] == pytest.approx([0, 0, 1 / L], rel=1e-12)
    found = np.sort(np.real(model.core.eigenvalues))
    assert found == pytest.approx(np.sort(np.roots([J * L, J * R + B * L, B * R + k * k])), rel=1e-12)
    assert found == pytest.approx([-695.691773450, -32.295239537], abs=1e-8)
    assert model.ignorable == ("q.axle",)


def test_a_cylinder_behind_a_valve():
    m = kp.example("hydraulic-actuator")
    A, V, beta, B, K, mass, tau = 1e-3, 2e-4, 1e9, 200.0, 1e-12, 50.0, 3e-3
    fast = kp.linearise(m, [0.0]).part(["qd.rod", "x.cylinder.pressure"])
    omega = np.sqrt(4 * beta * A**2 / (V * mass))
    zeta = K / A * np.sqrt(beta * mass / V) + B / (4 * A) * np.sqrt(V / (beta * mass))
    leak = 4 * beta * K / V
    trace, product = np.trace(fast.A), np.linalg.det(fast.A)
    assert trace == pytest.approx(-2 * zeta * omega, rel=1e-12)
    assert product == pytest.approx(omega**2 + leak * B / mass, rel=1e-12)
    values = kp.linearise(m, [0.0]).core.eigenvalues
    assert np.abs(values + 1 / tau).min() < 1e-9
    assert np.abs(values - (-12 + 632.404933567j)).min() < 1e-8
