"""Friction from load in floats: one state, of which some surfaces may be at rest. In order of use:

terms    the numbers of one state: accelerations and forms as affine functions of the friction forces
resting  surfaces as groups of the problem of `kinpair.nonsmooth`
rest     which surfaces stick, which begin to slide, by what forces
classes  how many solutions a state has
states   the states of a model: solved again where compiled code does not end; what is said of them
"""
