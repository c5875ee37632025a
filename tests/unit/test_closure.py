"""Closing what is to be closed, in the right sense, at any scale, and saying so where it cannot be."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kinpair as kp
from kinpair import constraint
from kinpair.constraints.assembly import positions as assembly
from kinpair.spatial.rotation import about, unit

LINKS = (0.05, 0.13, 0.1, 0.15)


def four_bar(scale: float = 1.0, axis: str = "z", kind: str = "revolute") -> kp.Mechanism:
    """E13's linkage, larger or smaller, in a plane of choice."""
    a1, a2, a3, a4 = (scale * x for x in LINKS)
    along = {"z": [1, 0, 0], "x": [0, 1, 0]}[axis]
    b = kp.Builder("four-bar", gravity=[0, -9.81, 0] if axis == "z" else [0, 0, -9.81])
    for name, mass, length in (("crank", 1.5, a1), ("output", 5.0, a2), ("coupler", 3.0, a3)):
        inertia = mass * length**2 / 12
        b.link(name, mass=mass, com=[length / 2 * x for x in along], inertia=[inertia] * 3)
    b.joint("crank", "revolute", "ground", "crank", axis=axis)
    b.joint("output", "revolute", "ground", "output", axis=axis, xyz=[a4 * x for x in along])
    b.joint("coupler", "revolute", "output", "coupler", axis=axis, xyz=[a2 * x for x in along])
    ends = {"xyz": [a1 * x for x in along], "child_xyz": [a3 * x for x in along]}
    return kp.build(b.loop("pin", kind, "crank", "coupler", axis=axis, **ends))


@pytest.mark.parametrize("degrees", [10, 90, 120, 170, 179.9, 180, -135])
def test_a_rotation_is_not_taken_for_another_half_a_turn_away(degrees):
    b = kp.Builder("hinge").link("a", mass=1, com=[0.1, 0, 0], inertia=[1, 1, 1])
    m = kp.build(b.joint("j", "revolute", "ground", "a", axis="z"))
    R = about(np.array([0.0, 0.0, 1.0]), np.radians(degrees))
    q = m.inverse_kinematics([0.0], "a", rotation=R)
    assert np.abs(m.pose(q, "a").rotation - R).max() < 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_a_free_body_is_brought_to_any_pose(seed):
    rng = np.random.default_rng(seed)
    b = kp.Builder("body").link("a", mass=1, inertia=[1, 1, 1])
    m = kp.build(b.joint("j", "free", "ground", "a"))
    R, x = about(unit(rng.normal(size=3)), rng.uniform(1.5, 3.1)), rng.normal(size=3)
    result = m.pose(m.inverse_kinematics(m.neutral(), "a", x, R), "a")
    assert np.abs(result.rotation - R).max() < 1e-12
    assert np.abs(result.position - x).max() < 1e-12


@pytest.mark.parametrize("kind", ["fixed", "prismatic", "revolute", "cylindrical", "planar"])
def test_a_loop_closed_the_wrong_way_round_is_open(kind):
    b = kp.Builder("weld").link("a", mass=1, inertia=[1, 1, 1]).joint("j", "free", "ground", "a")
    m = kp.build(b.loop("L", kind, "ground", "a"))
    flipped = np.array([0.0, 0, 0, 1, 0, 0, 0])  # half a turn about x
    with pytest.raises(kp.KinpairError, match="L"):
        m.forward_dynamics(flipped, np.zeros(6), np.zeros(6))
    closed = m.assemble(flipped)
    R = m.pose(closed, "a").rotation
    assert R[2, 2] == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_what_is_wide_open_does_not_depend_on_the_size(scale):
    m = four_bar(scale)
    with pytest.raises(kp.InputError, match="'pin' stays open"):
        m.forward_dynamics([0.3, 2.0, 2.0], np.zeros(3), np.zeros(3))
    q = m.assemble([0.3, 2.0, 2.0])
    assert np.abs(m.constraint_residual(q)).max() < 1e-12 * scale


@pytest.mark.parametrize(
    "question",
    [
        lambda m, q: m.forward_dynamics(q, np.zeros(3), np.zeros(3)),
        lambda m, q: m.inverse_dynamics(q, np.zeros(3), np.zeros(3)),
        lambda m, q: m.constraint_forces(q, np.zeros(3), np.zeros(3)),
        lambda m, q: m.forward_dynamics_derivatives(q, np.zeros(3), np.zeros(3)),
    ],
)
def test_open_coordinates_are_refused_by_every_question(question):
    with pytest.raises(kp.InputError, match=r"'pin' stays open by 0\.0\d+; assemble"):
        question(four_bar(), np.array([0.3, 2.0, 2.0]))


