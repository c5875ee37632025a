"""What the README, the docs and the examples say is what happens."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import re
import runpy
from pathlib import Path

import pytest

import kinpair as kp
from kinpair.cli.main import COMMANDS, main

ROOT = Path(__file__).parents[2]
WRITTEN = [ROOT / "docs" / name for name in ("reference.md", "code.md")]  # when the documents are built
TUTORIALS = sorted((ROOT / "docs" / "tutorials").glob("*.md"))
QUESTIONS = [x for x in sorted((ROOT / "docs" / "questions").glob("*.md")) if x.stem != "index"]
README = (ROOT / "README.md").read_text("utf-8")


@pytest.mark.parametrize("example", sorted((ROOT / "examples").glob("[!2]*.py")), ids=lambda p: p.stem)
def test_example_runs(example, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(example), run_name="__main__")
    assert capsys.readouterr().out


def test_programs_of_the_readme_print_what_the_readme_shows():
    scope: dict[str, object] = {}
    for program, output in re.findall(r"```python\n(.*?)```\s+```text\n(.*?)```", README, re.DOTALL):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "README.md", "exec"), scope)
        assert printed.getvalue().strip() == output.strip()


def test_pages_and_messages_install_from_the_sources():
    """There is no release to install by name."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]
    shown = {page.name for page in pages if re.search(r"pip install ['\"]?kinpair", page.read_text("utf-8"))}
    assert shown - {"CHANGELOG.md", "reference.md"} == set()


@pytest.mark.parametrize(
    "page",
    [
        "compiler",
        "contact",
        "conventions",
        "mjcf",
        "motion",
        "equations/lagrange",
        "equations/popov",
        "equations/kinpair",
        "equations/roberson_wittenburg",
        "printed_equations",
        "arrays",
        "simulate",
        "events",
        "forces",
        "actuators",
        "sweep",
        "linear",
        "long_chains",
        "regulators",
        "view",
        "long_mechanisms",
        "coming/pinocchio",
        "coming/mujoco",
        "engines",
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


@pytest.mark.parametrize("page", [*TUTORIALS, *QUESTIONS], ids=lambda page: page.stem)
def test_programs_of_the_tutorials_print_what_they_show(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = page.read_text("utf-8")
    scope: dict[str, object] = {}
    programs = re.findall(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", text, re.DOTALL)
    assert programs
    for program, output in programs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, page.name, "exec"), scope)
        assert printed.getvalue() == output
    drawn = {file.name for file in tmp_path.glob("tutorial-*.png")}
    assert drawn <= set(re.findall(r"pictures/(tutorial-[\w-]+\.png)", text))


def test_every_question_and_every_notebook_is_listed():
    pages = {page.stem for page in QUESTIONS}
    assert len(pages) >= 10
    for folder in ("questions", "zh/questions"):
        text = (ROOT / "docs" / folder / "index.md").read_text("utf-8")
        assert set(re.findall(r"\]\((\w+)\.md\)", text)) == pages
    gallery = (ROOT / "docs" / "gallery.md").read_text("utf-8")
    books = {book.stem for book in (ROOT / "examples" / "notebooks").glob("*.ipynb")}
    assert set(re.findall(r"\]\(notebooks/(\w+)\.ipynb\)", gallery)) == books


def test_pages_for_other_engines_begin_with_the_same_lines():
    pages = sorted((ROOT / "docs" / "coming").glob("*.md"))
    assert len(pages) == 4
    assert len({tuple(blocks(page, "python")[:2]) for page in pages}) == 1


def blocks(file: Path, *kinds: str) -> list[str]:
    """Programs, outputs and commands of a document; commands without their comments."""
    found = re.findall(r"```(\w+)\n(.*?)```", file.read_text("utf-8"), re.DOTALL)
    return [re.sub(r" *#.*", "", text) if kind == "sh" else text for kind, text in found if kind in kinds]


def test_the_start_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["new", "arm.toml"]) == 0
    scope: dict[str, object] = {}
    text = (ROOT / "docs" / "start.md").read_text("utf-8")
    programs = re.findall(r"```python\n(.*?)```\s+```text\n(.*?)```", text, re.DOTALL)
    assert len(programs) == 3
    for program, output in programs:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "start.md", "exec"), scope)
        assert printed.getvalue().strip() == output.strip()


