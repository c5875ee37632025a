"""Events that watch forces: of constraints and in joints; and forces of constraints at the samples of a run."""

from __future__ import annotations

import numpy as np
import pytest

import kinpair as kp

R = 0.5


def bead() -> kp.Mechanism:
    """A bead that slides on a dome: it leaves where it has come down by a third of the radius."""
    return kp.build(
        kp.Builder("bead")
        .link("carriage")
        .link("bead", mass=0.3)
        .joint("x", "prismatic", "ground", "carriage", axis="x")
        .joint("z", "prismatic", "carriage", "bead", axis="z")
        .surface("dome", "bead", formula=f"(x**2 + z**2 - {R}**2)/(2*{R})")
    )


def released(m):
    q = m.assemble([0.01, R], fixed=["x"])
    return q, m.velocities(q, {"x": 0.0})


@pytest.mark.parametrize(
    "options",
    [{}, {"integrator": "rk4", "dt": 1e-3}, {"integrator": "cvode", "rtol": 1e-10, "atol": 1e-10}],
    ids=["dop853", "rk4", "cvode"],
)
def test_a_bead_leaves_a_dome_where_it_no_longer_presses(options):
    m = bead()
    q, qd = released(m)
    leaves = kp.Event(
        "leaves", lambda time, q, qd, forces: forces["dome"], direction=-1, action=kp.Change(remove=["dome"])
    )
    run = kp.simulate(m, q, qd, duration=1.6, events=[leaves], **options)
    assert run.status.ok
    (event,) = run.events
    assert event.q[1] == pytest.approx(2.0 / 3.0 * q[1], abs=2e-6)  # ½v² = g(z₀ − z), v² = g z
    after = run.time > event.time
    assert (np.hypot(*run.q[after].T) > R - 1e-9).all()
    assert (run.q[-1, 0] - event.q[0]) == pytest.approx(
        event.qd[0] * (1.6 - event.time), abs=1e-6
    )  # it flies


def test_a_force_of_a_constraint_is_that_of_the_mechanism_and_nothing_where_there_is_none():
    m = bead()
    q, qd = released(m)
    leaves = kp.Event(
        "leaves", lambda time, q, qd, forces: forces["dome"], direction=-1, action=kp.Change(remove=["dome"])
    )
    run = kp.simulate(m, q, qd, duration=1.6, events=[leaves], output=0.1)
    force, held = run.constraint_forces["dome"], run.time <= run.events[0].time
    assert np.isnan(force[~held]).all()
    states = zip(run.q[held], run.qd[held], strict=True)
    expected = [m.constraint_forces(*x, np.zeros(2)).multipliers["dome"] for x in states]
    assert force[held] == pytest.approx(np.array(expected), abs=1e-9)
    assert (force[held] > 0.0).all()


def test_a_constraint_that_an_event_begins_is_among_the_forces():
    arm = kp.build(
        kp.Builder("pendulum")
        .link("rod", mass=1.0, com=[0, 0, -0.5], inertia=[0.1, 0.1, 0.1])
        .joint("hinge", "revolute", "ground", "rod", axis="y")
    )
    lock = kp.constraint.custom("lock", phi="hinge")
    caught = kp.Event("caught", lambda time, q, qd: q[0], direction=-1, action=kp.Change(add=[lock]))
    breaks = kp.Event("breaks", lambda time, q, qd, forces: forces["lock"] - 1.0)
    run = kp.simulate(
        arm,
        [0.5],
        [0.0],
        duration=2.0,
        events=[caught, breaks],
        torque=lambda time, q, qd: [-time],
        output=0.1,
    )
    names = [x.name for x in run.events]
    assert names == ["caught", "breaks"]
    assert run.events[1].time == pytest.approx(1.0, abs=1e-9)  # the lock takes up the torque
    force = run.constraint_forces["lock"]
    locked = run.time > run.events[0].time
    assert np.isnan(force[~locked]).all()
    assert force[locked] == pytest.approx(run.time[locked], abs=1e-9)


@pytest.mark.parametrize("name", ["double-pendulum", "four-bar"])
def test_a_reaction_is_that_of_the_mechanism(name):
    m = kp.example(name)
    q, joint = m.start(), m.model.joint_names[1]
    q = q if m.constraints else np.array([1.0, 0.5])
    first = kp.simulate(m, q, np.zeros(m.nv), duration=0.4, rtol=1e-10, atol=1e-10)
    level = float(np.linalg.norm(first.reactions[joint][len(first.time) // 2][3:]))

    def pulls(time, q, qd, forces):
        f = forces[joint][3:]
        return f @ f - level**2

    run = kp.simulate(
        m, q, np.zeros(m.nv), duration=0.4, rtol=1e-10, atol=1e-10, events=[kp.Event("pulls", pulls)]
    )
    assert run.events
    for event in run.events:
        qdd = m.forward_dynamics(event.q, event.qd, np.zeros(m.nv))
        more = {"tau": np.zeros(m.nv)} if m.constraints else {}
        force = m.reactions(event.q, event.qd, qdd, **more)[joint][3:]
        assert np.linalg.norm(force) == pytest.approx(level, rel=1e-7)


def test_what_cannot_be_watched_is_named():
    m = bead()
    q, qd = released(m)

    def refusal(function):
        with pytest.raises(kp.InputError) as error:
            kp.simulate(m, q, qd, duration=0.1, events=[kp.Event("e", function)])
        return str(error.value)

    assert refusal(lambda time, q, qd, forces: forces["dom"]) == (
        "bead: event 'e' watches the force 'dom'; did you mean 'dome'? Rows of constraints and joints: dome, x, z"
    )
    assert refusal(lambda time, q, qd, forces: 1.0 if forces["dome"] > 0 else -1.0).startswith(
        "bead: event 'e' watches forces, and its function cannot be recorded: TraceError: "
    )


def test_an_event_that_is_called_says_why():
    arm = kp.example("double-pendulum")
    event = kp.Event("up", lambda time, q, qd: 1.0 if q[0] > 0.1 else -1.0)
    with pytest.warns(kp.RecordingWarning, match="Event 'up' is called from Python after each step"):
        run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.1, events=[event])
    assert "Event 'up' is called from Python after each step, which is slow: TraceError" in run.summary
    assert "test_force_events.py" in run.summary


def test_a_rolling_contact_that_pulls_is_told():
    """A disk that rolls with a heavy mass on its rim, fast enough to jump."""
    m = kp.build(
        kp.Builder("disk")
        .link("frame")
        .link("carriage")
        .link("wheel", mass=1.0, com=[0.08, 0, 0], inertia=[0.001, 0.001, 0.001])
        .joint("x", "prismatic", "ground", "frame", axis="x")
        .joint("z", "prismatic", "frame", "carriage", axis="z")
        .joint("turn", "revolute", "carriage", "wheel", axis="y")
        .rolling("floor", "wheel", "disk", radius=0.1, axis="y")
    )
    q = m.assemble([0.0, 0.1, 0.0])
    slow, fast = (kp.simulate(m, q, m.velocities(q, {"turn": w}), duration=1.0) for w in (1.0, 30.0))
    assert "pulls" not in slow.summary
    assert (slow.constraint_forces["floor.height"] > 0.0).all()
    least = fast.constraint_forces["floor.height"].min()
    first = fast.time[np.argmax(fast.constraint_forces["floor.height"] < 0.0)]
    assert least < 0.0
    assert (
        f"The rolling contact 'floor' pulls, first at t = {first:.3g} s, by up to {-least:.3g} N: a real body "
        "would leave the plane." in fast.summary
    )
