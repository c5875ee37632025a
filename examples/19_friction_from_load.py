"""Friction that grows with what a joint carries: a drawer that jams, a screw that locks, an arm in bearings.

python examples/19_friction_from_load.py
"""

import numpy as np

import kinpair as kp

# A drawer pulled at its right handle presses the ends of its guides: N = 2 P a/L.
drawer = kp.example("drawer")
pull = {"right": np.array([0, 0, 0, 20.0, 0, 0])}
print(
    "drawer, 20 N at the right handle:", drawer.forward_dynamics([0.1], [0.0], [0.0], external=pull), "m/s²"
)
print("  ", drawer.friction([0.1], [0.0], [0.0], external=pull)["slide"])
for mu in (0.5, 0.7):
    stiff = {"slide.friction.mu": mu, "slide.friction.mu_static": mu}
    run = kp.simulate(drawer, [0.1], [0.0], duration=0.2, external=pull, parameters=stiff)
    print(f"   with mu = {mu} it has moved {run.q[-1, 0] - 0.1:.4f} m in 0.2 s")

# A screw: the torque that lifts, the torque that lowers, and rest without any.
screw = kp.example("lead-screw")
up, down = (screw.inverse_dynamics([0.0], [way], [0.0])[0] for way in (1.0, -1.0))
print(f"screw: {up:.4f} N m lifts, {down:.4f} N m lowers, left alone it turns by", end=" ")
print(screw.forward_dynamics([0.0], [0.0], [0.0])[0], "rad/s²")

# An arm in bearings: friction takes part of every torque, and the energy balance of a fall closes.
arm = kp.example("bearing-arm")
q, qd, qdd = np.full(6, 0.3), np.full(6, 0.5), np.zeros(6)
print("arm, torques of a slow motion less those without friction:")
print(
    "  ", (arm.inverse_dynamics(q, qd, qdd) - arm.inverse_dynamics(q, qd, qdd, passive=False)).round(2), "N m"
)
print("   loads of its bearings:", [round(x.load) for x in arm.friction(q, qd, np.zeros(6)).values()], "N")

# Two cylindrical joints: from mu = 0.2528 on no load fits.
arm = kp.example("cylindrical-arm")
state = [0.4, 0.1, -0.7, 0.05], [1.2, -0.3, 2.0, 0.4], [0.5, 35, 0.2, -1]
print("cylindrical arm:", arm.forward_dynamics(*map(np.array, state)))
