"""Runs with events and limits on disk: interrupted anywhere they go on to the last bit, in the mode they were in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import kinpair as kp
from endings import failed
from kinpair.runs.files import file_layout as storage_history
from kinpair.simulation.run import Run
from kinpair.simulation.steppers import stepper as runs

ARRAYS = ("time", "q", "qd", "tau", "work", "loss")
RK4 = {"integrator": "rk4", "dt": 5e-3}
BOUNCE = kp.Limits("bounce", restitution={"pin": 0.6})
FREE = {"integrator": "dop853"}
LIMITS = {
    "rk4 stop": (RK4, "stop"),
    "rk4 bounce": ({**RK4, "output": 0.05}, BOUNCE),
    "rk4 spring": (RK4, "spring"),
    "semi-implicit-euler bounce": ({"integrator": "semi-implicit-euler", "dt": 5e-3}, BOUNCE),
    "dop853 stop": (FREE, "stop"),
    "dopri5 bounce": ({"integrator": "dopri5", "output": 0.003}, BOUNCE),
}
CATCH = kp.constraint.coupling("catch", "y", follows="x", offset=1.0)
CAUGHT = kp.constraint.custom("caught", phi=lambda q, t: q[1] - q[0] - 1.0)


def apart(time, q, qd):
    return q[1] - q[0] - 1.0 - 1e-9  # so that it is not zero while the constraint holds


def called(time, q, qd):
    return float(q[0]) - 0.1


called.traceable = False  # type: ignore[attr-defined]


@pytest.fixture(scope="module")
def pendulum() -> kp.Mechanism:
    builder = kp.Builder("pendulum").link("bob", mass=1.0, com=[0, 0, -1.0])
    return kp.build(builder.joint("pin", "revolute", "ground", "bob", axis="y", lower=-0.2, upper=2.0))


@pytest.fixture(scope="module")
def sliders() -> kp.Mechanism:
    builder = kp.Builder("sliders", gravity=(0, 0, 0)).link("a", mass=1.0).link("b", mass=3.0)
    builder = builder.joint("x", "prismatic", "ground", "a", axis="x")
    return kp.build(builder.joint("y", "prismatic", "ground", "b", axis="x"))


@pytest.fixture(autouse=True)
def _short_pieces(monkeypatch):
    monkeypatch.setattr(runs, "PAUSE", 1e-6)
    monkeypatch.setattr(runs, "FIRST_STEPS", 3)


def interrupting(parts: list[float]) -> Callable[[float], None]:
    """Ctrl-C at these parts of the run, once each."""

    def told(part: float) -> None:
        if parts and part >= parts[0]:
            del parts[0]
            raise KeyboardInterrupt

    return told


def in_pieces(
    path: Path, m: kp.Mechanism, start: tuple[Any, Any], again: dict[str, Any], options: Any
) -> Any:
    """The run, interrupted four times, and how often it went on."""
    messages = interrupting(sorted(np.random.default_rng(4).uniform(0.1, 0.9, 4).tolist()))
    run = kp.simulate(m, *start, save=path, progress=messages, **again, **options)
    tries = 0
    while run.status.name == "interrupted":
        tries += 1
        assert len(kp.load_run(path).events) == len(run.events)
        run = kp.resume(path, progress=messages, **again)
    return run, tries


def same(a: kp.Result, b: kp.Result) -> None:
    for name in ARRAYS:
        assert np.array_equal(getattr(a, name), getattr(b, name)), name
    for x, y in zip(a.events, b.events, strict=True):
        assert (x.time, x.name, x.lost) == (y.time, y.name, y.lost)
        for name in ("q", "qd", "qd_before"):
            assert np.array_equal(getattr(x, name), getattr(y, name))
    assert a.status == b.status
    assert (a.steps, a.rejected, a.springs) == (b.steps, b.rejected, b.springs)


@pytest.mark.parametrize(("way", "limits"), LIMITS.values(), ids=LIMITS)
def test_limits_go_on_to_the_last_bit(pendulum, tmp_path, way, limits):
    options = {"duration": 2.0, "limits": limits, **way}
    start = [1.0], [0.0]
    whole = kp.simulate(pendulum, *start, **options)
    assert whole.springs or whole.events
    run, tries = in_pieces(tmp_path / "run.h5", pendulum, start, {}, options)
    assert tries > 2
    same(run, whole)
    same(kp.load_run(tmp_path / "run.h5"), whole)


@pytest.mark.parametrize("function", [lambda time, q, qd: q[0] - 0.1, called], ids=["recorded", "called"])
@pytest.mark.parametrize("way", [RK4, FREE], ids=["rk4", "dop853"])
def test_events_go_on_to_the_last_bit(pendulum, tmp_path, way, function):
    again = {"events": [kp.Event("low", function), kp.Event("back", lambda t, q, qd: qd[0], -1)]}
    options = {"duration": 4.0, "limits": BOUNCE, **way}
    start = [1.0], [0.0]
    whole = kp.simulate(pendulum, *start, **again, **options)
    run, tries = in_pieces(tmp_path / "run.h5", pendulum, start, again, options)
    assert {x.name for x in run.events} == {"low", "back", "pin at its lower limit"}
    assert tries > 2
    same(run, whole)


@pytest.mark.parametrize("method", ["dop853", "dopri5"])
def test_sticking_and_sliding_go_on_to_the_last_bit(tmp_path, method):
    def spring(time, q, qd):
        return np.array([1600.0 * (0.1 * time - q[0])])

    m, start, options = kp.example("stick-slip"), ([0.0], [0.0]), {"duration": 1.0, "integrator": method}
    whole = kp.simulate(m, *start, torque=spring, **options)
    assert len(whole.events) > 10
    run, tries = in_pieces(tmp_path / "run.h5", m, start, {"torque": spring}, options)
    assert tries > 2
    same(run, whole)


def caught(time, q, qd):
    return kp.Change(add=[replace(CATCH, offset=float(q[1] - q[0]))])


@pytest.mark.parametrize(
    "catch",
    [kp.Change(add=[CATCH]), kp.Change(add=[CAUGHT]), caught],
    ids=["data", "function", "made on the way"],
)
@pytest.mark.parametrize("way", [RK4, FREE], ids=["rk4", "dop853"])
def test_constraints_that_began_go_on(sliders, tmp_path, way, catch):
    def pull(time, q, qd):
        return np.array([np.sin(7.0 * time), -2.0 * (q[1] - q[0]) + 3.0])

    known = catch.add[0].name if isinstance(catch, kp.Change) else "catch"
    free = kp.Event("gone", lambda time, q, qd: time - 1.6, 1, kp.Change(remove=[known]))
    again = {"torque": pull, "events": [kp.Event("meet", apart, 0, catch), free]}
    options = {"duration": 2.0, **way}
    start = [0.0, 0.0], [0.0, 2.0]
    whole = kp.simulate(sliders, *start, **again, **options)
    assert {x.name for x in whole.events} == {"meet", "gone"}
    run, tries = in_pieces(tmp_path / "run.h5", sliders, start, again, options)
    assert tries > 2
    same(run, whole)


def test_a_function_made_on_the_way_is_asked_for(sliders, tmp_path):
    def made(time, q, qd):
        return kp.Change(add=[CAUGHT])

    path, messages = tmp_path / "run.h5", interrupting([0.6])
    events = [kp.Event("meet", apart, 0, made)]
    kp.simulate(sliders, [0, 0], [0, 2], duration=2.0, **RK4, events=events, save=path, progress=messages)
    with pytest.raises(
        kp.InputError, match="constraint 'caught', which an event began, holds a Python function"
    ):
        kp.resume(path, events=events)
    arguments = [kp.Event("meet", apart, 0, kp.Change(add=[CAUGHT]))]
    whole = kp.simulate(sliders, [0, 0], [0, 2], duration=2.0, **RK4, events=events)
    same(kp.resume(path, events=arguments), whole)


def test_loops_with_a_limit_go_on_to_the_last_bit(tmp_path):
    result = kp.example("four-bar").model.description
    free = kp.build(result)
    q = free.start()
    name, k = free.q_names[-1], free.nv - 1
    joints = tuple(replace(x, lower=(float(q[k]) - 0.15,)) if x.name == name else x for x in result.joints)
    bar = kp.build(replace(result, joints=joints))
    qd = free.velocities(q, {"crank": 1.0})
    qd = -2.0 * np.sign(qd[k]) * qd
    options = {"duration": 0.4, "limits": "stop", "integrator": "rk4", "dt": 5e-3}
    whole = kp.simulate(bar, q, qd, **options)
    assert whole.events
    run, tries = in_pieces(tmp_path / "run.h5", bar, (q, qd), {}, options)
    assert tries > 2
    same(run, whole)


class Integral:
    """A controller with a memory."""

    sample_time = 0.01

    def __init__(self) -> None:
        self.state = np.zeros(1)

    def __call__(self, time, q, qd):
        self.state += 0.01 * q
        return -2.0 * q - self.state


def test_a_controller_with_a_memory_goes_on_through_impacts(pendulum, tmp_path):
    options = {"duration": 2.0, "limits": BOUNCE, **RK4}
    whole = kp.simulate(pendulum, [1.0], [0.0], torque=Integral(), **options)
    path, messages = tmp_path / "run.h5", interrupting([0.3, 0.6, 0.9])
    run = kp.simulate(pendulum, [1.0], [0.0], torque=Integral(), save=path, progress=messages, **options)
    while run.status.name == "interrupted":
        run = kp.resume(path, torque=Integral(), progress=messages)
    assert len(run.events) > 1
    same(run, whole)


def test_a_file_grows_with_what_happens(pendulum, tmp_path, monkeypatch):
    for name, little in {"FIRST": 1, "FEW": 1, "SHORT": 48}.items():
        monkeypatch.setattr(storage_history, name, little)
    options = {
        "duration": 5.0,
        "limits": kp.Limits("bounce", restitution=0.9),
        "integrator": "rk4",
        "dt": 0.05,
    }
    again = {"events": [kp.Event("low", called), kp.Event("turn", lambda t, q, qd: qd[0])]}
    path = tmp_path / "run.h5"
    whole = kp.simulate(pendulum, [1.0], [0.0], **again, **options)
    messages = interrupting([0.4])
    kp.simulate(pendulum, [1.0], [0.0], save=path, checkpoint=1e-9, progress=messages, **again, **options)
    run = kp.resume(path, checkpoint=1e-9, **again)
    assert len(run.events) > 10
    same(run, whole)
    same(kp.load_run(path), whole)
    assert kp.load_run(path).mechanism.q_names == ("pin",)
    assert [x.name for x in tmp_path.iterdir()] == ["run.h5"]
    with h5py.File(path) as file:
        n = int(file["checkpoint"]["events"].max())
        assert n == len(run.events) <= len(file["events"])
        assert file["events"]["time"][:n].tolist() == [x.time for x in run.events]
        assert file["options"].attrs["integrator"] == "rk4"
        assert file["q"].attrs["units"].tolist() == ["rad"]


def test_an_event_that_stops_is_the_end(pendulum, tmp_path):
    stop = kp.Event("half", lambda time, q, qd: time - 1.0, action="stop")
    for k, options in enumerate(({"duration": 2.0}, {"duration": 1.0}, {"duration": 1.0, **RK4})):
        path = tmp_path / f"run{k}.h5"
        whole = kp.simulate(pendulum, [1.0], [0.0], events=[stop], **options)
        run = kp.simulate(pendulum, [1.0], [0.0], events=[stop], save=path, **options)
        assert run.status.name == "event"
        same(run, whole)
        same(kp.resume(path), whole)  # it is done: nothing is asked for again


def test_events_are_asked_for_again_by_name(pendulum, tmp_path):
    path = tmp_path / "run.h5"
    low, high = (kp.Event(name, lambda time, q, qd: q[0] - 0.1) for name in ("low", "high"))
    kp.simulate(pendulum, [1.0], [0.0], duration=2.0, events=[low], save=path, progress=interrupting([0.5]))
    with pytest.raises(
        kp.InputError,
        match=r"the run has events \(low\), whose functions the file does not hold; give them again",
    ):
        kp.resume(path)
    with pytest.raises(kp.InputError, match="the run began with events low, and given are high; give events"):
        kp.resume(path, events=[high])
    assert kp.resume(path, events=low).status.ok  # type: ignore[arg-type]
    path = tmp_path / "plain.h5"
    kp.simulate(pendulum, [1.0], [0.0], duration=2.0, save=path, progress=interrupting([0.5]))
    with pytest.raises(kp.InputError, match="the run began with events none, and given are low"):
        kp.resume(path, events=[low])


def test_a_mended_action_goes_on(pendulum, tmp_path):
    def broken(time, q, qd):
        raise RuntimeError("no")

    path = tmp_path / "run.h5"
    options = {"duration": 2.0, **RK4}
    low = kp.Event("low", lambda time, q, qd: q[0] - 0.1)
    run = failed(pendulum, [1.0], [0.0], events=[replace(low, action=broken)], save=path, **options)
    assert run.status.name == "refused"
    same(kp.resume(path, events=[low]), kp.simulate(pendulum, [1.0], [0.0], events=[low], **options))


def rough_torque(time, q, qd):
    return np.array([np.sin(9.0 * time), 0.6 * np.cos(5.0 * time)])


def rough_run(path: Path) -> Path:
    """Interrupt a run of two sliders with dry friction, one of them with a limit."""
    b = kp.Builder("rough", gravity=(0, 0, 0)).link("a", mass=1.0).link("b", mass=3.0)
    b.joint("x", "prismatic", "ground", "a", axis="x", friction=0.5, upper=0.3)
    m = kp.build(b.joint("y", "prismatic", "ground", "b", axis="x", friction=0.2))
    options = {
        "duration": 2.0,
        "torque": rough_torque,
        "limits": "stop",
        "progress": interrupting([0.5]),
        **RK4,
    }
    assert kp.simulate(m, [0.0, 0.0], [0.0, 0.0], save=path, **options).status.name == "interrupted"
    return path


NAMES = ("x", "y", "x at its upper limit")


def test_a_checkpoint_names_its_row_groups(tmp_path):
    with h5py.File(rough_run(tmp_path / "run.h5")) as file:
        assert tuple(file["groups"].asstr()[:]) == NAMES


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (
            ("y", "x", NAMES[2]),
            "there is another order now, from 'x' on; resume with the mechanism and the limits",
        ),
        (("x", "other", NAMES[2]), "there is no 'y' now; resume"),
        ((*NAMES, "more"), "there is 'more' now as well; resume"),
    ],
)
def test_phases_of_other_row_groups_are_refused(tmp_path, monkeypatch, names, words):
    path = rough_run(tmp_path / "run.h5")
    monkeypatch.setattr(Run, "groups", names)
    with pytest.raises(kp.InputError, match="has phases of 'x', 'y', 'x at its upper limit', and " + words):
        kp.resume(path, torque=rough_torque)


def test_a_file_without_names_goes_on_by_position(tmp_path, monkeypatch):
    """As files of earlier versions do; both go on to the same samples."""
    ends = []
    for groups in (None, ()):
        with monkeypatch.context() as patched:
            if groups is not None:
                patched.setattr(Run, "groups", groups)
            path = rough_run(tmp_path / f"{groups}.h5")
        ends.append(kp.resume(path, torque=rough_torque))
    assert (ends[0].q == ends[1].q).all()
    assert [x.name for x in ends[0].events] == [x.name for x in ends[1].events]
    assert ends[0].events
