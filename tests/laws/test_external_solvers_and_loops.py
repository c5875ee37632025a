"""External solvers: `alpha` acts within their steps, singular positions that end them are named, and Jacobians of large
mechanisms are made of differences."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from endings import ended, stopped
from kinpair.simulation.steppers import sundials

METHODS = ["cvode", "ida"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("hold", ["project", "baumgarte"])
def test_rows_pull_at_the_rate_that_is_given(method, hold):
    """Errors of the steps feed φ at some rate ε: it grows to ε t at least without a pull, and stays at ε/α with one,
    α t = 100 times less; a tenth of that is asked for, as ε is not constant."""
    linkage = kp.example("four-bar")
    q = linkage.assemble([0.3, 2.2, 2.2], fixed=["crank"])
    qd = linkage.velocities(q, {"crank": 1.0})
    options = {"duration": 5.0, "integrator": method, "hold": hold, "rtol": 1e-5, "atol": 1e-5}
    free, pulled = (ended(linkage, q, qd, alpha=x, **options).residual.worst[0] for x in (0.0, 20.0))
    assert free > 10.0 * pulled


def parallelogram() -> kp.Mechanism:
    rod = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    builder = kp.Builder("parallelogram", gravity=(0, 0, 0)).link("crank", com=[0.5, 0, 0], **rod)
    builder = builder.link("coupler", com=[1, 0, 0], **rod).link("rocker", com=[0.5, 0, 0], **rod)
    builder = builder.joint("a", "revolute", "ground", "crank", axis="z")
    builder = builder.joint("b", "revolute", "crank", "coupler", axis="z", xyz=[1, 0, 0])
    builder = builder.joint("c", "revolute", "ground", "rocker", axis="z", xyz=[2, 0, 0])
    return kp.build(builder.loop("d", "revolute", "coupler", "rocker", xyz=[2, 0, 0], child_xyz=[1, 0, 0]))


@pytest.mark.parametrize("output", [0.25, 0.01])
def test_a_singular_position_that_ida_does_not_reach_is_named(output):
    """The parallelogram is flat after 1/2.3 s; with these tolerances the steps end shortly before."""
    flat, q = parallelogram(), np.array([-1.0, 1.0, -1.0])
    run = stopped(
        flat,
        q,
        flat.velocities(q, {"a": 2.3}),
        duration=1.0,
        integrator="ida",
        rtol=1e-12,
        atol=1e-12,
        output=output,
    )
    assert not run.status.ok
    assert f"at t = {1 / 2.3:.6g} s the mechanism is in a singular position" in run.status.message


@pytest.mark.parametrize("method", METHODS)
def test_a_start_in_a_singular_position_is_named(method):
    flat, q = parallelogram(), np.zeros(3)
    run = stopped(flat, q, flat.velocities(q, {"a": 1.0}), duration=1.0, integrator=method)
    assert not run.status.ok
    assert "at t = 0 s the mechanism is in a singular position" in run.status.message


ADVICE = [
    ({"integrator": "rk4", "dt": 1 / 64}, "steps of another length or hold='baumgarte' may pass"),
    ({"integrator": "rk4", "dt": 1 / 64, "hold": "baumgarte"}, "steps of another length may pass"),
    ({"integrator": "generalised-alpha", "dt": 1 / 64}, "steps of another length may pass"),
    ({"integrator": "cvode"}, "other tolerances may pass"),
    ({"integrator": "ida", "hold": "baumgarte"}, "other tolerances may pass"),
]


@pytest.mark.parametrize(("options", "advice"), ADVICE, ids=str)
def test_nobody_is_told_to_take_what_is_in_force(options, advice):
    flat, q = parallelogram(), np.zeros(3)
    run = stopped(flat, q, flat.velocities(q, {"a": 1.0}), duration=1.0, **options)
    assert f"): {advice}, a motion that keeps away is better" in run.status.message


@pytest.mark.parametrize("name", ["gear-train", "four-bar", "dc-actuator"])
def test_mechanisms_too_large_for_a_compiled_jacobian_move_as_with_one(monkeypatch, name):
    """Phases of friction, work and losses are entries of the state that differences leave unchanged."""
    m = kp.example(name)
    q, qd = m.start(), np.zeros(m.nv)
    options = {"duration": 0.05, "output": 0.01, "integrator": "cvode"}
    compiled = kp.simulate(m, q, qd, **options)
    monkeypatch.setattr(sundials, "LARGEST", 0)
    differenced = kp.simulate(m, q, qd, **options)
    assert compiled.status.ok
    assert differenced.status.ok
    assert [x.name for x in compiled.events] == [x.name for x in differenced.events]
    assert differenced.q == pytest.approx(compiled.q, rel=1e-7, abs=1e-8)
    assert differenced.qd == pytest.approx(compiled.qd, rel=1e-7, abs=1e-7)
