"""The map of the sources has no gap, and each of its calls gives what a second method gives."""

from __future__ import annotations

import importlib
import importlib.util
import json
import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from scipy.linalg import expm

from kinpair.formulations.kinematics import poses
from kinpair.spatial.rotation import skew
from source_checks import Check, gradient, lagrange_terms, off, slope

SOURCES = Path(__file__).parents[2] / "docs" / "sources"
MAP = tomllib.loads((SOURCES / "map.toml").read_text("utf-8"))
ROWS = MAP["row"]
AGREE = 1e-9
TOOLS = {
    "expm": expm,
    "gradient": gradient,
    "lagrange_terms": lagrange_terms,
    "poses": poses,
    "skew": skew,
    "slope": slope,
}


def numbers(first: int, last: int, text: str = "({})") -> list[str]:
    return [text.format(k) for k in range(first, last + 1)]


def split(found: list[str], **parts: str) -> list[str]:
    """Numbers that the source gives in parts: (6) as (6a), (6b)."""
    return [
        n
        for x in found
        for n in ([f"({x[1:-1]}{p})" for p in parts[f"n{x[1:-1]}"]] if f"n{x[1:-1]}" in parts else [x])
    ]


CHAPTERS = [
    f"({chapter}.{k})" for chapter, last in ((3, 5), (4, 2), (5, 9), (6, 8)) for k in range(1, last + 1)
]
RANGES = {  # source, kind: the numbers of the text
    ("saha", "equation"): split(numbers(1, 31), n6="ab", n11="ab", n23="ab"),
    ("saha", "figure"): numbers(1, 3, "{}"),
    ("zhao-gu", "equation"): CHAPTERS,
    ("zhao-gu", "figure"): numbers(1, 3, "{}"),
    ("vukobratovic", "equation"): numbers(1, 25, "(1.{})"),
    ("vukobratovic", "figure"): numbers(1, 4, "1.{}"),
    ("zhao", "equation"): numbers(1, 56),
    ("zhao", "table"): numbers(1, 2, "{}"),
    ("zhao", "figure"): numbers(1, 15, "{}"),
    ("zhao", "lemma"): numbers(1, 3, "{}"),
    ("zhao", "theorem"): numbers(1, 2, "{}"),
    ("zhao", "assumption"): numbers(1, 3, "{}"),
    ("pan", "exercise"): numbers(1, 3, "{}"),
    ("pan", "problem"): numbers(5, 6, "{}"),
}


@pytest.mark.parametrize(("source", "kind"), RANGES, ids=lambda x: x)
def test_the_map_has_every_number_of_the_source_once_and_in_its_order(source, kind):
    found = [row["number"] for row in ROWS if (row["source"], row["kind"]) == (source, kind)]
    assert found == RANGES[source, kind]


def test_rows_without_a_number_are_definitions_or_headings():
    others = {(row["source"], row["kind"]) for row in ROWS} - RANGES.keys()
    assert {kind for _, kind in others} <= {"definition", "heading"}


@cache
def prepared(source: str) -> dict[str, Any]:
    """Names after the setup of a source: all that a call may use."""
    scope: dict[str, Any] = {}
    exec(compile(MAP["source"][source]["setup"], f"setup of {source}", "exec"), scope)
    return scope


@cache
def with_tools(source: str) -> dict[str, Any]:
    """The same with the tools of the second methods; x is the mechanism at the state of the page."""
    scope = TOOLS | prepared(source)
    if "arm" in scope:
        scope["x"] = Check(*(scope[name] for name in ("arm", "q", "qd", "qdd")))
    return scope


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row['source']}-{row['kind']}-{row['number']}")
def test_the_call_of_a_row_agrees_with_a_second_method(row):
    source = row["source"]
    assert off(eval(row["call"], prepared(source)), eval(row["check"], with_tools(source))) < AGREE


@pytest.mark.parametrize("place", sorted({(row["module"], row["function"]) for row in ROWS}), ids=".".join)
def test_the_function_of_a_row_exists(place):
    module, function = place
    found: Any = importlib.import_module(module)
    for name in function.split("."):
        found = getattr(found, name)
    assert found.__doc__, "a reader finds what it does"


spec = importlib.util.spec_from_file_location("write", SOURCES / "write.py")
write = importlib.util.module_from_spec(spec)
spec.loader.exec_module(write)


@pytest.mark.parametrize("source", MAP["source"])
def test_a_page_has_the_table_of_the_map_and_prints_what_it_shows(source):
    text = (SOURCES / f"{write.PAGES[source]}.md").read_text("utf-8")
    assert write.with_table(text, source, "en") == text, "run docs/sources/write.py"
    blocks = write.programs(text)
    assert write.outputs(source, blocks) == blocks


@pytest.mark.parametrize("source", MAP["source"])
def test_a_page_shows_every_figure_of_its_source(source):
    text = (SOURCES / f"{write.PAGES[source]}.md").read_text("utf-8")
    for row in ROWS:
        if (row["source"], row["kind"]) == (source, "figure"):
            picture = f"figures/{source}-{row['number']}.svg"
            assert f"]({picture})" in text
            assert (SOURCES / picture).exists()


@pytest.mark.parametrize("name", write.BOOKS)
def test_a_notebook_has_the_cells_of_its_page_and_its_output(name):
    book, page = json.loads((write.NOTEBOOKS / f"{name}.ipynb").read_text("utf-8")), write.BOOKS[name]
    found = [(cell["cell_type"], "".join(cell["source"])) for cell in book["cells"]]
    assert found == write.cells(page), "run docs/sources/write.py --notebooks"
    code = [cell for cell in book["cells"] if cell["cell_type"] == "code"]
    shown = ["".join("".join(x["text"]) for x in cell["outputs"]) for cell in code]
    assert all(shown[1:])
    if name in write.PAGES.values():
        assert shown == [output for _, output in write.programs(page.read_text("utf-8"))]


@pytest.mark.parametrize("source", MAP["source"])
def test_the_chinese_page_has_the_same_programs_outputs_pictures_and_sections(source):
    name = write.PAGES[source]
    english, chinese = ((folder / f"{name}.md").read_text("utf-8") for folder in (SOURCES, write.CHINESE))
    assert write.programs(chinese) == write.programs(english)
    assert write.with_table(chinese, source, "zh") == chinese, "run docs/sources/write.py"
    for pattern in (r"^#+ ", r"\]\([./]*((?:sources/)?figures|pictures)/", r"^\| ", r"^\d+\. "):
        assert len(re.findall(pattern, chinese, re.MULTILINE)) == len(
            re.findall(pattern, english, re.MULTILINE)
        )


def test_every_figure_has_its_drawing_and_schemes_are_drawn(tmp_path):
    """Curves need runs, whose numbers the map checks; one scheme of each source is drawn."""
    made = importlib.util.spec_from_file_location("draw", SOURCES / "draw.py")
    draw = importlib.util.module_from_spec(made)
    made.loader.exec_module(draw)
    assert set(draw.FIGURES) == {
        f"{row['source']}-{row['number']}" for row in ROWS if row["kind"] == "figure"
    }
    schemes = ["saha-1", "zhao-gu-2", "vukobratovic-1.1", "zhao-1"]
    draw.main(tmp_path, schemes)
    assert sorted(x.stem for x in tmp_path.iterdir()) == sorted(schemes)
