"""Nothing that a sweep has computed is lost: drivers, workers, cases and disks that fail."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest
from distributed import Client

import kinpair as kp
from kinpair.sweeps import work
from waiting import HANGS, wait_until

SLOW = """
import os, time, sys
import kinpair as kp

def case(x):
    while x >= {count} // 2 and not os.path.exists({gate!r}):  # half of the cases wait for a file
        time.sleep(0.02)
    with open(os.path.join({folder!r}, "calls"), "a") as calls:
        calls.write(f"{{x}}\\n")
    return {{"square": x * x}}

if __name__ == "__main__":
    table = kp.sweep(case, {{"x": range({count})}}, out={out!r}, workers=2, resume="resume" in sys.argv)
    print(table.summary)
"""


def finished(out: Path) -> list[dict]:
    """What the journal holds; a torn last line is none."""
    file = out / "journal.jsonl"
    lines = file.read_bytes().split(b"\n")[1:-1] if file.exists() else []
    return [json.loads(line) for line in lines]


@contextmanager
def process(*words: str, **options):
    """A process that is gone at the end."""
    result = subprocess.Popen([sys.executable, *words], **options)
    try:
        yield result
    finally:
        result.kill()
        result.wait(HANGS)


def children(pid: int) -> list[int]:
    return [int(x) for x in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_driver_killed_in_the_middle_and_resumed(tmp_path):
    out, count = tmp_path / "out", 120
    program = tmp_path / "program.py"
    gate = tmp_path / "gate"
    program.write_text(SLOW.format(folder=str(tmp_path), count=count, out=str(out), gate=str(gate)))
    with process(str(program)) as driver:
        wait_until(lambda: len(finished(out)) > 20, "no case was finished")
        workers = children(driver.pid)
        driver.send_signal(signal.SIGKILL)
        driver.wait(HANGS)
    gate.touch()
    before = finished(out)
    assert 20 < len(before) < count
    opened = kp.open_sweep(out)
    assert opened["x"].tolist() == sorted(x["inputs"]["x"] for x in before)
    assert opened.missing == count - len(before)
    wait_until(lambda: not any(map(alive, workers)), "workers outlive their driver")
    (tmp_path / "calls").unlink()
    with open(out / "journal.jsonl", "ab") as journal:
        journal.write(b'{"key":"torn')
    done = subprocess.run(
        [sys.executable, str(program), "resume"], capture_output=True, text=True, timeout=HANGS, check=True
    )
    assert done.stdout == f"{count} cases\n"
    computed = [int(x) for x in (tmp_path / "calls").read_text().split()]
    assert sorted(computed + [x["inputs"]["x"] for x in before]) == list(range(count))
    table = kp.open_sweep(out)
    assert (table["square"] == table["x"] ** 2).all()
    assert len({x["key"] for x in finished(out)}) == len(finished(out)) == count


def hurt(x, folder):
    """Case 7 ends its process, case 11 raises, case 13 leaves by sys.exit."""
    if x == 7:
        os._exit(3)
    if x == 11:
        raise ValueError("eleven")
    if x == 13:
        sys.exit("thirteen")
    return {"square": x * x}


def test_cases_that_raise_or_end_their_process_do_not_stop_the_others(tmp_path):
    table = kp.sweep(hurt, {"x": range(24), "folder": [str(tmp_path)]}, workers=2, out=tmp_path / "out")
    assert len(table) == 24
    assert table["x"][table.failed].tolist() == [7, 11, 13]
    died, raised, left = table.errors[table.failed]
    assert died == (
        "the process that computed it ended without an answer; a crash, os._exit, or out of memory"
    )
    assert raised.startswith("ValueError: eleven (test_sweep.py:")
    assert left.startswith("SystemExit: thirteen (test_sweep.py:")
    fine = ~table.failed
    assert (table["square"][fine] == table["x"][fine] ** 2).all()


QUIET = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def dask_worker(address: str, folder: Path) -> subprocess.Popen[bytes]:
    """A worker process on the loopback."""
    options = ("--no-nanny", "--nthreads", "1", "--no-dashboard", "--host", "127.0.0.1")
    words = [sys.executable, "-m", "distributed.cli.dask_worker", address, *options]
    return subprocess.Popen(words, cwd=folder, **QUIET)


def scheduler_of(folder: Path) -> int:
    """The id of the scheduler's process."""
    return int((folder / "scheduler.pid").read_text())


@contextmanager
def cluster(tmp_path, workers: int):
    """A Dask scheduler with worker processes on the loopback, ended by their ids."""
    file = tmp_path / "scheduler.json"
    words = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file))
    with process("-m", "distributed.cli.dask_scheduler", *words, **QUIET) as scheduler:
        (tmp_path / "scheduler.pid").write_text(str(scheduler.pid))
        wait_until(lambda: file.exists() and file.read_text().endswith("}"), "no scheduler")
        address = json.loads(file.read_text())["address"]
        pool = [dask_worker(address, tmp_path) for _ in range(workers)]
        try:
            yield address, pool
        finally:
            for worker in pool:
                worker.kill()
                worker.wait(HANGS)


def gated_square(x, gate):
    """Cases from 30 on wait for a file."""
    while x >= 30 and not os.path.exists(gate):
        time.sleep(0.02)
    return {"square": x * x}


