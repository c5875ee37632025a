"""A free-floating arm: momentum is kept, and Pinocchio's view of the same state."""

import numpy as np

import kinpair as kp

robot = kp.example("floating-arm", gravity=(0.0, 0.0, 0.0))
print(robot.q_names)
print(robot.v_names)

q = robot.neutral()
q[-3:] = 0.3, -0.6, 0.9
qd = np.array([0, 0, 0, 0, 0, 0, 1.0, -0.5, 0.2])
before = robot.momentum(q, qd)

dt = 1e-4
for _ in range(1000):  # a plain midpoint rule over 0.1 s
    qdd = robot.forward_dynamics(q, qd, np.zeros(robot.nv))
    q_half, qd_half = q + dt / 2 * robot.dq_dt(q, qd), qd + dt / 2 * qdd
    qdd = robot.forward_dynamics(q_half, qd_half, np.zeros(robot.nv))
    q, qd = q + dt * robot.dq_dt(q_half, qd_half), qd + dt * qdd

print("momentum before:", before.round(6))
print("momentum after: ", robot.momentum(q, qd).round(6))
theirs = kp.conventions.to_pinocchio(robot, q, qd)
print("Pinocchio's rates begin with the linear velocity:", theirs.v[:3].round(4))
