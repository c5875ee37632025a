"""Writes what the pages of the sources and the Chinese tutorials share: `python docs/sources/write.py [--notebooks]`.

Into the English pages: the setup and the table of each source from map.toml, and the output of each program. Into the
Chinese pages, tutorials included: the same table in Chinese, and the programs and outputs of the English page. With
`--notebooks`: a notebook of each English page and of KINPAIR, executed, in examples/notebooks.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
CHINESE = HERE.parent / "zh" / "sources"
NOTEBOOKS = ROOT / "examples" / "notebooks"
MAP = tomllib.loads((HERE / "map.toml").read_text("utf-8"))
PAGES = {"saha": "saha", "pan": "pan", "zhao-gu": "zhao_gu", "vukobratovic": "vukobratovic", "zhao": "zhao"}
BOOKS = {name: HERE / f"{name}.md" for name in PAGES.values()} | {
    "kinpair": HERE.parent / "equations" / "kinpair.md"
}
PROGRAM = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```\n)?", re.DOTALL)
TABLE = re.compile(r"(<!-- table -->\n).*?(<!-- end of table -->)", re.DOTALL)
HEADS = {"en": ("number", "what it says", "code", "call"), "zh": ("编号", "内容", "代码", "调用")}
KINDS = {
    "en": {"figure": "fig. ", "table": "table ", "lemma": "lemma ", "theorem": "theorem "}
    | {"assumption": "assumption ", "exercise": "exercise ", "problem": "problem "},
    "zh": {"figure": "图 ", "table": "表 ", "lemma": "引理 ", "theorem": "定理 "}
    | {"assumption": "假设 ", "exercise": "练习 ", "problem": "Problem "},
}


def place(row: dict[str, str]) -> str:
    """The heading of a function on the page of the code, as its anchor."""
    module = row["module"].rpartition(".")[2]
    return f"{module} {row['function'].replace('.', ' ')}"


def table(source: str, language: str = "en") -> str:
    """The rows of a source in the order of the map, as a table."""
    code = "../code.md" if language == "en" else "../../code.md"
    lines = ["| " + " | ".join(HEADS[language]) + " |", "|---|---|---|---|"]
    for row in MAP["row"]:
        if row["source"] == source:
            says = row["meaning" if language == "en" else "zh"].replace("|", "\\|")
            name = place(row).replace(" ", ".")
            link = f"[`{name}`]({code}#{place(row).lower().replace(' ', '-')})"
            number = KINDS[language].get(row["kind"], "") + row.get(f"number_{language}", row["number"])
            call = row["call"].replace("|", "\\|")
            lines.append(f"| {number} | {says} | {link} | `{call}` |")
    return "\n".join(lines) + "\n"


def with_table(text: str, source: str, language: str) -> str:
    return TABLE.sub(lambda found: found[1] + "\n" + table(source, language) + "\n" + found[2], text)


def programs(text: str) -> list[tuple[str, str]]:
    """Programs of a page with their outputs."""
    return [(program, output) for program, output in PROGRAM.findall(text)]


def with_programs(text: str, blocks: list[tuple[str, str]]) -> str:
    """A page with these programs and outputs in place of its own, one by one."""
    given = iter(blocks)

    def block(found: re.Match[str]) -> str:
        program, output = next(given, (found[1], found[2] or ""))
        shown = f"\n```text\n{output}```\n" if output else ""
        return f"```python\n{program}```\n{shown}"

    return PROGRAM.sub(block, text)


def outputs(source: str, blocks: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Programs, the first being the setup of the map, each with what it prints."""
    found: list[tuple[str, str]] = []
    scope: dict[str, Any] = {}
    setup = MAP["source"][source]["setup"].strip("\n") + "\n"
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            for program in (setup, *(program for program, _ in blocks[1:])):
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(program, PAGES[source], "exec"), scope)
                found.append((program, printed.getvalue()))
        finally:
            os.chdir(here)
    return found


def write_pages() -> None:
    """Both languages of every page."""
    for source, name in PAGES.items():
        english = HERE / f"{name}.md"
        text = english.read_text("utf-8")
        blocks = outputs(source, programs(text))
        english.write_text(with_programs(with_table(text, source, "en"), blocks), "utf-8")
        chinese = CHINESE / f"{name}.md"
        if chinese.exists():
            text = with_table(chinese.read_text("utf-8"), source, "zh")
            chinese.write_text(with_programs(text, blocks), "utf-8")
        print(name)
    for chinese in sorted((HERE.parent / "zh" / "tutorials").glob("*.md")):
        blocks = programs((HERE.parent / "tutorials" / chinese.name).read_text("utf-8"))
        chinese.write_text(with_programs(chinese.read_text("utf-8"), blocks), "utf-8")


def cells(page: Path) -> list[tuple[str, str]]:
    """Kind and text of the cells of a notebook: the page without tables of the map and printed outputs."""
    text = TABLE.sub("", page.read_text("utf-8"))
    text = re.sub(r"```\n\n```text\n.*?```\n", "```\n", text, flags=re.DOTALL)
    text = re.sub(r"\]\((?!https?:|#)([^)]+)\)", lambda x: f"](../../docs/{page.parent.name}/{x[1]})", text)
    found: list[tuple[str, str]] = []
    for k, part in enumerate(re.split(r"```python\n(.*?)```\n", text, flags=re.DOTALL)):
        if part.strip():
            found.append(("code" if k % 2 else "markdown", part.strip("\n")))
    return found


def write_notebooks() -> None:
    """A notebook of each English page and of KINPAIR, executed."""
    import nbformat
    from nbclient import NotebookClient

    NOTEBOOKS.mkdir(parents=True, exist_ok=True)
    for name, page in BOOKS.items():
        made = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}
        found = cells(page)
        book = nbformat.v4.new_notebook(
            cells=[made[kind](text, id=f"{name}-{k}") for k, (kind, text) in enumerate(found)],
            metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
        )
        with tempfile.TemporaryDirectory() as folder:
            resources = {"metadata": {"path": folder}}
            NotebookClient(
                book, timeout=300, record_timing=False, coalesce_streams=True, resources=resources
            ).execute()
        book.metadata = {"kernelspec": book.metadata["kernelspec"]}
        nbformat.write(book, NOTEBOOKS / f"{name}.ipynb")
        print(name)


if __name__ == "__main__":
    write_notebooks() if "--notebooks" in sys.argv else write_pages()
