"""Motions: coordinates, rates and accelerations as functions of time."""
