"""Motions in time: known solutions, orders of the methods, energy, and roads that must meet."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipj, ellipk

import kinpair as kp
import zoo
from endings import ended
from kinpair.simulation.methods.integrators import INTEGRATORS

TIGHT = {"rtol": 1e-12, "atol": 1e-12}
EXACT = 1e-9  # demanded of known solutions
OURS = [name for name, method in INTEGRATORS.items() if not method.external]
FIXED = [name for name in OURS if name != "dop853"]


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.fixture(scope="module")
def floating() -> kp.Mechanism:
    return kp.example("floating-arm")


# known solutions


def test_pendulum_swings_by_elliptic_functions():
    length, start = 0.7, 2.5
    bob = (
        kp.Builder("pendulum")
        .link("bob", mass=2.0, com=[0, 0, -length])
        .joint("pin", "revolute", "ground", "bob", axis="y")
    )
    run = kp.simulate(kp.build(bob), [start], [0.0], duration=10.0, output=0.1, **TIGHT)
    m = np.sin(start / 2) ** 2
    sn = ellipj(ellipk(m) - np.sqrt(9.81 / length) * run.time, m)[0]
    expected = 2 * np.arcsin(np.sqrt(m) * sn)
    assert np.abs(run.q[:, 0] - expected).max() < EXACT


def body(inertia, com=(0, 0, 0), gravity=(0, 0, 0)) -> kp.Mechanism:
    link = kp.Builder("body", gravity=gravity).link("body", mass=1.5, com=com, inertia=inertia)
    return kp.build(link.joint("ball", "spherical", "ground", "body"))


def test_free_rigid_body_turns_by_elliptic_functions():
    """Euler's equations: ω = (A cn, B sn, C dn) of p t for I₁ < I₂ < I₃."""
    I1, I2, I3, A, C = 0.2, 0.3, 0.45, 0.8, 1.7
    p = C * np.sqrt((I3 - I2) * (I3 - I1) / (I1 * I2))
    B = (I3 - I1) * C * A / (p * I2)
    m = (I2 - I1) * A * B / (C * p * I3)
    assert 0 < m < 1
    top = body((I1, I2, I3, 0, 0, 0))
    run = kp.simulate(top, [0, 0, 0, 1.0], [A, 0, C], duration=20.0, output=0.25, **TIGHT)
    sn, cn, dn, _ = ellipj(p * run.time, m)
    assert np.abs(run.qd - np.stack([A * cn, B * sn, C * dn], axis=1)).max() < EXACT
    momentum = top.momentum(run.q, run.qd)[:, :3]
    assert np.abs(momentum - momentum[0]).max() < EXACT
    assert np.abs(np.linalg.norm(run.q, axis=1) - 1).max() < 1e-14


def test_heavy_top_precesses_steadily():
    """I₁ Ω² cos θ − I₃ ω₃ Ω + m g l = 0 keeps the axis at θ and carries it round at Ω."""
    lean, l, mass, I1, I3, spin = 0.5, 0.2, 1.5, 0.04, 0.02, 90.0
    around_joint = I1 + mass * l * l
    roots = np.roots([around_joint * np.cos(lean), -I3 * spin, mass * 9.81 * l])
    assert np.isreal(roots).all()
    rate = float(min(roots.real))
    top = body((I1, I1, I3, 0, 0, 0), com=(0, 0, l), gravity=(0, 0, -9.81))
    q = [0, np.sin(lean / 2), 0, np.cos(lean / 2)]  # the axis leans towards x
    about_z = spin - rate * np.cos(lean)
    qd = [-rate * np.sin(lean), 0, rate * np.cos(lean) + about_z]
    run = kp.simulate(top, q, qd, duration=5.0, output=0.1, rtol=1e-13, atol=1e-13)
    axis = top.pose(run.q, "body").rotation[:, :, 2]
    angle = rate * run.time
    expected = np.stack(
        [np.sin(lean) * np.cos(angle), np.sin(lean) * np.sin(angle), np.full_like(angle, np.cos(lean))], 1
    )
    assert np.abs(axis - expected).max() < EXACT


