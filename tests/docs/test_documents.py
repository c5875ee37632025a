"""What the README, the docs and the examples say is what happens."""

from __future__ import annotations

import contextlib
import io
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("[!2]*.py")), ids=lambda p: p.stem)
def test_example_runs(example, capsys):
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_programs_of_the_readme_print_what_the_readme_shows():
    scope: dict[str, object] = {}
    for program, output in re.findall(r"```python\n(.*?)```\s+```text\n(.*?)```", README, re.DOTALL):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "README.md", "exec"), scope)
        assert printed.getvalue().strip() == output.strip()


@pytest.mark.parametrize(
    "page",
    [
        "compiler",
        "conventions",
        "mjcf",
        "motion",
        "equations/lagrange",
        "equations/roberson_wittenburg",
        "printed_equations",
        "simulate",
        "events",
        "forces",
        "actuators",
        "sweep",
        "linear",
        "regulators",
        "view",
    ],
)
def test_programs_of_the_docs_run(page, capsys, tmp_path, monkeypatch):
    """The blocks of a page, one after the other; what they write goes to a folder of its own."""
    monkeypatch.chdir(tmp_path)
    text = (ROOT / "docs" / f"{page}.md").read_text("utf-8")
    scope: dict[str, object] = {}
    for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(compile(block, f"{page}.md", "exec"), scope)
    assert "False" not in capsys.readouterr().out


def test_links_of_the_documents_lead_somewhere():
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_every_page_is_in_the_contents():
    contents = (ROOT / "docs" / "index.md").read_text("utf-8")
    pages = [p.relative_to(ROOT / "docs").with_suffix("") for p in (ROOT / "docs").rglob("*.md")]
    for page in pages:
        assert page.name == "index" or f"\n{page}\n" in contents, page


def test_make_targets_the_readme_names_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"make (\w+)", README)) <= set(targets)


def test_no_word_about_machines():
    pattern = re.compile(r"/(root|home|work)/|https?://(?!www\.w3\.org)[\w.]*(pypi|debian|npmjs)")
    for path in [*ROOT.rglob("*.md"), *(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml")]:
        if ".venv" not in path.parts and "build" not in path.parts:
            assert not pattern.search(path.read_text("utf-8")), path
