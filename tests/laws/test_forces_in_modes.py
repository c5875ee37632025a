"""Accelerations and reactions are those of the constraints, limits and springs in force at each sample."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp
from kinpair.description.constraint_parts import Drive

G = 9.81


@pytest.fixture(scope="module")
def ball() -> kp.Mechanism:
    builder = kp.Builder("ball").link("ball", mass=2.0)
    return kp.build(builder.joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0))


def links(**keys) -> kp.Mechanism:
    """Two level rods in the x-z plane, 1 kg and 0.5 kg."""
    builder = kp.Builder("arm")
    for name, parent, mass, at in (("j1", "ground", 1.0, 0.0), ("j2", "j1", 0.5, 1.0)):
        link = {"mass": mass, "com": [0.5, 0, 0], "inertia": [0.0, mass / 12, mass / 12]}
        where = {"axis": "y", "xyz": [at, 0, 0], **keys}
        builder = builder.link(f"l{name}", **link).joint(
            name, "revolute", parent if parent == "ground" else f"l{parent}", f"l{name}", **where
        )
    return kp.build(builder)


def both(run, path) -> list[kp.Result]:
    """A run, and the same from a file."""
    run.save(path)
    return [run, kp.load_run(path)]


def test_a_ball_at_rest_on_a_stop_does_not_accelerate(ball, tmp_path):
    run = kp.simulate(ball, [0.0], [0.0], duration=0.1, limits="stop", output=0.05)
    for each in both(run, tmp_path / "run.h5"):
        assert each.qdd == pytest.approx(0.0, abs=1e-12)
        assert each.reactions["drop"][:, 5] == pytest.approx(2.0 * G)


@pytest.mark.parametrize("way", ["stop", "spring"])
def test_an_arm_at_rest_on_its_stops_has_static_reactions(way):
    arm = links(upper=0.0)
    run = kp.simulate(arm, [0.0, 0.0], [0.0, 0.0], duration=2.0, limits=way, output=0.1)
    near = 1e-9 if way == "stop" else 2e-3  # the springs come to rest, and are bent a little then
    wrench = run.reactions["j1"][-1]
    assert np.abs(run.qdd[-1]).max() < near
    assert wrench[3:] == pytest.approx([0.0, 0.0, 1.5 * G], abs=20 * near)
    assert wrench[1] == pytest.approx(-(1.0 * 0.5 + 0.5 * 1.5) * G, abs=20 * near)


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4", "dt": 1e-3}], ids=["adaptive", "fixed"])
def test_a_joint_that_an_event_locks_stays_locked_in_accelerations(options, tmp_path):
    arm = links()
    lock = kp.Event("lock", lambda t, q, qd: q[1], action=kp.Change(add=[Drive("lock", "j2", "0.0")]))
    arguments = {"duration": 0.6, "output": 1e-3, "events": [lock], **options}
    run = kp.simulate(arm, [0.3, 0.5], [0.0, -2.0], **arguments)
    saved = kp.simulate(arm, [0.3, 0.5], [0.0, -2.0], **arguments, save=tmp_path / "saved.h5")
    when = run.events[0].time
    assert 0.1 < when < 0.5
    slope = (run.qd[2:] - run.qd[:-2]) / 2e-3
    away = np.abs(run.time[1:-1] - when) > 1.1e-3
    for each in (*both(run, tmp_path / "run.h5"), saved, kp.load_run(tmp_path / "saved.h5")):
        assert np.abs(each.qdd[each.time > when, 1]).max() < 1e-9
        assert (
            np.abs((each.qdd[1:-1] - slope)[away]).max() < 2e-3
        )  # dt²/6 of the third derivative of the rates
        np.testing.assert_allclose(each.reactions["j1"], run.reactions["j1"], atol=1e-9)


def test_a_resumed_run_knows_its_modes(ball, tmp_path):
    file = tmp_path / "run.h5"
    options = {"duration": 1.0, "limits": "stop", "integrator": "rk4", "dt": 1e-3}
    whole = kp.simulate(ball, [0.5], [0.0], **options)

    def stop(done: float) -> None:
        if done > 0.6:
            raise KeyboardInterrupt

    assert kp.simulate(ball, [0.5], [0.0], **options, save=file, progress=stop).status.name == "interrupted"
    resumed = kp.resume(file)
    assert whole.qdd[-1] == pytest.approx(0.0, abs=1e-12)
    np.testing.assert_array_equal(resumed.history.number, whole.history.number)
    np.testing.assert_allclose(resumed.qdd, whole.qdd, atol=1e-12)


def test_reactions_of_closed_mechanisms_are_those_of_every_sample():
    linkage = kp.example("four-bar")
    q = linkage.assemble([0.3, 2.2, 2.2], fixed=["crank"])
    run = kp.simulate(linkage, q, linkage.velocities(q, {"crank": 1.0}), duration=0.5, output=0.1)
    one = linkage.reactions(run.q[3], run.qd[3], run.qdd[3], tau=run.tau[3], time=run.time[3])
    assert run.reactions.keys() == one.keys()
    for name, wrench in one.items():
        np.testing.assert_allclose(run.reactions[name][3], wrench, atol=1e-9)
