"""A run on disk is the run: to the last bit, with its mechanism and everything it was asked."""

from __future__ import annotations

import re
import shutil
from dataclasses import asdict, replace
from itertools import count

import h5py
import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from kinpair.model.units import units
from kinpair.runs import recorder
from kinpair.runs.files import checksums
from kinpair.runs.files import file_layout as storage_options
from kinpair.runs.files.checksums import Checkpoint
from kinpair.simulation.given import Missing
from kinpair.simulation.steppers import stepper as runs

Q, QD = [0.3, 0.2], [0.0, 0.0]
ARRAYS = ("time", "q", "qd", "tau", "work", "loss")
RK4 = {"integrator": "rk4", "dt": 1e-3}
BATCH = np.random.default_rng(5).normal(size=(3, 2))
TABLE = (np.array([0.0, 0.3, 1.0]), np.array([[0.0, 0.1], [0.5, -0.2], [0.1, 0.0]]))
RUNS = {
    "adaptive": (Q, {"duration": 2.0}),
    "dense output": (Q, {"duration": 1.0, "output": 1e-4, "integrator": "dopri5"}),
    "fixed": (Q, {"duration": 1.0, **RK4, "output": 0.003}),
    "implicit": (Q, {"duration": 0.5, "integrator": "implicit-midpoint", "dt": 1e-3, "torque": [0.1, 0.0]}),
    "table": (Q, {"duration": 1.0, **RK4, "torque": TABLE, "time": 0.2}),
    "wrench": (
        Q,
        {"duration": 0.5, **RK4, "external": {"lower": [0, 0, 0.1, 0, 1, 0]}, "output": [0.1, 0.35]},
    ),
    "parameters": (Q, {"duration": 0.5, "parameters": {"upper.mass": 2.0}, "rtol": 1e-7}),
    "batch": (BATCH, {"duration": 0.5, **RK4, "parameters": {"upper.mass": [1.0, 2.0, 3.0]}}),
}


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


@pytest.fixture
def _short_pieces(monkeypatch):
    monkeypatch.setattr(runs, "PAUSE", 1e-6)
    monkeypatch.setattr(runs, "FIRST_STEPS", 3)


def same(a: kp.Result, b: kp.Result) -> bool:
    arrays = all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ARRAYS)
    energies = all(np.array_equal(x, y) for x, y in zip(a.energy, b.energy, strict=True))
    return arrays and energies


@pytest.mark.parametrize(("q", "options"), RUNS.values(), ids=RUNS)
def test_saved_streamed_and_kept_runs_are_the_same(arm, tmp_path, q, options):
    kept = kp.simulate(arm, q, QD, **options)
    streamed = kp.simulate(arm, q, QD, save=tmp_path / "streamed.h5", **options)
    saved = kp.load_run(kept.save(tmp_path / "saved.h5"))
    for run in (streamed, saved, kp.load_run(tmp_path / "streamed.h5")):
        assert same(run, kept)
        assert run.status == kept.status
        assert (run.steps, run.rejected, run.dt) == (kept.steps, kept.rejected, kept.dt)
        assert (run.parameters, run.integrator, run.passive) == (
            kept.parameters,
            kept.integrator,
            kept.passive,
        )
        assert str(run.balance) == str(kept.balance)
        if not kept.parameters:
            assert np.array_equal(run.reactions["elbow"], kept.reactions["elbow"])


def test_constraints_come_along(tmp_path):
    crank = kp.example("four-bar")
    q = crank.start()
    qd = crank.velocities(q, {"crank": 1.0})
    kept = kp.simulate(crank, q, qd, duration=1.0)
    kp.simulate(crank, q, qd, duration=1.0, save=tmp_path / "streamed.h5")
    for path in (tmp_path / "streamed.h5", kept.save(tmp_path / "saved.h5")):
        run = kp.load_run(path)
        assert same(run, kept)
        assert np.array_equal(run.residual, kept.residual)
        assert run.summary.split(" took ")[0] == kept.summary.split(" took ")[0]


