"""The processor at hand, and code for less of it than it has."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from unittest.mock import patch

import llvmlite.binding as llvm

from kinpair.compiler import cache, jit, target

WIDTHS = {16: "128-bit", 32: "AVX2", 64: "AVX-512"}  # of a vector register in bytes
BEYOND_AVX2 = ("avx512", "avx10")


def instruction_sets() -> tuple[str, ...]:
    """What to compile for: AVX2, which the targets are for, and all the machine has if that is more."""
    own = WIDTHS[target.host().width]
    return ("AVX2", own) if own == "AVX-512" else (own,)


@contextmanager
def compiling_for(instructions: str) -> Iterator[None]:
    """Kernels compiled within are for this instruction set; they stay so afterwards."""
    features = llvm.get_host_cpu_features()
    if instructions == "AVX2":
        features.update({name: False for name in features if name.startswith(BEYOND_AVX2)})
    with patch.object(llvm, "get_host_cpu_features", lambda: features):
        _forget()
        yield
    _forget()


def _forget() -> None:
    for known in (target.host, cache.surroundings, jit.target_machine):
        known.cache_clear()


def description() -> str:
    """Name of the processor and its widest instruction set."""
    return f"{_processor()}, {WIDTHS[target.host().width]}"


def _processor() -> str:
    facts = Path("/proc/cpuinfo")
    if facts.exists():
        for line in facts.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