@pytest.mark.parametrize(
    ("english", "chinese"),
    [
        ("README.md", "README.zh.md"),
        ("docs/start.md", "docs/zh/start.md"),
        ("docs/engines.md", "docs/zh/engines.md"),
        *((f"docs/tutorials/{page.name}", f"docs/zh/tutorials/{page.name}") for page in TUTORIALS),
        *((f"docs/questions/{page.name}", f"docs/zh/questions/{page.name}") for page in QUESTIONS),
    ],
)
def test_chinese_documents_have_the_same_programs_outputs_and_commands(english, chinese):
    kinds = ("sh", "python", "text")
    assert blocks(ROOT / chinese, *kinds) == blocks(ROOT / english, *kinds)


def test_commands_of_the_start_exist():
    commands = [line for text in blocks(ROOT / "docs" / "start.md", "sh") for line in text.splitlines()]
    names = {line.split()[1] for line in commands if line.startswith("kinpair ")}
    assert names <= {*COMMANDS}


def test_every_public_name_is_in_the_reference_with_its_docstring():
    spec = importlib.util.spec_from_file_location("write_reference", ROOT / "docs" / "write_reference.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    text = module.page()
    for name in kp.__all__:
        if not name.startswith("__"):
            assert f"`kp.{name}`" in text or f"\n## {name}\n" in text or f"\n## kp.{name}\n" in text, name
    for name in ("inverse_dynamics", "picture", "view", "poses"):
        assert f"### `{name}`" in text


def test_links_of_the_documents_lead_somewhere():
    for page in [
        ROOT / "README.md",
        ROOT / "README.zh.md",
        ROOT / "CONTRIBUTING.md",
        *(page for page in (ROOT / "docs").rglob("*.md") if page not in WRITTEN),
    ]:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8")):
            place = (page.parent / target).resolve()
            if place.parent == ROOT / "docs" / "notebooks":
                place = ROOT / "examples" / "notebooks" / place.name  # where the documents are built from
            if "://" not in target and place not in WRITTEN:
                assert place.exists(), f"{page.name}: {target}"


def test_every_page_is_in_the_contents():
    lists = ("index.md", "questions/index.md", "zh/questions/index.md")
    folders = {x: str(Path(x).parent).removeprefix(".") for x in lists}
    contents = "\n" + "\n".join(
        f"{folders[x]}/{line}".lstrip("/")
        for x in lists
        for line in (ROOT / "docs" / x).read_text("utf-8").splitlines()
    )
    pages = [p.relative_to(ROOT / "docs").with_suffix("") for p in (ROOT / "docs").rglob("*.md")]
    for page in pages:
        assert page.name in ("reference", "code") or str(page) == "index" or f"\n{page}\n" in contents, page


@pytest.mark.parametrize("page", ["README.md", "README.zh.md"])
def test_figures_of_the_readme_stand_in_the_benchmarks(page):
    """Ratios in a batch, UR5 then G1, of inverse dynamics, forward dynamics and derivatives."""
    text, figures = (ROOT / page).read_text("utf-8"), (ROOT / "docs" / "benchmarks.md").read_text("utf-8")
    assert re.search(r"`([0-9a-f]{7})`", text)[1] in re.findall(r"at commit `([0-9a-f]{7})`", figures)
    measured = {"Pinocchio": [], "MuJoCo": []}
    for heading in ("inverse dynamics", "forward dynamics", "∂τ/∂(q, q̇)"):
        table = figures.split(f"### {heading}\n")[1].split("###")[0]
        for robot in ("UR5", "G1"):
            cells = [x.strip() for x in re.search(rf"^\| {robot} \|.*", table, re.MULTILINE)[0].split("|")]
            for engine, cell in zip(measured, cells[4:6], strict=True):
                if cell:
                    measured[engine].append(round(float(cell.split()[0])))
    for engine, ratios in measured.items():
        last = re.search(rf"^\| {engine} \|.*", text, re.MULTILINE)[0].split("|")[3]
        shown = [
            int(x) for x in re.findall(r"(?<![\d.])\d+(?![\d.])", last.replace("UR5", "").replace("G1", ""))
        ]
        assert shown[: len(ratios)] == ratios


def test_make_targets_the_readme_names_exist():
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    assert set(re.findall(r"(?:^|`)make (\w+)", README, re.MULTILINE)) <= set(targets)


def test_no_word_about_machines():
    pattern = re.compile(r"/(root|home|work)/|https?://(?!www\.w3\.org)[\w.]*(pypi|debian|npmjs)")
    for path in [*ROOT.rglob("*.md"), *(ROOT / "src").rglob("*.py"), *(ROOT / "src").rglob("*.toml")]:
        if ".venv" not in path.parts and "build" not in path.parts:
            assert not pattern.search(path.read_text("utf-8")), path
