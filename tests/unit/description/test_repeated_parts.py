"""Chains and copies: the same mechanism as one written link by link."""

import math

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.builder import Builder
from kinpair.description.toml_reader import parse_toml
from kinpair.description.toml_writer import to_toml
from kinpair.description.warning_list import WarningList
from kinpair.spatial.inertia import solid_cylinder

N, LENGTH, MASS, RADIUS = 5, 2.0, 0.7, 0.03


def read(text):
    return parse_toml(text, source="m.toml", warnings=WarningList())


def rope(**keys):
    return Builder("rope").chain("rope", n=N, length=LENGTH, mass=MASS, radius=RADIUS, **keys)


def by_hand():
    builder, length = Builder("rope"), LENGTH / N
    for k in range(1, N + 1):
        inertia = solid_cylinder(MASS / N, RADIUS, length)
        builder.link(f"rope_{k}", mass=MASS / N, com=[0, 0, -length / 2], inertia=inertia)
        parent = f"rope_{k - 1}" if k > 1 else "ground"
        xyz = [0, 0, -length if k > 1 else 0]
        builder.joint(
            f"rope_{k}", "universal", parent, f"rope_{k}", xyz=xyz, axis="y", axis2="x", damping=0.01
        )
    return kp.build(builder.frame("rope_end", f"rope_{N}", xyz=[0, 0, -length]))


def test_a_chain_is_the_same_as_its_links_one_by_one():
    chain, other = kp.build(rope(damping=0.01)), by_hand()
    assert (chain.q_names, chain.frames) == (other.q_names, other.frames)
    rng = np.random.default_rng(5)
    q, qd, tau = rng.normal(size=(3, chain.nv))
    one, same = (m.reference.forward_dynamics(q, qd, tau) for m in (chain, other))
    assert np.array_equal(one, same)


@pytest.mark.parametrize("direction", ["x", "-x", "y", "-y", "z", "-z"])
def test_the_end_is_as_far_as_the_chain_is_long(direction):
    chain = kp.build(rope(direction=direction, joint="revolute", xyz=[0.1, 0.2, 0.3])).reference
    unit = (-1.0 if "-" in direction else 1.0) * np.eye(3)["xyz".index(direction[-1])]
    straight = chain.pose(chain.neutral(), "rope_end").position - [0.1, 0.2, 0.3]
    assert np.allclose(straight, LENGTH * unit, rtol=0, atol=1e-15)
    bent = chain.pose(np.full(N, 0.3), "rope_end").position - [0.1, 0.2, 0.3]
    chord = LENGTH / N * math.sin(N * 0.15) / math.sin(0.15)  # of equal sides that each turn by 0.3 rad
    assert np.linalg.norm(bent) == pytest.approx(chord, rel=1e-14)


def test_a_file_and_the_builder_give_equal_descriptions():
    text = """
        name = "rope"
        [[chain]]
        name = "rope"
        n = 5
        length = 2.0
        mass = 0.7
        radius = 0.03
        damping = 0.01
    """
    assert read(text) == rope(damping=0.01).description()


def test_a_written_chain_reads_back_equal():
    description = rope(direction="x").copy("rope_4", 2, xyz=[0, 0.1, 0]).description()
    assert read(to_toml(description)) == description


def test_links_of_a_chain_share_their_data():
    description = rope().description()
    assert len({id(x.shapes) for x in description.links}) == 1
    assert len({id(x.origin) for x in description.joints[1:]}) == 1


def four_bar():
    builder = Builder("row")
    for name, length in (("crank", 0.2), ("coupler", 0.5), ("rocker", 0.4)):
        builder.link(name, mass=1.0, com=[length / 2, 0, 0], inertia=[0.01, 0.01, 0.01])
    builder.joint("A", "revolute", "ground", "crank", axis="y", start=0.4)
    builder.joint("B", "revolute", "crank", "coupler", xyz=[0.2, 0, 0], axis="y", start=0.3)
    builder.joint("C", "revolute", "coupler", "rocker", xyz=[0.5, 0, 0], axis="y", start=1.2)
    builder.loop("D", "pin", "ground", "rocker", xyz=[0.6, 0, 0], child_xyz=[0.4, 0, 0], axis="y")
    builder.spring("S", "ground", "rocker", xyz=[0.6, 0, 0.5], stiffness=40.0, rest_length=0.3)
    return builder.frame("tip", "rocker", xyz=[0.1, 0, 0])


