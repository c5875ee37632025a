"""Friction whose load is what the joints carry: accelerations, loads and friction as one small system.

system  the system, and Newton's method for it
tree    the response of a tree, by any formulation
lean    the same with accelerations as unknowns, for trees
contraction  is there one solution while every surface slides? a proof, compiled
dynamics  forward and inverse dynamics of a tree
closer  in floats, from μ = 0, where the unrolled sweeps do not end well
resting  surfaces of which some are at rest, as one system for their friction forces
choices  every choice of what sticks and what begins to slide, at once
unique  is there exactly one solution? a proof
rest    surfaces that do not slide: which stick, which begin to
classes  how many solutions a state has
terms   the numbers of one state, from which solves in floats are made
"""
