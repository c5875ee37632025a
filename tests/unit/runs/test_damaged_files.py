"""A stored run that was edited or damaged is rejected by the name of the part; files of earlier versions open."""

from __future__ import annotations

import gzip
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest

import kinpair as kp
from endings import stopped
from families import family
from kinpair.runs import hdf5
from kinpair.runs.files.checksums import CHUNK, SampleWriter
from kinpair.runs.files.file_layout import SAMPLES
from kinpair.runs.files.stored import read_file
from kinpair.runs.hdf5 import RunFile
from kinpair.simulation.steppers import stepper

Q, QD = [0.3, 0.2], [0.0, 0.0]
RK4 = {"integrator": "rk4", "dt": 1e-3}
EARLIER = Path(__file__).with_name("format-2.h5.gz")  # interrupted after 102 of 201 samples, with an event


@pytest.fixture(scope="module")
def arm() -> kp.Mechanism:
    return kp.example("double-pendulum")


def swing(path: Path, arm: kp.Mechanism, **options) -> Path:
    """A run with events, modes and three chunks of samples, the last one not full."""
    down = kp.Event("down", lambda time, q, qd: q[0])
    kp.simulate(arm, Q, QD, duration=0.7, output=2e-3, events=[down], save=path, **RK4, **options)
    return path


@pytest.fixture(scope="module")
def whole(arm, tmp_path_factory) -> Path:
    return swing(tmp_path_factory.mktemp("runs") / "run.h5", arm)


@pytest.fixture
def path(whole, tmp_path) -> Path:
    return Path(shutil.copy(whole, tmp_path / "run.h5"))


@pytest.fixture
def earlier(tmp_path) -> Path:
    path = tmp_path / "earlier.h5"
    path.write_bytes(gzip.decompress(EARLIER.read_bytes()))
    return path


@pytest.fixture
def _harmless(monkeypatch):
    """Files are edited through HDF5, so that its structure is sound: no child process has to look."""
    monkeypatch.setattr(hdf5, "_probe", lambda *_: None)


def edit(path: Path, change: Callable[[h5py.File], None]) -> None:
    with h5py.File(path, "r+") as file:
        change(file)


def refused(path: Path) -> kp.StorageError:
    with pytest.raises(kp.StorageError) as problem:
        kp.load_run(path)
    return problem.value


def columns(path: Path) -> list[str]:
    with h5py.File(path) as file:
        return [name for name in SAMPLES if name in file]


@pytest.mark.usefixtures("_harmless")
def test_an_edited_number_is_rejected_by_column_and_samples(path):
    for row, chunk in ((0, 0), (CHUNK, 1), (350, 2)):
        for name in columns(path):
            with h5py.File(path, "r+") as file:
                kept = file[name][row]
                file[name][row] = kept + 1
            problem = refused(path)
            assert (problem.parts["part"], problem.parts["samples"][0]) == (name, chunk * CHUNK)
            assert f"{name}: samples {chunk * CHUNK} to " in str(problem)
            edit(path, lambda file, name=name, row=row, kept=kept: file[name].__setitem__(row, kept))
    assert kp.load_run(path).status.ok


def test_a_flipped_bit_of_a_sample_is_found_without_a_child_process(path, monkeypatch):
    monkeypatch.setattr(subprocess, "run", None)
    assert kp.load_run(path).status.ok
    with h5py.File(path) as file:
        place = file["qd"].id.get_offset() + 8 * 33
    content = bytearray(path.read_bytes())
    content[place] ^= 1
    path.write_bytes(content)
    assert refused(path).parts["part"] == "qd"
    assert kp.load_run(path, check=False).status.ok


