"""A loop of kind `pin`: the pin of a plane linkage, with two rows and no load that is shared."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.toml_writer import write_toml
from kinpair.viewer.scene import scene_of

BEARING = {"law": "bearing", "mu": 0.15, "radius": 0.02, "length": 0.1, "thrust_radius": 0.0}
FILE = """
name = "four-bar"
[[link]]
name = "a"
mass = 1
com = [0.05, 0, 0]
inertia = [1e-3, 1e-3, 1e-3]
[[link]]
name = "b"
mass = 2
com = [0.15, 0, 0]
inertia = [2e-3, 2e-3, 2e-3]
[[link]]
name = "c"
mass = 1.5
com = [0.1, 0, 0]
inertia = [1e-3, 1e-3, 1e-3]
[[joint]]
name = "p"
kind = "revolute"
parent = "ground"
child = "a"
axis = "y"
[[joint]]
name = "q"
kind = "revolute"
parent = "a"
child = "b"
xyz = [0.1, 0, 0]
axis = "y"
[[joint]]
name = "r"
kind = "revolute"
parent = "ground"
child = "c"
xyz = [0.3, 0, 0]
axis = "y"
[[loop]]
name = "s"
kind = "pin"
parent = "c"
child = "b"
xyz = [0.2, 0, 0]
child_xyz = [0.3, 0, 0]
axis = "y"
"""


def four_bar(kind: str = "pin", **friction: object) -> kp.Mechanism:
    b = kp.Builder("four-bar").link("a", mass=1, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.link("b", mass=2, com=(0.15, 0, 0), inertia=(2e-3, 2e-3, 2e-3))
    b.link("c", mass=1.5, com=(0.1, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    b.joint("p", "revolute", "ground", "a", axis="y", **friction)
    b.joint("q", "revolute", "a", "b", xyz=(0.1, 0, 0), axis="y", **friction)
    b.joint("r", "revolute", "ground", "c", xyz=(0.3, 0, 0), axis="y", **friction)
    return kp.build(b.loop("s", kind, "c", "b", xyz=(0.2, 0, 0), child_xyz=(0.3, 0, 0), axis="y"))


def state(m: kp.Mechanism) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    q = m.assemble([0.7, 0.0, 1.2])
    return q, m.velocities(q, {"p": 2.0}), np.array([0.8, 0.0, 0.0])


@pytest.mark.parametrize("kind", ["revolute", "spherical"])
def test_a_pin_moves_a_plane_linkage_as_every_other_closure_does(kind):
    m, other = four_bar(), four_bar(kind)
    q, qd, tau = state(m)
    np.testing.assert_allclose(m.forward_dynamics(q, qd, tau), other.forward_dynamics(q, qd, tau), rtol=1e-10)
    runs = [kp.simulate(x, q, qd, duration=0.5, torque=tau).q[-1] for x in (m, other)]
    np.testing.assert_allclose(*runs, atol=1e-7)


def test_no_row_of_a_pin_is_redundant_and_reactions_are_unique():
    m = four_bar()
    q, qd, tau = state(m)
    x = m.mobility(q)
    assert (x.rows, x.rank, x.freedom, x.redundant, x.not_unique) == (2, 2, 1, (), ())
    assert m.constraint_rows == ("s.x", "s.y")
    assert m.constraint_forces(q, qd, tau).unique
    qdd = m.forward_dynamics(q, qd, tau)
    wrench = m.reactions(q, qd, qdd, tau=tau)
    assert np.abs(wrench["s"][[0, 1, 2, 4]]).max() < 1e-12  # no moment, and no force along the axis
    weight = sum(link.mass for link in m.model.description.links) * np.array([0, 0, 9.81])
    ground = sum(m.reactions(q, qd, qdd, tau=tau, axes="world")[name][3:] for name in ("p", "r"))
    momentum = (m.momentum(q, qd + 1e-6 * qdd) - m.momentum(q, qd - 1e-6 * qdd))[3:] / 2e-6
    momentum += (m.momentum(q + 1e-6 * qd, qd) - m.momentum(q - 1e-6 * qd, qd))[3:] / 2e-6
    np.testing.assert_allclose(ground - weight, momentum, atol=1e-6)


def test_bearings_of_a_plane_linkage_rub_by_what_they_carry():
    """Loads of the bearings are the radial forces of the reactions, and inverse dynamics gives the efforts back."""
    m = four_bar(friction=BEARING)
    q, qd, tau = state(m)
    qdd = m.forward_dynamics(q, qd, tau)
    wrench, friction = m.reactions(q, qd, qdd, tau=tau), m.friction(q, qd, tau)
    efforts = np.zeros(3)
    for k, name in enumerate(m.v_names):
        radial = np.linalg.norm(wrench[name][[3, 5]])
        assert friction[name].load == pytest.approx(radial, rel=1e-9)
        efforts[k] = -0.15 * 0.02 * radial * np.sign(qd[k])
        assert friction[name].effort == pytest.approx(efforts[k], rel=1e-9)
    smooth = four_bar()
    np.testing.assert_allclose(smooth.forward_dynamics(q, qd, tau + efforts), qdd, rtol=1e-9)
    np.testing.assert_allclose(m.inverse_dynamics(q, qd, qdd, actuators=["p"]), tau, atol=1e-9)


def test_a_pin_reads_and_writes_as_a_file(tmp_path):
    (tmp_path / "linkage.toml").write_text(FILE)
    m = kp.load(tmp_path / "linkage.toml")
    assert m.model.description.constraints == four_bar().model.description.constraints
    write_toml(m.model.description, tmp_path / "copy.toml")
    assert kp.load(tmp_path / "copy.toml").model.description.constraints == m.model.description.constraints


def test_a_pin_is_drawn():
    drawn = [x for x in scene_of(four_bar()).pieces if x.layer == "loops"]
    assert [x.link for x in drawn] == ["b"]


def test_a_pin_is_no_joint():
    b = kp.Builder("m").link("a", mass=1)
    with pytest.raises(kp.DescriptionError) as caught:
        kp.build(b.joint("x", "pin", "ground", "a"))
    assert str(caught.value) == (
        "joint 'x' is of kind 'pin', which closes loops and moves nothing; give kind 'revolute', or a loop of this kind"
    )
