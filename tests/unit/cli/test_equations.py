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
    assert said.err.startswith("cart-pole: every entry in one piece; ")
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
