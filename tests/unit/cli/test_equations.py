"""`kinpair equations`."""

from __future__ import annotations

import subprocess

import pytest

import kinpair as kp
from c_compiler import STRICT
from kinpair.cli.main import main


@pytest.fixture
def found():
    return kp.equations(kp.example("cart-pole"))


def printed(capsys, *words) -> str:
    """Standard output of a command that succeeds and says on standard error what it did."""
    assert main(["equations", *map(str, words)]) == 0
    said = capsys.readouterr()
    assert said.err.startswith(f"{words[0]}: every entry in one piece; ")
    return said.out


def test_text_latex_and_markdown_are_those_of_the_library(capsys, found):
    assert printed(capsys, "cart-pole") == f"{found}\n"
    assert printed(capsys, "cart-pole", "--latex") == found.latex(document=True)
    assert printed(capsys, "cart-pole", "--markdown") == found.markdown()


def test_numbers_take_the_place_of_letters(capsys):
    assert "H11 = 1.1\n" in printed(capsys, "cart-pole", "--numbers")


def test_the_sympy_program_makes_the_matrices(capsys, found):
    scope: dict[str, object] = {}
    exec(printed(capsys, "cart-pole", "--sympy"), scope)
    expected = found.sympy().expanded()
    for what in ("H", "C", "g"):
        assert scope[what].tolist() == expected[what].reshape(2, -1).tolist()  # type: ignore[attr-defined]


def test_c_is_written_with_its_self_test(capsys, tmp_path):
    assert printed(capsys, "cart-pole", "--c", tmp_path / "cart.c") == ""
    sources = [tmp_path / "cart.c", tmp_path / "cart_test.c"]
    subprocess.run([*STRICT, *sources, "-o", tmp_path / "cart", "-lm"], check=True)
    assert subprocess.run([tmp_path / "cart"], check=True, capture_output=True).stdout == b"right\n"


def test_a_solver_and_the_dependent_coordinates_are_chosen(capsys):
    expected = kp.equations(kp.example("slider-crank"), solver="rosenberg", dependent=("rod", "piston"))
    words = ("slider-crank", "--solver", "rosenberg", "--dependent", "rod", "piston")
    assert printed(capsys, *words) == f"{expected}\n"
    assert printed(capsys, *words, "--markdown") == expected.markdown()
    assert printed(capsys, *words, "--latex") == expected.latex(document=True)


@pytest.mark.parametrize("name", ["space-robot-printed", "omni-robot-system"])
def test_systems_are_printed_too(capsys, name):
    assert printed(capsys, name) == f"{kp.equations(kp.example(name))}\n"


def test_time_for_the_closed_form_is_limited(capsys):
    assert main(["equations", "space-robot", "--solver", "rosenberg", "--seconds", "0"]) == 0
    assert "not finished after 0 s" in capsys.readouterr().err


def test_c_under_constraints_is_right(capsys, tmp_path):
    words = ("space-robot", "--solver", "rosenberg-extended", "--c", tmp_path / "robot.c")
    assert printed(capsys, *words) == ""
    sources = [tmp_path / "robot.c", tmp_path / "robot_test.c"]
    subprocess.run([*STRICT, *sources, "-o", tmp_path / "robot", "-lm"], check=True)
    assert subprocess.run([tmp_path / "robot"], check=True, capture_output=True).stdout == b"right\n"


def test_help_names_every_kind_of_file_and_the_options_of_constraints(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    main(["equations", "--help"])
    text = capsys.readouterr().out
    assert all(word in text for word in (".urdf, .xml, .toml, .csv", "--solver", "--dependent", "--seconds"))


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--latex", "--sympy"], "kinpair: --latex and --sympy: one at a time\n"),
        (["--c", "no/such/arm.c"], "kinpair: no/such/arm.c: cannot be written (No such file or directory)\n"),
    ],
)
def test_messages(capsys, words, message):
    assert main(["equations", "cart-pole", *words]) == 2
    assert capsys.readouterr().err == message
