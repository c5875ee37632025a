"""Closed loops along a motion.

tracking  how well a run follows a motion
track     `kp.track`

A module imports only what stands above it; a test checks it.
"""
