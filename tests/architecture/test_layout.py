"""Data flows one way: nothing imports what stands after it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from types import ModuleType

import pytest
from tools import size

import kinpair

SRC = Path(kinpair.__file__).parent
ORDER = (
    "errors algebra spatial pairs description model formulations constraints/rounding constraints/solvers "
    "constraints/rows forces/element friction/rounding friction/laws friction/surfaces forces friction/loads "
    "results evaluation/quantities constraints/quantities compiler printed_equations/closed_form evaluation "
    "constraints/reactions constraints/solve contact friction/phases constraints/assembly friction/states "
    "evaluation/answers inverse_kinematics constraints/soundness viewer evaluation/tensors mechanism system "
    "bundled conventions loading description/writing printed_equations/textbook printed_equations motion analysis "
    "control simulation runs control/tracking walking optimisation learning sweeps identification cli"
).split()
FILES = sorted(SRC.rglob("*.py"))


@cache
def imports(path: Path) -> tuple[ast.Import | ast.ImportFrom, ...]:
    """The lines of a source that import, inside functions too."""
    every = ast.walk(ast.parse(path.read_text("utf-8")))
    return tuple(x for x in every if isinstance(x, ast.Import | ast.ImportFrom))


def part(names: Sequence[str]) -> str:
    """The entry of the order that a module belongs to, from its name in parts: the longest that fits."""
    places = ("/".join(names[:k]) for k in range(len(names), 0, -1))
    return next((place for place in places if place in ORDER), names[0])


def part_of(path: Path) -> str:
    return part(path.relative_to(SRC).with_suffix("").parts)


def imported(path: Path) -> set[str]:
    """Parts of kinpair that a file imports, inside functions too."""
    result = set()
    for node in imports(path):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        result |= {part(name.split(".")[1:]) for name in names if name.startswith("kinpair.")}
    return result


def test_every_part_has_its_place_in_the_order():
    parts = {part_of(path) for path in FILES} - {"__init__", "__main__"}
    packages = {name.split("/")[0] for name in ORDER if "/" in name}
    assert parts - packages <= set(ORDER)
    inside = [x for x in FILES if part_of(x) in packages - set(ORDER)]
    assert {x.name for x in inside} <= {"__init__.py"}


def test_no_public_function_hides_a_part():
    """`kinpair.sweeps` is the package, `kinpair.sweep` the function."""
    public = {name: getattr(kinpair, name) for name in ORDER if hasattr(kinpair, name)}
    assert [name for name, value in public.items() if not isinstance(value, ModuleType)] == []


def test_nothing_imports_what_stands_after_it():
    for path in FILES:
        own = part_of(path)
        if own in ("__init__", "__main__", "cli"):
            continue
        place = ORDER.index(own) if own in ORDER else -1  # a package of parts imports nothing itself
        later = {p for p in imported(path) if p in ORDER and ORDER.index(p) > place}
        assert not later, f"{path.relative_to(SRC)} imports {later}"


def test_mechanics_knows_no_compiler_and_no_linear_algebra_of_floats():
    for path in sorted((SRC / "formulations").glob("*.py")):
        text = path.read_text("utf-8")
        assert "np.linalg" not in text, path
        assert "compiler" not in imported(path)
    for place in ORDER[: ORDER.index("compiler")]:
        files = [path for path in FILES if part_of(path) == place]
        assert files
        assert not [path for path in files if "compiler" in imported(path)]


def declared(package: Path) -> list[str]:
    """The modules of a sub-package in the order in which its docstring lists them; empty if it lists none."""
    lines = (ast.get_docstring(ast.parse(package.read_text("utf-8"))) or "").splitlines()
    names = [match[1] for line in lines if (match := re.match(r"(\w+) {2,}\S", line))]
    return names if len(names) > 1 else []


PACKAGES = {
    x.parent: order for x in FILES if x.name == "__init__.py" and x.parent != SRC if (order := declared(x))
}


def siblings(path: Path, package: Path) -> set[str]:
    """Modules of its own package that a file imports, those for types alone and those inside functions too."""
    own = ".".join(("kinpair", *package.relative_to(SRC).parts))
    result = set()
    for node in imports(path):
        names = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        result |= {name.removeprefix(f"{own}.").split(".")[0] for name in names if name.startswith(f"{own}.")}
    return result


def test_sub_packages_declare_an_order():
    ordered = {package.relative_to(SRC).as_posix() for package in PACKAGES}
    assert {
        "constraints",
        "constraints/assembly",
        "constraints/quantities",
        "constraints/rows",
        "evaluation",
        "friction",
        "friction/laws",
        "inverse_kinematics",
        "motion",
        "runs",
        "simulation",
        "viewer",
    } <= ordered
    for whole in ("simulation", "runs"):
        assert {f"{whole}/{x.parent.name}" for x in (SRC / whole).glob("*/__init__.py")} <= ordered


@pytest.mark.parametrize("package", PACKAGES, ids=lambda x: x.relative_to(SRC).as_posix())
def test_modules_of_a_package_import_only_what_stands_above_them(package):
    order = PACKAGES[package]
    modules = {x.stem for x in package.iterdir() if x.suffix == ".py" or (x / "__init__.py").exists()}
    assert modules - {"__init__"} == set(order)
    for path in sorted(package.rglob("*.py")):
        own = path.relative_to(package).parts[0].removesuffix(".py")
        if own == "__init__":
            continue
        allowed = {*order[: order.index(own)], own}
        later = (siblings(path, package) & set(order)) - allowed
        assert not later, f"{path.relative_to(SRC)} imports {later}"


def test_chains_of_imports_at_the_top_of_modules_are_short():
    assert len(size.chain(size.modules(SRC))) <= 30


def test_a_file_over_400_lines_says_why():
    every = size.modules(SRC)
    assert [name for name, x in every.items() if x.lines > size.LONG and not x.reason] == []


def test_no_file_is_called_after_nothing():
    empty = {"utils", "common", "misc", "base", "helpers"}
    assert not [path for path in FILES if path.stem in empty]


def test_map_in_the_package_follows_the_order():
    names = re.findall(r"^    ([\w/]+?)/?\s{2,}", kinpair.__doc__ or "", re.MULTILINE)
    assert names == [name for name in ORDER if name in names]
    assert set(names) == set(ORDER)


def test_the_picture_of_the_layout_has_every_package_and_module_once():
    page = (SRC.parents[1] / "docs" / "layout.md").read_text("utf-8")
    picture = page.partition("```text\n")[2].partition("```")[0]
    packages = {f"{x.parent.name}/" for x in SRC.glob("*/__init__.py")}
    modules = {x.stem for x in SRC.glob("*.py")} - {"__init__", "__main__"}
    assert modules == {"errors", "results", "mechanism", "system", "loading"}
    assert len(packages) <= 28
    pattern = r"(?<![\w/])(?:" + "|".join(map(re.escape, sorted(packages | modules))) + r")(?!\w)"
    columns = "\n".join(line[27:72] for line in picture.splitlines())
    assert sorted(re.findall(pattern, columns)) == sorted(packages | modules)


def test_public_names_exist_and_are_documented():
    for name in kinpair.__all__:
        thing = getattr(kinpair, name)
        assert name.startswith("__") or thing.__doc__, name


def test_import_has_no_side_effects():
    """No heavy library comes along with what everybody needs, no NumPy setting changes, nothing is printed."""
    code = (
        "import sys, numpy as np; before = np.get_printoptions(), np.geterr(); import kinpair;"
        "kinpair.load, kinpair.Mechanism, kinpair.Builder, kinpair.constraint, kinpair.sweep;"
        "assert before == (np.get_printoptions(), np.geterr());"
        "heavy = {'scipy', 'matplotlib', 'lxml', 'rich', 'cyclopts', 'tomlkit'} & set(sys.modules);"
        "assert not heavy, heavy"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
