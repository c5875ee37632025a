"""A linear model is what small changes of a motion do: of the motion itself, of outputs, of forces."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.formulations import kinematics
from kinpair.spatial.rotation import quaternion_product

SMALL = 1e-5  # central differences leave its square
DIFFERENCE = 1e-7


def compiled(m: kp.Mechanism) -> kp.Mechanism:
    return kp.Mechanism(m.model)


def state(name: str) -> tuple[kp.Mechanism, np.ndarray, np.ndarray]:
    """A mechanism and a motion of it."""
    if name == "floating tree":
        m = compiled(zoo.tree(31, 3, kinds=("revolute", "spherical"), floating=True))
        s = zoo.motion(m, 2)
        return m, s.q, s.qd
    m = kp.example(name)
    if name == "space-robot":  # its momentum is what a motion starts with
        return m, m.start(), np.array([0.1, -0.1, -0.1])
    q, inputs = STATES[name]
    at = m.by_name(q=q)[0] if q else m.start()
    return m, at, m.by_name(q=at, qd=inputs)[1]


STATES = {
    "double-pendulum": ({"shoulder": 0.7, "elbow": -0.4}, {"shoulder": 1.0, "elbow": 2.0}),
    "four-bar": ({"crank": 0.4}, {"crank": 5.0}),
    "rolling-disk": ({}, {"disk.wx": 0.2, "disk.wy": 6.0, "disk.wz": 0.5}),
    "diff-drive": ({"fork": 0.3}, {"left-wheel": 3.0, "right-wheel": 2.0}),
    "bicycle": ({}, {"rear": 12.0, "base.wx": 0.1, "steer": -0.2}),
}
EVERY = [*STATES, "space-robot", "floating tree"]


def displaced(m: kp.Mechanism, q: np.ndarray, model: kp.LinearModel, k: int, step: float) -> np.ndarray:
    """q after a step of independent coordinate k, the others of them held."""
    moved = kinematics.moved(m.model, q, step * model.displacements[:, k])
    names = [m.v_names[n] for n in model.at.coordinates]
    there = kinematics.normalised(m.model, moved)
    return m.assemble(there, fixed=names) if m.closure else there


def rates_at(m: kp.Mechanism, q: np.ndarray, model: kp.LinearModel, eta: np.ndarray) -> np.ndarray:
    """All rates from the independent ones."""
    given = {m.v_names[n]: x for n, x in zip(model.at.rates, eta, strict=True)}
    if m.closure is None:
        return eta.copy()
    if m.name == "space-robot":  # the momentum keeps the value that it has
        L = m.momentum(model.at.q, model.at.qd)[2]
        A, at = m.momentum(q, np.eye(3))[:, 2], list(model.at.rates)
        (other,) = set(range(3)) - set(at)
        qd = np.zeros(3)
        qd[at] = eta
        qd[other] = (L - A[at] @ eta) / A[other]
        return qd
    return m.velocities(q, given)


@pytest.mark.parametrize("name", EVERY)
def test_accelerations_change_as_the_matrix_says(name):
    """The rows of the rates: differences of q̈ at states that obey the constraints. Axes are those of the bodies."""
    m, q, qd = state(name)
    model = kp.linearise(m, q, qd, axes={})
    nq, I = len(model.at.coordinates), list(model.at.rates)
    eta, still = qd[I], np.zeros(m.nv)

    def accelerations(k: int, step: float) -> np.ndarray:
        at = displaced(m, q, model, k, step) if k < nq else q
        rates = eta + step * np.eye(len(I))[k - nq] if k >= nq else eta
        return m.forward_dynamics(at, rates_at(m, at, model, rates), still)[I]

    columns = [
        (accelerations(k, SMALL) - accelerations(k, -SMALL)) / (2 * SMALL) for k in range(len(model.states))
    ]
    assert zoo.relative_error(model.A[nq:], np.array(columns).T) < DIFFERENCE


def apart(m: kp.Mechanism, q: np.ndarray, other: np.ndarray) -> np.ndarray:
    """The displacement (nv,) from q to another position nearby, along the rates."""
    found = np.zeros(m.nv)
    for i in m.model.moving:
        span, pair = m.model.q_span[i], m.model.body[i].pair
        a, b = q[span], other[span]
        if pair.nq == pair.nv:
            found[m.model.v_span[i]] = b - a
            continue
        inverse = a[-4:] * [-1, -1, -1, 1]
        turn = 2 * quaternion_product(inverse, b[-4:])
        shift = pair.rotation(a).T @ (b[:3] - a[:3]) if pair.nq == 7 else []
        found[m.model.v_span[i]] = [*(turn[:3] * np.sign(turn[3])), *shift]
    return found


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar", "bicycle", "floating tree"])
def test_small_changes_along_a_motion_follow_the_model(name):
    """ẋ = A(t) x along the motion, against two motions that start on either side of it."""
    m, q, qd = state(name)
    steps, duration = 40, 0.1
    how = {"duration": duration, "rtol": 1e-13, "atol": 1e-13, "output": duration / (2 * steps)}
    run = kp.simulate(m, q, qd, **how)
    along = kp.linearise(m, run.q, run.qd)
    nq, h = len(along.at.coordinates), duration / steps
    x = np.cos(1.0 + np.arange(len(along.states)))
    first = along[0]

    def started(sign: float) -> kp.Result:
        at = q
        for k in range(nq):
            at = displaced(m, at, kp.linearise(m, at, axes={}, independent=names), k, sign * SMALL * x[k])
        rates = rates_at(m, at, first, qd[list(first.at.rates)] + sign * SMALL * x[nq:])
        return kp.simulate(m, at, rates, **how)

    names = [m.v_names[n] for n in first.at.rates]
    ahead, behind = started(1.0), started(-1.0)

    def change(k: int) -> np.ndarray:
        both = [apart(m, run.q[k], other.q[k])[list(first.at.coordinates)] for other in (ahead, behind)]
        rates = (ahead.qd[k] - behind.qd[k])[list(first.at.rates)]
        return np.concatenate([both[0] - both[1], rates]) / (2 * SMALL)

    x = change(0)
    for k in range(steps):
        A0, A1, A2 = along.A[2 * k : 2 * k + 3]
        k1 = A0 @ x
        k2 = A1 @ (x + h / 2 * k1)
        k3 = A1 @ (x + h / 2 * k2)
        x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + A2 @ (x + h * k3))
    assert zoo.relative_error(x, change(2 * steps)) < 1e-6  # steps of fourth order


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk", "floating tree"])
def test_outputs_change_as_the_matrices_say(name):
    """Frames, energies and functions, against differences; velocities and accelerations too."""
    m, q, qd = state(name)
    frame = m.frames[-1]
    wanted = [f"{frame}.{x}" for x in ("x", "y", "z", "vx", "wz")]
    quantities = ["energy", "momentum", f"qdd.{m.v_names[-1]}"]

    def spread(time, q, qd):
        return [q[0] * qd[0] + time, np.sin(qd[1])]

    model = kp.linearise(m, q, qd, outputs=[*wanted, *quantities, spread], axes={}, disturbances=[frame])
    nq, I, eta, still = (
        len(model.at.coordinates),
        list(model.at.rates),
        qd[list(model.at.rates)],
        np.zeros(m.nv),
    )

    def look(k: int, step: float) -> np.ndarray:
        at = displaced(m, q, model, k, step) if k < nq else q
        rates = rates_at(m, at, model, eta + step * np.eye(len(I))[k - nq] if k >= nq else eta)
        twist = m.jacobian(at, frame) @ rates
        qdd = m.forward_dynamics(at, rates, still)
        parts = [m.pose(at, frame).position, twist[[3, 2]], m.energy(at, rates), m.momentum(at, rates)]
        return np.concatenate([*parts, qdd[-1:], spread(0.0, at, rates)])

    columns = [(look(k, SMALL) - look(k, -SMALL)) / (2 * SMALL) for k in range(len(model.states))]
    assert zoo.relative_error(model.C, np.array(columns).T) < DIFFERENCE
    assert model.outputs[:5] == tuple(wanted)
    wrench = np.array([0.1, -0.3, 0.2, 1.0, 2.0, -1.5])
    pushed = m.forward_dynamics(q, qd, still, external={frame: wrench}) - m.forward_dynamics(q, qd, still)
    assert zoo.relative_error(model.E[nq:] @ wrench, pushed[I]) < 1e-9
    assert zoo.relative_error(model.F[-3] @ wrench, pushed[-1]) < 1e-9


@pytest.mark.parametrize("name", ["four-bar", "rolling-disk", "double-pendulum"])
def test_compiled_models_are_those_of_the_reference(name):
    m, q, qd = state(name)
    tau = np.linspace(-0.1, 0.2, m.nv)
    found, expected = (kp.linearise(x, q, qd, u=tau) for x in (m, m.reference))
    assert found.states == expected.states
    assert zoo.relative_error(found.A, expected.A) < 1e-9
    assert zoo.relative_error(found.B, expected.B) < 1e-9


def test_models_along_a_motion_are_those_about_its_states():
    m, q, qd = state("four-bar")
    q = np.array([m.assemble([x, 2.2, 2.2], fixed=["crank"]) for x in (0.4, 0.6, 0.9)])
    qd = np.array([m.velocities(x, {"crank": 5.0}) for x in q])
    along = kp.linearise(m, q, qd, u={"crank": 0.3}, outputs="output.x")
    assert len(along) == 3
    for k in range(3):
        one = kp.linearise(m, q[k], qd[k], u={"crank": 0.3}, outputs="output.x")
        assert along[k].states == one.states
        for part in ("A", "B", "C", "D"):
            assert zoo.relative_error(getattr(along[k], part), getattr(one, part)) < 1e-12


def test_springs_and_dampers_take_part():
    """A crane's rope and a damped joint: stiffness and damping come from the derivatives of the forces."""
    b = kp.Builder("slide")
    b.link("mass", mass=2.0)
    b.joint("rail", "prismatic", "ground", "mass", axis="x", damping=0.6, stiffness=8.0, rest=0.1)
    (mode,) = kp.linearise(kp.build(b), [0.1]).modes
    assert mode.frequency == pytest.approx(2.0)
    assert mode.damping == pytest.approx(0.6 / (2 * 2.0 * 2.0))
    assert mode.eigenvalue == pytest.approx(-0.15 + 1j * np.sqrt(4 - 0.15**2))


def test_friction_while_sliding_is_a_constant_force():
    b = kp.Builder("slide")
    b.link("mass", mass=2.0)
    b.joint("rail", "prismatic", "ground", "mass", axis="x", friction=0.5)
    m = kp.build(b)
    assert not kp.linearise(m, [0.0], [1.0]).A[1].any()
    at_rest = kp.linearise(m, [0.0])
    assert at_rest.sticking == ("rail",)
    assert not at_rest.A[1].any()
    assert not at_rest.B.any()
