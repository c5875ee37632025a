"""Load a mechanism, ask for its torques, see that they are right."""

import numpy as np

import kinpair as kp

arm = kp.example("stanford-arm")
print(arm)

q, qd, qdd = [0.2, 1.1, 0.6, -0.3, 0.7, 0.4], [0.5, -0.4, 0.3, 1.0, -0.8, 0.6], np.zeros(6)
tau = arm.inverse_dynamics(q, qd, qdd)
again = arm.inverse_dynamics(q, qd, qdd, method="denoc")
for name, first, second in zip(arm.v_names, tau, again, strict=True):
    print(f"{name}: {first:12.6f} N m or N   two formulations differ by {abs(first - second):.0e}")

back = arm.forward_dynamics(q, qd, tau)
print(f"forward dynamics gives the accelerations back to {np.abs(back).max():.0e}")