EDITS: dict[str, tuple[str, Callable[[h5py.File], None]]] = {
    "an option": ("options/duration", lambda file: file["options"].attrs.__setitem__("duration", 3.0)),
    "an option that is a vector": ("options/q", lambda file: file["options/q"].__setitem__(0, 9.0)),
    "an option that was not given": (
        "options/rtol",
        lambda file: file["options"].attrs.__setitem__("rtol", 1.0),
    ),
    "the mechanism": (
        "mechanism",
        lambda file: file["mechanism"].__setitem__(
            (), file["mechanism"].asstr()[()].replace("mass = 1 ", "mass = 2 ")
        ),
    ),
    "the name of a coordinate": (
        "q/names",
        lambda file: file["q"].attrs.__setitem__("names", ["elbow", "shoulder"]),
    ),
    "springs": ("springs", lambda file: file.attrs.__setitem__("springs", True)),
    "the status": ("status", lambda file: file["status"].__setitem__("time", 0.1)),
    "where it was singular": ("singular", lambda file: file["singular"].__setitem__("pivot", 0.1)),
    "the checkpoint": ("checkpoint", lambda file: file["checkpoint"].__setitem__("samples", 100)),
    "an event": ("events", lambda file: file["events"].__setitem__("time", 0.1)),
    "a mode": ("modes", lambda file: file["modes"].__setitem__("time", 0.1)),
    "the energy at the start": ("start", lambda file: file["start"].__setitem__((0, 0), 5.0)),
    "the checksums": ("time", lambda file: file["sample_checksums"].__setitem__((0, 0), 5)),
}


@pytest.mark.usefixtures("_harmless")
@pytest.mark.parametrize(("part", "change"), EDITS.values(), ids=EDITS)
def test_an_edited_part_is_rejected_by_name(path, part, change):
    edit(path, change)
    problem = refused(path)
    assert problem.parts["part"] == part
    assert f"{path}: {part}" in str(problem)


def everything(path: Path) -> list[tuple[str, str]]:
    """Object and attribute ("" for the object itself) of everything in a file."""
    found: list[tuple[str, str]] = []

    def visit(name: str, part: h5py.Group | h5py.Dataset) -> None:
        found.extend((name, key) for key in part.attrs)
        found.append((name, ""))

    with h5py.File(path) as file:
        visit("/", file)
        file.visititems(visit)
    return [part for part in found if part not in (("/", ""), ("/", "format"))]


def without(path: Path, name: str, key: str) -> Path:
    """A copy of the file without a part."""
    less = Path(shutil.copy(path, path.with_name("less.h5")))
    with h5py.File(less, "r+") as file:
        if key:
            del file[name].attrs[key]
        else:
            del file[name]
    return less


@pytest.mark.usefixtures("_harmless")
def test_whatever_is_missing_is_named(path):
    parts = everything(path)
    assert {("q", ""), ("options", ""), ("mechanism", ""), ("mechanism", "digest")} <= set(parts)
    for name, key in parts:
        problem = refused(without(path, name, key))
        missing = "/".join(filter(None, (name.strip("/"), key)))
        assert str(problem.parts["part"]).startswith(missing), (name, key, str(problem))


def opens(path: Path) -> str:
    """Nothing if a file opens, else the path that the error names; other exceptions are not caught."""
    try:
        kp.load_run(path)
    except (kp.StorageError, kp.InputError) as problem:
        return str(problem.parts.get("path", problem))
    return ""


@pytest.mark.usefixtures("_harmless")
def test_a_file_of_an_earlier_version_lacks_something_or_opens(earlier):
    for name, key in everything(earlier):
        less = without(earlier, name, key)
        assert opens(less) in ("", str(less))


def test_a_run_of_an_earlier_version_opens_and_goes_on(arm, earlier):
    begun = kp.load_run(earlier)
    assert (begun.status.name, len(begun.time)) == ("interrupted", 102)
    down = kp.Event("down", lambda time, q, qd: q[0] - 0.25)
    whole = kp.simulate(arm, Q, QD, duration=0.2, events=[down], **RK4)
    assert np.array_equal(begun.q, whole.q[:102])
    kp.resume(earlier, events=[down])
    run = kp.load_run(earlier)
    assert run.status.ok
    assert np.array_equal(run.q, whole.q)
    assert [x.time for x in run.events] == [x.time for x in whole.events]


