"""The instruction set that the tests compile for: `KINPAIR_TEST_TARGET=sse2`, `avx2` or `host`, which is the default.

Processes that tests start compile for the same: Python runs `startup/sitecustomize.py` first in each of them.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path

from benchmarks.machine import WITHIN, compiling_for

VARIABLE = "KINPAIR_TEST_TARGET"
TARGETS = {"host": "host", **{name.lower(): name for name in WITHIN}}
TESTS = Path(__file__).parent


def compiling_for_target() -> AbstractContextManager[None]:
    """Kernels compiled within are for the instruction set that the variable names."""
    name = os.environ.get(VARIABLE, "host")
    if name not in TARGETS:
        raise ValueError(f"{VARIABLE}={name}: give one of {', '.join(TARGETS)}")
    return compiling_for(TARGETS[name])


def subprocesses_too() -> None:
    """Let processes that this one starts compile for the same."""
    paths = [TESTS / "startup", TESTS, TESTS.parent, os.environ.get("PYTHONPATH", "")]
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, map(str, paths)))
