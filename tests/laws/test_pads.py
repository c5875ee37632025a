"""Compliant contact: Hunt and Crossley's force, its energy, and forces that are unique."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp


def ball(gravity: tuple[float, float, float] = (0.0, 0.0, -9.81), **surface: float) -> kp.Mechanism:
    b = kp.Builder("ball").link("ball", mass=0.5, inertia=[0.002] * 3)
    b.joint("ball", "free", "ground", "ball", start=[0, 0, 0.1, 0, 0, 0, 1])
    b.contact("floor", "ground", plane=True, mu=0.3).contact("shell", "ball", sphere=0.1, **surface)
    return kp.build(b, gravity=gravity)


def table(**surface: float) -> kp.Mechanism:
    b = kp.Builder("table").link("table", mass=20.0, com=[0.15, 0.1, 0.65], inertia=[1.2, 2.2, 3.2])
    b.joint("table", "free", "ground", "table").contact("floor", "ground", plane=True, mu=0.4, **surface)
    for k, (x, y) in enumerate(((0.6, 0.4), (-0.6, 0.4), (0.6, -0.4), (-0.6, -0.4))):
        b.contact(f"leg {k}", "table", point=True, xyz=[x, y, 0])
    return kp.build(b)


@pytest.mark.parametrize("exponent", [1.0, 1.5])
def test_the_energy_of_a_bounce_balances(exponent):
    m = ball(stiffness=1e4 if exponent == 1.0 else 1e5, exponent=exponent, dissipation=0.3)
    q, qd = m.start(), np.array([0.0, 0, 0, 0.5, 0, -1.0])
    run = kp.simulate(m, q, qd, duration=0.2)
    assert run.status.ok
    assert run.qd[-1][5] > 0.0 or run.q[-1][2] > 0.1
    assert run.integrator == "dop853"


@pytest.mark.parametrize("dissipation", [0.02, 0.05])
def test_restitution_is_one_less_dissipation_times_speed(dissipation):
    """e = 1 − c v to first order in c v (Hunt and Crossley 1975); the next term is of the order of (c v)²."""
    m = ball((0.0, 0.0, 0.0), stiffness=1e5, exponent=1.5, dissipation=dissipation)
    run = kp.simulate(m, m.start(), np.array([0.0, 0, 0, 0, 0, -1.0]), duration=0.05, rtol=1e-10, atol=1e-12)
    assert run.qd[-1][5] == pytest.approx(1.0 - dissipation, abs=2.0 * dissipation**2)


def test_a_ball_at_rest_overlaps_by_its_weight_over_the_stiffness():
    m = ball(stiffness=1e4)
    q = m.start() - np.array([0, 0, 0.5 * 9.81 / 1e4, 0, 0, 0, 0])
    np.testing.assert_allclose(
        m.compliant_forces(q, np.zeros(6))["shell on floor"], [0, 0, 0.5 * 9.81], rtol=1e-12
    )
    np.testing.assert_allclose(m.forward_dynamics(q, np.zeros(6), np.zeros(6)), 0.0, atol=1e-9)


def test_forces_of_a_table_with_compliant_legs_are_unique():
    """Linear springs at ±a, ±b share the weight by W/4 (1 ± x/a ± y/b), x, y those of the mass centre."""
    m = table(stiffness=1e5, dissipation=5.0)
    run = kp.simulate(m, m.start(), np.zeros(6), duration=3.0, output=1.0)
    forces = m.compliant_forces(run.q[-1], run.qd[-1])
    weight, x, y = 20 * 9.81, 0.15 / 0.6, 0.1 / 0.4
    expected = [weight / 4 * (1 + s * x + t * y) for s, t in ((1, 1), (-1, 1), (1, -1), (-1, -1))]
    np.testing.assert_allclose([forces[f"leg {k} on floor"][2] for k in range(4)], expected, rtol=2e-3)


def test_compiled_code_and_the_reference_agree():
    m, rng = ball(stiffness=1e4, exponent=1.5, dissipation=0.3), np.random.default_rng(3)
    for _ in range(5):
        q = m.start() + np.array([0, 0, -0.01 * rng.random(), 0, 0, 0, 0])
        qd = rng.normal(size=6)
        fast, slow = (x.forward_dynamics(q, qd, np.zeros(6)) for x in (m, m.reference))
        np.testing.assert_allclose(fast, slow, rtol=1e-9, atol=1e-9)


def test_two_balls_push_each_other():
    b = kp.Builder("two")
    for k in range(2):
        b.link(f"b{k}", mass=1.0, inertia=[0.1] * 3).joint(f"x{k}", "prismatic", "ground", f"b{k}", axis="x")
        b.contact(f"b{k}", f"b{k}", sphere=0.1, stiffness=2e3)
    m = kp.build(b)
    (force,) = m.compliant_forces([-0.09, 0.09], [0.0, 0.0]).values()
    np.testing.assert_allclose(force, [-1e3 * 0.02, 0, 0], atol=1e-9)  # two springs of 2 kN/m in series


def test_messages():
    b = kp.Builder("bad").link("box", mass=1.0, inertia=[1, 1, 1]).joint("free", "free", "ground", "box")
    b.contact("one", "box", box=[1, 1, 1], stiffness=1e4).contact("step", "ground", box=[1, 1, 1])
    with pytest.raises(kp.DescriptionError) as refused:
        kp.build(b)
    assert str(refused.value) == (
        "contact 'one' and 'step': compliant contact of box and box is not computed; leave out their stiffness, or use "
        "point, sphere, capsule, box on a plane, or two spheres"
    )
    with pytest.raises(kp.DescriptionError, match="stiffness is -1; give a number above zero"):
        kp.Builder("bad").contact("one", "ground", sphere=1.0, stiffness=-1)
    with pytest.raises(kp.DescriptionError, match=r"exponent is 2; give 1 \(linear\) or 1.5 \(Hertz\)"):
        kp.Builder("bad").contact("one", "ground", sphere=1.0, exponent=2)
