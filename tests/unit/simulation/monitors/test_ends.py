"""Runs that meet a singular position, or go nowhere: what is kept, what is said, and what is crossed."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.simulation.monitors import runaways


def parallelogram() -> kp.Mechanism:
    rod = {"mass": 1.0, "inertia": [0.01, 0.01, 0.01, 0, 0, 0]}
    builder = kp.Builder("parallelogram", gravity=(0, 0, 0)).link("crank", com=[0.5, 0, 0], **rod)
    builder = builder.link("coupler", com=[1, 0, 0], **rod).link("rocker", com=[0.5, 0, 0], **rod)
    builder = builder.joint("a", "revolute", "ground", "crank", axis="z")
    builder = builder.joint("b", "revolute", "crank", "coupler", axis="z", xyz=[1, 0, 0])
    builder = builder.joint("c", "revolute", "ground", "rocker", axis="z", xyz=[2, 0, 0])
    return kp.build(builder.loop("d", "revolute", "coupler", "rocker", xyz=[2, 0, 0], child_xyz=[1, 0, 0]))


@pytest.mark.parametrize("method", ["rk4", "generalised-alpha"])
def test_a_singular_position_hit_exactly_is_named_and_nothing_behind_it_kept(method, tmp_path):
    flat = parallelogram()
    q = np.array([-0.5, 0.5, -0.5])
    qd = flat.velocities(q, {"a": 1.0})
    wish = {"duration": 1.0, "integrator": method, "dt": 1 / 64}
    run = kp.simulate(flat, q, qd, **wish)
    assert not run.status.ok
    assert "at t = 0.5 s the mechanism is in a singular position" in run.status.message
    assert run.singular.time == pytest.approx(0.5, abs=1e-6)
    assert run.time[-1] <= 0.5
    assert max(run.residual.worst) < 1e-12
    stored = kp.simulate(flat, q, qd, save=tmp_path / "run.h5", **wish)
    assert (stored.time == run.time).all()
    assert stored.singular == run.singular
    assert "at t = 0.5 s the mechanism is in a singular position" in stored.status.message


@pytest.mark.parametrize(("name", "when"), [("stewart", 0.393133), ("delta", 0.320751)])
def test_adaptive_steps_cross_a_position_at_which_no_error_estimate_can_pass(name, when):
    """The reference: fixed steps of two lengths that agree to 3e-10."""
    mechanism = kp.example(name)
    q, qd = mechanism.start(), np.zeros(mechanism.nv)
    fixed = kp.simulate(mechanism, q, qd, duration=0.6, integrator="rk4", dt=5e-4, output=0.6)
    run = kp.simulate(mechanism, q, qd, duration=0.6)
    assert run.status.ok
    assert run.steps < 200
    assert np.abs(run.q[-1] - fixed.q[-1]).max() < 1e-8
    assert f"over singular positions at t = {when} s, each in one step (" in run.status.message


def test_a_motion_that_runs_away_ends(monkeypatch):
    class Wild:
        sample_time = 0.05

        def __call__(self, time, q, qd):
            return -200.0 * q - 20.0 * qd

    arm = kp.example("double-pendulum")
    far = [kp.Event("far", lambda time, q, qd: q[0] - 1e9)]
    for method, events in (("dop853", None), ("dop853", far), ("cvode", None)):
        if method == "cvode":
            monkeypatch.setattr(runaways, "GROWN", 1e3)  # its steps take their time
        run = kp.simulate(
            arm, [0.3, 0.2], [0.0, 0.0], duration=2.0, torque=Wild(), events=events, integrator=method
        )
        assert run.status.name == "runaway"
        assert "look at the torque, its gains and its sample time" in run.status.message
        assert run.steps < 5_000_000


def test_stiff_motions_are_not_taken_for_runaways():
    def stiff(time, q, qd):
        return -2e5 * q - 2e4 * qd

    run = kp.simulate(kp.example("double-pendulum"), [0.3, 0.2], [0.0, 0.0], duration=3.0, torque=stiff)
    assert run.status.ok
    assert run.steps > 100_000  # the pace was looked at


def rubbing() -> kp.Mechanism:
    builder = kp.Builder("rubbing").link("a", mass=1.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.1])
    rough = {"friction": 0.3, "damping": 0.2, "lower": -2.0, "upper": 2.0}
    return kp.build(builder.joint("h", "revolute", "ground", "a", axis="y", **rough).description())


@pytest.mark.parametrize(
    "wish", [{}, {"limits": "stop"}, {"events": [kp.Event("far", lambda time, q, qd: q[0] - 9.0)]}]
)
def test_dry_friction_holds_a_run_at_rest_to_its_end(wish):
    """Another road to the position in which it sticks: steps of equal length, whose events are found within them."""
    run = kp.simulate(rubbing(), [1.0], [0.0], duration=5.0, **wish)
    assert run.status.ok
    assert run.steps + run.rejected < 3_000
    assert run.qd[-1, 0] == 0.0
    for method in ("rk4", "semi-implicit-euler"):
        passed = kp.simulate(rubbing(), [1.0], [0.0], duration=5.0, integrator=method, dt=1e-3, **wish)
        assert passed.status.ok
        assert passed.q[-1, 0] == pytest.approx(run.q[-1, 0], abs=1e-8 if method == "rk4" else 5e-3)


def test_dry_friction_that_is_not_at_rest_ends_nothing(monkeypatch):
    monkeypatch.setattr(runaways.Runaway.__init__, "__defaults__", (1,))  # a look after each chunk
    monkeypatch.setattr(runaways, "LEFT", 0.0)
    assert kp.simulate(rubbing(), [1.0], [0.0], duration=3.0).status.ok
