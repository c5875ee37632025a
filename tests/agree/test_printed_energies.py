"""Energies in symbolic form and own symbols: the same numbers as the mechanism."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp


@pytest.mark.parametrize(
    "name", ["double-pendulum", "cart-pole", "planar-3r", "three-cylinders", "floating-arm"]
)
def test_energies_are_those_of_the_mechanism(name):
    m = kp.example(name).reference
    rng = np.random.default_rng(28)
    printed = kp.equations(m, passive=False)
    q = m.neutral() if m.nq > m.nv else rng.uniform(-1, 1, m.nq)
    qd = rng.uniform(-1, 1, m.nv)
    energy = m.energy(q, qd)
    assert printed.kinetic_energy.evaluate(q, qd) == pytest.approx(energy.kinetic, rel=1e-12)
    assert printed.potential_energy.evaluate(q, qd) == pytest.approx(energy.potential, rel=1e-12, abs=1e-12)


def test_own_symbols_change_names_and_no_numbers():
    m = kp.example("double-pendulum").reference
    plain = kp.equations(m, passive=False)
    own = kp.equations(m, passive=False, symbols={"m_1": "M", "q1": "phi_1", "g": "gamma"})
    assert {"M", "gamma"} <= set(own.parameters)
    assert "phid1" in own.text(own.C[1, 0])
    assert r"\dot{\phi}_{1}" in own.latex()
    q, qd = [0.3, -0.4], [1.0, 0.5]
    for what, x in plain.evaluate(q, qd).items():
        assert np.array_equal(own.evaluate(q, qd)[what], x)
    assert own.kinetic_energy.evaluate(q, qd, {"M": 2.0}) == plain.kinetic_energy.evaluate(q, qd, {"m1": 2.0})


def test_own_symbols_under_constraints():
    robot = kp.example("omni-robot-system")
    own = kp.equations(robot, solver="rosenberg-extended", symbols={"q_1": "xi"})
    assert "xi" in str(own)
