"""The equations of motion of a mechanism, printed: which constants become letters, which angles add, H, C, g.

In the order of use:

    constant     a number that is a letter, with a meaning and a value; equal ones that share it
    places       places as letters: components, or a distance in a known direction
    parameters   constants of a model as letters
    constraint_letters    constants of its loops and rolling wheels as letters
    parallel     which angles turn about parallel axes, so that they add
    recording    what is traced: H and the potential, or H, C and g
    christoffel  C from H, exactly, in the normal form
    on_a_sheet   every way to print equations that stand on a sheet
    passive      springs, dampers and dry friction as formulas
    printed      `Equations`: what a user holds
    paper        letters of one model, and the sheet its equations are written on
    reporting    how far the work is, on a terminal
    closed       H, C and g, each entry in one piece
    embedded     accelerations under constraints, exactly, over named denominators
    ratios_written   matrices of ratios as one writes them down
    solver_forms     what each solver of constraints has to print
    subject      a mechanism or system under constraints: letters, recorded M, F, A, b
    constrained_printed  `ConstrainedEquations`: what a user holds of it
    dependent    which coordinates the constraints determine
    entries      entries of matrices by name, for the steps of a solver
    constrained  M, F, A, b and the solver's closed form, or named terms
    equations    `equations(mechanism)`, the function a user calls
"""
