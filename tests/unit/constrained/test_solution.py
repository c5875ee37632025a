"""The one solve for accelerations, against the saddle-point system in floats; its power, stabilisation and slack."""

from __future__ import annotations

import numpy as np
import pytest

import closed
import kinpair as kp
from kinpair.constraints import quantities as constrained
from kinpair.constraints.rows.stacked import holonomic_rows
from kinpair.evaluation.quantities.request import Request
from kinpair.model.state import State

NAMES = ("four-bar", "slider-crank", "stewart")


def case(name: str, solver: str = "multipliers") -> tuple[kp.Mechanism, Request, State]:
    m = kp.example(name)
    q = m.assemble(closed.start(name))
    rng = np.random.default_rng(4)
    qd = m.velocities(q, guess=rng.normal(size=m.nv))
    request = m.closure.requests.choose("accelerations", q, 0.0, solver, {})
    return m, request, State(q, qd, tau=rng.normal(size=m.nv))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", ["multipliers", "udwadia-kalaba", "maggi", "screw"])
def test_accelerations_and_multipliers_are_those_of_the_saddle_point(name, solver):
    m, request, state = case(name, solver)
    result = constrained.solve(m.model, request, state, {})
    x = result.equations
    n, rows = m.nv, len(x.b)
    K = np.block([[x.M, -x.A.T], [x.A, np.zeros((rows, rows))]]).astype(float)
    expected = np.linalg.solve(K, np.concatenate([x.F, x.b]).astype(float))
    allowed = 1e-13 * np.linalg.cond(K) * np.abs(expected).max()
    assert np.abs(result.qdd - expected[:n]).max() <= allowed
    assert np.abs(result.lam - expected[n:]).max() <= allowed
    assert result.soundness[1] == 1.0


@pytest.mark.parametrize("name", NAMES)
def test_the_rows_used_are_the_rows_kept_of_all(name):
    m, request, state = case(name)
    x = constrained.equations(m.model, request, state, {})
    A, psi, b = m.closure.rows(state.q, state.qd)
    kept = list(request.kept)
    for own, every in ((x.A, A), (x.psi, psi), (x.b, b)):
        assert np.asarray(own, dtype=float) == pytest.approx(every[kept], abs=1e-12)
    assert np.asarray(x.every.A, dtype=float) == pytest.approx(A, abs=1e-12)


def test_power_is_that_of_a_drive():
    """A slide of 2 kg driven as t²: force 4 N at 2t m/s."""
    builder = kp.Builder("slide", gravity=(0, 0, 0)).link("block", mass=2.0)
    builder = builder.joint("rail", "prismatic", "ground", "block", axis="x").drive("motor", "rail", "t**2")
    m = kp.build(builder)
    request = m.closure.requests.choose("accelerations", [0.25], 0.5, "multipliers", {})
    result = constrained.solve(
        m.model, request, State(np.array([0.25]), np.array([1.0]), tau=np.zeros(1), time=0.5), {}
    )
    assert float(result.qdd[0]) == pytest.approx(2.0, abs=1e-14)
    assert float(result.power) == pytest.approx(4.0, abs=1e-13)


def test_stabilised_rows_pull_back_rates_and_positions():
    """A q̈ = b − 2αψ − α²φ for holonomic rows."""
    m, request, state = case("four-bar")
    off = State(state.q + 1e-3, state.qd + 1e-2, tau=state.tau)
    alpha = 20.0
    plain, pulled = (constrained.solve(m.model, request, off, {}, a) for a in (0.0, alpha))
    x = plain.equations
    numbers = holonomic_rows(m.closure.constraints)
    phi = np.array([x.phi[numbers.index(k)] for k in request.kept], dtype=float)
    expected = x.b - 2.0 * alpha * x.psi - alpha**2 * phi
    assert np.asarray(pulled.equations.A @ pulled.qdd, dtype=float) == pytest.approx(
        np.asarray(expected, dtype=float), rel=1e-10
    )


def test_slack_takes_redundant_rows_with_the_rest():
    """Every row of a planar four-bar kept, of which some say nothing: the same accelerations, to μ⁴."""
    m, request, state = case("four-bar")
    every = tuple(range(len(m.constraint_rows)))
    whole = Request(**{**{k: getattr(request, k) for k in request.__slots__}, "kept": every})
    result = constrained.solve(m.model, whole, state, {}, mu=[1e-6] * len(every))
    expected = constrained.solve(m.model, request, state, {})
    assert np.asarray(result.qdd, dtype=float) == pytest.approx(
        np.asarray(expected.qdd, dtype=float), rel=1e-8, abs=1e-8
    )
