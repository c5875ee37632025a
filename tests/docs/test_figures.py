"""Figures of the sources: the examples that draw them find the numbers known and write what the page shows."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kinpair as kp

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "figures.md").read_text("utf-8")
STEPPED = (
    2e-11  # some 150 steps, each with a tolerance of 1e-13, for the reference and for us; twelve decimals
)


@pytest.fixture
def ran(tmp_path, monkeypatch, capsys):
    """Run an example: what it knows in the end; its pictures are those of its section of the page."""

    def run(name: str) -> dict[str, Any]:
        monkeypatch.setattr(sys, "argv", [name, str(tmp_path)])
        scope = runpy.run_path(str(ROOT / "examples" / f"{name}.py"), run_name="__main__")
        assert capsys.readouterr().out
        section = next(x for x in PAGE.split("\n## ") if f"Example: `examples/{name}.py`" in x)
        shown = re.findall(r"\]\(pictures/([^)]+)\)", section)
        assert sorted(shown) == sorted(x.name for x in tmp_path.iterdir())
        return scope

    return run


def test_planar_arm(ran):
    result = ran("20_saha_planar_arm")
    assert result["off"] < 1e-12
    assert np.array(result["fallen"]) == pytest.approx(
        np.array(list(result["FALL"].values())), abs=1e-9, rel=0
    )
    assert result["fall"].balance.error < 1e-11


def test_stanford_arm(ran):
    result = ran("21_saha_stanford_arm")
    for name, (_, _, _, points) in result["SOURCES"].items():
        assert result["efforts"](name, result["TIMES"]) == pytest.approx(np.array(points), abs=1e-12, rel=0)
    assert result["fall"].q == pytest.approx(result["again"].q, abs=1e-9, rel=0)
    assert result["fall"].balance.error < 1e-10  # of 190 J


def test_space_robot_as_printed_keeps_its_momentum_and_not_its_energy(ran):
    result = ran("22_space_robot")
    for name, run in result["ours"].items():
        assert result["state"](run)[-1] == pytest.approx(result["ends"][name], abs=STEPPED, rel=0)
        assert result["momentum"][name] == pytest.approx(np.full(601, 253.180438763306), rel=1e-11)
        other = result["runs"][name, "udwadia-kalaba"]
        assert np.abs(run.q - other.q).max() < 1e-12, (
            "the methods differ by rounding, not by the 1e-9 of the source"
        )
        assert np.abs(run.q - result["coarse"][name].q).max() > 1e-4
    for time, (theta, psi, *_) in result["REFERENCE"].items():
        assert result["ours"]["corrected"].q[10 * time, :2] == pytest.approx((theta, psi), abs=STEPPED, rel=0)
    assert np.ptp(result["energy"]["corrected"]) < 1e-10
    assert result["energy"]["as printed"].max() == pytest.approx(20.55651, abs=2e-5)
    assert np.ptp(result["energy"]["as printed"]) > 0.57


def test_omni_robot(ran):
    result = ran("23_omni_robot")
    for name, run in {"exact start": result["run"], "printed start": result["printed"]}.items():
        end = np.concatenate([result["MM"] * run.q[-1], result["MM"] * run.qd[-1]])
        assert end == pytest.approx(result["ENDS"][name], abs=1e-9, rel=0)
    assert result["qdd"][0] == pytest.approx(result["FIRST"], abs=1e-12)
    assert result["radius"] == pytest.approx(np.full(601, 193.3333333333), abs=1e-8)
    assert np.abs(result["others"]["the two methods"].q - result["run"].q).max() < 1e-11


def test_run_times_are_of_methods_that_agree(ran):
    """How long they take is for the picture; here they do the same."""
    found = ran("24_rosenberg_or_udwadia_kalaba")
    for name, (source, *measured) in found["found"].items():
        assert source == pytest.approx({"space-robot": 7.495, "omni-robot": 4.4945}[name], abs=1e-3)
        assert np.isfinite(measured).all()
        robot, rates = kp.example(name), np.array(found["STARTS"][name])
        one, other = (
            robot.forward_dynamics(robot.start(), rates, np.zeros(robot.nv), solver=x)
            for x in found["METHODS"]
        )
        assert one == pytest.approx(other, rel=1e-12, abs=1e-12)
