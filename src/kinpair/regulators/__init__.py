"""Regulators.

course            quantities over time as polynomials between knots
table             numbers of a regulator over time
regulator         what every regulator answers
random            numbers that look random
riccati           Riccati's equations
reach             what inputs reach
nominal           a motion with its efforts
actuation         efforts that produce accelerations
deviation         deviations from a motion, and accelerations that take them away
laws              what regulators do with a deviation
in_loop           sample time, limits of efforts, delay, encoders, noise
preview           references that are known ahead
following         a regulator for these
weights           of states and inputs
linear_quadratic  gains from linear models
kalman            states estimated from outputs
joint_regulators  each joint for itself, and computed torque

A module imports only what stands above it; a test checks it.
"""

from kinpair.regulators.following import preview
from kinpair.regulators.in_loop import in_loop
from kinpair.regulators.joint_regulators import computed_torque, force_feedback, pd
from kinpair.regulators.kalman import Kalman, kalman, lqg
from kinpair.regulators.linear_quadratic import LinearQuadratic, lqr
from kinpair.regulators.preview import PreviewGains, cart_table, preview_gains
from kinpair.regulators.regulator import Regulator

__all__ = [
    "Kalman",
    "LinearQuadratic",
    "PreviewGains",
    "Regulator",
    "cart_table",
    "computed_torque",
    "force_feedback",
    "in_loop",
    "kalman",
    "lqg",
    "lqr",
    "pd",
    "preview",
    "preview_gains",
]
