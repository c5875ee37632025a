"""The fingerprint of a model tells apart all that compiled code depends on."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.model.digest import digest


def four_bar(**keys: bool) -> kp.Mechanism:
    """A four-bar whose crank has a motor; `keys`: whether other joints are actuated."""
    b = kp.Builder("four-bar")
    b.link("crank", mass=0.5, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.link("coupler", mass=1.0, com=(0.15, 0, 0), inertia=(1e-2, 1e-2, 1e-2))
    b.link("rocker", mass=0.7, com=(0.1, 0, 0), inertia=(5e-3, 5e-3, 5e-3))
    b.joint("A", "revolute", "ground", "crank", axis="y", start=-1.0)
    own = {name: {"actuated": keys[name]} if name in keys else {} for name in ("B", "D")}
    b.joint("B", "revolute", "crank", "coupler", xyz=(0.1, 0, 0), axis="y", **own["B"])
    b.joint("D", "revolute", "ground", "rocker", xyz=(0.3, 0, 0), axis="y", start=-1.0, **own["D"])
    b.loop("C", "revolute", "coupler", "rocker", xyz=(0.3, 0, 0), child_xyz=(0.2, 0, 0), axis="y")
    return kp.build(b.actuator("motor", "A", kind="effort"))


def test_equilibrium_of_a_loop_with_an_actuator_whatever_else_is_actuated():
    """Efforts of the motor alone hold the crank, by statics: dV = τ dA along the motion."""
    for m in (four_bar(), four_bar(B=False, D=False), four_bar(D=False)):
        x = kp.equilibrium(m, free=("motor",), fixed=("A",))
        assert len(x.u) == len(m.u_names)
        move = m.velocities(x.q, {"A": 1.0})
        ahead, behind = (
            m.energy(m.assemble(x.q + h * move, fixed=["A"]), 0.0 * move).potential for h in (1e-5, -1e-5)
        )
        assert x.u[m.u_names.index("motor")] == pytest.approx((ahead - behind) / 2e-5, rel=1e-6)


def test_joints_that_nothing_drives_change_the_fingerprint():
    assert len({digest(m.model) for m in (four_bar(), four_bar(B=False), four_bar(D=False))}) == 3


def test_parts_of_a_welded_body_change_the_fingerprint():
    """Both bodies are the same, and a parameter of a part is not."""

    def body(first: float) -> kp.Mechanism:
        b = (
            kp.Builder("weld")
            .link("a", mass=first, com=(0.5, 0, 0))
            .link("b", mass=3.0 - first, com=(0.5, 0, 0))
        )
        b.joint("swing", "revolute", "ground", "a", axis="y")
        return kp.build(b.joint("weld", "fixed", "a", "b"))

    light, heavy = body(1.0), body(2.0)
    np.testing.assert_array_equal(light.mass_matrix([0.0]), heavy.mass_matrix([0.0]))
    assert digest(light.model) != digest(heavy.model)
    for m, rest in ((light, 1.0), (heavy, 2.0)):
        H = m.kernel("mass_matrix", parameters=("b.mass",))(np.zeros(1), np.array(4.0))
        assert H[0, 0] == pytest.approx(0.25 * (rest + 4.0), rel=1e-12)
