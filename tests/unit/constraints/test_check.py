"""Joints that move nothing with inertia are doubted where the constraints leave them free, and only there."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import kinpair as kp


def crank_with_massless_rod() -> kp.Builder:
    """A slider-crank: the massless connecting rod hangs on the crank, and a loop closes it at the slider."""
    builder = kp.Builder("crank").link("crank", mass=1.0, com=[0.1, 0, 0], inertia=[0.1, 0.1, 0.1])
    builder = builder.link("rod").link("slider", mass=2.0)
    builder = builder.joint("pin", "revolute", "ground", "crank", axis="z", start=0.7)
    builder = builder.joint("elbow", "revolute", "crank", "rod", axis="z", xyz=[0.2, 0, 0], start=-1.0)
    builder = builder.joint("rail", "prismatic", "ground", "slider", axis="x", start=0.6)
    return builder.loop("wrist", "revolute", "slider", "rod", axis="z", child_xyz=[0.5, 0, 0])


def sentences(made: kp.Builder) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        m = kp.build(made)
    assert [str(x.message) for x in caught] == list(m.warnings)
    return list(m.warnings)


def test_a_massless_link_that_a_loop_holds_is_not_doubted():
    """It has accelerations, the same by every solver that takes a mass matrix without an inverse."""
    assert sentences(crank_with_massless_rod()) == []
    m = kp.build(crank_with_massless_rod())
    q = m.start()
    results = [m.forward_dynamics(q, np.zeros(3), np.ones(3), solver=x) for x in ("multipliers", "maggi")]
    assert results[0] == pytest.approx(results[1], abs=1e-10)


def test_the_same_link_without_its_loop_is_doubted():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        m = kp.build(crank_with_massless_rod()).without_constraints()
    (sentence,) = m.warnings
    assert sentence.startswith("joint 'elbow' moves link 'rod'")


def test_a_massless_link_beside_a_loop_is_doubted_and_refused():
    built = crank_with_massless_rod().link("flag").joint("pole", "revolute", "slider", "flag", axis="z")
    assert sentences(built) == [
        "joint 'pole' moves link 'flag', and neither this link nor the links that it carries have mass or "
        "inertia: forward dynamics is singular, inverse dynamics works"
    ]
    with pytest.warns(kp.DescriptionWarning):
        m = kp.build(built)
    with pytest.raises(kp.SingularError, match="resists the motion of pole; give mass"):
        m.forward_dynamics(m.start(), np.zeros(4), np.zeros(4))


def test_a_massless_follower_is_held_by_its_coupling():
    builder = kp.Builder("gears").link("wheel", mass=1.0, inertia=[0.1, 0.1, 0.1]).link("hand")
    builder = builder.joint("shaft", "revolute", "ground", "wheel", axis="z")
    builder = builder.joint("dial", "revolute", "ground", "hand", axis="z")
    assert sentences(builder.gear("gear", "dial", "shaft", -2.0)) == []


def test_strict_refuses_a_free_massless_link_under_constraints():
    built = crank_with_massless_rod().link("flag").joint("pole", "revolute", "slider", "flag", axis="z")
    with pytest.raises(kp.DescriptionError, match="joint 'pole' moves link 'flag'"):
        kp.build(built, strict=True)
