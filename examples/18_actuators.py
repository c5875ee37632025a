"""Motors, servos and cylinders: inputs, internal states, where the energy goes, and voltages for a motion."""

import numpy as np

import kinpair as kp

motor = kp.example("dc-actuator")
print("inputs", motor.u_names, "internal states", motor.x_names)
run = kp.simulate(motor, [0.0], [0.0], duration=0.3, input={"motor": 12.0})
print(run.summary)
print("energy by loss [J]:", {name: round(float(x[-1]), 4) for name, x in run.losses.items()})
print("eigenvalues [1/s]:", np.round(kp.linearise(motor, [0.0], [0.0]).eigenvalues.real, 3))

plan = kp.motion.inputs(motor, kp.motion.polynomial([0.0], [1.5], 1.0, order=7))
back = kp.simulate(motor, [0.0], [0.0], duration=1.0, input=plan.table, x=plan.x[0])
print("voltages for a motion, played back open loop:", back.q[-1], "rad")

arm = kp.example("motor-arm")
servos = kp.simulate(
    arm, arm.start(), np.zeros(6), duration=0.5, input=lambda t, q, qd: 0.3 * np.sin(4.0 * t) * np.ones(6)
)
print("six axes:", servos.status, "with", len(servos.events), "events of friction")

digger = kp.example("excavator")
lifted = kp.simulate(digger, digger.start(), np.zeros(digger.nv), duration=1.0, input={"boom": 0.5})
lost = {name: x[-1] for name, x in lifted.losses.items()}
worst = max(lost, key=lambda name: lost[name])
print(
    f"the boom rose by {lifted.q[-1, 0] - lifted.q[0, 0]:.3f} rad; most went into {worst}: {lost[worst]:.0f} J"
)
