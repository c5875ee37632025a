"""The arrays of a model are its tuples, and its fingerprint sees every number of a long one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests import zoo

import kinpair as kp
from kinpair.model.digest import digest

N = 200


def chain(n: int = N, **keys: object) -> kp.Mechanism:
    return kp.build(kp.Builder("c").chain("c", n=n, length=1.0, mass=1.0, joint="revolute", **keys))


@pytest.mark.parametrize("mechanism", [*zoo.random_trees(seed=3), chain()], ids=lambda x: x.model.name)
def test_arrays_of_a_model_are_its_tuples(mechanism):
    model = mechanism.model
    x = model.numbering
    np.testing.assert_array_equal(x.parent, model.parent)
    np.testing.assert_array_equal(x.q_start, [span.start for span in model.q_span])
    np.testing.assert_array_equal(x.v_start, [span.start for span in model.v_span])
    assert all(model.body[x.chosen[k]] is body for k, body in zip(x.which, model.body, strict=True))
    assert x.place_body.tolist() == [place.body for place in model.places.values()]
    assert all(x.poses[k] is p.pose for k, p in zip(x.pose_which, model.places.values(), strict=True))
    assert x.which[0] == 0
    assert 0 not in x.which[1:]


def test_a_walked_model_has_the_arrays_of_the_model():
    model = chain(5).model
    assert model.walked_by(object()).numbering is model.numbering


def _joint(m: kp.Mechanism, k: int, **changes: object) -> kp.Mechanism:
    joints = list(m.model.description.joints)
    joints[k] = replace(joints[k], **changes)
    return kp.build(replace(m.model.description, joints=tuple(joints)))


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "another"},
        {"stiffness": (1.0,)},
        {"rest": (-0.0,)},
        {"upper": (3.0,)},
        {"actuated": False},
        {"axis": (0.0, 0.6, 0.8)},
        {"friction": (0.1,)},
        {"rotor_inertia": 1e-9},
    ],
    ids=str,
)
def test_one_joint_of_a_long_chain_changes_the_fingerprint(changes):
    m = chain(rest=0.0)
    assert digest(_joint(m, 117).model) == digest(m.model)
    assert digest(_joint(m, 117, **changes).model) != digest(m.model)
    if "name" not in changes:  # the same change elsewhere is another mechanism
        assert digest(_joint(m, 117, **changes).model) != digest(_joint(m, 118, **changes).model)


def test_joints_with_an_entry_are_found():
    d = _joint(chain(5), 3, friction=(0.1,), actuated=False).model.description
    assert (
        [x.name for x in d.joints_with("friction")] == ["c_4"] == [x.name for x in d.joints_with("actuated")]
    )
    assert d.joints_with("mimic") == () == d.joints_with("compliance")
