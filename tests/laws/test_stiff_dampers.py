"""Dampers that settle faster than a step: what is stable, what is warned of, and what the energy is."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinpair as kp
from kinpair.simulation.methods.integrators import INTEGRATORS
from kinpair.simulation.stiffness import fastest_damper, stable_step

MASS, RATE = 2.0, 0.7


def slider(damping: float, friction: float = 0.0) -> kp.Mechanism:
    builder = kp.Builder("slider").link("block", mass=MASS)
    keys = {"axis": "x", "damping": damping} | ({"friction": friction} if friction else {})
    return kp.build(builder.joint("slide", "prismatic", "ground", "block", **keys))


def arm(damping: tuple[float, float] = (0.5, 4.0)) -> kp.Mechanism:
    """Two hinges with dry friction; the second moves little inertia."""
    builder = kp.Builder("arm")
    for k, (mass, c) in enumerate(zip((2.0, 0.05), damping, strict=True)):
        builder.link(f"link{k}", mass=mass, com=[0.1, 0.0, 0.0], inertia=[1e-2 * mass] * 3)
        builder.joint(
            f"hinge{k}",
            "revolute",
            "ground" if k == 0 else "link0",
            f"link{k}",
            axis="y",
            xyz=[0.3 * k, 0.0, 0.0],
            damping=c,
            friction=0.05,
        )
    return kp.build(builder)


@pytest.mark.parametrize("ratio", [0.01, 1.0, 50.0])
def test_a_damper_acts_with_the_rate_at_the_end_of_a_step(ratio: float) -> None:
    """v⁺ = v⁻/(1 + h c/m), and kinetic energy and loss add up to the energy at the start."""
    dt = 1e-3
    stepper = kp.stepper(slider(ratio * MASS / dt), dt=dt, integrator="time-stepping")
    stepper.reset([0.0], [RATE])
    for n in range(1, 6):
        _, qd = stepper.step()
        assert qd[0] == pytest.approx(RATE / (1.0 + ratio) ** n, rel=1e-13)
        assert 0.5 * MASS * qd[0] ** 2 + stepper.loss == pytest.approx(0.5 * MASS * RATE**2, rel=1e-13)


def test_time_stepping_with_dampers_is_of_first_order() -> None:
    errors = []
    for steps in (100, 200):
        stepper = kp.stepper(slider(6.0), dt=1.0 / steps, integrator="time-stepping")
        stepper.reset([0.0], [RATE])
        stepper.step(steps=steps)
        errors.append(abs(stepper.qd[0] - RATE * np.exp(-3.0)))
    assert errors[0] / errors[1] == pytest.approx(2.0, rel=0.05)


def test_stiff_arms_with_dry_friction_follow_the_motion_of_short_steps() -> None:
    """A batch at forty times the stable step of rk4, and rk4 in steps that are stable."""
    m, rng = arm(), np.random.default_rng(5)
    q, tau = rng.uniform(-1.0, 1.0, (6, 2)), rng.uniform(-2.0, 2.0, (6, 2))
    fastest, joint = fastest_damper(m.model, m.start(), 0.0)
    assert joint == "hinge1"
    dt = 40.0 * stable_step(INTEGRATORS["rk4"]) / fastest
    with pytest.warns(kp.RunWarning, match="damper of joint 'hinge1' .* 'time-stepping' is used"):
        batch = kp.stepper(m, dt=dt, batch=6)
    batch.reset(q, np.zeros(2))
    for _ in range(round(0.2 / dt)):
        batch.step(tau)
    assert not batch.failed.any()
    run = kp.simulate(m, q, np.zeros((6, 2)), duration=batch.time, torque=tau, integrator="rk4", dt=dt / 64)
    assert np.abs(batch.q - run.q[:, -1]).max() < 3.0 * dt
    alone = kp.stepper(m, dt=dt, integrator="time-stepping")
    alone.reset(q[3], np.zeros(2))
    for _ in range(round(0.2 / dt)):
        alone.step(tau[3])
    assert np.abs(alone.q - batch.q[3]).max() < 1e-12


def test_the_largest_stable_step_is_where_the_stability_polynomial_leaves_the_unit_disc() -> None:
    """R(−x) = 1 − x + x²/2 − x³/6 + x⁴/24 = 1 of rk4."""
    roots = np.roots([1 / 24, -1 / 6, 1 / 2, -1.0])
    real = roots[np.abs(roots.imag) < 1e-12].real
    assert stable_step(INTEGRATORS["rk4"]) == pytest.approx(real.max(), abs=0.011)
    assert stable_step(INTEGRATORS["semi-implicit-euler"]) == 2.0
    assert stable_step(INTEGRATORS["generalised-alpha"]) == np.inf


def test_the_fastest_damper_is_the_largest_eigenvalue_and_that_of_the_free_rates_in_loops() -> None:
    m = arm()
    H = m.mass_matrix(m.start())
    values = np.linalg.eigvals(np.linalg.solve(H, np.diag(m.model.joints.damping)))
    assert fastest_damper(m.model, m.start(), 0.0)[0] == pytest.approx(values.real.max(), rel=1e-12)


def test_unstable_steps_of_a_given_integrator_are_warned_of() -> None:
    m = slider(2e4)
    with pytest.warns(kp.RunWarning, match=r"joint 'slide' .* dt is 0.001 s. Give a smaller dt"):
        kp.stepper(m, dt=1e-3, integrator="rk4")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.stepper(m, dt=1e-4, integrator="rk4")
        kp.stepper(m, dt=1e-3, integrator="rk4", passive=False)
        kp.stepper(m, dt=1e-3, integrator="time-stepping")


def test_a_stiff_damper_chooses_a_stiff_method() -> None:
    """A block falls at F/c after m/c; a soft damper, equal steps and a method that is given change nothing."""
    c, force = 1e7, 3.0
    run = kp.simulate(slider(c), [0.0], [0.0], duration=1.0, torque=[force])
    assert run.integrator == "cvode"
    assert "'slide' settles within 2e-07 s" in run.summary
    late = run.time > 1e-3
    np.testing.assert_allclose(run.qd[late, 0], force / c, rtol=1e-3, atol=1e-9)
    np.testing.assert_allclose(run.q[-1], force / c, atol=1e-8)
    assert kp.simulate(slider(1.0), [0.0], [0.0], duration=1.0).integrator == "dop853"
    given = kp.simulate(slider(c), [0.0], [0.0], duration=1e-4, integrator="dop853")
    assert given.integrator == "dop853"
    assert "was chosen" not in given.summary


def test_a_winding_without_delay_is_the_limit_of_a_fast_one() -> None:
    """The motor whose current takes 1e-8 s, by the method that is chosen, and the motor with R i = U - k w."""

    def motor(inductance: float) -> kp.Mechanism:
        builder = kp.Builder("motor").link("arm", mass=1.0, inertia=(0.1, 0.1, 0.1))
        builder.joint("hinge", "revolute", "ground", "arm", axis="z")
        numbers = {"resistance": 1.0, "torque_constant": 0.4}
        numbers |= {"inductance": inductance} if inductance else {}
        return kp.build(builder.actuator("motor", "hinge", "dc-motor", **numbers).description())

    runs = [kp.simulate(motor(x), [0.0], [0.0], duration=0.5, input=[5.0]) for x in (1e-8, 0.0)]
    assert [run.integrator for run in runs] == ["cvode", "dop853"]
    for of in ("q", "qd"):
        np.testing.assert_allclose(getattr(runs[0], of), getattr(runs[1], of), atol=2e-6)
