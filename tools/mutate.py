"""Change one place of the source at a time and print which test notices it.

    python tools/mutate.py             thirty seeded mutations; exit status 1 where one survives
    python tools/mutate.py TEXT...     only those whose file or kind contains one of these texts

A mutation changes a sign, an index or a factor, or drops a term, at a place that a seeded generator chooses in a copy
of the source. Only the tests that the table names for the file are run, in their order, up to the first failure. They
have to pass on the unchanged copy first: where they do not, nothing is said of that file.
"""

from __future__ import annotations

import ast
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
FORMULATIONS = ("tests/laws/test_dynamics.py", "tests/agree/test_formulations.py")
ROWS = ("tests/laws/test_constraint_rows.py", "tests/agree/test_solvers.py", "tests/laws/test_constraints.py")
METHODS = (
    *("tests/unit/simulation/methods", "tests/laws/test_simulation.py"),
    "tests/laws/test_near_singular_positions.py",
)
TESTS: dict[str, tuple[str, ...]] = {
    "formulations/newton_euler.py": FORMULATIONS,
    "formulations/composite.py": FORMULATIONS,
    "formulations/articulated.py": FORMULATIONS,
    "formulations/denoc.py": FORMULATIONS,
    "formulations/kinematics.py": FORMULATIONS,
    "formulations/lagrange.py": (*FORMULATIONS, "tests/agree/test_formulations_lagrange_uicker.py"),
    "formulations/uicker.py": (*FORMULATIONS, "tests/agree/test_formulations_lagrange_uicker.py"),
    "formulations/popov.py": (*FORMULATIONS, "tests/agree/test_formulations_popov_appell_kane.py"),
    "constraints/rows/loop.py": ROWS,
    "constraints/rows/rolling.py": ROWS,
    "constraints/solvers/multipliers.py": ROWS,
    "constraints/solvers/udwadia_kalaba.py": ROWS,
    "simulation/methods/steps.py": METHODS,
    "simulation/methods/generalised_alpha.py": METHODS,
    "description/dh.py": ("tests/unit/description/test_dh.py",),
}
KINDS = ("sign", "index", "factor", "dropped term")
COUNT = 30
SECONDS = 300  # for the tests of one mutation; longer counts as noticed: the change made something endless
SWAPPED = {ast.Add: "-", ast.Sub: "+"}


class Mutation(NamedTuple):
    """Bytes of a file between `start` and `stop`, and what stands there instead."""

    file: str
    kind: str
    start: int
    stop: int
    text: bytes


def is_text(node: ast.AST) -> bool:
    """True if the node has a string or a sequence in it: its + joins, it does not add."""
    parts = (ast.JoinedStr, ast.Tuple, ast.List)
    return any(
        isinstance(x, parts) or (isinstance(x, ast.Constant) and isinstance(x.value, str))
        for x in ast.walk(node)
    )


def places(file: str) -> Iterator[Mutation]:
    """Every mutation of a file."""
    source = (ROOT / "src" / "kinpair" / file).read_bytes()
    starts = [0]
    for x in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(x))

    def span(node: ast.expr) -> tuple[int, int]:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    tree = ast.parse(source)
    functions = [x for x in ast.walk(tree) if isinstance(x, ast.FunctionDef)]
    for node in (x for function in functions for statement in function.body for x in ast.walk(statement)):
        if isinstance(node, ast.BinOp) and not is_text(node):
            start, stop = span(node)
            (a, b), (c, d) = span(node.left), span(node.right)
            left, right = source[a:b], source[c:d]
            if type(node.op) in SWAPPED:
                swapped = b"(" + left + b") " + SWAPPED[type(node.op)].encode() + b" (" + right + b")"
                yield Mutation(file, "sign", start, stop, b"(" + swapped + b")")
                yield Mutation(file, "dropped term", start, stop, b"(" + left + b")")
            elif isinstance(node.op, (ast.Mult, ast.MatMult)):
                yield Mutation(file, "factor", start, stop, b"(2 * (" + source[start:stop] + b"))")
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            k = node.slice.value
            if isinstance(k, int):
                yield Mutation(file, "index", *span(node.slice), str(k - 1 if k else 1).encode())


def chosen() -> list[Mutation]:
    """The seeded mutations: the kinds in turn over the files, no place twice."""
    result: dict[Mutation, None] = {}
    for turn in range(4 * len(KINDS)):
        for k, file in enumerate(TESTS):
            kind = KINDS[(turn + k) % len(KINDS)]
            known = [x for x in sorted(set(places(file))) if x.kind == kind and x not in result]
            if known and len(result) < COUNT:
                result[random.Random(f"{turn} {file}").choice(known)] = None
    return list(result)


def first_failure(source: Path, tests: tuple[str, ...]) -> str | None:
    """Id of the first test that fails with a copy of the source; None if all pass."""
    environment = {**os.environ, "PYTHONPATH": str(source), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-m", "pytest", "-x", "-n", "0", "-q", "-p", "no:cacheprovider", *tests]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS
        )
    except subprocess.TimeoutExpired:
        return f"no end in {SECONDS} s"
    if done.returncode == 0:
        return None
    named = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
    return named[1] if named else f"pytest ended with status {done.returncode}"


def main(*texts: str) -> int:
    """Run the mutations and print a line each; return the exit status."""
    survived, sound = 0, dict[tuple[str, ...], str | None]()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "src"
        shutil.copytree(ROOT / "src", source, ignore=shutil.ignore_patterns("__pycache__"))
        for x in chosen():
            if texts and not any(text in f"{x.file} {x.kind}" for text in texts):
                continue
            tests = TESTS[x.file]
            if tests not in sound:
                sound[tests] = first_failure(source, tests)
            path = source / "kinpair" / x.file
            before = path.read_bytes()
            line = before[: x.start].count(b"\n") + 1
            where = f"{x.file}:{line} {x.kind}"
            if sound[tests] is not None:
                print(f"{where}: not judged, {sound[tests]} fails without it", flush=True)
                survived += 1
                continue
            path.write_bytes(before[: x.start] + x.text + before[x.stop :])
            noticed = first_failure(source, tests)
            path.write_bytes(before)
            survived += noticed is None
            print(f"{where}: {noticed or 'SURVIVED'}", flush=True)
    return int(bool(survived))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
