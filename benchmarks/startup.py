"""Seconds until one can begin: processor time of fresh processes from their start to their end.

`python -m benchmarks.startup [WORD ...]` prints the rows that have one of the words. The processor time of a process is
its time on an idle core; code caches are directories of their own, empty before each process or filled by one before.
Python's bytecode is there, as after an installation by pip.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import targets
from benchmarks.robots import robot

RUNS, FEW = 5, 2  # processes of a row; of those that take seconds
BYTECODE = str(Path("build", "bench-bytecode").absolute())
FIRST_CALL = """
import warnings, kinpair
warnings.simplefilter("ignore")
m = kinpair.load({path!r})
m.inverse_dynamics(*[[0.1] * m.nv] * 3)
"""


@dataclass(frozen=True, slots=True)
class Command:
    """What is started: words of the interpreter, whether its code cache is filled before, and how often."""

    words: Sequence[str]
    is_filled: bool = True
    runs: int = RUNS


@dataclass(frozen=True, slots=True)
class Started:
    """What was started, the least of its seconds, and how many it may take, if that is demanded."""

    what: str
    seconds: float
    limit: float | None


def commands() -> dict[str, Command]:
    """Return the commands by name."""
    first = ("-c", FIRST_CALL.format(path=str(robot("UR5").path)))
    shell = ("-m", "kinpair")
    ur5, talos = str(robot("UR5").path), str(robot("Talos").path)
    return {
        "python -c 'import numpy'": Command(("-c", "import numpy")),
        targets.IMPORT: Command(("-c", "import kinpair")),
        targets.HELP: Command((*shell, "--help")),
        "import kinpair, then example('scara')": Command(("-c", "import kinpair; kinpair.example('scara')")),
        targets.FIRST_CALL: Command(first, is_filled=False),
        targets.NEXT_CALL: Command(first),
        targets.DYNAMICS: Command((*shell, "dynamics", talos, "--base", "free"), False, FEW),
        targets.COMPARE: Command((*shell, "compare", ur5), False, FEW),
        targets.GAIT: Command((*shell, "gait"), False, FEW),
        targets.NOMINAL: Command(
            (*shell, "nominal", "redundant-arm", "--to", "elbow=0.4", "--fastest"), False, FEW
        ),
    }


def rows(*words: str) -> Iterator[Started]:
    """A row a command; with words, of those that have one of them."""
    for what in (x for x in commands() if not words or any(word in x for word in words)):
        yield Started(what, _least(commands()[what]), targets.STARTUP.get(what))


def _least(command: Command) -> float:
    with TemporaryDirectory() as folder:
        if command.is_filled:
            _seconds(command.words, Path(folder, "filled"))
            return min(_seconds(command.words, Path(folder, "filled")) for _ in range(command.runs))
        return min(_seconds(command.words, Path(folder, str(k))) for k in range(command.runs))


def _seconds(words: Sequence[str], cache: Path) -> float:
    """Return processor time of a process in user and system mode [s]."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    settings = {
        **os.environ,
        "KINPAIR_CACHE": str(cache),
        "KINPAIR_WAIT": "0",
        "PYTHONPYCACHEPREFIX": BYTECODE,
    }
    settings.pop("PYTHONDONTWRITEBYTECODE", None)  # as users start it
    done = subprocess.run([sys.executable, *words], env=settings, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-300:]}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


if __name__ == "__main__":
    for row in rows(*sys.argv[1:]):
        limit = "" if row.limit is None else f"   {'✓' if row.seconds <= row.limit else '✗'} ≤ {row.limit:g}"
        print(f"{row.what}: {row.seconds:.3f} s{limit}", flush=True)
