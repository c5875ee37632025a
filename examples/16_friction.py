"""Friction that sticks: a block on an incline, a mass on a belt, two masses, bristles."""

import numpy as np

import kinpair as kp

incline = kp.example("incline")
print("at rest:", incline.friction([0.0], [0.0], [0.0])["slope"])
up = kp.simulate(incline, [0.0], [-1.5], duration=2.0)
print("pushed up the slope:", up.events, "at", up.q[-1], "m; by hand", -(1.5**2) / (9.81 + 8.0), "m")

belt = kp.example("stick-slip")
speed, stiffness = 0.1, 100.0
run = kp.simulate(
    belt, [0.0], [0.0], duration=10.0, torque=lambda t, q, qd: np.array([stiffness * (speed * t - q[0])])
)
print(run.summary)
run.plot("stick_slip.png")

two = kp.example("two-masses")
pulled = kp.simulate(
    two, [0.0, 0.0], [0.0, 0.0], duration=3.0, torque=lambda t, q, qd: np.array([2.0 * t, 0.0 * t])
)
print("breakaway:", pulled.events[:2])
print("heat:", {name: round(float(x.heat[-1]), 3) for name, x in pulled.friction.items()}, "J")
