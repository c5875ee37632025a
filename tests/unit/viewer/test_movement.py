"""Moving by hand: as many handles as freedoms, and loops that never open."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import kinpair as kp
from kinpair.viewer.movement import Movement


@cache
def mechanism(name: str) -> kp.Mechanism:
    return kp.example(name)


@pytest.mark.parametrize(
    ("name", "handles"),
    [
        ("double-pendulum", ["shoulder", "elbow"]),
        ("four-bar", ["crank"]),
        ("slider-crank", ["crank"]),
        ("five-bar", 2),
        ("three-rrr", 3),
        ("stewart", 6),
        ("delta", 3),
        ("gripper", 1),
        ("floating-arm", 9),
        ("rolling-disk", 5),  # six of the free joint, less the height of the rim
    ],
)
def test_there_is_a_handle_for_each_freedom_of_position(name, handles):
    found = [handle.name for handle in Movement(mechanism(name)).handles]
    assert (found if isinstance(handles, list) else len(found)) == handles


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "three-rrr", "stewart", "gripper"])
def test_loops_stay_closed_wherever_a_handle_goes(name):
    m = mechanism(name)
    movement = Movement(m)
    rng = np.random.default_rng(5)
    for handle in movement.handles * 2:
        movement.move(handle, float(rng.uniform(handle.low, handle.high)))
        assert np.abs(m.constraint_residual(movement.q)).max() < 1e-9


def test_a_handle_arrives_where_the_loops_can_be_closed_and_says_so():
    movement = Movement(mechanism("four-bar"))
    (crank,) = movement.handles
    assert movement.move(crank, 2.0)
    assert movement.value(crank) == 2.0
    there = movement.q.copy()
    assert movement.move(crank, -1.0)
    assert movement.move(crank, 2.0)
    assert movement.q == pytest.approx(there, abs=1e-9)  # not the other way of assembling it


def test_a_handle_stops_where_no_loop_can_be_closed():
    m = mechanism("five-bar")
    movement = Movement(m)
    first = movement.handles[0]
    ends = {end: movement.move(first, end) for end in (first.low, first.high)}
    assert not all(ends.values())  # the other crank is held, and the coupler is not that long
    assert np.abs(m.constraint_residual(movement.q)).max() < 1e-9


def test_angles_of_a_quaternion_are_handles():
    movement = Movement(mechanism("floating-arm"))
    yaw = next(x for x in movement.handles if x.name.endswith(".yaw"))
    assert movement.move(yaw, 1.0)
    assert movement.value(yaw) == pytest.approx(1.0)
    span = slice(yaw.entry, yaw.entry + 4)
    assert movement.q[span] == pytest.approx([0.0, 0.0, np.sin(0.5), np.cos(0.5)])
