"""Writes code.md when the documents are built: the functions that the map of the sources names, with their code."""

from __future__ import annotations

import importlib
import inspect
import tomllib
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
HEAD = """# Code behind the equations of the sources

The functions to which the [pages of the sources](sources/index.md) lead, with file and line.
"""
SOURCES = HERE.parent / "src"


def places() -> list[tuple[str, str]]:
    """Module and function of every row of the map, each once."""
    rows = tomllib.loads((HERE / "sources" / "map.toml").read_text("utf-8"))["row"]
    return sorted({(row["module"], row["function"]) for row in rows})


def entry(module: str, function: str) -> str:
    """Heading, file and line, and the code of one function."""
    found: Any = importlib.import_module(module)
    for name in function.split("."):
        found = getattr(found, name)
    found = inspect.unwrap(found)
    lines, first = inspect.getsourcelines(found)
    file = Path(inspect.getsourcefile(found) or "").resolve().relative_to(SOURCES.resolve())
    heading = f"{module.rpartition('.')[2]} {function.replace('.', ' ')}"
    shown = "".join(lines[:120]).rstrip()
    return f"## {heading}\n\n`src/{file.as_posix()}`, line {first}\n\n```python\n{shown}\n```\n"


def page() -> str:
    """The page as MyST markdown."""
    return "\n".join([HEAD, *(entry(*place) for place in places())])


def write(path: Path) -> None:
    """Write the page, if it has changed."""
    text = page()
    if not path.exists() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")
