"""From descriptions to models: options kept, lengths forgotten, welds counted rightly."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import kinpair as kp
import zoo
from kinpair.mechanism import Mechanism
from kinpair.model.build import build


def crane(**more: object) -> kp.Builder:
    b = kp.Builder("crane").link("base", mass=10.0).link("arm", mass=1.0, com=[0.1, 0, 0], inertia=[1, 1, 1])
    return b.joint("weld", "fixed", "ground", "base").joint("hinge", "revolute", "base", "arm", **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("merge_fixed", [True, False])
def test_links_welded_to_the_ground_do_not_count(merge_fixed):
    m = kp.build(crane(), merge_fixed=merge_fixed)
    assert m.mass == 1.0
    assert m.centre_of_mass([0.0]) == pytest.approx([0.1, 0, 0])
    assert m.joint_names == ("hinge",)
    assert m.energy([0.0], [0.0]).potential == 0.0
    assert str(m).startswith("crane: 1 moving bodies, 1 degrees of freedom")


def test_kept_weld_has_no_coordinates_in_the_table():
    assert "weld   fixed     -" in str(kp.build(crane(), merge_fixed=False))


@pytest.mark.parametrize("length", [1e-170, 1e-3, 1.0, 1e200])
def test_length_of_an_axis_means_nothing(length):
    b = kp.Builder("a").link("x", com=[0, 1, 0], mass=1.0, inertia=[1, 2, 3])
    m = kp.build(b.joint("j", "revolute", "ground", "x", axis=[length, 0, 0]))
    assert m.reference.mass_matrix([0.0])[0, 0] == pytest.approx(2.0)


def test_almost_rotations_become_rotations():
    R = np.eye(3) + 4e-7 * np.ones((3, 3))
    b = kp.Builder("a").link("x", mass=1.0, inertia=[1, 1, 1])
    m = kp.build(b.joint("j", "universal", "ground", "x", matrix=R, axis=[1, 0, 0], axis2=[5e-7, 1, 0]))
    result = m.reference.pose([0.3, 0.4], "x").rotation
    assert np.abs(result @ result.T - np.eye(3)).max() < 1e-15


def test_split_keeps_the_options_of_the_whole():
    m = zoo.tree(3, 6)
    options = {"snap": 0.05, "merge_fixed": False}
    whole = Mechanism(build(m.model.description, **options), compiled=False)  # type: ignore[arg-type]
    split, maps = whole.split()
    assert split.model.options == whole.model.options
    s = zoo.motion(whole, 2)
    x, xd, xdd = maps.to_split(s.q, s.qd, s.qdd)
    tau = maps.efforts_to_split(x, whole.inverse_dynamics(s.q, s.qd, s.qdd))
    assert zoo.relative_error(split.inverse_dynamics(x, xd, xdd), tau) < 1e-10


def test_split_finds_free_names():
    b = kp.Builder("n").link("a", mass=1.0, inertia=[1, 1, 1]).link("b", mass=1.0, inertia=[1, 1, 1])
    b.joint("j", "cylindrical", "ground", "a").joint("j.1", "revolute", "a", "b")
    split, _ = kp.build(b).split()
    assert split.q_names == ("j'.1", "j'.2", "j.1")


@pytest.mark.parametrize("carry", [pickle.loads, copy.deepcopy], ids=["pickle", "deepcopy"])
def test_mechanisms_travel(carry):
    m = kp.example("floating-arm")
    q = m.neutral()
    before = m.mass_matrix(q)
    other = carry(pickle.dumps(m) if carry is pickle.loads else m)
    assert (other.reference.mass_matrix(q) == m.reference.mass_matrix(q)).all()
    assert zoo.relative_error(other.mass_matrix(q), before) == 0
