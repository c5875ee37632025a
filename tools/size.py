"""Print lines, files, depth of imports and modules with one importer, by package.

    python tools/size.py            of src/kinpair
    python tools/size.py FOLDER     of another tree of the package
    python tools/size.py --chain    the longest chain of imports instead, from the last module to the first

`depth` is the longest chain of imports at the top of modules that ends in the package: each module of the chain imports
the next. `alone` counts modules with exactly one importer (imports for types and inside functions count as well), and
`small` those of them under 90 lines, which usually belong in that importer. `long` counts files over 400 lines, `why`
those of them whose docstring says why.
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

SMALL, LONG = 90, 400  # lines of a file
REASON = "The file is long because "  # in the docstring of a long one


@dataclass(frozen=True)
class Module:
    """A source file: its lines, whether it says why it is long, what it imports at its top, and anywhere."""

    lines: int
    reason: bool
    top: frozenset[str]
    anywhere: frozenset[str]


def name_of(path: Path, root: Path) -> str:
    """The dotted name of a file; `root` is the folder of the package."""
    return ".".join((root.name, *path.relative_to(root).with_suffix("").parts)).removesuffix(".__init__")


def imported(tree: ast.Module, names: set[str]) -> Iterator[tuple[str, bool]]:
    """Modules of the package that a source imports, and whether at its top and not for types alone."""
    for node in ast.walk(tree):
        found = []
        if isinstance(node, ast.Import):
            found = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            whole = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name if name in names else node.module for name in whole]
        for name in found:
            if name in names:
                yield name, node in tree.body


def modules(root: Path) -> dict[str, Module]:
    """Every module of a package by its name."""
    paths = {name_of(path, root): path for path in sorted(root.rglob("*.py"))}
    result = {}
    for name, path in paths.items():
        text = path.read_text("utf-8")
        found = list(imported(ast.parse(text), set(paths)))
        top, anywhere = ({x for x, first in found if first or wide} - {name} for wide in (False, True))
        result[name] = Module(text.count("\n"), REASON in text, frozenset(top), frozenset(anywhere))
    return result


def depths(every: dict[str, Module]) -> dict[str, int]:
    """How many modules the longest chain of top-level imports has that begins at a module."""

    @cache
    def depth(name: str) -> int:
        return 1 + max((depth(x) for x in every[name].top), default=0)

    sys.setrecursionlimit(10_000)
    return {name: depth(name) for name in every}


def chain(every: dict[str, Module]) -> list[str]:
    """The longest chain of top-level imports: each module imports the next."""
    deep = depths(every)
    result, left = [], set(deep)
    while left:
        result.append(max(sorted(left), key=lambda name: deep[name]))
        left = set(every[result[-1]].top)
    return result


def table(root: Path) -> dict[str, tuple[int, ...]]:
    """Lines, files, depth, alone, small, long and why of each package, and of all."""
    every = modules(root)
    deep = depths(every)
    importers = defaultdict(set)
    for name, module in every.items():
        for x in module.anywhere:
            importers[x].add(name)
    groups = defaultdict(list)
    for name in every:
        groups["/".join(name.split(".")[1:2]) or "__init__"].append(name)
        groups["all"].append(name)
    alone = {x for x, by in importers.items() if len(by) == 1}
    small = {x for x in alone if every[x].lines < SMALL}
    return {
        group: (
            sum(every[x].lines for x in names),
            len(names),
            max(deep[x] for x in names),
            len(alone & set(names)),
            len(small & set(names)),
            sum(every[x].lines > LONG for x in names),
            sum(every[x].lines > LONG and every[x].reason for x in names),
        )
        for group, names in sorted(groups.items(), key=lambda item: (item[0] == "all", item[0]))
    }


def main(*arguments: str) -> None:
    """Print the table of a tree, or its longest chain."""
    folders = [Path(x) for x in arguments if x != "--chain"]
    root = (folders or [Path(__file__).parents[1] / "src" / "kinpair"])[0]
    if "--chain" in arguments:
        print("\n".join(chain(modules(root))))
        return
    print(
        f"{'':20}"
        + "".join(f"{head:>7}" for head in ("lines", "files", "depth", "alone", "small", "long", "why"))
    )
    for group, numbers in table(root).items():
        print(f"{group:20}" + "".join(f"{x:7d}" for x in numbers))


if __name__ == "__main__":
    main(*sys.argv[1:])
