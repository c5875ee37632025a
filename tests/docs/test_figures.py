"""Figures of the sources: the examples that draw them find the numbers known and write what the page shows."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
    found = ran("20_saha_planar_arm")
    assert found["off"] < 1e-12
    assert np.array(found["fallen"]) == pytest.approx(np.array(list(found["FALL"].values())), abs=1e-9, rel=0)
    assert found["fall"].balance.error < 1e-11


def test_stanford_arm(ran):
    found = ran("21_saha_stanford_arm")
    for name, (_, _, _, points) in found["SOURCES"].items():
        assert found["efforts"](name, found["TIMES"]) == pytest.approx(np.array(points), abs=1e-12, rel=0)
    assert found["fall"].q == pytest.approx(found["again"].q, abs=1e-9, rel=0)
    assert found["fall"].balance.error < 1e-10  # of 190 J


def test_space_robot_as_printed_keeps_its_momentum_and_not_its_energy(ran):
    found = ran("22_space_robot")
    for name, run in found["ours"].items():
        assert found["state"](run)[-1] == pytest.approx(found["ends"][name], abs=STEPPED, rel=0)
        assert found["momentum"][name] == pytest.approx(np.full(601, 253.180438763306), rel=1e-11)
        other = found["runs"][name, "udwadia-kalaba"]
        assert np.abs(run.q - other.q).max() < 1e-12, (
            "the methods differ by rounding, not by the 1e-9 of the source"
        )
        assert np.abs(run.q - found["coarse"][name].q).max() > 1e-4
    for time, (theta, psi, *_) in found["REFERENCE"].items():
        assert found["ours"]["corrected"].q[10 * time, :2] == pytest.approx((theta, psi), abs=STEPPED, rel=0)
    assert np.ptp(found["energy"]["corrected"]) < 1e-10
    assert found["energy"]["as printed"].max() == pytest.approx(20.55651, abs=2e-5)
    assert np.ptp(found["energy"]["as printed"]) > 0.57


def test_omni_robot(ran):
    found = ran("23_omni_robot")
    for name, run in {"exact start": found["run"], "printed start": found["printed"]}.items():
        end = np.concatenate([found["MM"] * run.q[-1], found["MM"] * run.qd[-1]])
        assert end == pytest.approx(found["ENDS"][name], abs=1e-9, rel=0)
    assert found["qdd"][0] == pytest.approx(found["FIRST"], abs=1e-12)
    assert found["radius"] == pytest.approx(np.full(601, 193.3333333333), abs=1e-8)
    assert np.abs(found["others"]["the two methods"].q - found["run"].q).max() < 1e-11


def test_neither_way_of_measuring_finds_the_factor_of_the_source(ran):
    for source, *measured in ran("24_rosenberg_or_udwadia_kalaba")["found"].values():
        assert max(measured) < source
