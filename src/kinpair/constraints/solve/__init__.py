"""Multipliers in sets: the one problem of friction at rest, limits and impacts. In order of use:

    residual  the scaled problem as one equation, and its derivative
    elimination  elimination for many rows of which few act on each other
    newton    Newton's method with a proximal term
    sweeps    Gauss–Seidel with exact local solves
    interior  an interior-point method for contacts
    chain     the methods one after the other
    scaling   the problem in its own units: scaled, solved; what other loop functions call
    derivatives  the slope of the solution by D and g, on its active set
    problem   groups of rows, the solution
    solutions all solutions of a problem, and whether there is exactly one
    stick     joints with dry friction at rest: which stick, and in which direction the others slide

The first eight are loop functions: plain Python as the reference, machine code in use. See docs/equations/nonsmooth.md.
"""
