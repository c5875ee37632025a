"""Data flows one way: nothing imports what stands after it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import kinpair

SRC = Path(kinpair.__file__).parent
ORDER = (
    "errors algebra spatial pairs description model formulations constraints forces quantities constrained "
    "evaluation compiler closed_form rolling kernels calls closure soundness mechanism system bundled conventions "
    "loading motion equations_of_motion viewer analysis simulation sweep cli"
).split()
FILES = sorted(SRC.rglob("*.py"))


def part_of(path: Path) -> str:
    return path.relative_to(SRC).parts[0].removesuffix(".py")


def imported(path: Path) -> set[str]:
    """Parts of kinpair that a file imports, inside functions too."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module == "kinpair":
            names = [f"kinpair.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        found |= {name.split(".")[1] for name in names if name.startswith("kinpair.")}
    return found


def test_every_part_has_its_place_in_the_order():
    parts = {part_of(path) for path in FILES} - {"__init__", "__main__"}
    assert parts <= set(ORDER)


def test_nothing_imports_what_stands_after_it():
    for path in FILES:
        part = part_of(path)
        if part in ("__init__", "__main__", "cli"):
            continue
        later = {p for p in imported(path) if p in ORDER and ORDER.index(p) > ORDER.index(part)}
        assert not later, f"{path.relative_to(SRC)} imports {later}"


def test_mechanics_knows_no_compiler_and_no_linear_algebra_of_floats():
    for path in sorted((SRC / "formulations").glob("*.py")):
        text = path.read_text("utf-8")
        assert "np.linalg" not in text, path
        assert "compiler" not in imported(path)
    for part in ("algebra", "constraints", "forces"):
        assert not [path for path in (SRC / part).rglob("*.py") if "compiler" in imported(path)]
    assert "compiler" not in imported(SRC / "constrained.py")


def test_no_file_is_called_after_nothing():
    empty = {"utils", "common", "misc", "base", "helpers"}
    assert not [path for path in FILES if path.stem in empty]


def test_map_in_the_package_follows_the_order():
    names = re.findall(r"^    (\w+)/?\s{2,}", kinpair.__doc__ or "", re.MULTILINE)
    assert names == [name for name in ORDER if name in names]
    assert set(names) == set(ORDER)


def test_public_names_exist_and_are_documented():
    for name in kinpair.__all__:
        thing = getattr(kinpair, name)
        assert name.startswith("__") or thing.__doc__, name


def test_import_has_no_side_effects_and_is_quick():
    """No heavy library comes along, no NumPy setting changes, nothing is printed."""
    code = (
        "import sys, time, numpy as np; before = np.get_printoptions(), np.geterr();"
        "t = time.perf_counter(); import kinpair; t = time.perf_counter() - t;"
        "assert before == (np.get_printoptions(), np.geterr());"
        "heavy = {'scipy', 'matplotlib', 'lxml', 'rich', 'cyclopts', 'tomlkit'} & set(sys.modules);"
        "assert not heavy, heavy; assert t < 1.0, t"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
