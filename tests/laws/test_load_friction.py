"""Friction from load against closed forms, and the laws it obeys at every state."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from endings import ended
from load_friction_family import CLOSED, mechanism

PULL, MASS = 12.0, 2.0


@cache
def drawer(mu: float, off: float, length: float = 0.3) -> kp.Mechanism:
    """On guides along x, pulled at a handle that is `off` its middle; nothing else loads it."""
    b = kp.Builder("drawer", gravity=(0, 0, 0))
    b.link("drawer", mass=MASS, inertia=(0.02, 0.05, 0.06)).frame("handle", "drawer", xyz=(0.2, off, 0))
    law = {"law": "guide", "mu": mu, "length": length, "width": 0.4}
    b.joint("slide", "prismatic", "ground", "drawer", axis="x", friction=law)
    return kp.build(b).reference


def pulled(m: kp.Mechanism, rate: float) -> float:
    external = {"handle": np.array([0, 0, 0, PULL, 0, 0])}
    return float(m.forward_dynamics([0.0], [rate], [0.0], external=external)[0])


@pytest.mark.parametrize("part", [0.0, 0.3, 0.999, 1.0 - 1e-9])
@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_a_drawer_pulled_off_its_middle_by_less_than_its_limit_moves(part, rate):
    """N = 2 P a/L, so ẍ = P (1 − 2μa/L)/m."""
    off, length = 0.25, 0.3
    mu = part * length / (2 * off)
    m = drawer(mu, off) if mu else drawer(1e-300, off)
    assert pulled(m, rate) == pytest.approx(PULL / MASS * (1 - part), abs=1e-9)


@pytest.mark.parametrize("beyond", [1.0, 1.0 + 1e-9, 1.5, 4.0])
def test_a_drawer_pulled_off_its_middle_by_more_stays(beyond):
    off, length = 0.25, 0.3
    assert pulled(drawer(beyond * length / (2 * off), off), 0.0) == pytest.approx(0.0, abs=1e-9)
    assert pulled(drawer(beyond * length / (2 * off), off), 0.1) == pytest.approx(
        PULL / MASS * (1 - beyond), abs=1e-7
    )


LOAD, RADIUS, LEAD = 20.0, 0.01, 0.0008


@cache
def screw(mu: float, lead: float = LEAD) -> kp.Mechanism:
    """A screw that rises in its nut under a load."""
    b = kp.Builder("screw").link("screw", mass=LOAD, inertia=(0.1, 0.1, 0.002))
    law = {"law": "thread", "mu": mu, "radius": RADIUS}
    b.joint("nut", "helical", "ground", "screw", axis="z", pitch=lead, friction=law)
    return kp.build(b).reference


@pytest.mark.parametrize("mu", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("way", [1.0, -1.0])
def test_efficiency_of_a_screw(mu, way):
    """Torque W r tan(λ ± ρ), by inverse dynamics and by forward dynamics without acceleration."""
    m, weight = screw(mu), LOAD * 9.81
    angle, rho = np.arctan(LEAD / RADIUS), np.arctan(mu)
    torque = weight * RADIUS * np.tan(angle + way * rho)
    assert m.inverse_dynamics([0.3], [way], [0.0]) == pytest.approx([torque], rel=1e-12)
    assert m.forward_dynamics([0.3], [way], [torque]) == pytest.approx([0.0], abs=1e-9)
    up = LEAD * weight / (weight * RADIUS * np.tan(angle + rho))
    assert up == pytest.approx(np.tan(angle) / np.tan(angle + rho), rel=1e-12)


@pytest.mark.parametrize(("part", "turns"), [(1.0 + 1e-9, False), (1.0 - 1e-9, True), (0.5, True)])
def test_a_screw_locks_itself_from_the_angle_of_friction_on(part, turns):
    m = screw(part * LEAD / RADIUS)
    qdd = float(m.forward_dynamics([0.0], [0.0], [0.0])[0])
    assert (qdd < -1e-12) == turns
    assert turns or abs(qdd) < 1e-12


@cache
def hoist(mu: float) -> kp.Mechanism:
    """A drum behind a gear, with a load on a rope as a torque."""
    b = kp.Builder("hoist", gravity=(0, 0, 0)).link("drum", mass=3, inertia=(0.02, 0.02, 0.04))
    law = {"law": "gear", "mu": mu}
    b.joint("gear", "revolute", "ground", "drum", axis="z", friction=law, rotor_inertia=1e-4, gear_ratio=30)
    return kp.build(b).reference


@pytest.mark.parametrize("mu", [0.05, 0.4])
def test_efficiency_of_a_gear_in_both_directions(mu):
    """1/(1 + μ) where the motor drives, 1 − μ where the load does; at constant speed."""
    m, load = hoist(mu), {"drum": np.array([0, 0, -7.0, 0, 0, 0])}
    raising = m.inverse_dynamics([0.1], [2.0], [0.0], external=load)
    lowering = m.inverse_dynamics([0.1], [-2.0], [0.0], external=load)
    assert 7.0 / raising == pytest.approx([1 / (1 + mu)], rel=1e-12)
    assert lowering / 7.0 == pytest.approx([1 - mu], rel=1e-12)
    for rate, tau in ((2.0, raising), (-2.0, lowering)):
        assert m.forward_dynamics([0.1], [rate], tau, external=load) == pytest.approx([0.0], abs=1e-9)


@cache
def wheel(mu: float, **law: float) -> kp.Mechanism:
    """A wheel on a level shaft: the bearing carries its weight alone."""
    b = kp.Builder("wheel").link("wheel", mass=5.0, inertia=(0.02, 0.02, 0.04))
    own = {"law": "bearing", "mu": mu, "radius": 0.015, "thrust_radius": 0.02, "length": 0.1, **law}
    b.joint("shaft", "revolute", "ground", "wheel", axis="x", friction=own)
    return kp.build(b).reference


def test_a_loaded_bearing_resists_by_its_weight():
    torque = 0.12 * 0.015 * 5.0 * 9.81
    assert wheel(0.12).forward_dynamics([0.0], [3.0], [0.0]) == pytest.approx([-torque / 0.02], rel=1e-12)
    assert wheel(0.12).forward_dynamics([0.0], [0.0], [0.999999 * torque]) == pytest.approx([0], abs=1e-12)
    begins = wheel(0.12).forward_dynamics([0.0], [0.0], [1.1 * torque])
    assert begins == pytest.approx([0.1 * torque / 0.02], rel=1e-9)


def test_static_friction_from_load_holds_more_than_it_resists():
    m, unit = wheel(0.1, mu_static=0.15), 0.015 * 5.0 * 9.81
    assert m.forward_dynamics([0.0], [0.0], [0.149 * unit]) == pytest.approx([0.0], abs=1e-12)
    assert m.forward_dynamics([0.0], [0.0], [0.151 * unit]) == pytest.approx([0.051 * unit / 0.02], rel=1e-9)


RUN_DOWN = 3.0 * 0.02 / (0.12 * 0.015 * 5.0 * 9.81)  # [s] until the wheel has stopped


@pytest.mark.parametrize("integrator", ["dop853", "rk4"])
def test_a_loaded_bearing_runs_down_and_stays(integrator):
    """ω falls at a constant rate; the angle is ½ ω t."""
    step = {"dt": 2e-3} if integrator == "rk4" else {}
    run = kp.simulate(compiled_wheel(), [0.0], [3.0], duration=1.0, integrator=integrator, **step)
    assert run.qd[-1, 0] == 0.0
    assert run.q[-1, 0] == pytest.approx(1.5 * RUN_DOWN, rel=1e-9)
    assert [(x.name, x.time) for x in run.events] == [("shaft sticks", pytest.approx(RUN_DOWN, rel=1e-9))]
    assert run.balance.relative < 1e-8
    assert run.balance.loss == pytest.approx(0.5 * 0.02 * 3.0**2, rel=1e-9)


@cache
def compiled_wheel() -> kp.Mechanism:
    return kp.build(wheel(0.12).model.description)


def test_a_drawer_sticks_and_slides_under_a_pull_that_comes_and_goes():
    """Breakaway where 2 μ_s a/L of the pull is no longer more than the pull: at once, or never; energy closes."""
    m = kp.example("drawer")
    pull = {"middle": lambda t, q, qd: [0, 0, 0, 5 * np.sin(8 * t), 0, 0]}
    side = {"right": lambda t, q, qd: [0, 0, 0, 5 * np.sin(8 * t), 0, 0]}
    free = kp.simulate(m, [0.1], [0.0], duration=0.7, external=pull)
    rubbed = kp.simulate(m, [0.1], [0.0], duration=0.7, external=side)
    assert rubbed.friction["slide"].heat == pytest.approx(rubbed.loss, rel=1e-12)
    assert free.balance.loss == pytest.approx(0.0, abs=1e-15)
    assert rubbed.balance.loss > 1e-3
    assert rubbed.balance.relative < 1e-8
    jammed = kp.simulate(
        m, [0.1], [0.0], duration=0.7, external=side,
        parameters={"slide.friction.mu": 0.61, "slide.friction.mu_static": 0.61},
    )  # fmt: skip
    assert jammed.q[-1, 0] == 0.1
    assert jammed.qd[-1, 0] == 0.0


def test_an_arm_in_bearings_is_held_by_them_and_moves_when_pushed():
    """A wrist in bearings carries its hand as long as friction is enough, without any motion."""
    m = kp.example("bearing-arm")
    q = np.array([0.3, 0.4, -0.2, 0.1, -1.5, 0.2])
    tau = m.gravity_forces(q)
    held = ended(m, q, np.zeros(6), duration=0.5, torque=lambda t, q, qd: 0.99 * tau)
    assert np.abs(held.qd).max() == 0.0
    pushed = ended(m, q, np.zeros(6), duration=0.3, torque=lambda t, q, qd: 0.5 * tau)
    assert np.abs(pushed.qd[-1]).max() > 0.1
    assert pushed.balance.relative < 1e-8
    heat = [x.heat for x in pushed.friction.values()]
    assert sum(heat) == pytest.approx(pushed.loss, abs=1e-8 * pushed.loss[-1])  # nothing else is lost
    assert (np.diff(heat) >= -1e-12).all()
    assert list(pushed.losses) == [f"{name}.friction" for name in m.v_names]


STATE = (
    np.array([0.4, 0.1, -0.7, 0.05]),
    np.array([1.2, -0.3, 2.0, 0.4]),
    np.array([0.5, 35, 0.2, -1]),
)


def test_derivatives_with_friction_from_load():
    """By the chain rule on the compiled equations, by complex steps, and by differences of forward dynamics."""
    m = kp.example("cylindrical-arm")
    q, qd, tau = STATE
    exact, stepped = (x.forward_dynamics_derivatives(q, qd, tau) for x in (m, m.reference))
    for a, b in zip(exact, stepped, strict=True):
        assert a == pytest.approx(b, abs=1e-10)
    h = 1e-5
    for n in range(3):
        columns = []
        for unit in np.eye(4):
            ends = [
                m.forward_dynamics(*(x + s * h * unit * (k == n) for k, x in enumerate(STATE)))
                for s in (1, -1)
            ]
            columns.append((ends[0] - ends[1]) / (2 * h))
        assert np.abs(np.array(columns).T - exact[n]).max() < 1e-8 * np.abs(exact[n]).max()
    efforts = m.inverse_dynamics_derivatives(q, qd, m.forward_dynamics(q, qd, tau))
    again = m.reference.inverse_dynamics_derivatives(q, qd, m.forward_dynamics(q, qd, tau))
    for a, b in zip(efforts, again, strict=True):
        assert a == pytest.approx(b, abs=1e-10)


def test_forward_dynamics_of_the_efforts_of_a_motion_is_that_motion():
    """Joints that slide, that leave rest and that stay at rest, of an arm."""
    m, rng = kp.example("bearing-arm"), np.random.default_rng(1)
    for _ in range(4):
        q, moves = rng.uniform(-1.0, 1.0, 6), rng.random(6) > 0.4
        qd = rng.normal(size=6) * moves
        qdd = rng.normal(size=6) * (moves | (rng.random(6) > 0.5))
        assert m.forward_dynamics(q, qd, m.inverse_dynamics(q, qd, qdd)) == pytest.approx(qdd, abs=1e-10)


@pytest.mark.parametrize("motion", [(1.0, -2.0), (0.0, 1.5), (0.0, -200.0), (0.0, 0.0)])
def test_the_same_of_a_loop(motion):
    rate, acceleration = motion
    m = mechanism("four-bar", 0).reference
    q = m.assemble(CLOSED["four-bar"].guess)
    qd = m.velocities(q, {"a": rate})
    qdd = m.accelerations(q, qd, {"a": acceleration})
    tau = m.inverse_dynamics(q, qd, qdd, actuators=["a"])
    assert m.forward_dynamics(q, qd, tau) == pytest.approx(qdd, abs=1e-9)


def test_a_motion_that_begins_too_gently_is_held():
    """Inverse dynamics has the friction of sliding; where that at rest is more, it takes a push to begin."""
    m = kp.example("drawer")
    pull = {"right": np.array([0, 0, 0, 20.0, 0, 0])}
    for acceleration, expected in ((1e-3, 0.0), (0.5, 0.5)):
        tau = m.inverse_dynamics([0.1], [0.0], [acceleration], external=pull)
        found = m.forward_dynamics([0.1], [0.0], tau, external=pull)
        assert found == pytest.approx([expected], abs=1e-12)


def test_few_sweeps_and_more_and_those_from_loads_nearby_agree():
    """Of 10 000 states two are not met by the few sweeps of a batch; both are met by more of them."""
    m, near = kp.example("bearing-arm"), kp.example("bearing-arm").kernel("forward_dynamics_near")
    q, qd, tau = np.random.default_rng(0).normal(size=(3, 10_000, m.nv))
    _, soundness = m.kernel("forward_dynamics")(q, qd, tau)
    unmet = soundness[:, 2] != 1.0
    assert 0 < unmet.sum() < 10
    some = unmet | (np.arange(len(q)) < 300)
    q, qd, tau = q[some], qd[some], tau[some]
    qdd, loads = m.forward_dynamics(q, qd, tau), np.full((len(q), 6), 100.0)
    closer = m.inverse_dynamics(q, qd, qdd) - tau
    assert np.abs(closer).max() < 1e-10 * (1.0 + np.abs(qdd).max())
    for _ in range(8):
        again, loads, found = near(q, qd, tau, loads)
    assert found.all()
    size = np.maximum(1.0, np.abs(qdd).max(1, keepdims=True))
    assert (np.abs(again - qdd) / size).max() < 1e-9


def test_friction_without_coefficient_is_none():
    """μ = 0: nothing rubs, and no solve divides by what does."""
    b = kp.Builder("arm").link("link", mass=1.0, com=(0.2, 0, 0.1), inertia=(0.01, 0.02, 0.02))
    law = {"law": "bearing", "mu": 0.0, "radius": 0.02, "thrust_radius": 0.02, "length": 0.1}
    m = kp.build(b.joint("a", "revolute", "ground", "link", axis="y", friction=law))
    for own in (m, m.reference):
        assert own.forward_dynamics([0.3], [1.0], [0.2]) == pytest.approx(
            own.forward_dynamics([0.3], [1.0], [0.2], passive=False), rel=1e-14
        )