def test_one_of_two_dask_workers_killed_in_the_middle(tmp_path):
    out, gate, count, killed = tmp_path / "out", tmp_path / "gate", 60, []

    def kill_one(part):
        if part > 0.2 and not killed:
            killed.append(pool[0].pid)
            pool[0].kill()
            gate.touch()

    with cluster(tmp_path, 2) as (address, pool):
        with Client(address, timeout=HANGS, set_as_default=False) as client:
            client.wait_for_workers(2, timeout=HANGS)
        over = {"x": range(count), "gate": [str(gate)]}
        table = kp.sweep(gated_square, over, cluster=address, out=out, progress=kill_one)
        assert killed
        assert pool[0].poll() is not None
        assert pool[1].poll() is None
    assert len(table) == count
    assert not table.failed.any()
    assert (table["square"] == table["x"] ** 2).all()
    keys = [x["key"] for x in finished(out)]
    assert len(set(keys)) == len(keys) == count


def test_simulations_on_a_cluster_are_those_of_this_process(tmp_path):
    study = kp.Study(
        "double-pendulum", duration=0.1, integrator="rk4", dt=1e-3, record=["final", "max q.elbow"]
    )
    over = {"q.shoulder": kp.Grid(0, 1, 5), "upper.mass": [1.0, 2.0]}
    here = kp.sweep(study, over, workers=0)
    with cluster(tmp_path, 1) as (address, _), Client(address, set_as_default=False) as client:
        there = kp.sweep(study, over, cluster=client)
    assert all((here[name] == there[name]).all() for name in here.columns)


FULL = """
import resource, sys
import kinpair as kp

resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
try:
    kp.sweep(lambda x: {{"square": x * x}}, {{"x": range(200)}}, out={out!r}, workers=0)
except kp.StorageError as full:
    print(full, "|", len(full.parts["table"]))
"""


def test_full_disk_keeps_what_is_written_and_hands_over_what_is_computed(tmp_path):
    out = tmp_path / "out"
    done = subprocess.run(
        [sys.executable, "-c", FULL.format(out=str(out))],
        capture_output=True,
        text=True,
        timeout=HANGS,
        check=True,
    )
    message, _, computed = done.stdout.rpartition("|")
    written = finished(out)
    assert (out / "journal.jsonl").read_bytes().endswith(b"}\n")
    assert 0 < len(written) <= int(computed)
    reason = os.strerror(errno.EFBIG)
    assert message.strip() == (
        f"{out}/journal.jsonl: cannot be written ({reason}); what it holds is safe: make room and resume"
    )


@pytest.mark.parametrize("place", ["file/out", "file"])
def test_unwritable_target_is_refused_before_any_work(tmp_path, place):
    (tmp_path / "file").write_text("")
    calls = []
    refused = r"cannot be written \((Not a directory|File exists)\); give another folder"
    with pytest.raises(kp.StorageError, match=refused):
        kp.sweep(lambda x: calls.append(x), {"x": [1]}, out=tmp_path / place, workers=0)
    assert not calls


def test_interrupt_keeps_what_is_finished(tmp_path):
    def stopping(x):
        if x == 5:
            raise KeyboardInterrupt
        return {"y": 2 * x}

    table = kp.sweep(stopping, {"x": range(9)}, out=tmp_path, workers=0)
    assert 0 < len(table) <= 5
    assert len(table) + table.missing == 9
    assert len(kp.open_sweep(tmp_path)) == len(table)


def test_a_sweep_says_that_all_workers_are_gone_and_goes_on_when_others_come(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "LOOK", 0.5)
    gate = tmp_path / "gate"
    killed: list[int] = []
    with cluster(tmp_path, 1) as (address, pool):

        def kill_all(part):
            if part > 0.2 and not killed:
                killed.append(pool[0].pid)
                pool[0].kill()

        def come():
            wait_until(lambda: caught, "nothing was said")
            gate.touch()
            pool.append(dask_worker(address, tmp_path))

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", kp.ClusterWarning)
            coming = Thread(target=come)
            coming.start()
            over = {"x": range(60), "gate": [str(gate)]}
            table = kp.sweep(gated_square, over, cluster=address, progress=kill_all)
            coming.join(HANGS)
    assert killed
    assert str(caught[0].message).startswith(f"cluster {address}: no workers are left; ")
    assert (table["square"] == table["x"] ** 2).all()
    assert len(table) == 60
    assert not table.failed.any()


GONE = """
import os, signal, sys, time
import kinpair as kp

def gated_square(x, gate=sys.argv[4]):
    while x >= 30 and not os.path.exists(gate):
        time.sleep(0.02)
    return {"square": x * x}

def kill(part):
    if part > 0.1:
        os.kill(int(sys.argv[2]), signal.SIGKILL)

options = {"cluster": sys.argv[1], "progress": kill} if sys.argv[1] else {"workers": 0, "resume": True}
try:
    print(kp.sweep(gated_square, {"x": range(60)}, out=sys.argv[3], **options).summary)
except kp.KinpairError as gone:
    print(gone, len(gone.parts["table"]), sep="|")
"""


def test_a_scheduler_that_is_gone_is_told_without_traces_and_the_sweep_is_resumed(tmp_path):
    out, gate, program = tmp_path / "out", tmp_path / "gate", tmp_path / "program.py"
    program.write_text(GONE)

    def said(address: str, pid: int) -> str:
        words = [sys.executable, str(program), address, str(pid), str(out), str(gate)]
        done = subprocess.run(words, capture_output=True, text=True, timeout=HANGS, check=True)
        assert done.stderr == ""
        return done.stdout.strip()

    with cluster(tmp_path, 1) as (address, _):
        message, finished_there = said(address, scheduler_of(tmp_path)).split("|")
    assert message == (
        f"cluster {address}: the scheduler is gone (the connection was closed); resume the sweep there when it is "
        "back, or elsewhere: only what is missing is computed"
    )
    assert 0 < len(kp.open_sweep(out)) == int(finished_there) < 60
    assert kp.open_sweep(out).missing == 60 - int(finished_there)
    gate.touch()
    assert said("", 0) == "60 cases"
