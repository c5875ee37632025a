"""Every number of every law of friction from load as a parameter, and with a coefficient that falls with the speed."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

GRIP = {"mu": 0.11, "mu_static": 0.17, "stribeck_speed": 0.4, "exponent": 1.3, "preload": 3.0}
SIZE = {"radius": 0.03, "length": 0.2, "thrust_radius": 0.02}
SERVO = {
    "level": 0.1, "level_static": 0.2, "stribeck_speed": 0.3, "exponent": 1.3, "motor_share": 0.05, "load_share": 0.07,
    "motor_share_static": 0.02, "load_share_static": 0.03, "motor_square": 0.01, "load_square": 0.02,
}  # fmt: skip
LAWS = {
    "bearing revolute": {**GRIP, **SIZE, "viscous": 0.05},
    "bearing universal": {**GRIP, **SIZE},
    "bearing cylindrical": {**GRIP, "radius": 0.03, "length": 0.2},
    "bearing spherical": {**GRIP, "radius": 0.03},
    "guide prismatic": {**GRIP, "length": 0.2, "width": 0.15},
    "thread helical": {**GRIP, "radius": 0.03},
    "gear revolute": GRIP,
    "gear prismatic": {"efficiency": 0.6, "efficiency_back": 0.4},
    "servo revolute": SERVO,
}
AXES = {"helical": {"pitch": 0.01, "axis": "x"}, "universal": {"axis": "x", "axis2": "y"}, "spherical": {}}


def arm(case: str, numbers: dict[str, float]) -> kp.Mechanism:
    """Two links; the law is in the first joint."""
    law, kind = case.split()
    b = kp.Builder(case).link("a", mass=1.5, com=(0.1, 0.05, 0.2), inertia=(0.02, 0.03, 0.04))
    b.joint("j", kind, "ground", "a", friction={"law": law, **numbers}, **AXES.get(kind, {"axis": "x"}))
    b.link("b", mass=0.7, com=(0.1, 0.2, 0), inertia=(0.01, 0.01, 0.01))
    return kp.build(b.joint("k", "revolute", "a", "b", axis="y", xyz=(0, 0.3, 0.1)))


@pytest.mark.parametrize("case", LAWS)
def test_all_numbers_of_a_law_are_parameters(case):
    """A kernel with other numbers is that of the arm which is built with them; its inverse dynamics, too."""
    m, own = arm(case, LAWS[case]), {f"j.friction.{key}": x for key, x in LAWS[case].items()}
    assert {name for name in m.parameter_names if ".friction." in name} == set(own)
    values = {name: x * (1.1 + 0.04 * n) for n, (name, x) in enumerate(own.items())}
    other = arm(case, {name.rpartition(".")[2]: x for name, x in values.items()}).reference
    rng = np.random.default_rng(0)
    q, qd, tau = m.model.neutral(), rng.normal(size=m.nv), rng.normal(size=m.nv)
    expected = other.forward_dynamics(q, qd, tau)
    kernels = [m.kernel(x, parameters=tuple(own)) for x in ("forward_dynamics", "inverse_dynamics")]
    forward, inverse = (
        kernel.interpret(q, qd, x, *map(np.array, values.values()))
        for kernel, x in zip(kernels, (tau, expected), strict=True)
    )
    assert forward[0] == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert inverse == pytest.approx(tau, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("case", ["bearing revolute", "thread helical", "servo revolute"])
def test_a_coefficient_that_falls_is_differentiated(case):
    """By complex steps, against differences."""
    m, h = arm(case, LAWS[case]).reference, 1e-4
    q, qd, tau = np.array([0.2, -0.3]), np.array([0.3, 0.5]), np.array([0.4, 0.6])
    exact = m.forward_dynamics_derivatives(q, qd, tau)

    def slope(f, unit):
        one, two = (f(k * h * unit) - f(-k * h * unit) for k in (1, 2))
        return (8.0 * one - two) / (12.0 * h)

    roads = (
        lambda x: m.forward_dynamics(q + x, qd, tau),
        lambda x: m.forward_dynamics(q, qd + x, tau),
        lambda x: m.forward_dynamics(q, qd, tau + x),
    )
    for found, road in zip(exact, roads, strict=True):
        expected = np.array([slope(road, unit) for unit in np.eye(2)]).T
        assert np.abs(found - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())


def test_motions_of_a_batch_have_coefficients_of_their_own():
    """As the arms that are built with them."""
    numbers = {"mu": 0.1, "radius": 0.03, "length": 0.2}
    case, q, qd = "bearing cylindrical", np.zeros((2, 3)), np.array([[1.0, -0.4, 0.3]] * 2)
    run = {"duration": 0.1, "integrator": "rk4", "dt": 1e-3}
    m = arm(case, numbers)
    own = {"j.friction.mu": np.array([0.1, 0.2]), "j.friction.radius": np.array([0.03, 0.02])}
    both = kp.simulate(m, q, qd, **run, parameters=own)
    alone = kp.simulate(m, q[0], qd[0], **run, parameters={"j.friction.mu": 0.2, "j.friction.radius": 0.02})
    assert both.q[1] == pytest.approx(alone.q, abs=1e-14)
    stepper = kp.stepper(m, dt=1e-3, batch=2, parameters=own)
    stepper.reset(q, qd)
    for _ in range(100):
        last = stepper.step()
    assert last[0] == pytest.approx(both.q[:, -1], abs=1e-14)