def test_numbers_that_are_none_are_refused_in_words():
    m = four_bar()
    with pytest.raises(kp.InputError, match="q holds NaN"):
        m.assemble([np.nan, 0, 0])
    with pytest.raises(kp.InputError, match="q holds NaN"):
        m.forward_dynamics([np.nan, 0, 0], np.zeros(3), np.zeros(3))
    q = m.assemble([0.3, 2.0, 2.0])
    rows = np.stack([np.full(3, np.nan), q])
    result = m.forward_dynamics(rows, np.zeros(3), np.zeros(3))
    assert np.isnan(result[0]).all()
    assert result[1] == pytest.approx(m.forward_dynamics(q, np.zeros(3), np.zeros(3)))


def test_a_disk_that_lies_flat_has_no_point_of_contact():
    b = kp.Builder("disk").link("d", mass=1, inertia=[1, 1, 2]).joint("f", "free", "ground", "d")
    m = kp.build(b.rolling("r", "d", "disk", radius=0.1, axis="z"))
    with pytest.raises(kp.SingularError, match=r"r\.height, r\.slip x, r\.slip y are not defined"):
        m.mobility(m.neutral())
    assert np.abs(m.constraint_residual(m.assemble(m.neutral()))).max() < 1e-12


def test_reactions_of_a_loop_are_in_axes_of_its_frame_as_described():
    """The same linkage in the planes x y and y z: wrenches differ by the turn of the plane alone."""
    upright, tau = [], np.array([0.3, -0.1, 0.2])
    for axis in "zx":
        m = four_bar(axis=axis)
        q = m.assemble([0.3, 2.0, 2.0])
        qd = m.velocities(q, {"crank": 1.0})
        upright.append(m.reactions(q, qd, m.forward_dynamics(q, qd, tau), tau=tau)["pin"])
    turned = [2, 0, 1, 5, 3, 4]  # x y z → y z x
    assert upright[1] == pytest.approx(upright[0][turned], abs=1e-9)


def test_equations_without_time_refuse_rows_with_it_whenever_asked():
    b = kp.Builder("slides", gravity=[0, 0, 0])
    for name, axis in (("x", "x"), ("y", "y")):
        b.link(name, mass=1, inertia=[1, 1, 1]).joint(name, "prismatic", "ground", name, axis=axis)
    m = kp.build(b.drive("d", "x", "0.7 + t**2"))
    q = np.array([0.7, 0.0])
    assert m.forward_dynamics(q, np.zeros(2), np.zeros(2)).tolist() == [2.0, 0.0]
    for solver in ("voronets", "chaplygin"):
        with pytest.raises(kp.InputError, match="without time"):
            m.forward_dynamics(q, np.zeros(2), np.zeros(2), solver=solver)


def test_derivatives_under_a_drive_are_those_of_their_time():
    m = four_bar().with_constraints(kp.constraint.drive("d", "crank", "0.3 + 2*t + t**2"))
    time, tau = 0.2, np.array([0.3, -0.1, 0.2])
    q = m.assemble([0.74, 2.0, 2.0], time=time)
    qd = m.velocities(q, time=time)
    result = m.forward_dynamics_derivatives(q, qd, tau, time=time).qd
    h = 1e-6
    for k, unit_rate in enumerate(np.eye(3)):
        up, down = (m.forward_dynamics(q, qd + s * h * unit_rate, tau, time=time) for s in (1, -1))
        assert result[:, k] == pytest.approx((up - down) / (2 * h), abs=1e-4)


@pytest.fixture
def searches(monkeypatch) -> list[str]:
    """Searches for closed positions that are begun, by name."""
    begun: list[str] = []

    def counted(name, search):
        def run(*arguments):
            begun.append(name)
            return search(*arguments)

        return run

    for name in ("assemble", "assemble_within"):
        monkeypatch.setattr(assembly, name, counted(name, getattr(assembly, name)))
    return begun


@pytest.mark.parametrize("kind", ["open", "closed", "limited"])
def test_loops_that_were_tried_to_close_are_not_tried_again(searches, kind):
    m = four_bar()
    if kind == "open":
        m = m.with_constraints(constraint.guide("far", "coupler", xyz=("5", "", "")))
    if kind == "limited":
        description = m.model.description
        joints = [
            replace(x, lower=(-3.0,), upper=(3.0,)) if x.name == "output" else x for x in description.joints
        ]
        m = kp.build(replace(description, joints=tuple(joints)))
    del searches[:]

    def start() -> str:
        try:
            return str(m.start())
        except kp.SingularError as error:
            return str(error)

    first, begun = (start(), str(m)), len(searches)
    assert ("cannot be assembled" in first[0]) == (kind == "open")
    assert (start(), str(m)) == first
    assert len(searches) == begun
    assert ("assemble_within" in searches) == (kind == "limited")


def test_a_remembered_position_belongs_to_the_caller():
    m = four_bar()
    first = m.start()
    first[:] = 7.0
    assert not (m.start() == 7.0).any()
