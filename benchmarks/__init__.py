"""Measurements: operation counts, and times against peers as ratios in one run."""
