"""Gaits of the compass walker over the slope, as docs/gait.md shows them."""

import sys

import numpy as np

import kinpair as kp

m = kp.example("compass-walker")
strike = kp.walking.heel_strike(
    m, "foot", relabel=[[1, -1], [0, -1]], function=lambda time, q, qd: q[1] - 2 * q[0], direction=1
)
gait = kp.walking.cycle(m, [0.27, 0.54], [-1.09, -0.7], strike, slope=np.deg2rad(3), duration=0.73)
branch = kp.walking.continuation(gait, np.deg2rad(5), points=40)
two = kp.walking.continuation(branch.doubled(), np.deg2rad(5), points=40)
branch.plot(sys.argv[1] if len(sys.argv) > 1 else "compass-walker.png", others=(two,))
