"""Check docstrings of src/kinpair: their first lines, and shapes of what public functions return.

The first line of a docstring begins with a verb or a noun phrase, has three words or more and asks no question. A
public function that returns an array names its shape or length, such as (nv,), in its docstring.
`python tools/docstrings.py` prints the places that break a rule and exits with 1; `make lint` runs it.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

SRC = Path(__file__).parents[1] / "src" / "kinpair"

# words that begin a clause, a fragment or a question, and not a verb or noun phrase
STARTS = frozenset(
    """
    Of By In On At From With Without For As Along Among Against Between Beyond Into Onto Over Through Under Until
    Within After Before Because If So Than
    Which Who Whose Why Whether How What Where When Whatever
    Is Are Was Does Has Have Had Can Could May Shall
    Its Their Those These That This It They He She One Same Such Other Others
    And Or But Not Yes Seen Taken Gone Nothing Anything Something Everything
    """.split()
)
SAME = re.compile(r"(The|All) (same|others?|rest|ones?|of them)\b")
ONE_OF = re.compile(r"One( \w+){1,2} (of|for|with|over)\b")
CODE = re.compile(r"`[^`]*`|<\?[^>]*>")
WORDS = 3

SHAPE = re.compile(r"\((\.\.\.|…|[\w+· ]+),[^()]*\)")  # (nv,), (..., n), (batch, 6, nv)
ARRAYS = re.compile(r"ndarray|Vector|Matrix")


def faults(text: str) -> list[str]:
    """Rules that a docstring breaks in its first line."""
    lines = text.strip().split("\n")
    first, plain = lines[0], CODE.sub("code", " ".join(text.strip().split("\n\n")[0].split()))
    sentence = re.split(r"(?<=[.:;])\s", plain)[0]
    words = first.split()
    found = []
    if len(words) < WORDS:
        found.append(f"has {len(words)} words, needs {WORDS}")
    if "?" in sentence:
        found.append("is a question; begin with 'True if'")
    if (words[0].strip(",.:;") in STARTS and not ONE_OF.match(first)) or SAME.match(first):
        found.append(f"begins with {words[0]!r}; begin with a verb or a noun")
    return found


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str, str]]:
    """Line, qualified name and docstring of a module and of all that is defined in it."""
    if text := ast.get_docstring(tree):
        yield 1, "", text
    waiting: list[tuple[ast.AST, str]] = [(tree, "")]
    while waiting:
        node, within = waiting.pop()
        for child in ast.iter_child_nodes(node):
            name = within
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{within}.{child.name}".lstrip(".")
                if text := ast.get_docstring(child):
                    yield child.lineno, name, text
            waiting.append((child, name))


def first_lines() -> Iterator[str]:
    """Places whose first lines break a rule."""
    for path in sorted(SRC.rglob("*.py")):
        for line, name, text in docstrings(ast.parse(path.read_text("utf-8"))):
            for fault in faults(text):
                yield f"{path.relative_to(SRC.parents[1])}:{line}: {name or 'module'}: {fault}"


def public() -> Iterator[tuple[str, Any]]:
    """Name and function of everything public that can be called."""
    import kinpair as kp

    for name in kp.__all__:
        thing = getattr(kp, name)
        members = (
            thing.__all__ if isinstance(thing, ModuleType) else dir(thing) if inspect.isclass(thing) else ()
        )
        if inspect.isroutine(thing):
            yield name, thing
        for key in members:
            member = inspect.getattr_static(thing, key, None)
            function = getattr(member, "fget", None) or getattr(member, "func", None) or member
            if not key.startswith("_") and str(getattr(function, "__module__", "")).startswith("kinpair"):
                yield f"{name}.{key}", function


def shapes() -> Iterator[str]:
    """Public functions that return an array without naming its shape."""
    for name, function in public():
        returned = str(getattr(function, "__annotations__", {}).get("return", ""))
        if ARRAYS.search(returned) and not SHAPE.search(inspect.getdoc(function) or ""):
            yield f"kp.{name}: returns {returned}; name its shape"


if __name__ == "__main__":
    broken = [*first_lines(), *shapes()]
    print("\n".join(broken) or "docstrings: no fault")
    sys.exit(bool(broken))