def test_mass_on_spring_and_damper_dies_away_as_it_should():
    k, c, m = 40.0, 1.5, 2.0
    slide = (
        kp.Builder("slide", gravity=(0, 0, 0))
        .link("block", mass=m)
        .joint("rail", "prismatic", "ground", "block", axis="x", stiffness=k, damping=c)
    )
    run = kp.simulate(kp.build(slide), [0.3], [0.0], duration=10.0, output=0.1, **TIGHT)
    decay = c / (2 * m)
    omega = np.sqrt(k / m - decay**2)
    expected = (
        0.3
        * np.exp(-decay * run.time)
        * (np.cos(omega * run.time) + decay / omega * np.sin(omega * run.time))
    )
    assert np.abs(run.q[:, 0] - expected).max() < EXACT
    left = 0.5 * k * run.q[-1, 0] ** 2 + 0.5 * m * run.qd[-1, 0] ** 2
    assert run.balance.loss == pytest.approx(0.5 * k * 0.3**2 - left, rel=EXACT)
    assert run.balance.error < EXACT


def test_thrown_body_keeps_its_momentum_but_for_gravity(floating):
    q, qd = floating.neutral(), np.linspace(-0.5, 0.6, floating.nv)
    run = kp.simulate(floating, q, qd, duration=4.0, output=0.5, **TIGHT)
    momentum = floating.momentum(run.q, run.qd)
    linear = momentum[:, 3:] - floating.mass * np.outer(run.time, floating.model.gravity)
    assert np.abs(linear - linear[0]).max() < 1e-8
    assert run.balance.relative < 1e-10


# orders

START = {
    "double-pendulum": (np.array([0.3, 0.2]), np.zeros(2)),
    "floating-arm": (np.array([0.1, 0.2, -0.1, 0, 0, 0, 1, 0.3, 0.5, -0.2]), np.linspace(-2.0, 2.5, 9)),
}
STEPS = {  # a second: errors from above rounding, below where higher orders rule
    "rk4": 100,
    "dopri5": 80,
    "dop853": 16,
    "semi-implicit-euler": 400,
    "implicit-midpoint": 100,
    "variational": 100,
    "generalised-alpha": 100,
    "time-stepping": 200,
}
NEXT = 0.5  # the order is the nearest whole number; the term above it still shows


def pushed(time, q, qd):
    return np.array([np.sin(3 * time), -0.4 * qd[1] + 0.1 * q[0]])


def order(mechanism: kp.Mechanism, method: str, duration: float, torque=None) -> float:
    """log₂ of the error's ratio when the step is halved."""

    def last(**options) -> np.ndarray:
        run = kp.simulate(mechanism, *START[mechanism.name], duration=duration, torque=torque, **options)
        return np.concatenate([run.q[-1], run.qd[-1]])

    exact = last(rtol=1e-14, atol=1e-14)
    coarse, fine = (
        np.abs(last(integrator=method, dt=1.0 / (n * STEPS[method])) - exact).max() for n in (1, 2)
    )
    assert fine > 2e-14  # there is an error to be measured
    return float(np.log2(coarse / fine))


def named_order(method: str, torque=None) -> int:
    """Return the order of a method: time stepping is of second order without contact and without forces of rates."""
    return 2 if method == "time-stepping" and torque is None else INTEGRATORS[method].order


@pytest.mark.parametrize("method", OURS)
@pytest.mark.parametrize("torque", [None, pushed], ids=["free", "driven"])
def test_order_of_a_method_is_that_of_its_name(arm, method, torque):
    assert order(arm, method, 2.0, torque) == pytest.approx(named_order(method, torque), abs=NEXT)


@pytest.mark.parametrize("method", [name for name in OURS if name != "variational"])
def test_order_holds_on_quaternions(floating, method):
    assert order(floating, method, 1.0) == pytest.approx(named_order(method), abs=NEXT)


# energy


def test_variational_energy_stays_in_a_band_without_drift(arm):
    """10⁵ steps; the band goes with dt², the means of both halves differ by a small part of it."""
    bands = []
    for dt in (0.02, 0.01):
        run = kp.simulate(
            arm, [0.3, 0.2], [0.0, 0.0], duration=1e5 * dt, dt=dt, integrator="variational", output=10 * dt
        )
        total = run.energy.kinetic + run.energy.potential
        halves = np.array_split(total, 2)
        bands.append(np.ptp(total))
        assert abs(halves[0].mean() - halves[1].mean()) < 0.01 * bands[-1]
        assert np.ptp(halves[1]) < 1.05 * np.ptp(halves[0])
    assert bands[0] / bands[1] == pytest.approx(4.0, rel=0.1)