@pytest.mark.usefixtures("_short_pieces")
@pytest.mark.parametrize(("q", "options"), RUNS.values(), ids=RUNS)
def test_a_run_goes_on_from_every_interruption_to_the_last_bit(arm, tmp_path, q, options):
    whole = kp.simulate(arm, q, QD, **options)
    path = tmp_path / "run.h5"
    steps: list[int] = []

    def interrupt(part: float) -> None:
        steps.append(len(steps))
        if len(steps) % 4 == 0:
            raise KeyboardInterrupt

    run = kp.simulate(arm, q, QD, save=path, progress=interrupt, **options)
    tries = 0
    while run.status.name == "interrupted" and tries < 12:
        tries += 1
        assert kp.load_run(path).status == run.status
        run = kp.resume(path, progress=interrupt)
    run = kp.resume(path)
    assert tries
    assert run.status.ok
    assert same(run, whole)


@pytest.mark.usefixtures("_short_pieces")
def test_rows_of_a_batch_that_failed_before_the_interruption_are_remembered(arm, tmp_path):
    fast = np.array([[0.0, 0.0], [1e200, 1e200], [0.1, 0.0]])
    options = {"duration": 0.1, **RK4}
    whole = stopped(arm, np.zeros((3, 2)), fast, **options)
    path = tmp_path / "run.h5"

    def interrupt(part: float) -> None:
        if part > 0.3:
            raise KeyboardInterrupt

    cut = kp.simulate(arm, np.zeros((3, 2)), fast, save=path, progress=interrupt, **options)
    assert cut.status.name == "interrupted"
    run = stopped(path, call=kp.resume)
    assert whole.failures.keys() == run.failures.keys() == {1}
    assert run.failures[1].time == whole.failures[1].time
    assert np.array_equal(run.q, whole.q, equal_nan=True)


def test_a_run_is_not_overwritten_unless_it_is_done(arm, tmp_path):
    path = tmp_path / "run.h5"

    def interrupt(part: float) -> None:
        raise KeyboardInterrupt

    kp.simulate(arm, Q, QD, duration=1.0, **RK4, save=path, progress=interrupt)
    with pytest.raises(
        kp.InputError, match=r"holds a run that is not finished \(Interrupted at t = .*\); go on"
    ):
        kp.simulate(arm, Q, QD, duration=1.0, save=path)
    kp.resume(path)
    before = kp.load_run(path)
    first = before.q[-1].copy()
    kp.simulate(arm, [1.0, 1.0], QD, duration=1.0, save=path)
    assert np.array_equal(before.q[-1], first)  # a result keeps its file, though another has its name
    assert kp.load_run(path).q[0].tolist() == [1.0, 1.0]


def test_functions_are_asked_for_again(arm, tmp_path):
    path = tmp_path / "run.h5"

    def pd(time, q, qd):
        return -5.0 * q - qd

    def wind(time, q, qd):
        return np.array([0, 0, 0, np.sin(time), 0, 0])

    def interrupt(part: float) -> None:
        raise KeyboardInterrupt

    options = {"duration": 1.0, **RK4, "torque": pd, "external": {"lower": wind}}
    whole = kp.simulate(arm, Q, QD, **options)
    kp.simulate(arm, Q, QD, save=path, progress=interrupt, **options)
    with pytest.raises(kp.InputError, match=r"torque is a function, .*pd, and the file does not hold it"):
        kp.resume(path)
    with pytest.raises(kp.InputError, match="external wrenches on lower are functions"):
        kp.resume(path, torque=pd)
    with pytest.raises(kp.InputError, match=r"torque was a function, .*pd, when the run began"):
        kp.resume(path, torque=[0.0, 0.0], external={"lower": wind})
    assert same(kp.resume(path, torque=pd, external={"lower": wind}), whole)


def test_the_mechanism_in_the_file_is_the_mechanism(tmp_path):
    moon = kp.example("floating-arm", gravity=(0.0, 0.0, -1.62))
    kp.simulate(moon, moon.neutral(), np.zeros(moon.nv), duration=0.1, save=tmp_path / "run.h5")
    run = kp.load_run(tmp_path / "run.h5")
    assert run.mechanism.q_names == moon.q_names
    assert np.array_equal(run.mechanism.bias_forces(run.q, run.qd), moon.bias_forces(run.q, run.qd))
    with pytest.raises(kp.InputError, match="the run was of another 'floating-arm' than the mechanism given"):
        kp.load_run(tmp_path / "run.h5", mechanism=kp.example("floating-arm"))


