"""Outputs of a run replace nothing that is not of their own kind."""

from __future__ import annotations

from pathlib import Path
from socket import AF_UNIX, socket

import h5py
import pytest

import kinpair as kp
from kinpair.cli.main import main

ARM = "double-pendulum"
TEXT = "notes of a person\n"


@pytest.fixture(scope="module")
def run():
    return kp.simulate(kp.example(ARM), [0.3, 0.2], [0.0, 0.0], duration=0.1)


@pytest.fixture
def own(tmp_path):
    """A folder with files of a person."""
    for name in ("notes.txt", "notes.h5", "page.html", "photo.png", "photo.svg"):
        (tmp_path / name).write_text(TEXT)
    with h5py.File(tmp_path / "data.hdf5", "w") as file:
        file["x"] = [1.0]
    (tmp_path / "folder.h5").mkdir()
    return tmp_path


WRITERS = {
    "save": lambda run, path: run.save(path),
    "save=": lambda run, path: kp.simulate(run.mechanism, run.q[0], run.qd[0], duration=0.1, save=path),
    "report": lambda run, path: run.report(path),
    "plot": lambda run, path: run.plot(path),
}
REFUSED = [
    ("save", "notes.txt", "a run is written to a file that ends in .h5 or .hdf5"),
    ("save=", "notes.txt", "a run is written to a file that ends in .h5 or .hdf5"),
    ("report", "notes.txt", "a page is written to a file that ends in .html or .htm"),
    ("plot", "notes.txt", "a picture is written to a file that ends in .png, .svg or .pdf"),
    ("save", "new", "a run is written to a file that ends in .h5 or .hdf5"),
    ("save", "notes.h5", "holds something else than a run of kinpair"),
    ("save=", "notes.h5", "holds something else than a run of kinpair"),
    ("save=", "data.hdf5", "holds something else than a run of kinpair"),
    ("report", "page.html", "holds something else than a page of kinpair"),
    ("plot", "photo.png", "holds something else than a picture of kinpair"),
    ("plot", "photo.svg", "holds something else than a picture of kinpair"),
    ("save", "folder.h5", "cannot be written (Is a directory)"),
    ("save=", "folder.h5", "cannot be written (Is a directory)"),
    ("save=", ".", "cannot be written (Is a directory)"),
    ("report", "folder.h5", "cannot be written (Is a directory)"),
]


@pytest.mark.parametrize(("writer", "name", "message"), REFUSED)
def test_what_is_of_another_kind_is_not_replaced(run, own, writer, name, message):
    before = {path: path.read_bytes() for path in own.iterdir() if path.is_file()}
    with pytest.raises(kp.InputError) as refused:
        WRITERS[writer](run, own / name)
    assert str(refused.value).startswith(f"{own / name}: {message}")
    assert {path: path.read_bytes() for path in own.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("writer", WRITERS)
def test_what_is_no_file_is_left_alone(run, tmp_path, monkeypatch, writer):
    """A socket stands for all of them: devices too are there and no regular files."""
    monkeypatch.chdir(tmp_path)
    with socket(AF_UNIX) as there:
        there.bind("there.h5")
        with pytest.raises(kp.InputError, match=r"there.h5: cannot be written \(it is not a file\)"):
            WRITERS[writer](run, Path("there.h5"))
    assert Path("there.h5").is_socket()


@pytest.mark.parametrize(
    ("writer", "ending"),
    [("save", "h5"), ("save=", "hdf5"), ("report", "html"), ("plot", "png"), ("plot", "svg")],
)
def test_its_own_files_are_replaced_and_links_followed(run, tmp_path, writer, ending):
    file, link = tmp_path / f"there.{ending}", tmp_path / f"link.{ending}"
    link.symlink_to(file)
    for _ in range(2):
        WRITERS[writer](run, link)
        assert link.is_symlink()
        assert file.stat().st_size > 1000
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([file.name, link.name])


def test_pdf_pictures_are_replaced(run, tmp_path):
    for _ in range(2):
        run.plot(tmp_path / "run.pdf")


def test_a_link_to_nothing_of_ours_and_one_to_itself_are_refused(run, own):
    (own / "link.h5").symlink_to(own / "notes.txt")
    (own / "loop.h5").symlink_to(own / "loop.h5")
    for name in ("link.h5", "loop.h5"):
        with pytest.raises(kp.InputError):
            run.save(own / name)
    assert (own / "notes.txt").read_text() == TEXT
    assert (own / "loop.h5").is_symlink()


MINE = """
name = "mine"
[[link]]
name = "bob"
mass = 1.0
com = [0, 0, -1]
[[joint]]
name = "pin"
kind = "revolute"
parent = "ground"
child = "bob"
axis = "y"
"""


@pytest.mark.parametrize("option", ["--save", "--report", "--plot"])
def test_the_description_itself_is_refused_before_the_work(capsys, tmp_path, option):
    mine = tmp_path / "mine.toml"
    mine.write_text(MINE)
    assert main(["simulate", str(mine), "--duration", "1e12", option, str(mine)]) == 2
    assert capsys.readouterr().err == (f"kinpair: {option}: {mine} is the input file; give another name\n")
    assert mine.read_text() == MINE


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--save", "."], ".: cannot be written (Is a directory)"),
        (["--plot", "notes.txt"], "notes.txt: a picture is written to a file that ends in"),
        (["--report", "page.html"], "page.html: holds something else than a page of kinpair"),
    ],
)
def test_mistakes_are_told_before_the_work(capsys, own, monkeypatch, words, message):
    monkeypatch.chdir(own)
    assert main(["simulate", ARM, "--duration", "1e12", *words]) == 2
    assert f"kinpair: {message}" in capsys.readouterr().err


def test_the_command_says_that_it_replaced_a_run(capsys, tmp_path):
    words = ["simulate", ARM, "--duration", "0.1", "--save", str(tmp_path / "run.h5")]
    caught = f"{tmp_path / 'run.h5'}: the existing run of double-pendulum is replaced"
    for times in (0, 1):
        assert main(words) == 0
        assert " ".join(capsys.readouterr().out.split()).count(caught) == times


def test_resume_refuses_its_own_file_for_a_page(capsys, tmp_path):
    path = str(tmp_path / "run.h5")
    assert main(["simulate", ARM, "--duration", "0.1", "--save", path]) == 0
    assert main(["resume", path, "--report", path]) == 2
    assert "is the input file" in capsys.readouterr().err
    assert kp.load_run(path).status.ok
