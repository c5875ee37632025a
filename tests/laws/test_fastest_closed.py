"""Laws of the fastest motions of closed mechanisms and of quaternions: no limit exceeded, one reached at all times."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import make_interp_spline
from scipy.optimize import brentq, linprog

import kinpair as kp
from kinpair.spatial.rotation import about

ARMS = ("arm1", "arm2", "arm3")
TORQUE = 12.0  # of each arm of the delta robot [N m]
LINE = (0.2, 0.1, -0.1)  # of its platform [m]
FROM, TO, LIMIT = 0.4, 2.0, 14.0  # crank of the four-bar [rad], [N m]


def fraction(m: kp.Mechanism, move: kp.motion.Trajectory, limit: np.ndarray, actuators: object) -> np.ndarray:
    """The largest effort over its limit at times between the knots (n,)."""
    knots = np.array(move.knots)
    time = (knots[:-1, None] + np.diff(knots)[:, None] * np.array([0.1, 0.5, 0.9])).ravel()
    x = move.at(time)
    tau = m.inverse_dynamics(x.q, x.qd, x.qdd, actuators=actuators)
    return (np.abs(tau) / limit).max(axis=1)


def only(m: kp.Mechanism, names: tuple[str, ...], limit: float) -> np.ndarray:
    """Limits of some rates (nv,)."""
    return np.array([limit if name in names else np.inf for name in m.v_names])


def test_a_four_bar_takes_the_time_of_its_energy():
    """dE/dφ = ±M − dV/dφ with E = I φ̇²/2: speeding up, then slowing down; I and V from energies of the loop."""
    m = kp.example("four-bar")
    move = kp.motion.fastest(
        m,
        {"crank": kp.motion.polynomial(FROM, TO, duration=1.0)},
        effort=only(m, ("crank",), LIMIT),
        actuators=["crank"],
        start=m.assemble({"crank": FROM}, fixed=["crank"]),
    )
    assert fraction(m, move, only(m, ("crank",), LIMIT), ["crank"]).max() < 1.0 + 1e-5
    q = [m.assemble({"crank": FROM}, fixed=["crank"])]
    angles = np.linspace(FROM, TO, 101)
    for angle in angles[1:]:
        guess = q[-1].copy()
        guess[m.q_names.index("crank")] = angle
        q.append(m.assemble(guess, fixed=["crank"]))
    unit = [m.velocities(x, {"crank": 1.0}) for x in q]
    energies = [m.energy(*x) for x in zip(q, unit, strict=True)]
    I = make_interp_spline(angles, [2.0 * x.kinetic for x in energies], k=5)
    V = make_interp_spline(angles, [x.potential for x in energies], k=5)

    def rising(x):
        return LIMIT * (x - FROM) - (V(x) - V(FROM))

    def slowing(x):
        return LIMIT * (TO - x) + (V(TO) - V(x))

    switch = brentq(lambda x: rising(x) - slowing(x), FROM + 1e-6, TO - 1e-6)
    exact = quad(
        lambda u: 2 * u * np.sqrt(I(FROM + u * u) / (2 * rising(FROM + u * u))), 0, np.sqrt(switch - FROM)
    )[0]
    exact += quad(
        lambda u: 2 * u * np.sqrt(I(TO - u * u) / (2 * slowing(TO - u * u))), 0, np.sqrt(TO - switch)
    )[0]
    assert move.duration == pytest.approx(exact, rel=2e-6)


@pytest.mark.parametrize("axis", [(0.0, 0.0, 1.0), (0.6, 0.0, 0.8)])
def test_a_body_on_a_ball_joint_takes_the_time_of_a_double_integrator(axis):
    """J α = τ about a fixed axis; the component along the largest entry of the axis is limited."""
    b = kp.Builder("ball").link("body", mass=1.0, inertia=(0.3, 0.3, 0.3))
    m = kp.build(b.joint("ball", "spherical", "ground", "body"))
    n, angle, limit = np.array(axis), 1.3, 2.0
    path = kp.motion.line((np.eye(3), np.zeros(3)), (about(n, angle), np.zeros(3)), duration=1.0)
    move = kp.motion.fastest(m, {"body": path}, parts={"body": "rotation"}, effort=limit)
    assert move.duration == pytest.approx(2.0 * np.sqrt(angle * 0.3 * n.max() / limit), rel=1e-6)
    x = move.at(np.linspace(0.0, move.duration, 21))
    assert np.abs(np.cross(x.qd, n)).max() < 1e-9
    assert np.abs(np.linalg.norm(x.q, axis=1) - 1.0).max() < 1e-12
    np.testing.assert_allclose(x.q[-1], [*(np.sin(angle / 2) * n), np.cos(angle / 2)], atol=1e-9)


@cache
def delta() -> tuple[kp.Mechanism, kp.motion.Trajectory]:
    """A delta robot that carries its platform along a line: loops and a quaternion."""
    m = kp.example("delta")
    start = m.pose(m.start(), "platform")
    line = kp.motion.line(start, (start.rotation, start.position + LINE), duration=1.0)
    limits = {"effort": only(m, ARMS, TORQUE), "actuators": ARMS, "nodes": 200}
    return m, kp.motion.fastest(m, {"platform": line}, parts={"platform": "position"}, **limits)


def test_the_arms_of_a_delta_robot_reach_a_limit_at_all_times_and_exceed_none():
    m, move = delta()
    share = fraction(m, move, only(m, ARMS, TORQUE), ARMS)
    assert share.max() < 1.0 + 1e-4
    assert np.quantile(share, 0.02) > 0.99  # but for the nodes at which the arms change over
    nominal = kp.motion.nominal(m, move, actuators=ARMS, samples=101)
    assert np.abs(nominal.effort[:, :6]).max() < 1e-12
    hand = m.pose(nominal.q, "platform").position - m.pose(m.start(), "platform").position
    assert np.abs(np.cross(hand, LINE)).max() < 1e-9


def along_the_line(m: kp.Mechanism, s: np.ndarray) -> np.ndarray:
    """Coordinates (n, nq) at parts s (n,) of the line."""
    places = m.pose(m.start(), "platform").position + s[:, None] * np.array(LINE)
    return m.inverse_kinematics(np.tile(m.start(), (len(s), 1)), "platform", places)


def efforts_of_the_line(m: kp.Mechanism, s: np.ndarray) -> list[np.ndarray]:
    """a, b and c (n, 3) of τ = a s̈ + b ṡ² + c of the arms, from coordinates by differences."""
    h = 1e-3
    q = [along_the_line(m, s + k * h) for k in (-2, -1, 0, 1, 2)]
    weights = np.array([1, -8, 0, 8, -1]) / (12 * h), np.array([-1, 16, -30, 16, -1]) / (12 * h * h)
    slope, bend = (
        np.tensordot(w, q, 1)[:, [3, 4, 5, 0, 1, 2, 7, 8, 9]] for w in weights
    )  # the platform stays level
    qd = m.velocities(q[2], guess=slope)
    qdd, still = m.accelerations(q[2], qd, guess=bend), np.zeros_like(qd)
    a, b, c = (
        m.inverse_dynamics(q[2], *x, actuators=ARMS)[:, 6:] for x in ((still, qd), (qd, qdd), (still, still))
    )
    return [a - c, b - c, c]


@pytest.mark.long(reason="three hundred linear programs")
def test_a_delta_robot_takes_the_time_of_linear_programs_from_node_to_node():
    """The largest rates from which the end can be reached, backward; then as fast as can be, forward."""
    m, move = delta()
    s = np.linspace(0.0, 1.0, 301)
    a, b, c = efforts_of_the_line(m, s)
    step = s[1]

    def farthest(k: int, objective: tuple[float, float], bound: float, x: float | None = None) -> np.ndarray:
        """(s̈, ṡ²) at node k within the limits, from which the next node has ṡ² between 0 and the bound."""
        rows = np.stack([a[k], b[k]], axis=1)
        ahead = np.array([[2.0 * step, 1.0]])
        A = np.concatenate([rows, -rows, ahead, -ahead])
        right = np.concatenate([TORQUE - c[k], TORQUE + c[k], [bound, 0.0]])
        found = linprog(objective, A, right, bounds=[(None, None), (0, None) if x is None else (x, x)])
        assert found.success
        return found.x

    reach = np.zeros(len(s))
    for k in reversed(range(len(s) - 1)):
        reach[k] = farthest(k, (0.0, -1.0), reach[k + 1])[1]
    square = np.zeros(len(s))
    for k in range(len(s) - 1):
        square[k + 1] = square[k] + 2.0 * step * farthest(k, (-1.0, 0.0), reach[k + 1], square[k])[0]
    root = np.sqrt(np.maximum(square, 0.0))
    assert move.duration == pytest.approx((2.0 * step / (root[1:] + root[:-1])).sum(), rel=1e-3)
