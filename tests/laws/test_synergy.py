"""Free coordinates obey rows without actuator; what the ground gives is the rate of momentum less weight."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair import motion
from kinpair.formulations import kinematics
from kinpair.motion.collocation import Collocation, lobatto, mesh_of, multipliers
from kinpair.motion.pieces import Straight, retimed
from kinpair.motion.polygon import hull, margin
from walking import BALANCE, GIVEN, SOLE, compensated

STEP = 1e-200


def double_pendulum_cart() -> kp.Mechanism:
    """A driven cart with a double pendulum that nothing drives."""
    return kp.build(
        kp.Builder("cart")
        .link("cart", mass=1.0)
        .link("upper", mass=0.8, com=[0, 0, -0.3], inertia=[0.02, 0.02, 0.001])
        .link("lower", mass=0.5, com=[0, 0, -0.2], inertia=[0.01, 0.01, 0.001])
        .joint("slide", "prismatic", "ground", "cart", axis="x")
        .joint("upper", "revolute", "cart", "upper", axis="y", damping=0.4)
        .joint("lower", "revolute", "upper", "lower", xyz=[0, 0, -0.6], axis="y", damping=0.2)
    )


CART = double_pendulum_cart()
SHAKEN = {"slide": motion.fourier(0.0, [0.1, 0.02], [0.0, 0.03], 1.3)}


TURN = 2 * np.pi / 1.3
SHAKING = f"0.1*cos({TURN}*t) + 0.02*cos({2 * TURN}*t) + 0.03*sin({2 * TURN}*t)"


@pytest.mark.parametrize("m", zoo.random_trees(seed=40, sizes=(3, 7)), ids=lambda m: m.name)
def test_resultant_is_the_rate_of_momentum_less_weight(m):
    x = zoo.motion(m)
    q, qd, qdd = x.q, x.qd, x.qdd
    along = q + 1j * STEP * kinematics.dq_dt(m.model, q, qd), qd + 1j * STEP * qdd
    rate = np.imag(kinematics.momentum(m.model, *along)) / STEP
    weight = m.mass * np.asarray(m.model.gravity)
    needed = rate - np.concatenate([np.cross(m.centre_of_mass(q), weight), weight])
    w = m.resultant(q, qd, qdd, passive=False)
    np.testing.assert_allclose(w, needed, rtol=0, atol=1e-11 * max(1.0, np.abs(needed).max()))


def test_collocation_and_shooting_agree():
    roads = [motion.synergy(CART, SHAKEN, ["upper", "lower"], method=x) for x in ("collocation", "shooting")]
    roads.append(motion.synergy(CART, SHAKEN, ["upper", "lower"], method="initial", intervals=12))
    time = np.linspace(0.0, 1.3, 101)
    for other in roads[1:]:
        for a, b in zip(roads[0].at(time)[:2], other.at(time)[:2], strict=True):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-9)
        np.testing.assert_allclose(other.multipliers, roads[0].multipliers, rtol=1e-8, atol=1e-12)
    assert roads[0].repeats < 1e-11
    assert (np.abs(roads[0].multipliers) < 1.0).all()  # damped: so forward integration settles


def test_free_joints_need_no_effort_and_a_run_goes_the_same_way():
    s = motion.synergy(CART, SHAKEN, ["upper", "lower"])
    x = motion.nominal(CART, s.motion, samples=201)
    assert np.abs(x.effort[:, 1:]).max() < 1e-8 * np.abs(x.effort[:, 0]).max()
    driven = CART.with_constraints(kp.constraint.drive("shake", "slide", SHAKING))
    start = s.at(0.0)
    run = kp.simulate(driven, start.q, start.qd, duration=1.3, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(run.q[-1], start.q, rtol=0, atol=1e-7)


def test_multipliers_of_the_variational_equations_are_those_of_collocation():
    s = compensated()
    knots = np.array(s.free.knots)
    solver = Collocation(s.rows, mesh_of(s.rows, s.given, knots), np.ones(1))
    x = s.free.at(knots)
    at = solver.terms(np.concatenate([x.q, x.qd], axis=1), s.free.at(solver.mesh.nodes).qdd)
    Phi, _ = solver.transfer(*solver.eliminated(at))
    np.testing.assert_allclose(multipliers(Phi, np.ones(2)), s.multipliers, rtol=1e-9)


def first_half(of: motion.Trajectory) -> motion.Trajectory:
    half = of.duration / 2
    return retimed(of, Straight(half, (), (0.0, half), np.zeros(1), np.full(1, half)))


def test_half_a_period_with_its_symmetry_is_half_of_the_whole():
    s = compensated()
    given = {name: first_half(x) for name, x in GIVEN.items()}
    half = motion.synergy(s.mechanism, given, ["trunk"], BALANCE, symmetry={"trunk": -1})
    time = np.linspace(0.0, 0.5, 41)
    np.testing.assert_allclose(half.at(time).q, s.at(time).q, rtol=0, atol=1e-10)
    np.testing.assert_allclose(half.multipliers**2, s.multipliers, rtol=1e-9)


def test_shared_coordinates_move_together():
    """Arms that swing against each other take the moment about the vertical that a turning body asks for."""
    b = kp.Builder("arms").link("body", mass=5.0, inertia=[1, 1, 0.4])
    b = b.joint("turn", "revolute", "ground", "body", axis="z")
    for side, y in (("left", 0.3), ("right", -0.3)):
        b = b.link(side, mass=2.0, com=[0, 0, -0.3], inertia=[0.1, 0.1, 0.01])
        b = b.joint(side, "revolute", "body", side, xyz=[0, y, 0.5], axis="y")
    m = kp.build(b)
    given = {"turn": first_half(motion.fourier(0.0, [0.0], [0.1], 1.1))}
    s = motion.synergy(m, given, [{"left": 1, "right": -1}], [motion.moment("z")], symmetry=[-1])
    time = np.linspace(0.0, 0.55, 31)
    x = s.at(time)
    np.testing.assert_array_equal(x.q[:, 1], -x.q[:, 2])
    assert np.abs(x.q[:, 1]).max() > 0.05
    turning = np.abs(m.resultant(*s.given.at(time)[:3])[:, 2]).max()
    assert np.abs(m.resultant(*x[:3])[:, 2]).max() < 1e-9 * turning


FEET = {"ground": SOLE, "hip": SOLE}


@pytest.mark.parametrize(
    "shares",
    [
        {"loads": [[0.3, 0.7]]},
        {"loads": [[1.0, 1.0]], "stiffness": {"ground": [3, 2, 1, 4, 5, 6], "hip": [1, 2, 3, 6, 5, 4]}},
        {"loads": [[1.0, 0.0]]},
    ],
)
def test_feet_together_give_the_resultant(shares):
    s = compensated()
    x = s.at(0.1)
    S = motion.support(s.mechanism, *x[:3], FEET, **shares)
    w, at = S.wrenches["hip"][0], s.mechanism.pose(x.q, "hip").position
    total = S.wrenches["ground"][0] + np.concatenate([w[:3] + np.cross(at, w[3:]), w[3:]])
    np.testing.assert_allclose(total, S.resultant[0], rtol=0, atol=1e-9)
    if shares == {"loads": [[1.0, 0.0]]}:
        assert not w.any()


def test_loads_in_proportion_to_the_distances_need_no_moments():
    """The zero-moment point a third of the way between two points: pure forces there, in the ratio 2 to 1."""
    s = compensated()
    x = s.at(0.1)
    points = {"ground": [[-0.05, 0.0, 0.0]], "hip": [[0.1, 0.0, 0.0]]}
    S = motion.support(s.mechanism, *x[:3], FEET, loads=[[2 / 3, 1 / 3]], points=points)
    np.testing.assert_allclose(S.zmp[0], 0.0, atol=1e-10)
    np.testing.assert_allclose(S.wrenches["ground"][0, 3:], 2 / 3 * S.resultant[0, 3:], rtol=1e-9)
    for name in FEET:
        np.testing.assert_allclose(S.centres[name], points[name], atol=1e-10)


def test_margin_is_the_distance_to_the_border():
    s = compensated()
    S = motion.support(s.mechanism, *s.at(0.1)[:3], {"ground": SOLE})
    assert S.margin[0] == pytest.approx(0.05)
    assert S.feasible
    tilted = motion.support(
        s.mechanism, *s.at(0.1)[:3], {"ground": SOLE}, ground=motion.Ground(friction=0.001)
    )
    assert not tilted.feasible


def test_polygons():
    square = hull(np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.5, 0.0]]))
    assert len(square) == 4
    assert margin(square, np.array([0.5, 0.4])) == pytest.approx(0.4)
    assert margin(square, np.array([2.0, 2.0])) == pytest.approx(-np.sqrt(2))
    assert margin(hull(np.array([[0.0, 0.0], [1.0, 0.0]])), np.array([0.5, 0.0])) == 0.0


def test_integrals_of_collocation_are_exact_for_polynomials():
    x, a, a2, powers = lobatto()
    for n in range(len(x)):
        np.testing.assert_allclose(a @ x**n, x ** (n + 1) / (n + 1), atol=1e-14)
        np.testing.assert_allclose(a2 @ x**n, x ** (n + 2) / ((n + 1) * (n + 2)), atol=1e-14)
        np.testing.assert_allclose(powers @ x**n, np.eye(len(x))[n], atol=1e-11)
