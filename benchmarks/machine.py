"""The processor at hand, and code for less of it than it has."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache, partial
from pathlib import Path
from unittest.mock import patch

import llvmlite.binding as llvm
from llvmlite.binding.targets import FeatureMap

from kinpair.compiler import cache, jit, target

CHAINS, LENGTH = (8, 12, 16), 60  # enough of them to hide the latency, few enough for the registers
WIDTHS = {16: "128-bit", 32: "AVX2", 64: "AVX-512"}  # of a vector register in bytes
BASE = {
    "64bit",
    "cmov",
    "cx8",
    "cx16",
    "fxsr",
    "mmx",
    "sahf",
    "sse",
    "sse2",
}  # every 64-bit x86 processor has
WITHIN: dict[str, Callable[[str], bool]] = {  # does a feature belong to the instruction set?
    "SSE2": BASE.__contains__,
    "AVX2": lambda feature: not feature.startswith(("avx512", "avx10")),
}


def instruction_sets() -> tuple[str, ...]:
    """What to compile for: AVX2, which the targets are for, and all the machine has if that is more."""
    own = WIDTHS[target.host().width]
    return ("AVX2", own) if own == "AVX-512" else (own,)


@contextmanager
def compiling_for(instructions: str) -> Iterator[None]:
    """Kernels compiled within are for this instruction set; they stay so afterwards."""
    own, within = llvm.get_host_cpu_features(), WITHIN.get(instructions, lambda feature: True)
    features = FeatureMap({name: has and within(name) for name, has in own.items()})
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


@lru_cache
def peak_rate(chains: Sequence[int] = CHAINS, turns: int = 10) -> float:
    """Multiplications and additions a second that compiled code issues at best, measured: independent chains without
    loads and stores to speak of, in all lanes of a vector."""
    import numpy as np

    import kinpair as kp
    from benchmarks.timing import race

    def summed(x):
        sums = list(x)
        for _ in range(LENGTH):
            sums = [y * x[0] + y for y in sums]
        return np.array(sums)

    rates: list[float] = []
    for count in chains:
        kernel = kp.compile(summed, shapes={"x": (count,)})
        states = np.ones((256, count))
        out = kernel(states)
        best = race({"peak": partial(kernel, states, out=out)}, turns)["peak"]
        rates.append(kernel.count["total"] * len(states) / best)
    return max(rates)
