"""The equations of motion of a mechanism, printed: which constants become letters, which angles add, H, C, g.

In the order of use:

    parameters   constants of a model as letters with a meaning and a value
    parallel     which angles turn about parallel axes, so that they add
    recording    what is traced: H and the potential, or H, C and g
    christoffel  C from H, exactly, in the normal form
    passive      springs, dampers and dry friction as formulas
    printed      `Equations`: what a user holds
    paper        letters of one model, and the sheet its equations are written on
    reporting    how far the work is, on a terminal
    closed       H, C and g, each entry in one piece
    equations    `equations(mechanism)`, the function a user calls
"""
