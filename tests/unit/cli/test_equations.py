"""`kinpair equations`."""

from __future__ import annotations

import subprocess

import pytest

import kinpair as kp
from c_compiler import STRICT
from kinpair.cli.main import main
from kinpair.printed_equations.closed_form.polynomial import Expansion

NO_SOLVER = "is for equations under constraints; give a solver, such as 'rosenberg'"
AS_MAGGI = "has no sheet of its own: for u = q̇_i its equations are those of 'maggi'; ask for that"


@pytest.fixture
def found():
    return kp.equations(kp.example("cart-pole"))


def printed(capsys, *words) -> str:
    """Standard output of a command that succeeds and says on standard error what it did."""
    assert main(["equations", *map(str, words)]) == 0
    message = capsys.readouterr()
    assert message.err.startswith(f"{words[0]}: every entry in one piece; ")
    return message.out


def test_text_latex_and_markdown_are_those_of_the_library(capsys, found):
    assert printed(capsys, "cart-pole") == f"{found}\n"
    assert printed(capsys, "cart-pole", "--latex") == found.latex(document=True)
    assert printed(capsys, "cart-pole", "--markdown") == found.markdown()


def test_numbers_take_the_place_of_letters(capsys):
    assert "H11 = 1.1\n" in printed(capsys, "cart-pole", "--numbers")


def test_equal_numbers_share_a_letter(capsys):
    expected = kp.equations(kp.example("double-pendulum"), "shared")
    assert printed(capsys, "double-pendulum", "--shared") == f"{expected}\n"
    assert main(["equations", "double-pendulum", "--shared", "--numbers"]) == 2
    assert "--numbers and --shared: give only one of them" in capsys.readouterr().err


def test_the_sympy_program_makes_the_matrices(capsys, found):
    scope: dict[str, object] = {}
    exec(printed(capsys, "cart-pole", "--sympy"), scope)
    expected = found.sympy().expanded()
    for called, what in (("H", "H"), ("C", "C"), ("G", "g")):
        assert scope[called].tolist() == expected[what].reshape(2, -1).tolist()  # type: ignore[attr-defined]
    assert str(scope["g"]) == "g"  # the acceleration of gravity is still itself


def test_the_sympy_program_does_not_overwrite_a_letter(capsys, monkeypatch):
    heavy = kp.System(["x"], lambda q, qd, t, p: 0.5 * p.M * qd[0] ** 2, parameters={"M": 2.0}, name="heavy")
    monkeypatch.setattr("kinpair.cli.arguments.subject", lambda *_, **__: heavy)
    scope: dict[str, object] = {}
    exec(printed(capsys, "heavy", "--sympy"), scope)
    assert str(scope["M"]) == "M"
    assert str(scope["M_matrix"]) == "Matrix([[M]])"


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
        (["--dependent", "crank"], f"kinpair: dependent=('crank',) {NO_SOLVER}\n"),
        (["--solver", "partition"], f"kinpair: solver='partition' {AS_MAGGI}\n"),
        (["--seconds", "nan"], "kinpair: seconds is nan; it is a number, 0 or more\n"),
        (["--c", "arm.txt"], "kinpair: 'arm.txt' is not a C file; give a path that ends in .c\n"),
        (["--latex", "--sympy"], "kinpair: --latex and --sympy: give only one of them\n"),
        (["--c", "no/such/arm.c"], "kinpair: no/such/arm.c: cannot be written (No such file or directory)\n"),
    ],
)
def test_messages(capsys, words, message):
    assert main(["equations", "cart-pole", *words]) == 2
    assert capsys.readouterr().err == message


def test_equations_of_a_tree_say_so_in_every_language(capsys, tmp_path):
    """A four-bar without its loop."""
    message = "These are the equations of the tree; not in them: "
    for words in ((), ("--latex",), ("--markdown",), ("--sympy",)):
        assert message in printed(capsys, "four-bar", *words)
    printed(capsys, "four-bar", "--c", tmp_path / "bar.c")
    assert all(f" * {message}" in (tmp_path / name).read_text("utf-8") for name in ("bar.c", "bar.h"))


@pytest.mark.parametrize("words", [(), ("--latex",), ("--markdown",), ("--sympy",), ("--c",)])
def test_what_is_stopped_says_so_in_every_language_and_has_the_exit_code_of_ctrl_c(
    capsys, tmp_path, monkeypatch, words
):
    of, count = Expansion.of, iter(range(100))

    def some(self, x):
        if next(count) == 3:
            raise KeyboardInterrupt
        return of(self, x)

    monkeypatch.setattr(Expansion, "of", some)
    file = (tmp_path / "arm.c",) if words == ("--c",) else ()
    with pytest.raises(SystemExit) as left:
        main(["equations", "planar-3r", *words, *map(str, file)])
    assert left.value.code == 130
    found = capsys.readouterr()
    text = " ".join((file[0].read_text("utf-8") if file else found.out).split())
    assert "Not finished: H11, H12, H13, H22, C." in text
    assert "Stopped at H2,2 of 3,3" in text
    assert "entries not shown are zero" not in text
    assert found.err.startswith("planar-3r: stopped at H2,2 of 3,3")


def test_ctrl_c_before_anything_is_finished(capsys, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(kp, "equations", stopped)
    with pytest.raises(SystemExit) as left:
        main(["equations", "planar-3r"])
    assert left.value.code == 130
    assert capsys.readouterr().err == "kinpair: interrupted before the first result\n"
