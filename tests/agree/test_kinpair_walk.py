"""KINPAIR step by step: headings in the order of the book, numbers of the mechanism."""

from __future__ import annotations

import re

import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.main import main

ORDER = [*(f"2.1.1 ({k})" for k in range(1, 15)), "3.9"]


def read(text: str) -> np.ndarray:
    """Numbers in brackets; rows between semicolons."""
    rows = [[float(x) for x in row.split(",")] for row in re.findall(r"\(([^()]*)\)", text)]
    return np.array(rows[0] if len(rows) == 1 else rows)


def line(walk, number: str, name: str) -> np.ndarray:
    step = next(step for step in walk.steps if step.number == number)
    return read(next(x for x in step.lines if x.startswith(f"{name} =")))


@pytest.mark.parametrize("name", ["three-cylinders", "stanford-arm", "four-bar", "stewart"])
def test_the_walk_has_the_numbers_of_the_mechanism(name):
    m = kp.example(name).reference
    rng = np.random.default_rng(4)
    q, qd, tau = m.start(), rng.uniform(-1, 1, m.nv), rng.uniform(-1, 1, m.nv)
    qd = m.velocities(q, guess=qd) if m.closure is not None else qd
    walk = kp.formulation("popov").explain(m, q, qd, tau=tau)
    numbers = [step.number for step in walk.steps]
    assert numbers[:15] == ORDER
    assert numbers[15:20] == ["3.10.1", "  (1)", "  (2)", "  (3)", "  (4)"]
    assert numbers[-1] == "3.10.4"
    assert len(numbers) == 16 + 5 * len(m.model.moving)
    printed = 1e-5  # six significant digits
    assert line(walk, "2.1.1 (9)", "H") == pytest.approx(m.mass_matrix(q), rel=printed, abs=1e-12)
    assert line(walk, "3.10.4", "P") == pytest.approx(tau, rel=printed)
    if m.closure is not None:
        qdd = m.forward_dynamics(q, qd, tau, passive=False)
        assert line(walk, "2.1.1 (14)", "q̈") == pytest.approx(qdd, rel=printed, abs=1e-9)


def test_levers_give_a_column_of_the_inertia_matrix():
    m = kp.example("three-cylinders").reference
    q = np.array([0.3, 0.5, -0.4])
    walk = kp.formulation("popov").explain(m, q, [1, 2, 3])
    lever = next(step for step in walk.steps if step.number == "2.1.1 (10)")
    column = [float(x.split("=")[1]) for x in lever.lines[1:]]
    assert column[::-1] == pytest.approx(m.mass_matrix(q)[:, 2], rel=1e-5, abs=1e-12)


def test_the_command_prints_the_walk_and_other_formulations(capsys):
    main(["explain", "three-cylinders", "--q", "0.3,0.5,-0.4", "--qd", "1,2,3", "--qdd", "1,0,0"])
    arm = kp.example("three-cylinders")
    walk = kp.formulation("popov").explain(arm, [0.3, 0.5, -0.4], [1, 2, 3], qdd=[1, 0, 0])
    assert capsys.readouterr().out == f"{walk}\n"
    main(["explain", "planar-3r", "--method", "denoc"])
    assert "N_l" in capsys.readouterr().out
    main(["explain", "planar-3r", "--method", "denoc", "--latex"])
    assert r"\mathbf N_l" in capsys.readouterr().out
