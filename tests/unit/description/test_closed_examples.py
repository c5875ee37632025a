"""The bundled mechanisms with constraints: closed where their files say, as mobile as they should be."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import closed
import kinpair as kp
from kinpair.constraints.rows.build import constraints_of
from kinpair.constraints.rows.stacked import holonomic_rows, row_names
from kinpair.description.toml_reader import parse_toml
from kinpair.description.warning_list import WarningList
from kinpair.spatial.inertia import defect

EXAMPLES = list(closed.STARTS)
ROUNDING = 1e-14  # coordinates are written with 15 digits, lengths are of the order of 1 m
RANK = 1e-9
MOBILITY = {  # degrees of freedom, and rows more than the rank
    "four-bar": (1, 1),
    "four-bar-3d": (1, 3),
    "slider-crank": (1, 1),
    "five-bar": (2, 1),
    "bennett": (1, 3),
    "three-rrr": (3, 3),
    "stewart": (6, 0),
    "delta": (3, 0),
    "gripper": (1, 2),
    "space-robot": (2, 0),
    "omni-robot": (3, 0),
    "diff-drive": (2, 1),
    "rolling-disk": (3, 0),
    "bicycle": (3, 0),
}


def description(name: str) -> kp.Description:
    return parse_toml(kp.example_text(name), source=f"{name}.toml", warnings=WarningList(strict=True))


def test_every_bundled_mechanism_with_constraints_is_here():
    """Those with actuators have tests of their own."""
    every = {name: description(name) for name in kp.examples(systems=False)}
    assert {name for name, x in every.items() if x.constraints and not x.actuators} == set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_is_closed_where_its_file_says(name):
    assert np.abs(closed.gap(kp.example(name), closed.start(name))).max(initial=0.0) < ROUNDING


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_starts_there(name):
    m = kp.example(name)
    assert m.reference.start() == pytest.approx(closed.start(name), abs=ROUNDING, rel=0)
    split, between = m.reference.split()
    zero = np.zeros(m.nv)
    assert split.start() == pytest.approx(between.to_split(m.start(), zero, zero)[0], abs=ROUNDING, rel=0)


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_has_the_mobility_it_should_have(name):
    m = kp.example(name)
    A = closed.constraints(m, closed.start(name), np.zeros(m.nv))[0]
    rank = np.linalg.matrix_rank(A, tol=RANK)
    assert (m.nv - rank, len(A) - rank) == MOBILITY[name]


def step(m: kp.Mechanism, q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """A step along the rates, then back to the constraints by Newton."""
    for _ in range(8):
        q = q + m.reference.dq_dt(q, qd)
        for i in m.model.moving:
            if m.model.body[i].pair.nq > m.model.body[i].pair.nv:
                end = m.model.q_span[i].stop
                q[end - 4 : end] /= np.linalg.norm(q[end - 4 : end])
        phi = closed.gap(m, q)
        A = closed.constraints(m, q, np.zeros(m.nv))[0]
        qd = -np.linalg.pinv(A[holonomic_rows(constraints_of(m.model))], rcond=RANK) @ phi
    return q


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_moves_without_opening_and_keeps_its_mobility(name):
    m = kp.example(name)
    q = closed.start(name)
    rng = np.random.default_rng(5)
    for _ in range(3):
        A = closed.constraints(m, q, np.zeros(m.nv))[0]
        free = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, tol=RANK) :]
        there = step(m, q, 0.1 * free.T @ rng.normal(size=len(free)))
        assert np.abs(there - q).max() > 1e-3
        q = there
        assert np.abs(closed.gap(m, q)).max(initial=0.0) < 1e-13
        A = closed.constraints(m, q, np.zeros(m.nv))[0]
        assert m.nv - np.linalg.matrix_rank(A, tol=RANK) == MOBILITY[name][0]


@pytest.mark.parametrize("name", EXAMPLES)
def test_it_reads_without_a_doubt_and_writes_back_the_same(name):
    result = description(name)
    assert parse_toml(kp.to_toml(result), source="x.toml", warnings=WarningList(strict=True)) == result
    assert result.name == name


@pytest.mark.parametrize("name", EXAMPLES)
def test_links_are_real_bodies_with_a_shape(name):
    for link in description(name).links:
        assert link.mass > 0
        assert link.shapes, link.name
        assert defect(link.tensor()) is None, link.name


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_file_says_source_start_units_and_what_to_try(name):
    comment = kp.example_text(name).split("\nname = ")[0]
    assert all(f"# {word}:" in comment for word in ("Source", "Start", "Units", "Try"))


def test_a_bennett_linkage_moves_though_the_count_says_it_is_stiff():
    m = kp.example("bennett")
    assert m.nv - len(row_names(constraints_of(m.model))) == -2
    for q1 in np.linspace(0.3, 2.8, 7):
        q2 = 2 * np.arctan(np.sqrt(3) / np.tan(q1 / 2))
        assert np.abs(closed.gap(m, np.array([q1, q2, -q1]))).max() < ROUNDING


def test_the_platform_of_a_delta_robot_does_not_turn():
    m = kp.example("delta")
    q, names = closed.start("delta"), [name.split(".")[-1] for name in m.v_names]
    A = closed.constraints(m, q, np.zeros(m.nv))[0]
    free = np.linalg.svd(A)[2][np.linalg.matrix_rank(A, tol=RANK) :]
    turning = [names.index(part) for part in ("wx", "wy", "wz")]
    assert np.abs(free[:, turning]).max() < 1e-14


def test_the_fingers_of_a_gripper_do_not_turn_and_close_together():
    m = kp.example("gripper")
    q = closed.start("gripper")
    left, right = m.reference.pose(q, "left-tip"), m.reference.pose(q, "right-tip")
    assert left.rotation == pytest.approx(np.eye(3), abs=1e-15)
    assert right.rotation == pytest.approx(np.eye(3), abs=1e-15)
    assert left.position * [-1, 1, 1] == pytest.approx(right.position, abs=1e-15)


def slip_of_the_cart(**rates: float) -> np.ndarray:
    m = kp.example("diff-drive")
    qd = np.array([rates.get(name.replace("base.", "").replace("-", "_"), 0.0) for name in m.v_names])
    return closed.constraints(m, m.neutral(), qd)[1]


def test_wheels_of_a_cart_roll_as_far_as_it_goes():
    straight = slip_of_the_cart(x=0.4, left_wheel=5.0, right_wheel=5.0, caster=0.4 / 0.03)
    assert straight == pytest.approx(np.zeros(6), abs=1e-15)
    on_the_spot = slip_of_the_cart(angle=2.0, left_wheel=-3.75, right_wheel=3.75)
    assert on_the_spot[:4] == pytest.approx(np.zeros(4), abs=1e-15)
    assert np.abs(on_the_spot[4:]).max() > 0.1  # the caster has to swing round first


def test_legs_of_the_platform_are_equally_long_at_the_start():
    m = kp.example("stewart")
    q = m.neutral()
    feet = [m.reference.pose(q, f"cylinder{k}").position for k in range(1, 7)]
    tops = [m.reference.pose(q, f"rod{k}").position for k in range(1, 7)]
    lengths = [np.linalg.norm(top - foot) for top, foot in zip(tops, feet, strict=True)]
    assert max(abs(a - b) for a, b in pairwise(lengths)) < 1e-15
    assert [top[2] for top in tops] == pytest.approx([0.6] * 6, abs=ROUNDING)
