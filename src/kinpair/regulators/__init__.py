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
public            what `kinpair.regulator` is

A module imports only what stands above it; a test checks it.
"""
