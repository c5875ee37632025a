"""Seconds and memory of a first use, until the answer and until machine code is in use; and of the next run, which
finds the code on disk."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks import targets
from benchmarks.first_use import CHAIN
from benchmarks.planning import Row as Figure

PATIENCE = 60  # seconds
RUNS = 4  # the first compiles, the others find its code


@dataclass(frozen=True, slots=True)
class Case:
    """A robot, a quantity, and the seconds from the first answer until machine code is in use."""

    robot: str
    quantity: str
    limit: float
    quick: bool = False


CASES = (
    Case("xArm7", "inverse_dynamics", 0.5, quick=True),
    Case("xArm7", "forward_dynamics", 1.0),
    Case("Romeo, free", "mass_matrix", 3.0),
    Case("Romeo, free", "inverse_dynamics", 3.0),
    Case("Talos with hands, free", "mass_matrix", 3.0),
    Case("Talos with hands, free", "forward_dynamics", 3.0),
    Case("G1", "inverse_dynamics", 3.0),
    Case("G1", "forward_dynamics", 3.0),
    Case("G1", "inverse_dynamics_derivatives", 2.0, quick=True),
    Case("G1", "forward_dynamics_derivatives", 2.0),
)
FORMS = ("one", "batch")


@dataclass(frozen=True, slots=True)
class Used:
    """A first use: seconds until the first answer, from there until machine code is in use, of reading the disk
    cache, of the imports before; peak of memory."""

    case: Case
    form: str
    first: float
    later: float
    cached: float
    imports: float
    peak: float


def rows(quick: bool) -> Iterator[Used]:
    """A row a case and form, each in two fresh processes that share a fresh cache."""
    for case in CASES:
        if not quick or case.quick:
            for form in FORMS:
                yield _used(case, form)


def _used(case: Case, form: str) -> Used:
    with tempfile.TemporaryDirectory() as cache:
        first, *again = (_run(cache, case.robot, case.quantity, form) for _ in range(RUNS))
    cached, imports = (min(facts[name] for facts in again) for name in ("first", "imports"))
    return Used(case, form, first["first"], first["later"], cached, imports, first["peak"])


def chain_rows() -> Iterator[Figure]:
    """A thousand links, which must be a loop over the bodies: seconds until machine code, error against the floats."""
    with tempfile.TemporaryDirectory() as cache:
        facts = _run(cache, CHAIN, "inverse_dynamics", "one")
    assert facts["rolled"], "1000 links are one formula"
    yield Figure("1000 links, first use", facts["first"] + facts["later"], "s", targets.CHAIN_SECONDS)
    yield Figure("1000 links, error of the loops by the reference", facts["error"], "", targets.CHAIN_ERROR)


def _run(cache: str, *arguments: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.first_use", *arguments],
        env=os.environ | {"KINPAIR_CACHE": cache},
        capture_output=True,
        text=True,
        check=True,
        timeout=PATIENCE,
    )
    return json.loads(done.stdout)
