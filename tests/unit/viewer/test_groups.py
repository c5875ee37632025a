"""Sliders in groups: each limb of a robot has its own, and few need none."""

from __future__ import annotations

import pytest

import kinpair as kp
from kinpair.viewer.movement import FEW, Movement, grouped
from robots import talos


def groups_of(m):
    handles = Movement(m).handles
    return handles, grouped(m.model, handles)


@pytest.mark.parametrize("name", sorted(kp.examples(systems=False)))
def test_every_slider_is_in_one_group_and_few_sliders_are_in_one(name):
    handles, groups = groups_of(kp.example(name))
    assert sorted(x.name for group in groups for x in group.handles) == sorted(x.name for x in handles)
    assert len({group.name for group in groups}) == len(groups)
    if len(handles) <= FEW:
        assert [group.name for group in groups] == [""]
        assert groups[0].labels == tuple(x.name for x in handles)


def test_arms_and_legs_of_a_humanoid_are_groups():
    _, groups = groups_of(talos())
    names = [group.name for group in groups]
    assert {"torso", "head", "leg_left", "leg_right"} <= {*names}
    leg = groups[names.index("leg_left")]
    assert [x.name for x in leg.handles] == [f"leg_left_{k}_joint" for k in range(1, 7)]
    assert leg.labels == tuple(f"{k}_joint" for k in range(1, 7))


def test_groups_that_begin_alike_are_named_by_their_ends():
    _, groups = groups_of(kp.example("biped"))
    assert [group.name for group in groups] == [
        "base",
        "trunk",
        "left-shoulder … left-elbow",
        "right-shoulder … right-elbow",
        "left-hip-yaw … left-ankle-roll",
        "right-hip-yaw … right-ankle-roll",
    ]
