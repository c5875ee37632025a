"""A cart on two driven wheels: its motion follows from the wheels, and rolling costs no energy."""

import numpy as np

import kinpair as kp

cart = kp.example("diff-drive")
q = cart.start()
print(cart.mobility(q))

qd = cart.velocities(q, {"left-wheel": 5.0, "right-wheel": 5.0})
print("both wheels at 5 rad/s: forward at", qd[0].round(4), "m/s")
qd = cart.velocities(q, {"left-wheel": 4.0, "right-wheel": 6.0})
print("at 4 and 6 rad/s: turning at", qd[2].round(4), "rad/s")

wheels = ["left-wheel", "right-wheel"]
qdd = cart.accelerations(q, qd, dict.fromkeys(wheels, 1.0))
tau = cart.inverse_dynamics(q, qd, qdd, actuators=wheels)
print("torques of the wheels for 1 rad/s² [N m]:", tau[[3, 4]].round(5))

dt, coast = 2e-3, np.zeros(cart.nv)
before = cart.energy(q, qd).kinetic
for _ in range(500):  # a plain midpoint rule over 1 s, nobody drives
    half_q, half_qd = q + dt / 2 * qd, qd + dt / 2 * cart.forward_dynamics(q, qd, coast)
    q, qd = q + dt * half_qd, qd + dt * cart.forward_dynamics(half_q, half_qd, coast)
slip = cart.constraint_matrix(q) @ qd
print(f"after a second: x {q[0]:.4f}, y {q[1]:.4f}, heading {q[2]:.4f}")
print(
    f"slip {np.abs(slip).max():.0e} m/s, energy changed by {abs(cart.energy(q, qd).kinetic - before):.0e} J"
)
