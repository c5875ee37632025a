"""Runs in pieces: what they yield is complete, and where they stop they can go on."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import kinpair as kp
from kinpair.compiler.time_loop import AdaptiveLoop, FixedLoop
from kinpair.compiler.time_loop_inputs import Inputs
from kinpair.compiler.time_loop_standing import Standing
from kinpair.simulation import runs
from kinpair.simulation.dynamics import Dynamics
from kinpair.simulation.methods.integrators import INTEGRATORS, flow_of
from kinpair.simulation.runs import adaptive_run, fixed_run, joined
from kinpair.simulation.schedule import fixed_plan

START = np.array([0.3, 0.2, 0.1, 0.0])


@pytest.fixture(scope="module")
def dynamics() -> Dynamics:
    return Dynamics(kp.example("double-pendulum").model, driven=False)


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch):
    monkeypatch.setattr(runs, "PAUSE", 1e-5)
    monkeypatch.setattr(runs, "FIRST_STEPS", 3)


@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler", "implicit-midpoint", "variational"])
@pytest.mark.parametrize("output", [None, 0.03, 0.5, [0.05, 0.11, 0.12, 0.4]])
@pytest.mark.parametrize("whole", [True, False])
def test_a_fixed_run_goes_on_from_any_piece_to_the_last_bit(dynamics, method, output, whole):
    integrator = INTEGRATORS[method]
    loop = FixedLoop(flow_of(dynamics, integrator), integrator.tableau)
    plan = fixed_plan("arm", 0.5, 0.01, output, 0.0)
    options = {"t0": 0.0, "hold": 1, "inputs": Inputs(), "whole": whole}
    pieces = list(fixed_run(loop, START, plan, **options))
    Y, times = joined([p.Y for p in pieces]), np.concatenate([p.times for p in pieces])
    assert len(pieces) > 3
    assert times == pytest.approx(plan.sampled * 0.01)
    for k in (0, 1, len(pieces) - 2):
        cut = list(islice(fixed_run(loop, START, plan, **options), k + 1))
        rest = list(fixed_run(loop, cut[-1].at, plan, step=cut[-1].steps, **options))
        if cut[-1].steps == 0:
            rest = rest[1:]  # nothing was done yet: the start is looked at again
        assert np.array_equal(np.concatenate([p.Y for p in (*cut, *rest)], axis=-2), Y)


def test_an_adaptive_run_goes_on_from_any_piece_to_the_last_bit(dynamics):
    integrator = INTEGRATORS["dop853"]
    assert integrator.tableau is not None
    loop = AdaptiveLoop(flow_of(dynamics, integrator), integrator.tableau)
    wanted = np.linspace(0, 3, 31)
    options = {"stop": 3.0, "inputs": Inputs(), "rtol": 1e-10, "atol": np.full(4, 1e-10)}
    kept = []
    for piece in adaptive_run(loop, loop.begin(START, 0.0, wanted), wanted, **options):
        kept.append((piece.at.memory.copy(), piece.at.Y.copy(), piece.at.W.copy()))
    assert len(kept) > 3
    end = kept[-1]
    for memory, Y, W in kept[1:-1]:
        at = Standing(memory.copy(), Y.copy(), W.copy())
        pieces = list(adaptive_run(loop, at, wanted, **options))
        assert pieces[-1].why == "done"
        assert np.array_equal(at.Y, end[1])
        assert np.array_equal(at.memory, end[0])
