"""Where mechanisms stand, and how they move steadily."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

g = 9.81


def test_gravity_compensation_is_inverse_dynamics_at_rest():
    m = kp.example("stanford-arm")
    q = [0.2, 1.1, 0.6, -0.3, 0.7, 0.4]
    x = kp.equilibrium(m, q, free=m.v_names)
    assert x.q == pytest.approx(q, abs=0)
    assert x.u == pytest.approx(m.inverse_dynamics(q, np.zeros(6), np.zeros(6)), rel=1e-11, abs=1e-11)
    assert x.residual < 1e-10


def test_one_effort_holds_what_it_can():
    """With the shoulder driven alone the elbow hangs down; the shoulder stays as near as can be."""
    x = kp.equilibrium(kp.example("double-pendulum"), [0.7, 0.4], free=["shoulder"])
    assert x.q.sum() == pytest.approx(0.0, abs=1e-9)
    assert x.u[0] == pytest.approx(1.5 * g * np.sin(x.q[0]), rel=1e-9)
    assert x.u[1] == 0.0


def test_branches_from_several_guesses():
    m = kp.example("double-pendulum")
    guesses = np.array([[0.3, 0.2], [3.0, 0.1], [3.0, 3.0], [0.2, 3.0], [6.2, 0.1]])
    found = kp.equilibrium(m, guesses)
    assert len(found) == 4
    assert [x.stable for x in found] == [True, False, False, False]
    for x in found:
        assert np.abs(m.gravity_forces(x.q)).max() < 1e-9


def test_damping_makes_it_asymptotic():
    b = kp.Builder("damped")
    b.link("rod", mass=1.0, com=[0, 0, -0.5])
    b.joint("hinge", "revolute", "ground", "rod", axis="y", damping=0.1)
    x = kp.equilibrium(kp.build(b), [0.4])
    assert x.stability == "asymptotically stable"
    assert str(x) == "damped: equilibrium, asymptotically stable\nq: hinge 0"


def hinged(lower: float, upper: float) -> kp.Mechanism:
    b = kp.Builder("hinged")
    b.link("rod", mass=2.0, com=[0, 0, -0.5])
    b.joint("hinge", "revolute", "ground", "rod", axis="y", lower=lower, upper=upper, effort=5.0)
    return kp.build(b)


def test_a_limit_holds_what_would_pass_it():
    x = kp.equilibrium(hinged(0.3, 2.0), [1.0])
    assert x.q == pytest.approx([0.3])
    assert x.pushed["hinge"] == pytest.approx(2.0 * g * 0.5 * np.sin(0.3))
    assert x.stable
    assert "the limit of hinge pushes with 2.89905" in str(x)
    assert kp.equilibrium(hinged(0.3, 2.0), [1.0], limits=False).q == pytest.approx([0.0], abs=1e-12)
    assert kp.equilibrium(hinged(-0.3, 2.0), [1.0]).pushed == {}


def test_efforts_beyond_their_limits_are_told():
    x = kp.equilibrium(hinged(-2.0, 2.0), [1.0], free=["hinge"])
    assert x.beyond == pytest.approx({"hinge": 2.0 * g * 0.5 * np.sin(1.0)})
    assert str(x).splitlines()[-1] == "beyond its limit: hinge needs 8.25483, and has 5"


def governor() -> kp.Mechanism:
    """Two balls on arms of 0.3 m, hinged on a shaft that turns about z."""
    b = kp.Builder("governor")
    b.link("shaft", inertia=[0.01, 0.01, 0.02])
    b.joint("shaft", "revolute", "ground", "shaft", axis="z")
    for name, sign in (("left", -1.0), ("right", 1.0)):
        b.link(name, mass=1.0, com=[0, 0, -0.3])
        b.joint(name, "revolute", "shaft", name, axis=[0, -sign, 0])
    return kp.build(b)


@pytest.mark.parametrize("rate", [7.0, 12.0])
def test_a_governor_turns(rate):
    """cos θ = g/(ω² l) of both arms; the fall back is unstable above √(g/l)."""
    m = governor()
    x = kp.equilibrium(m, [0.0, 1.0, 1.0], rates={"shaft": rate})
    assert x.q[1:] == pytest.approx([np.arccos(g / (rate**2 * 0.3))] * 2, rel=1e-9)
    assert x.stable
    assert x.linearise().steady
    hanging = kp.equilibrium(m, [0.0, 0.0, 0.0], rates={"shaft": rate})
    assert not hanging.stable


def test_a_rate_is_found_for_a_position():
    m = governor()
    x = kp.equilibrium(
        m, [0.0, 0.8, 0.8], rates={"shaft": 5.0}, free_rates=["shaft"], fixed=["left", "right"]
    )
    assert x.qd[0] == pytest.approx(np.sqrt(g / (0.3 * np.cos(0.8))), rel=1e-9)
    assert x.q == pytest.approx([0.0, 0.8, 0.8])


def test_a_spinning_top_in_steady_precession():
    """A symmetric top on a ball joint: (A cos θ) c² − (C σ) c + m g l = 0 with the whole spin σ about its axis."""
    A, C, mass, l = 0.02, 0.004, 0.8, 0.1
    b = kp.Builder("top")
    own = A - mass * l**2
    b.link("top", mass=mass, com=[0, 0, l], inertia=[own, own, C])
    b.joint("ball", "spherical", "ground", "top")
    m = kp.build(b)
    theta, spin = 0.5, 150.0
    q = [0.0, np.sin(theta / 2), 0.0, np.cos(theta / 2)]
    x = kp.equilibrium(m, q, spins={"ball": [0, 0, spin]}, turning=None, fixed=["ball.wx", "ball.wy"])
    c = x.turning
    sigma = spin + c * np.cos(theta)
    assert A * np.cos(theta) * c**2 - C * sigma * c + mass * g * l == pytest.approx(0.0, abs=1e-9)
    model = x.linearise()
    assert model.steady
    assert x.stable
    fast = [mode.frequency for mode in model.modes if mode.swings]
    assert len(fast) == 1  # nutation; the heading and the spin are ignorable


def test_systems_given_by_their_energy_stand_too():
    s = kp.System(["angle"], T=lambda q, qd, t: 0.5 * qd[0] ** 2, Q=lambda q, qd, t: [-4.0 * np.sin(q[0])])
    x = kp.equilibrium(s, [0.3])
    assert x.q == pytest.approx([0.0], abs=1e-12)
    assert x.linearise().modes[0].frequency == pytest.approx(2.0)
