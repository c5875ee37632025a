"""Motion in time: integrators, runs, results; the loops are compiled."""
