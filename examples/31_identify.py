"""Find the parameters of an arm from a log: excite it, log positions and efforts, identify, validate.

The log is computed here: an arm that carries 0.5 kg which the file does not know, with viscous friction, and noise.
"""

import numpy as np

import kinpair as kp

arm = kp.example("planar-3r")  # what the file says: the prior
real = arm.with_payload("link3", mass=0.5, com=(0.2, 0.0, 0.0))

motion = kp.motion.excitation(arm, duration=20.0, rates=2.0, accelerations=8.0)
time = np.arange(0.0, 20.0, 0.005)
q, qd, qdd = motion.at(time)[:3]
tau = real.inverse_dynamics(q, qd, qdd) + 0.4 * qd
noise = np.random.default_rng(1).normal(size=q.shape)
log = {"t": time} | {f"q{k + 1}": q[:, k] for k in range(3)}
log |= {f"tau{k + 1}": tau[:, k] + 0.05 * noise[:, k] for k in range(3)}

result = kp.identify(arm, log, validate=0.3)
print(result)
for x in result.intervals[:3]:
    print(f"{x.label}: {x.estimate:.4f} ({x.low:.4f} to {x.high:.4f}) {x.unit}, in the file {x.file:.4f}")
