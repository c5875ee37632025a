"""Measurements: operation counts, and times against peers as ratios in one run. Calls wait for machine code."""

import os

os.environ.setdefault("KINPAIR_WAIT", "1")