@pytest.mark.parametrize("method", OURS)
def test_energy_adds_up_to_the_order_of_the_method(arm, method):
    """Drives, an applied wrench, dampers and friction of an arm with all of them."""
    built = zoo.tree(11, 3, ("revolute", "prismatic"))
    damped = kp.build(_with_damping(built.model.description))
    q, qd = np.full(3, 0.2), np.array([0.5, -0.4, 0.3])
    errors = []
    for dt in (0.004, 0.002):
        run = kp.simulate(
            damped,
            q,
            qd,
            duration=0.4,
            dt=dt,
            integrator=method,
            torque=[0.3, -0.2, 0.1],
            external={"tip 0": [0.1, 0.0, 0.2, 0.5, -0.3, 0.4]},
        )
        errors.append(run.balance.error)
        assert run.balance.work != 0
        assert run.balance.loss > 0
    assert errors[1] < max(1e-12, errors[0] * 0.75 ** min(4, INTEGRATORS[method].order))
    assert errors[1] < 0.05 * run.balance.loss


def _with_damping(description):
    from dataclasses import replace

    joints = tuple(replace(joint, damping=(0.2,)) for joint in description.joints)
    return replace(description, joints=joints)


# roads that must meet


def test_batch_of_states_parameters_and_torques_is_each_on_its_own(arm):
    rng = np.random.default_rng(5)
    n, options = 11, {"duration": 0.5, "integrator": "rk4", "dt": 0.01}
    q, qd, torque = rng.normal(size=(n, 2)), rng.normal(size=(n, 2)), rng.normal(size=(n, 2))
    mass, push = rng.uniform(0.5, 2.0, n), rng.normal(size=(n, 6))
    many = kp.simulate(
        arm,
        q,
        qd,
        torque=torque,
        parameters={"upper.mass": mass},
        external={"lower": push},
        threads=2,
        **options,
    )
    assert many.q.shape == (n, 51, 2)
    for k in range(n):
        one = kp.simulate(
            arm,
            q[k],
            qd[k],
            torque=torque[k],
            parameters={"upper.mass": mass[k]},
            external={"lower": push[k]},
            **options,
        )
        for name in ("q", "qd", "tau", "work"):
            assert zoo.relative_error(getattr(many, name)[k], getattr(one, name)) < 1e-12, name


@pytest.mark.parametrize("method", OURS)
def test_held_functions_and_every_method_in_a_batch(arm, method):
    def digital(time, q, qd):
        return np.array([np.sin(time) - q[0], -2.0 * qd[1]])

    digital.sample_time = 0.05
    rng = np.random.default_rng(9)
    q, qd = 0.3 * rng.normal(size=(9, 2)), rng.normal(size=(9, 2))
    options = {"duration": 0.5, "integrator": method, "dt": 0.01, "torque": digital}
    many = ended(arm, q, qd, **options)
    for k in range(9):
        one = ended(arm, q[k], qd[k], **options)
        assert np.abs(many.q[k] - one.q).max() < 1e-12
        assert np.abs(many.tau[k] - one.tau).max() < 1e-11


def test_torque_histories_in_a_batch(arm):
    times = np.linspace(0, 1, 21)
    rows = np.random.default_rng(2).normal(size=(5, 21, 2))
    options = {"duration": 1.0, "integrator": "rk4", "dt": 0.01}
    many = kp.simulate(arm, [0.1, 0.2], [0.0, 0.0], torque=(times, rows), **options)
    for k in range(5):
        one = kp.simulate(arm, [0.1, 0.2], [0.0, 0.0], torque=(times, rows[k]), **options)
        assert np.abs(many.q[k] - one.q).max() < 1e-12
        expected = np.stack([np.interp(one.time, times, rows[k][:, i]) for i in range(2)], axis=1)
        assert np.abs(one.tau - expected).max() < 1e-12


