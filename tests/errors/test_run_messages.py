"""What is said of runs and their files, word for word."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import kinpair as kp
from kinpair.cli.main import main
from kinpair.runs import simulate
from kinpair.runs.hdf5 import signed

Q, QD = [0.3, 0.2], [0.0, 0.0]
RK4 = {"integrator": "rk4", "dt": 1e-3, "duration": 0.1}


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


class Sampled:
    """A controller with a sample time."""

    sample_time = 0.01

    def __call__(self, time, q, qd):
        return -q


class Slower(Sampled):
    """The same, less often."""

    sample_time = 0.02


class Steady:
    """The same, at all times."""

    def __call__(self, time, q, qd):
        return -q


def stop(part: float) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (
            None,
            "torque is an object, Sampled, and the file does not hold it; give it again: "
            "kp.resume({path!r}, torque=Sampled(...))",
        ),
        (
            Steady(),
            "the sample_time of torque was 0.01 s when the run began, and is none in what is given now; "
            "give a Sampled with the same",
        ),
        (
            Slower(),
            "the sample_time of torque was 0.01 s when the run began, and is 0.02 s in what is given now; "
            "give a Sampled with the same",
        ),
        (
            [0.0, 0.0],
            "torque was an object, Sampled, when the run began, and is [0.0, 0.0] now; give a Sampled",
        ),
    ],
)
def test_what_differs_from_the_controller_of_the_run_is_told(arm, tmp_path, given, message):
    path = str(tmp_path / "run.h5")
    kp.simulate(arm, Q, QD, torque=Sampled(), save=path, progress=stop, **RK4)
    with pytest.raises(kp.InputError) as refused:
        kp.resume(path, torque=given)
    assert str(refused.value) == f"{path}: {message.format(path=path)}"
    assert kp.resume(path, torque=Sampled()).status.ok


def test_a_folder_is_no_run(tmp_path, capsys):
    with pytest.raises(kp.InputError) as refused:
        kp.load_run(tmp_path)
    assert str(refused.value) == f"{tmp_path}: is a folder; give the file of a run (.h5)"
    assert main(["resume", str(tmp_path)]) == 2
    assert "is a folder; give the file of a run (.h5)" in capsys.readouterr().err


def test_no_times_of_output_are_refused(arm):
    for options in ({}, {"integrator": "rk4", "dt": 1e-3}):
        with pytest.raises(kp.InputError) as refused:
            kp.simulate(arm, Q, QD, duration=0.1, output=[], **options)
        assert str(refused.value) == (
            "double-pendulum: output is empty; give an interval [s], or times, or leave it out"
        )


def test_one_of_a_thing_is_told_as_one(arm):
    run = kp.simulate(arm, Q, QD, duration=1e-3, integrator="rk4", dt=1e-3, output=[1e-3])
    assert "double-pendulum: 1 sample from" in run.summary
    assert " 1 step of rk4" in run.summary
    assert repr(run) == "<Result of 'double-pendulum': 1 sample, done>"
    table = kp.sweep(lambda x: x, {"x": [1]}, workers=0)
    assert table.summary == "1 case"


def test_limits_that_were_passed_are_told_with_which_and_unit():
    built = (
        kp.Builder("lift")
        .link("cage", mass=1.0)
        .joint("drop", "prismatic", "ground", "cage", axis="z", lower=-1.0, upper=1.0)
        .link("arm", mass=1.0, com=[0.0, 0.0, 1.0])
        .joint("turn", "revolute", "cage", "arm", axis="y", lower=-1.0, upper=0.5)
    )
    run = kp.simulate(kp.build(built), [0.0, 0.0], [0.0, 1.0], duration=1.0)
    drop, turn = -1.0 - run.q[:, 0].min(), run.q[:, 1].max() - 0.5
    assert (
        f"Limits were passed: drop went {drop:.3g} m beyond its lower limit, turn went {turn:.3g} rad beyond its "
        "upper limit; limits='stop' would hold them."
    ) in run.summary


def test_limits_that_time_steps_hold_are_not_said_to_be_passed():
    """They overlap by a little of a step, as contact points do."""
    built = kp.Builder("lift").link("cage", mass=1.0)
    built.joint("drop", "prismatic", "ground", "cage", axis="z", lower=-1.0)
    m, start = kp.build(built), [-1.0 - 1e-6]
    with pytest.warns(kp.LimitWarning, match="outside the limits"):
        run = kp.simulate(m, start, [0.0], duration=0.1, limits="stop", integrator="time-stepping")
    assert run.q.min() < -1.0 - 1e-9
    assert "Limits were passed" not in run.summary


def test_rates_as_an_array_are_refused_in_words():
    linkage = kp.example("four-bar")
    for call in (linkage.velocities, lambda q, x: linkage.accelerations(q, np.zeros(linkage.nv), x)):
        with pytest.raises(kp.InputError, match="give a dict: name of a rate → number"):
            call(linkage.start(), np.zeros(linkage.nv))


def test_ctrl_c_gives_one_exit_code(capsys, monkeypatch):
    monkeypatch.setattr(simulate, "outcome_of", partial(simulate.outcome_of, progress=stop))
    with pytest.raises(SystemExit) as left:
        main(["simulate", "double-pendulum", "--duration", "1", "--integrator", "rk4"])
    assert left.value.code == 130
    assert capsys.readouterr().err.startswith("kinpair: Interrupted at t = 0 s")


def deleted(name):
    return lambda file: file.__delitem__(name)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda file: file["qd"].__setitem__((60, 1), 1.0),
            "qd: samples 0 to 100 (t = 0 s to 0.1 s) are not those that were written: a number was edited, or the file "
            "is damaged; use a copy from before, or simulate again",
        ),
        (
            lambda file: file["options"].attrs.__setitem__("duration", 3.0),
            "options/duration is not what was written: edited, or the file is damaged; use a copy from before, or "
            "simulate again",
        ),
        *(
            (
                deleted(name),
                f"{name} is missing in this file of a run; use a copy from before, or simulate again",
            )
            for name in ("q", "options", "mechanism", "checkpoint")
        ),
    ],
)
def test_what_was_edited_or_is_missing_in_a_file_is_named(arm, tmp_path, monkeypatch, change, message):
    import h5py

    path = tmp_path / "run.h5"
    kp.simulate(arm, Q, QD, save=path, output=1e-3, **RK4)
    with h5py.File(path, "r+") as file:
        change(file)
    monkeypatch.setattr("kinpair.runs.hdf5._probe", lambda *_: None)
    for call in (kp.load_run, kp.resume):
        with pytest.raises(kp.StorageError) as refused:
            call(path)
        assert str(refused.value) == f"{path}: {message}"


def test_a_damaged_checkpoint_of_an_unfinished_run_is_passed_over(arm, tmp_path, monkeypatch):
    import h5py

    path = tmp_path / "run.h5"
    kp.simulate(arm, Q, QD, save=path, progress=stop, **RK4)
    with h5py.File(path, "r+") as file:
        newest = int(file["checkpoint"]["number"].argmax())
        record = file["checkpoint"][newest]
        record["took"] = 5.0
        file["checkpoint"][newest] = record
        status = file["status"][:]
        status["name"] = b"running"
        file["status"][:] = signed(status)
    monkeypatch.setattr("kinpair.runs.hdf5._probe", lambda *_: None)
    with pytest.warns(kp.StorageWarning) as caught:
        run = kp.load_run(path)
    assert str(caught[0].message) == (
        f"{path}: the last checkpoint is damaged; the one before it is used, with 0 samples"
    )
    assert run.status.name == "unfinished"
