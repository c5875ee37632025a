"""The first use of a quantity, in a process of its own: `python -m benchmarks.first_use LABEL QUANTITY FORM`.

Prints JSON: seconds of the imports, of reading the file, from the mechanism to the first result, and from there until
machine code is in use; peak MiB.
The label "chain" stands for a thousand links, FORM is `one` (a state) or `batch`.
"""

from __future__ import annotations

import json
import os
import re
import resource
import sys
import time
from pathlib import Path

CHAIN = "chain"
LINKS = 1000
ROWS = 64


def main(label: str, quantity: str, form: str) -> None:
    """Measure and print."""
    os.environ["KINPAIR_WAIT"] = "0"
    start = time.perf_counter()
    import llvmlite.binding  # noqa: F401
    import numpy as np

    import kinpair.compiler
    import kinpair.evaluation.kernels
    from kinpair.compiler.background import worker

    imported = time.perf_counter()
    mechanism = _mechanism(label)
    shape = () if form == "one" else (ROWS,)
    q = np.broadcast_to(mechanism.neutral(), (*shape, mechanism.nq)).copy()
    qd, x = np.full((2, *shape, mechanism.nv), 0.1)
    state = {"mass_matrix": (q,)}.get(quantity, (q, qd, x))
    loaded = time.perf_counter()
    getattr(mechanism, quantity)(*state)
    answered = time.perf_counter()
    while worker.busy:
        time.sleep(0.002)
    facts = {"later": time.perf_counter() - answered, "first": answered - loaded}
    facts |= {"imports": imported - start, "load": loaded - imported, "peak": _peak()}
    if label == CHAIN:
        reference = getattr(mechanism.reference, quantity)(*state)
        result = getattr(mechanism, quantity)(*state)
        facts["error"] = float(np.abs(result - reference).max() / max(1.0, np.abs(reference).max()))
        facts["rolled"] = isinstance(mechanism.kernel(quantity).graph, kinpair.compiler.rolled.Rolled)
    print(json.dumps(facts))


def _mechanism(label: str):
    from benchmarks.chains import dh_chain
    from benchmarks.robots import robot

    return dh_chain(LINKS) if label == CHAIN else robot(label).load()


def _peak() -> float:
    """Largest resident memory so far [MiB]; Linux hands the figure of getrusage down from the parent."""
    status = Path("/proc/self/status")
    if status.exists():
        return int(re.findall(r"VmHWM:\s+(\d+) kB", status.read_text())[0]) / 1024
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**20


if __name__ == "__main__":
    main(*sys.argv[1:])
