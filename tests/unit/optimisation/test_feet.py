"""Feet that stand, compared with closed forms: friction or the edge of its sole limits a cart on a foot."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.optimisation import standing

approx = pytest.approx
HEIGHT, WAY, HALF, CART, FOOT = 0.3, 0.3, 0.2, 2.0, 1.0
MESH = {"intervals": 12, "accuracy": None}  # the switch in the middle is a node
OUTLINE = [(-HALF, -0.1), (HALF, -0.1), (HALF, 0.1), (-HALF, 0.1)]


def cart(*, held):
    """A mass that slides HEIGHT above a foot, which is a part of the ground, or free and held by a loop."""
    b = kp.Builder("cart on a foot")
    b.link("foot", mass=FOOT, inertia=[0.01] * 3)
    b.link("cart", mass=CART, inertia=[0.01] * 3)
    b.joint("base", "free" if held else "fixed", "ground", "foot")
    b.joint("slide", "prismatic", "foot", "cart", axis="x", xyz=[0, 0, HEIGHT])
    b.frame("sole", "foot")
    if held:
        b.loop("hold", "fixed", "ground", "foot")
    return kp.build(b)


def fastest(*, held=False, **options):
    m = cart(held=held)
    path = standing({"sole": OUTLINE}, **options, **({"loops": {"sole": "hold"}} if held else {}))
    start, end = m.start(), m.start()
    start[-1], end[-1] = -WAY / 2, WAY / 2
    return kp.optimise(m, start=start, end=end, cost="time", actuators=["slide"], path=path, **MESH)


@pytest.mark.parametrize("held", [False, True])
def test_friction_of_the_foot_limits_the_acceleration(held):
    """cart · |ẍ| ≤ μ · weight: 2 √(way · cart / (μ · weight))."""
    x, weight = fastest(friction=0.1, held=held), 9.81 * (CART + FOOT * held)
    assert x.duration == approx(2 * np.sqrt(WAY * CART / (0.1 * weight)), rel=1e-4)
    assert {y.name for y in x.active} == {"friction of sole"}
    assert x.error <= 1e-4


def test_the_foot_tilts_about_its_edge():
    """x − ẍ h/g ≥ −l: x + l = (l − way/2) cosh(t √(g/h)) up to the middle."""
    x, edge = fastest(friction=5.0, margin=0.01), HALF - 0.01
    least = 2 * np.sqrt(HEIGHT / 9.81) * np.arccosh(edge / (edge - WAY / 2))
    assert x.duration == approx(least, rel=1e-4)
    zmp = x.values(lambda p: -p.resultant("sole")[1] / p.resultant("sole")[5])
    assert np.abs(zmp).max() == approx(edge, rel=1e-4)
    assert {y.name for y in x.active} == {"centre of pressure of sole"}


def test_a_loop_carries_what_the_ground_gives():
    """The wrench by multipliers, at any place, is the resultant of all that moves."""
    x = fastest(friction=0.1, held=True)
    for place in ("sole", ("cart", (0.1, 0.2, 0.3)), (0.3, -0.2, 0.5)):
        by_loop = x.values(lambda p, at=place: p.wrench("hold", at))
        by_motion = x.values(lambda p, at=place: p.resultant(at))
        assert by_loop[1:] == approx(by_motion[1:], abs=1e-6)


def test_distance_between_frames_points_and_places():
    m = kp.example("double-pendulum")
    tip, wall = ("lower", (0.0, 0.0, -1.0)), (0.4, 0.0, 0.2)
    x = kp.optimise(
        m,
        start=[0.0, 0.0],
        end=[1.2, 0.0],
        duration=1.0,
        intervals=10,
        path={"away from the wall": (0.35, lambda p: p.distance(tip, wall), None)},
        accuracy=None,
    )
    away = x.values(lambda p: p.distance(tip, wall))
    by_pose = [
        np.linalg.norm(m.pose(q, "lower").position + m.pose(q, "lower").rotation @ tip[1] - wall)
        for q in x.states[:, :2]
    ]
    assert away == approx(np.array(by_pose), abs=1e-12)
    assert away.min() == approx(0.35, abs=1e-6) or away.min() > 0.35
    assert x.values(lambda p: p.distance("lower", "lower")).max() == 0.0


def test_wrong_feet_are_named():
    with pytest.raises(kp.InputError, match="2 feet, of which 2 have no loop"):
        standing({"a": OUTLINE, "b": OUTLINE})
    with pytest.raises(kp.InputError, match="the outline of 'a' has shape"):
        standing({"a": [0.1, 0.2]})
    with pytest.raises(kp.InputError, match="friction -1"):
        standing({"a": OUTLINE}, friction=-1)
    m = cart(held=True)
    with pytest.raises(kp.InputError, match="has no loop 'hodl'; did you mean 'hold'"):
        kp.optimise(
            m,
            start=m.start(),
            duration=1.0,
            actuators=["slide"],
            path=standing({"sole": OUTLINE}, loops={"sole": "hodl"}),
        )
    plain = kp.dynamics(lambda x, u: u, ("x",), ("u",))
    with pytest.raises(kp.InputError, match="has no frame 'sole'"):
        kp.optimise(plain, start=[0], end=[1], duration=1.0, path=standing({"sole": OUTLINE}))