def test_copies_of_a_linkage_move_as_the_linkage_alone():
    one, row = kp.build(four_bar()), kp.build(four_bar().copy("crank", 2, xyz=[0, 0.3, 0], rpy=[0, 0, 0.5]))
    q, angle = one.start(), 0.5
    qs = np.tile(q, 3)
    assert [x.name for x in row.model.description.constraints] == ["D", "D_1", "D_2"]
    assert np.abs(row.constraint_residual(qs)).max() < 1e-12
    qd = one.velocities(q, guess=np.array([1.0, 0.0, 0.0]))
    accelerations = one.forward_dynamics(q, qd, np.zeros(3))
    assert np.allclose(
        row.forward_dynamics(qs, np.tile(qd, 3), np.zeros(9)), np.tile(accelerations, 3), atol=1e-10
    )
    turn = np.array(
        [[math.cos(angle), -math.sin(angle), 0], [math.sin(angle), math.cos(angle), 0], [0, 0, 1]]
    )
    for k, name in ((1, "tip_1"), (2, "tip_2")):
        expected = one.pose(q, "tip").position
        for _ in range(k):
            expected = turn @ expected + [0, 0.3, 0]
        assert np.allclose(row.pose(qs, name).position, expected, atol=1e-12)


def test_copies_onto_each_other_are_a_chain():
    length = LENGTH / N
    segment = Builder("rope").link(
        "rope",
        mass=MASS / N,
        com=[0, 0, -length / 2],
        inertia=solid_cylinder(MASS / N, RADIUS, length),
    )
    segment.joint("rope", "universal", "ground", "rope", axis="y", axis2="x", damping=0.01)
    copied = kp.build(segment.copy("rope", N - 1, onto="rope", xyz=[0, 0, -length]))
    q, qd, tau = np.random.default_rng(6).normal(size=(3, copied.nv))
    one, other = (m.reference.forward_dynamics(q, qd, tau) for m in (copied, by_hand()))
    assert np.array_equal(one, other)


def test_couplings_drives_and_mimics_follow_their_copies():
    builder = Builder("row").link("a", mass=1.0).link("b", mass=1.0).link("c", mass=1.0)
    builder.joint("A", "revolute", "ground", "a").joint("B", "revolute", "a", "b")
    builder.joint("C", "universal", "b", "c", axis="x", axis2="y")
    builder.coupling("G", "B", follows="A", ratio=2.0).drive("D", "C.angle1", "0.1*t")
    part = builder.copy("a", 1, xyz=[1, 0, 0]).description()
    gear, drive = part.constraints[2:]
    assert (gear.joint, gear.terms) == ("B_1", (("A_1", (2.0,)),))
    assert drive.joint == "C_1.angle1"


@pytest.mark.parametrize("name", ["rope", "chain-curtain", "snake"])
def test_bundled_chains_agree_by_two_formulations(name):
    m = kp.example(name).reference
    rng = np.random.default_rng(11)
    q = m.neutral()
    q[7 if name == "snake" else 0 :] = rng.uniform(-0.5, 0.5, m.nq - (7 if name == "snake" else 0))
    qd, qdd = rng.normal(size=(2, m.nv))
    tau = m.inverse_dynamics(q, qd, qdd)
    assert np.allclose(m.inverse_dynamics(q, qd, qdd, method="denoc"), tau, atol=1e-12 * np.abs(tau).max())
    assert np.allclose(m.forward_dynamics(q, qd, tau), qdd, atol=1e-7)
