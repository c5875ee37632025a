"""An arm follows a motion: linear model, regulator along it, a perturbed start, a real loop around it."""

import numpy as np

import kinpair as kp

arm = kp.example("double-pendulum")
motion = kp.motion.cycloid([0.3, -0.2], [1.4, 0.7], 1.5)

about = kp.equilibrium(arm, motion.at(1.5).q, free=arm.v_names, fixed=arm.v_names)
print(about)  # efforts that hold it at the end of the motion, and whether it would stay by itself
print(about.linearise())  # its modes there

regulator = kp.regulator.lqr(arm, motion, degree=3.0)
loose, held = (kp.track(arm, motion, x, off={"elbow": 0.1}, hold=0.5) for x in (None, regulator))
print("nominal efforts alone:", loose, sep="\n")
print("with a regulator:", held, sep="\n")

real = kp.regulator.in_loop(
    kp.regulator.pd(arm, motion, frequency=12.0),
    sample_time=2e-3,
    delay=4e-3,
    encoder=1e-4,
    rates="difference",
)
off = np.random.default_rng(1).normal(0.0, 0.02, (64, 2))
many = kp.track(arm, motion, real, off=off, hold=0.5, integrator="rk4", dt=1e-3, output=0.01)
print(many)
