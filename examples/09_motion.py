"""Let an arm move: freely, under a controller, and a hundred times at once."""

import numpy as np

import kinpair as kp

arm = kp.example("double-pendulum")
start, still = [0.6, -0.2], [0.0, 0.0]

fall = kp.simulate(arm, start, still, duration=5.0)
print(fall.summary)


def hold(time, q, qd):
    """A spring and a damper to a moving target, compiled into the loop."""
    return 80.0 * (0.5 * np.sin(time) - q) - 15.0 * qd


held = kp.simulate(arm, start, still, duration=5.0, torque=hold, integrator="rk4", dt=0.001, output=0.01)
print(held.summary)
print(
    "force in the elbow, largest:", np.linalg.norm(held.reactions["elbow"][:, 3:], axis=1).max().round(2), "N"
)

pushes = np.random.default_rng(0).normal(size=(100, 2))
many = kp.simulate(arm, start, pushes, duration=5.0, torque=hold, integrator="rk4", dt=0.001, output=0.1)
print(
    f"{len(many.q)} motions in {many.took:.2f} s; they end within",
    np.ptp(many.q[:, -1], axis=0).round(4),
    "rad",
)
