"""A quadruped that trots by a table of joint angles: it advances, feet only push, and no energy is created."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp

EXAMPLE = Path(__file__).parents[2] / "examples" / "27_trot.py"
MU = 0.8


@pytest.fixture(scope="module")
def trot() -> dict:
    return runpy.run_path(str(EXAMPLE))


def unaccounted(run: kp.Result) -> np.ndarray:
    """Energy since the start beyond work and losses (samples,) [J]."""
    stored = run.energy.kinetic + run.energy.potential
    return stored - stored[0] - (run.work - run.loss)


def test_it_advances_upright_and_straight(trot):
    run = trot["run"]
    way = trot["STRIDE"] * 2 * run.time[-1] / trot["PERIOD"]  # of feet that never slip
    assert 0.5 * way < run.q[-1, 0] < way
    assert abs(run.q[-1, 1]) < 0.05
    assert np.abs(run.q[:, 3:6]).max() < 0.1
    assert run.q[:, 2].min() > 0.28


def test_diagonal_feet_carry_in_turn(trot):
    run, pairs = trot["run"], trot["run"].contacts.pairs
    assert set(pairs) == {f"{leg} foot on floor" for leg in ("fl", "fr", "hl", "hr")}
    down = {name[:2]: x.normal > 0.0 for name, x in pairs.items()}
    later = run.time > trot["PERIOD"]
    for one, other in (("fl", "hr"), ("fr", "hl")):
        assert (down[one] == down[other])[later].mean() > 0.75
    assert (down["fl"] & down["fr"])[later].mean() < 0.3


def test_no_foot_pulls_and_friction_stays_in_its_cone(trot):
    for point in trot["run"].contacts.points.values():
        pushed = point.phase > 0
        normal = (point.force * point.normal).sum(axis=1)[pushed]
        across = point.force[pushed] - normal[:, None] * point.normal[pushed]
        assert normal.min() > 0.0
        assert (np.sqrt((across**2).sum(axis=1)) <= MU * normal + 1e-9).all()


def test_every_step_is_solved_without_penetration(trot):
    contacts = trot["run"].contacts
    assert contacts.solved.all()
    assert contacts.depth.max() < 1e-4


def test_energy_is_never_created_and_the_balance_closes_with_the_step(trot):
    m, table = trot["m"], trot["trot"](2)
    runs = [
        kp.simulate(m, duration=2 * trot["PERIOD"], input=table, output=0.02, dt=dt) for dt in (5e-4, 2.5e-4)
    ]
    for run in runs:
        assert unaccounted(run).max() < 1e-3 * run.work[-1]
    wide, narrow = (np.abs(unaccounted(run)).max() for run in runs)
    assert narrow < 0.6 * wide < 0.05 * runs[0].work[-1]


def test_the_report_shows_the_table(trot, tmp_path):
    text = trot["run"].report(tmp_path / "trot.html").read_text("utf-8")
    assert "fl foot on floor" in text
