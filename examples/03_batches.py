"""Ten thousand states in one call, and a wrench on the hand."""

import time

import numpy as np

import kinpair as kp

robot = kp.example("two-handed-arm")
rng = np.random.default_rng(0)
q = rng.uniform(-1, 1, (10_000, robot.nq))
qd, qdd = rng.normal(size=(2, 10_000, robot.nv))

start = time.perf_counter()
tau = robot.inverse_dynamics(q, qd, qdd)
print(f"{len(tau)} states in {time.perf_counter() - start:.3f} s")

push = np.array([0, 0, 0, 10.0, 0, 0])  # 10 N along x on the left hand, in world axes
loaded = robot.inverse_dynamics(q, qd, qdd, external={"left-hand": push})
J = robot.jacobian(q, "left-hand")
print("virtual work agrees to", f"{np.abs(tau - loaded - np.einsum('bij,i->bj', J, push)).max():.0e}")
