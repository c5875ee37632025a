"""Optimal motion: the fastest and the cheapest way, around a limit, by motors, with an impact."""

import numpy as np

import kinpair as kp

arm = kp.example("double-pendulum")
goal = {"start": [0.0, 0.0], "end": [2.0, 0.5], "limits": {"u": {"shoulder": 60.0, "elbow": 25.0}, "qd": 6.0}}
for cost in ("time", "effort", "jerk"):
    x = kp.optimise(arm, **goal, cost=cost, duration=None if cost == "time" else 1.5)
    print(f"{cost}: {x.duration:.3f} s")
    print(x.summary())

motors = kp.example("motor-arm")
there = motors.start() + np.array([1.2, 0.5, -0.5, 0.8, 0.6, 0.5])
saving = kp.optimise(motors, start=motors.start(), end=there, duration=1.0, cost="energy")
print(f"energy of six motors: {saving.cost:.1f} J")


def drone(x, u):
    """A plane quadrotor of 1 kg: thrust u[0], moment u[1]."""
    return np.array([x[3], x[4], x[5], -u[0] * np.sin(x[2]), u[0] * np.cos(x[2]) - 9.81, u[1] / 0.02])


flying = kp.dynamics(drone, ("x", "z", "angle", "vx", "vz", "rate"), ("thrust", "moment"))
over = kp.optimise(
    flying,
    start=np.zeros(6),
    end=[3.0, 0.0, 0.0, 0.0, 0.0, 0.0],
    cost="time",
    limits={"thrust": (0.0, 20.0), "moment": 0.5},
    path={"above the wall": (0.0, lambda p: p["z"] + 0.3 - 0.25 * np.exp(-4.0 * (p["x"] - 1.5) ** 2), None)},
)
print(f"quadrotor: {over.duration:.3f} s, error by simulation {over.error:.1e}")
