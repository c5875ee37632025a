"""Rotations, twists, wrenches and inertia: pure functions, no mechanism.

Conventions: a spatial vector is angular first, twist [ω; v] and wrench [n; f]. `R_ij` turns components
in axes of j into components in axes of i. Quaternions are scalar last. See docs/notation.md.
"""