def test_other_files_are_refused(arm, tmp_path):
    (tmp_path / "text.h5").write_text("no HDF5")
    h5py.File(tmp_path / "other.h5", "w").close()
    with h5py.File(tmp_path / "steps.h5", "w") as file:
        file.attrs["format"] = "kinpair gait"
    for name, message in {
        "text.h5": "no HDF5 file, or damaged",
        "other.h5": "is an HDF5 file, but not of a run",
        "steps.h5": "is a kinpair gait file, but not of a run",
        "none.h5": "no such file",
    }.items():
        with pytest.raises(kp.InputError, match=message):
            kp.load_run(tmp_path / name)
    run = kp.simulate(arm, Q, QD, duration=0.1)
    unfinished = replace(run, status=replace(run.status, name="interrupted"))
    with pytest.raises(kp.InputError, match="has no checkpoint to go on from"):
        kp.resume(unfinished.save(tmp_path / "saved.h5"))


def test_a_file_says_names_and_units_to_everyone(arm, tmp_path):
    kp.simulate(arm, Q, QD, duration=0.1, save=tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert file["q"].attrs["names"].tolist() == ["shoulder", "elbow"]
        assert file["tau"].attrs["units"].tolist() == ["N m", "N m"]
        assert file["mechanism"].asstr()[()].startswith('name = "double-pendulum"')
        assert file["options"].attrs["integrator"] == "dop853"
        assert file["checkpoint"]["samples"].max() == len(file["time"]) == 1001


def test_units_go_with_the_entries():
    body = kp.example("floating-arm").model
    result = units(body)
    assert [len(result[name]) for name in ("q", "qd", "tau")] == [body.nq, body.nv, body.nv]
    assert result["q"][:7] == ["m"] * 3 + ["1"] * 4
    assert result["tau"][:6] == ["N m"] * 3 + ["N"] * 3


def test_half_a_checkpoint_is_none(arm, tmp_path):
    kp.simulate(arm, Q, QD, duration=0.5, **RK4, save=tmp_path / "run.h5", checkpoint=1e-9)
    with h5py.File(tmp_path / "run.h5") as file:
        records = file["checkpoint"][:]
    newest = int(records["number"].argmax())
    number, whole = checksums.latest(records) or (0, None)
    assert isinstance(whole, Checkpoint)
    for byte in range(0, records.dtype.itemsize, 7):
        torn = records.copy()
        torn.view(np.uint8).reshape(2, -1)[newest, byte] ^= 1
        assert (checksums.latest(torn) or (0, None))[0] == number - 1


def test_options_come_back(tmp_path):
    options = {
        "text": "rk4",
        "number": 0.1 + 0.2,
        "flag": True,
        "nothing": None,
        "vector": [1.0, 2.0],
        "table": ([0.0, 1.0], [[1.0], [2.0]]),
        "named": {"a/b": [1.0], "f": len, "inner": {}},
        "function": test_units_go_with_the_entries,
    }
    with h5py.File(tmp_path / "x.h5", "w") as file:
        storage_options.put(file, options)
        result = storage_options.get(file)
    assert (result["text"], result["number"], result["flag"]) == ("rk4", 0.1 + 0.2, True)
    assert "nothing" not in result
    assert [x.tolist() for x in result["table"]] == [[0.0, 1.0], [[1.0], [2.0]]]
    assert result["named"]["a/b"].tolist() == [1.0]
    assert (result["named"]["f"], result["named"]["inner"]) == (Missing("len"), {})
    assert result["function"] == Missing("test_units_go_with_the_entries")


def test_checkpoints_come_as_often_as_asked(arm, tmp_path, monkeypatch):
    """On a clock that is a second further at every look, so that a piece has 200 steps; a start, ten pieces, an end."""
    numbers: list[int] = []
    put = checksums.put
    seconds = count()
    for module in (runs, recorder):
        monkeypatch.setattr(module, "perf_counter", lambda: float(next(seconds)))
    monkeypatch.setattr(runs, "PAUSE", 1.0)
    monkeypatch.setattr(
        recorder.checksums, "put", lambda run_file, n, at: (numbers.append(n), put(run_file, n, at))
    )
    for every, after_the_start in ((0.5, 12), (1e6, 1)):
        numbers.clear()
        kp.simulate(arm, Q, QD, duration=2.0, **RK4, save=tmp_path / f"{every}.h5", checkpoint=every)
        assert numbers == list(range(1, 2 + after_the_start + 1))  # two at the start: both places have room


def test_a_page_is_complete_in_itself(arm, tmp_path):
    run = kp.simulate(arm, Q, QD, duration=1.0, torque=lambda time, q, qd: -q)
    text = run.report(tmp_path / "run.html").read_text("utf-8")
    assert 'id="scene"' in text
    assert "q shoulder" in text
    assert "torque" in text
    assert set(re.findall(r"https?://[^\"' ]+", text)) <= {
        "http://www.w3.org/2000/svg"
    }  # a name, not fetched
    assert not re.search(r"<(script|link|img)[^>]*(src|href)=", text)
    with pytest.raises(kp.InputError, match="cannot be written"):
        run.report(tmp_path / "nowhere" / "run.html")


def test_data_sets_read_from_the_file(arm, tmp_path):
    run = kp.simulate(arm, Q, QD, duration=1.0, save=tmp_path / "run.h5")
    data = run.to_xarray()
    assert np.shares_memory(data.q.values, run.q)
    assert data.q.units == ["rad", "rad"]


def test_springs_at_limits_are_kept(tmp_path):
    builder = kp.Builder("pendulum").link("bob", mass=1.0, com=[0, 0, -1.0])
    swing = kp.build(builder.joint("pin", "revolute", "ground", "bob", axis="y", upper=0.5))
    soft = kp.Limits("spring", stiffness={"pin": 40.0})
    run = kp.simulate(swing, [0.4], [2.0], duration=1.0, limits=soft)
    kept = kp.load_run(run.save(tmp_path / "run.h5"))
    assert run.springs
    assert kept.springs
    assert "Into the springs at the limits: pin" in kept.summary
    assert kept.summary == run.summary
    assert asdict(kept.options["limits"]) == asdict(soft)
    again = kp.load_run(kept.save(tmp_path / "again.h5"))
    assert (again.springs, asdict(again.options["limits"])) == (True, asdict(soft))
    assert not kp.load_run(kp.simulate(swing, [0.4], [0.0], duration=0.1).save(tmp_path / "run.h5")).springs


def test_events_are_kept(arm, tmp_path):
    from kinpair.simulation.events.events import Event

    down = Event("down", lambda time, q, qd: q[0])
    run = kp.simulate(arm, Q, QD, duration=2.0, events=[down])
    kept = kp.load_run(run.save(tmp_path / "run.h5")).events
    assert len(kept) == len(run.events) > 0
    for a, b in zip(kept, run.events, strict=True):
        assert (a.time, a.name, a.lost, a.q.tolist()) == (b.time, b.name, b.lost, b.q.tolist())


def test_a_run_that_ended_by_itself_says_what_it_took_and_may_be_replaced(arm, tmp_path):
    path = tmp_path / "run.h5"
    far = {"duration": 10.0, "integrator": "rk4", "dt": 0.2}
    plain = stopped(arm, [1.5, 1.0], [0.0, 0.0], **far)
    run = stopped(arm, [1.5, 1.0], [0.0, 0.0], save=path, **far)
    assert plain.status.name == run.status.name == "not finite"
    assert plain.steps > 0
    assert (run.steps, run.dt, run.rejected) == (plain.steps, plain.dt, plain.rejected)
    again = stopped(path, call=kp.resume)
    assert (again.status, again.steps, again.dt) == (run.status, plain.steps, plain.dt)
    mended = kp.simulate(arm, [1.5, 1.0], [0.0, 0.0], save=path, **{**far, "dt": 0.01})
    assert mended.status.ok
    assert kp.load_run(path).status == mended.status


def test_a_file_of_a_killed_run_is_not_said_to_be_at_work(arm, tmp_path):
    path = tmp_path / "run.h5"

    def killed(part: float) -> None:
        shutil.copy(path, tmp_path / "dead.h5")

    kp.simulate(arm, [1.5, 1.0], [0.0, 0.0], duration=1.0, save=path, progress=killed, **RK4)
    dead = tmp_path / "dead.h5"
    before = kp.load_run(dead).status
    assert before.name == "unfinished"
    assert "the process that wrote it was killed" in before.message
    with pytest.raises(kp.InputError) as refused:
        kp.simulate(arm, [1.5, 1.0], [0.0, 0.0], duration=1.0, save=dead, **RK4)
    assert before.message in str(refused.value)
