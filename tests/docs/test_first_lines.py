"""What `make lint` accepts as the first line of a docstring, and as the name of a shape."""

from __future__ import annotations

import ast
import importlib.util
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "docstrings.py"
SPEC = importlib.util.spec_from_file_location("docstrings", TOOL)
LINT = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(LINT)


@pytest.mark.parametrize(
    "text",
    [
        "Compute the mass matrix H (nv, nv).",
        "Names of the coordinates.",
        "True if every loop is closed.",
        "One row of numbers for each body.",
        "Text with <?xml ...?> at its start.",
        "Return `did you mean 'x'?` and a name.",
    ],
)
def test_good_first_lines(text):
    assert LINT.faults(text) == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("Of the machine.", "begins with 'Of'"),
        ("Is the loop closed?", "is a question"),
        ("Position of the loop.\n\nIs it closed?", ""),
        ("The same for rates.", "begins with 'The'"),
        ("y₁. (12)", "has 2 words"),
        ("What a person writes in a file.", "begins with 'What'"),
    ],
)
def test_bad_first_lines(text, fault):
    assert any(fault in found for found in LINT.faults(text)) or not fault


def test_every_docstring_of_a_module_is_read():
    tree = ast.parse(
        '"""A."""\nclass B:\n    "B b."\n    def _c(self):\n        "C c."\n        def d(): "D d."\n'
    )
    assert {(name, text) for _, name, text in LINT.docstrings(tree)} == {
        ("", "A."),
        ("B", "B b."),
        ("B._c", "C c."),
        ("B._c.d", "D d."),
    }


@pytest.mark.parametrize(
    ("text", "named"), [("H (nv, nv).", True), ("q (..., nq) [rad]", True), ("(a row)", False)]
)
def test_shapes(text, named):
    assert bool(LINT.SHAPE.search(text)) is named
