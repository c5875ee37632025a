"""Sweeps of functions, journal and table."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import kinpair as kp
from kinpair.sweeps.cases import Outcome
from kinpair.sweeps.work import Queue

CALLS: list[float] = []


def half(x):
    CALLS.append(x)
    return x / 2


def power(x, n=2):
    return {"power": float(x) ** n, "row": [x, n]}


def test_a_function_is_called_once_a_case_and_resumed_for_the_rest(tmp_path):
    CALLS.clear()
    first = kp.sweep(half, {"x": range(4)}, out=tmp_path, workers=0)
    again = kp.sweep(half, {"x": range(7)}, out=tmp_path, resume=True, workers=0)
    assert sorted(CALLS) == list(range(7))
    assert first["half"].tolist() == [0, 0.5, 1, 1.5]
    assert again["half"].tolist() == [x / 2 for x in range(7)]


def test_processes_give_the_same_as_none():
    over = {"x": range(40), "n": [1, 2, 3]}
    here, there = kp.sweep(power, over, workers=0), kp.sweep(power, over, workers=2)
    assert all((here[name] == there[name]).all() for name in here.columns)


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (None, "InputError: case returned None; give a dict of numbers ("),
        ({"y": None}, "InputError: case returned 'y': None; give numbers or vectors of numbers by name ("),
    ],
)
def test_a_function_that_returns_nothing_fails(answer, error):
    def case(x):
        return x if x else answer

    table = kp.sweep(case, {"x": range(2)}, workers=0)
    assert table.failed.tolist() == [True, False]
    assert table.errors[0].startswith(error)


def test_failed_cases_are_kept_and_tried_again_when_asked(tmp_path):
    trouble = tmp_path / "trouble"
    trouble.touch()

    def case(x):
        if x == 1 and trouble.exists():
            raise RuntimeError("trouble")
        return x

    def swept(**options):
        return kp.sweep(case, {"x": range(3)}, out=tmp_path / "out", workers=0, **options)

    assert swept().failed.tolist() == [False, True, False]
    trouble.unlink()
    assert swept(resume=True).failed.tolist() == [False, True, False]
    assert not swept(resume=True, retry=True).failed.any()


def test_table_goes_through_parquet_pandas_and_xarray(tmp_path):
    units = {"x": "m", "power": "m²"}
    table = kp.sweep(power, {"x": [1.0, 2.0, 3.0], "n": [1, 2]}, units=units, out=tmp_path, workers=0)
    opened = kp.open_sweep(tmp_path)
    for name in table.columns:
        np.testing.assert_array_equal(opened[name], table[name])
    assert (opened.units, opened.inputs, opened.outputs) == (table.units, ("x", "n"), ("power", "row"))
    frame = opened.to_pandas()
    assert frame.attrs["units"]["power"] == "m²"
    assert frame["power"].tolist() == [1, 1, 2, 4, 3, 9]
    data = opened.to_xarray()
    assert data["power"].dims == ("x", "n")
    assert data["power"].sel({"x": 3.0, "n": 2}) == 9
    assert data["power"].attrs["units"] == "m²"
    assert data["x"].attrs["units"] == "m"
    assert data["row"].dims == ("x", "n", "sample")


def test_cases_without_a_grid_lie_along_one_axis():
    data = kp.sweep(power, {"x": kp.Uniform(0, 1)}, samples=5, workers=0).to_xarray()
    assert data["power"].dims == ("case",)
    assert data["x"].dims == ("case",)


def test_vectors_of_several_lengths_are_filled_up(tmp_path):
    table = kp.sweep(lambda n: {"v": np.arange(n)}, {"n": [1, 3]}, out=tmp_path, workers=0)
    np.testing.assert_array_equal(table["v"], [[0, np.nan, np.nan], [0, 1, 2]])
    np.testing.assert_array_equal(kp.open_sweep(tmp_path)["v"], table["v"])


def test_journal_is_plain_lines_of_all_digits(tmp_path):
    kp.sweep(lambda x: {"y": x / 3, "z": float("nan")}, {"x": [0.1, 0.2]}, out=tmp_path, workers=0)
    head, *lines = map(json.loads, (tmp_path / "journal.jsonl").read_text().splitlines())
    assert head["kinpair sweep"] == 2
    assert {x["inputs"]["x"]: x["values"]["y"] for x in lines} == {0.1: 0.1 / 3, 0.2: 0.2 / 3}


def test_a_torn_or_damaged_line_is_computed_again(tmp_path):
    calls = []

    def case(x):
        calls.append(x)
        return x

    kp.sweep(case, {"x": range(4)}, out=tmp_path, workers=0)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    damaged = [json.loads(lines[k])["inputs"]["x"] for k in (2, -1)]
    lines[2] = b"\x00" * len(lines[2][:-1]) + b"\n"
    journal.write_bytes(b"".join(lines)[:-5])
    calls.clear()
    with pytest.warns(kp.StorageWarning, match=r"journal\.jsonl: line 3 is not what was written"):
        table = kp.sweep(case, {"x": range(4)}, out=tmp_path, resume=True, workers=0)
    assert sorted(calls) == sorted(damaged)
    assert table["case"].tolist() == [0, 1, 2, 3]
    assert len(kp.open_sweep(journal)) == 4  # reported once


def squares(folder) -> tuple[Path, list[bytes]]:
    """A journal and its lines, in the order of the cases."""
    kp.sweep(square, {"x": [1, 2, 3]}, out=folder, workers=0)
    journal = folder / "journal.jsonl"
    head, *lines = journal.read_bytes().splitlines(keepends=True)
    return journal, [head, *sorted(lines, key=lambda line: json.loads(line)["inputs"]["x"])]


def square(x):
    return {"square": float(x * x)}


EDITS = {
    "a number": (lambda line: line.replace(b'"square":4.0', b'"square":5.0'), "3 (x = 2)"),
    "an input": (lambda line: line.replace(b'"x":2', b'"x":7'), "3 (x = 7)"),
    "its checksum": (
        lambda line: line.replace(b'"checksum":"', b'"checksum":"f')[:-4] + b'"}\n',
        "3 (x = 2)",
    ),
    "no checksum": (lambda line: line.partition(b',"checksum"')[0] + b"}\n", "3 (x = 2)"),
    "another case": (lambda line: b"17\n", "3"),
}


@pytest.mark.parametrize(("change", "label"), EDITS.values(), ids=EDITS)
def test_an_edited_line_of_a_journal_is_named_and_computed_again(tmp_path, change, label):
    journal, lines = squares(tmp_path)
    changed = change(lines[2])
    assert changed != lines[2]
    journal.write_bytes(b"".join([*lines[:2], changed, *lines[3:]]))
    found = f"{journal}: line {label} is not what was written: edited or damaged; "
    with pytest.warns(kp.StorageWarning) as caught:
        table = kp.open_sweep(journal)
    left_out = "its case is left out; resume the sweep to compute it again"
    assert str(caught[0].message) == found + left_out
    assert (table["x"].tolist(), table.missing) == ([1, 3], 1)
    with pytest.warns(kp.StorageWarning) as caught:
        again = kp.sweep(square, {"x": [1, 2, 3]}, out=tmp_path, workers=0, resume=True)
    assert str(caught[0].message) == found + "its case is computed again"
    assert again["square"].tolist() == [1.0, 4.0, 9.0]
    assert kp.open_sweep(journal)["square"].tolist() == [1.0, 4.0, 9.0]


def test_an_edited_first_line_of_a_journal_is_refused(tmp_path):
    journal, lines = squares(tmp_path)
    journal.write_bytes(b"".join([lines[0].replace(b'"cases":3', b'"cases":4'), *lines[1:]]))
    for call in (
        lambda: kp.open_sweep(journal),
        lambda: kp.sweep(square, {"x": [1]}, out=tmp_path, workers=0),
    ):
        with pytest.raises(kp.StorageError) as refused:
            call()
        assert str(refused.value) == (
            f"{journal}: line 1, which says what was studied, is not what was written: edited or damaged; use a copy "
            "from before, or give another folder"
        )


def test_a_journal_of_an_earlier_version_is_opened_and_resumed(tmp_path):
    journal, lines = squares(tmp_path)
    plain = [line.partition(b',"checksum"')[0] + b"}\n" for line in lines]
    plain[0] = plain[0].replace(b'"kinpair sweep":2', b'"kinpair sweep":1')
    journal.write_bytes(b"".join(plain))
    assert kp.open_sweep(journal)["square"].tolist() == [1.0, 4.0, 9.0]
    more = kp.sweep(square, {"x": [1, 2, 3, 4]}, out=tmp_path, workers=0, resume=True)
    assert more["square"].tolist() == [1.0, 4.0, 9.0, 16.0]
    text = journal.read_bytes()
    assert text.startswith(b"".join(plain))
    assert text.count(b'"checksum"') == 2  # the plan and the new case
    journal.write_bytes(text.replace(b"16.0", b"17.0"))
    with pytest.warns(kp.StorageWarning, match=r"line 6 \(x = 4\) is not what was written"):
        kp.open_sweep(journal)


def test_an_edited_number_in_the_table_of_a_sweep_is_rejected(tmp_path):
    squares(tmp_path)
    table = tmp_path / "table.parquet"
    content = bytearray(table.read_bytes())
    content[content.index(b"<\x02\x00\x00\x00") + 9] ^= 1  # a number of the first page
    table.write_bytes(content)
    with pytest.raises(
        kp.InputError, match="could not verify page integrity, CRC checksum verification failed"
    ):
        kp.open_sweep(table)


def test_another_study_and_another_sweep_keep_their_journal(tmp_path):
    kp.sweep(lambda x: x, {"x": [1]}, out=tmp_path, workers=0)
    with pytest.raises(kp.InputError, match="holds 1 finished case; resume to keep them"):
        kp.sweep(lambda x: x, {"x": [1]}, out=tmp_path, workers=0)
    with pytest.raises(kp.InputError, match="belongs to another study"):
        kp.sweep(lambda x: x + 1, {"x": [1]}, out=tmp_path, workers=0, resume=True)
    (tmp_path / "journal.jsonl").write_text("notes\n")
    with pytest.raises(kp.InputError, match="is not the journal of a sweep"):
        kp.sweep(lambda x: x, {"x": [1]}, out=tmp_path, workers=0)


def test_two_sweeps_do_not_write_into_one_journal(tmp_path):
    def inner(x):
        kp.sweep(lambda y: y, {"y": [1]}, out=tmp_path, workers=0)

    table = kp.sweep(inner, {"x": [1]}, out=tmp_path, workers=0)
    assert "another sweep is writing here" in table.errors[0]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((3, {"x": [1]}), "sweep takes a Study or a function, not int"),
        ((power, {"y": [1]}), "power has no argument 'y'; Arguments: x, n"),
        ((power, {"n": [1]}), "power needs 'x', and over does not have it"),
    ],
)
def test_what_cannot_be_swept_is_refused(arguments, message):
    with pytest.raises(kp.InputError) as refused:
        kp.sweep(*arguments, workers=0)
    assert str(refused.value) == message


def test_options_that_contradict_are_refused(tmp_path):
    for options, message in (
        ({"resume": True}, "resume needs out="),
        ({"workers": -1}, "workers is -1"),
        ({"workers": 1, "cluster": "tcp://127.0.0.1:1"}, "workers= counts processes of this machine"),
        ({"cluster": 3}, "cluster is 3; give the address"),
        ({"cluster": "nowhere://1"}, "cannot be reached"),
    ):
        with pytest.raises(kp.InputError, match=message):
            kp.sweep(power, {"x": [1]}, **options)


def test_what_a_case_returns_is_checked():
    table = kp.sweep(lambda x: {"y": "text"}, {"x": [1]}, workers=0)
    assert "<lambda> returned 'y': 'text'; give numbers or vectors of numbers by name" in table.errors[0]
    table = kp.sweep(lambda x: {"x": 1.0}, {"x": [1]}, workers=0)
    assert "<lambda> returned 'x', which is the name of an input" in table.errors[0]


def test_a_function_that_holds_itself_has_a_fingerprint(tmp_path):
    def fibonacci(n):
        return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)

    for resume in (False, True):
        table = kp.sweep(fibonacci, {"n": range(8)}, out=tmp_path, resume=resume, workers=0)
    assert table["fibonacci"].tolist() == [0, 1, 1, 2, 3, 5, 8, 13]


def test_suspects_are_handed_out_alone_and_the_second_death_names_the_case():
    queue = Queue(range(4), workers=2)
    first, second = queue.next(0), queue.next(1)
    assert (queue.lost(first), queue.lost(second)) == ([], [])
    queue.broken = False
    assert queue.next(1) == []
    assert queue.next(0) == first
    assert queue.next(1) == []
    assert queue.lost(first) == []
    queue.broken = False
    assert queue.next(0) == second
    queue.learn(1, 0.1)
    assert queue.next(0) == first
    assert queue.lost(first) == first
    assert Outcome({}, "died").error


BARE = """
import sys
for name in ("loky", "pyarrow", "distributed"):
    sys.modules[name] = None
