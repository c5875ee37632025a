"""The page with every public name, its signature and its docstring: written when the documents are built."""

from __future__ import annotations

import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import kinpair as kp

HEAD = """# Reference

Every public name of `kinpair`: what it takes and what it returns. SI units and radians; a batch of states has one more
axis in front.
"""


def write(file: Path) -> None:
    """Write the page, if it has changed."""
    text = page()
    if not file.exists() or file.read_text("utf-8") != text:
        file.write_text(text, encoding="utf-8")


def page() -> str:
    """The page: functions, then classes with their methods, then what is grouped in modules."""
    every = {name: getattr(kp, name) for name in kp.__all__ if not name.startswith("__")}
    functions = {name: x for name, x in every.items() if inspect.isroutine(x)}
    classes = {name: x for name, x in every.items() if inspect.isclass(x)}
    modules = {name: x for name, x in every.items() if isinstance(x, ModuleType)}
    parts = [HEAD, "## Functions", *(entry(f"kp.{name}", x) for name, x in functions.items())]
    for name, module in modules.items():
        public = getattr(module, "__all__", [])
        own = {key: getattr(module, key) for key in public if inspect.isroutine(getattr(module, key))}
        parts += [
            f"## kp.{name}",
            _text(module.__doc__),
            *(entry(f"kp.{name}.{key}", x) for key, x in own.items()),
        ]
    for name, kind in classes.items():
        parts += [f"## {name}", _text(kind.__doc__), *_members(kind)]
    return "\n\n".join(filter(None, parts)) + "\n"


def _members(kind: type) -> list[str]:
    """Public methods and properties that a class or those above it in this library define."""
    out: list[str] = []
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        if name.startswith("_") or not _documented(member):
            continue
        function = getattr(member, "fget", None) or getattr(member, "func", None) or member
        if not str(getattr(function, "__module__", "")).startswith("kinpair"):
            continue
        out.append(entry(name, member))
    return out


def _documented(member: Any) -> bool:
    return bool(inspect.getdoc(member)) and (
        inspect.isroutine(member) or not isinstance(member, (int, str, tuple, float))
    )


def entry(name: str, thing: Any) -> str:
    """A name, its signature, its docstring."""
    try:
        signature = str(inspect.signature(thing)) if inspect.isroutine(thing) else ""
    except (TypeError, ValueError):
        signature = ""
    signature = signature.replace("(self, ", "(").replace("(self)", "()")
    return f"### `{name}`\n\n```python\n{name}{signature}\n```\n\n{_text(inspect.getdoc(thing))}"


def _text(docstring: str | None) -> str:
    """A docstring as text: as it stands, in a block."""
    clean = inspect.cleandoc(docstring or "")
    return f"```text\n{clean}\n```" if clean else ""


if __name__ == "__main__":
    write(Path(__file__).parent / "reference.md")
