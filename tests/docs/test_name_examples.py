"""Every public name has an example that runs."""

import doctest
import re
from pathlib import Path

import pytest

import kinpair as kp

PAGE = Path(__file__).parents[2] / "docs" / "name_examples.md"
HEADING = re.compile(r"^### (.+)$", re.MULTILINE)
EXAMPLES = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def names(section):
    return {name for heading in HEADING.findall(section) for name in re.findall(r"`([^`]+)`", heading)}


def test_every_public_name_has_an_example():
    functions, methods = PAGE.read_text("utf-8").split("## Methods and properties of a mechanism")
    assert names(functions) == {f"kp.{name}" for name in kp.__all__}
    assert names(methods) == {name for name in dir(kp.Mechanism) if not name.startswith("_")} | {"model"}


@pytest.mark.filterwarnings("default")
def test_examples_print_what_the_page_shows(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.mkdtemp", lambda: str(tmp_path))
    text = PAGE.read_text("utf-8")
    test = doctest.DocTestParser().get_doctest(text.replace("```", ""), {}, "examples", str(PAGE), 0)
    report = []
    results = doctest.DocTestRunner(optionflags=EXAMPLES).run(test, out=report.append)
    assert results.attempted > 200
    assert results.failed == 0, "".join(report)