@pytest.mark.usefixtures("_harmless")
def test_a_sample_that_is_not_a_number_is_reported(arm, earlier):
    kp.resume(earlier, events=[kp.Event("down", lambda time, q, qd: q[0] - 0.25)])
    edit(earlier, lambda file: file["qd"].__setitem__((5, 1), np.nan))
    with pytest.warns(kp.StorageWarning) as caught:
        kp.load_run(earlier)
    assert str(caught[0].message) == (
        f"{earlier}: qd[5, 1] is nan (1 in all are not finite), although the run ended well: the file was edited or "
        "is damaged; simulate again"
    )


def test_numbers_that_a_run_itself_lost_are_no_damage(arm, tmp_path):
    fast = np.array([[0.0, 0.0], [1e200, 1e200]])
    run = stopped(arm, np.zeros((2, 2)), fast, duration=0.1, save=tmp_path / "batch.h5", **RK4)
    assert run.failures.keys() == kp.load_run(tmp_path / "batch.h5").failures.keys() == {1}


def hanging(path: Path) -> None:
    """Shorten the free room of the heap that holds texts: what follows has no size, and HDF5 reads it forever."""
    content = bytearray(path.read_bytes())
    place = content.index(b"GCOL") + 16
    while True:
        number, size = struct.unpack_from("<H6xQ", content, place)
        if not number:
            break
        place += 16 + -(-size // 8) * 8
    struct.pack_into("<Q", content, place + 8, 16)
    path.write_bytes(content)


def test_a_file_on_which_hdf5_hangs_is_rejected(path, monkeypatch):
    hanging(path)
    monkeypatch.setattr(hdf5, "LIMIT", 2.0)
    problem = refused(path)
    assert str(problem).startswith(f"{path}: the structure of the file is damaged")
    assert "(HDF5 did not finish reading it in 2 s); use a copy from before the damage" in str(problem)
    monkeypatch.setattr(subprocess, "run", None)
    assert str(refused(path)) == str(problem)  # remembered


@pytest.mark.parametrize(
    "seed",
    family(range(40), ("0", "1"), "each file is opened by a child process, some until its time is over"),
)
def test_a_damaged_structure_is_rejected_in_words(path, seed):
    """Bytes of the structure are replaced. HDF5 may raise, crash or hang; this process goes on."""
    random = np.random.default_rng(seed)
    data = np.ones(path.stat().st_size, dtype=bool)
    with h5py.File(path) as file:
        for name in columns(path):
            start, size = file[name].id.get_offset(), file[name].id.get_storage_size()
            data[start : start + size] = False
    content = np.frombuffer(path.read_bytes(), np.uint8).copy()
    for place in random.choice(np.flatnonzero(data & (content > 0)), 3, replace=False):
        content[place] = random.choice([0, 255, content[place] ^ 1])
    path.write_bytes(content.tobytes())
    assert opens(path) in ("", str(path))


def test_checksums_do_not_depend_on_how_samples_come(whole, arm, tmp_path, monkeypatch):
    monkeypatch.setattr(stepper, "PAUSE", 1e-6)
    monkeypatch.setattr(stepper, "FIRST_STEPS", 3)
    pieces = read_file(swing(tmp_path / "pieces.h5", arm))
    saved = read_file(kp.load_run(whole).save(tmp_path / "saved.h5"))
    first = read_file(whole)
    for stored in (pieces, saved):
        full = stored.stands.samples // CHUNK
        assert full == 2
        assert np.array_equal(stored.sums.table[:full], first.sums.table[:full])
        assert np.array_equal(stored.stands.tail, first.stands.tail)


def test_a_disk_that_refuses_leaves_checksums_that_fit(path):
    run_file = RunFile(path)
    writer = SampleWriter(run_file, SAMPLES, 200)
    before = writer.tail.copy(), writer.rows
    places = dict(run_file.places)
    samples = {name: np.zeros((100, *places[name].shape[1:])) for name in writer.names}
    run_file.close()
    with pytest.raises(OSError, match="Bad file descriptor"):
        writer.append(run_file, samples)
    assert (writer.tail == before[0]).all()
    assert writer.rows == before[1]
