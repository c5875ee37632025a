"""Events: found where they are, each once, in the direction asked for; what they do, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ellipk

import kinpair as kp
from endings import failed, stopped
from kinpair.description.constraint_parts import Drive

WAYS = [
    {},
    {"integrator": "dopri5"},
    {"integrator": "rk4", "dt": 0.01},
    {"integrator": "semi-implicit-euler"},
]


@pytest.fixture(scope="module")
def stone() -> kp.Mechanism:
    builder = kp.Builder("stone", gravity=(0, 0, -10.0)).link("stone", mass=1.0)
    return kp.build(builder.joint("fall", "prismatic", "ground", "stone", axis="z"))


@pytest.fixture(scope="module")
def pendulum() -> kp.Mechanism:
    builder = kp.Builder("pendulum").link("bob", mass=1.0, com=[0, 0, -1.0])
    return kp.build(builder.joint("pin", "revolute", "ground", "bob", axis="y", lower=-1.0, upper=1.0))


def height(time, q, qd):
    return q[0] - 0.55


def called(time, q, qd):
    return float(q[0]) - 0.55


called.traceable = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [height, called])
@pytest.mark.parametrize("way", WAYS[:3], ids=str)
def test_a_run_ends_at_the_event_that_stops_it(stone, way, function):
    run = kp.simulate(
        stone, [1.0], [0.0], duration=1.0, events=[kp.Event("low", function, action="stop")], **way
    )
    assert run.status.name == "event"
    assert run.status.ok
    assert run.status.time == pytest.approx(0.3, abs=1e-12)
    assert run.status.message == "Stopped at t = 0.3 s by event 'low'"
    assert run.time[-1] == run.status.time
    assert run.q[-1, 0] == pytest.approx(0.55, abs=1e-12)
    assert run.qd[-1, 0] == pytest.approx(-3.0, abs=1e-12)
    assert "1 event: 'low'" in run.summary


@pytest.mark.parametrize("direction", [-1, 0, 1])
def test_crossings_are_found_once_and_in_their_direction(pendulum, direction):
    quarter = float(ellipk(np.sin(0.25) ** 2)) / np.sqrt(9.81)
    event = kp.Event("low", lambda time, q, qd: q[0], direction)
    run = kp.simulate(pendulum, [0.5], [0.0], duration=9.9 * quarter, events=[event], rtol=1e-12, atol=1e-12)
    every = quarter * np.arange(1, 10, 2)
    expected = {-1: every[::2], 0: every, 1: every[1::2]}[direction]
    assert np.abs([x.time for x in run.events] - expected).max() < 1e-10
    assert run.status.name == "done"
    assert len(run.time) == 1001


def test_samples_are_those_of_a_run_without_events(pendulum):
    event = kp.Event("low", lambda time, q, qd: q[0])
    fixed = {"integrator": "rk4", "dt": 0.01, "output": 0.05}
    plain = kp.simulate(pendulum, [0.5], [0.0], duration=3.0, **fixed)
    watched = kp.simulate(pendulum, [0.5], [0.0], duration=3.0, events=[event], **fixed)
    assert len(watched.events) == 3
    assert (watched.time == plain.time).all()
    assert np.abs(watched.q - plain.q).max() < 1e-8  # steps are cut at the events


def test_an_action_changes_the_state(stone):
    def up(time, q, qd):
        return kp.Change(qd=-qd)

    run = kp.simulate(stone, [1.0], [0.0], duration=0.6, events=[kp.Event("floor", height, -1, up)])
    assert [x.time for x in run.events] == pytest.approx([0.3], abs=1e-12)
    assert run.q[-1, 0] == pytest.approx(1.0, abs=1e-10)


def test_a_constraint_can_end(stone):
    fixed = stone.with_constraints(kp.constraint.drive("crane", "fall", lambda t: 1.0 + 0.0 * t))
    let_go = kp.Event("go", lambda time, q, qd: time - 0.5, action=kp.Change(remove=["crane"]))
    run = kp.simulate(fixed, [1.0], [0.0], duration=1.0, events=[let_go])
    assert run.q[-1, 0] == pytest.approx(1.0 - 5 * 0.25, abs=1e-10)


def test_events_without_end_stop_the_run(stone):
    back = kp.Event("wall", height, -1, lambda time, q, qd: kp.Change(q=q + 1e-13, qd=qd))
    run = stopped(stone, [1.0], [0.0], duration=1.0, events=[back])
    assert run.status.name == "zeno"
    assert run.status.time == pytest.approx(0.3, abs=1e-9)
    assert "100 events within" in run.status.message


def test_what_an_event_raises_ends_the_run_and_keeps_it(stone):
    def broken(time, q, qd):
        raise RuntimeError("no")

    run = failed(stone, [1.0], [0.0], duration=1.0, events=[kp.Event("low", height, action=broken)])
    assert run.status.name == "refused"
    assert run.status.message == "Stopped at t = 0.3 s: event 'low' raised RuntimeError: no"
    assert run.time[-1] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"events": [3]}, r"stone: events holds int; give kinpair.Event\(name, function\)"),
        ({"events": [kp.Event("e", height, 2)]}, r"event 'e' has direction 2; it is 1 \(rising\)"),
        ({"events": [kp.Event("e", height, 0, "go")]}, "event 'e' has action 'go'; it is 'record', 'stop'"),
        ({"events": [kp.Event("e", height)] * 2}, "two events are called 'e'; give each its own name"),
        ({"events": [kp.Event("e", lambda t, q, qd: q)]}, r"event 'e' returned shape \(1,\) at the start"),
        ({"events": 3}, "stone: events is 3; give a list of kinpair.Event"),
        ({"events": [kp.Event("e", "q")]}, "event 'e' watches 'q'; give a function"),  # type: ignore[arg-type]
        ({"events": [kp.Event("e", lambda t: t)]}, "event 'e' raised TypeError at the start: "),
        (
            {"events": [kp.Event("e", lambda t, q, qd: 1 / 0)]},
            "event 'e' raised ZeroDivisionError at the start",
        ),
        ({"events": [kp.Event("e", lambda t, q, qd: "x")]}, "event 'e' raised ValueError at the start"),
        ({"events": [kp.Event("e", height, every="x")]}, "every = 'x'; give seconds"),  # type: ignore[arg-type]
        ({"time": np.nan}, "time is nan; it must be a finite number"),
        (
            {"limits": kp.Limits("spring", stiffness=-1.0)},
            r"stiffness is -1\.0; it is a number, zero or above",
        ),
        ({"limits": kp.Limits("spring", damping=np.nan)}, "damping is nan; it is a number, zero or above"),
        ({"limits": kp.Limits("stop", rest="x")}, "rest is 'x'; it is a speed"),  # type: ignore[arg-type]
        ({"limits": kp.Limits("bounce", "x")}, "restitution is 'x'; it lies between"),  # type: ignore[arg-type]
        ({"limits": "bump"}, "limits is 'bump'; it is one of ignore, stop, bounce, spring"),
        ({"limits": kp.Limits("bounce", restitution=2.0)}, "restitution is 2; it lies between 0 and 1"),
        ({"events": [kp.Event("e", height)], "integrator": "generalised-alpha"}, "takes no events"),
    ],
)
def test_what_is_refused(stone, given, message):
    with pytest.raises(kp.InputError, match=message):
        kp.simulate(stone, [1.0], [0.0], duration=1.0, **given)


def test_limits_refuse_what_they_cannot_do(pendulum):
    with pytest.raises(
        kp.InputError, match=r"'pin' starts 0\.5 beyond its upper limit 1; start within the limits"
    ):
        kp.simulate(pendulum, [1.5], [0.0], duration=1.0, limits="stop")
    with pytest.raises(
        kp.InputError,
        match=r"'pin' starts 0\.2 beyond its upper limit 1 \(motion 1 of the batch\); start within",
    ):
        kp.simulate(pendulum, [[0.5], [1.2]], [0.0], duration=1.0, dt=0.01, limits="stop")
    with pytest.raises(
        kp.InputError, match="restitution names 'pn', which has no limits; did you mean 'pin'"
    ):
        kp.simulate(pendulum, [0.5], [0.0], duration=1.0, limits=kp.Limits("bounce", {"pn": 0.5}))


def test_a_summary_says_that_a_limit_was_passed(pendulum):
    run = kp.simulate(pendulum, [0.9], [2.0], duration=1.0)
    assert "pin went" in run.summary
    assert "limits='stop'" in run.summary


def test_springs_at_limits_are_no_fault(pendulum):
    run = kp.simulate(pendulum, [0.9], [2.0], duration=1.0, limits="spring")
    assert run.q.max() > 1.0
    assert "Into the springs at the limits: pin went" in run.summary
    assert "Limits were passed" not in run.summary


def test_one_event_needs_no_list(stone):
    run = kp.simulate(stone, [1.0], [0.0], duration=1.0, events=kp.Event("low", height))  # type: ignore[arg-type]
    assert [x.name for x in run.events] == ["low"]


@pytest.mark.parametrize("way", WAYS[:3], ids=str)
@pytest.mark.parametrize(
    ("action", "message"),
    [
        (kp.Change(qd=[np.nan]), "qd of Change holds NaN or infinity"),
        (kp.Change(q=[1.0, 2.0]), "q of Change has shape (2,)"),
        (kp.Change(q=[[1.0]]), "q of Change has shape (1, 1); expected (1,)"),
        (kp.Change(remove=["x"]), "remove of Change names 'x', which is not a constraint; Constraints: none"),
        (kp.Change(remove="x"), "remove of Change is str; give a list"),
        (kp.Change(add=[3]), "add of Change holds int"),  # type: ignore[list-item]
        (
            lambda time, q, qd: np.zeros(2),
            "the action of event 'low' returned ndarray; it returns a kinpair.Change",
        ),
    ],
    ids=range(7),
)
def test_a_change_that_cannot_be_made_ends_the_run_and_keeps_it(stone, way, action, message):
    run = failed(stone, [1.0], [0.0], duration=1.0, events=[kp.Event("low", height, action=action)], **way)
    assert run.status.name == "refused"
    assert "event 'low'" in run.status.message
    assert message in run.status.message
    assert run.time[-1] == pytest.approx(0.3)
    assert np.isfinite(run.q).all()


def rooted(time, q, qd):
    with np.errstate(invalid="ignore"):
        return np.sqrt(q[0] - 0.55) - 0.1


def rooted_called(time, q, qd):
    return float(q[0] - 0.55) ** 0.5 - 0.1 if q[0] >= 0.55 else np.nan


rooted_called.traceable = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [rooted, rooted_called])
@pytest.mark.parametrize("way", WAYS[:3], ids=str)
def test_a_function_that_turns_nan_loses_no_event_before_and_then_ends_the_run(stone, way, function):
    run = failed(stone, [1.0], [0.0], duration=1.0, events=[kp.Event("root", function)], **way)
    assert [x.time for x in run.events] == pytest.approx([np.sqrt(0.088)], abs=1e-12)
    assert run.status.name == "refused"
    assert run.status.message == "Stopped at t = 0.3 s: the function of event 'root' turns NaN"


def height_root(time, q, qd):
    with np.errstate(invalid="ignore"):
        return np.sqrt(q[0] - 0.55)


def height_root_called(time, q, qd):
    return float(q[0] - 0.55) ** 0.5 if q[0] >= 0.55 else np.nan


height_root_called.traceable = False  # type: ignore[attr-defined]


@pytest.mark.parametrize("function", [height_root, height_root_called])
@pytest.mark.parametrize("way", [*WAYS[:3], {"integrator": "cvode"}], ids=str)
@pytest.mark.parametrize("start", [0.55, 1.0])
def test_a_function_that_is_zero_and_then_nan_ends_the_run(stone, way, function, start):
    """Zero at the start, or where another event has set the coordinate."""
    down = kp.Event("down", lambda time, q, qd: time - 0.2, 1, kp.Change(q=[0.55]))
    watched = kp.Event("root", function)
    run = failed(stone, [start], [0.0], duration=1.0, events=[watched, down], **way)
    assert run.status.name == "refused"
    fallen = np.sqrt(np.spacing(0.55) / 10.0)  # for so long the coordinate is the same number
    assert run.status.time == pytest.approx(0.2 if start == 1.0 else 0.0, abs=2.0 * fallen)
    text = f"Stopped at t = {run.status.time:.9g} s: the function of event 'root' turns NaN"
    assert run.status.message == text
    assert [x.name for x in run.events] == ["down"] * (start == 1.0)
    assert np.isfinite(run.q).all()


@pytest.mark.parametrize("integrator", ["dop853", "dopri5"])
def test_steps_that_meet_nan_end_the_run(stone, integrator):
    def ends(time, q, qd):
        return np.array([np.sqrt(0.5 - time)])

    run = failed(stone, [1.0], [0.0], duration=1.0, torque=ends, integrator=integrator)
    assert run.status.name == "refused"
    assert run.status.time == pytest.approx(0.5, abs=1e-9)
    assert np.isfinite(run.q).all()


# events that hold themselves


@pytest.mark.parametrize("traceable", [True, False], ids=["recorded", "called"])
@pytest.mark.parametrize("options", [{}, {"integrator": "rk4", "dt": 1e-3}], ids=["adaptive", "fixed"])
def test_an_event_whose_zero_is_held_by_what_it_began_happens_once(traceable, options, tmp_path):
    arm = kp.example("double-pendulum")

    def elbow(time, q, qd):
        return q[1]

    elbow.traceable = traceable
    lock = kp.Event("lock", elbow, action=kp.Change(add=[Drive("lock", "elbow", "0.0")]))
    free = kp.Event("free", lambda t, q, qd: t - 1.0, action=kp.Change(remove=["lock"]))
    arguments = {"duration": 1.3, "output": 0.1, **options}
    run = kp.simulate(arm, [0.5, 0.3], [0.0, 0.0], **arguments, events=[lock, free])
    assert run.status.ok
    assert [x.name for x in run.events][:2] == ["lock", "free"]
    assert all(type(x.time) is float for x in run.events)
    fixed = (run.time > run.events[0].time) & (run.time < 1.0)
    assert np.abs(run.q[fixed, 1]).max() < 1e-9
    assert np.abs(run.q[run.time > 1.0, 1]).max() > 1e-4


def test_what_an_event_began_may_begin_again_when_it_was_left():
    ball = kp.build(
        kp.Builder("cart").link("cart", mass=1.0).joint("x", "prismatic", "ground", "cart", axis="x")
    )
    caught = kp.Event("caught", lambda t, q, qd: q[0], action=kp.Change(add=[Drive("hold", "x", "0.0")]))

    def kick(time, q, qd):
        return kp.Change(qd=[1.0], remove=["hold"]) if abs(q[0]) < 1e-6 else None

    kicks = kp.Event("kick", lambda t, q, qd: np.sin(2.0 * np.pi * t), direction=1, action=kick, every=0.05)
    run = kp.simulate(
        ball,
        [-0.2],
        [1.0],
        duration=4.8,
        torque=lambda t, q, qd: -4.0 * (q > 0),
        events=[caught, kicks],
        rtol=1e-6,
    )
    names = [x.name for x in run.events if x.name == "caught"]
    assert run.status.ok
    assert len(names) == 5  # once, and after each kick at t = 1, 2, 3, 4 s


def test_samples_before_a_function_that_raises_are_kept():
    arm = kp.example("double-pendulum")

    def breaks(time, q, qd):
        if time > 0.2:
            raise ValueError("out of range")
        return 1.0 + q[0]

    breaks.traceable = False
    whole = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=1.0, output=0.01)
    run = failed(arm, [0.3, 0.2], [0.0, 0.0], duration=1.0, output=0.01, events=[kp.Event("breaks", breaks)])
    assert run.status.name == "refused"
    assert run.status.time == pytest.approx(0.2, abs=1e-9)
    assert "event 'breaks' raised ValueError: out of range" in run.status.message
    assert run.time[:21] == pytest.approx(whole.time[:21], abs=1e-9)
    np.testing.assert_allclose(run.q[:20], whole.q[:20], atol=1e-12)
    assert run.time[-1] == pytest.approx(0.2, abs=1e-9)
