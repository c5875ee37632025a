"""Multipliers in sets: the one problem of friction at rest, limits and impacts. In order of use:

    residual  the scaled problem as one equation, and its derivative
    newton    Newton's method with a proximal term
    sweeps    Gauss–Seidel with exact local solves
    chain     the methods one after the other
    scaling   the problem in its own units: scaled, solved; what other loop functions call
    problem   groups of rows, the solution
    solutions all solutions of a problem, and whether there is exactly one
    stick     joints with dry friction at rest: which stick, and in which direction the others slide

The first five are loop functions: plain Python as the reference, machine code in use. See docs/equations/nonsmooth.md.
"""
