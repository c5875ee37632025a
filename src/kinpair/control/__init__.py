"""Regulators, and closed loops along a motion.

regulator         what every regulator answers; quantities over time as polynomials
nominal           a motion with its efforts; efforts of actuators for accelerations
laws              deviations from a motion, and accelerations that take them away; each joint for
                  itself, computed torque
in_loop           numbers that look random; sample time, limits of efforts, delay, encoders, noise
riccati           weights and noise intensities, Riccati's equations for them, modes that inputs move
preview           references that are known ahead; a regulator for these
linear_quadratic  gains from linear models
kalman            states estimated from outputs
public            what `kinpair.regulator` is
tracking          closed loops along a motion: errors, efforts against limits, settling, a picture

A module imports only what stands above it; a test checks it.
"""
