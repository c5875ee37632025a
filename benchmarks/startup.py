"""Seconds until one can begin: fresh processes from their start to their end."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from time import perf_counter

from benchmarks import targets

RUNS = 5
COMMANDS = {
    "python -c 'import numpy'": ("-c", "import numpy"),
    targets.IMPORT: ("-c", "import kinpair"),
    targets.HELP: ("-m", "kinpair", "--help"),
    "import kinpair, then example('scara')": ("-c", "import kinpair; kinpair.example('scara')"),
}


@dataclass(frozen=True, slots=True)
class Started:
    """What was started, the least of its seconds, and how many it may take, if that is demanded."""

    what: str
    seconds: float
    limit: float | None


def rows() -> Iterator[Started]:
    """A row a command."""
    for what, words in COMMANDS.items():
        yield Started(what, min(_seconds(words) for _ in range(RUNS)), targets.STARTUP.get(what))


def _seconds(words: tuple[str, ...]) -> float:
    began = perf_counter()
    subprocess.run([sys.executable, *words], check=True, stdout=subprocess.DEVNULL)
    return perf_counter() - began
