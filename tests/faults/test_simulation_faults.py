"""What goes wrong around a simulation loses nothing that was computed, and is told."""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import kinpair as kp
from endings import failed
from families import family
from waiting import HANGS, wait_until

ARM = "double-pendulum"
Q, QD = [0.3, 0.2], [0.0, 0.0]
LONG = {"duration": 1e6, "integrator": "rk4", "dt": 1e-3, "output": 1e-2}  # far longer than any test
PROGRAM = """
import sys, resource
import numpy as np
import kinpair as kp
arm = kp.example("double-pendulum")
{body}
"""


def child(body: str, *words: str) -> subprocess.Popen[str]:
    """Another process, that the tests may kill."""
    program = PROGRAM.format(body=body)
    command = [sys.executable, "-c", program, *words]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    wait_until(lambda: path.exists() or process.poll() is not None, "no file")
    assert process.poll() is None, process.communicate()


TOLD = """
import time
def told(part):
    print(time.perf_counter(), part, flush=True)
kp.simulate(arm, {q}, {qd}, **{options!r}, save=sys.argv[1], checkpoint={checkpoint}, progress=told)
"""


def killed(path: Path, options: dict[str, Any], checkpoint: float) -> np.ndarray:
    """Kill -9 a run after three checkpoints; how far it was at which time, on its own clock."""
    process = child(TOLD.format(q=Q, qd=QD, options=options, checkpoint=checkpoint), str(path))
    try:
        wait_for(path, process)
        wait_until(lambda: kp.load_run(path).took > 3 * checkpoint, "no checkpoints")
    finally:
        os.kill(process.pid, signal.SIGKILL)
        out, _ = process.communicate()
    return np.array([[float(x) for x in line.split()] for line in out.split("\n")[:-1]])


def test_by_default_a_checkpoint_is_written_twice_a_second():
    assert inspect.signature(kp.simulate).parameters["checkpoint"].default == 0.5


@pytest.mark.parametrize("integrator", ["rk4", "dop853"])
def test_a_killed_run_leaves_a_file_that_holds_all_up_to_the_last_checkpoint(tmp_path, integrator):
    """None that is due is missing: one is written when the run looks up and the last is older than `checkpoint`."""
    path, checkpoint = tmp_path / "run.h5", 0.3
    options = {**LONG, "integrator": integrator} if integrator == "rk4" else {"duration": 1e5, "output": 1e-2}
    clock, part = killed(path, options, checkpoint).T
    run = kp.load_run(path)
    assert run.status.name == "unfinished"
    due = clock < clock[-1] - checkpoint - np.diff(clock).max(initial=0.0)
    assert (part[due] * options["duration"] <= run.time[-1] * (1 + 1e-12)).all()
    assert (np.diff(run.time) > 0).all()
    again = kp.simulate(
        kp.example(ARM),
        run.q[-2],
        run.qd[-2],
        duration=0.01,
        **({"integrator": "rk4", "dt": 1e-3} if integrator == "rk4" else {"rtol": 1e-9}),
    )
    assert again.q[-1] == pytest.approx(run.q[-1], abs=1e-9)


@pytest.mark.parametrize("kills", family([3, 20], ["3"], "more moments"))
def test_a_run_killed_at_any_moment_leaves_a_file_that_can_be_opened(tmp_path, kills):
    """The moments begin with the creation of the file; one process after the other."""
    rng = np.random.default_rng(3)
    body = f"""
for line in sys.stdin:
    kp.simulate(arm, {Q}, {QD}, **{LONG!r}, save=line.strip(), checkpoint=1e-3, progress=lambda part: None)
"""
    for k, after in enumerate(rng.uniform(0.0, 0.05, kills)):
        path = tmp_path / f"run{k}.h5"
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM.format(body=body)], stdin=subprocess.PIPE, text=True
        )
        assert process.stdin is not None
        process.stdin.write(f"{path}\n")
        process.stdin.flush()
        wait_for(path, process)
        time.sleep(after)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        with h5py.File(path) as file:
            rows = int(file["checkpoint"]["samples"].max())
            assert (np.diff(file["time"][:rows]) > 0).all()
        run = kp.load_run(path)
        assert len(run.time) <= rows
        assert np.isfinite(run.q).all()


SWING = """
from kinpair.runs.files import file_layout as storage_history
storage_history.FIRST = 1  # so that the file grows again and again
made = kp.Builder("pendulum").link("bob", mass=1.0, com=[0, 0, -1.0])
swing = kp.build(made.joint("pin", "revolute", "ground", "bob", axis="y", lower=-0.2, upper=2.0))
options = dict(duration=40.0, integrator="rk4", dt=1e-3, limits=kp.Limits("bounce", restitution=1.0))
low = kp.Event("low", lambda time, q, qd: q[0] - 0.1)
"""


