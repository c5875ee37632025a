"""Draws bicycle-speeds.png: `python docs/pictures/bicycle_speeds.py`."""

from pathlib import Path

import numpy as np

import kinpair as kp

m = kp.example("bicycle")
q, speeds = m.start(), np.linspace(0.25, 10.0, 157)
rates = [m.velocities(q, {"rear": v / 0.3, "base.wx": 0.0, "steer": 0.0}) for v in speeds]
models = [kp.linearise(m, q, qd) for qd in rates]
kp.LinearModel.plot_locus(
    models, speeds, Path(__file__).with_name("bicycle-speeds.png"), quantity="speed [m/s]"
)
