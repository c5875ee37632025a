"""kp.equilibrium on contacts: forces, margins and angles of slip of textbook examples."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq

import kinpair as kp


def ladder_at(angle: float) -> np.ndarray:
    return np.array([-2 * np.cos(angle), 2 * np.sin(angle), np.pi / 2 - angle])


def test_the_table_has_equal_forces_that_are_not_unique():
    e = kp.equilibrium(kp.example("table"))
    assert e.holds
    assert not e.unique
    assert e.margin == np.inf
    np.testing.assert_allclose(e.forces, np.tile([0.0, 0.0, 49.05], (4, 1)), atol=1e-9)


def test_the_ladder_slips_at_its_angle():
    m = kp.example("ladder")
    angle = brentq(lambda x: kp.equilibrium(m, ladder_at(x)).margin - 1.0, 0.8, 1.1, xtol=1e-14)
    assert angle == pytest.approx(np.arctan(1 / (2 * 0.4)), abs=1e-9)
    steep, flat = kp.equilibrium(m, ladder_at(angle + 1e-6)), kp.equilibrium(m, ladder_at(angle - 1e-6))
    assert steep.holds
    assert not flat.holds
    weight = 12 * 9.81
    np.testing.assert_allclose(steep.by_pair["foot", "floor"][2], weight, rtol=1e-9)
    np.testing.assert_allclose(
        steep.by_pair["top", "wall"][0], -weight / (2 * np.tan(angle + 1e-6)), rtol=1e-9
    )


def test_the_block_may_have_less_friction_by_its_margin():
    e = kp.equilibrium(kp.example("block-on-incline"))
    assert e.margin == pytest.approx(0.5 / np.tan(np.pi / 12), rel=1e-8)


def test_a_grasp_holds_with_the_margin_of_its_friction():
    m = kp.example("pinch")
    e = kp.equilibrium(m, u=[12.0, -12.0, 0, 0, 0, 0, 0, 0])
    assert e.holds
    assert e.margin == pytest.approx(2 * 0.7 * 12.0 / (0.045 * 9.81), rel=1e-6)
    assert not kp.equilibrium(m, u=[0.1, -0.1, 0, 0, 0, 0, 0, 0]).holds
    assert "stands, margin of friction" in str(e)


def test_friction_in_joints_is_refused():
    b = kp.Builder("slide").link("box", mass=1.0, inertia=[1, 1, 1])
    b.joint("z", "prismatic", "ground", "box", axis="z", friction={"law": "coulomb", "level": 1.0})
    m = kp.build(b.contact("foot", "box", point=True).contact("floor", "ground", plane=True))
    with pytest.raises(kp.InputError, match="dry friction in joints is not computed"):
        kp.equilibrium(m)


def test_an_arm_at_its_limit_rests_on_a_plane_as_its_run_does():
    arm = kp.Builder("arm").link("upper", mass=1.0, com=[0.25, 0, 0], inertia=[0.01] * 3)
    arm.joint("a", "revolute", "ground", "upper", axis="y", xyz=[0, 0, 0.3], lower=-0.2, upper=0.5)
    arm.link("lower", mass=0.5, com=[0.2, 0, 0], inertia=[0.005] * 3)
    arm.joint("b", "revolute", "upper", "lower", axis="y", xyz=[0.5, 0, 0])
    arm.contact("floor", "ground", plane=True, mu=0.5).contact("tip", "lower", sphere=0.02, xyz=[0.4, 0, 0])
    m = kp.build(arm)
    q = kp.simulate(m, [0, 0], [0, 0], duration=1.0, integrator="dop853").q[-1]
    result = kp.equilibrium(m, q)
    assert result.holds
    assert not result.unique
    assert result.pushed["a"] < 0.0
    efforts = m.gravity_forces(q)
    pairs = zip(result.points, result.forces, strict=True)
    along = [force @ axis for p, force in pairs for axis in (p.normal, *p.tangents)]
    carried = m.contact_rows(q, result.points).T @ np.array(along)
    pushed = np.array([result.pushed["a"], 0.0])
    assert np.abs(carried + pushed - efforts).max() < 1e-9  # statics
    assert not kp.equilibrium(m, q, limits=False).holds
