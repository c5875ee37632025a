"""The equations of motion of a mechanism, printed: which constants become symbols, which angles add, H, C, g.

In the order of use:

    closed_form  from a Python function to formulas a person can read; knows no mechanics
    textbook     arrays of formulations and solvers in the symbols of their sources
    constant     constants and places of a model that are symbols in its equations
    parameters   constants of a model and of its constraints as symbols
    solver_forms   the closed form of each constraint solver, as matrices of ratios with named denominators
    subject      what is recorded of a mechanism for its equations: parallel axes, H and g, springs, dampers, friction;
                 a mechanism or system under constraints: symbols, recorded M, F, A, b
    printed      the equations of a mechanism as a user holds them, without and with constraints, printed in every form
    closed       the sheet and its symbols; C from H, exactly, in the normal form; H, C and g, each entry in one piece
    constrained  which coordinates are dependent; M, F, A, b and the solver's closed form, or named terms
    equations    `equations(mechanism)`, the function a user calls
"""
