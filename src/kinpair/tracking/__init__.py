"""Closed loops along a motion.

tracking  closed loops along a motion, and how well a run follows the motion

A module imports only what stands above it; a test checks it.
"""
