"""What one run of the benchmarks has found, written down."""

from __future__ import annotations

import json

import numpy as np
from benchmarks.constrained_row import Growth
from benchmarks.planning import Row as Figure
from benchmarks.results import Results


def test_numbers_of_numpy_are_written_as_plain_ones():
    nothing = ("batches", "singles", "motions", "loops", "solvers", "shared", "used", "methods", "operations")
    results = Results(
        machine="one",
        versions={},
        instructions=("AVX2",),
        drift=0.1,
        growth=Growth((1, 2, 4), (10, 20, 40), (1.0, 2.0, 4.0), (0.1, 0.2, 0.4)),
        chain={"first": np.float64(0.25), "error": np.float64(1e-15), "rolled": np.bool_(True)},
        figures=[Figure("a run", np.float64(3.0), "ms", np.float64(4.0))],
        **{name: [] for name in nothing},
    )
    plain = json.loads(results.as_json())
    verdict = next(x for x in plain["verdicts"] if x["what"] == "a run [ms]")
    assert (verdict["found"], verdict["demanded"], verdict["met"]) == (3.0, 4.0, True)
