"""Friction at rest in floats, one state at a time. In order of use:

dry      joints with dry friction of constant level at rest
terms    the numbers of one state: accelerations and forms as affine functions of the friction forces
resting  surfaces as groups of the problem of `kinpair.constraints.solve`
rest     which surfaces stick, which begin to slide, by what forces
classes  how many solutions a state has
states   the states of a model: solved again where compiled code does not end; what is said of them
"""
