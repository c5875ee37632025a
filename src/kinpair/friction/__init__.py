"""Friction in joints: by laws of a level, and from the load that joints carry.

rounding  what counts as zero, equal or without direction: one table
laws      Coulomb, Stribeck and viscous laws of a level, bristles, and the elements that act by them
surfaces  bearings, guides, threads and gears: friction from what a joint carries
loads     loads, friction and motion as one small system, while surfaces slide
phases    friction at rest, of a level and from load: what sticks, what begins to slide, how many solutions
states    states of a mechanism that friction holds: which are solved again, and by what

A module imports only what stands above it; a test checks it.
"""
