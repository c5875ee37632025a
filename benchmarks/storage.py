"""Ten million steps with all their samples to disk: memory, rate, and what streaming costs beside the steps alone."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

STEPS, QUICK_STEPS = 10_000_000, 1_000_000
ALLOWED = 300  # MiB of the whole process, summary, picture and report included
PROGRAM = """
import json, os, resource, sys, time
import kinpair as kp
steps, path = int(sys.argv[1]), sys.argv[2]
arm = kp.example("double-pendulum")
options = dict(integrator="rk4", dt=1e-3)
kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=0.1, **options)
began = time.perf_counter()
kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=steps * 1e-3, **options)
alone = time.perf_counter() - began
began = time.perf_counter()
run = kp.simulate(arm, [0.3, 0.2], [0.0, 0.0], duration=steps * 1e-3, output=1e-3, save=path, **options)
took = time.perf_counter() - began
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
summary = run.summary
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
run.plot(path + ".png")
run.report(path + ".html")
shown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps(dict(samples=len(run.time), alone=alone, took=took, peak=peak, with_summary=after,
                      with_pictures=shown, size=os.stat(path).st_size / 2**20)))
"""


@dataclass(frozen=True, slots=True)
class Streamed:
    """Seconds without and with all samples to disk; MiB of memory at most, after summary, picture and report, and of
    the file.
    """

    samples: int
    alone: float
    took: float
    peak: float
    with_summary: float
    with_pictures: float
    size: float

    @property
    def bounded(self) -> bool:
        """Is it within what is allowed?"""
        return self.with_pictures < ALLOWED

    def __str__(self) -> str:
        return (
            f"{self.samples} samples, {self.size:.0f} MiB on disk: {self.took:.2f} s, steps alone {self.alone:.2f} s; "
            f"memory {self.peak:.0f} MiB, with the summary {self.with_summary:.0f} MiB, with picture and report "
            f"{self.with_pictures:.0f} MiB, allowed {ALLOWED}"
        )


def row(quick: bool) -> Streamed:
    """In a process of its own, whose memory is measured."""
    with tempfile.TemporaryDirectory() as folder:
        words = [str(QUICK_STEPS if quick else STEPS), str(Path(folder) / "run.h5")]
        command = [sys.executable, "-c", PROGRAM, *words]
        out = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return Streamed(**json.loads(out))


def main() -> None:
    """`python -m benchmarks.storage [--quick]`."""
    parser = argparse.ArgumentParser(prog="benchmarks.storage", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    result = row(parser.parse_args().quick)
    print(result)
    sys.exit(0 if result.bounded else 1)


if __name__ == "__main__":
    main()
