"""A four-bar linkage: assemble it, move it, hold it, and see what its loop carries."""

import numpy as np

import kinpair as kp
from kinpair.spatial.inertia import rod


def bar(b: kp.Builder, name: str, mass: float, length: float) -> kp.Builder:
    return b.link(name, mass=mass, com=[length / 2, 0, 0], inertia=rod(mass, length, "x"))


parts = kp.Builder("four-bar", gravity=(0, -9.81, 0))
for name, mass, length in (("crank", 1.5, 0.05), ("output", 5.0, 0.13), ("coupler", 3.0, 0.1)):
    parts = bar(parts, name, mass, length)
parts = (
    parts.joint("crank", "revolute", "ground", "crank")
    .joint("output", "revolute", "ground", "output", xyz=[0.15, 0, 0])
    .joint("coupler", "revolute", "output", "coupler", xyz=[0.13, 0, 0])
    .loop("pin", "revolute", "crank", "coupler", xyz=[0.05, 0, 0], child_xyz=[0.1, 0, 0])
)
linkage = kp.build(parts)

q = linkage.assemble([np.pi / 3, 2.0, 2.0], fixed=["crank"])  # the crank stays, the others find their place
print("assembled:", dict(zip(linkage.q_names, q.round(6).tolist(), strict=True)))
print("loop open by", f"{np.abs(linkage.constraint_residual(q)).max():.0e}")
print(linkage.mobility(q))

qd = linkage.velocities(q, {"crank": 10.0})
qdd = linkage.accelerations(q, qd, {"crank": 0.0})
print("rates while the crank turns at 10 rad/s:", qd.round(4))

still = np.zeros(3)
hold = linkage.inverse_dynamics(q, still, still, actuators=["crank"])
drive = linkage.inverse_dynamics(q, qd, qdd, actuators=["crank"])
print(f"torque of the crank: {hold[0]:.4f} N m to hold still, {drive[0]:.4f} N m to keep turning")

wrench = linkage.reactions(q, qd, qdd, tau=drive)["pin"]
print("force in the pin that closes the loop [N]:", wrench[3:].round(3))
for solver in ("multipliers", "udwadia-kalaba", "maggi"):
    back = linkage.forward_dynamics(q, qd, drive, solver=solver)
    print(f"{solver} gives the accelerations back to {np.abs(back - qdd).max():.0e}")
