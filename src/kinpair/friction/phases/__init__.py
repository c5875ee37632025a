"""Friction at rest in floats, one state at a time. In order of use:

dry      friction of a level as surfaces; derivatives while rates stick
resting  the numbers of one state; surfaces as groups of the problem of `constraints/solve/`: which stick
classes  how many solutions a state has
states   the states of a model: solved again where compiled code does not end; what is said of them
"""