def test_a_killed_run_with_impacts_and_events_goes_on_to_the_last_bit(tmp_path):
    """At any moment: the file opens, and holds what the run would have had."""
    caught: dict[str, Any] = {"kp": kp}
    exec(SWING, caught)
    swing, options, low = caught["swing"], caught["options"], caught["low"]
    whole = kp.simulate(swing, [1.0], [0.0], events=[low], **options)
    assert len(whole.events) > 80
    body = (
        SWING + "kp.simulate(swing, [1.0], [0.0], events=[low], save=sys.argv[1], checkpoint=1e-3, **options)"
    )
    for k, after in enumerate((0.02, 0.2, 0.5)):
        path = tmp_path / f"run{k}.h5"
        process = child(body, str(path))
        wait_for(path, process)
        time.sleep(after)
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        cut = kp.load_run(path)
        assert cut.status.name in ("unfinished", "done")
        n = len(cut.events)
        assert [x.time for x in cut.events] == [x.time for x in whole.events[:n]]
        run = kp.resume(path, events=[low])
        assert run.status.ok
        assert np.array_equal(run.q, whole.q)
        assert [(x.time, x.name) for x in run.events] == [(x.time, x.name) for x in whole.events]


@pytest.mark.parametrize("room", ["1 + run.q.offset", "run.loss.offset + 8 * (len(run.loss) + 37)"])
def test_a_full_disk_ends_the_run_and_keeps_what_was_written(tmp_path, room):
    """At the beginning of a dataset, and in the midst of the last one, where a part of the samples still fits."""
    path = tmp_path / "run.h5"
    body = f"""
from kinpair.simulation.steppers import stepper as runs
runs.PAUSE = 0.003
def told(part):
    run = kp.load_run(sys.argv[1])
    if part > 0.2 and isinstance(run.q, np.memmap):  # it holds samples: from here on no file may be longer
        size = {room}
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
try:
    kp.simulate(arm, {Q}, {QD}, duration=100.0, integrator="rk4", dt=1e-3, save=sys.argv[1], checkpoint=1e-3,
                output=1e-3, progress=told)
except kp.RunError as error:
    run = error.run
print(run.status.name, len(run.time), run.time[-1], run.status.message, sep="|")
"""
    process = child(body, str(path))
    out, problem = process.communicate(timeout=HANGS)
    assert process.returncode == 0, problem
    name, samples, reached, message = out.strip().split("|")
    assert name == "not saved"
    assert message == (
        f"Stopped at t = {float(reached):.9g} s: {path}: File too large; the file holds all samples up to then, and "
        f"kp.resume({str(path)!r}) goes on when there is room"
    )
    kept = kp.load_run(path)
    assert (len(kept.time), kept.status.name) == (int(samples), "not saved")
    assert 0.2 < float(reached) / 100.0 < 1.0
    whole = kp.resume(path)
    plain = kp.simulate(kp.example(ARM), Q, QD, duration=100.0, integrator="rk4", dt=1e-3, output=1e-3)
    assert whole.status.ok
    assert np.array_equal(whole.q, plain.q)


@pytest.mark.parametrize("where", ["file/run.h5", "nowhere/run.h5", "folder"])
def test_a_target_that_cannot_be_written_is_told_before_the_work(tmp_path, where):
    (tmp_path / "file").write_text("not a folder")
    (tmp_path / "folder").mkdir()
    path = tmp_path / where
    arm = kp.example(ARM)
    with pytest.raises(
        kp.InputError, match=r"cannot be written \((Not a directory|No such file|Is a directory)"
    ):
        kp.simulate(arm, Q, QD, duration=1.0, save=path)
    run = kp.simulate(arm, Q, QD, duration=1.0)
    with pytest.raises(kp.InputError, match="cannot be written"):
        run.save(path)
    assert sorted(p.name for p in tmp_path.rglob("*")) == ["file", "folder"]


class Failing:
    """A controller with a memory that fails once."""

    sample_time = 0.01

    def __init__(self, fault, calls: int) -> None:
        self.state = np.zeros(3)
        self.fault, self.calls = fault, calls

    def __call__(self, time, q, qd):
        self.state[0] += 1
        self.state[1:] += 0.01 * q
        if self.state[0] == self.calls:
            return self.fault()
        return -5.0 * q - self.state[1:]


def raises():
    raise ZeroDivisionError("no gain")


def interrupts():
    raise KeyboardInterrupt


FAULTS = {
    "refused: torque raised ZeroDivisionError: no gain": raises,
    "refused: torque returned nan for 'shoulder'": lambda: [np.nan, 0.0],
    "refused: torque returned shape (3,); expected (2,)": lambda: [0.0, 0.0, 0.0],
    "interrupted: Interrupted": interrupts,
}


