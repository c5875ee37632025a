"""A constraint of your own on a mechanism, and a system of your own without bodies."""

import numpy as np

import kinpair as kp

arm = kp.example("planar-3r")


def height(q, time):
    """How far the tip is above the line y = 0.4, written with NumPy; its derivatives are exact."""
    a, b, c = q[0], q[0] + q[1], q[0] + q[1] + q[2]
    return 0.3 * np.sin(a) + 0.25 * np.sin(b) + 0.22 * np.sin(c) - 0.4


on_line = arm.with_constraints(kp.constraint.custom("line", phi=height))
q = on_line.assemble([0.5, 0.3, -0.4])
qd = on_line.velocities(q, {"joint1": 1.0})
fall = on_line.forward_dynamics(q, qd, np.zeros(3))
print(on_line.mobility(q))
print("accelerations with the tip on the line:", fall.round(4))
print("the line pushes with [N]:", on_line.constraint_forces(q, qd, np.zeros(3)).multipliers)

guided = arm.with_constraints(
    kp.constraint.guide("line", "link3", xyz=("", "0.4", ""), child_xyz=(0.22, 0, 0))
)
print(
    "a guide of kinpair's own does the same to",
    f"{np.abs(guided.forward_dynamics(q, qd, np.zeros(3)) - fall).max():.0e}",
)

skate = kp.System(
    ["x", "y", "heading"],
    T=lambda q, qd, t: 0.5 * (2.0 * qd[0] ** 2 + 2.0 * qd[1] ** 2 + 0.3 * qd[2] ** 2),
    Q=lambda q, qd, t: [0.0, -2.0 * 9.81 * np.sin(0.1), 0.0],  # on a slope
    constraints=[{"psi": lambda q, qd, t: qd[0] * np.sin(q[2]) - qd[1] * np.cos(q[2])}],
)
state = [0.0, 0.0, 0.4], [np.cos(0.4), np.sin(0.4), 2.0]
for solver in ("multipliers", "udwadia-kalaba", "rosenberg-extended"):
    print(f"skate on a slope, {solver}:", skate.forward_dynamics(*state, solver=solver).round(6))
