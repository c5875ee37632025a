"""What inertias are judged by: never less than the inertia itself, and of its size."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.model.inertia_scales import inertia_scales


@pytest.mark.parametrize("seed", range(6))
def test_no_inertia_of_hinges_exceeds_its_scale(seed):
    m = zoo.tree(seed, 6, kinds=("revolute", "spherical"))
    scales = np.array(inertia_scales(m.model), dtype=float)
    for k in range(4):
        H = m.mass_matrix(zoo.motion(m, 10 * seed + k).q)
        assert (np.diag(H) <= scales * (1 + 1e-12)).all()


def test_a_slide_carries_mass_and_a_hinge_moments():
    built = (
        kp.Builder("arm")
        .link("cart", mass=2.0)
        .link("bar", mass=3.0, com=[0.4, 0, 0], inertia=[0.1, 0.2, 0.3])
    )
    built = built.joint("rail", "prismatic", "ground", "cart", axis="x")
    m = kp.build(built.joint("pin", "revolute", "cart", "bar", axis="z", xyz=[1.0, 0, 0]))
    assert inertia_scales(m.model) == pytest.approx((5.0, 3.0 * 1.4**2 + 0.6))
    assert inertia_scales(m.model) is inertia_scales(m.model)


def test_a_joint_that_carries_nothing_is_judged_by_one():
    builder = kp.Builder("empty").link("ghost").joint("pin", "revolute", "ground", "ghost", axis="z")
    with pytest.warns(kp.DescriptionWarning):
        m = kp.build(builder)
    assert inertia_scales(m.model) == (1.0,)