import kinpair as kp
case = lambda x: x
print(len(kp.sweep(case, {"x": [1, 2]}, workers=0)))
for options in ({}, {"out": "x", "workers": 0}, {"cluster": "tcp://127.0.0.1:1"}):
    try:
        kp.sweep(case, {"x": [1, 2]}, **options)
    except kp.MissingExtraError as missing:
        print(missing.parts["extra"], missing)
"""


def test_missing_libraries_are_missed_by_name_before_any_work(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", BARE], capture_output=True, text=True, cwd=tmp_path, check=True
    )
    first, *others = done.stdout.splitlines()
    assert first == "2"
    assert [line.split()[0] for line in others] == ["cluster"] * 3
    assert all('pip install ".[cluster]"' in line for line in others)
    assert not list(tmp_path.iterdir())


BARE_COMMAND = """
import sys
for name in ("loky", "pyarrow", "distributed"):
    sys.modules[name] = None
from kinpair.cli.main import main
sys.exit(main(sys.argv[1:]))
"""
SMALL = """
mechanism = "double-pendulum"
duration = 0.1
integrator = "rk4"
dt = 0.01
record = ["final q.elbow"]
[over]
"q.elbow" = [0.1, 0.2]
"""


def test_the_command_works_in_one_process_without_further_libraries(tmp_path):
    """The journal has everything; the table is left out, which is told."""
    (tmp_path / "small.toml").write_text(SMALL)
    for more in ([], ["--resume"]):
        done = subprocess.run(
            [sys.executable, "-c", BARE_COMMAND, "sweep", "small.toml", "--workers", "0", *more],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.splitlines()[0] == "small: 2 cases"
        assert "journal: small.sweep/journal.jsonl" in " ".join(done.stdout.split())
        assert "no table.parquet: it needs pyarrow" in " ".join(done.stdout.split())
    assert [path.name for path in (tmp_path / "small.sweep").iterdir()] == ["journal.jsonl"]
    assert len(kp.open_sweep(tmp_path / "small.sweep")) == 2