@pytest.mark.parametrize(("told", "fault"), FAULTS.items(), ids=FAULTS)
@pytest.mark.parametrize(
    "steps", [{"integrator": "rk4", "dt": 1e-3}, {"integrator": "dop853"}], ids=["fixed", "free"]
)
def test_a_controller_that_fails_loses_nothing_and_the_run_goes_on(tmp_path, monkeypatch, told, fault, steps):
    from kinpair.simulation.steppers import stepper as runs

    monkeypatch.setattr(runs, "FIRST_STEPS", 7)
    path = tmp_path / "run.h5"
    arm = kp.example(ARM)
    options = {"duration": 2.0, "output": 0.01, **steps}
    name, message = told.split(": ", 1)
    call = kp.simulate if name == "interrupted" else failed
    run = call(arm, Q, QD, torque=Failing(fault, 100), save=path, **options)
    assert run.status.name == name
    assert message in run.status.message
    assert run.time[-1] == pytest.approx(0.98, abs=0.011)
    with pytest.raises(kp.InputError, match="torque is an object, Failing, and the file does not hold it"):
        kp.resume(path)
    whole = kp.resume(path, torque=Failing(fault, -1))
    plain = kp.simulate(arm, Q, QD, torque=Failing(fault, -1), **options)
    assert whole.status.ok
    assert np.array_equal(whole.q, plain.q)
    assert np.array_equal(whole.tau, plain.tau)


def test_ctrl_c_keeps_the_file_and_the_result(tmp_path):
    path = tmp_path / "run.h5"
    body = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may have it ignored
run = kp.simulate(arm, {Q}, {QD}, **{LONG!r}, save=sys.argv[1])
print(run.status.name, len(run.time), sep="|")
"""
    process = child(body, str(path))
    wait_for(path, process)
    wait_until(lambda: len(kp.load_run(path).time) > 100, "no samples")
    os.kill(process.pid, signal.SIGINT)
    out, problem = process.communicate(timeout=HANGS)
    assert process.returncode == 0, problem
    name, samples = out.strip().split("|")
    assert name == "interrupted"
    run = kp.load_run(path)
    assert (run.status.name, len(run.time)) == ("interrupted", int(samples))
    assert len(run.time) > 100


def test_streaming_takes_bounded_memory(tmp_path):
    """A million samples of 88 bytes go through and are read again; that may take a small part of them."""
    body = f"""
kp.simulate(arm, {Q}, {QD}, duration=0.01, integrator="rk4", dt=1e-3, save=sys.argv[2])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
run = kp.simulate(arm, {Q}, {QD}, duration=1000.0, integrator="rk4", dt=1e-3, output=1e-3, save=sys.argv[1])
assert "Energy" in run.summary
print(len(run.time), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, sep="|")
"""
    process = child(body, str(tmp_path / "run.h5"), str(tmp_path / "first.h5"))
    out, problem = process.communicate(timeout=HANGS)
    assert process.returncode == 0, problem
    samples, more = map(int, out.strip().split("|"))
    assert samples == 1_000_001
    assert more < 50_000  # KiB; all samples are 86_000


def test_two_processes_do_not_write_one_run(tmp_path):
    path = tmp_path / "run.h5"
    process = child(f"kp.simulate(arm, {Q}, {QD}, **{LONG!r}, save=sys.argv[1])", str(path))
    try:
        wait_for(path, process)
        live = kp.load_run(path).status
        assert live.name == "unfinished"
        assert live.message.endswith("a process is at work on it")
        arm = kp.example(ARM)
        short = kp.simulate(arm, Q, QD, duration=0.1)
        for second in (
            lambda: kp.resume(path),
            lambda: kp.simulate(arm, Q, QD, duration=0.1, save=path),
            lambda: short.save(path),
        ):
            with pytest.raises(kp.StorageError, match="another process is writing this run; wait for it"):
                second()
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
    dead = kp.load_run(path).status.message
    assert dead.endswith(f"the process that wrote it was killed; kp.resume({str(path)!r}) goes on")

    def stop(part: float) -> None:
        raise KeyboardInterrupt

    assert kp.resume(path, progress=stop).status.name == "interrupted"
    assert [x.name for x in tmp_path.iterdir()] == ["run.h5"]


def test_two_runs_begun_at_once_give_one_file_of_one_run(tmp_path):
    path = tmp_path / "run.h5"
    body = """
sys.stdin.readline()
try:
    kp.simulate(arm, [float(sys.argv[2]), 0.2], [0, 0], duration=100.0, integrator="rk4", dt=1e-3, save=sys.argv[1])
    print("done")
except kp.StorageError:
    print("refused")
"""
    program = PROGRAM.format(body=body)
    both = [
        subprocess.Popen(
            [sys.executable, "-c", program, str(path), start],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for start in ("0.1", "0.3")
    ]
    message = []
    for process in both:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
    for process in both:
        message.append(process.communicate(timeout=HANGS)[0].strip())
    starts = [start for start, word in zip((0.1, 0.3), message, strict=True) if word == "done"]
    assert set(message) <= {"done", "refused"}
    assert starts
    run = kp.load_run(path)
    assert run.status.ok
    assert run.q[0, 0] in starts
