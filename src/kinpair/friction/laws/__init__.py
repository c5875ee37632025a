"""Friction by laws of a level.

laws       levels, and the laws: what resists while a joint slides, and what can hold it
joint      laws as elements of a joint; bristles
regressor  efforts as linear functions of levels

A module imports only what stands above it; a test checks it.
"""
