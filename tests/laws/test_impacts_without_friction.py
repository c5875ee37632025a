"""Impacts have no friction: a run reports the joints with friction from load that they strike."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

GUIDE = {"law": "guide", "mu": 0.3, "length": 0.5, "width": 0.4}
BEARING = {"law": "bearing", "mu": 0.1, "radius": 0.02, "thrust_radius": 0.0, "length": 0.1}
FALL = 0.2
LANDS = np.sqrt(2.0 * FALL / 9.81)


def block(first: str = "x") -> kp.Mechanism:
    """A block that slides along x on a guide and falls along z on a stop, and a pendulum that nothing strikes."""
    second = "z" if first == "x" else "x"
    joints = {"x": {"axis": "x", "friction": GUIDE}, "z": {"axis": "z", "lower": 0.0, "start": FALL}}
    b = kp.Builder("block").link("carriage").link("block", mass=2.0, inertia=(0.01, 0.01, 0.01))
    b.joint(first, "prismatic", "ground", "carriage", **joints[first])
    b.joint(second, "prismatic", "carriage", "block", **joints[second])
    b.link("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.01, 0.01, 0.01))
    return kp.build(b.joint("pivot", "revolute", "ground", "bob", axis="y", friction=BEARING))


def dropped(m: kp.Mechanism, limits: object = "stop", **options: object) -> kp.Result:
    return kp.simulate(m, m.start(), {"x": 1.0}, duration=0.25, limits=limits, **options)


@pytest.mark.parametrize("first", ["x", "z"])
def test_a_block_that_lands_on_a_stop_reports_the_friction_left_out(first):
    with pytest.warns(kp.FrictionWarning) as caught:
        run = dropped(block(first))
    words = f"friction of joint 'x' is left out of the impact 'z at its lower limit' at t = {LANDS:.6g} s"
    assert [str(x.message) for x in caught] == [
        f"block: {words}: impacts have no friction, so rates behind it may be too high; limits of the kind 'spring' "
        "have friction in every contact"
    ]
    assert caught[0].filename == __file__
    assert run.status.ok
    assert str(run.status) == f"Reached t = 0.25 s; {words}"
    assert words in run.summary


def test_a_file_of_a_run_reports_the_friction_left_out(tmp_path):
    with pytest.warns(kp.FrictionWarning):
        run = dropped(block(), save=tmp_path / "run.h5")
    assert "friction of joint 'x' is left out" in str(kp.load_run(run.save(tmp_path / "copy.h5")).status)


def test_a_run_that_is_resumed_reports_impacts_before_the_interruption(tmp_path):
    def interrupt(part: float) -> None:
        if part > 0.9:
            raise KeyboardInterrupt

    with pytest.warns(kp.FrictionWarning):
        stopped = dropped(block(), save=tmp_path / "run.h5", output=0.001, progress=interrupt)
    assert stopped.status.name == "interrupted"
    run = kp.resume(tmp_path / "run.h5")
    assert str(run.status).startswith("Reached t = 0.25 s; friction of joint 'x' is left out")
    assert str(run.status).endswith(f"at t = {LANDS:.6g} s")


def test_springs_at_stops_rub_as_coulombs_impulse_does():
    """The impulse of the guide is that of the weight and of the change of the fall, whatever the rebound."""
    run = dropped(block(), kp.Limits("spring", stiffness=2e5, damping=900.0))
    impulse = run.qd[-1, 1] + 9.81 * 0.25  # for a unit of mass
    assert run.qd[-1, 0] == pytest.approx(1.0 - 0.3 * impulse, abs=1e-8)
    assert run.qd[-1, 0] < 0.45
    assert str(run.status) == "Reached t = 0.25 s"


def test_a_constraint_that_begins_reports_the_friction_left_out():
    m = block()
    lock = kp.Event(
        "lock", lambda t, q, qd: q[1] - 0.1, -1, kp.Change(add=[kp.constraint.drive("hold", "z", "0.1")])
    )
    with pytest.warns(kp.FrictionWarning, match="left out of the impact 'lock'"):
        run = kp.simulate(m, m.start(), {"x": 1.0}, duration=0.2, events=[lock])
    assert "friction of joint 'x' is left out of the impact 'lock' at t = 0.142784 s" in run.summary


def test_impacts_far_from_friction_are_not_reported():
    """The joint with friction carries nothing of the impulse."""
    b = kp.Builder("apart").link("bob", mass=1.0, com=(0, 0, -0.5), inertia=(0.01, 0.01, 0.01))
    b.joint("pivot", "revolute", "ground", "bob", axis="y", friction=BEARING)
    b.link("ball", mass=1.0).joint("drop", "prismatic", "ground", "ball", axis="z", lower=0.0)
    m = kp.build(b)
    run = kp.simulate(m, {"drop": 0.1}, {"pivot": 1.0}, duration=0.3, limits="bounce")
    assert len(run.events) > 1
    assert "left out" not in run.summary


def test_a_run_without_passive_forces_has_no_friction_to_leave_out():
    m = block()
    run = kp.simulate(m, m.start(), {"x": 1.0}, duration=0.25, limits="stop", passive=False)
    assert len(run.events) == 1
    assert str(run.status) == "Reached t = 0.25 s"
