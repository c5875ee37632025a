"""Laws of time stepping with friction from load: closed forms, agreement with events as dt → 0, energy."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinpair as kp
from load_friction_family import CLOSED, mechanism

G = 9.81
GUIDE = {"law": "guide", "mu": 0.2, "length": 0.5, "width": 0.3}


def stepped(m, q, qd, dt, **options):
    options = {"duration": 0.4, "output": 0.1, "integrator": "time-stepping", **options}
    return kp.simulate(m, q, qd, dt=dt, **options)


def off(result, reference):
    return max(np.abs(result.q[-1] - reference.q[-1]).max(), np.abs(result.qd[-1] - reference.qd[-1]).max())


def slide(slope, mu=0.2):
    """A body in a guide along x, with gravity turned by `slope` [rad]."""
    b = kp.Builder("slide", gravity=[G * np.sin(slope), 0, -G * np.cos(slope)])
    b.link("a", mass=1.0, inertia=[0.1] * 3)
    return kp.build(b.joint("x", "prismatic", "ground", "a", axis="x", friction={**GUIDE, "mu": mu}))


def test_a_guide_on_an_incline_holds_below_its_angle_and_slides_above_it_by_its_own_law():
    mu, dt = 0.2, 1e-2
    below = stepped(slide(0.99 * np.arctan(mu)), [0.0], [0.0], dt, duration=2.0)
    assert np.abs(below.q).max() <= 1e-12
    slope = 2 * np.arctan(mu)
    above = stepped(slide(slope), [0.0], [0.0], dt)
    a = G * (np.sin(slope) - mu * np.cos(slope))
    assert_allclose(above.q[:, 0], 0.5 * a * above.time**2, atol=1e-12)


def test_a_body_in_a_guide_stops_with_an_error_of_second_order():
    v, mu, errors = 1.0, 0.2, []
    for dt in (3.7e-3, 3.7e-4):
        errors.append(
            abs(
                stepped(slide(0.0), [0.0], [v], dt, duration=0.74, output=0.74).q[-1, 0]
                - v * v / (2 * mu * G)
            )
        )
    assert errors[0] <= mu * G * 3.7e-3**2
    assert errors[1] <= mu * G * 3.7e-4**2


@pytest.mark.parametrize("name", ["cylindrical-arm", "lead-screw", "servo"])
def test_steps_agree_with_events_to_first_order(name):
    m = kp.example(name)
    q, qd = m.start(), np.random.default_rng(3).normal(size=m.nv) * 0.5
    reference = kp.simulate(m, q, qd, duration=0.4, rtol=1e-10, atol=1e-10)
    coarse, fine = (off(stepped(m, q, qd, dt), reference) for dt in (4e-3, 5e-4))
    assert fine < coarse / 4
    assert fine < 0.2 * 5e-4


def test_bearings_of_a_loop_agree_with_events_to_first_order():
    m = mechanism("four-bar", 0)
    q = m.assemble(CLOSED["four-bar"].guess)
    qd = m.velocities(q, guess=np.ones(m.nv))
    reference = kp.simulate(m, q, qd, duration=0.3, rtol=1e-10, atol=1e-10)
    coarse, fine = (off(stepped(m, q, qd, dt, duration=0.3), reference) for dt in (4e-3, 5e-4))
    assert fine < coarse / 4
    assert fine < 2e-4


def cart(mu, foot_mu, height, length):
    """A carriage in a guide, with a leg whose foot the floor carries: its friction loads the guide by a moment."""
    b = (
        kp.Builder("cart")
        .link("carriage", mass=0.5, inertia=[0.1] * 3)
        .link("leg", mass=2.0, inertia=[0.1] * 3)
    )
    own = {"law": "guide", "mu": mu, "length": length, "width": 0.3}
    b.joint("x", "prismatic", "ground", "carriage", axis="x", friction=own)
    b.joint("z", "prismatic", "carriage", "leg", axis="z")
    b.contact("floor", "ground", plane=True, xyz=[0, 0, -height], mu=foot_mu)
    return kp.build(b.contact("foot", "leg", point=True, xyz=[0, 0, -height]))


def test_friction_of_a_foot_loads_a_guide_and_the_floor_relieves_it():
    mu, foot_mu, height, length, v = 0.2, 0.4, 0.6, 0.5, 1.0
    m = cart(mu, foot_mu, height, length)
    foot = foot_mu * 2.0 * G  # the floor carries the leg
    guide = mu * max(0.5 * G, 2 * height * foot / length)
    result = stepped(m, [0.0, 0.0], [v, 0.0], 1e-3)
    assert_allclose(result.q[-1, 0], v * v / (2 * (foot + guide) / 2.5), atol=(foot + guide) / 2.5 * 1e-6)
    assert result.balance.relative < 1e-12


def test_an_impact_at_a_limit_has_the_friction_impulse_of_its_bearing():
    """The impact loads the bearing; events and steps come to the same rates after it."""
    b = kp.Builder("ram", gravity=[0, 0, 0]).link("arm", mass=1.0, com=[0.3, 0, 0], inertia=[0.01] * 3)
    bearing = {"law": "bearing", "mu": 0.3, "radius": 0.05, "thrust_radius": 0.0, "length": 0.1}
    b.joint("turn", "revolute", "ground", "arm", axis="y", upper=0.3, friction=bearing)
    m, limits = kp.build(b), kp.Limits("bounce", restitution=0.5)
    options = {"duration": 0.2, "limits": limits}
    reference = kp.simulate(m, [0.0], [3.0], rtol=1e-10, atol=1e-10, **options)
    assert reference.qd[-1, 0] < 0.0
    errors = [off(stepped(m, [0.0], [3.0], dt, **options), reference) for dt in (1e-3, 1e-4)]
    assert errors[1] < errors[0] / 4
    assert errors[1] < 2e-3


def test_energy_is_never_created():
    """Masses and weights that do not change with the position: the energy of a step is exact."""
    b, previous = kp.Builder("gantry"), "ground"
    for axis, com in zip("xyz", ((0.1, 0.2, -0.1), (-0.2, 0.1, 0.3), (0.1, -0.1, 0.2)), strict=True):
        b.link(f"l{axis}", mass=1.0, com=com, inertia=[0.02, 0.03, 0.04])
        b.joint(axis, "prismatic", previous, f"l{axis}", axis=axis, xyz=(0.1, 0.05, -0.1), friction=GUIDE)
        previous = f"l{axis}"
    m, rng, dt, count = kp.build(b), np.random.default_rng(3), 1e-2, 200
    tau = 10.0 * rng.normal(size=(count, 3))
    qd = rng.normal(size=(count, 3)) * rng.choice([0.1, 1.0, 3.0], (count, 1))
    result = stepped(m, np.zeros((count, 3)), qd, dt, torque=tau, duration=0.5, output=dt)
    energy = result.energy.kinetic + result.energy.potential - np.einsum("btk,bk->bt", result.q, tau)
    assert np.diff(energy, axis=1).max() <= 1e-12 * np.abs(energy).max()


def test_a_stepper_and_a_batch_take_the_steps_of_a_run():
    m, dt = kp.example("cylindrical-arm"), 1e-3
    q, qd = m.start(), np.array([0.4, -0.3, 0.5, 0.2])
    run = stepped(m, q, qd, dt, duration=20 * dt, output=20 * dt)
    batch = stepped(m, np.array([q, q]), np.array([qd, 2 * qd]), dt, duration=20 * dt, output=20 * dt)
    s = kp.stepper(m, dt, integrator="time-stepping")
    s.reset(q, qd)
    s.step(steps=20)
    assert_allclose(batch.q[0, -1], run.q[-1], atol=1e-14)
    assert_allclose(s.q, run.q[-1], atol=1e-14)


def test_derivatives_of_a_step_name_the_surface():
    s = kp.stepper(kp.example("drawer"), 1e-3, integrator="time-stepping")
    with pytest.raises(kp.InputError, match="derivatives of a step do not take friction from load, which"):
        s.derivatives()
