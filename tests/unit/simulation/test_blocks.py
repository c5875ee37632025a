"""Samples part by part are the samples, and what is computed of them does not depend on the parts."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.simulation import sample_memory as module
from kinpair.simulation.sample_memory import blocks, largest

RNG = np.random.default_rng(11)


@pytest.mark.parametrize(("shape", "axis"), [((50,), -1), ((3, 50), -1), ((50, 4), -2), ((3, 50, 4), -2)])
def test_parts_are_the_whole(monkeypatch, shape, axis):
    monkeypatch.setattr(module, "NUMBERS", 7)
    x = RNG.normal(size=shape)
    parts = [part for (part,) in blocks(x, axis=axis)]
    assert len(parts) > 5
    assert np.array_equal(np.concatenate(parts, axis=axis), x)


def test_the_largest_number_leaves_nan_out():
    assert largest(np.array([np.nan, 2.0, -3.0])) == 2.0
    assert largest(np.array([np.nan, -3.0])) == largest(np.zeros(0)) == 0.0


def test_a_file_read_in_parts_tells_the_same(monkeypatch, tmp_path):
    bar = kp.example("four-bar")
    q = bar.start()
    run = kp.simulate(bar, q, bar.velocities(q, {"crank": 1.0}), duration=1.0, save=tmp_path / "run.h5")
    whole = run.summary
    monkeypatch.setattr(module, "NUMBERS", 10)
    again = kp.load_run(tmp_path / "run.h5")
    assert again.summary == whole
    assert np.array_equal(again.q, run.q)  # what was given back is read again