@pytest.mark.parametrize("method", ["rk4", "dopri5", "dop853", "semi-implicit-euler"])
def test_recorded_and_called_torques_are_the_same(arm, method):
    def called(time, q, qd):
        return pushed(time, q, qd)

    called.traceable = False
    options = {"duration": 0.5, "integrator": method} | ({"dt": 0.01} if method in FIXED else {})
    recorded, request_of = (
        kp.simulate(arm, [0.1, 0.2], [0.0, 1.0], torque=f, **options) for f in (pushed, called)
    )
    assert np.abs(recorded.q - request_of.q).max() < 1e-9
    assert np.abs(recorded.tau - request_of.tau).max() < 1e-8


class Sampled:
    """A controller with a memory: it may be asked at its own times only."""

    sample_time = 0.02

    def __init__(self) -> None:
        self.request_of: list[float] = []
        self.sum = 0.0

    def __call__(self, time, q, qd):
        self.request_of.append(time)
        self.sum += q[0]
        return np.array([-5.0 * q[0] - 0.1 * self.sum, -2.0 * q[1]])


@pytest.mark.parametrize("options", [{"integrator": "rk4", "dt": 0.005}, {"rtol": 1e-11, "atol": 1e-11}])
def test_controller_is_asked_at_its_sample_times(arm, options):
    controller = Sampled()
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.4, torque=controller, output=0.005, **options)
    assert controller.request_of == pytest.approx(0.02 * np.arange(21), abs=1e-12)
    again = Sampled()
    other = kp.simulate(
        arm, [0.3, 0.2], [0.0, 0.0], duration=0.4, torque=again, output=0.005, rtol=1e-12, atol=1e-12
    )
    assert np.abs(run.q - other.q).max() < 1e-7
    assert np.abs(run.tau - other.tau).max() < 1e-6


def test_adaptive_and_fixed_steps_meet(floating):
    q, qd = START[floating.name]
    adaptive = kp.simulate(floating, q, qd, duration=1.0, output=0.1, **TIGHT)
    fixed = kp.simulate(floating, q, qd, duration=1.0, output=0.1, integrator="rk4", dt=1e-3)
    assert np.abs(adaptive.q - fixed.q).max() < 1e-9
    again = kp.simulate(floating, adaptive.q[5], adaptive.qd[5], duration=0.5, time=0.5, output=0.1, **TIGHT)
    assert np.abs(again.q - adaptive.q[5:]).max() < 1e-9
    assert again.time == pytest.approx(adaptive.time[5:])


def test_reactions_and_accelerations_are_those_of_the_states(arm):
    push = {"lower": lambda time, q, qd: np.array([0, 0, 0, np.sin(time), 0, q[0]])}
    run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.5, output=0.1, torque=[0.1, 0.0], external=push)
    for k, time in enumerate(run.time):
        wrench = {"lower": np.array([0, 0, 0, np.sin(time), 0, run.q[k, 0]])}
        qdd = arm.forward_dynamics(run.q[k], run.qd[k], run.tau[k], external=wrench)
        assert np.abs(run.qdd[k] - qdd).max() < 1e-11
        for name, w in arm.reactions(run.q[k], run.qd[k], qdd, external=wrench).items():
            assert np.abs(run.reactions[name][k] - w).max() < 1e-10


def test_free_fall_of_the_planar_arm():
    """E1 (Shah & Saha): nine decimals are printed; the motion is sensitive, 2e-10 between tolerances."""
    run = kp.simulate(
        kp.example("planar-3r"),
        np.zeros(3),
        np.zeros(3),
        duration=3.0,
        output=[1.0, 3.0],
        rtol=1e-13,
        atol=1e-13,
    )
    at_1 = (-2.254069438, -1.101286931, -0.167747284, 4.839476221, 2.852131912, -18.977059587)
    at_3 = (-0.853981342, 0.237917852, 0.824508310, 10.255214550, -14.837898094, 7.126855389)
    result = np.concatenate([run.q, run.qd], axis=1)
    assert result[0] == pytest.approx(at_1, abs=1e-8, rel=0)
    assert result[1] == pytest.approx(at_3, abs=1e-8, rel=0)
    assert run.balance.error < 1e-11
